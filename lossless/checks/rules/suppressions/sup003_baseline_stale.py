"""A baseline must not list fixed findings.

Severity: warning
Subject: suppressions

## What it does
Reports the entries of a baseline that are not found any more, in one finding for each baseline. Entries are reported
only where the run is complete: the file of the entry was checked with its rule, for rules that compare files all files
below the baseline's folder were checked together; or that file is gone.

## Why it breaks a lossless fabric
A stale entry suppresses the same mistake when it is made again. A baseline may only shrink.

## Bad
```json baseline base=none beside=leaf-spine.yaml
{"version": 2, "findings": [
{"file": "gone.json", "object": "PORT|Ethernet0|mtu", "code": "LNK002", "severity": "warning", "count": 1}   // <- here
]}
```

## Good
```json baseline base=none beside=leaf-spine.yaml
{"version": 2, "findings": []}
```

## Fix
`lossless baseline --prune` removes them, and nothing else.

## Sources
- eslint/eslint docs/src/use/suppressions.md @0d0d5f1 (suppressions that do not occur any more are an error, and pruned)
- arithmetic: entries less findings, by file, object, code, value and places
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SuppressionReview


def check(review: SuppressionReview) -> Results:
    """Yield a violation per baseline with entries that are not found any more, at the first of them."""
    for entries in grouped((entry.origin.file, entry) for entry in review.stale).values():
        times = len(entries)
        verb = "is not found any more" if times == 1 else "are not found any more"
        yield Violation(
            origin=entries[0].origin,
            message=f"{times} finding{'' if times == 1 else 's'} of this baseline {verb}",
            help="lossless baseline --prune removes what is fixed",
            elements=tuple(f"{entry.file} {entry.object} {entry.code}" for entry in entries),
            data={"findings": times},
        )
