"""DCQCN must be able to slow a sender down, and not raise it faster than it is cut.

Severity: error
Subject: intent, hosts

## What it does
Looks for DCQCN parameters that undo each other: `rpg_min_dec_fac: 100%`, which forbids any cut; an `rpg_min_rate`
that is no less than the link; and an `rpg_time_reset` no longer than `cnp_interval` or
`rate_reduce_monitor_period`, which raises a sender at least as often as it can be cut. How fast is wise is a
matter of tuning, and not checked.

## Why it breaks a lossless fabric
With a cut forbidden, marks and CNPs do nothing and PFC alone ends congestion. Where the timer that raises the
rate runs out before the next CNP may come, a sender under constant congestion is raised between any two cuts, and
the queue stays above the mark.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    rpg_min_dec_fac: 100%   # <- here
```

```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    rpg_min_rate: 400G   # <- here
```

```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    cnp_interval: 50us
    rpg_time_reset: 40us   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {cnp_interval: 2us, rpg_time_reset: 20us, rpg_min_dec_fac: 98%, rpg_min_rate: 100M}
```

## Fix
Leave the parameter out, so that it has the NIC's default.

## Sources
- Mellanox community DOC-2790, DCQCN Parameters, version 19 (min_dec_fac of 100 prevents rate reductions)
- NVIDIA DOCA 3.4.0 documentation, DCQCN CC parameters (units, the period between rate reductions)
- Peng et al., Barre, USENIX ATC 2025, table 2 (rpg_min_dec_fac tuned to 80 to 98, rpg_time_reset to 20 to 100 us)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.nics.dcqcn_parameters import running
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.nics.dcqcn_parameters import HostDcqcn
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.view import View

_NO_CUT_PERCENT = 100
_CUTS = {"min_time_between_cnps": "cnp_interval", "rate_reduce_monitor_period": "rate_reduce_monitor_period"}
"""The two parameters that limit how often a sender is cut, each with its key in an intent."""


def check(view: View) -> Results:
    """Yield a violation per parameter that keeps DCQCN from slowing a kind of host down."""
    for dcqcn in running(view):
        yield from _no_cut(dcqcn)
        yield from _floor(dcqcn)
        yield from _timer(dcqcn)


def _no_cut(dcqcn: HostDcqcn) -> Iterator[Violation]:
    kept_percent = dcqcn.values.get("rpg_min_dec_fac", 0)
    if kept_percent >= _NO_CUT_PERCENT:
        message = f"rpg_min_dec_fac {kept_percent}% forbids any cut of the rate: DCQCN does nothing"
        yield _dcqcn_cannot_slow_down(
            dcqcn, "rpg_min_dec_fac", message, "a cut leaves at least that share of the rate"
        )


def _floor(dcqcn: HostDcqcn) -> Results:
    floor_bps, rate_bps = dcqcn.values.get("rpg_min_rate", 0) * 10**6, dcqcn.host.rate_bps
    if rate_bps is UNKNOWN and floor_bps:
        yield unread("the rate of its links", dcqcn.hosts)
    elif rate_bps is not UNKNOWN and 0 < rate_bps <= floor_bps:
        message = f"rpg_min_rate {format_rate(floor_bps)} is no less than the link of {format_rate(rate_bps)}"
        yield _dcqcn_cannot_slow_down(
            dcqcn, "rpg_min_rate", message, "no queue pair is slowed below that rate"
        )


def _timer(dcqcn: HostDcqcn) -> Iterator[Violation]:
    raised_us = dcqcn.values.get("rpg_time_reset")
    name, cut_us = max(((n, dcqcn.values.get(n, 0)) for n in _CUTS), key=lambda pair: pair[1])
    if raised_us is not None and raised_us <= cut_us:
        message = (
            f"a sender is raised every {raised_us:,} us (rpg_time_reset) and cut every {cut_us:,} us "
            f"({_CUTS[name]}) at most"
        )
        note = "under constant congestion it is raised between any two cuts"
        yield _dcqcn_cannot_slow_down(dcqcn, "rpg_time_reset", message, note, name, severity="warning")


def _dcqcn_cannot_slow_down(
    dcqcn: HostDcqcn, name: str, message: str, note: str, *also: str, severity: Severity | None = None
) -> Violation:
    return Violation(
        origin=dcqcn.at(name, *also),
        message=message,
        note=note,
        help=f"leave {name} out, so that it has the NIC's default",
        elements=dcqcn.hosts,
        data={n: dcqcn.values[n] for n in (name, *also)},
        severity=severity,
    )
