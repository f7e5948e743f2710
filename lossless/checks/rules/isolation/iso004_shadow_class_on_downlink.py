"""Classes for bounced packets must be closed to hosts.

Severity: warning
Fix: unsafe
Subject: device

## What it does
Where tunnel remapping makes priorities 2 and 6 lossless on some ports of a deployed device, checks its other ports with
PFC: no DSCP may map there to a class that is lossless on the remapped ports alone. A port towards a server must not
have PFC for these priorities either, as remapping adds it (in `pfc_enable`, and not in the mask of the watchdog that it
has); the device at the other end is known from an intent or `DEVICE_NEIGHBOR_METADATA`. Ports that have lossless
buffers for the class and no PFC are PFC001's.

## Why it breaks a lossless fabric
The two classes exist so that packets which bounce back up never wait for packets that go down. A host that marks its
own traffic for them takes that buffer, and the cyclic buffer dependency that they break can close again. A packet that
enters this port in such a class also has no headroom here: it is dropped at ingress, and pauses other ports at egress.

## Bad
```json config_db base=azure-remapped
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {
      "2": "2"   // <- here
    }
  }
}
```

## Good
```json config_db base=azure-remapped
{
  "DSCP_TO_TC_MAP": {
    "AZURE_UPLINK": {"2": "2", "6": "6"}
  }
}
```

## Fix
Bind a DSCP map of its own to the ports towards hosts, one that sends these DSCPs to a lossy class.

## Sources
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (the purpose of the two classes)
- sonic-net/sonic-buildimage pull request 11299 (maps of their own for the other ports, so that 2 and 6 stay closed)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.fixes import port_rows
from lossless.checks.rules.interface_tables import facing, neighbor_types
from lossless.checks.rules.pfc.priorities import in_service, pausing, remapped, uncovered
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.units import number_ranges, spell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation where hosts can use a class of bounced packets: by a DSCP map, or by PFC of a server port."""
    shadow = frozenset[int]().union(*(remapped(ports.qos) for ports in device.view.lossless_sets))
    if shadow:
        yield from merged(_violations(device, shadow))


def _violations(device: Device, shadow: frozenset[int]) -> Iterator[Violation]:
    kinds, elsewhere = neighbor_types(device), pausing(device.view.port_sets)
    for ports in device.view.lossless_sets:
        if remapped(ports.qos):
            hosts = tuple(port for port in ports.ports if facing(device, port, kinds) == "host")
            if hosts:
                yield _paused_by_hosts(ports._replace(ports=hosts))
        elif not ports.qos.trust_dot1p and in_service(ports) is not None:
            yield from _open(ports, shadow, elsewhere)


def _open(ports: PortSet, shadow: frozenset[int], elsewhere: Iterable[int]) -> Iterator[Violation]:
    closed = {*ports.qos.pfc.priorities, *uncovered(elsewhere, ports)}
    dscp_map, wanted = ports.qos.dscp_to_tc, shadow - closed
    dscps = [dscp for tc in sorted(wanted) for dscp in dscp_map.sources(tc)] if dscp_map else []
    if dscp_map is None or not dscps:
        return
    tcs = sorted({ports.qos.traffic_class(dscp) for dscp in dscps})
    yield Violation(
        origin=dscp_map.entry_origin(dscps[0]),
        message=f"DSCP {number_ranges(dscps)} leads to TC {number_ranges(tcs)} here, "
        "which is lossless for bounced packets on other ports",
        note="whoever marks so on this port fills the class that keeps bounced packets apart",
        help=f"bind a map to these ports that sends {'it' if len(dscps) == 1 else 'them'} to a lossy class",
        data={"dscps": list(dscps), "traffic_classes": list(tcs)},
    ).on_ports(ports)


def _paused_by_hosts(ports: PortSet) -> Violation:
    shadow = remapped(ports.qos)
    kept = priority_list([p for p in ports.qos.pfc.priorities if p not in shadow])
    return Violation(
        origin=ports.qos.pfc.origin,
        message=f"a server can pause {spell(shadow)}, which tunnel remapping keeps for bounced packets",
        note="no packet bounces back to a server",
        help=f'"pfc_enable": "{kept}"',
        fix=port_rows([ports], ports.qos.pfc.origin, "pfc_enable", kept),
        data={"priorities": [*sorted(shadow)]},
    ).on_ports(ports)
