"""Peak bytes at each kind of port in a run, to compare with the watermarks of switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.model.fabric.state.readings import CountedSince

PeakOf = Literal["shared_bytes", "headroom_bytes", "queue_bytes"]
"""A peak: of a priority group in shared buffer, of one in headroom, of an egress queue."""


class PortPeaks(NamedTuple):
    """The peaks of the class at all ports of one kind: by the roles of the switch and of its peer, and the rate.

    ``shared_bytes`` is the most that an ingress group held in shared and reserved buffer, ``headroom_bytes`` the most
    that it charged to headroom, ``queue_bytes`` the peak depth of an egress queue.
    """

    switch: str
    peer: str
    speed_bps: int
    shared_bytes: int = 0
    headroom_bytes: int = 0
    queue_bytes: int = 0


class PeakComparison(NamedTuple):
    """One peak at all ports of a kind: of switches of a role, towards peers of a role, at a speed.

    ``measured_bytes`` is the highest watermark of a lossless group or queue ``at`` one of ``ports`` that were captured,
    ``since`` its window; None where none was captured. ``simulated_bytes`` is the most of all runs, None where none had
    traffic there. ``closed_form_bytes`` is the headroom that is ``needed``, or the ``XOFF`` of a group that
    has the pool alone; None where no closed form bounds the peak.
    """

    switch: str
    peer: str
    speed_bps: int | None
    peak: PeakOf
    measured_bytes: int | None = None
    at: str | None = None
    since: CountedSince | None = None
    ports: int = 0
    simulated_bytes: int | None = None
    closed_form_bytes: int | None = None
    closed_form: str | None = None


def port_peaks(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> tuple[PortPeaks, ...]:
    """Return the peak bytes of one run at each kind of switch port."""
    return most([tuple(_peaks(state, index, instance))])


def most(runs: Iterable[tuple[PortPeaks, ...]]) -> tuple[PortPeaks, ...]:
    """Return the most of each peak over several runs."""
    by_kind = grouped((peaks[:3], peaks) for kinds in runs for peaks in kinds)
    return tuple(
        PortPeaks(
            *kind,
            max(peaks.shared_bytes for peaks in same),
            max(peaks.headroom_bytes for peaks in same),
            max(peaks.queue_bytes for peaks in same),
        )
        for kind, same in by_kind.items()
    )


def _peaks(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> Iterator[PortPeaks]:
    """Yield the peaks of each end of a link that is in a switch."""
    for link, (sender, receiver) in enumerate(index.wiring.ends):
        speed_bps = instance.wires[index.wiring.cable_of[link]].rate_bps
        near, far = instance.roles[sender], instance.roles[receiver]
        if sender in instance.network.switches:
            queue = state.queues[link * index.classes]
            yield PortPeaks(near, far, speed_bps, queue_bytes=int(queue["max_bytes"]))
        if receiver in instance.network.switches:
            group = state.groups[link * index.classes]
            held = int(group["max_shared"]), int(group["max_headroom"])
            yield PortPeaks(far, near, speed_bps, *held)
