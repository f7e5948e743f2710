"""The verdict over trials; its rules are those of :mod:`lossless.analysis.simulation.study.verdict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import HEADROOM_EDGE_FRAMES
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS
from lossless.analysis.simulation.study.verdict import PAUSE_EDGE, detection_ns
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.trial import Trial


class TrialLimits(NamedTuple):
    """The limits of a verdict over trials.

    A setting is on the edge below ``edge_bytes`` of headroom left, and from ``pause_edge_ns`` of pause on.
    """

    edge_bytes: int
    pause_edge_ns: float
    dead_nic: bool
    ends_storms: bool

    @property
    def detection_ns(self) -> float:
        """The shortest detection time of a watchdog that observes pauses by congestion; infinite if none does."""
        return self.pause_edge_ns / PAUSE_EDGE

    @classmethod
    def of(cls, scenario: Scenario) -> TrialLimits:
        """Return the limits of a scenario."""
        allowed = detection_ns(scenario)
        edge_ns = float("inf") if allowed is None or scenario.question.dead_nic else PAUSE_EDGE * allowed
        return cls(
            HEADROOM_EDGE_FRAMES * scenario.frame_bytes,
            edge_ns,
            scenario.question.dead_nic,
            scenario.ends_storms,
        )

    def verdict(self, seeds: Sequence[Trial]) -> BufferVerdict:
        """Return the verdict over all seeds."""
        if any(trial.drops or trial.cycle or self._stormy(trial) for trial in seeds):
            return "unsafe"
        left = [n for trial in seeds for n in (trial.margin_bytes, trial.pool_margin_bytes) if n is not None]
        held_long = any(trial.longest_watched_ns >= self.pause_edge_ns for trial in seeds)
        near = held_long or min(left, default=self.edge_bytes) < self.edge_bytes
        return "on the edge" if near else "safe"

    def _stormy(self, trial: Trial) -> bool:
        """Return whether a dead NIC's storm goes on, or whether the watchdog triggers although no NIC is dead."""
        if not self.dead_nic:
            return trial.storms > 0
        ended = trial.storms > 0 and self.ends_storms
        return not ended and trial.ended_ps > DEAD_FROM_NS * 1000
