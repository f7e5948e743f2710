"""Peaks that switches measured, beside those of the packet-level model and of the closed forms, per kind of port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.simulation.study.measure import PeakComparison, most
from lossless.checks.rules.counting import not_polled
from lossless.ground.basics.grouping import grouped
from lossless.model.fabric.state.watermarks import highest_peaks
from lossless.model.fabric.tier import role_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.buffers.verdict import PortVerdict
    from lossless.analysis.simulation.study.measure import PeakOf, PortPeaks
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.state.device_state import PlacedReading
    from lossless.model.fabric.view import View

    _Kind = tuple[str, str, int | None]
    _Measured = Mapping[tuple[_Kind, str], Sequence[tuple[PlacedReading, str]]]

_READINGS: dict[PeakOf, tuple[str, Literal["pg", "queue"]]] = {
    "shared_bytes": ("shared_watermark_bytes", "pg"),
    "headroom_bytes": ("xoff_room_watermark_bytes", "pg"),
    "queue_bytes": ("shared_watermark_bytes", "queue"),
}


def compared_peaks(
    view: View,
    devices: Sequence[RunningDevice],
    lines: Sequence[PortVerdict],
    runs: Sequence[tuple[PortPeaks, ...]],
) -> tuple[PeakComparison, ...]:
    """Return every peak at each kind of port that is lossless in a fabric, by its closed forms ``lines``."""
    simulated: dict[_Kind, PortPeaks] = {peaks[:3]: peaks for peaks in most(runs)}
    kinds = _PortKinds(view)
    placed = (
        (kinds.of(line.switch, line.elements[0].rpartition(":")[2]), line) for line in lines if line.elements
    )
    closed = grouped((kind, line) for kind, line in placed if kind is not None)
    measured = grouped(_measured(kinds, devices))
    return tuple(
        _with_measured(
            _modelled(kind, peak, simulated.get(kind), closed[kind]), measured.get((kind, peak), ())
        )
        for kind in closed
        for peak in _READINGS
    )


def _modelled(
    kind: _Kind, peak: PeakOf, simulated: PortPeaks | None, lines: Sequence[PortVerdict]
) -> PeakComparison:
    comparison = PeakComparison(*kind, peak, simulated_bytes=getattr(simulated, peak, None))
    if peak == "headroom_bytes":
        checks = [line.headroom for line in lines if line.headroom is not None]
        need = max(checks, key=lambda check: check.need_bytes, default=None)
        if need is not None:
            return comparison._replace(closed_form_bytes=need.need_bytes, closed_form="needed")
    if peak == "shared_bytes":
        alone = [one.group_bytes for line in lines for one in line.fan_out]
        if alone:
            return comparison._replace(closed_form_bytes=max(alone), closed_form="XOFF")
    return comparison


def _with_measured(comparison: PeakComparison, peaks: Sequence[tuple[PlacedReading, str]]) -> PeakComparison:
    if not peaks:
        return comparison
    highest, device = max(peaks, key=lambda one: one[0].number or 0)
    return comparison._replace(
        measured_bytes=highest.number,
        at=f"{device}:{highest.part('port')}",
        since=highest.reading.since,
        ports=len({(name, placed.part("port")) for placed, name in peaks}),
    )


def _measured(
    kinds: _PortKinds, devices: Sequence[RunningDevice]
) -> Iterator[tuple[tuple[_Kind, str], tuple[PlacedReading, str]]]:
    """Yield the highest watermark of each lossless group and queue, by kind of port and peak."""
    for device in devices:
        for peak, (name, part) in _READINGS.items():
            if not_polled(device.state, name, part) is not None:
                continue
            for (port, number), placed in highest_peaks(device.state, name, part).items():
                lossless, kind = device.lossless.get(port), kinds.of(device.name, port)
                numbers = () if lossless is None else lossless.groups if part == "pg" else lossless.queues
                if number in numbers and kind is not None:
                    yield (kind, peak), (placed, device.name)


class _PortKinds:
    """Which kind each port of a fabric is of: by the roles of its switch and of its peer, and its speed."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._peers = {(link.a, link.a_port): link.b for link in view.fabric.links}
        self._peers |= {(link.b, link.b_port): link.a for link in view.fabric.links if not link.to_host}

    def of(self, switch: str, name: str) -> _Kind | None:
        """Return the kind of a port, None where the fabric does not have it."""
        port = self._view.port(switch, name)
        if port is None:
            return None
        neighbor = port.neighbor[0] if port.neighbor else ""
        far = self._view.switch_by_name.get(self._peers.get((switch, name), neighbor))
        peer = _role(far) if far else (port.leads_to or "unknown")
        return _role(self._view.switch_by_name[switch]), peer, port.speed_bps


def _role(switch: Switch) -> str:
    """Return the role of a switch in the words of the packet-level model."""
    return role_word(switch.device_type, switch.tier)
