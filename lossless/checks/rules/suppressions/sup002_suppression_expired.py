"""A suppression must not outlive its date.

Severity: warning
Subject: suppressions

## What it does
Reports a suppression whose day `until` is over. It has no effect any more: the finding that it suppressed is shown
beside it.

## Why it breaks a lossless fabric
A date is a promise to fix something by then: a watchdog after the upgrade, a cable after the move. Without a reminder
the risk that was taken for a month stays for years.

## Bad
```yaml intent base=none today=2026-02-01
lossless: v1
fabric: base
transport: rocev2
classes:
  # lossless: ignore[WD001] -- the watchdog comes with the upgrade until=2026-01-31
  rdma:   # <- here
    {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
  cnp: {dscp: 48, priority: 6, scheduling: strict}
  default: {dscp: rest, priority: 0, bandwidth: 50%}
pfc:
  watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}
congestion_control:
  dcqcn: {cnp_interval: 4us}
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    {leaves: 2, spines: 2, hosts_per_leaf: 4, host_links: 2 x 400G, uplinks: 2 x 800G, cables: {host: 3m, uplink: 30m}}
networks:
  storage: {on: separate}
```

## Good
```yaml intent base=none today=2026-01-31
lossless: v1
fabric: base
transport: rocev2
classes:
  # lossless: ignore[WD001] -- the watchdog comes with the upgrade until=2026-01-31
  rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
  cnp: {dscp: 48, priority: 6, scheduling: strict}
  default: {dscp: rest, priority: 0, bandwidth: 50%}
congestion_control:
  dcqcn: {cnp_interval: 4us}
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    {leaves: 2, spines: 2, hosts_per_leaf: 4, host_links: 2 x 400G, uplinks: 2 x 800G, cables: {host: 3m, uplink: 30m}}
networks:
  storage: {on: separate}
```

## Fix
Fix the finding and remove the suppression, or agree on a later date.

## Sources
- aquasecurity/trivy docs/docs/configuration/filtering.md @036295e (an entry of an ignore file with a date of expiry is
  valid until then)
- arithmetic: the day after the last one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SuppressionReview


def check(review: SuppressionReview) -> Results:
    """Yield a violation per suppression whose last day is over."""
    for suppression in review.expired:
        shown = f"{suppression.places} finding{'' if suppression.places == 1 else 's'}"
        yield Violation(
            origin=suppression.origin,
            message=f"the suppression of {', '.join(suppression.rules)} ended on {suppression.until}",
            note=f"its reason: {suppression.reason}",
            help=f"fix what it hid ({shown}), or agree on a later date"
            if suppression.places
            else "remove it: it would hide nothing",
            data={"rules": list(suppression.rules), "until": suppression.until},
        )
