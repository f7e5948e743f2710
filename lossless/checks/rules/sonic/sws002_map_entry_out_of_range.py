"""A QoS map must map existing numbers to existing ones: 64 DSCPs, 8 groups, 8 queues, TCs with a queue.

Severity: warning
Subject: device

## What it does
Compares both sides of every map entry of a deployed device with the numbers that exist. A queue of 8 or more is
a warning of medium confidence, because a few chips have ten unicast queues. A DSCP above 63 in a
`TC_TO_DSCP_MAP` is an error: orchagent refuses the whole map. TCs 8 to 15 have no priority that PFC could pause;
they are legal. One in a `DSCP_TO_TC_MAP` is a warning where the device has rows of `TC_TO_QUEUE_MAP` and none takes it
to a queue; without such rows it is not checked.

## Why it breaks a lossless fabric
The schema accepts traffic classes up to 15 and queues up to 9, in each map by itself. orchagent hands them to the
chip's driver unchecked. Where the chip has no such queue it refuses the map, every port that names the map waits, and
PFC is never switched on. The chip chooses the queue of a class that no map takes to one, and no pause ever stops that
class.

## Bad
```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "8": "9"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "8": "0"
  }}
}
```

## Fix
Map to a number that the switch has.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (casts without range check; TC to DSCP is checked against 63)
- sonic-buildimage src/sonic-yang-models @086b03b (tc_type 0 to 15, queue index 0 to 9)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (dual ToR: DSCP 33 to TC 8, which goes to a queue)
- IEEE 802.1Q: eight priorities
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.sonic.qos_map_entries import QosMapEntry, odd_entries
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow


_PRIORITIES = frozenset(map(str, range(8)))
_BEYOND = frozenset(map(str, range(8, 16)))


def check(device: Device) -> Results:
    """Yield a violation per map and number that does not exist, and per TC from 8 to 15 of a DSCP map without a queue.

    Where no row of TC_TO_QUEUE_MAP takes a TC to a queue, a missing input is yielded instead of the latter.
    """
    entries_by_number: dict[tuple[str, str, int, bool], list[QosMapEntry]] = {}
    for entry in odd_entries(device):
        if entry.source is None or entry.target is None:
            continue
        foreign = entry.source not in range(entry.kind.sources)
        if foreign or entry.target not in range(entry.kind.targets):
            number = entry.source if foreign else entry.target
            entries_by_number.setdefault((entry.table, entry.row.key, number, foreign), []).append(entry)
    for (_, _, number, foreign), entries in entries_by_number.items():
        yield _map_entry_out_of_range(device, number, foreign, entries)
    for row in device.tables.table("DSCP_TO_TC_MAP").values():
        if not _PRIORITIES.issuperset(row.fields.values()):
            yield from _beyond_pfc(device, row)


def _beyond_pfc(device: Device, row: ConfigRow) -> Results:
    """Yield a violation per TC from 8 to 15 without a queue; a missing input where this TC, or none, has a queue."""
    queued = {tc for queues in device.tables.table("TC_TO_QUEUE_MAP").values() for tc in queues.fields}
    for tc in sorted(_BEYOND.intersection(row.fields.values())):
        dscps = sorted((dscp for dscp, target in row.fields.items() if target == tc), key=natural_key)
        if tc in queued or not queued:
            yield MissingInput(
                f"DSCP_TO_TC_MAP {row.key} uses TC {tc}, beyond the priorities of PFC", len(dscps)
            )
            continue
        yield Violation(
            origin=device.tables.origin("DSCP_TO_TC_MAP", row, dscps[0]),
            message=f"DSCP_TO_TC_MAP {row.key} maps DSCP {listed(dscps)} to TC {tc}, which no TC_TO_QUEUE_MAP "
            "takes to a queue and no priority of PFC pauses",
            help="map to a TC from 0 to 7, or take the TC to a queue and a group",
            places=len(dscps),
            data={"dscps": list(dscps), "tc": tc},
        )


def _map_entry_out_of_range(
    device: Device, number: int, foreign: bool, entries: list[QosMapEntry]
) -> Violation:
    first = entries[0]
    kind = first.kind
    what, last = (kind.source, kind.sources - 1) if foreign else (kind.target, kind.targets - 1)
    sources = tuple(entry.source_text for entry in entries)
    problem = (
        f"has {what} {number}" if foreign else f"maps {kind.source} {listed(sources)} to {what} {number}"
    )
    refused = what == "DSCP" and not foreign
    return Violation(
        origin=device.tables.origin(first.table, first.row, sources[0]),
        message=f"{first.table} {first.row.key} {problem}, and there is only 0 to {last}"
        + (": orchagent refuses the whole map" if refused else ""),
        help=f"use a {what} from 0 to {last}",
        places=len(entries),
        data={"entries": list(sources), "number": number, "maximum": last},
        severity="error" if refused else None,
        confidence="medium" if what == "queue" else None,
    )
