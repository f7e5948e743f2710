"""EOS configurations to settings: ``show running-config``, and AVD's structured configuration.

In a running configuration commands stand by the mode that they are in. In a structured one (``eos_cli_config_gen`` of
pyavd 6.4.0) each value is read as the command that AVD renders it to, so that one grammar defines the valid values; a
value that makes no command of EOS is unread.
"""

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
    EosConfig,
    Key,
    Setting,
    Settings,
    apply,
    interface_names,
    is_about_qos,
    meant_by,
)
from lossless.formats.switches.written_numbers import DSCP_NAMES, indexes
from lossless.ground.basics.findings import Origin
from lossless.ground.documents.command_lines import CommandDocument, read_commands, without_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.eos.read.grammar import Patterns
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.command_lines import Command
    from lossless.ground.documents.text import Document


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
    """Return whether a command opens a mode to which a command with the same indentation belongs."""
    if _QUEUE.fullmatch(opening) or opening.startswith("mc-tx-queue "):
        return _OF_QUEUE.match(following) is not None
    if _POLICY.fullmatch(opening):
        return following.startswith("class ")
    if _CLASS_MAP.fullmatch(opening) or opening.startswith("class "):
        return _OF_CLASS.match(following) is not None
    return opening.startswith(("interface ", "qos profile ")) and _OF_SWITCH.match(following) is None


def read_running_config(text: str, file: str) -> tuple[CommandDocument, EosConfig]:
    """Return the document of a running configuration of EOS, and its settings."""
    document = read_commands(text, file, enters)
    return document, config_of(document)


def config_of(document: CommandDocument) -> EosConfig:
    """Return the settings of a running configuration of EOS."""
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
    """Remove a negated QoS profile, class map or policy map; an interface stays, with the defaults of the switch."""
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
    """Return the DSCPs that an access list permits, None if it has another line than permits of DSCPs."""
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
"""The patterns of modes whose commands, like those of a queue's mode, are all about QoS."""


def _origin(config: EosConfig, command: Command) -> Origin:
    return Origin(config.file, command.path)


def looks_like_eos(text: str) -> bool:
    """Return whether a text is a configuration of EOS, by its commands and by those that it does not have."""
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


if TYPE_CHECKING:
    Line = tuple[str, Path]
    """A command, and the path of the value that it is rendered from."""

_MAPS = {"dscp": "dscp", "cos": "cos", "traffic_class": "traffic-class", "exp": "exp"}
_TIMERS = {"timeout": "timeout", "recovery_time": "recovery-time", "polling_interval": "polling-interval"}
_WATCHDOG = "priority-flow-control pause watchdog"
_POLICY_KEY = "service-policy type qos input {}"
_QUEUES = ("tx_queues", "uc_tx_queues")
_TELLING_KEYS = ("ethernet_interfaces", "qos_profiles")


def looks_structured(data: Mapping[object, object]) -> bool:
    """Return whether data are AVD's: interfaces or profiles as lists of named items, or keys of QoS or platform."""
    for key in _TELLING_KEYS:
        items = data.get(key)
        if (
            isinstance(items, list)
            and items
            and all(isinstance(item, dict) and "name" in item for item in items)
        ):
            return True
    flow, qos, platform = (data.get(key) for key in ("priority_flow_control", "qos", "platform"))
    if isinstance(platform, dict) and not {"trident", "sand"}.isdisjoint(platform):
        return True
    return (isinstance(flow, dict) and "watchdog" in flow) or (
        isinstance(qos, dict) and isinstance(qos.get("map"), dict)
    )


def config_of_data(document: Document) -> EosConfig:
    """Return the settings of a structured configuration of AVD."""
    config = EosConfig(document.name, document.shown)
    _add(config, config.switch, _of_switch(document.data), SWITCH)
    for key in ("qos_profiles", "port_channel_interfaces", "ethernet_interfaces"):
        kind = "profile" if key == "qos_profiles" else "interface"
        blocks = config.profiles if kind == "profile" else config.interfaces
        for name, data, path in _named(document.data, key):
            config.places.setdefault((kind, name), Origin(config.file, path))
            settings = blocks.setdefault(name, {})
            lines = _of_profile(data, path) if kind == "profile" else _of_interface(data, path)
            _add(config, settings, lines, PORT)
            _add_queues(config, settings, data, path)
    _add_policies(config, document.data)
    defaults = _at(document.data, "interface_defaults")
    _add(config, config.switch, _line(defaults, ("interface_defaults", "mtu"), "mtu {}"), PORT)
    return config


