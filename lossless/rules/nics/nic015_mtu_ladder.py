"""Hosts must not send larger packets than the switches take, and RDMA needs room for its headers.

## What it does
Compares `hosts.mtu` with the MTU of the switch ports, both without the Ethernet header; 9000 under 9100 or 9216
is as usual. Then it works out the RDMA MTU that is left, the largest of 256 to 4096 that fits with 96 bytes of
headers, and warns where these headers alone cost half of it, as with an MTU of 4096. Where it ends below 4096, it
says so. A host MTU in which no RDMA MTU fits is an error: there is no RDMA at all.

## Why it breaks a lossless fabric
A packet that is too large is dropped by the first switch, whatever its class; RDMA, which stays at 4096, goes on
working, and whatever shares the port does not. Half the RDMA MTU is twice the packets for the same bytes.

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

from lossless.findings import Origin
from lossless.rules.base import Gap, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import HostQos
    from lossless.fabric.view import View

RULE = Rule(
    code="NIC015",
    name="mtu-ladder",
    severity="error",
    summary="Hosts must not send larger packets than the switches take, and RDMA needs room for its headers",
    sources=("Linux include/rdma/ib_addr.h, iboe_get_mtu", "RFC 791, section 3.1"),
    subject="intent",
)
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
RDMA_HEADERS = 40 + 8 + 12 + 4 + 28 + 4
"""GRH, UDP, BTH, XRC, atomic and ICRC bytes that the kernel takes off an interface's MTU."""


def rdma_mtu(mtu_bytes: int) -> int:
    """Return the largest RDMA MTU for packets of a size, 0 where none fits."""
    return next((size for size in RDMA_MTUS if size <= mtu_bytes), 0)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per kind of host whose MTU is above that of the switches, or costs RDMA its own."""
    switch_mtu = min(
        (m for ports in view.port_sets if isinstance(m := ports.ports[0].mtu_bytes, int)), default=None
    )
    for host, names in view.host_kinds:
        if switch_mtu is not None and host.mtu_bytes > switch_mtu:
            yield _too_large(host, switch_mtu, names)
        else:
            yield from _rdma(host, names)


def _too_large(host: HostQos, switch_mtu: int, names: tuple[str, ...]) -> Hit:
    stated = host.mtu_origin.path == ("hosts", "mtu")
    return Hit(
        origin=host.mtu_origin if stated else Origin(host.origin.file, ("mtu",)),
        message=f"hosts send packets of up to {host.mtu_bytes:,} B, the switches take {switch_mtu:,} B",
        note=f"packets above {switch_mtu:,} B are dropped by the first switch",
        help=f"make hosts.mtu at most {switch_mtu}, or mtu at least {host.mtu_bytes}",
        elements=names,
        places=len(names),
        data={"host_mtu": host.mtu_bytes, "switch_mtu": switch_mtu},
    )


def _rdma(host: HostQos, names: tuple[str, ...]) -> Iterator[Hit]:
    found, bare = rdma_mtu(host.mtu_bytes - RDMA_HEADERS), rdma_mtu(host.mtu_bytes)
    if found == RDMA_MTUS[0]:
        return
    left = f"leave RDMA an MTU of {found:,} B" if found else "leave no RDMA MTU at all"
    yield Hit(
        origin=host.mtu_origin,
        message=f"{host.mtu_bytes:,} B with {RDMA_HEADERS} B of headers {left}; the largest is {RDMA_MTUS[0]:,} B",
        help=f"make hosts.mtu at least {RDMA_MTUS[0] + RDMA_HEADERS}; 9000 is usual",
        elements=names,
        places=len(names),
        data={"host_mtu": host.mtu_bytes, "rdma_mtu": found},
        severity=None if not found else "warning" if found < bare else "info",
    )
