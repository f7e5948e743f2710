"""RDMA must use RoCE v2: version 1 has no DSCP, and no router forwards it.

Severity: error
Subject: hosts

## What it does
Checks two values that were read on a host: the mode that RDMA-CM makes connections by (`default_roce_mode`), and the
type of the GID that NCCL_IB_GID_INDEX names in the GID table. Version 1 is an error, an index without a GID a warning.
Without an index NCCL finds a GID of version 2 by itself. An index whose type is in no file is not checked.

## Why it breaks a lossless fabric
RoCE v1 is a frame without IP header. Its only priority is that of a VLAN tag, so a switch that sorts by DSCP serves it
best effort, and a router drops it: within a rack RDMA works, lossy, and beyond it connections time out.

## Bad
```text facts file=sysfs.txt beside=leaf-spine.yaml
/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode = IB/RoCE v1   # <- here
```

## Good
```text facts file=sysfs.txt beside=leaf-spine.yaml
/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode = RoCE v2
```

## Fix
`cma_roce_mode -d DEV -p 1 -m 2`; leave NCCL_IB_GID_INDEX out, or give it the index of a GID of type `RoCE v2`.

## Sources
- Linux Documentation/ABI/testing/configfs-rdma_cm (default_roce_mode) and sysfs-class-infiniband (gid_attrs/types)
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (NCCL_IB_ROCE_VERSION_NUM is 2)
- InfiniBand Architecture Specification, annex A17 (RoCEv2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.ground.basics.records import Unknown

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

_VERSION = 2
_TYPE = "RoCE v2"


def check(view: View) -> Results:
    """Yield a violation per kind of host whose RDMA-CM or NCCL does not use RoCE v2."""
    for host, names in view.host_kinds:
        if isinstance(host.roce_version, int) and host.roce_version != _VERSION:
            yield _connecting(host, host.roce_version, names)
        index = host.jobs.gid_index
        if isinstance(index, int) and host.provenance == "deployed":
            yield from _by_index(host, index, names)


def _connecting(host: HostQos, version: int, names: tuple[str, ...]) -> Violation:
    return Violation(
        origin=host.at("roce_version"),
        message=f"RDMA-CM makes connections by RoCE v{version}, which has no DSCP and is not routed",
        help="cma_roce_mode -d DEV -p 1 -m 2",
        elements=names,
        data={"roce_version": version},
    )


def _by_index(host: HostQos, index: int, names: tuple[str, ...]) -> Results:
    types = host.gid_types
    if types is None or isinstance(types, Unknown):
        yield unread(f"of which type the GID {index} is", names)
        return
    gid_type = dict(types).get(index)
    if gid_type == _TYPE:
        return
    fitting = [str(number) for number, kind in types if kind == _TYPE]
    yield Violation(
        origin=host.at("nccl", "ib_gid_index"),
        message=f"NCCL_IB_GID_INDEX {index} is a GID of {gid_type}, which has no DSCP and is not routed"
        if gid_type
        else f"NCCL_IB_GID_INDEX {index} names no GID that is in use",
        help="leave NCCL_IB_GID_INDEX out: NCCL then finds a GID of RoCE v2"
        + (f"; here that is {' or '.join(fitting)}" if fitting else ""),
        elements=names,
        data={"index": index, "type": gid_type, "fitting": [int(number) for number in fitting]},
        severity=None if gid_type else "warning",
    )
