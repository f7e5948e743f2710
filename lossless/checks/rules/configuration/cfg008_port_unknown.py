"""Rows of ports must be for ports that the device has.

Severity: warning
Subject: device

## What it does
Compares the ports that `PORT_QOS_MAP`, `QUEUE`, `BUFFER_PG`, `BUFFER_QUEUE`, `PFC_WD`, the profile lists and
`CABLE_LENGTH` of a deployed device name with its `PORT` rows. All unknown ports of the same tables are one finding.
Rows for ports of other cards of a chassis, for the CPU port, PortChannels, several ports in one key and the whole
switch are left alone; files without a `PORT` table are not checked.

## Why it breaks a lossless fabric
orchagent drops such rows with a line in its log. They remain after a breakout: the rows still name the old port, and
the new ports have no lossless group, no watchdog and no marking.

## Bad
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet12|3": {"scheduler": "scheduler.1"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet8|7": {"scheduler": "scheduler.0"}
  }
}
```

## Fix
Remove the rows, or write them for existing ports.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d, orchagent/bufferorch.cpp @51de623, orchagent/pfcwdorch.cpp @0408e94
- sonic-net/sonic-buildimage issue 23354 (ports after a breakout without their rows)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import element
from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Origin


_BY_PORT = ("PORT_QOS_MAP", "PFC_WD", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
_NO_PORTS = frozenset({"global", "GLOBAL", "Global", "CPU"})


def check(device: Device) -> Results:
    """Yield a violation per set of tables that name ports which the device does not have."""
    ports = device.tables.table("PORT")
    if not ports:
        return
    # PortChannels and joined keys are reported where the row is refused.
    tables_of = grouped(
        (port, table)
        for table, names in _named(device)
        for port in names - ports.keys() - _NO_PORTS
        if not port.startswith("PortChannel") and "," not in port
    )
    unknown = grouped((tuple(tables), port) for port, tables in tables_of.items())
    for tables, names in unknown.items():
        yield _port_unknown(device, tables, sorted(names, key=natural_key))


def _named(device: Device) -> Iterator[tuple[str, set[str]]]:
    for table, keys in device.tables.keys.items():
        yield table, set(keys.ports)
    for table in _BY_PORT:
        yield table, set(device.tables.table(table))
    yield (
        "CABLE_LENGTH",
        {port for row in device.tables.table("CABLE_LENGTH").values() for port in row.fields},
    )


def _port_unknown(device: Device, tables: tuple[str, ...], ports: list[str]) -> Violation:
    # A cable length has no effect without its port.
    harmless = tables == ("CABLE_LENGTH",)
    are, them = ("is no port", "it") if len(ports) == 1 else ("are no ports", "them")
    have = "has" if len(tables) == 1 else "have"
    return Violation(
        origin=_origin(device, tables[0], ports[0]),
        message=f"{listed(ports)} {are} of this device, and {listed(tables)} {have} rows for {them}",
        help="remove the rows, or write them for the ports that are there",
        elements=tuple(element(device, port) for port in ports),
        data={"ports": list(ports), "tables": list(tables)},
        severity="info" if harmless else None,
    )


def _origin(device: Device, table: str, port: str) -> Origin:
    for key, row in device.tables.table(table).items():
        if port in row.fields:
            return device.tables.origin(table, row, port)
        if key == port or key.startswith(f"{port}|") or f"|{port}|" in key:
            return device.tables.origin(table, row)
    return device.tables.origin(table)
