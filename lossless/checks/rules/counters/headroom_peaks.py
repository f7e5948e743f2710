"""Headroom peaks of lossless groups, with the headroom of the groups and the need of their links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.methods import HeadroomBound, headroom_bound
from lossless.analysis.buffers.headroom.port import given_headroom, group_profile
from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import not_polled
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import BufferProfile
from lossless.model.fabric.state import highest_peaks
from lossless.model.fabric.view import single_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import PlacedReading
    from lossless.model.fabric.view import PortSet

HEADROOM_PEAK = "xoff_room_watermark_bytes"
_SINCE = {
    "user clear": "since the last user clear",
    "persistent clear": "since the last persistent clear",
    "period": "in the last period",
    "last poll": "at the last poll",
}


class HeadroomPeak(NamedTuple):
    """The highest known occupancy of the headroom of a lossless group."""

    port: str
    group: int
    placed: PlacedReading

    @property
    def held_bytes(self) -> int:
        """The peak in bytes."""
        return self.placed.number or 0

    @property
    def window(self) -> str:
        """The period of the peak as text, such as ``since the last user clear``."""
        return _window(self.placed)


class FullHeadroom(NamedTuple):
    """Headroom that was full: its owner, peak and size in bytes, and the period of the peak."""

    what: str
    held_bytes: int
    given_bytes: int
    window: str


def headroom_peaks(device: RunningDevice) -> Mapping[tuple[str, int], HeadroomPeak]:
    """Return, by port and group number, the highest headroom peak of each lossless group that has a reading."""
    peaks = highest_peaks(device.state, HEADROOM_PEAK, "pg")
    return {
        (port, group): HeadroomPeak(port, group, placed)
        for (port, group), placed in peaks.items()
        if port in device.lossless and group in device.lossless[port].groups
    }


def full_headroom(device: RunningDevice, port: str, group: int) -> FullHeadroom | None:
    """Return the full headroom of a group, its own or that of its pool; None where neither is known to have been full.

    Headroom is full where less than one cell is free: a switch counts in cells, and the size need not be whole cells.
    """
    ports = configured_port(device, port)
    profile = group_profile(ports, group) if ports is not None else None
    if ports is None or not isinstance(profile, BufferProfile):
        return None
    own, pool = headroom_peaks(device).get((port, group)), profile.pool
    lent = _pool_peak(device, pool.name) if pool is not None else None
    lent_bytes = (pool.shared_headroom_bytes or 0) if pool is not None else 0
    held = [
        ("its headroom", own.placed if own else None, given_headroom(ports.switch, profile), "pg"),
        (f"the headroom that {pool.name if pool else ''} lends", lent, lent_bytes, "pool"),
    ]
    cell_bytes = (ports.switch.profile.asic.cell_bytes if ports.switch.profile else None) or 1
    for what, peak, given_bytes, kind in held:
        if peak is None or not_polled(device.state, HEADROOM_PEAK, kind) is not None:
            continue
        if 0 < given_bytes < (peak.number or 0) + cell_bytes:
            return FullHeadroom(what, peak.number or 0, given_bytes, _window(peak))
    return None


def _pool_peak(device: RunningDevice, name: str) -> PlacedReading | None:
    """Return the highest peak of the shared headroom of a pool; None without a reading."""
    peaks = [peak for peak in device.state.every(HEADROOM_PEAK) if peak.part("pool") == name]
    return max(peaks, key=lambda peak: peak.number or 0, default=None)


def bounds(device: RunningDevice) -> Iterator[tuple[HeadroomPeak, HeadroomBound] | MissingInput]:
    """Yield the headroom peaks above 0 of lossless groups with the bound for their links, or its missing input."""
    for peak in headroom_peaks(device).values():
        if not peak.held_bytes:
            continue
        ports = _cabled_port(device, peak.port)
        still = not_polled(device.state, HEADROOM_PEAK, "pg")
        bound = still or (headroom_bound(ports) if ports is not None else None)
        if isinstance(bound, MissingInput):
            yield bound
        elif bound is not None:
            yield peak, bound


def configured_port(device: RunningDevice, name: str) -> PortSet | None:
    """Return a port by the configuration, or by the intent where there is no configuration; None without QoS."""
    port = device.ports.get(name)
    if device.switch is None or port is None or port.qos is None:
        return None
    return single_port(device.switch, port, port.qos)


def _cabled_port(device: RunningDevice, name: str) -> PortSet | None:
    """Return a port with the cable of the intent, if that has the port at the same speed, else with its own cable.

    None is returned without QoS rows of the port.
    """
    ports, intended = configured_port(device, name), device.intended
    real = next((port for port in intended.ports if port.name == name), None) if intended else None
    if ports is None or real is None or real.speed_bps != ports.speed_bps:
        return ports
    return ports._replace(cable=real.cable)


def _window(peak: PlacedReading) -> str:
    return _SINCE.get(peak.reading.since, "since boot or a clear")
