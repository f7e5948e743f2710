"""The part of the traffic that PFC holds back, against limits: the next question after that of frame loss.

PFC is for bursts that ECN is too slow for. Long pauses of NICs, in traffic without a standing overload, show load that
congestion control should have taken off the fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Json

MOST_NICS_PAUSED = 0.1
"""Limit of the share of NIC ports with any pause. A convention of this project: no public source states one."""
LONGEST_PAUSE_QUANTA = 65_535
"""The longest pause of one frame: ``pause_time`` has 16 bits, in units of 512 bit times (IEEE 802.3-2018, 31B.2;
802.1Q-2018 clause 36 uses the same unit). A longer pause takes a second request: the congestion persists.
"""
MOST_TIME_IN_PAUSE = 0.3
"""Share of the run that one NIC port is paused. Cisco warns from 30 % on of the time that a port of a lossless fabric
waits for its peer: ``counter txwait poll-interval 1 delta rising-threshold 30`` (MDS NX-OS 9.4(2a), port-monitor policy
fabricmon_edge_policy, read in the running configuration of a switch). That is Fibre Channel, whose credits hold a port
back as PFC does; of PFC no source states one."""
NOT_EVALUATED = "not evaluated"
"""The verdict where what PFC carries is not known."""


class PfcLoad(NamedTuple):
    """The effect of PFC in the runs of one scenario: medians over ``seeds``.

    ``nics_paused`` is the share of NIC ports with any pause, ``time_in_pause`` the paused part of the run of the worst
    NIC port. ``longest_pause_us`` is the pause that is closest to its limit or furthest above it;
    ``longest_pause_limit_us`` depends on the rate of its link.
    """

    scenario: str
    seeds: int
    nics_paused: float
    longest_pause_us: float
    longest_pause_limit_us: float
    time_in_pause: float

    @property
    def above(self) -> tuple[str, ...]:
        """The values above their limits, in words; none where PFC stays in reserve."""
        longest, limit = self.longest_pause_us, self.longest_pause_limit_us
        exceeded = {
            f"{self.nics_paused:.0%} of NICs are paused (limit {MOST_NICS_PAUSED:.0%})": self.nics_paused
            > MOST_NICS_PAUSED,
            f"a pause lasts {longest:,.1f} us (limit {limit:,.1f} us)": longest > limit,
            f"a NIC is paused {self.time_in_pause:.0%} of the time (limit {MOST_TIME_IN_PAUSE:.0%})": (
                self.time_in_pause > MOST_TIME_IN_PAUSE
            ),
        }
        return tuple(text for text, is_above in exceeded.items() if is_above)

    @property
    def verdict(self) -> str:
        """Whether anything is above its limit."""
        return "above limits" if self.above else "within limits"

    def to_data(self) -> dict[str, Json]:
        """Return the load as plain data, each measure beside its limit."""
        return {
            "scenario": self.scenario,
            "seeds": self.seeds,
            "verdict": self.verdict,
            "above": list(self.above),
            "nics_paused": {"value": self.nics_paused, "limit": MOST_NICS_PAUSED},
            "longest_pause_us": {"value": self.longest_pause_us, "limit": self.longest_pause_limit_us},
            "time_in_pause": {"value": self.time_in_pause, "limit": MOST_TIME_IN_PAUSE},
        }


def load_data(load: PfcLoad | MissingInput) -> dict[str, Json]:
    """Return the PFC load as plain data, or the reason for its absence."""
    if isinstance(load, MissingInput):
        return {"verdict": NOT_EVALUATED, "reason": load.reason}
    return load.to_data()
