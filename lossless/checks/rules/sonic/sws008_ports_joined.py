"""A row must be for one port.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Reports rows of `PORT_QOS_MAP`, `QUEUE`, `BUFFER_PG`, `BUFFER_QUEUE` and the profile lists on a deployed device whose
key names several ports, joined by commas. Joined `PORT_QOS_MAP` rows with `pfc_enable` are an error in the
traditional buffer model where the ports have no lossless groups of their own.

## Why it breaks a lossless fabric
orchagent splits such keys, so PFC is switched on. buffermgrd, which makes the lossless groups, does not: it looks
for a port named `Ethernet0,Ethernet4`, and none of the ports gets headroom. The schema refuses joined keys,
so the config updater refuses every patch while one stands in the file.

## Bad
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0,Ethernet4|7": {"scheduler": "scheduler.0"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|7": {"scheduler": "scheduler.0"},
    "Ethernet4|7": {"scheduler": "scheduler.0"}
  }
}
```

## Fix
Write one row for each port.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (splits the key), cfgmgr/buffermgr.cpp @029506c (does not)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-port-qos-map.yang @086b03b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import element
from lossless.checks.rules.sonic.sws007_rows_overlap import own_rows
from lossless.formats.sonic.read.tables import single_keys
from lossless.ground.basics.findings import Edit, Origin, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow


def check(device: Device) -> Results:
    """Yield a violation per table with keys that join several ports, none of which has a row of its own."""
    # Where a port has a row of its own as well, SWS007 reports it.
    joined = ((table, row) for table, row in device.tables.joined if not own_rows(device, table, row))
    for table, rows in grouped(joined).items():
        yield _ports_joined(device, table, rows)


def _ports_joined(device: Device, table: str, rows: list[ConfigRow]) -> Violation:
    ports = tuple(dict.fromkeys(port for row in rows for port in row.key.partition("|")[0].split(",")))
    bare = [port for port in ports if table == "PORT_QOS_MAP" and _without_groups(device, port)]
    outcome = (
        f"buffermgrd does not split it and makes no lossless groups for {', '.join(bare)}"
        if bare
        else "the schema refuses it, and with it every patch by the config updater"
    )
    return Violation(
        origin=device.tables.origin(table, rows[0]),
        message=f"{table} names several ports in one key, {rows[0].key!r}: {outcome}",
        help="write one row for each port",
        elements=tuple(element(device, port) for port in ports),
        data={"rows": len(rows)},
        severity="error" if bare else None,
        fix=tuple(edit for row in rows for edit in _apart(device, table, row)),
    )


def _apart(device: Device, table: str, row: ConfigRow) -> Iterator[Edit]:
    """Yield edits that replace a joined row by one row for each of its ports."""
    origin = device.tables.origin(table, row)
    for key in single_keys(row.key):
        for field, value in row.fields.items():
            yield Edit(Origin(origin.file, (*origin.path[:-1], key, field)), "add", value)
    yield Edit(origin, "remove")


def _without_groups(device: Device, name: str) -> bool:
    """Return whether a port that is up has PFC by a joined row, and a priority without a BUFFER_PG row.

    The switch does not generate that group either.
    """
    port = device.view.port(device.switch.name, name)
    if port is None or port.qos is None or port.admin_up is not True:
        return False
    row = device.tables.row("PORT_QOS_MAP", name)
    if row is None or "," not in row.key or device.switch.qos.buffer_model == "dynamic":
        return False
    groups = [port.qos.groups[priority] for priority in port.qos.pfc.priorities]
    return any(group is None or group.generated for group in groups)
