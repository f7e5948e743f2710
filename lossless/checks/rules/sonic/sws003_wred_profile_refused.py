"""A WRED profile must be one that orchagent accepts as a whole.

Severity: error
Fix: unsafe
Subject: device

## What it does
Reads every `WRED_PROFILE` row of a deployed device as orchagent does, and reports each field that makes it refuse the
row or throw: an unknown field, a flag other than `true` and `false`, an unknown `ecn` mode, a number it cannot read or
above 2,147,483,647, a minimum above its maximum or without one. A profile that it refuses is a warning where no
lossless queue names it. A probability above 100 is left to the chip's driver, and a warning; so is a negative number,
which wraps around. Other rules on the curve do not apply to a refused profile, and are left out.

## Why it breaks a lossless fabric
With one such field the whole profile is not applied: no marking on any queue that names it, and the queue's scheduler
waits with it, because the whole `QUEUE` row does. The schema accepts a minimum without a maximum and thresholds of any
size. A field that orchagent throws on ends it in releases that do not catch exceptions, and blocks every later WRED
profile in those that do.

## Bad
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "yellow_max_threshold": "500000"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "red_max_threshold": "5000000000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "yellow_min_threshold": "819200",
    "yellow_max_threshold": "3276800"
  }}
}
```

## Fix
Write both thresholds of a color, the flags as `true` or `false`, and only fields that orchagent has.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (WredMapHandler: stoi, convertBool, ecn_map.at, minimum and maximum)
- sonic-swss orchagent/orch.cpp @015527d (a row whose reference is not there is retried without end)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-wred-profile.yang @086b03b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.sonic.fields import NUMBERS, FieldProblem, field_violation
from lossless.formats.sonic.read.tables import read_number
from lossless.ground.basics.findings import Edit
from lossless.ground.basics.units import listed
from lossless.model.fabric.qos import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow


_FLAGS = tuple(f"wred_{colour}_enable" for colour in COLOURS)
_FIELDS = frozenset({*_FLAGS, *NUMBERS["WRED_PROFILE"], "ecn"})
_MODES = ("none", "green", "yellow", "red", "green_yellow", "green_red", "yellow_red", "all")
_LOST = "no queue that names it marks anything"
_UINT32 = 2**32
"""SAI has thresholds and probabilities as unsigned numbers of 32 bits."""


def check(device: Device) -> Results:
    """Yield violations for fields of WRED profiles that orchagent or the chip refuses or misreads."""
    for row in device.tables.table("WRED_PROFILE").values():
        unknown = sorted(row.fields.keys() - _FIELDS - {"NULL"})
        if unknown:
            yield _unknown(device, row, unknown)
        for problem in _problems(row.fields):
            yield field_violation(device, "WRED_PROFILE", row, problem)


def _unknown(device: Device, row: ConfigRow, fields: list[str]) -> Violation:
    """Return one violation of all fields of a WRED profile that orchagent does not have: they likely have one cause."""
    from lossless.checks.rules.sonic.lossless_rows import severity_of

    origins = [device.tables.origin("WRED_PROFILE", row, field) for field in fields]
    it = "it" if len(fields) == 1 else "them"
    return Violation(
        origin=origins[0],
        message=f"{row.key} has {'a field' if len(fields) == 1 else 'fields'} {listed([*map(repr, fields)])}, and "
        f"orchagent refuses a profile with a field it does not know: {_LOST}",
        help=f"remove {fields[0] if len(fields) == 1 else it}",
        data={"field": fields[0], "value": row.fields[fields[0]], "fields": [*fields]},
        severity=severity_of(device, "WRED_PROFILE", (row.key,)),
        fix=tuple(Edit(origin, "remove") for origin in origins),
    )


def _problems(fields: Mapping[str, str]) -> Iterator[FieldProblem]:
    yield from _words(fields)
    yield from _numbers(fields)
    for colour in COLOURS:
        yield from _order(fields, colour)


def _words(fields: Mapping[str, str]) -> Iterator[FieldProblem]:
    for field in _FLAGS:
        text = fields.get(field, "false")
        if text not in ("true", "false"):
            message = f"sets {field} to {text!r}, and orchagent refuses the profile for it: {_LOST}"
            yield FieldProblem(field, message, "write true or false, in lower case")
    mode = fields.get("ecn", "ecn_none")
    if mode.removeprefix("ecn_") not in _MODES or not mode.startswith("ecn_"):
        message = f"sets ecn to {mode!r}, which orchagent throws on: {_LOST}"
        yield FieldProblem("ecn", message, "write ecn_all, or ecn_ and the colors to mark", throws=True)


def _numbers(fields: Mapping[str, str]) -> Iterator[FieldProblem]:
    for field in NUMBERS["WRED_PROFILE"]:
        text = fields.get(field)
        if text is None:
            continue
        number = read_number(text)
        if number is None:
            why = "which orchagent throws on: it reads whole numbers up to 2,147,483,647"
            message = f"sets {field} to {text!r}, {why}; {_LOST}"
            yield FieldProblem(field, message, "write a whole number of bytes or percent", throws=True)
        elif number < 0:
            message = f"sets {field} to {number}, which orchagent takes as {number % _UINT32:,}"
            yield FieldProblem(field, message, "write a whole number of bytes or percent", "warning")
        elif field.endswith("probability") and number > 100:
            message = f"sets {field} to {number} %, which the chip's driver refuses: {_LOST}"
            yield FieldProblem(field, message, "write 0 to 100", "warning")


def _order(fields: Mapping[str, str], colour: str) -> Iterator[FieldProblem]:
    low_name, high_name = f"{colour}_min_threshold", f"{colour}_max_threshold"
    low = read_number(fields.get(low_name, "0"))
    high = read_number(fields.get(high_name, "0"))
    if low is None or high is None or low % _UINT32 <= high % _UINT32:
        return
    if high_name in fields:
        order = f"has {high_name} of {high:,} B below {low_name} of {low:,} B"
        field, help_text = high_name, f"write {high_name} of at least {low}, or lower {low_name}"
    else:
        order = f"has {low_name} of {low:,} B without {high_name}, which counts as 0"
        field, help_text = low_name, f"write {high_name} of at least {low}"
    yield FieldProblem(field, f"{order}: orchagent refuses the whole profile, and {_LOST}", help_text)
