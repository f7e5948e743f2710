"""AVD's structured configuration (``eos_cli_config_gen`` of pyavd 6.4.0) to settings.

Each value is read as the command that AVD renders it to, so that one grammar defines the valid values; a value that
makes no command of EOS is unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.eos.read.grammar import (
    CLASS,
    CLASS_MAP,
    LAST_QUEUE,
    PORT,
    QUEUE,
    SWITCH,
    apply,
)
from lossless.formats.switches.eos.read.rows import EosConfig, Key, Setting, Settings
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.eos.read.grammar import Patterns
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

    Line = tuple[str, Path]
    """A command, and the path of the value that it is rendered from."""

_MAPS = {"dscp": "dscp", "cos": "cos", "traffic_class": "traffic-class", "exp": "exp"}
_TIMERS = {"timeout": "timeout", "recovery_time": "recovery-time", "polling_interval": "polling-interval"}
_WATCHDOG = "priority-flow-control pause watchdog"
_POLICY = "service-policy type qos input {}"
_QUEUES = ("tx_queues", "uc_tx_queues")
_TELLING = ("ethernet_interfaces", "qos_profiles")


def looks_structured(data: Mapping[object, object]) -> bool:
    """Return whether data are AVD's: interfaces or profiles as lists of named items, or its keys of QoS."""
    for key in _TELLING:
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
    """Return the settings of a structured configuration."""
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
    """Yield the command of a value, if there is one; ``{}`` in it is the placeholder of the value."""
    value = data.get(path[-1]) if isinstance(data, dict) else None
    if value is not None:
        yield words.format(" ".join(str(value).split())), path


def _switched(data: Any, path: Path, on: str, off: str) -> Iterator[Line]:
    """Yield the command of a value that is on or off; any other value becomes an argument of the command."""
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
        _at(data, "service_policy", "type"), (*path, "service_policy", "type", "qos_input"), _POLICY
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
    yield from _line(_at(data, "service_policy", "qos"), (*path, "service_policy", "qos", "input"), _POLICY)
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
        yield f"{_WATCHDOG} port timer {' '.join(stated)}", (*path, "timer")


_PORT_TIMERS = {
    "timeout": "timeout",
    "polling_interval": "polling-interval",
    "recovery_time": "recovery-time",
}
"""In the order in which the command has them."""


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
