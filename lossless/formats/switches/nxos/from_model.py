"""A switch of the model to class maps, policies and interfaces of NX-OS, and to its object model (DME).

A qos-group has the number of its queue. Shares are ``bandwidth remaining percent``; queues without a class get none of
it, so that the shares of the others are those that are declared.

The watchdog polls at an interval, and its times are multiples of it: a queue is shut down after the number of intervals
in the shutdown multiplier, or in the interface multiplier of its port (Cisco, Nexus 9000 NX-OS QoS Configuration Guide
10.5(x), "Configuring Priority Flow Control"; the product for shutting: CiscoDevNet/terraform-provider-intersight
docs/FabricPfcWatchDog.md @fe27280, of fabric interconnects). No source read here states the product for restoring: the
auto-restore multiplier is taken the same way. Ranges: YangModels/yang @5f917c8
vendor/cisco/nx/10.3-10/Cisco-NX-OS-device.yang, platform_PriorFlowCtrlWd-group; it takes an auto-restore multiplier of
0 too, whose meaning no source states.

The document of the object model has the policies of a switch, for RESTCONF and NX-API. The modes of PFC and of its
watchdog are numbers in the model of 9.3(2), of which Cisco's NX-API REST guide explains 0, and no source documents the
direction in which the network-qos policy is bound: all these are set by the commands alone. Shapes:
Cisco-NX-OS-device.yang (YangModels/yang @6795d9c vendor/cisco/nx/9.3-2), and CiscoDevNet/terraform-provider-nxos
gen/definitions/network_qos.yaml @41ca596; lbrlabs/pulumi-nxos 0.0.2 for the policy of all outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.other_systems import usual_watchdog
from lossless.formats.switches.written_numbers import indexes
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import Curve, PortQos, Watchdog

    DmeData = dict[str, Any]

INTERVAL_MS = range(100, 1000 + 1)
SHUTDOWN = range(1, 10 + 1)
RESTORE = range(1, 100 + 1)
_MODEL = "Cisco-NX-OS-device:System"
_LAST_DSCP = 63


def object_model(policies: Mapping[str, Any], names: Mapping[str, str]) -> DmeData:
    """Return the DME document of class maps and policies; ``names``: of the ``input`` and the ``network`` policy."""
    classes = policies["classes"]
    inputs = [{"name": _class_name(of), "setGrp-items": {"id": of["group"]}} for of in classes]
    return {
        _MODEL: {
            "ipqos-items": {
                "dflt-items": {
                    "c-items": {"name-items": {"CMapInst-list": [_class_map(of) for of in classes]}},
                    **_policies(
                        [(names["input"], [*inputs, {"name": "class-default", "setGrp-items": {"id": 0}}])]
                    ),
                    "policy-items": {
                        "in-items": _bound((each["name"], names["input"]) for each in policies["interfaces"])
                    },
                },
                "nw-items": _policies([(names["network"], [*map(_dme_network, policies["network"])])]),
                "queuing-items": {
                    **_policies((name, [*map(_queue, rows)]) for name, rows in policies["outputs"].items()),
                    "policy-items": {"out-items": _bound_outputs(policies)},
                },
            }
        }
    }


def _class_name(of: DmeData) -> str:
    return f"LOSSLESS-GROUP-{of['group']}"


def _class_map(of: DmeData) -> DmeData:
    dscps = indexes(of["dscps"], _LAST_DSCP) or ()
    return {
        "name": _class_name(of),
        "matchType": "match-any",
        "dscp-items": {"Dscp-list": [{"val": dscp} for dscp in dscps]},
    }


def _policies(named: Iterable[tuple[str, list[DmeData]]]) -> DmeData:
    rows = [
        {"name": name, "matchType": "match-any", "cmap-items": {"MatchCMap-list": classes}}
        for name, classes in named
    ]
    return {"p-items": {"name-items": {"PMapInst-list": rows}}}


def _dme_network(of: DmeData) -> DmeData:
    paused = {f"pfcCos{priority}": True for priority in of["pause"]}
    return {
        "name": of["name"],
        **({"pause-items": paused} if paused else {}),
        **({"mtu-items": {"value": of["mtu"]}} if of["mtu"] else {}),
    }


def _queue(row: DmeData) -> DmeData:
    return {"name": row["name"], **dict(_served(row))}


def _served(row: DmeData) -> Iterator[tuple[str, DmeData]]:
    if row["level"] is not None:
        yield "prio-items", {"level": row["level"]}
    if row["percent"] is not None:
        yield "setRemBW-items", {"val": row["percent"]}
    curve = row["curve"]
    if curve is not None:
        yield (
            "RandDet-items",
            {
                "minThreshold": curve["min"],
                "minThresholdUnit": curve["unit"],
                "maxThreshold": curve["max"],
                "maxThresholdUnit": curve["unit"],
                "dropAvail": curve["percent"],
                "weight": 0,
                "ecn": True,
            },
        )


def _bound_outputs(policies: Mapping[str, Any]) -> DmeData:
    system = {"pmap-items": {"name": policies["system_output"]}} if policies["system_output"] else None
    own = [(each["name"], each["output"]) for each in policies["interfaces"] if each["output"]]
    return {**({"sys-items": system} if system else {}), **(_bound(own) if own else {})}


def _bound(bindings: Iterable[tuple[str, str]]) -> DmeData:
    rows = [
        {"name": re.sub(r"^Ethernet", "eth", port), "pmap-items": {"name": name}} for port, name in bindings
    ]
    return {"intf-items": {"If-list": rows}}


if TYPE_CHECKING:
    Data = dict[str, Any]

_UNITS = ((1_000_000, "mbytes"), (1000, "kbytes"), (1, "bytes"))
INPUT, NETWORK, OUTPUT = "LOSSLESS-IN", "LOSSLESS-NETWORK", "LOSSLESS-OUT"


def policies(switch: Switch) -> Data:
    """Return the class maps, policies and interfaces of a switch as plain data for templates."""
    ports = sorted((p for p in switch.ports if p.placed and p.qos), key=lambda port: natural_key(port.name))
    every = [port.qos for port in ports if port.qos is not None]
    outputs = _named([_output(qos) for qos in every])
    usual, interval_ms = usual_watchdog(ports), switch.qos.poll.poll_ms
    common = Counter(name for name, _ in outputs).most_common(1)
    system = common[0][0] if common else ""
    return {
        "classes": _classes(every[0]) if every else [],
        "network": _network(ports),
        "outputs": dict(outputs),
        "system_output": system,
        "watchdog": any(qos.watchdog is not None for qos in every),
        "timers": _timers(usual, interval_ms),
        "interfaces": [
            _interface(port, None if name == system else name, usual, interval_ms)
            for port, (name, _) in zip(ports, outputs, strict=True)
        ],
    }


def _group(qos: PortQos, dscp: int) -> int:
    return qos.queue_of(qos.traffic_class(dscp))


def _classes(qos: PortQos) -> list[Data]:
    """Return the DSCPs of each qos-group but 0, which all other DSCPs get, by the maps of the switch's first port."""
    groups = sorted({_group(qos, dscp) for dscp in DSCPS} - {0})
    return [
        {"group": n, "dscps": number_ranges([d for d in DSCPS if _group(qos, d) == n]).replace(" ", "")}
        for n in groups
    ]


