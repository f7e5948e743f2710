"""NX-OS configurations to settings: texts of commands, and the object model (DME) as JSON.

The object model is ``Cisco-NX-OS-device:System``, as NETCONF, gNMI and RESTCONF have it. Each value is read as the
command it represents, so that one grammar defines the valid values. Names of containers and leaves:
Cisco-NX-OS-device.yang 9.3(1) of ydk-models-cisco-nx-os 9.3.1. The mode of PFC and its watchdog are numbers there, and
words in the model of 10.3(10) (YangModels/yang @5f917c8) and in NX-API REST (on, off, auto:
CiscoDevNet/terraform-provider-nxos gen/definitions/physical_interface.yaml @43d0c25). Of the numbers, 0 is the mode
auto (Cisco, NX-API REST SDK User Guide 9.3(x), "Configuring Priority Flow Control on an Ethernet Interface"); others
are not read.

Texts become commands, each in its mode. Most published texts are no ``show running-config`` output: prompts precede
commands, modes are left by ``exit`` or not at all, and some lines are indented. So the mode of a command is found by
the grammar of commands, and by indentation if several modes take it. A line of ``!`` leaves no mode, and ``#`` begins
a comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nxos.read.grammar import (
    CLASS_MAP,
    CLASSES,
    NETWORK,
    PORT,
    QOS,
    QUEUING,
    SWITCH,
    SYSTEM,
    TYPES,
    Classes,
    NxosConfig,
    NxosSetting,
    Patterns,
    accepts,
    apply,
    note_stray,
    port_name,
    port_names,
)
from lossless.ground.basics.findings import Origin
from lossless.ground.documents.command_lines import (
    PROMPT,
    Command,
    CommandDocument,
    LineLocator,
    without_remark,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nxos.read.grammar import Settings
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


if TYPE_CHECKING:
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
_MODE = ("priorflowctrl-items", "mode")
_AUTO = "0"
_INTERFACES = (("phys-items", "PhysIf-list"), ("aggr-items", "AggrIf-list"))


def looks_structured(data: Mapping[object, object]) -> bool:
    """Return whether data are the object model of a switch: its QoS, or its interfaces, below the system."""
    at, system = _system(data)
    interfaces = _at(system, "intf-items")
    return isinstance(system.get(_QOS), dict) or (bool(at) and isinstance(interfaces, dict))


def config_of_data(document: Document) -> NxosConfig:
    """Return the settings in an object model (DME) of NX-OS."""
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
    """Yield the NX-OS command that a value stands for, if it is there; ``{}`` in ``words`` is its placeholder."""
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
    """Read the mode of PFC (0 is auto) and of its watchdog: on, off or auto; any other value is noted as unread."""
    for keys, words in _PFC.items():
        for line, place in _line(item, path, keys, words + "{}"):
            if keys == _MODE and line.removeprefix(words) == _AUTO:
                line = f"{words}auto"
            if line.removeprefix(words) in ("on", "off", "auto"):
                _add(config, settings, [(line, place)], PORT)
            else:
                config.unread[Origin(config.file, place), f"{keys[-1]}: {line.removeprefix(words)}"] = None


_TYPE = rf"(?:type ({'|'.join(TYPES)}) )?"
CLASS_MAP_LINE = re.compile(rf"class-map {_TYPE}(?:match-(any|all|first) )?(\S+)")
POLICY_MAP_LINE = re.compile(rf"policy-map {_TYPE}(?:match-(?:any|all|first) )?(\S+)")
CLASS_LINE = re.compile(rf"class {_TYPE}(\S+)(?: insert-before \S+)?")
PORT_LINE = re.compile(r"int(?:erface)? ((?!breakout)\S.*)")
PROFILE_LINE = re.compile(r"port-profile (?:type \S+ )?(\S+)")
_BY_ITSELF = re.compile(
    r"(?:no |default )?(?:feature|hostname|switchname|version|vlan|vrf context|router|ip route|ip access-list|line"
    r"|vpc domain|interface breakout|interface \S+[0-9]|(?:class|policy)-map|control-plane"
    r"|hardware|boot|copp|snmp-server|username|ntp|logging server|system(?! qos)|lldp|fabric)\b"
)
"""Commands of the switch that no mode here takes, so that one of them ends a mode that is written flat."""
_STARTING = re.compile(r"(?:conf(?:igure)?(?: t(?:erminal)?)?|sh(?:ow)? run.*)")
_LONGEST = 500
"""The most characters of a line that are read."""


class _OpenMode:
    """A command whose mode is open; ``takes`` is the mode's grammar, if it has one; ``indented``: so are its lines."""

    __slots__ = ("command", "indent", "indented", "kind", "takes")

    def __init__(self, command: Command, indent: int, kind: str, takes: Patterns | None) -> None:
        self.command = command
        self.indent = indent
        self.kind = kind
        self.takes = takes
        self.indented = False

    def has(self, text: str) -> bool:
        """Return whether a command belongs to this mode, by its grammar."""
        if self.kind == "policy-map":
            known = ("description ", "no description", "no class ")
            return CLASS_LINE.fullmatch(text) is not None or text.startswith(known)
        return self.takes is not None and accepts(self.takes, text)


