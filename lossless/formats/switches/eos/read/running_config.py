"""``show running-config`` of EOS to settings: commands by the mode that they are in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.eos.read.grammar import (
    CLASS,
    CLASS_MAP,
    LAST_QUEUE,
    PORT,
    QUEUE,
    SWITCH,
    apply,
    is_about_qos,
    meant_by,
)
from lossless.formats.switches.eos.read.numbers import interface_names
from lossless.formats.switches.eos.read.rows import EosConfig, Key, Setting, Settings
from lossless.formats.switches.written_numbers import DSCP_NAMES, indexes
from lossless.ground.basics.findings import Origin
from lossless.ground.documents.command_lines import CommandDocument, read_commands, without_prompt

if TYPE_CHECKING:
    from lossless.formats.switches.eos.read.grammar import Patterns
    from lossless.ground.documents.command_lines import Command

_QUEUE = re.compile(r"(?:uc-)?tx-queue ([0-9]{1,2})")
_OF_QUEUE = re.compile(r"(?:no |default )?(?:priority(?: strict)?$|bandwidth |shape rate|random-detect )")
_OF_SWITCH = re.compile(
    r"(?:no |default )?(?:interface|qos (?:profile|map|rewrite)|(?:class|policy)-map) |qos (?:random-detect|tx-queue) "
    r"|hostname |vlan |router |ip |ipv6 |platform |queue-monitor|management |snmp-server |ntp |aaa |username "
    r"|priority-flow-control (?:all|pause watchdog (?:default|action)) "
)
_CLASS_MAP = re.compile(r"class-map type qos (?:match-(?:any|all) )?(\S+)")
_POLICY = re.compile(r"policy-map type (?:quality-of-service|qos) (\S+)")
_CLASS = re.compile(r"(no |default )?(?:[0-9]+ )?class (\S+)")
_TAKEN_BACK = re.compile(
    r"(?:no|default) (interface|qos profile|class-map|policy-map)(?: type \S+)?(?: match-any)? (\S+)"
)
_OF_CLASS = re.compile(r"(?:no |default )?(?:match|set|police|[0-9]+ match) ")
_LIST = re.compile(r"(?:ip|ipv6) access-list (?:standard )?(\S+)")
_OF_LIST = re.compile(r"(?:[0-9]+ )?permit (?:ip|ipv6|udp) any any(?: eq (?:roce|4791))? dscp ([0-9a-z]+)")
_DEVICE = re.compile(r"! device: (\S+) \(")


def enters(opening: str, following: str) -> bool:
    """Return whether a command opens a mode that another one, indented as much, belongs to."""
    if _QUEUE.fullmatch(opening) or opening.startswith("mc-tx-queue "):
        return _OF_QUEUE.match(following) is not None
    if _POLICY.fullmatch(opening):
        return following.startswith("class ")
    if _CLASS_MAP.fullmatch(opening) or opening.startswith("class "):
        return _OF_CLASS.match(following) is not None
    return opening.startswith(("interface ", "qos profile ")) and _OF_SWITCH.match(following) is None


def read_running_config(text: str, file: str) -> tuple[CommandDocument, EosConfig]:
    """Return the document of a configuration, and its settings."""
    document = read_commands(text, file, enters)
    return document, config_of(document)


def config_of(document: CommandDocument) -> EosConfig:
    """Return the settings of a configuration."""
    config = EosConfig(document.name, document.shown)
    for comment in document.comments:
        _note_comment(config, comment)
    for command in document.top:
        kind, _, name = command.text.partition(" ")
        if (match := _TAKEN_BACK.fullmatch(command.text)) is not None:
            _take_back(config, match[1], match[2])
        elif name == "defaults":
            defaults: Settings = {}
            _block(config, command, defaults)
            config.switch.update((key, setting) for key, setting in defaults.items() if key == ("mtu",))
        elif kind == "interface":
            for port in interface_names(name):
                _block(config, command, config.interfaces.setdefault(port, {}))
                config.places.setdefault(("interface", port), _origin(config, command))
        elif (match := _CLASS_MAP.fullmatch(command.text)) is not None:
            settings = config.class_maps.setdefault(match[1], {})
            for below in command.below:
                _apply(config, settings, below, CLASS_MAP)
        elif (match := _POLICY.fullmatch(command.text)) is not None:
            _policy(config, command, config.policies.setdefault(match[1], {}))
            config.places.setdefault(("policy", match[1]), _origin(config, command))
        elif (match := _LIST.fullmatch(command.text)) is not None:
            config.access_lists[match[1]] = _permitted(command)
        elif command.text.startswith("qos profile "):
            profile = command.text[len("qos profile ") :]
            _block(config, command, config.profiles.setdefault(profile, {}))
            config.places.setdefault(("profile", profile), _origin(config, command))
        else:
            _apply(config, config.switch, command, SWITCH)
    return config


def _take_back(config: EosConfig, kind: str, name: str) -> None:
    """Remove an object; an interface stays, with the defaults of the switch."""
    if kind == "interface":
        for port in interface_names(name):
            config.interfaces.get(port, {}).clear()
        return
    objects: tuple[dict[str, Any], ...] = (config.profiles, config.class_maps, config.policies)
    objects[("qos profile", "class-map", "policy-map").index(kind)].pop(name, None)


def _policy(config: EosConfig, command: Command, classes: dict[str, Settings]) -> None:
    for below in command.below:
        match = _CLASS.fullmatch(below.text)
        if match is None:
            strays = () if below.text.startswith("description ") else (below, *below.all())
            config.unread.extend((_origin(config, stray), stray.text) for stray in strays)
            continue
        if match[1]:
            classes.pop(match[2], None)
            continue
        settings = classes.setdefault(match[2], {})
        for line in below.below:
            _apply(config, settings, line, CLASS)


def _permitted(command: Command) -> set[int] | None:
    """Return the DSCPs that an access list permits, None if one of its lines matches on another field."""
    dscps: set[int] = set()
    for below in command.below:
        match = _OF_LIST.fullmatch(below.text)
        numbers = indexes(match[1], 63, DSCP_NAMES) if match is not None else None
        if numbers is None:
            return None
        dscps.update(numbers)
    return dscps


def _note_comment(config: EosConfig, comment: str) -> None:
    match = _DEVICE.match(comment)
    if match is not None:
        origin = Origin(config.file)
        config.switch.setdefault(("hostname",), Setting(match[1], origin))
    if comment.startswith("! Command: show running-config all"):
        config.complete = False


def _block(config: EosConfig, block: Command, settings: Settings) -> None:
    for command in block.below:
        queue = _QUEUE.fullmatch(command.text)
        if queue is None:
            _apply(config, settings, command, PORT)
            continue
        number, origin = int(queue[1]), _origin(config, command)
        if number > LAST_QUEUE:
            config.impossible.append((origin, command.text))
            continue
        settings.setdefault(("queue", number), Setting(True, origin))
        for line in command.below:
            _apply(config, settings, line, QUEUE, ("queue", number))


def _apply(
    config: EosConfig, settings: Settings, command: Command, patterns: Patterns, prefix: Key = ()
) -> None:
    line = (command.text, _origin(config, command))
    if apply(config, settings, line, patterns, prefix):
        return
    if meant := meant_by(command.text):
        config.refused.append((line[1], command.text, meant))
    elif prefix or patterns in _ONLY_QOS or is_about_qos(command.text):
        config.unread.append((line[1], command.text))


_ONLY_QOS = (CLASS_MAP, CLASS)
"""Modes whose commands, like those of a queue's mode, are all about QoS."""


