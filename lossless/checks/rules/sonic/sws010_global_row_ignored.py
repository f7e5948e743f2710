"""The rows for the whole switch must hold only fields that apply to the whole switch.

Severity: warning
Subject: device

## What it does
Looks at `PORT_QOS_MAP|global` and `PFC_WD|GLOBAL` of a deployed device. The first counts for `dscp_to_tc_map` alone,
the second for `POLL_INTERVAL` and `BIG_RED_SWITCH`. Other fields, the wrong case of the key and a poll interval
that is no number are reported. `pfc_enable` there is an error where no port has PFC of its own.

## Why it breaks a lossless fabric
orchagent ignores the other fields with a warning in its log, and takes `GLOBAL` or `global` in the wrong case for a
port that does not exist. `pfc_enable` there looks as if the whole switch paused; no port does.

## Bad
```json config_db base=leaf
{
  "PFC_WD": {"GLOBAL": {
    "action": "drop"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "PORT_QOS_MAP": {"global": {
    "pfc_enable": "3"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"global": {
    "dscp_to_tc_map": "AZURE"
  }}
}
```

## Fix
Move the field to the rows of the ports.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (handleGlobalQosMap), orchagent/pfcwdorch.cpp @0408e94 (createEntry)
- sonic-buildimage src/sonic-yang-models @086b03b (`global` in PORT_QOS_MAP, `GLOBAL` in PFC_WD)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.formats.sonic.read.tables import read_number, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


_COUNTS = {
    ("PORT_QOS_MAP", "global"): frozenset({"dscp_to_tc_map", "NULL"}),
    ("PFC_WD", "GLOBAL"): frozenset({"POLL_INTERVAL", "BIG_RED_SWITCH", "NULL"}),
}
_WRONG_CASE = {"PORT_QOS_MAP": ("GLOBAL", "Global"), "PFC_WD": ("global", "Global")}


def check(device: Device) -> Results:
    """Yield a violation per field of a global row without effect, per row in the wrong case, and bad poll interval."""
    tables = device.tables
    for (table, key), counting in _COUNTS.items():
        row = tables.row(table, key)
        for field in sorted(row.fields.keys() - counting) if row else ():
            yield _ignored(device, table, row, field)  # type: ignore[arg-type]
        for wrong in _WRONG_CASE[table]:
            misnamed = tables.row(table, wrong)
            if misnamed is not None:
                yield _misnamed(device, table, misnamed, key)
    yield from _poll(device)


def _ignored(device: Device, table: str, row: ConfigRow, field: str) -> Violation:
    severity: Severity | None = None
    if field == "pfc_enable" and not device.view.lossless_sets:
        severity = "error"
    return Violation(
        origin=device.tables.origin(table, row, field),
        message=f"{field} in {table}|{row.key} has no effect: orchagent reads it from the rows of ports only",
        help=f"move {field} to the rows of the ports",
        severity=severity,
    )


def _misnamed(device: Device, table: str, row: ConfigRow, key: str) -> Violation:
    return Violation(
        origin=device.tables.origin(table, row),
        message=f"{table}|{row.key} is no row for the whole switch, and orchagent knows no port of that name",
        help=f"name the row {key!r}",
    )


def _poll(device: Device) -> Iterator[Violation]:
    row = device.tables.row("PFC_WD", "GLOBAL")
    text = row.fields.get("POLL_INTERVAL", "0") if row else "0"
    if row and whole_number(text) is None:
        read = read_number(text)
        reading = "orchagent throws on it" if read is None else f"orchagent reads {read}"
        yield Violation(
            origin=device.tables.origin("PFC_WD", row, "POLL_INTERVAL"),
            message=f"POLL_INTERVAL {text!r} is no number of milliseconds, and the watchdog polls by it: {reading}",
            help="write whole milliseconds, such as 200",
            severity="error" if read is None else "warning",
        )