def read_modes(text: str, file: str) -> CommandDocument:
    """Return the document of a configuration of NX-OS; its paths are those of :attr:`Command.path`."""
    reader = _ModeStack()
    comments = []
    for number, written in enumerate(text.split("\n"), 1):
        line = written.strip()[:_LONGEST]
        prompt = PROMPT.match(line)
        # In ``config`` and without a mode it is the switch's.
        reader.at_top = prompt is not None and prompt[1] in (None, "config")
        if prompt is not None:
            line = line[prompt.end() :]
        if line[:1] in ("!", "#"):
            comments.append(line)
        elif line and not _STARTING.fullmatch(line):
            # People begin lines with a capital; what follows may be a name.
            first, _, rest = " ".join(without_remark(line).split()).partition(" ")
            reader.add(len(written) - len(written.lstrip()), f"{first.lower()} {rest}".rstrip(), number)
    data: dict[str | int, Any] = {}
    lines: dict[Path, int] = {}
    for command in reader.root.all():
        lines.setdefault(command.path, command.line)
        place = data
        for key in command.path:
            place = place.setdefault(key, {})
    document = CommandDocument(file, text, data, LineLocator(text, lines))
    document.top, document.comments = tuple(reader.root.below), tuple(comments)
    return document


class _ModeStack:
    """The modes that are open, the innermost last; the first is that of the switch.

    ``at_top``: the prompt before a command is that of no mode. Such a prompt closes no mode, as people copy one prompt
    to all lines: it only assigns a command that the switch itself takes to the switch.
    """

    def __init__(self) -> None:
        self.root = Command("", (), 0)
        self._open = [_OpenMode(self.root, -1, "switch", SWITCH)]
        self.at_top = False

    def add(self, indent: int, text: str, line: int) -> None:
        """Add the next command to the open mode that it belongs to, and close or open modes."""
        if text in ("exit", "end"):
            del self._open[1 if text == "end" else max(1, len(self._open) - 1) :]
            return
        opened = _opened(text)
        depth = 0 if opened is not None else self._depth(indent, text)
        aside = opened is None and depth == 0 and self._is_of_switch(text)
        if not aside:
            del self._open[depth + 1 :]
        mode = self._open[depth]
        mode.indented = mode.indented or (depth > 0 and indent > mode.indent)
        command = Command(text, (*mode.command.path, text), line)
        mode.command.below.append(command)
        if opened is None and mode.kind == "policy-map" and CLASS_LINE.fullmatch(text) is not None:
            opened = "class", CLASSES[type_of(POLICY_MAP_LINE, mode.command.text)]
        if opened is None and depth == 0 and not accepts(SWITCH, text):
            opened = "other", None
        if opened is not None:
            self._open.append(_OpenMode(command, indent, *opened))

    def _depth(self, indent: int, text: str) -> int:
        """Return the index of the open mode that a command belongs to."""
        if self._is_of_switch(text):
            return 0
        inside = [depth for depth in range(len(self._open)) if not self._left(depth, indent)]
        taking = [depth for depth in inside if self._open[depth].has(text)]
        taking = taking or [depth for depth in range(len(self._open)) if self._open[depth].has(text)]
        if taking:
            return taking[-1]
        deepest = inside[-1]
        flat = self._open[deepest].indent >= indent
        return 0 if flat and (self._open[deepest].kind == "other" or _BY_ITSELF.match(text)) else deepest

    def _is_of_switch(self, text: str) -> bool:
        """Return whether the prompt shows that a command is the switch's; modes stay open, as prompts are copied."""
        return self.at_top and accepts(SWITCH, text)

    def _left(self, depth: int, indent: int) -> bool:
        """Return whether a line is indented too little for a mode whose other commands are indented."""
        return any(mode.indented and indent <= mode.indent for mode in self._open[1 : depth + 1])


