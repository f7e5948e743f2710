"""Each queue, group and port must be written by one row.

Severity: warning
Subject: device

## What it does
Looks on a deployed device for rows of `QUEUE`, `BUFFER_QUEUE` and `BUFFER_PG` that write the same queue or group of a
port, and for ports that are in a joined key and have a row of their own. Queue rows that set different fields, or the
same to the same value, are left alone.

## Why it breaks a lossless fabric
`config load` removes nothing, so an old row `Ethernet0|3-4` stays beside a new `Ethernet0|3`. orchagent applies
both, and which of them counts depends on the order in which they come. When one is removed, the queue or the group
loses its profile though the other row still names one. Groups in two rows are counted twice when the dynamic
model shares out the buffer.

## Bad
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|2-4": {"scheduler": "scheduler.0"}   // <- here
  }
}
```

```json config_db base=leaf
{
  "BUFFER_PG": {
    "Ethernet0|3-4": {"profile": "pg_lossless_400000_5m_profile"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|0-1": {"scheduler": "scheduler.0"}
  }
}
```

## Fix
Keep one of the two rows, or make their numbers disjoint.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623 (each row is applied by itself)
- sonic-swss cfgmgr/buffermgrdyn.cpp @0160f0a (rows are assumed not to overlap)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import beside, element
from lossless.formats.sonic.read.tables import RowOverlap, single_keys
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow, NumberedKeys

_SHOWN = 3
"""Rows beside a joined one that a finding points at; its message names them all."""


def check(device: Device) -> Results:
    """Yield a violation per row that writes the same queue, group or port as other rows, added up over ports."""
    for table, keys in device.tables.keys.items():
        if keys.overlaps:
            yield from merged(_overlaps(device, table, keys))
    yield from merged(_joined(device))


def _overlaps(device: Device, table: str, keys: NumberedKeys) -> Iterator[Violation]:
    """Yield a violation per row that is the wider of two overlapping ones; in QUEUE only if they differ."""
    wider = (_wider_later(keys, overlap) for overlap in keys.overlaps)
    by_row = grouped(
        ((overlap.port, overlap.later.key), overlap)
        for overlap in wider
        if table != "QUEUE" or _differing(overlap.later, overlap.earlier)
    )
    yield from (_rows_overlap(device, table, overlaps) for overlaps in by_row.values())


def _wider_later(keys: NumberedKeys, overlap: RowOverlap) -> RowOverlap:
    """Return an overlap with the wider of its rows as the later one."""
    rows = (overlap.later, overlap.earlier)
    wide, narrow = sorted(rows, key=lambda row: len(keys.ranges.get(_index(row)) or ()), reverse=True)
    return overlap._replace(earlier=narrow, later=wide)


def _index(row: ConfigRow) -> str:
    return row.key.rpartition("|")[2]


def _rows_overlap(device: Device, table: str, overlaps: list[RowOverlap]) -> Violation:
    wider = overlaps[0].later
    what = "group" if table == "BUFFER_PG" else "queue"
    numbers = sorted({number for overlap in overlaps for number in overlap.numbers})
    others = list(dict.fromkeys(_index(overlap.earlier) for overlap in overlaps))
    differing = list(
        dict.fromkeys(text for overlap in overlaps for text in _differing(wider, overlap.earlier))
    )
    return Violation(
        origin=device.tables.origin(table, wider),
        message=f"{table} row {_index(wider)!r} writes {what} {', '.join(map(str, numbers))}, as "
        f"row {', '.join(map(repr, others))} does{_disagreement(differing)}",
        help="keep one of the rows, or make their numbers disjoint",
        elements=(element(device, overlaps[0].port),),
        data={"numbers": [*numbers], "rows": [_index(wider), *others]},
        related=beside(
            device.tables.origin(table, wider),
            *((device.tables.origin(table, o.earlier), f"row {_index(o.earlier)!r}") for o in overlaps),
        ),
    )


def _differing(first: ConfigRow, second: ConfigRow) -> list[str]:
    shared = sorted(first.fields.keys() & second.fields.keys())
    return [
        f"{field} {first.fields[field]} and {second.fields[field]}"
        for field in shared
        if first.fields[field] != second.fields[field]
    ]


def _disagreement(differing: list[str]) -> str:
    return f", and they disagree: {'; '.join(differing)}" if differing else ""


def _joined(device: Device) -> Iterator[Violation]:
    for table, row in device.tables.joined:
        own = own_rows(device, table, row)
        if own:
            ports = [key.partition("|")[0] for key in own]
            yield Violation(
                origin=device.tables.origin(table, row),
                message=f"{table} writes {', '.join(own)} by a row of their own and by {row.key!r} as well",
                help="keep one row for each port",
                elements=tuple(element(device, port) for port in ports),
                data={"rows": ", ".join(own)},
                related=beside(
                    device.tables.origin(table, row),
                    *((device.tables.origin(table).at(key), "a row of its own") for key in own[:_SHOWN]),
                ),
            )


def own_rows(device: Device, table: str, row: ConfigRow) -> list[str]:
    """Return the keys that a joined key stands for and that have a row of their own as well."""
    written = device.tables.data.get(table)
    return [key for key in single_keys(row.key) if isinstance(written, dict) and key in written]
