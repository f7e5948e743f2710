"""A NIC needs the length of its cable, to keep headroom for the data on it.

Severity: error
Subject: intent, hosts

## What it does
Looks for host cables of 1,000 m or more with a NIC of the driver mlx5, which takes no such length. Shorter ones are
rendered as declared. Of a host that was read beside its intent, it compares the length that the NIC is set to with that
of the cable; the lengths in switches' files are rows of a table, not lengths of cables.

## Why it breaks a lossless fabric
The NIC sizes the headroom of its own receive buffer by the cable. It ignores a length that it does not take,
and keeps the default of 7 m: at 100G, 1 km of cable holds 126 kB in both directions, which arrive after a pause and are
dropped.

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

```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
Cable len: 1   # <- here
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
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
- Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c (MLX5E_MAX_CABLE_LENGTH is 1000; 7 m by default)
- arithmetic: 2 x 1 km x 100G at 198,000 km/s (sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.locations import beside
from lossless.ground.basics.records import UNKNOWN
from lossless.model.hardware.devices import MLX5_CABLE_LIMIT_M

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Cable
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose cable is longer than its NIC can be set to, or is set to."""
    for host, names in view.host_kinds:
        if host.cable_m is UNKNOWN:
            yield unread("the cable its NIC keeps headroom for", names)
        elif host.provenance == "deployed":
            yield from _shorter_setting(view, host, host.cable_m, names)
        elif host.nic is not None and host.nic.driver == "mlx5" and host.cable_m >= MLX5_CABLE_LIMIT_M:
            yield Violation(
                origin=_origin(view, host, names[0]),
                message=f"{host.nic_name} takes cables of up to {MLX5_CABLE_LIMIT_M - 1} m, this one has "
                f"{host.cable_m:,} m",
                note="it ignores a longer one and keeps the headroom of 7 m",
                help="put a switch near the hosts",
                elements=names,
                data={"cable_m": host.cable_m, "limit_m": MLX5_CABLE_LIMIT_M - 1},
            )


def _shorter_setting(view: View, host: HostQos, told_m: int, names: tuple[str, ...]) -> Iterator[Violation]:
    """Yield a violation where a NIC is set to a shorter cable than its own, as far as that is known."""
    real = [(cable.real_m, cable) for cable in _cables(view, names) if isinstance(cable.real_m, int)]
    real_m, cable = max(real, key=lambda pair: pair[0], default=(0, None))
    if cable is not None and told_m < real_m:
        yield Violation(
            origin=host.at("cable_m"),
            message=f"the NIC keeps headroom for {told_m:,} m of cable, this one has {real_m:,} m",
            note="what is on the cable behind a pause of the NIC finds no room, and is dropped",
            help=f"mlnx_qos -i IF --cable_len {real_m}, together with the PFC mask",
            elements=names,
            data={"told_m": told_m, "cable_m": real_m},
            related=beside(host.at("cable_m"), (cable.origin, "the length of the cable")),
            severity="warning",
        )


def _cables(view: View, names: tuple[str, ...]) -> Iterator[Cable]:
    for name in names:
        for link in view.links_of.get(name, ()):
            port = view.port(link.a, link.a_port)
            if port is not None:
                yield port.cable


def _origin(view: View, host: HostQos, name: str) -> Origin:
    origins = (cable.origin for cable in _cables(view, (name,)) if cable.real_m == host.cable_m)
    return next(origins, host.origin)