def _network(ports: list[Port]) -> list[Data]:
    """Return the classes of the network-qos policy: the PFC priorities of each, and the largest port MTU for all."""
    sizes = [port.mtu_bytes for port in ports if port.mtu_bytes is not UNKNOWN]
    mtu = max((size for size in sizes if isinstance(size, int)), default=None)
    paused: dict[int, list[int]] = {}
    for qos in (port.qos for port in ports if port.qos is not None):
        for priority in qos.pfc.priorities:
            own = paused.setdefault(_paused_group(qos, priority), [])
            if priority not in own:
                own.append(priority)
    groups = sorted({*paused, 0}, reverse=True)
    return [{"name": _name("nq", n), "pause": paused.get(n, []), "mtu": mtu} for n in groups]


def _paused_group(qos: PortQos, priority: int) -> int:
    """Return the qos-group that a priority pauses: the queue of a traffic class in its priority group, else itself."""
    group = qos.pausing_group(priority)
    return next((qos.queue_of(tc) for tc in PRIORITIES if qos.group_of(tc) == group), priority)


def _name(kind: str, number: int) -> str:
    word = {"nq": "c-8q-nq", "q": "c-out-8q-q"}[kind]
    return f"{word}{number}" if number else f"{word}-default"


def _named(shapes: list[list[Data]]) -> list[tuple[str, list[Data]]]:
    """Return name and classes of each port's output policy: ports with equal classes share one."""
    distinct: list[list[Data]] = []
    for shape in shapes:
        if shape not in distinct:
            distinct.append(shape)
    numbers = [distinct.index(shape) for shape in shapes]
    return [(OUTPUT if len(distinct) == 1 else f"{OUTPUT}-{n + 1}", distinct[n]) for n in numbers]


