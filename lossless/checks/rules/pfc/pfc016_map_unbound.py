"""Ports with PFC must bind the maps that lossless traffic depends on.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Checks the maps that `PORT_QOS_MAP` binds on ports in service with PFC: TC to queue, TC to priority group, and PFC
priority to queue. A port that binds none where at least half of the ports do is a warning, and so is a port without a
map of TC to queue, even where the others have none; in a file without PORT rows that is *not checked*. Where most ports
bind none of the two other maps, the chip's default is *not checked*. A DSCP map that is missing is CLS004's, a map that
is named and does not exist CFG002's.

## Why it breaks a lossless fabric
Without a map the chip's own default holds, which differs from chip to chip: all traffic classes in one priority group,
or each in its own. RDMA then fills a group without headroom, or a pause stops another queue than the one that fills.
Without a map of TC to queue SAI requires queue 0 for all packets, which no pause of RDMA's priority stops.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {
    "Ethernet4": {
      "tc_to_pg_map": null,
      "pfc_enable": "3"   // <- here
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {
    "Ethernet4": {"tc_to_pg_map": "AZURE"}
  }
}
```

## Fix
Bind the map that the other ports bind.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (every port in use binds the same maps)
- opencomputeproject/SAI inc/saiport.h @6d8326b (maps of a port are none by default; without one of TC to queue all
  packets go to queue 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.fixes import port_rows
from lossless.checks.rules.locations import places
from lossless.checks.rules.pfc.priorities import in_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet

_TO_QUEUE = "tc_to_queue_map"
_FIELDS = (_TO_QUEUE, "tc_to_pg_map", "pfc_to_queue_map")


def check(device: Device) -> Results:
    """Yield a violation per kind of map that ports in service with PFC leave unbound, and at least half of them bind.

    A map from TC to queue is reported even if fewer ports bind one, unless the file is a fragment.
    """
    sets = device.view.lossless_sets
    for field in _FIELDS:
        bare = [ports for ports in sets if not _bound(ports.qos, field)]
        named = (in_service(ports) for ports in bare if not _named(device, ports, field))
        serving = [ports for ports in named if ports is not None]
        usual = 2 * places(bare) <= places(sets)
        if usual or (field == _TO_QUEUE and not device.switch.is_fragment):
            others = [ports for ports in sets if ports not in bare]
            name = _map_of(device, others, field)
            yield from merged(_map_unbound(ports, field, name, usual=usual) for ports in serving)
        elif serving:
            reason = f"no {field} is bound, and what the chip does without one is not known"
            yield MissingInput(reason, places(serving))


def _bound(qos: PortQos, field: str) -> bool:
    maps = {
        "tc_to_queue_map": qos.tc_to_queue,
        "tc_to_pg_map": qos.tc_to_pg,
        "pfc_to_queue_map": qos.pfc_to_queue,
    }
    return maps[field] is not None


def _named(device: Device, ports: PortSet, field: str) -> bool:
    """Return whether the PORT_QOS_MAP row of ports names a map in a field, even one that does not exist."""
    row = device.tables.row("PORT_QOS_MAP", ports.ports[0].name)
    return row is not None and bool(row.reference(field))


def _map_of(device: Device, sets: Sequence[PortSet], field: str) -> str:
    """Return the name of the map that ports bind; empty where they bind several or none."""
    rows = (device.tables.row("PORT_QOS_MAP", port.name) for ports in sets for port in ports.ports)
    names = {row.reference(field) for row in rows if row is not None}
    return min(names) if len(names) == 1 else ""


def _map_unbound(ports: PortSet, field: str, name: str, *, usual: bool) -> Violation:
    priorities = ", ".join(map(str, ports.qos.pfc.priorities))
    return Violation(
        origin=ports.qos.pfc.origin,
        message=f"PFC is on and no {field} is bound{', as other ports with PFC bind one' if usual else ''}",
        note=f"SAI then asks for queue 0 for all packets, where no pause of priority {priorities} stops them; "
        "some chips give each traffic class a queue of its own"
        if field == _TO_QUEUE
        else "the chip's own default holds, and that differs from chip to chip",
        help=f'bind the map of the other ports: "{field}": "{name}"'
        if name
        else f"bind {field}, with an entry for each traffic class",
        fix=port_rows([ports], ports.qos.pfc.origin, field, name) if name else (),
        data={"field": field},
    ).on_ports(ports)
