"""AVD's structured configuration (``eos_cli_config_gen`` of pyavd 6.4.0) to settings.

What AVD leaves as free text, the lines of maps, is read as the commands that it renders them to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.eos.read.numbers import milliseconds, speed_bps, threshold_bytes
from lossless.formats.switches.eos.read.rows import EcnThresholds, EosConfig, Key, Setting, Settings
from lossless.formats.switches.eos.read.running_config import SWITCH, apply
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

_MAPS = {"dscp": "dscp", "cos": "cos", "traffic_class": "traffic-class", "exp": "exp"}
_TIMERS = ("timeout", "recovery_time", "polling_interval")
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
    flow, qos = data.get("priority_flow_control"), data.get("qos")
    return (isinstance(flow, dict) and "watchdog" in flow) or (
        isinstance(qos, dict) and isinstance(qos.get("map"), dict)
    )


def config_of_data(document: Document) -> EosConfig:
    """Return the settings of a structured configuration."""
    config = EosConfig(document.name, document.shown)
    reader = _StructuredReader(config)
    data = document.data
    reader.put(config.switch, ("hostname",), data, ("hostname",))
    for key, word in _MAPS.items():
        lines = _at(data, "qos", "map", key)
        for number, line in enumerate(lines if isinstance(lines, list) else ()):
            text = f"qos map {word} {' '.join(str(line).split())}"
            apply(config, config.switch, (text, reader.origin(("qos", "map", key, number))), SWITCH)
    reader.watchdog(
        config.switch, _at(data, "priority_flow_control", "watchdog"), ("priority_flow_control", "watchdog")
    )
    if _at(data, "priority_flow_control", "all_off") is True:
        config.switch[("all-off",)] = Setting(True, reader.origin(("priority_flow_control", "all_off")))
    for name, profile, path in _named(data, "qos_profiles"):
        config.places.setdefault(("profile", name), reader.origin(path))
        reader.block(config.profiles.setdefault(name, {}), profile, path)
        reader.put(config.profiles[name], ("trust",), profile, (*path, "trust"))
    for name, interface, path in _named(data, "ethernet_interfaces"):
        config.places.setdefault(("interface", name), reader.origin(path))
        reader.interface(config.interfaces.setdefault(name, {}), interface, path)
    return config


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _named(data: Mapping[object, object], key: str) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    items = data.get(key)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            yield item["name"], item, (key, number)


class _StructuredReader:
    """Puts values of structured data where the commands that they are rendered to would."""

    def __init__(self, config: EosConfig) -> None:
        self._config = config

    def origin(self, path: Path) -> Origin:
        """Return a place in the file."""
        return Origin(self._config.file, path)

    def put(self, settings: Settings, key: Key, data: Any, path: Path) -> None:
        """Take a value over as it is, where there is one."""
        value = data.get(path[-1]) if isinstance(data, dict) else None
        if value is not None:
            settings[key] = Setting(value, self.origin(path))

    def interface(self, settings: Settings, data: Mapping[str, Any], path: Path) -> None:
        """Read an interface."""
        self.block(settings, data, path)
        self.put(settings, ("profile",), data, (*path, "service_profile"))
        self.put(settings, ("mtu",), data, (*path, "mtu"))
        for key, value, place in (
            (
                ("trust",),
                {"disabled": "none"}.get(_at(data, "qos", "trust"), _at(data, "qos", "trust")),
                ("qos", "trust"),
            ),
            (("speed",), speed_bps(str(data.get("speed") or "")), ("speed",)),
            (
                ("up",),
                None if not isinstance(data.get("shutdown"), bool) else not data["shutdown"],
                ("shutdown",),
            ),
            (
                ("routed",),
                True if _at(data, "switchport", "enabled") is False else None,
                ("switchport", "enabled"),
            ),
            (
                ("tagged",),
                _at(data, "switchport", "trunk", "allowed_vlan"),
                ("switchport", "trunk", "allowed_vlan"),
            ),
            (("lag",), _at(data, "channel_group", "id"), ("channel_group", "id")),
        ):
            if value is not None:
                settings[key] = Setting(value, self.origin((*path, *place)))

    def block(self, settings: Settings, data: Mapping[str, Any], path: Path) -> None:
        """Read what an interface and a profile have in common: PFC, its watchdog, and queues."""
        pfc, at = data.get("priority_flow_control"), (*path, "priority_flow_control")
        if isinstance(pfc, dict):
            self.put(settings, ("pfc",), {"enabled": pfc.get("enabled")}, (*at, "enabled"))
            for number, item in enumerate(pfc.get("priorities") or ()):
                if isinstance(item, dict) and item.get("priority") in range(8):
                    self.put(
                        settings, ("no-drop", item["priority"]), item, (*at, "priorities", number, "no_drop")
                    )
            self.port_watchdog(settings, pfc.get("watchdog"), (*at, "watchdog"))
        for key in _QUEUES:
            for number, queue in enumerate(data.get(key) or ()):
                if isinstance(queue, dict) and queue.get("id") in range(8):
                    self.queue(settings, queue, (*path, key, number))

    def watchdog(self, settings: Settings, data: Any, path: Path) -> None:
        """Read timers and action of a watchdog."""
        if not isinstance(data, dict):
            return
        for name in _TIMERS:
            value_ms = milliseconds(str(data.get(name))) if data.get(name) not in (None, "auto") else None
            if value_ms is not None:
                settings["watchdog", name.replace("_", "-")] = Setting(value_ms, self.origin((*path, name)))
        self.put(settings, ("watchdog", "action"), data, (*path, "action"))

    def port_watchdog(self, settings: Settings, data: Any, path: Path) -> None:
        """Read the watchdog of a port, whose timers stand one level below."""
        if isinstance(data, dict):
            self.put(settings, ("watchdog", "action"), data, (*path, "action"))
            self.watchdog(settings, data.get("timer"), (*path, "timer"))
            if data.get("enabled") is False:
                settings["watchdog",] = Setting(False, self.origin((*path, "enabled")))

    def queue(self, settings: Settings, data: Mapping[str, Any], path: Path) -> None:
        """Read one queue."""
        number = data["id"]
        settings.setdefault(("queue", number), Setting(True, self.origin(path)))
        strict = {"priority strict": True, "no priority": False}.get(str(data.get("priority")))
        if strict is not None:
            settings["queue", number, "strict"] = Setting(strict, self.origin((*path, "priority")))
        self.put(settings, ("queue", number, "percent"), data, (*path, "bandwidth_percent"))
        curve = _at(data, "random_detect", "ecn", "threshold")
        if isinstance(curve, dict):
            at = (*path, "random_detect", "ecn", "threshold")
            settings["queue", number, "ecn"] = Setting(_thresholds(curve), self.origin(at))


def _thresholds(curve: Mapping[str, Any]) -> EcnThresholds:
    unit = str(curve.get("units"))
    low, high, percent = (curve.get(key) for key in ("min", "max", "max_probability"))
    return EcnThresholds(
        threshold_bytes(str(low), unit) if isinstance(low, int) else None,
        threshold_bytes(str(high), unit) if isinstance(high, int) else None,
        percent if isinstance(percent, int) else None,
    )
