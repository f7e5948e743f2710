"""A NIC must know the length of its cable, to keep headroom for what is on it.

## What it does
Looks for host cables of 1,000 m or more with a NIC of the driver mlx5, which takes no such length. Shorter ones
are rendered as declared.

## Why it breaks a lossless fabric
The NIC sizes the headroom of its own receive buffer by the cable. What it does not take it ignores, and keeps the
7 m it started with: at 100G, 1 km of cable holds 124 kB both ways, which arrive behind a pause and are dropped.

## Bad
```yaml intent base=leaf-spine
hardware:
  leaf: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
  spine: {profile: nvidia-sn4700, hwsku: Mellanox-SN4700-O32}
topology:
  leaf_spine:
    hosts_per_leaf: 1
    host_links: 1 x 100G
    uplinks: 1 x 100G
    cables:
      host: 1000m   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    cables: {host: 5m}
```

## Fix
Put a switch near the hosts.

## Sources
- Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c (MLX5E_MAX_CABLE_LENGTH, 7 m by default)
- arithmetic: 4.95 ns a metre each way, as light is in fibre
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.hosts.nvidia import CABLE_LIMIT_M
from lossless.rules.base import Gap, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import HostQos
    from lossless.fabric.view import View
    from lossless.findings import Origin

RULE = Rule(
    code="NIC014",
    name="cable-too-long-for-nic",
    severity="error",
    summary="A NIC must know the length of its cable, to keep headroom for what is on it",
    sources=("Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c",),
    subject="intent",
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per kind of host whose cable its NIC cannot be told."""
    for host, names in view.host_kinds:
        if host.nic is not None and host.nic.driver == "mlx5" and host.cable_m >= CABLE_LIMIT_M:
            yield Hit(
                origin=_origin(view, host, names[0]),
                message=f"{host.nic_name} takes cables of up to {CABLE_LIMIT_M - 1} m, this one has {host.cable_m:,} m",
                note="it ignores a longer one and keeps the headroom of 7 m",
                help="put a switch near the hosts",
                elements=names,
                places=len(names),
                data={"cable_m": host.cable_m, "limit_m": CABLE_LIMIT_M - 1},
            )


def _origin(view: View, host: HostQos, name: str) -> Origin:
    ports = (view.port(link.a, link.a_port) for link in view.links_of.get(name, ()))
    return next((p.cable.origin for p in ports if p and p.cable.real_m == host.cable_m), host.origin)
