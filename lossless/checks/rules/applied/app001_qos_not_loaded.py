"""The QoS of an intent must be in the running configuration.

Severity: error
Subject: running device

## What it does
Where an intent has lossless classes on a switch, checks that its running CONFIG_DB has `PORT_QOS_MAP`, `BUFFER_PG` or
`PFC_WD` rows. A CONFIG_DB without `PORT` rows is not checked, and neither is a switch without an intent: it may carry
no lossless class by design.

## Why it breaks a lossless fabric
Such a switch forwards everything in one lossy queue, and its PFC counters are all 0: it looks healthy until it drops
RDMA traffic. It also ignores the pauses of its neighbors.

## Bad
```json capture beside=leaf-spine.yaml
{
  "DEVICE_METADATA|localhost": {
    "hostname": "leaf1"   // <- here
  },
  "PORT|Ethernet0": {"admin_status": "up", "lanes": "1,2,3,4", "mtu": "9100", "speed": "100000"},
  "FLEX_COUNTER_TABLE|PFCWD": {"FLEX_COUNTER_STATUS": "enable"}
}
```

## Good
```json capture beside=leaf-spine.yaml
{
  "DEVICE_METADATA|localhost": {"hostname": "leaf1"},
  "PORT|Ethernet0": {"admin_status": "up", "lanes": "1,2,3,4", "mtu": "9100", "speed": "100000"},
  "PORT_QOS_MAP|Ethernet0": {"pfc_enable": "3"},
  "BUFFER_PG|Ethernet0|3": {"profile": "pg_lossless_100000_5m_profile"}
}
```

## Fix
Load the QoS configuration: `config qos reload`, or the file that `lossless render` writes, then `config save`.

## Sources
- sonic-net/sonic-utilities tests/mock_tables/t1/config_db.json @691b1bbc4fd2: a 7050CX3 with 32 ports in use, and no
  row of QoS or buffers
- sonic-net/SONiC#195: a switch without cable lengths has no lossless buffers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice

_TABLES = ("PORT_QOS_MAP", "BUFFER_PG", "PFC_WD")


def check(device: RunningDevice) -> Results:
    """Yield a violation where a switch with lossless classes by intent has ports, and no row in the tables of QoS."""
    tables = device.configured.tables if device.configured is not None else None
    name = device.state.of("hostname", table="DEVICE_METADATA", key="localhost")
    if tables is None or name is None or device.intended is None:
        return
    wanted = [port.name for port in device.intended.ports if port.qos is not None and port.qos.pfc.priorities]
    if wanted and tables.table("PORT") and not any(map(tables.table, _TABLES)):
        yield Violation(
            origin=name.origin,
            message=f"{device.name} runs without QoS: it has no row of {', '.join(_TABLES)}",
            note=f"its intent wants lossless classes on {len(wanted)} ports",
            help="load the QoS configuration, and save it",
            elements=(device.name,),
        )
