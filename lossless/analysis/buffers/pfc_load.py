"""How much of the traffic PFC holds back, against limits: the question that comes after whether frames are lost.

PFC is there for what ECN is too slow for. Where it pauses NICs for long, in traffic without a standing overload, it
carries load that congestion control should have taken off the fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Json

MOST_NICS_PAUSED = 0.1
"""Share of NIC ports that are paused at all. A convention of this project: no public source states one."""
LONGEST_PAUSE_QUANTA = 65_535
"""A pause as long as one frame can ask for: ``pause_time`` has 16 bits, in units of 512 bit times (IEEE 802.3-2018,
31B.2; 802.1Q-2018 clause 36 uses the same unit). Whoever pauses for longer has asked again: the congestion stands."""
MOST_TIME_IN_PAUSE = 0.3
"""Share of the run that one NIC port is paused. Cisco warns from 30 % on of the time that a port of a lossless fabric
waits for its peer: ``counter txwait poll-interval 1 delta rising-threshold 30`` (MDS NX-OS 9.4(2a), port-monitor policy
fabricmon_edge_policy, read in the running configuration of a switch). That is Fibre Channel, whose credits hold a port
back as PFC does; of PFC no source states one."""
NOT_EVALUATED = "not evaluated"
"""The verdict where what PFC carries is not known."""


class PfcLoad(NamedTuple):
    """What PFC did in the runs of one scenario: medians over ``seeds``.

    ``nics_paused`` is the share of NIC ports that were paused at all, ``time_in_pause`` the part of the run that the
    worst of them was. ``longest_pause_us`` is the pause that came closest to its limit, or went furthest beyond:
    ``longest_pause_limit_us`` goes by the rate of its link.
    """

    scenario: str
    seeds: int
    nics_paused: float
    longest_pause_us: float
    longest_pause_limit_us: float
    time_in_pause: float

    @property
    def above(self) -> tuple[str, ...]:
        """What is above its limit, in words; nothing where PFC stays in reserve."""
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
        """Return it as plain data, each measure beside its limit."""
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
    """Return what PFC carries as plain data, or why that is not known."""
    if isinstance(load, MissingInput):
        return {"verdict": NOT_EVALUATED, "reason": load.reason}
    return load.to_data()