def _output(qos: PortQos) -> list[Data]:
    """Return the queuing class of each queue, the highest first; strict queues get levels from 1 in this order."""
    queues = {queue.number: queue for queue in qos.queues if queue is not None}
    strict = [n for n in sorted(queues, reverse=True) if (s := queues[n].scheduler) and s.kind == "STRICT"]
    rows = []
    for number in reversed(PRIORITIES):
        queue = queues.get(number)
        scheduler, wred = (queue.scheduler, queue.wred) if queue is not None else (None, None)
        share = 0 if scheduler is None else scheduler.weight
        rows.append(
            {
                "name": _name("q", number),
                "level": strict.index(number) + 1 if number in strict else None,
                "percent": None if number in strict else share,
                "curve": _curve(wred.green) if wred is not None and wred.marks else None,
            }
        )
    return rows


def _curve(curve: Curve) -> Data:
    low, high = curve.min_bytes or 0, curve.max_bytes or 0
    size, unit = next((size, unit) for size, unit in _UNITS if not (low % size or high % size))
    return {"min": low // size, "max": high // size, "unit": unit, "percent": curve.probability_percent}


def _timers(usual: Watchdog | None, interval_ms: int | None) -> Data:
    """Return the interval and the multipliers of most watched ports; a time that no multiplier gives is left out."""
    if usual is None or interval_ms not in INTERVAL_MS:
        return {"interval": None, "shutdown": None, "restore": None}
    multipliers = {
        "shutdown": _multiplier(usual.detection_ms, interval_ms, SHUTDOWN),
        "restore": _multiplier(usual.restoration_ms, interval_ms, RESTORE),
    }
    return {"interval": interval_ms, **multipliers}


def _multiplier(time_ms: int | None, interval_ms: int | None, accepted: range) -> int | None:
    """Return the number of intervals that a time is, None where it is no whole number, or none that is accepted."""
    if time_ms is None or not interval_ms or time_ms % interval_ms:
        return None
    return time_ms // interval_ms if time_ms // interval_ms in accepted else None


def _interface(port: Port, output: str | None, usual: Watchdog | None, interval_ms: int | None) -> Data:
    qos = port.qos
    watchdog = qos.watchdog if qos is not None and qos.pfc.priorities else None
    differs = watchdog is not None and usual is not None and watchdog.detection_ms != usual.detection_ms
    own = _multiplier(watchdog.detection_ms, interval_ms, SHUTDOWN) if differs and watchdog else None
    return {
        "name": port.name,
        "mode": "on" if qos is not None and qos.pfc.priorities else "off",
        "watchdog": watchdog is not None,
        "multiplier": own,
        "output": output,
    }
