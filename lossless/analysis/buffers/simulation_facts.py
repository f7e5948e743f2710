"""What runs of the packet-level model showed to be amiss, where, and by how much: plain values that rules are given.

The model makes them (``study.survey``), and nothing here needs NumPy. A :class:`SimulationCause` says what and
how grave, the other fields of a :class:`SimulationFacts` say where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.pfc_load import PfcLoad
    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.ground.basics.findings import MissingInput
    from lossless.model.fabric.view import View

CauseKind = Literal["drop", "storm", "dead NIC", "cycle", "headroom", "headroom pool", "pause"]


class SimulationCause(NamedTuple):
    """One reason of a verdict: of what kind, how grave, in words, and in how many seeds it was seen."""

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
    """The headroom of the class at one port: what it has, the most that was used of it, the most frames dropped.

    ``needed_bytes`` is what was used where no headroom could run out, and a frame; None where that was not measured.
    ``dropped_in`` are the seeds in which frames were dropped.
    """

    spot: PortRef
    given_bytes: int
    used_bytes: int
    needed_bytes: int | None
    drops: int
    dropped_in: frozenset[int]

    @property
    def margin_bytes(self) -> int:
        """What was left of it."""
        return self.given_bytes - self.used_bytes


class EgressRefusal(NamedTuple):
    """A port whose queue refused frames that PFC should have held back, and the seeds in which it did."""

    spot: PortRef
    refused_in: frozenset[int]


class LongestPause(NamedTuple):
    """The longest pause of a switch's port that traffic caused, and the detection time of the quickest watchdog."""

    longest_ms: float
    detection_ms: float | None


class PeerResponse(NamedTuple):
    """Frames are dropped where peers take ``allowed_ns`` to obey PFC, and none where they take ``safe_ns``."""

    allowed_ns: float
    safe_ns: float


class SimulationFacts(NamedTuple):
    """What runs of one scenario showed of a fabric, or why there was none (``not_run``).

    ``priority`` is that of the class that was asked about. ``short`` are groups that dropped frames or had less than a
    frame of headroom left, ``pools`` the least that was left of the shared headroom pools of switches where that was
    less than a frame. ``refusing`` are ports whose queues refused frames, ``stopped`` those whose queues the watchdog
    stopped, ``cycle`` the paused ports of a PFC deadlock, in order. ``obeyed`` is known where drops depend on it.
    ``pfc_load`` is what PFC carries, None where that was not asked.
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