def _origin(config: EosConfig, command: Command) -> Origin:
    return Origin(config.file, command.path)


def looks_like_eos(text: str) -> bool:
    """Return whether a text is a configuration of EOS: it has commands that no other system has."""
    plain = "\n".join(map(without_prompt, text.splitlines())) if "#" in text else text
    if _OTHERS.search(plain) or not _BLOCKS.search(plain):
        return False
    return _OWN.search(plain) is not None or (
        _OTHER_MAPS.search(plain) is None and _TELLING.search(plain) is not None
    )


_BLOCKS = re.compile(
    r"^(?:interface|qos|platform|priority-flow-control|policy-map) \S|^! device: ", re.MULTILINE
)
_OTHERS = re.compile(
    r"^[ \t]*(?:class type|feature|qos-map|system qos|nv set|qos roce|qos map (?:dscp|dot1p|tc|pfc)-"
    r"|qos (?:scheduler|wred)-policy|service-policy type (?:queuing|network-qos)|set qos-group"
    r"|pause (?:pfc-cos|no-drop)|(?:class|policy)-map type (?:queuing|network-qos))\b",
    re.MULTILINE,
)
_OTHER_MAPS = re.compile(
    r"^[ \t]*(?:class-map(?! type (?:qos match-any|(?:pbr|copp|control-plane) ))"
    r"|policy-map(?! type (?:quality-of-service|qos|pbr|copp|control-plane|tx-queue) ))\b",
    re.MULTILINE,
)
"""Commands of other systems. EOS also has maps of classes and policies, of other types (pyavd 6.4.0 renders them)."""
_OWN = re.compile(
    r"^! device: .*EOS-|^!RANCID-CONTENT-TYPE: arista|^qos map (?:dscp|cos) [0-9][0-9 ,-]*(?: to)? traffic-class "
    r"|^qos profile \S+[ \t\r]*$"
    r"|^policy-map type quality-of-service |^[ \t]*(?:uc-|mc-)tx-queue [0-9]",
    re.MULTILINE,
)
"""Commands that identify EOS even if a text has maps of other types too."""
_TELLING = re.compile(
    r"^qos map |^transceiver qsfp |^platform (?:trident|sand) |^qos random-detect ecn "
    r"|^[ \t]*(?:tx-queue [0-9]|service-profile |random-detect ecn |set traffic-class [0-7]"
    r"|priority-flow-control (?:on[ \t\r]*$|priority [0-7] (?:no-)?drop|pause watchdog))",
    re.MULTILINE,
)
