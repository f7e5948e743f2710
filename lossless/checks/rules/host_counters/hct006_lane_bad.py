"""A link must not have one lane with errors that FEC cannot correct.

Severity: warning
Subject: running device

## What it does
Looks for ports with symbol errors that FEC could not correct (`rx_pcs_symbol_err_phy`) and one lane that counts more
errors before FEC (`rx_err_lane_N_phy`) than all others together. Where the link went down in the same time, this is
information: a link that comes up counts errors, too. Errors before FEC alone are no finding, however many: links of 25G
a lane and more are specified with them, and their lanes need not be identical. Where the NIC does not count the errors
left after FEC they are *not checked*, nor where only one lane has errors: the port may not use others. With `--since`,
all counts are between the captures.

## Why it breaks a lossless fabric
Packets are lost without a drop in any switch and independent of the load, and RDMA sends again from each lost packet
on. It looks like congestion, but the cause is often a dirty connector.

## Bad
```text capture
rx_pcs_symbol_err_phy: 386
rx_err_lane_0_phy: 28116
rx_err_lane_1_phy: 0
rx_err_lane_2_phy: 0
rx_err_lane_3_phy: 17722623   # <- here
rx_prio0_packets: 15005729
```

## Good
```text capture
rx_pcs_symbol_err_phy: 0
rx_err_lane_0_phy: 28116
rx_err_lane_1_phy: 0
rx_err_lane_2_phy: 0
rx_err_lane_3_phy: 17722623
rx_prio0_packets: 15005729
```

## Fix
Clean the connectors of the cable, then replace cable or transceiver; compare two captures an hour apart.

## Sources
- Linux mlx5/counters.rst @16f448d: rx_err_lane_N_phy counts errors before FEC; rx_pcs_symbol_err_phy those after it,
  which say that traffic is lost
- IEEE 802.3, 136.1, as the list of its task force 802.3cd quotes it (www.ieee802.org/3/cd/email/msg00208.html): a bit
  error ratio of 2.4e-4 before FEC is within the specification
- counters of a ConnectX in public notes: lane 3 with 17,722,623 errors, lane 0 with 28,116
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import nics

if TYPE_CHECKING:
    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice

_UNCORRECTED = "rx_pcs_symbol_err_phy"


def check(device: RunningDevice) -> Results:
    """Yield a violation per NIC with uncorrected errors and errors on several lanes, most of them on one lane."""
    for nic in nics(device):
        counts = {lane: placed.number or 0 for lane, placed in nic.parts("fec_lane_errors", "lane").items()}
        uncorrected = nic.count(_UNCORRECTED)
        if not any(counts.values()) or uncorrected == 0:
            continue
        worst = max(counts, key=lambda lane: counts[lane])
        if uncorrected is None:
            yield MissingInput("lanes have errors before FEC; no capture says whether FEC corrected them all")
        elif counts[worst] == sum(counts.values()):
            yield MissingInput("only one lane has counted errors: whether the port uses others is not known")
        elif 2 * counts[worst] > sum(counts.values()):
            yield _lane_bad(nic, worst, counts, uncorrected)


def _lane_bad(nic: Nic, worst: int, counts: dict[int, int], uncorrected: int) -> Violation:
    others = ", ".join(f"lane {lane}: {count:,}" for lane, count in sorted(counts.items()) if lane != worst)
    downed = nic.count("link_downed")
    went_down = "; the link went down in that time, and errors of coming up are among them" if downed else ""
    return Violation(
        origin=nic.parts("fec_lane_errors", "lane")[worst].origin,
        message=f"lane {worst} of {nic.label} is bad: {counts[worst]:,} errors before FEC ({others})",
        note=f"FEC left {uncorrected:,} symbol errors {nic.window}{went_down}",
        help="clean the connectors, then replace the cable or transceiver",
        elements=(nic.element,),
        data={
            "lane": worst,
            "errors": {str(lane): count for lane, count in counts.items()},
            "uncorrected": uncorrected,
        },
        severity="info" if downed else None,
    )
