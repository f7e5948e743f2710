"""A scheduler must be one that orchagent accepts as a whole.

Severity: error
Subject: device

## What it does
Reads every `SCHEDULER` row of a deployed device as orchagent does, and reports each field that makes it refuse the row
or throw: a type other than `DWRR`, `WRR` and `STRICT`, a `meter_type` other than `packets` and `bytes`, an unknown
field, a number it cannot read. A scheduler that it refuses is a warning where no lossless queue names it. `priority` is
refused since 202305, and a warning where the database is of an older release, which ignores it. A weight outside 1 to
100, which orchagent cuts to eight bits and hands on, is a warning.

## Why it breaks a lossless fabric
Every `QUEUE` row that names the scheduler waits for it permanently, and the queue's WRED profile waits in the same
row: no share of the bandwidth and no marking. The schema accepts `priority`.

## Bad
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "type": "dwrr"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "weight": "0"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "type": "DWRR",
    "weight": "15"
  }}
}
```

## Fix
Write the type in upper case, a weight from 1 to 100, and only fields that orchagent has.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (handleSchedulerTable), @03a2683 (priority still ignored)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-scheduler.yang @086b03b (weight 1 to 100)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results
from lossless.checks.rules.sonic.fields import NUMBERS, FieldProblem, field_violation
from lossless.formats.sonic.read.tables import INT_MAX, UINT64_MAX, read_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device


_WORDS = {"type": ("DWRR", "WRR", "STRICT"), "meter_type": ("bytes", "packets")}
_REFUSED = "orchagent refuses the row, and every queue that names it waits"


def check(device: Device) -> Results:
    """Yield a violation per field of a scheduler that orchagent refuses, ignores or throws on, and per bad weight."""
    for row in device.tables.table("SCHEDULER").values():
        for field, text in row.fields.items():
            for problem in _problems(field, text, device.switch.qos.database_version):
                yield field_violation(device, "SCHEDULER", row, problem)


def _problems(field: str, text: str, database_version: str | None) -> Iterator[FieldProblem]:
    if field in _WORDS:
        if text not in _WORDS[field]:
            throws = field == "meter_type"
            outcome = "orchagent throws on it, and every queue that names it waits" if throws else _REFUSED
            words = f"write {_or(_WORDS[field])}"
            yield FieldProblem(field, f"has {field} {text!r}: {outcome}", words, throws=throws)
    elif field in NUMBERS["SCHEDULER"]:
        yield from _number(field, text)
    elif field == "priority":
        # Since 202305 a database has the number of its release.
        old = re.fullmatch(r"version_[0-9]{1,2}_.*", database_version or "")
        message = f"has a priority, ignored up to 202211; since 202305 {_REFUSED}"
        yield FieldProblem(field, message, "remove priority", "warning" if old else None)
    elif field != "NULL":
        yield FieldProblem(field, f"has a field {field!r}: {_REFUSED}", f"remove {field}")


def _number(field: str, text: str) -> Iterator[FieldProblem]:
    number = read_number(text, INT_MAX if field == "weight" else UINT64_MAX)
    if number is None:
        message = f"has {field} {text!r}, which orchagent throws on: every queue that names it waits"
        yield FieldProblem(field, message, "write a whole number", throws=True)
    elif field == "weight" and not 1 <= number <= 100:
        cut = f", cut to {number % 256}" if not 0 <= number <= 255 else ""
        message = f"has a weight of {number}{cut}, and a weight is 1 to 100"
        yield FieldProblem(field, message, "write a weight from 1 to 100", "warning")


def _or(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"
