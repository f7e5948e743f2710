"""A switch of the model to the structured configuration of AVD (``eos_cli_config_gen`` of pyavd 6.4.0).

The map of DSCPs is written in full, since EOS has defaults for missing entries: DSCP 0-7 goes to traffic class 1 there.
Ports that are configured identically share a QoS profile. The queues are those of unicast: switches with Broadcom's
Trident and Tomahawk, for which hardware profiles know EOS, have separate queues for multicast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.other_systems import usual_watchdog
from lossless.ground.basics.findings import grouped, natural_key
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import Curve, IndexMap, PortQos, Queue, Watchdog


_ACTIONS = {"drop": "drop", "errdisable": "errdisable", "alert": "notify-only"}
"""The actions of a watchdog in the words of EOS; older releases could forward too (no-drop)."""
_UNITS = ((1_000_000, "mbytes"), (1000, "kbytes"), (1, "bytes"))
_FIXED = 7
"""Traffic class 7 has queue 7, and no command for it."""


def structured(switch: Switch) -> dict[str, Any]:
    """Return the structured configuration of a switch: QoS alone, without settings of its own provisioning."""
    ports = sorted(
        (port for port in switch.ports if port.placed and port.qos), key=lambda port: natural_key(port.name)
    )
    usual = usual_watchdog(ports)
    blocks = [(port, _block(port.qos, usual, switch)) for port in ports if port.qos is not None]
    profiles = _named(blocks)
    return _stated(
        {
            "qos": {"map": _maps([port.qos for port in ports if port.qos is not None])},
            "priority_flow_control": {"watchdog": _timers(switch, usual)},
            "qos_profiles": [{"name": name, **block} for name, block in profiles.items()],
            "ethernet_interfaces": [
                {"name": port.name, "service_profile": _name_of(block, profiles)} for port, block in blocks
            ],
        }
    )


def _stated(data: dict[str, Any]) -> dict[str, Any]:
    """Return a structured configuration without None values, empty lists and empty objects."""
    kept = {key: _stated(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in kept.items() if value is not None and value not in ({}, [])}


# --- the switch ---


def _maps(every: list[PortQos]) -> dict[str, list[str]]:
    """Return the QoS maps, of which EOS has one each for the switch: those of the first port, and CoS if needed."""
    if not every:
        return {}
    maps = {"dscp": _lines(every[0].dscp_to_tc, "traffic-class")}
    queues = every[0].tc_to_queue
    if queues is not None and queues.targets != tuple(PRIORITIES):
        maps["traffic_class"] = [
            f"{tc} to tx-queue {queue}" for tc, queue in enumerate(queues.targets) if tc != _FIXED
        ]
    if any(priority < 2 for qos in every for priority in qos.pfc.priorities):
        # EOS exchanges 0 and 1 in its map of CoS, by which a pause finds the class that it stops.
        maps["cos"] = [f"{priority} to traffic-class {priority}" for priority in (0, 1)]
    return maps


def _lines(index_map: IndexMap | None, target: str) -> list[str]:
    """Return a line for each target of a map, with all indexes that are mapped to it: ``24 26 to traffic-class 3``."""
    if index_map is None:
        return []
    by_target = grouped((to, source) for source, to in enumerate(index_map.targets) if to is not None)
    return [f"{' '.join(map(str, by_target[to]))} to {target} {to}" for to in sorted(by_target)]


def _timers(switch: Switch, watchdog: Watchdog | None) -> dict[str, Any]:
    if watchdog is None:
        return {}
    return {
        "timeout": _seconds(watchdog.detection_ms),
        "recovery_time": _seconds(watchdog.restoration_ms),
        "polling_interval": _seconds(switch.qos.poll.poll_ms),
        "action": _ACTIONS.get(watchdog.action),
    }


def _seconds(time_ms: int | None) -> str | None:
    return None if time_ms is None else f"{time_ms / 1000:g}"


# --- profiles ---


def _named(blocks: list[tuple[Port, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the distinct QoS profiles of ports by name: LOSSLESS and LOSSY, numbered where there are several."""
    distinct: list[dict[str, Any]] = []
    for _, block in blocks:
        if block not in distinct:
            distinct.append(block)
    words = ["LOSSLESS" if "priority_flow_control" in block else "LOSSY" for block in distinct]
    counted = dict.fromkeys(words, 0)
    profiles = {}
    for word, block in zip(words, distinct, strict=True):
        counted[word] += 1
        profiles[word if words.count(word) == 1 else f"{word}-{counted[word]}"] = block
    return profiles


def _name_of(block: dict[str, Any], profiles: dict[str, dict[str, Any]]) -> str:
    return next(name for name, own in profiles.items() if own == block)


def _block(qos: PortQos, usual: Watchdog | None, switch: Switch) -> dict[str, Any]:
    return _stated(
        {
            "trust": "dscp" if qos.dscp_to_tc is not None else "cos",
            "priority_flow_control": _pfc(qos, usual, switch),
            "uc_tx_queues": [_queue(queue) for queue in qos.queues if queue is not None],
        }
    )


def _pfc(qos: PortQos, usual: Watchdog | None, switch: Switch) -> dict[str, Any]:
    if not qos.pfc.priorities:
        return {}
    return {
        "enabled": True,
        "priorities": [{"priority": priority, "no_drop": True} for priority in qos.pfc.priorities],
        "watchdog": {"enabled": False}
        if qos.watchdog is None
        else _own_watchdog(qos.watchdog, usual, switch),
    }


def _own_watchdog(own: Watchdog, usual: Watchdog | None, switch: Switch) -> dict[str, Any]:
    """Return the watchdog's action and timers of a port, as far as they differ from those of the switch.

    The line of a port's timers states all of them, since a timer that it leaves out does not have the switch's value.
    Only this line can have ``forced``.
    """
    forced = own.recovery == "fixed"
    if usual is None or (own.settings == usual.settings and not forced):
        return {}
    timers = {**_timers(switch, own), "forced": forced or None}
    action = timers.pop("action")
    return _stated(
        {
            "enabled": True,
            "action": action if own.action != usual.action else None,
            "timer": timers if forced or own.settings[:2] != usual.settings[:2] else None,
        }
    )


def _queue(queue: Queue) -> dict[str, Any]:
    scheduler, wred = queue.scheduler, queue.wred
    strict = scheduler is not None and scheduler.kind == "STRICT"
    return _stated(
        {
            "id": queue.number,
            "priority": "priority strict" if strict else "no priority",
            "bandwidth_percent": None if strict or scheduler is None else scheduler.weight,
            "random_detect": {"ecn": {"threshold": _curve(wred.green) if wred and wred.marks else {}}},
        }
    )


def _curve(curve: Curve) -> dict[str, Any]:
    low, high = curve.min_bytes or 0, curve.max_bytes or 0
    size, unit = next((size, unit) for size, unit in _UNITS if not (low % size or high % size))
    return {
        "units": unit,
        "min": low // size,
        "max": high // size,
        "max_probability": curve.probability_percent,
        "weight": 0,
    }
