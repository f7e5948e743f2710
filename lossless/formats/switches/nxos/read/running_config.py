"""``show running-config`` of NX-OS, and scripts of its commands, to settings: which command stands in which mode.

Published texts are often flat, with ``exit`` or without, with comments of ``#``, or with the prompts of a session. So
the grammar of modes says where a command belongs, and indentation where it is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.names import interface_names
from lossless.formats.switches.nxos.read.grammar import CLASS, PORT, SWITCH, SYSTEM, is_about_qos, match_of
from lossless.formats.switches.nxos.read.rows import ClassMap, NxosConfig, PolicyClass, Rows, Stated
from lossless.ground.basics.findings import Origin
from lossless.ground.documents.command_lines import CommandDocument, read_commands

if TYPE_CHECKING:
    from lossless.formats.switches.nxos.read.grammar import Patterns
    from lossless.ground.documents.command_lines import Command

_PROMPT = re.compile(r"^[\w.-]+(?:\(config[\w-]*\))?# ?(?=\S)", re.MULTILINE)
_MAP = re.compile(r"(class|policy)-map(?: type (qos|queuing|network-qos))?(?: match-(any|all))? (\S+)")
_CLASS = re.compile(r"class(?: type (qos|queuing|network-qos))? (\S+)")
_INTERFACE = re.compile(r"interface (?!breakout )(.+)")
_PROFILE = re.compile(r"port-profile (?:type \S+ )?(\S+)")
_OF_CLASS = re.compile(
    r"(?:no )?(?:set|pause|mtu|bandwidth|priority|random-detect|queue-limit|shape|congestion-control|afd|description)\b"
)
_OF_SWITCH = re.compile(
    r"interface |(?:class|policy)-map |system qos|port-profile |feature |hostname |vlan |router |vrf |hardware |"
    r"copp |boot |lldp |spanning-tree vlan|snmp-server |ntp |username |line |version |vpc domain|end$"
)


def enters(opening: str, following: str) -> bool:
    """Return whether a command opens a mode that another one, indented as much, belongs to."""
    if opening.startswith("policy-map "):
        return following.startswith(("class ", "description "))
    if opening.startswith("class "):
        return _OF_CLASS.match(following) is not None
    if opening.startswith("class-map "):
        return following.startswith(("match ", "description "))
    if opening == "system qos":
        return following.startswith("service-policy ")
    if _INTERFACE.match(opening) or opening.startswith("port-profile "):
        return _OF_SWITCH.match(following) is None
    return False


def document_of(text: str, file: str) -> CommandDocument:
    """Return the document of a configuration."""
    return read_commands(_PROMPT.sub("", text), file, enters, comments_leave=False, comment=("!", "#"))


def config_of(document: CommandDocument) -> NxosConfig:
    """Return the settings of a configuration."""
    config = NxosConfig(document.name, document.shown)
    for command in document.top:
        _top(config, command)
    return config


def _top(config: NxosConfig, command: Command) -> None:
    named, interface = _MAP.fullmatch(command.text), _INTERFACE.fullmatch(command.text)
    profile = _PROFILE.fullmatch(command.text)
    if named is not None:
        _map(config, command, named)
    elif command.text == "system qos":
        _block(config, command, config.bound, SYSTEM)
    elif interface is not None:
        for name in interface_names(interface[1]):
            config.places.setdefault(("interface", name), _origin(config, command))
            _block(config, command, config.interfaces.setdefault(name, {}), PORT)
    elif profile is not None:
        config.places.setdefault(("port-profile", profile[1]), _origin(config, command))
        _block(config, command, config.profiles.setdefault(profile[1], {}), PORT)
    else:
        _apply(config, config.switch, command, SWITCH)


def _map(config: NxosConfig, command: Command, named: re.Match[str]) -> None:
    key, origin = (named[2] or "qos", named[4]), _origin(config, command)
    config.places.setdefault((f"{named[1]}-map", " ".join(key)), origin)
    if named[1] == "class":
        _class_map(
            config, command, key, match_all=named[3] == "all" or (named[3] is None and key[0] == "qos")
        )
        return
    policy = config.policies.setdefault(key, [])
    for line in command.below:
        of = _CLASS.fullmatch(line.text)
        if of is None:
            _note(config, line)
            continue
        rows: Rows = {}
        _block(config, line, rows, CLASS)
        policy.append(PolicyClass(of[2], of[1] or "qos", rows, _origin(config, line)))


def _class_map(config: NxosConfig, command: Command, key: tuple[str, str], *, match_all: bool) -> None:
    own = config.class_maps.setdefault(key, ClassMap([], match_all, _origin(config, command)))
    for line in command.below:
        if not line.text.startswith("match "):
            continue
        match = match_of(line.text)
        if match is None:
            config.impossible.append((_origin(config, line), line.text))
        else:
            own.matches.append(match)


def _block(config: NxosConfig, block: Command, rows: Rows, patterns: Patterns) -> None:
    for command in block.below:
        _apply(config, rows, command, patterns)


def _apply(config: NxosConfig, rows: Rows, command: Command, patterns: Patterns) -> None:
    for pattern, made_of in patterns:
        match = pattern.fullmatch(command.text)
        if match is None:
            continue
        made = made_of(match)
        if made is None:
            config.impossible.append((_origin(config, command), command.text))
        for key, value in made or ():
            rows[key] = Stated(value, _origin(config, command))
        return
    _note(config, command)


def _note(config: NxosConfig, command: Command) -> None:
    if is_about_qos(command.text):
        config.unread.append((_origin(config, command), command.text))


def _origin(config: NxosConfig, command: Command) -> Origin:
    return Origin(config.file, command.path)


_TELLING = re.compile(
    r"^\s*(?:[\w.-]+(?:\(config[\w-]*\))?# ?)?(?:(?:class|policy)-map type (?:qos|queuing|network-qos) "
    r"|priority-flow-control (?:mode (?:on|off|auto) ?(?:send-tlv)?\s*$|watch-dog|override-interface)"
    r"|service-policy type (?:qos|queuing|network-qos) (?:input|output) )",
    re.MULTILINE,
)
_OTHERS = re.compile(
    r"^\s*(?:nv set |tx-queue |uc-tx-queue |qos-map |trust |ets mode |dcb-map |qos map |pfc-cos "
    r"|service-policy (?:input|output) type |interface ethernet[0-9]+/[0-9]+/[0-9]+)",
    re.MULTILINE,
)


def looks_like_nxos(text: str) -> bool:
    """Return whether a text is a configuration of NX-OS: it has commands that no other system has."""
    return _TELLING.search(text) is not None and _OTHERS.search(text) is None
