"""Where trimmed packets get their DSCP by a traffic class, each port that trims needs the map for it.

Severity: warning
Confidence: medium
Subject: device
Needs: SWITCH_TRIMMING

## What it does
With `dscp_value` from-tc, the DSCP of a trimmed packet is looked up in the `TC_TO_DSCP_MAP` of the port that it leaves
by. Ports of a deployed device with a queue that trims must bind one (`tc_to_dscp_map` of `PORT_QOS_MAP`), and it must
have an entry for `tc_value`. A name that no map has is CFG002's.

## Why it breaks a lossless fabric
The mode lets a receiver distinguish a loss on its own link from one inside the fabric. From a port without the map, no
source defines the DSCP of trimmed packets: it need not be the one that the receiver waits for.

## Bad
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"dscp_value": "from-tc", "tc_value": "5"}},
  "TC_TO_DSCP_MAP": {"host_trim_map": {"5": "49"}, "spine_trim_map": {"5": "48"}},
  "PORT_QOS_MAP": {
    "Ethernet0": {"tc_to_dscp_map": "host_trim_map"},
    "Ethernet4": {"pfc_enable": "3"},   // <- here
    "Ethernet8": {"tc_to_dscp_map": "spine_trim_map"}
  }
}
```

```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"dscp_value": "from-tc", "tc_value": "5"}},
  "TC_TO_DSCP_MAP": {
    "trim_map": {"6": "48"}   // <- here
  },
  "PORT_QOS_MAP": {
    "Ethernet0": {"tc_to_dscp_map": "trim_map"},
    "Ethernet4": {"tc_to_dscp_map": "trim_map"},
    "Ethernet8": {"tc_to_dscp_map": "trim_map"}
  }
}
```

## Good
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"dscp_value": "from-tc", "tc_value": "5"}},
  "TC_TO_DSCP_MAP": {"host_trim_map": {"5": "49"}, "spine_trim_map": {"5": "48"}},
  "PORT_QOS_MAP": {
    "Ethernet0": {"tc_to_dscp_map": "host_trim_map"},
    "Ethernet4": {"tc_to_dscp_map": "host_trim_map"},
    "Ethernet8": {"tc_to_dscp_map": "spine_trim_map"}
  }
}
```

## Fix
Bind a map with an entry for `tc_value` to every port that trims.

## Sources
- sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f (2.3, 2.6.1.1: `tc_value` and the map of the
  egress port)
- opencomputeproject/SAI doc/SAI-Proposal-Packet-Trimming.md @91e6b86 (from the trim TC by the map of the port)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.checks.rules.trimming.trimmed_packets import (
    TABLE,
    is_by_class,
    map_name,
    settings_row,
    trimming_queues,
)
from lossless.formats.sonic.read.tables import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device


def check(device: Device) -> Results:
    """Yield a violation for ports that trim without a TC-to-DSCP map, and per map without an entry for their class.

    Only where trimmed packets get their DSCP by their class; fragments are left out.
    """
    row = settings_row(device)
    traffic_class = whole_number(row.fields.get("tc_value", "")) if row and is_by_class(row) else None
    if traffic_class is None or device.switch.is_fragment:
        return
    trimming = {port.name for queue in trimming_queues(device) for port in queue.ports.ports}
    ports = [port.name for port in device.switch.ports if port.name in trimming]
    yield from merged(_unmapped(device, ports, traffic_class))


def _unmapped(device: Device, ports: list[str], traffic_class: int) -> Iterator[Violation]:
    for port in ports:
        name = map_name(device, port)
        if not name:
            yield _unbound(device, port, traffic_class)
        entries = device.tables.row("TC_TO_DSCP_MAP", name)
        if entries is not None and str(traffic_class) not in entries.fields:
            yield Violation(
                origin=device.tables.origin("TC_TO_DSCP_MAP", entries),
                message=f"{name} has no DSCP for TC {traffic_class}, by which {TABLE} marks trimmed packets",
                help=f'add "{traffic_class}" to {name}',
                elements=(element(device, port),),
                data={"map": name, "traffic_class": traffic_class},
            )


def _unbound(device: Device, port: str, traffic_class: int) -> Violation:
    row = device.tables.row("PORT_QOS_MAP", port)
    origin = device.tables.origin("PORT_QOS_MAP", row) if row else device.tables.origin("PORT_QOS_MAP")
    return Violation(
        origin=origin,
        message=f"ports that trim have no tc_to_dscp_map, and {TABLE} marks trimmed packets by the map and TC "
        f"{traffic_class}",
        help="bind a map to the port, or write a number into dscp_value",
        elements=(element(device, port),),
        data={"traffic_class": traffic_class},
    )
