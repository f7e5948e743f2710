"""Problems found in runs of the packet-level model, and thresholds in the cells of a chip: plain values for rules.

``survey`` of ``simulation.study.answer`` creates the problems, with port and size; this module does not need NumPy. A
:class:`SimulationCause` has the kind and severity of a problem, the other fields of a :class:`SimulationFacts` its
ports.

Cells are counted as the number of one-cell packets that trigger PFC, and that cause a drop. In an otherwise idle
switch where no packet leaves, the first packets take the reserved bytes of their group, further packets take shared
bytes, and then headroom. The reserved bytes therefore come on top of the share: T(1) + r, as in
:func:`lossless.analysis.buffers.ecn_marking.queue_limit_bytes` for queues.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.ecn_marking import alpha, group_threshold_bytes, static_group_threshold_bytes
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.verdict import BufferVerdict, PfcLoad
    from lossless.ground.basics.findings import MissingInput
    from lossless.model.fabric.view import View
    from lossless.model.hardware.model import HeadroomRow


def cells(size_bytes: int, cell_bytes: int) -> int:
    """Return the number of cells that hold a number of bytes."""
    return -(-size_bytes // cell_bytes)


class GroupCells(NamedTuple):
    """One lossless priority group in cells: its own reservation and its headroom."""

    reserved: int
    headroom: int

    @property
    def to_drop(self) -> int:
        """The number of packets from the one that triggers PFC to the one that is dropped."""
        return self.headroom + 1


def group_cells(row: HeadroomRow, cell_bytes: int, *, shared_headroom: bool) -> GroupCells:
    """Return the cells of a group by its row of ``pg_profile_lookup.ini``; headroom rounded down to whole cells.

    Without a shared headroom pool ``size`` contains the headroom, and the remainder is the group's own reservation.
    """
    own_bytes = row.reserved_bytes - (0 if shared_headroom else row.headroom_bytes)
    return GroupCells(cells(max(0, own_bytes), cell_bytes), row.headroom_bytes // cell_bytes)


def filling_cells(
    shared: int, reserved: int, dynamic_th: int | None, static_th: int | None = None
) -> int | None:
    """Return the most cells that one group or queue can hold alone: its reservation and its share of the pool.

    None: it has no threshold.
    """
    if dynamic_th is not None:
        return reserved + math.ceil(group_threshold_bytes(alpha(dynamic_th), shared, 1))
    if static_th is None:
        return None
    return reserved + math.ceil(static_group_threshold_bytes(static_th, shared, 1))


CauseKind = Literal["drop", "storm", "dead NIC", "cycle", "headroom", "headroom pool", "pause"]


class SimulationCause(NamedTuple):
    """One problem found in simulation runs: its kind, severity and text, and the number of seeds with it."""

    kind: CauseKind
    verdict: BufferVerdict
    text: str
    seeds: int


class PortRef(NamedTuple):
    """A port of a switch, by their names."""

    switch: str
    port: str

    def __str__(self) -> str:
        return f"{self.switch}:{self.port}"


class HeadroomUse(NamedTuple):
    """The headroom of the traffic class at one port: its size, the peak use, and the most dropped frames of a seed.

    ``needed_bytes`` is the use with unlimited headroom, plus a frame; None where that was not measured. ``dropped_in``
    are the seeds with drops.
    """

    spot: PortRef
    given_bytes: int
    used_bytes: int
    needed_bytes: int | None
    drops: int
    dropped_in: frozenset[int]

    @property
    def margin_bytes(self) -> int:
        """The unused headroom."""
        return self.given_bytes - self.used_bytes


class EgressRefusal(NamedTuple):
    """A port whose egress queue refused frames that PFC should have held back, and the seeds with such refusals."""

    spot: PortRef
    refused_in: frozenset[int]


class LongestPause(NamedTuple):
    """The longest pause of a switch port that traffic caused, and the detection time of the fastest watchdog, in ms."""

    longest_ms: float
    detection_ms: float | None


class PeerResponse(NamedTuple):
    """Response times of peers to PFC: frames are dropped at ``allowed_ns``, and none at ``safe_ns``."""

    allowed_ns: float
    safe_ns: float


class SimulationFacts(NamedTuple):
    """The problems of a fabric in simulation runs of one scenario, or the reason for no runs (``not_run``).

    ``priority`` is that of the requested class. ``short`` are groups with dropped frames or less than a frame of
    headroom left, ``pools`` the smallest remainder of the shared headroom pools of switches where it is less than a
    frame. ``refusing`` are ports whose queues refused frames, ``stopped`` those on whose queues the watchdog triggered,
    ``cycle`` the paused ports of a PFC deadlock, in order. ``obeyed`` is set where drops depend on the response time of
    peers. ``pfc_load`` is the PFC load, None where it was not requested, or no sender has DCQCN.
    """

    view: View | None = None
    scenario: str = ""
    priority: int = 0
    seeds: int = 0
    causes: tuple[SimulationCause, ...] = ()
    short: tuple[HeadroomUse, ...] = ()
    pools: tuple[tuple[str, int], ...] = ()
    refusing: tuple[EgressRefusal, ...] = ()
    stopped: tuple[PortRef, ...] = ()
    cycle: tuple[PortRef, ...] = ()
    pause: LongestPause | None = None
    obeyed: PeerResponse | None = None
    pfc_load: PfcLoad | MissingInput | None = None
    not_run: str | None = None
