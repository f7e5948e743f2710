"""Objects that adaptive routing refers to must exist.

Severity: warning
Confidence: medium
Subject: device
Needs: ARS_PROFILE

## What it does
Follows the names in the tables of adaptive routing on a deployed device: `default_ars_object` and `ars_obj_name` must
be rows of `ARS_OBJECT`, ports of `ARS_INTERFACE` must be in `PORT`, and a profile that works for all next-hop groups
(`ars_nhg_path_selector_mode` global) needs a `default_ars_object`. Tables are read in singular and plural. The code
that reads them is proposed and not released (SWS016).

## Why it breaks a lossless fabric
A next-hop group chooses its paths by load only where all its members lead to one object. One name without a row leaves
the group with static ECMP: large flows stay on the link they were hashed to, which marks and pauses, while the others
idle.

## Bad
```json config_db base=leaf
{
  "VERSIONS": null,
  "ARS_PROFILE": {"default": {"algorithm": "ewma"}},
  "ARS_OBJECT": {"flowlets": {"assign_mode": "per_flowlet_quality"}},
  "ARS_INTERFACE": {
    "Ethernet0": {"ars_obj_name": "flowlets"},
    "Ethernet4": {
      "ars_obj_name": "flowlet"   // <- here
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "VERSIONS": null,
  "ARS_PROFILE": {"default": {"algorithm": "ewma"}},
  "ARS_OBJECT": {"flowlets": {"assign_mode": "per_flowlet_quality"}},
  "ARS_INTERFACES": {
    "Ethernet0": {"ars_obj_name": "flowlets"},
    "Ethernet4": {"ars_obj_name": "flowlets"}
  }
}
```

## Fix
Correct the name, or add the row.

## Sources
- sonic-net/SONiC doc/ARS/Local_ARS_HLD.md @98de38f (which groups are adaptive)
- sonic-buildimage pull request 22264 @316ed5a, sonic-ars.yang (references to ARS_OBJECT and PORT)
- sonic-swss pull request 3597 @38dc140, orchagent/arsorch.cpp (global mode without an object, a next hop that names a
  missing object)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.sonic.ars_tables import (
    DEFAULT_OBJECT,
    INTERFACES,
    NEXT_HOPS,
    OBJECT,
    OBJECT_NAME,
    PROFILE,
    SELECTOR,
    ars_rows,
    is_global,
)
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.sonic.ars_tables import ArsRow
    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation per name of adaptive routing without a row, and per global profile without a default object.

    An interface that is no port of the switch is such a name too.
    """
    yield from merged(_objects(device))
    for row in ars_rows(device, PROFILE):
        if is_global(row) and not row.fields.get(DEFAULT_OBJECT):
            yield _adaptive_object_missing(
                device, row, SELECTOR, f"{row.key} is for all next-hop groups and has no {DEFAULT_OBJECT}"
            )
    ports = device.tables.table("PORT")
    for row in ars_rows(device, *INTERFACES) if ports else ():
        if row.key not in ports:
            yield _adaptive_object_missing(
                device, row, "", f"{row.table} names {row.key}, and PORT has no such port"
            )


def _objects(device: Device) -> Iterator[Violation]:
    objects = {row.key for row in ars_rows(device, OBJECT)}
    for row in ars_rows(device, PROFILE, *INTERFACES, *NEXT_HOPS):
        field = DEFAULT_OBJECT if row.table == PROFILE else OBJECT_NAME
        name = row.fields.get(field)
        if isinstance(name, str) and name and name not in objects:
            yield _adaptive_object_missing(
                device, row, field, f"{field} names {name!r}, and {OBJECT} has no such row"
            )


def _adaptive_object_missing(device: Device, row: ArsRow, field: str, message: str) -> Violation:
    path = (row.table, row.key, field) if field else (row.table, row.key)
    return Violation(
        origin=Origin(device.tables.file, path),
        message=message,
        note="next-hop groups that need it stay static ECMP",
        help="correct the name, or add the row",
        elements=(f"{row.table}|{row.key}",),
        data={"table": row.table, "value": str(row.fields.get(field, row.key))},
    )
