"""Commands of NX-OS, each in its mode, to settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.read.grammar import (
    CLASS_MAP,
    CLASSES,
    PORT,
    SWITCH,
    SYSTEM,
    apply,
    note_stray,
)
from lossless.formats.switches.nxos.read.modes import (
    CLASS_LINE,
    CLASS_MAP_LINE,
    POLICY_MAP_LINE,
    PORT_LINE,
    PROFILE_LINE,
    read_modes,
    type_of,
)
from lossless.formats.switches.nxos.read.numbers import port_names
from lossless.formats.switches.nxos.read.rows import QOS, TYPES, Classes, NxosConfig, NxosSetting
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from lossless.formats.switches.nxos.read.grammar import Patterns
    from lossless.formats.switches.nxos.read.rows import Settings
    from lossless.ground.documents.command_lines import Command, CommandDocument

_TAKEN_BACK = re.compile(
    rf"(?:no|default) (?:(interface|port-profile) (.+)|(class|policy)-map (?:type ({'|'.join(TYPES)}) )?"
    r"(?:match-(?:any|all|first) )?(\S+))"
)
_BINDING = re.compile(r"service-policy (?:type \S+ )?(?:input |output )?(\S+)")


def read_running_config(text: str, file: str) -> tuple[CommandDocument, NxosConfig]:
    """Return the document of a configuration, and its settings."""
    document = read_modes(text, file)
    return document, config_of(document)


def config_of(document: CommandDocument) -> NxosConfig:
    """Return the settings of a configuration."""
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
    """Remove an object; an interface stays, with the defaults of the switch."""
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
    """Take a class map up; ``match`` is any, all or first, or empty."""
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
    """Return whether a text is a configuration of NX-OS: it has commands that no other system has."""
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
