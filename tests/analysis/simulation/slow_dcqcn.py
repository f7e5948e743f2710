"""A reaction point in which every timer is an event: what the lazy one of the kernel is held against.

Steps and stages are those of DCQCN (Zhu et al., SIGCOMM 2015), with the rule of the packet-level reference that the
first CNP only starts the timers. What goes first at one instant is the kernel's own choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimDcqcn


class SlowReactionPoint:
    """One flow's rate. Times are picoseconds; at one instant alpha goes before the cut, the cut before the raise."""

    def __init__(self, dcqcn: SimDcqcn, line_bps: float) -> None:
        self.p = dcqcn
        self.line_bps = self.rate_bps = self.target_bps = line_bps
        self.alpha = 0.0
        self.alpha_due: int | None = None
        self.cut_due: int | None = None
        self.raise_due: int | None = None
        self.cnp_for_alpha = self.cnp_for_cut = False
        self.timer_stage = self.byte_stage = 0
        self.bytes_since = 0

    def cnp(self, now_ps: int) -> None:
        """Take a CNP, after everything that was due before it and before what is due with it."""
        self.pass_until(now_ps - 1)
        if self.alpha_due is not None:
            self.cnp_for_alpha = self.cnp_for_cut = True
            return
        self.alpha, self.cnp_for_cut = self.p.initial_alpha, True
        self.alpha_due = now_ps + _ps(self.p.alpha_us)
        self.cut_due = now_ps + _ps(self.p.decrease_us)
        if self.p.first_rate_bps:
            self.rate_bps = min(self.rate_bps, self.p.first_rate_bps)
        self.target_bps = self.rate_bps

    def pass_until(self, now_ps: int) -> None:
        """Let every timer up to a time fire, the earliest first."""
        while True:
            dues = (self.alpha_due, self.cut_due, self.raise_due)
            first = min((due for due in dues if due is not None), default=now_ps + 1)
            if first > now_ps:
                return
            if first == self.alpha_due:
                self._update_alpha(first)
            elif first == self.cut_due:
                self._check(first)
            else:
                self.raise_due = first + _ps(self.p.increase_us)
                self._raise()
                self.timer_stage += 1

    def send(self, wire_bytes: int) -> None:
        """Count the bytes of a frame; none count before the first cut."""
        if not self.p.byte_reset or self.raise_due is None:
            return
        self.bytes_since += wire_bytes
        while self.bytes_since >= self.p.byte_reset:
            self.bytes_since -= self.p.byte_reset
            self._raise()
            self.byte_stage += 1

    def _update_alpha(self, at_ps: int) -> None:
        self.alpha_due = at_ps + _ps(self.p.alpha_us)
        self.alpha = (1 - self.p.g) * self.alpha + (self.p.g if self.cnp_for_alpha else 0)
        self.cnp_for_alpha = False

    def _check(self, at_ps: int) -> None:
        self.cut_due = at_ps + _ps(self.p.decrease_us)
        if not self.cnp_for_cut:
            return
        by_timer = self.p.clamp_after_increase and self.timer_stage > 0
        if self.p.clamp or self.byte_stage > 0 or by_timer:
            self.target_bps = self.rate_bps
        factor = 1 - self.alpha * self.p.alpha_to_rate
        self.rate_bps = max(self.rate_bps * max(factor, self.p.min_decrease), self.p.min_rate_bps)
        self.cnp_for_cut = False
        self.timer_stage = self.byte_stage = self.bytes_since = 0
        self.raise_due = at_ps + _ps(self.p.increase_us)

    def _raise(self) -> None:
        f, stages = self.p.threshold, (self.timer_stage, self.byte_stage)
        counted = stages if self.p.byte_reset else stages[:1]
        if min(counted) > f:
            self.target_bps += self.p.hai_bps
        elif max(stages) >= f:
            self.target_bps += self.p.ai_bps
        self.target_bps = min(self.target_bps, self.line_bps)
        self.rate_bps = min((self.rate_bps + self.target_bps) / 2, self.line_bps)
        if self.p.release_bps and self.rate_bps >= self.p.release_bps:
            self.rate_bps = self.target_bps = self.line_bps


def _ps(time_us: float) -> int:
    return round(time_us * 1e6)
