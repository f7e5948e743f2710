"""A suppression must suppress a finding.

Severity: warning
Subject: suppressions

## What it does
Reports a suppression that matches no finding, or a rule in it that matches none: a comment
`# lossless: ignore[CODE] -- reason` in an intent, an entry `[[suppress]]` in `lossless.toml`. It is reported only where
the run is complete: all rules that are named have run, and for an entry all files below its folder were checked
together.

## Why it breaks a lossless fabric
The finding that it was written for is fixed. It still suppresses the next finding at that place, which was never
accepted: a headroom that is halved next year is then as invisible as the agreed one.

## Bad
```yaml intent base=none
lossless: v1
fabric: base
transport: rocev2
classes:
  # lossless: ignore[WD001] -- the watchdog comes with the next release
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
```yaml intent base=none
lossless: v1
fabric: base
transport: rocev2
classes:
  # lossless: ignore[WD001] -- the watchdog comes with the next release
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
Remove the suppression, or the rule from it.

## Sources
- astral-sh/ruff crates/ruff_linter/src/rules/ruff/rules/unused_noqa.rs @03f5fa2 (a directive that matches nothing
  should be removed)
- arithmetic: a suppression without a finding today can only suppress later ones
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SuppressionReview, UnusedSuppression


def check(review: SuppressionReview) -> Results:
    """Yield a violation per suppression that hides no finding of one or more of its rules."""
    for suppression in review.unused:
        rules = ", ".join(suppression.rules)
        yield Violation(
            origin=suppression.origin,
            message=f"this suppression hides no finding of {rules}",
            note=f"its reason: {suppression.reason}",
            help=_help(suppression, rules),
            data={"rules": list(suppression.rules)},
        )


def _help(suppression: UnusedSuppression, rules: str) -> str:
    return "remove it" if suppression.is_whole else f"take {rules} out of it"
