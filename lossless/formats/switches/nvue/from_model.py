"""A switch of the model to the tree of NVUE, for Cumulus Linux 5.15 and later (``state enabled``), and to its commands.

If every port pauses switch priority 3 alone, the tree builds on ``qos roce``, and has all settings of the intent: maps,
shares, curves and cable lengths. Otherwise PFC profiles and the pools are set directly: the lossless and the lossy pool
have 50 % of the memory each, as with ``qos roce`` (CumulusNetworks/docs
content/cumulus-linux-519/.../Quality-of-Service/_index.md @16b8323). The settings of most ports are in
``default-global``; a PFC profile that differs between ports has another name, unless ``qos roce`` is used.

The commands are ``nv set``, with lists and ranges where NVUE takes them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nvue.read import LISTED, POLL_MS
from lossless.formats.switches.other_systems import usual_watchdog
from lossless.ground.basics.findings import natural_key
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos, Queue


_NUMBERED = re.compile(r"((?:.*[^0-9\n])?)(0|[1-9][0-9]{0,3})")
"""The pattern of names that a range can have: ``swp1-2`` has no ``swp01``."""


def commands(data: dict[str, Any]) -> Iterator[str]:
    """Yield the ``nv set`` commands that make a tree of settings."""
    for words in _paths(data, ""):
        yield " ".join(("nv set", *words))


def _paths(data: dict[str, Any], before: str) -> Iterator[tuple[str, ...]]:
    for name, value in _together(data) if before in LISTED else data.items():
        if isinstance(value, dict) and value:
            for rest in _paths(value, name if before not in LISTED else ""):
                yield (name, *rest)
        else:
            yield (name,) if value == {} else (name, str(value))


def _together(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names of a list with their subtrees; names with equal subtrees are joined: ``swp1-4,swp6``."""
    groups: list[tuple[list[str], Any]] = []
    for name in sorted(data, key=natural_key):
        own = next((names for names, value in groups if value == data[name]), None)
        if own is None:
            groups.append(([name], data[name]))
        else:
            own.append(name)
    for names, value in groups:
        yield ",".join(_ranges(names)), value


def _ranges(names: Sequence[str]) -> Iterator[str]:
    """Yield names, those in a row as a range: ``swp1-4``, ``swp6s0-1``."""
    first = last = following = ""
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match and name == following:
            last = f"-{match[2]}"
        else:
            if first:
                yield first + last
            first, last = name, ""
        following = f"{match[1]}{int(match[2]) + 1}" if match else ""
    if first:
        yield first + last


Tree = dict[str, Any]
GLOBAL = "default-global"
_OF_ROCE = (3,)
_HALF = 50
_ADAPTIVE: Tree = {"adaptive-routing": {"state": "enabled"}}
"""The setting that turns adaptive routing on, for the switch and for each port of an ECMP route (NVIDIA, NVUE
reference, "Adaptive Routing"; before Cumulus Linux 5.15 ``enable on``)."""
_KINDS = ("mapping", "pfc", "congestion-control", "egress-scheduler")
"""The kinds of QoS profiles, which may differ from port to port."""


def tree(switch: Switch) -> Tree:
    """Return the settings of a switch: QoS and adaptive routing, without settings of its own provisioning."""
    ports = sorted(
        (port for port in switch.ports if port.placed and port.qos), key=lambda p: natural_key(p.name)
    )
    roce = bool(ports) and all(port.qos and port.qos.pfc.priorities == _OF_ROCE for port in ports)
    profiles = {kind: _Profiles(kind, ports, roce=roce) for kind in _KINDS}
    first = next((port.qos for port in ports if port.qos is not None), None)
    qos = {
        "roce": {"mode": "lossless", "state": "enabled"} if roce else {},
        "traffic-pool": {} if roce else _pools(ports),
        **{kind: own.tree() for kind, own in profiles.items()},
        "egress-queue-mapping": {} if first is None else _queues(first),
        "pfc-watchdog": _watchdog(switch, ports),
    }
    router = _ADAPTIVE if any(port.adaptive for port in ports) else {}
    interfaces = {port.name: _interface(port, profiles) for port in ports}
    return _stated({"qos": qos, "router": router, "interface": interfaces})


def _stated(data: Tree) -> Tree:
    """Return a tree without empty subtrees, except those under a number, such as a switch priority in a list."""
    kept = {
        key: _stated(value) if isinstance(value, dict) and value else value for key, value in data.items()
    }
    return {
        key: value for key, value in kept.items() if value is not None and (value != {} or key.isdecimal())
    }


