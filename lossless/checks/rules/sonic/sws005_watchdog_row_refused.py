"""A PFC_WD row must be one that orchagent accepts.

Severity: error
Subject: device

## What it does
Reads every `PFC_WD` row of a port as orchagent does, and reports each field that makes it drop the row: an action other
than `drop`, `forward` and `alert`, a `pfc_stat_history` other than `enable` and `disable`, an unknown field, a timer it
cannot read, a PortChannel or several ports in the key instead of one port. On a port that pauses nothing it is a
warning, and so is a row of a PortChannel where every port that pauses has its own. `forward` on a Cisco 8000 is a
warning, because the file does not name the chip for certain. Timers out of range and a missing detection time are
reported by WD003, rows of missing ports by CFG008.

## Why it breaks a lossless fabric
The row is dropped with a line in the log, `pfcwd show config` still shows it, and the port has PFC without a
watchdog: one stuck NIC can pause it permanently.

## Bad
```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "action": "Drop"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "PFC_WD": {
    "PortChannel1": {"detection_time": "800", "restoration_time": "800"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "PFC_WD": {"Ethernet4": {
    "action": "drop",
    "restoration_time": "800"
  }}
}
```

## Fix
Write the action in lower case, timers as whole milliseconds, and one row for each physical port.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (createEntry)
- sonic-swss-common common/converter.h @07a03cb (to_uint throws on anything behind the digits)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-pfcwd.yang @086b03b (pfc_stat_history)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.checks.rules.sonic.fields import TIMERS, FieldProblem, field_violation, read_timer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow


_ACTIONS = frozenset({"drop", "forward", "alert"})
_FIELDS = frozenset({*TIMERS, "action", "pfc_stat_history", "NULL"})
_DROPPED = "orchagent drops the row, and the port has no watchdog"


def check(device: Device) -> Results:
    """Yield a violation per reason for which orchagent drops PFC_WD rows, with the ports of these rows.

    Rows that name no port of the switch are CFG008's, except for a LAG or several ports.
    """
    yield from merged(_violations(device))


def _violations(device: Device) -> Iterator[Violation]:
    cisco = device.metadata.get("hwsku", "").startswith("Cisco-8")
    ports = device.tables.table("PORT")
    for key, row in device.tables.table("PFC_WD").items():
        if key == "GLOBAL":
            continue
        if key.startswith("PortChannel") or "," in key:
            yield _no_port(device, row)
        elif not ports or key in ports:
            # CFG008 reports other rows whose name no port has.
            yield from (
                _watchdog_row_refused(device, row, problem) for problem in _problems(row.fields, cisco=cisco)
            )


def _problems(fields: Mapping[str, str], *, cisco: bool) -> Iterator[FieldProblem]:
    action = fields.get("action", "drop")
    if action not in _ACTIONS:
        message = f"action {action!r} is none that orchagent knows: {_DROPPED}"
        yield FieldProblem("action", message, "write drop, forward or alert, in lower case")
    elif cisco and action == "forward":
        message = f"a Cisco 8000 has no action forward: {_DROPPED}"
        yield FieldProblem("action", message, "write drop or alert", "warning")
    history = fields.get("pfc_stat_history", "enable")
    if history not in ("enable", "disable"):
        message = f"pfc_stat_history {history!r} is none that orchagent knows: {_DROPPED}"
        yield FieldProblem("pfc_stat_history", message, "write enable or disable")
    for field in fields.keys() - _FIELDS:
        yield FieldProblem(field, f"orchagent knows no field {field!r}: {_DROPPED}", f"remove {field}")
    for field in TIMERS:
        text = fields.get(field)
        # WD003 reports numbers out of range, negative ones among them.
        if text is not None and read_timer(text) is None:
            message = f"{field} {text!r} is no whole number: {_DROPPED}"
            yield FieldProblem(field, message, "write whole milliseconds")


def _no_port(device: Device, row: ConfigRow) -> Violation:
    what = "several ports in one key" if "," in row.key else "a PortChannel"
    rows = device.tables.table("PFC_WD")
    unwatched = any(port.name not in rows for ports in device.view.lossless_sets for port in ports.ports)
    return Violation(
        origin=device.tables.origin("PFC_WD", row),
        message=f"{row.key} is {what}, and the watchdog takes one physical port a row: orchagent drops it",
        help="write one row for each port",
        severity=None if unwatched else "warning",
    )


def _watchdog_row_refused(device: Device, row: ConfigRow, problem: FieldProblem) -> Violation:
    # WD003 sees a row without a detection time here, and says so of the whole row.
    unread = problem.field == "detection_time"
    origin = device.tables.origin("PFC_WD", row)
    return field_violation(device, "PFC_WD", row, problem)._replace(
        origin=origin.key() if unread else origin.at(problem.field),
        message=problem.message,
        elements=(element(device, row.key),),
        conclusive=unread,
    )