def type_of(line: re.Pattern[str], text: str) -> str:
    """Return the type in the line of a class map, policy map or class, ``qos`` where it has none."""
    match = line.fullmatch(text)
    return (match[1] if match else None) or QOS


def _opened(text: str) -> tuple[str, Patterns | None] | None:
    """Return the kind of mode of the switch that a command opens, and its grammar; None where it opens none."""
    if POLICY_MAP_LINE.fullmatch(text) is not None:
        return "policy-map", None
    if CLASS_MAP_LINE.fullmatch(text) is not None:
        return "class-map", CLASS_MAP
    if text == "system qos":
        return "system qos", SYSTEM
    if PORT_LINE.fullmatch(text) is not None or PROFILE_LINE.fullmatch(text) is not None:
        return "interface", PORT
    return None


_TAKEN_BACK = re.compile(
    rf"(?:no|default) (?:(interface|port-profile) (.+)|(class|policy)-map (?:type ({'|'.join(TYPES)}) )?"
    r"(?:match-(?:any|all|first) )?(\S+))"
)
_BINDING = re.compile(r"service-policy (?:type \S+ )?(?:input |output )?(\S+)")


def read_running_config(text: str, file: str) -> tuple[CommandDocument, NxosConfig]:
    """Return the document of a running configuration of NX-OS, and its settings."""
    document = read_modes(text, file)
    return document, config_of(document)


def config_of(document: CommandDocument) -> NxosConfig:
    """Return the settings in a running configuration of NX-OS."""
    config = NxosConfig(document.name, document.shown)
    for command in document.top:
        _command(config, command)
    return config


def _command(config: NxosConfig, command: Command) -> None:
    text, origin = command.text, Origin(config.file, command.path)
    if (match := _TAKEN_BACK.fullmatch(text)) is not None:
        _take_back(config, match)
    elif (match := PORT_LINE.fullmatch(text)) is not None:
        for name in port_names(match[1]):
            config.places.setdefault(("interface", name), origin)
            _block(config, config.ports.setdefault(name, {}), command, PORT)
    elif (match := PROFILE_LINE.fullmatch(text)) is not None:
        config.places.setdefault(("port-profile", match[1]), origin)
        _block(config, config.profiles.setdefault(match[1], {}), command, PORT)
    elif (match := CLASS_MAP_LINE.fullmatch(text)) is not None:
        open_class_map(config, type_of(CLASS_MAP_LINE, text), match[3], match[2] or "", origin)
        _block(config, config.class_maps[type_of(CLASS_MAP_LINE, text), match[3]], command, CLASS_MAP)
    elif (match := POLICY_MAP_LINE.fullmatch(text)) is not None:
        _policy_map(config, command, type_of(POLICY_MAP_LINE, text), match[2])
    elif text == "system qos":
        config.system_qos = True
        _block(config, config.switch, command, SYSTEM)
    else:
        _apply(config, config.switch, command, SWITCH)
        for below in command.all():
            note_stray(config, (below.text, Origin(config.file, below.path)))
        lines = (_BINDING.match(below.text) for below in command.all())
        config.bound_elsewhere.update(line[1] for line in lines if line is not None)


