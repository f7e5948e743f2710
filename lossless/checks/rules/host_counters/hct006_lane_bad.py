"""One lane of a link that is far worse than the others.

Severity: warning

## What it does
Compares the errors before FEC of a port's lanes (`rx_err_lane_N_phy`). A finding is a lane with more than a hundred
times the errors of every other lane that counts any, and with more than a million of them, or with symbol errors that
FEC could not correct. Where only one lane counts errors the port may have no others in use: then it is *not checked*.

## Why it breaks a lossless fabric
FEC hides the errors of a bad lane until it does not. Then packets are lost that no switch dropped, in no relation to
load, and RDMA starts again from each of them. It looks like congestion, and is a dirty connector.

## Bad
```text capture
rx_err_lane_0_phy: 28116
rx_err_lane_1_phy: 0
rx_err_lane_2_phy: 0
rx_err_lane_3_phy: 17722623   # <- here
rx_prio0_packets: 15005729
```

## Good
```text capture
rx_pcs_symbol_err_phy: 0
rx_err_lane_0_phy: 6
rx_err_lane_1_phy: 2
rx_err_lane_2_phy: 190
rx_err_lane_3_phy: 0
rx_prio0_packets: 15005729
```

## Fix
Clean the connectors of the cable, then replace cable or transceiver; compare the lanes again after an hour.

## Sources
- Linux mlx5/counters.rst @16f448d: rx_err_lane_N_phy counts errors before FEC, rx_pcs_symbol_err_phy those after it
- counters of a ConnectX in public notes: lane 3 with 17,722,623 errors, lane 0 with 28,116
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import nics

if TYPE_CHECKING:
    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice

_TIMES = 100
_MANY = 1_000_000
_UNCORRECTED = "rx_pcs_symbol_err_phy"


def check(device: RunningDevice) -> Results:
    """Yield a violation per port with one bad lane."""
    for nic in nics(device):
        counts = {lane: placed.number or 0 for lane, placed in nic.parts("fec_lane_errors", "lane").items()}
        ranked = sorted((lane for lane in counts if counts[lane]), key=lambda lane: -counts[lane])
        if not ranked or not _is_noticed(nic, counts[ranked[0]]):
            continue
        if len(ranked) == 1:
            yield MissingInput("only one lane has counted errors: whether the port uses others is not known")
        elif counts[ranked[0]] > _TIMES * counts[ranked[1]]:
            yield _violation(nic, ranked[0], counts)


def _is_noticed(nic: Nic, errors: int) -> bool:
    return errors > _MANY or bool(nic.count(_UNCORRECTED))


def _violation(nic: Nic, worst: int, counts: dict[int, int]) -> Violation:
    others = ", ".join(f"lane {lane}: {count:,}" for lane, count in sorted(counts.items()) if lane != worst)
    return Violation(
        origin=nic.parts("fec_lane_errors", "lane")[worst].origin,
        message=f"lane {worst} of {nic.label} is bad: {counts[worst]:,} errors before FEC ({others})",
        note="since its driver was loaded; the others share the same cable and traffic",
        help="clean the connectors, then replace the cable or transceiver",
        elements=(nic.element,),
        data={"lane": worst, "errors": {str(lane): count for lane, count in counts.items()}},
    )