def _add_policies(config: EosConfig, data: Mapping[Any, Any]) -> None:
    for name, item, path in _named(_at(data, "class_maps") or {}, "qos"):
        at = ("class_maps", *path)
        _add(config, config.class_maps.setdefault(name, {}), _of_class_map(item, at), CLASS_MAP)
    for name, item, path in _named(_at(data, "policy_maps") or {}, "qos"):
        classes = config.policies.setdefault(name, {})
        config.places.setdefault(("policy", name), Origin(config.file, ("policy_maps", *path)))
        for cls, own, place in _named(item, "classes"):
            at = ("policy_maps", *path, *place, "set", "traffic_class")
            lines = _line(_at(own, "set"), at, "set traffic-class {}")
            _add(config, classes.setdefault(cls, {}), lines, CLASS)


def _add(
    config: EosConfig, settings: Settings, lines: Iterator[Line], patterns: Patterns, prefix: Key = ()
) -> None:
    for text, path in lines:
        origin = Origin(config.file, path)
        if not apply(config, settings, (text, origin), patterns, prefix):
            config.unread.append((origin, text))


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _items(data: Any, key: str) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list with their numbers; none if the value is no list."""
    items = data.get(key) if isinstance(data, dict) else None
    return enumerate(items if isinstance(items, list) else ())


def _named(data: Mapping[Any, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    for number, item in _items(data, key):
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            yield item["name"], item, (key, number)


# --- what values are rendered to ---


def _line(data: Any, path: Path, words: str) -> Iterator[Line]:
    """Yield the EOS command that AVD renders a value to, if it is there; ``{}`` in ``words`` is its placeholder."""
    value = data.get(path[-1]) if isinstance(data, dict) else None
    if value is not None:
        yield words.format(" ".join(str(value).split())), path


def _switched(data: Any, path: Path, on: str, off: str) -> Iterator[Line]:
    """Yield the EOS command of a value that is on or off; any other value becomes an argument of the command."""
    value = data.get(path[-1]) if isinstance(data, dict) else None
    if value is not None:
        yield (
            {True: on, False: off}.get(value, f"{on} {value}")
            if isinstance(value, bool)
            else f"{on} {value}",
            path,
        )


def _of_switch(data: Mapping[Any, Any]) -> Iterator[Line]:
    yield from _line(data, ("hostname",), "hostname {}")
    yield from _line(
        _at(data, "switchport_default"), ("switchport_default", "mode"), "switchport default mode {}"
    )
    maps = _at(data, "qos", "map")
    for key, word in _MAPS.items():
        for number, line in _items(maps, key):
            yield f"qos map {word} {' '.join(str(line).split())}", ("qos", "map", key, number)
    yield from _switched(_at(data, "qos"), ("qos", "rewrite_dscp"), "qos rewrite dscp", "no qos rewrite dscp")
    if _at(data, "priority_flow_control", "all_off") is True:
        yield "priority-flow-control all off", ("priority_flow_control", "all_off")
    watchdog = _at(data, "priority_flow_control", "watchdog")
    path: Path = ("priority_flow_control", "watchdog")
    for key, word in _TIMERS.items():
        yield from _line(watchdog, (*path, key), f"{_WATCHDOG} default {word} {{}}")
    yield from _line(watchdog, (*path, "action"), f"{_WATCHDOG} action {{}}")
    if _at(watchdog, "override_action_drop") is True:
        yield f"{_WATCHDOG} override action drop", (*path, "override_action_drop")


def _of_profile(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _trust(data, (*path, "trust"))
    yield from _line(
        _at(data, "service_policy", "type"), (*path, "service_policy", "type", "qos_input"), _POLICY_KEY
    )
    yield from _shape(data, path)
    yield from _pfc(data, path)


def _shape(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(_at(data, "shape"), (*path, "shape", "rate"), "shape rate {}")


def _of_class_map(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    for key in ("dscp", "cos", "vlan", "ecn"):
        yield from _line(data, (*path, key), f"match {key} {{}}")
    for key in ("ip", "ipv6"):
        yield from _line(_at(data, key), (*path, key, "access_group"), f"match {key} access-group {{}}")


def _of_interface(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(data, (*path, "service_profile"), "service-profile {}")
    yield from _line(data, (*path, "mtu"), "mtu {}")
    yield from _line(data, (*path, "speed"), "speed {}")
    yield from _switched(data, (*path, "shutdown"), "shutdown", "no shutdown")
    yield from _switched(
        _at(data, "switchport"), (*path, "switchport", "enabled"), "switchport", "no switchport"
    )
    yield from _line(_at(data, "switchport"), (*path, "switchport", "mode"), "switchport mode {}")
    trunk = _at(data, "switchport", "trunk")
    yield from _line(
        trunk, (*path, "switchport", "trunk", "allowed_vlan"), "switchport trunk allowed vlan {}"
    )
    yield from _line(
        _at(data, "channel_group"), (*path, "channel_group", "id"), "channel-group {} mode active"
    )
    yield from _line(
        _at(data, "service_policy", "qos"), (*path, "service_policy", "qos", "input"), _POLICY_KEY
    )
    yield from _trust(_at(data, "qos"), (*path, "qos", "trust"))
    yield from _line(_at(data, "flowcontrol"), (*path, "flowcontrol", "received"), "flowcontrol receive {}")
    yield from _shape(data, path)
    yield from _pfc(data, path)


def _trust(data: Any, path: Path) -> Iterator[Line]:
    off = _at(data, "trust") == "disabled"
    yield from _line(data, path, "no qos trust" if off else "qos trust {}")


def _pfc(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    flow, path = data.get("priority_flow_control"), (*path, "priority_flow_control")
    yield from _switched(flow, (*path, "enabled"), "priority-flow-control on", "no priority-flow-control")
    for number, item in _items(flow, "priorities"):
        words = f"priority-flow-control priority {_at(item, 'priority')}"
        yield from _switched(
            item, (*path, "priorities", number, "no_drop"), f"{words} no-drop", f"{words} drop"
        )
    watchdog, path = _at(flow, "watchdog"), (*path, "watchdog")
    if _at(watchdog, "enabled") is False:
        yield f"no {_WATCHDOG}", (*path, "enabled")
    yield from _line(watchdog, (*path, "action"), f"{_WATCHDOG} port action {{}}")
    timer = _at(watchdog, "timer")
    if isinstance(timer, dict):
        stated = (f"{word} {timer[key]}" for key, word in _PORT_TIMERS.items() if timer.get(key) is not None)
        forced = ("forced",) if timer.get("forced") is True else ()
        yield f"{_WATCHDOG} port timer {' '.join((*stated, *forced))}", (*path, "timer")


_PORT_TIMERS = {
    "timeout": "timeout",
    "polling_interval": "polling-interval",
    "recovery_time": "recovery-time",
}
"""The timers of ``pause watchdog port timer`` by their key, in the order in which the command has them."""


def _add_queues(config: EosConfig, settings: Settings, data: Mapping[str, Any], path: Path) -> None:
    for key in _QUEUES:
        for place, item in _items(data, key):
            number, at = _at(item, "id"), (*path, key, place)
            origin = Origin(config.file, at)
            if type(number) is not int or not 0 <= number <= LAST_QUEUE:
                config.impossible.append((origin, f"tx-queue {number}"))
                continue
            settings.setdefault(("queue", number), Setting(True, origin))
            _add(config, settings, _of_queue(item, at), QUEUE, ("queue", number))


def _of_queue(data: Mapping[str, Any], path: Path) -> Iterator[Line]:
    yield from _line(data, (*path, "priority"), "{}")
    yield from _line(data, (*path, "bandwidth_percent"), "bandwidth percent {}")
    yield from _shape(data, path)
    for kind, key in (("ecn", "max_probability"), ("drop", "drop_probability")):
        curve = _at(data, "random_detect", kind, "threshold")
        if isinstance(curve, dict):
            unit, low, high, most = (curve.get(name) for name in ("units", "min", "max", key))
            words = f"random-detect {kind} minimum-threshold {low} {unit} maximum-threshold {high} {unit}"
            probability = "max-mark-probability" if kind == "ecn" else "drop-probability"
            words += "" if most is None else f" {probability} {most}"
            yield words, (*path, "random_detect", kind, "threshold")
