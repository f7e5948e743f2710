"""Sizes and words of buffer pools and profiles must be readable for orchagent.

Severity: error
Subject: device

## What it does
Reads the numbers of `BUFFER_POOL` and `BUFFER_PROFILE` rows of a deployed device as orchagent does, and the pools'
`type` and `mode`. Text without a number makes it throw, an unknown word makes it drop the row, and a negative size
becomes one near 2^64. Where no lossless class needs the dropped row, and no port waits for it, it is a warning.

## Why it breaks a lossless fabric
Without the pool no profile on it is applied, without the profile no group and no queue that names it. Ports that
wait for a group at boot are not brought up.

## Bad
```json config_db base=leaf
{
  "BUFFER_POOL": {"egress_lossy_pool": {
    "type": "Egress"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_POOL": {"egress_lossy_pool": {
    "size": "78000000",
    "type": "egress"
  }}
}
```

## Fix
Write sizes as whole bytes, and the words in lower case.

## Sources
- sonic-swss orchagent/bufferorch.cpp @51de623 (stoul, stol; unknown type or mode drops the row)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.sonic.fields import NUMBERS, FieldProblem, field_violation
from lossless.formats.sonic.read.tables import UINT64_MAX, read_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow


_WORDS = {"type": ("ingress", "egress", "both"), "mode": ("dynamic", "static")}


def check(device: Device) -> Results:
    """Yield a violation per value of a buffer pool or profile that orchagent cannot read, or that it wraps around."""
    for table in ("BUFFER_POOL", "BUFFER_PROFILE"):
        for row in device.tables.table(table).values():
            for field in NUMBERS[table]:
                if field in row.fields:
                    yield from _size(device, table, row, field)
    for row in device.tables.table("BUFFER_POOL").values():
        for field, words in _WORDS.items():
            if field in row.fields and row.fields[field] not in words:
                yield _word(device, row, field, words)


def _size(device: Device, table: str, row: ConfigRow, field: str) -> Iterator[Violation]:
    text = row.fields[field]
    number = read_number(text, UINT64_MAX)
    if number is None:
        outcome = "which orchagent throws on: the row is never applied, and nothing that names it"
    elif number < 0 and field != "dynamic_th":
        outcome = f"which orchagent reads as {number % 2**64:,}"
    else:
        return
    help_text = (
        "write a whole number of bytes" if field != "dynamic_th" else "write a whole number from -8 to 7"
    )
    problem = FieldProblem(field, f"has {field} {text!r}, {outcome}", help_text, throws=number is None)
    yield field_violation(device, table, row, problem)


def _word(device: Device, row: ConfigRow, field: str, words: tuple[str, ...]) -> Violation:
    message = f"has {field} {row.fields[field]!r}: orchagent drops the pool, and nothing on it is applied"
    problem = FieldProblem(field, message, f"write {' or '.join(words)}")
    return field_violation(device, "BUFFER_POOL", row, problem)
