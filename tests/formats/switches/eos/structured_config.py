"""Settings of a switch to AVD's structured configuration (``eos_cli_config_gen`` of pyavd 6.4.0), for its validator.

It cannot say what is guaranteed to a queue in kbps, that ECN of a queue is off, or how an interface's own queues are
served, which profiles say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from lossless.formats.switches.eos.read.grammar import EcnThresholds, EosConfig, Key, Settings

_QUEUES = range(8)


def structured_config(config: EosConfig) -> dict[str, Any]:
    """Return the structured configuration that says the settings of a switch."""
    switch = config.switch
    named = switch.get(("hostname",))
    return _stated(
        {
            "hostname": named.value if named else None,
            "qos": {"map": _maps(switch)},
            "priority_flow_control": {
                "all_off": True if ("all-off",) in switch else None,
                "watchdog": {**_timers(switch), "action": _value(switch, ("watchdog", "action"))},
            },
            "qos_profiles": [
                _stated({"name": name, "trust": _trust(profile), **_block(profile)})
                for name, profile in config.profiles.items()
            ],
            "ethernet_interfaces": [_interface(name, port) for name, port in config.interfaces.items()],
        }
    )


def _value(settings: Settings, key: Key) -> Any:
    setting = settings.get(key)
    return None if setting is None else setting.value


def _stated(data: dict[str, Any]) -> dict[str, Any]:
    """Return data without what nothing is stated for."""
    kept = {key: _stated(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in kept.items() if value is not None and value not in ({}, [])}


def _maps(switch: Settings) -> dict[str, list[str]]:
    return {
        "dscp": _lines(switch, "dscp", "traffic-class"),
        "cos": _lines(switch, "cos", "traffic-class"),
        "traffic_class": [*_lines(switch, "tx-queue", "tx-queue"), *_rewrites(switch)],
    }


def _lines(switch: Settings, key: str, target: str) -> list[str]:
    """Return a line for each target, with all that is mapped to it."""
    sources = grouped(
        (setting.value, number)
        for (name, *number), setting in sorted(switch.items(), key=_order)
        if name == key
    )
    return [
        f"{' '.join(str(n[0]) for n in numbers)} to {target} {value}" for value, numbers in sources.items()
    ]


def _order(item: tuple[Key, Any]) -> tuple[str, int]:
    name, *number = item[0]
    return str(name), number[0] if number and isinstance(number[0], int) else 0


def _rewrites(switch: Settings) -> list[str]:
    return [f"{key[2]} to {key[1]} {setting.value}" for key, setting in switch.items() if key[0] == "rewrite"]


def _timers(settings: Settings) -> dict[str, Any]:
    names = ("timeout", "recovery-time", "polling-interval")
    values = {name: _value(settings, ("watchdog", name)) for name in names}
    return {name.replace("-", "_"): None if ms is None else f"{ms / 1000:g}" for name, ms in values.items()}


def _trust(settings: Settings) -> str | None:
    trust = _value(settings, ("trust",))
    return "disabled" if trust == "none" else trust


def _interface(name: str, port: Settings) -> dict[str, Any]:
    up, tagged, lag = (_value(port, (key,)) for key in ("up", "tagged", "lag"))
    routed, speed = _value(port, ("routed",)), _value(port, ("speed",))
    return _stated(
        {
            "name": name,
            "mtu": _value(port, ("mtu",)),
            "speed": _speed(speed),
            "shutdown": None if up is None else not up,
            "switchport": {
                "enabled": False if routed else None,
                "trunk": {"allowed_vlan": tagged},
            },
            "channel_group": {"id": None if lag is None else int(lag), "mode": "active" if lag else None},
            "service_profile": _value(port, ("profile",)),
            "qos": {"trust": _trust(port)},
            **_block(port),
        }
    )


def _speed(speed_bps: int | None) -> str | None:
    if speed_bps is None:
        return None
    return f"forced {speed_bps // 10**9}gfull" if speed_bps <= 100 * 10**9 else f"{speed_bps // 10**9}g"


def _block(settings: Settings) -> dict[str, Any]:
    """Return what an interface and a profile have in common."""
    priorities = [
        {"priority": key[1], "no_drop": setting.value}
        for key, setting in settings.items()
        if key[0] == "no-drop"
    ]
    watchdog = {
        "enabled": _value(settings, ("watchdog",)),
        "action": _value(settings, ("watchdog", "action")),
    }
    return _stated(
        {
            "priority_flow_control": {
                "enabled": _value(settings, ("pfc",)),
                "priorities": priorities,
                "watchdog": {**watchdog, "timer": _timers(settings)},
            },
            "tx_queues": [_queue(number, settings) for number in _QUEUES if ("queue", number) in settings],
        }
    )


def _queue(number: int, settings: Settings) -> dict[str, Any]:
    strict = _value(settings, ("queue", number, "strict"))
    curve = _value(settings, ("queue", number, "ecn"))
    return _stated(
        {
            "id": number,
            "priority": None if strict is None else "priority strict" if strict else "no priority",
            "bandwidth_percent": _value(settings, ("queue", number, "percent")),
            "random_detect": {"ecn": {"threshold": {} if curve is None else _threshold(curve)}},
        }
    )


def _threshold(curve: EcnThresholds) -> dict[str, Any]:
    return {
        "units": "bytes",
        "min": curve.min_bytes,
        "max": curve.max_bytes,
        "max_probability": curve.probability_percent,
        "weight": 0,
    }
