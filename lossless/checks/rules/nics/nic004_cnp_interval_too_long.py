"""CNPs must come often enough to slow a sender down before PFC does.

Severity: warning
Subject: intent, hosts

## What it does
Reads the stated interval between CNPs of one flow. Above the 50 us of the DCQCN paper it warns; NICs default to
4 us, and published tunings go down to 0.

## Why it breaks a lossless fabric
A sender receives at most one CNP per interval. In 50 us a 400G NIC sends 2.5 MB more, several times the buffer that a
switch fills for one port before it pauses: PFC acts before the second CNP.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    cnp_interval: 100us   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {cnp_interval: 50us}
```

## Fix
Leave `cnp_interval` out, or shorten it; 4us is the default of ConnectX NICs.

## Sources
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (N = 50 us, at 40G)
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
"""The longest interval between CNPs in us: N of the DCQCN paper, at 40G; faster links need no longer one."""


def check(view: View) -> Results:
    """Yield a violation per kind of host with an interval of more than 50 us between the CNPs of a flow."""
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
