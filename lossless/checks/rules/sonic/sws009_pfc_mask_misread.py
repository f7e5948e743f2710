"""A list of priorities must have a form that all of SONiC reads in the same way.

Severity: error
Fix: unsafe
Subject: device

## What it does
Reads `pfc_enable` and `pfcwd_sw_enable` of a deployed device as orchagent does, and as buffermgrd does, and reports
parts that they read differently, parts that are no priority, and parts that orchagent throws on. Blanks before a
number and repeated numbers do no harm.

## Why it breaks a lossless fabric
orchagent reads `3-4` as 3 and switches PFC on for it alone. buffermgrd reads it as nothing and makes no lossless
group: priority 3 pauses its peer for a group without headroom, and priority 4 does not pause at all. An empty part
or a word makes orchagent throw, and nothing of the row is applied.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3-3"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3"
  }}
}
```

## Fix
Write the priorities one by one, parted by commas: `3,4`.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (stoi of each part), cfgmgr/buffermgr.cpp @029506c (to_uint)
- sonic-swss-common common/converter.h @07a03cb (to_uint throws on anything behind the digits)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.formats.sonic.read.numbers import MASK_FIELDS, priority_list, read_number
from lossless.ground.basics.findings import Edit
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


_DIGITS = frozenset("01234567")


def check(device: Device) -> Results:
    """Yield a violation per odd part of a list, added up over ports."""
    rows = device.tables.table("PORT_QOS_MAP")
    for field in MASK_FIELDS:
        texts = {row.fields[field] for row in rows.values() if field in row.fields}
        parts_of = {text: odd_parts for text in texts if (odd_parts := list(_odd_parts(field, text)))}
        if parts_of:
            yield from merged(_violations(device, field, parts_of))


def _violations(
    device: Device, field: str, parts_of: dict[str, list[tuple[str, Severity]]]
) -> Iterator[Violation]:
    for port, row in device.tables.table("PORT_QOS_MAP").items():
        if port == "global" or field not in row.fields:
            continue
        for problem, severity in parts_of.get(row.fields[field], ()):
            yield Violation(
                origin=device.tables.origin("PORT_QOS_MAP", row, field),
                message=f"{field} {row.fields[field]!r}: {problem}",
                help="write the priorities one by one, separated by commas without blanks",
                elements=(element(device, port),),
                data={"value": row.fields[field]},
                severity=severity,
                fix=_fix(device, row, field),
            )


def _fix(device: Device, row: ConfigRow, field: str) -> tuple[Edit, ...]:
    """Return the edit that writes the same priorities plainly, where all of them can be read."""
    numbers = {read_number(part) for part in row.fields[field].removesuffix(",").split(",")}
    priorities = sorted(number for number in numbers if number is not None and number in PRIORITIES)
    if len(priorities) < len(numbers):
        return ()
    origin = device.tables.origin("PORT_QOS_MAP", row, field)
    return (Edit(origin, "set", priority_list(priorities)),)


def _odd_parts(field: str, text: str) -> Iterator[tuple[str, Severity]]:
    """Yield what is wrong with each part; a comma at the end makes no part."""
    for part in text.removesuffix(",").split(",") if text else ():
        if part.lstrip() in _DIGITS:
            continue
        number = read_number(part)
        if number is None:
            yield f"orchagent throws on {part!r} and applies nothing of the row", "error"
        elif number not in PRIORITIES:
            yield f"there is no priority {number}, and nothing is switched on for it", "warning"
        elif part.lstrip().isdecimal():
            continue
        elif field == "pfc_enable":
            problem = f"orchagent reads {part!r} as priority {number}, and buffermgrd makes no group for it"
            yield problem, "error"
        elif part.strip() != str(number):
            yield f"orchagent reads {part!r} as priority {number} alone", "warning"
