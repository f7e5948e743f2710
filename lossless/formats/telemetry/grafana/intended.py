"""Intended values of the quantities that panels show: headroom, marking thresholds, the watchdog's times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.units import size_text
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.view import PortSet, View


def headroom_bytes(view: View, cls: TrafficClass) -> tuple[int, ...]:
    """Return the headroom of a class's groups, each value once; none where switches compute it themselves."""
    values = {_headroom(ports, cls) for ports in view.lossless_sets}
    return tuple(sorted(values - {0}))


def headroom_note(view: View, cls: TrafficClass) -> str:
    """Return the headroom of ports by their rate, as a sentence; empty where it is unknown."""
    pairs = dict.fromkeys((ports.rate, _headroom(ports, cls)) for ports in view.lossless_sets)
    known = [f"{size_text(value)} on ports of {rate}" for rate, value in pairs if value]
    return f" The intent gives {listed(known, 4)}." if known else ""


def marking_note(view: View, cls: TrafficClass) -> str:
    """Return the thresholds at which marking begins and reaches its maximum, as a sentence; empty without marking."""
    profiles = (
        queue.wred
        for ports in view.port_sets
        if cls.priority is not None and (queue := ports.qos.queues[cls.priority]) is not None
    )
    curves = dict.fromkeys(
        profile.green.thresholds for profile in profiles if profile is not None and profile.marks
    )
    known = [
        f"from {size_text(low)} to {size_text(high)}, there {percent}%"
        for low, high, percent in curves
        if low is not None and high is not None and percent is not None
    ]
    return f" ECN marks {listed(known, 4)}." if known else ""


def watchdog_note(view: View) -> str:
    """Return the detection time and the action of the watchdog, as a sentence; empty without a watchdog."""
    dogs = dict.fromkeys(ports.qos.watchdog.settings for ports in view.lossless_sets if ports.qos.watchdog)
    known = [f"after {detection} ms ({action})" for detection, _, action in dogs if detection]
    return f" The watchdog triggers {listed(known, 4)}." if known else ""


def _headroom(ports: PortSet, cls: TrafficClass) -> int:
    group = ports.qos.groups[cls.priority] if cls.priority is not None else None
    return group.buffer.xoff_bytes if group is not None and group.buffer is not None else 0
