"""A number must be written in digits only, without leading zeros.

Severity: warning
Fix: safe
Subject: device

## What it does
Looks on a deployed device for numbers that orchagent can read, but that are not plain digits: blanks before them, a
leading zero or plus, text after the digits. It is a warning where the number that is read differs from the written one,
or where two keys of a map become the same number; otherwise it is information. SWS001 and the rules next to it report
text without a number.

## Why it breaks a lossless fabric
The same text means different things to the programs of one switch. orchagent reads `12 MB` as 12 and `0x100` as 0,
the watchdog reads `0400` as octal, 256 ms, a port its speed and MTU likewise, and `ecnconfig` refuses to touch a
threshold with a blank in it. A DSCP map with `8` and `08` names one DSCP twice, and the chip's driver keeps one of the
two or refuses the map.

## Bad
```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "08": "3"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "01440"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "restoration_time": "800"
  }}
}
```

## Fix
Write the digits alone.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623 (stoi, stoul)
- sonic-swss-common common/converter.h @07a03cb (the base follows from the text)
- sonic-buildimage device/** @086b03b (" 166912" stands six times in two shipped files)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.checks.rules.sonic.fields import NUMBERS, TIMERS, is_canonical, read_timer
from lossless.checks.rules.sonic.qos_map_entries import QosMapEntry, odd_entries
from lossless.formats.sonic.read.tables import INT_MAX, UINT64_MAX, read_number, whole_number
from lossless.ground.basics.findings import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


_BASED = {"PFC_WD": TIMERS, "PORT": ("speed", "mtu")}


def check(device: Device) -> Results:
    """Yield violations on checked numbers of CONFIG_DB that can be read and are not written in plain digits."""
    for table, fields in NUMBERS.items():
        for row in device.tables.table(table).values():
            for field in fields:
                text = row.fields.get(field)
                if text is not None and not is_canonical(text):
                    yield from _number(device, table, row, field)
    for entry in odd_entries(device):
        yield from _entry(device, entry)
    yield from merged(_based(device))


def _number(device: Device, table: str, row: ConfigRow, field: str) -> Iterator[Violation]:
    text = row.fields[field]
    number = read_number(text, INT_MAX if table == "WRED_PROFILE" else UINT64_MAX)
    if number is not None and number >= 0:
        yield _number_not_canonical(device, table, row, field, text, number)


def _entry(device: Device, entry: QosMapEntry) -> Iterator[Violation]:
    if entry.source is None or entry.target is None:
        return
    if not is_canonical(entry.source_text):
        yield _index(device, entry, entry.source)
    if not is_canonical(entry.target_text):
        yield _number_not_canonical(
            device, entry.table, entry.row, entry.source_text, entry.target_text, entry.target
        )


def _index(device: Device, entry: QosMapEntry, index: int) -> Violation:
    plain = str(index)
    twin = entry.row.fields.get(plain)
    violation = _number_not_canonical(
        device, entry.table, entry.row, entry.source_text, entry.source_text, index
    )
    if twin is None:
        return violation._replace(fix=(Edit(violation.origin, "rename", plain),))
    kind = entry.kind
    return violation._replace(
        message=f"{entry.table} {entry.row.key} has {kind.source} {index} twice, as {entry.source_text!r} to "
        f"{kind.target} {entry.target_text} and as {plain!r} to {kind.target} {twin}",
        help=f"remove {entry.source_text!r}",
        severity="warning",
        fix=(),
    )


def _based(device: Device) -> Iterator[Violation]:
    """Yield a violation per watchdog timer, speed or MTU not in plain digits: a leading zero makes it octal."""
    for table, fields in _BASED.items():
        for key, row in device.tables.table(table).items():
            for field in fields:
                text = row.fields.get(field)
                number = None if text is None or is_canonical(text) else read_timer(text)
                if text is None or number is None:
                    continue
                violation = _number_not_canonical(device, table, row, field, text, number)
                yield violation._replace(
                    message=f"{field} is written {text!r}, which is read as {number}",
                    elements=(element(device, key),),
                    # A speed or an MTU that nobody meant is not to be kept.
                    fix=violation.fix if table == "PFC_WD" or violation.severity == "info" else (),
                )


def _number_not_canonical(
    device: Device, table: str, row: ConfigRow, field: str, text: str, number: int
) -> Violation:
    severity: Severity = "info" if whole_number(text.strip().removeprefix("+")) == number else "warning"
    what = field if field != text else "an entry"
    return Violation(
        origin=device.tables.origin(table, row, field),
        message=f"{table} {row.key} has {what} written {text!r}, which is read as {number}",
        help=f"write {number}" if severity == "info" else "write the digits alone",
        data={"text": text, "number": number},
        severity=severity,
        fix=(Edit(device.tables.origin(table, row, field), "set", str(number)),),
    )
