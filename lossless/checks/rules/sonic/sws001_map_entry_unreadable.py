"""Every entry of a QoS map must be a number that maps to a number.

Severity: error
Subject: device

## What it does
Looks through the QoS maps of a deployed device for entries that orchagent cannot read as numbers: empty ones and words.
A map without any entry, except one of 802.1p, is reported too: the database then holds the entry `NULL`.

## Why it breaks a lossless fabric
orchagent throws while it reads such an entry. Releases that do not catch that stop, and take the forwarding of the
whole switch with them; those that do never get past the row. Either way the map does not exist, and every port that
names it waits for it with its whole row: its other maps and PFC. Only a map of 802.1p skips the entry, and
`TC_TO_DSCP_MAP` is dropped. The schema accepts an empty value.

## Bad
```json config_db base=leaf
{
  "TC_TO_QUEUE_MAP": {"AZURE": {
    "7": ""   // <- here
  }}
}
```

```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {
    "OLD": {}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "TC_TO_QUEUE_MAP": {"AZURE": {
    "7": "7"
  }}
}
```

## Fix
Write the number, or leave the entry out.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (stoi on both sides of every entry; only 802.1p and TC to DSCP catch)
- sonic-swss orchagent/orch.cpp @015527d (drain catches and keeps the row)
- sonic-py-swsssdk src/swsssdk/configdb.py @0589283 (typed_to_raw writes NULL for a row without fields)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.sonic.qos_map_entries import KINDS, QosMapEntry, odd_entries
from lossless.formats.sonic.effective.objects import EMPTY_ROW
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow

_SKIPS, _DROPS = "DOT1P_TO_TC_MAP", "TC_TO_DSCP_MAP"
"""The map of which orchagent skips an unreadable entry, and the map that it drops for one; all others make it throw."""


def check(device: Device) -> Results:
    """Yield a violation per QoS map and text that orchagent reads as no number, and per map without an entry.

    An empty 802.1p map is none.
    """
    for table in (name for name in KINDS if name != _SKIPS):
        for row in device.tables.written(table).values():
            if not row.fields or row.fields == EMPTY_ROW:
                yield _empty(device, table, row)
    unreadable = (entry for entry in odd_entries(device) if None in (entry.source, entry.target))
    by_text = grouped(((entry.table, entry.row.key, _text(entry)), entry) for entry in unreadable)
    for (_, _, text), entries in by_text.items():
        yield _map_entry_unreadable(device, text, entries)


_NEVER = "the map never exists, and its ports get none of their QoS"


def _empty(device: Device, table: str, row: ConfigRow) -> Violation:
    from lossless.checks.rules.sonic.lossless_rows import THROWS, severity_of

    return Violation(
        origin=device.tables.origin(table, row),
        message=f"{table} {row.key} has no entry, and orchagent reads NULL, no number, in its place: {_NEVER}",
        note="" if table == _DROPS else THROWS,
        help="write its entries, or remove the map",
        data={"table": table, "map": row.key, "entries": []},
        severity=severity_of(device, table, (row.key,)) if table == _DROPS else None,
    )


def _text(entry: QosMapEntry) -> str:
    return entry.source_text if entry.source is None else entry.target_text


def _map_entry_unreadable(device: Device, text: str, entries: list[QosMapEntry]) -> Violation:
    from lossless.checks.rules.sonic.lossless_rows import THROWS, severity_of

    table, row = entries[0].table, entries[0].row
    sources = tuple(entry.source_text for entry in entries)
    problem = (
        f"maps {listed(sources)} to {text!r}"
        if entries[0].source is not None
        else f"has an entry for {text!r}"
    )
    skipped, dropped = table == _SKIPS, table == _DROPS
    outcome = "it skips the entry" if skipped else _NEVER
    return Violation(
        origin=device.tables.origin(table, row, sources[0]),
        message=f"{table} {row.key} {problem}, which orchagent cannot read as a number: {outcome}",
        note="" if skipped or dropped else THROWS,
        help="write the number, or leave the entry out",
        places=len(entries),
        data={"table": table, "map": row.key, "entries": list(sources)},
        severity="warning" if skipped else severity_of(device, table, (row.key,)) if dropped else None,
    )
