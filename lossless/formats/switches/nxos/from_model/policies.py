"""A switch of the model to class maps, policies and interfaces of NX-OS.

A qos-group has the number of its queue. Shares are ``bandwidth remaining percent``; queues without a class get none of
it, so that the shares of the others are those that are declared.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.wording import number_ranges
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import Curve, PortQos

    Data = dict[str, Any]

_UNITS = ((1_000_000, "mbytes"), (1000, "kbytes"), (1, "bytes"))
INPUT, NETWORK, OUTPUT = "LOSSLESS-IN", "LOSSLESS-NETWORK", "LOSSLESS-OUT"


def policies(switch: Switch) -> Data:
    """Return the class maps, policies and interfaces of a switch."""
    ports = sorted((p for p in switch.ports if p.placed and p.qos), key=lambda port: natural_key(port.name))
    every = [port.qos for port in ports if port.qos is not None]
    outputs = _named([_output(qos) for qos in every])
    common = Counter(name for name, _ in outputs).most_common(1)
    system = common[0][0] if common else ""
    return {
        "classes": _classes(every[0]) if every else [],
        "network": _network(ports),
        "outputs": dict(outputs),
        "system_output": system,
        "watchdog": any(qos.watchdog is not None for qos in every),
        "interfaces": [
            _interface(port, None if name == system else name)
            for port, (name, _) in zip(ports, outputs, strict=True)
        ],
    }


def _group(qos: PortQos, dscp: int) -> int:
    return qos.queue_of(qos.traffic_class(dscp))


def _classes(qos: PortQos) -> list[Data]:
    """Return the DSCPs of each qos-group but 0, which all others get; those of the first port hold for the switch."""
    groups = sorted({_group(qos, dscp) for dscp in DSCPS} - {0})
    return [
        {"group": n, "dscps": number_ranges([d for d in DSCPS if _group(qos, d) == n]).replace(" ", "")}
        for n in groups
    ]


def _network(ports: list[Port]) -> list[Data]:
    """Return the network QoS of the switch: the priorities that pause each class, and the MTU of all classes."""
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
    """Return the qos-group that a priority pauses: the queue of the traffic class in its priority group."""
    group = qos.pausing_group(priority)
    return next((qos.queue_of(tc) for tc in PRIORITIES if qos.group_of(tc) == group), priority)


def _name(kind: str, number: int) -> str:
    word = {"nq": "c-8q-nq", "q": "c-out-8q-q"}[kind]
    return f"{word}{number}" if number else f"{word}-default"


def _named(shapes: list[list[Data]]) -> list[tuple[str, list[Data]]]:
    """Return each output policy with its name: ports that are served identically share one."""
    distinct: list[list[Data]] = []
    for shape in shapes:
        if shape not in distinct:
            distinct.append(shape)
    numbers = [distinct.index(shape) for shape in shapes]
    return [(OUTPUT if len(distinct) == 1 else f"{OUTPUT}-{n + 1}", distinct[n]) for n in numbers]


def _output(qos: PortQos) -> list[Data]:
    """Return the class of each queue; strict ones have levels, the highest queue first."""
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


def _interface(port: Port, output: str | None) -> Data:
    qos = port.qos
    return {
        "name": port.name,
        "mode": "on" if qos is not None and qos.pfc.priorities else "off",
        "watchdog": qos is not None and bool(qos.pfc.priorities) and qos.watchdog is not None,
        "output": output,
    }
