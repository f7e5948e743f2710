"""A table without a SONiC model is never checked, and stops the tools that check.

Severity: info
Confidence: medium
Subject: device
Needs: refusals

## What it does
Lists the tables of a file for which no model of SONiC is known, in one finding: misspelled names, tables of another
program, and tables that orchagent reads although they have no model, such as `TC_TO_DOT1P_MAP`. Tables that have a
model but do not affect a lossless fabric are neither checked nor listed; tables of adaptive routing beside an
`ARS_PROFILE` are left to SWS016.

## Why it breaks a lossless fabric
Under a misspelled name a whole table is missing: `PORT_QOS_MAPS` leaves every port without PFC, without a message.
`config reload FILE` aborts at a table without a model.

## Bad
```json config_db base=leaf
{
  "TC_TO_DOT1P_MAP": {"AZURE": {"3": "3"}}   // <- here
}
```

## Good
```json config_db base=leaf
{
  "VLAN": {"Vlan100": {"vlanid": "100"}}
}
```

## Fix
Correct the name. Keep a table that the device really reads, but load the file with `config load`, which does not check.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models @086b03b, tests/files/sample_config_db.json @0008cf7
- sonic-utilities config/main.py @691b1bb (config reload FILE aborts at a table without a model)
- sonic-buildimage issues 22084 and 24134 (no model of TC_TO_DOT1P_MAP)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.sonic.ars_tables import ARS_TABLES, PROFILE
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield one violation for all tables of a file without a known model.

    Tables of adaptive routing are left out where the file has the table of its profiles.
    """
    said = ARS_TABLES if PROFILE in device.tables.data else ()
    names = tuple(name for name in device.conformity.unknown_tables if name not in said)
    if not names:
        return
    plural = "s" if len(names) > 1 else ""
    yield Violation(
        origin=Origin(device.tables.file, (names[0],), "key"),
        message=f"no model of SONiC is known for the table{plural} {', '.join(names)}",
        note="config reload FILE aborts at a table without a model; a boot takes it as it is",
        help=_help(names),
        elements=names,
        data={"tables": list(names)},
    )


def _help(names: tuple[str, ...]) -> str:
    from lossless.formats.sonic.validate.schema import nearest_name, schema

    table_names = {*schema().tables, *schema().others}
    near = {name: nearest for name in names if (nearest := nearest_name(name, table_names))}
    return "; ".join(f"{name}: did you mean {nearest}?" for name, nearest in near.items())
