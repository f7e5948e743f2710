"""The object model of NX-OS (DME) as JSON: ``Cisco-NX-OS-device:System``, as NETCONF, gNMI and RESTCONF have it.

Each value is read as the command it represents, so that one grammar defines the valid values. Names of containers and
leaves: Cisco-NX-OS-device.yang 9.3(1) of ydk-models-cisco-nx-os 9.3.1. The mode of PFC and its watchdog are numbers
there, and no public source documents their meaning: words are read, numbers are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nxos.read.grammar import CLASS_MAP, CLASSES, PORT, SWITCH, SYSTEM, apply
from lossless.formats.switches.nxos.read.numbers import port_name
from lossless.formats.switches.nxos.read.rows import NETWORK, QOS, QUEUING, Classes, NxosConfig
from lossless.formats.switches.nxos.read.running_config import open_class_map
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nxos.read.grammar import Patterns
    from lossless.formats.switches.nxos.read.rows import Settings
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

    Line = tuple[str, Path]
    """A command, and the path of the value that it represents."""

_ROOTS = ("Cisco-NX-OS-device:System", "System")
_QOS = "ipqos-items"
_CONTAINERS = {"dflt-items": QOS, "queuing-items": QUEUING, "nw-items": NETWORK}
_MATCHES = (("dscp", "Dscp"), ("cos", "Cos"), ("precedence", "Precedence"), ("protocol", "Protocol"))
_OTHER_MATCHES = ("acl-items", "packetLength-items", "ipRtp-items", "mplsExperimental-items", "dscpNot-items")
_DIRECTIONS = {"in-items": "input", "out-items": "output"}
_PFC = {
    ("priorflowctrl-items", "mode"): "priority-flow-control mode ",
    ("priorflowctrlwd-items", "watchDogInterval"): "priority-flow-control watch-dog-interval ",
}
_INTERFACES = (("phys-items", "PhysIf-list"), ("aggr-items", "AggrIf-list"))


def looks_structured(data: Mapping[object, object]) -> bool:
    """Return whether data are the object model of a switch: its QoS, or its interfaces, below the system."""
    at, system = _system(data)
    interfaces = _at(system, "intf-items")
    return isinstance(system.get(_QOS), dict) or (bool(at) and isinstance(interfaces, dict))


def config_of_data(document: Document) -> NxosConfig:
    """Return the settings of an object model."""
    config = NxosConfig(document.name, document.shown)
    config.says_watchdog = False
    at, system = _system(document.data)
    name = system.get("name")
    if isinstance(name, str):
        _add(config, config.switch, [(f"hostname {name}", (*at, "name"))], SWITCH)
    for container, kind in _CONTAINERS.items():
        items, path = _at(system, _QOS, container), (*at, _QOS, container)
        _class_maps(config, kind, items, path)
        _policy_maps(config, kind, items, path)
        _bindings(config, kind, items, path)
    _interfaces(config, system, at)
    override = _at(system, _QOS, "globalpriorflowctrl-items", "overrideInterface")
    if override in ("off", 1):
        path = (*at, _QOS, "globalpriorflowctrl-items", "overrideInterface")
        _add(config, config.switch, [("priority-flow-control override-interface mode off", path)], SWITCH)
    return config


def _system(data: Mapping[Any, Any]) -> tuple[Path, Mapping[Any, Any]]:
    """Return the object of the system with its path; the data themselves if they are that object."""
    root = next((root for root in _ROOTS if isinstance(data.get(root), dict)), None)
    return ((root,), data[root]) if root is not None else ((), data)


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _named(
    data: Any, path: Path, *keys: str, key: str = "name"
) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    """Yield the objects of a list with their names and paths; none if the value is no such list."""
    items = _at(data, *keys)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and isinstance(item.get(key), str):
            yield " ".join(item[key].split()), item, (*path, *keys, number)


def _add(
    config: NxosConfig, settings: Settings, lines: Iterator[Line] | list[Line], patterns: Patterns
) -> None:
    for text, path in lines:
        apply(config, settings, (text, Origin(config.file, path)), patterns)


def _line(data: Any, path: Path, keys: tuple[str, ...], words: str) -> Iterator[Line]:
    """Yield the command of a value, if there is one; ``{}`` in it is the placeholder of the value."""
    value = _at(data, *keys)
    if value is not None:
        yield words.format(" ".join(str(value).split())), (*path, *keys)


# --- QoS ---


def _class_maps(config: NxosConfig, kind: str, items: Any, path: Path) -> None:
    for name, item, at in _named(items, path, "c-items", "name-items", "CMapInst-list"):
        match = str(item.get("matchType", "match-all")).removeprefix("match-")
        open_class_map(config, kind, name, match, Origin(config.file, at))
        _add(config, config.class_maps[kind, name], _matches(item, at), CLASS_MAP)


def _matches(item: Mapping[str, Any], path: Path) -> Iterator[Line]:
    for word, name in _MATCHES:
        rows = _at(item, f"{word}-items", f"{name}-list")
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            yield from _line(
                row, (*path, f"{word}-items", f"{name}-list", number), ("val",), f"match {word} {{}}"
            )
    for other in _OTHER_MATCHES:
        if item.get(other):
            yield f"match {other.removesuffix('-items')}", (*path, other)


def _policy_maps(config: NxosConfig, kind: str, items: Any, path: Path) -> None:
    lines = {QOS: _of_qos, QUEUING: _of_queuing, NETWORK: _of_network}[kind]
    for name, item, at in _named(items, path, "p-items", "name-items", "PMapInst-list"):
        policy = config.policies.setdefault((kind, name), Classes(Origin(config.file, at)))
        for below, row, place in _named(item, at, "cmap-items", "MatchCMap-list"):
            policy.types[below] = kind
            settings = policy.open(below, Origin(config.file, (*place, "name")))
            _add(config, settings, lines(row, place), CLASSES[kind])


def _of_qos(row: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(row, path, ("setGrp-items", "id"), "set qos-group {}")
    if row.get("police-items"):
        yield "police by rate", (*path, "police-items")


def _of_network(row: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(row, path, ("mtu-items", "value"), "mtu {}")
    pause, at = _at(row, "pause-items"), (*path, "pause-items")
    for number in range(8):
        if _at(pause, f"pfcCos{number}") in (True, "true"):
            yield f"pause pfc-cos {number}", (*at, f"pfcCos{number}")
    for leaf, word in (("noDrop", "no-drop"), ("receive", "receive")):
        if _at(pause, leaf) in (True, "true"):
            yield f"pause {word}", (*at, leaf)
    yield from _buffer(pause, at)


def _buffer(pause: Any, path: Path) -> Iterator[Line]:
    sizes = [_at(pause, leaf) for leaf in ("bufferSize", "pauseThreshold", "resumeThreshold")]
    if None not in sizes:
        size, begin, end = (" ".join(str(each).split()) for each in sizes)
        yield (
            f"pause buffer-size {size} pause-threshold {begin} resume-threshold {end}",
            (*path, "bufferSize"),
        )


def _of_queuing(row: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(row, path, ("setBW-items", "val"), "bandwidth percent {}")
    yield from _line(row, path, ("setRemBW-items", "val"), "bandwidth remaining percent {}")
    yield from _line(row, path, ("prio-items", "level"), "priority level {}")
    yield from _buffer(row.get("pause-items"), (*path, "pause-items"))
    curve = row.get("RandDet-items")
    if isinstance(curve, dict) and curve.get("minThreshold") is not None:
        low, high = (
            f"{curve.get(f'{end}Threshold')} {curve.get(f'{end}ThresholdUnit')}" for end in ("min", "max")
        )
        words = f"random-detect minimum-threshold {low} maximum-threshold {high} drop-probability"
        ecn = " ecn" if curve.get("ecn") in (True, "true") else ""
        yield (
            f"{words} {curve.get('dropAvail')} weight {curve.get('weight', 0)}{ecn}",
            (*path, "RandDet-items"),
        )


def _bindings(config: NxosConfig, kind: str, items: Any, path: Path) -> None:
    for container, direction in _DIRECTIONS.items():
        service, at = _at(items, "policy-items", container), (*path, "policy-items", container)
        words = f"service-policy type {kind} " + ("" if kind == NETWORK else f"{direction} ")
        if service:
            config.bound_kinds.add(kind)
        system = _line(service, at, ("sys-items", "pmap-items", "name"), words + "{}")
        for line in system:
            config.system_qos = True
            _add(config, config.switch, [line], SYSTEM)
        for name, item, place in _named(service, at, "intf-items", "If-list"):
            lines = _line(item, place, ("pmap-items", "name"), words + "{}")
            _add(config, _port(config, name, place), lines, PORT)


def _port(config: NxosConfig, name: str, path: Path) -> Settings:
    whole = port_name(name)
    config.places.setdefault(("interface", whole), Origin(config.file, path))
    return config.ports.setdefault(whole, {})


# --- interfaces ---


def _interfaces(config: NxosConfig, system: Mapping[Any, Any], at: Path) -> None:
    for container, rows in _INTERFACES:
        path = (*at, "intf-items", container)
        items = _at(system, "intf-items", container)
        for name, item, place in _named(items, path, rows, key="id"):
            settings = _port(config, name, place)
            _add(config, settings, _of_interface(item, place), PORT)
            _pfc(config, settings, item, place)


def _of_interface(item: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(item, path, ("mtu",), "mtu {}")
    layer, state = item.get("layer"), item.get("adminSt")
    if layer in ("Layer2", "Layer3"):
        yield ("no switchport" if layer == "Layer3" else "switchport"), (*path, "layer")
    if state in ("up", "down"):
        yield ("no shutdown" if state == "up" else "shutdown"), (*path, "adminSt")


def _pfc(config: NxosConfig, settings: Settings, item: Mapping[str, Any], path: Path) -> None:
    """Read the mode of PFC and of its watchdog if it is a word."""
    for keys, words in _PFC.items():
        for line, place in _line(item, path, keys, words + "{}"):
            if line.removeprefix(words) in ("on", "off", "auto"):
                _add(config, settings, [(line, place)], PORT)
            else:
                config.unread[Origin(config.file, place), f"{keys[-1]}: {line.removeprefix(words)}"] = None
