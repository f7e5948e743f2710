"""CNPs must come often enough to slow a sender down before PFC does.

Severity: warning
Subject: intent, hosts

## What it does
Reads the stated least interval between CNPs: of one flow, or of all flows of a port, as the firmware's
ROCE_CC_CNP_MODERATION has it. It warns above the 50 us of the DCQCN paper, whose links have 40G. That 50 us or less is
short enough for a faster link is not checked. The profiles of ConnectX NICs have 4 us.

## Why it breaks a lossless fabric
A sender gets at most one CNP per interval, and keeps the rate that the first one left it until the next. In 50 us a
NIC at line rate sends 0.25 MB at 40G and 2.5 MB at 400G. One sender does not force a pause with that: a port of the
leaves of examples/roce-256 may hold 34.6 MB. An incast does: where 32 ports fill, each may hold a 33rd of the pool,
2.1 MB, and PFC acts before the second CNP.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    cnp_interval: 100us   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {cnp_interval: 4us}
```

## Fix
Leave `cnp_interval` out, or shorten it. ConnectX firmware prints 4 us as its value, older versions 0 or 2.

## Sources
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (N = 50 us, at 40G)
- Mellanox/mstflint mlxconfig/mlxconfig_dbs/mlxconfig_host.db @b9d9e844 (MIN_TIME_BETWEEN_CNPS, in microseconds;
  ROCE_CC_CNP_MODERATION); public mlxconfig query prints (4, and 0 or 2 in older firmware)
- Peng et al., Barre, USENIX ATC 2025, table 2 (default 4, tuned 0 to 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.nics.dcqcn_parameters import running
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.model.fabric.view import View

LONGEST_US = 50
"""N of the DCQCN paper, at 40G; no source says how much less a faster link needs."""


def check(view: View) -> Results:
    """Yield a violation per kind of host with a least interval of more than 50 us between CNPs."""
    for dcqcn in running(view):
        interval_us = dcqcn.values.get("min_time_between_cnps", 0)
        if interval_us > LONGEST_US:
            yield Violation(
                origin=dcqcn.at("min_time_between_cnps"),
                message=f"a sender hears of congestion once in {interval_us:,} us; published settings are 0 to "
                f"{LONGEST_US} us",
                note=_sent(interval_us, dcqcn.host.rate_bps),
                help="leave cnp_interval out, or make it 4us",
                elements=dcqcn.hosts,
                data={"interval_us": interval_us, "longest_us": LONGEST_US},
            )


def _sent(interval_us: int, rate_bps: int | Unknown) -> str:
    if isinstance(rate_bps, Unknown):
        return ""
    sent_mb = interval_us * rate_bps / 8e12
    return f"between two CNPs a NIC of {format_rate(rate_bps)} sends {sent_mb:,.1f} MB"