class _Profiles:
    """The distinct QoS profiles of one kind that ports need, each by its name."""

    def __init__(self, kind: str, ports: list[Port], *, roce: bool) -> None:
        self._shape = _SHAPES[kind]
        shapes = [self._shape(port, port.qos) for port in ports if port.qos is not None]
        self._distinct: list[Tree] = []
        for shape in shapes:
            if shape not in self._distinct:
                self._distinct.append(shape)
        by_number = Counter(map(self._distinct.index, shapes))
        # Of cables that are as many, the longest: headroom for a shorter one drops.
        longest = sorted(by_number, key=lambda number: -(self._distinct[number].get("cable-length") or 0))
        # A profile that only some ports have must not be that of all: it turns PFC on.
        apart = kind == "pfc" and not roce and len(self._distinct) > 1
        self._common = None if apart else max(longest, key=lambda number: by_number[number], default=None)

    def name(self, port: Port) -> str | None:
        """Return the profile name of a port, None where it needs no line: its profile is default-global, or empty."""
        if port.qos is None:
            return None
        number = self._distinct.index(self._shape(port, port.qos))
        return None if number == self._common or not self._distinct[number] else self._name(number)

    def _name(self, number: int) -> str:
        return GLOBAL if number == self._common else f"lossless-{number + 1}"

    def tree(self) -> Tree:
        return {self._name(number): shape for number, shape in enumerate(self._distinct) if shape}


def _mapping(_: Port, qos: PortQos) -> Tree:
    if qos.dscp_to_tc is None:
        return {}
    dscps = {str(dscp): {"switch-priority": qos.traffic_class(dscp)} for dscp in DSCPS}
    return {"trust": "l3", "dscp": dscps}


def _pfc(port: Port, qos: PortQos) -> Tree:
    if not qos.pfc.priorities:
        return {}
    return {
        "switch-priority": {str(priority): {} for priority in qos.pfc.priorities},
        "tx": "enable",
        "rx": "enable",
        "cable-length": port.cable.known_m,
    }


def _curves(_: Port, qos: PortQos) -> Tree:
    return {"traffic-class": {str(queue.number): _curve(queue) for queue in qos.queues if queue is not None}}


def _curve(queue: Queue) -> Tree:
    if queue.wred is None or not queue.wred.marks:
        return {"ecn": "disable"}
    low, high, percent = queue.wred.green.thresholds
    return {
        "ecn": "enable",
        "red": "disable",
        "min-threshold": low,
        "max-threshold": high,
        "probability": percent,
    }


def _shares(_: Port, qos: PortQos) -> Tree:
    rows: Tree = {}
    for queue in filter(None, qos.queues):
        if queue.scheduler is not None:
            strict = queue.scheduler.kind == "STRICT"
            share = {"mode": "strict"} if strict else {"mode": "dwrr", "bw-percent": queue.scheduler.weight}
            rows[str(queue.number)] = share
    return {"traffic-class": rows} if rows else {}


_SHAPES = {"mapping": _mapping, "pfc": _pfc, "congestion-control": _curves, "egress-scheduler": _shares}


def _queues(qos: PortQos) -> Tree:
    return {GLOBAL: {"switch-priority": {str(tc): {"traffic-class": qos.queue_of(tc)} for tc in PRIORITIES}}}


def _pools(ports: list[Port]) -> Tree:
    paused = {priority for port in ports if port.qos is not None for priority in port.qos.pfc.priorities}
    if not paused:
        return {}
    return {
        "default-lossless": {
            "memory-percent": _HALF,
            "switch-priority": {str(priority): {} for priority in sorted(paused)},
        },
        "default-lossy": {"memory-percent": _HALF},
    }


def _watchdog(switch: Switch, ports: list[Port]) -> Tree:
    """Return the watchdog timers of most watched ports; their detection time is rounded to polls."""
    watchdog = usual_watchdog(ports)
    if watchdog is None:
        return {}
    poll_ms = switch.qos.poll.poll_ms or POLL_MS
    polls = round(watchdog.triggers_after_ms / poll_ms)
    return {"polling-interval": poll_ms, "robustness": polls}


def _interface(port: Port, profiles: dict[str, _Profiles]) -> Tree:
    names = {
        kind: {"profile": name} for kind, own in profiles.items() if (name := own.name(port)) is not None
    }
    if port.qos is not None and port.qos.watchdog is not None:
        names["pfc-watchdog"] = {"state": "enabled"}
    router = {"router": _ADAPTIVE} if port.adaptive else {}
    # A port with nothing of its own is named all the same.
    return {**({"qos": names} if names else {}), **router} or {"type": "swp"}
