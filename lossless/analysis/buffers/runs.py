"""What runs of the packet-level model showed to be amiss, where, and by how much: plain values that rules are given.

The model makes them (``study.survey``), and nothing here needs NumPy. A :class:`Cause` says what and
how grave, the other fields of a :class:`Run` say where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.buffers.verdict import Verdict
    from lossless.model.fabric.view import View

Kind = Literal["drop", "storm", "dead NIC", "circle", "headroom", "headroom pool", "pause"]


class Cause(NamedTuple):
    """One reason of a verdict: of what kind, how grave, in words, and in how many seeds it was seen."""

    kind: Kind
    verdict: Verdict
    text: str
    seeds: int


class Spot(NamedTuple):
    """A port of a switch, by their names."""

    switch: str
    port: str

    def __str__(self) -> str:
        return f"{self.switch}:{self.port}"


class Headroom(NamedTuple):
    """The headroom of the class at one port: what it has, the most that was used of it, the most frames dropped.

    ``needed_bytes`` is what was used where no headroom could run out, and a frame; None where that was not measured.
    ``dropped_in`` are the seeds in which frames were dropped.
    """

    spot: Spot
    given_bytes: int
    used_bytes: int
    needed_bytes: int | None
    drops: int
    dropped_in: frozenset[int]

    @property
    def margin_bytes(self) -> int:
        """What was left of it."""
        return self.given_bytes - self.used_bytes


class Refusal(NamedTuple):
    """A port whose queue refused frames that PFC should have held back, and the seeds in which it did."""

    spot: Spot
    refused_in: frozenset[int]


class Pause(NamedTuple):
    """The longest pause of a switch's port that traffic caused, and the detection time of the quickest watchdog."""

    longest_ms: float
    detection_ms: float | None


class Obeyed(NamedTuple):
    """Frames are dropped where peers take ``allowed_ns`` to obey PFC, and none where they take ``safe_ns``."""

    allowed_ns: float
    safe_ns: float


class Run(NamedTuple):
    """What runs of one scenario showed of a fabric, or why there was none (``not_run``).

    ``priority`` is that of the class that was asked about. ``short`` are groups that dropped frames or had less than a
    frame of headroom left, ``pools`` the least that was left of the shared headroom pools of switches where that was
    less than a frame. ``refusing`` are ports whose queues refused frames, ``stopped`` those whose queues the watchdog
    stopped, ``circle`` those that wait for each other, in that order. ``obeyed`` is known where drops depend on it.
    """

    view: View | None = None
    scenario: str = ""
    priority: int = 0
    seeds: int = 0
    causes: tuple[Cause, ...] = ()
    short: tuple[Headroom, ...] = ()
    pools: tuple[tuple[str, int], ...] = ()
    refusing: tuple[Refusal, ...] = ()
    stopped: tuple[Spot, ...] = ()
    circle: tuple[Spot, ...] = ()
    pause: Pause | None = None
    obeyed: Obeyed | None = None
    not_run: str | None = None
