"""Cables must be as long as the intent declares, as far as headroom depends on it.

Severity: error
Subject: cabling

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), compares lengths on links
with PFC. A length above the declared one and above the configured one, which is the next row of the HWSKU, is an error.
One that a lower row would cover is reported as information: it costs buffer. Lengths with the same row count as equal.

## Why it breaks a lossless fabric
Headroom is looked up by the configured length. When a pause is sent, the data on the rest of the cable has no place in
the buffer and is dropped.

## Bad
```yaml intent base=leaf-spine beside=cables.csv
topology:
  leaf_spine:
    cables:
      uplink: 5m   # <- here
```

## Good
```yaml intent base=leaf-spine beside=cables.csv
topology:
  leaf_spine:
    cables: {uplink: 28m}
```

## Fix
Declare the length that the cables have.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (headroom is looked up by the configured length)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import named, port_of, related
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.topology.cabling_comparison import CablePair
    from lossless.checks.rules.subjects import FabricCabling


class _Length(NamedTuple):
    """A cable's found and configured length, and that of the headroom row for the found one; None without a row."""

    pair: CablePair
    found_m: int
    configured_m: int
    row_m: int | None

    @property
    def longer(self) -> bool:
        """Whether the cable is longer than the configured length."""
        return self.found_m > self.configured_m


def check(cabling: FabricCabling) -> Results:
    """Yield a violation per declared length and found one that would change the configured length."""
    unlike = (length for pair in cabling.comparison.pairs if (length := _unlike(cabling, pair)) is not None)
    by_length = grouped(
        ((length.pair.planned.cable_origin, length.found_m, length.configured_m), length) for length in unlike
    )
    yield from map(_cable_length_unlike_declared, by_length.values())


def _unlike(cabling: FabricCabling, pair: CablePair) -> _Length | None:
    """Return the found length of a cable where it would change the configured one; None where not, or if unknown."""
    found_m, at = pair.actual.cable_m, port_of(cabling.view, pair.planned)
    if found_m is None or at is None or found_m == pair.planned.cable_m:
        return None
    switch, port = at
    configured_m = port.cable.configured_m
    if not configured_m or port.qos is None or not port.qos.pfc.priorities:
        return None
    row = switch.hwsku.row_covering(pair.planned.speed_bps, found_m) if switch.hwsku else None
    length = _Length(pair, found_m, configured_m, row.cable_m if row else None)
    is_unlike = length.longer or (row is not None and row.cable_m < configured_m)
    return length if is_unlike else None


def _cable_length_unlike_declared(lengths: Sequence[_Length]) -> Violation:
    first = lengths[0]
    planned, actual = first.pair
    return Violation(
        origin=planned.cable_origin,
        message=f"{'cables are' if len(lengths) > 1 else f'{planned.name} is'} {first.found_m} m long, not "
        f"{planned.cable_m} m, and {first.configured_m} m is configured",
        note="what is on the rest of a cable when a pause is sent is dropped"
        if first.longer
        else f"the row for {first.row_m} m would do; headroom for more takes from the shared buffer",
        help=f"declare {first.found_m}m",
        elements=named([length.pair.planned for length in lengths]),
        data={"found_m": first.found_m, "declared_m": planned.cable_m, "configured_m": first.configured_m},
        related=related(actual.origin, f"{first.found_m} m"),
        severity=None if first.longer else "info",
    )
