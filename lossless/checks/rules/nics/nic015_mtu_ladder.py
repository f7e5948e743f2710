"""Hosts must not send larger packets than the switches take, and RDMA needs room for its headers.

Severity: error
Subject: intent, hosts, attached hosts

## What it does
Compares `hosts.mtu`, or the MTU of a host that was read, with that of the switch ports, both without the Ethernet
header; 9000 under 9100 or 9216 is as usual. Where `exceptions` state less for the port of a host, that host sends no
more, and ports between switches count for all hosts. Then it works out the RDMA MTU that is left, the largest of 256
to 4096 that fits with 96 bytes of headers, and warns where these headers alone cost half of it, as with an MTU of
4096. An RDMA MTU below 4096 is reported as well. A host MTU in which no RDMA MTU fits is an error: there is no RDMA at
all.

## Why it breaks a lossless fabric
A packet that is too large is dropped by the first switch, whichever its class; RDMA, which stays at 4096, goes on
working, and other traffic of the same port fails. Half the RDMA MTU needs twice the packets for the same bytes.

## Bad
```yaml intent base=leaf-spine
hosts:
  mtu: 9216   # <- here
```

```yaml intent base=leaf-spine
hosts:
  mtu: 4096   # <- here
```

## Good
```yaml intent base=leaf-spine
mtu: 9216
hosts: {mtu: 9216}
```

```yaml intent base=leaf-spine
hosts: {mtu: 4200}
```

## Fix
Give the hosts at most the MTU of the switches and at least 4192.

## Sources
- Linux include/rdma/ib_addr.h, iboe_get_mtu (the RDMA MTU of a network interface; headers of 96 bytes)
- RFC 791, section 3.1 (total length: an MTU counts the IP packet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.ground.basics.findings import Origin, RelatedPlace, grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.deployed_devices import attached_hosts
from lossless.model.fabric.hosts import RDMA_MTUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import PortSet, View

RDMA_HEADERS = 40 + 8 + 12 + 4 + 28 + 4
"""GRH, UDP, BTH, XRC, atomic and ICRC bytes that the kernel takes off an interface's MTU."""


def rdma_mtu(mtu_bytes: int) -> int:
    """Return the largest RDMA MTU in bytes that fits packets of a size in bytes; 0 where none fits."""
    return next((size for size in RDMA_MTUS if size <= mtu_bytes), 0)


def check(view: View) -> Results:
    """Yield a violation per kind of host whose MTU is above a switch's, or leaves RDMA less than its largest MTU."""
    mtus = [(mtu, ports) for ports in view.port_sets if isinstance(mtu := ports.ports[0].mtu_bytes, int)]
    least, most = (pick((mtu for mtu, _ in mtus), default=None) for pick in (min, max))
    limit_of = _limits(view, mtus)
    for host, names in view.host_kinds:
        if host.mtu_bytes is UNKNOWN:
            yield unread("the MTU of its interfaces", names)
            continue
        limited = grouped((limit_of.get(name, least), name) for name in names)
        dropped = [mtu for mtu in limited if mtu is not None and mtu < host.mtu_bytes]
        for mtu in dropped:
            violation = _too_large(host, host.mtu_bytes, mtu, tuple(limited[mtu]))
            if mtu != most and host.provenance == "intent":
                # The key mtu does not reach ports that an exception gives an MTU of their own.
                violation = violation._replace(
                    origin=Origin(host.origin.file, ("exceptions",), "key"),
                    help=f"raise mtu in exceptions to {host.mtu_bytes} or more, or make {_key(host)} at most {mtu}",
                )
            yield violation
        if not dropped:
            yield from _rdma(host, host.mtu_bytes, names)


def _limits(view: View, mtus: Sequence[tuple[int, PortSet]]) -> dict[str, int]:
    """Return the least MTU on the paths of each host, where the ports that lead to hosts differ; else no MTUs.

    Ports between switches are on the paths of all hosts.
    """
    if len({mtu for mtu, ports in mtus if ports.ports[0].leads_to == "host"}) < 2:
        return {}
    between = [mtu for mtu, ports in mtus if ports.ports[0].leads_to != "host"]
    of_port = {(name, port.name): mtu for mtu, s in mtus for name in s.switches for port in s.ports}
    limits: dict[str, int] = {}
    for link in view.fabric.links:
        mtu = of_port.get((link.a, link.a_port)) if link.to_host else None
        if mtu is not None:
            limits[link.b] = min([mtu, *between, limits.get(link.b, mtu)])
    return limits


def attached(devices: DeployedDevices) -> Results:
    """Yield a violation per host whose MTU is above that of the switch port it is attached to."""
    for link in attached_hosts(devices):
        host_mtu, switch_mtu = link.host.mtu_bytes, link.switch.mtu_bytes
        if isinstance(host_mtu, int) and isinstance(switch_mtu, int) and host_mtu > switch_mtu:
            violation = _too_large(link.host, host_mtu, switch_mtu, (link.name,))
            yield violation._replace(
                related=(RelatedPlace(link.switch.mtu_origin, f"{link.switch.name} takes {switch_mtu:,} B"),)
            )


def _key(host: HostQos) -> str:
    return "hosts.mtu" if host.provenance == "intent" else "the MTU of its interfaces"


def _too_large(host: HostQos, host_mtu: int, switch_mtu: int, names: tuple[str, ...]) -> Violation:
    stated = host.provenance == "deployed" or host.mtu_origin.path == ("hosts", "mtu")
    return Violation(
        origin=host.mtu_origin if stated else Origin(host.origin.file, ("mtu",)),
        message=f"hosts send packets of up to {host_mtu:,} B, the switches take {switch_mtu:,} B",
        note=f"packets above {switch_mtu:,} B are dropped by the first switch",
        help=f"make {_key(host)} at most {switch_mtu}, or mtu at least {host_mtu}",
        elements=names,
        data={"host_mtu": host_mtu, "switch_mtu": switch_mtu},
    )


def _rdma(host: HostQos, host_mtu: int, names: tuple[str, ...]) -> Iterator[Violation]:
    mtu, bare_mtu = rdma_mtu(host_mtu - RDMA_HEADERS), rdma_mtu(host_mtu)
    if mtu == RDMA_MTUS[0]:
        return
    left = f"leave RDMA an MTU of {mtu:,} B" if mtu else "leave no RDMA MTU at all"
    yield Violation(
        origin=host.mtu_origin,
        message=f"{host_mtu:,} B with {RDMA_HEADERS} B of headers {left}; the largest is {RDMA_MTUS[0]:,} B",
        help=f"make {_key(host)} at least {RDMA_MTUS[0] + RDMA_HEADERS}; 9000 is usual",
        elements=names,
        data={"host_mtu": host_mtu, "rdma_mtu": mtu},
        severity=None if not mtu else "warning" if mtu < bare_mtu else "info",
    )