def _take_back(config: NxosConfig, match: re.Match[str]) -> None:
    """Remove a negated port profile, class map or policy map; an interface stays, with the defaults of the switch."""
    name = (match[4] or QOS, match[5])
    if match[1] == "interface":
        for port in port_names(match[2]):
            config.ports.get(port, {}).clear()
    elif match[1]:
        config.profiles.pop(match[2], None)
    elif match[3] == "class":
        config.class_maps.pop(name, None)
    else:
        config.policies.pop(name, None)


def open_class_map(config: NxosConfig, kind: str, name: str, match: str, origin: Origin) -> None:
    """Add a class map if it is new, and how its matches combine: ``match`` is any, all or first, or empty."""
    settings = config.class_maps.setdefault((kind, name), {})
    config.places.setdefault((f"class-map type {kind}", name), origin)
    if match:
        settings["any",] = NxosSetting(match == "any", origin)


def _policy_map(config: NxosConfig, command: Command, kind: str, name: str) -> None:
    policy = config.policies.setdefault((kind, name), Classes(Origin(config.file, command.path)))
    for below in command.below:
        match = CLASS_LINE.fullmatch(below.text.removeprefix("no "))
        if match is not None and below.text.startswith("no "):
            policy.below.pop(match[2], None)
            continue
        if match is None:
            _apply(config, {}, below, ())
            continue
        origin = Origin(config.file, below.path)
        policy.types[match[2]] = match[1] or kind
        _block(config, policy.open(match[2], origin), below, CLASSES[kind])


def _block(config: NxosConfig, settings: Settings, command: Command, patterns: Patterns) -> None:
    for below in command.below:
        _apply(config, settings, below, patterns)


def _apply(config: NxosConfig, settings: Settings, command: Command, patterns: Patterns) -> None:
    apply(config, settings, (command.text, Origin(config.file, command.path)), patterns)


def looks_like_nxos(text: str) -> bool:
    """Return whether a text is a configuration of NX-OS, by its commands and by those that it does not have."""
    return _OTHERS.search(text) is None and _TELLING.search(text) is not None


_BEFORE = r"^[ \t]*(?:[\w.-]+(?:\([\w-]+\))?# ?)?"
_OTHERS = re.compile(
    r"^[ \t]*(?:nv set|(?:uc-)?tx-queue|qos map (?:dscp|dot1p|tc|pfc)|qos (?:scheduler|wred)-policy|service-profile"
    r"|qos-map|trust-map|trust dot1p-map|dcb-map|pfc-cos|ets mode|wred \S+$|match queue|set traffic-class"
    r"|policy-map type (?:quality-of-service|copp)|interface (?:Management|Vxlan)[0-9]+|class-map type pbr)\b"
    r"|^[ \t]*set (?:class-of-service|system|interfaces) |^!RANCID-CONTENT-TYPE: arista",
    re.MULTILINE,
)
_TELLING = re.compile(
    _BEFORE + r"(?:class-map type (?:qos|queuing|network-qos) |policy-map type (?:qos|queuing|network-qos) "
    r"|class type (?:qos|queuing|network-qos) |pause (?:pfc-cos|no-drop)|set qos-group [0-9]|match qos-group [0-9]"
    r"|(?:no )?priority-flow-control watch-?dog(?:-interval| (?:interval|shutdown-multiplier))?\b"
    r"|inherit port-profile |vpc (?:domain [0-9]|peer-link)|service-policy type (?:qos|queuing|network-qos) "
    r"|boot (?:nxos|kickstart) |feature (?:nxapi|vpc|lldp|lacp|interface-vlan|bgp|hsrp|privilege)\b)"
    r"|^[ \t]*priority-flow-control mode (?:auto|on send-tlv)|^!RANCID-CONTENT-TYPE: cisco-nx|^!.*\bNX-?OS\b",
    re.MULTILINE | re.IGNORECASE,
)
"""Commands that identify NX-OS. Dell OS10 has class maps and policy maps of these types too, and is recognized by its
own commands."""
