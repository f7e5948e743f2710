"""The variables of jobs must fit the subnet that jobs run on.

Severity: error
Subject: subnet

## What it does
Looks at the environment of jobs: variables that take NCCL off InfiniBand (NCCL_IB_DISABLE, NCCL_NET=Socket), libfabric
(FI_PROVIDER=tcp; FI_PROVIDER=efa, which InfiniBand does not have) or UCX (UCX_TLS=tcp, information: jobs of NCCL that
MPI starts need no more of it), values that a queue pair cannot have (NCCL_IB_TIMEOUT 0 to 31, NCCL_IB_RETRY_CNT 0
to 7, NCCL_IB_SL 0 to 15), devices that no compute host has or a list that leaves all of them out
(NCCL_IB_HCA, UCX_NET_DEVICES), and SHARP: jobs that request it where it is off or no aggregation manager is declared,
and jobs that switch it off where it is declared. NCCL reaches SHARP by a plugin and its CollNet algorithms or NVLS:
NCCL_ALGO that leaves all of them out for an all-reduce, NCCL_NET_PLUGIN=none, NCCL_SHARP_DISABLE=1,
NCCL_IBEXT_DISABLE=1, and a NCCL_COLLNET_NODE_THRESHOLD above the number of compute hosts switch it off; NCCL_ALGO with
CollNet algorithms alone requests it, and needs NCCL_COLLNET_ENABLE=1. HCOLL_ENABLE_SHARP requests it from 2 on, and
switches it off by 0.

## Why it breaks a lossless fabric
NCCL falls back without an error: over sockets at a fraction of the bandwidth, over fewer adapters than hosts have, or
to rings where reductions in the switches were counted on. Of a number that is too large the field keeps the low bits.

## Bad
```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_DISABLE: 1   # <- here
```

```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_RETRY_CNT: 9   # <- here
```

```yaml intent base=infiniband
jobs:
  environment:
    NCCL_IB_HCA: "=mlx5_7:1"   # <- here
```

```yaml intent base=infiniband
jobs:
  environment:
    NCCL_COLLNET_ENABLE: 1   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1}
jobs:
  environment:
    NCCL_ALGO: Ring   # <- here
```

## Good
```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1}
jobs: {environment: {NCCL_IB_HCA: "=mlx5_0:1", NCCL_IB_TIMEOUT: 22, NCCL_IB_RETRY_CNT: 7, NCCL_COLLNET_ENABLE: 1}}
```

```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1}
jobs: {environment: {NCCL_COLLNET_ENABLE: 1, NCCL_ALGO: "Ring,CollnetDirect"}}
```

## Fix
Take the variable out, or state a value of its range and a device that hosts have.

## Sources
- NVIDIA/nccl docs, environment variables (NCCL_IB_DISABLE, NCCL_NET, NCCL_IB_HCA, NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT,
  NCCL_COLLNET_ENABLE, NCCL_ALGO, NCCL_NET_PLUGIN)
- NVIDIA/nccl src/init.cc @5067397 (CollNet is off by default; NCCL_COLLNET_NODE_THRESHOLD), src/enqueue.cc (No
  algorithm/protocol available), Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c @2f5ac02 (NCCL_SHARP_DISABLE)
- openucx/ucx src/ucp/core/ucp_context.c @9466d10 (UCX_TLS)
- libfabric fabric(7) (FI_PROVIDER)
- NVIDIA SHARP 3.10.2, Using NVIDIA SHARP with Open MPI (HCOLL_ENABLE_SHARP)
- NVIDIA HPC-X 2.26, NCCL-RDMA-SHARP plugins (CollNet; NCCL_IBEXT_DISABLE falls back to NCCL's own communication)
- InfiniBand specification 1.2.1, 9.7.5.1.3 (retry count, three bits), 9.7.6.1.3 (local ACK timeout, five bits)
- NVIDIA SHARP 3.10.2, NVIDIA SHARP Collective Library (SHARP_COLL_ENABLE_SAT)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import hcas, hosts
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.units import joined
from lossless.model.fabric.hosts import NO_ALGORITHM, VARIABLE_RANGES, departure, reduces_in_switches
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per variable of jobs that the subnet cannot serve."""
    for setting in subnet.job.environment if subnet.job else ():
        yield from _leaves_infiniband(setting)
        yield from _out_of_range(setting)
        yield from _devices(subnet, setting)
        yield from _sharp(subnet, setting)


def _leaves_infiniband(setting: ManagerSetting) -> Iterator[Violation]:
    left = departure(setting.key, setting.text)
    if left is not None:
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key}={setting.text} takes {left.library} off InfiniBand: it uses sockets",
            help="take it out",
            data={"variable": setting.key, "stated": setting.text},
            severity=left.severity,
        )
    elif setting.key == "FI_PROVIDER" and "efa" in setting.text.lower().split(","):
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key}={setting.text} names EFA, and the fabric is InfiniBand",
            help="take it out",
            data={"variable": setting.key, "stated": setting.text},
            severity="warning",
        )


def _out_of_range(setting: ManagerSetting) -> Iterator[Violation]:
    limits, number = VARIABLE_RANGES.get(setting.key), c_number(setting.text)
    if limits is not None and number is not None and not limits[0] <= number <= limits[1]:
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key} is {limits[0]} to {limits[1]}, not {number}",
            help=f"state {limits[0]} to {limits[1]}, or leave it out",
            data={"variable": setting.key, "stated": number, "range": [*limits]},
        )


def _devices(subnet: Subnet, setting: ManagerSetting) -> Iterator[Violation]:
    """Yield a violation where a list names devices that no compute host has, or leaves all of them out.

    NCCL compares beginnings, or whole names behind ``=``; UCX compares whole names. Lists of UCX that exclude devices,
    and its names that do not begin with ``mlx``, are left out.
    """
    ucx, excluding = setting.key == "UCX_NET_DEVICES", setting.text.startswith("^")
    if setting.key not in ("NCCL_IB_HCA", "UCX_NET_DEVICES") or (ucx and excluding):
        return
    computing = {host.name for host in hosts(subnet).values() if host.role == "compute"}
    devices = sorted({hca.device for hca in hcas(subnet).values() if hca.host in computing})
    text = setting.text.removeprefix("^")
    whole = ucx or text.startswith("=")
    names = [part.partition(":")[0].strip() for part in text.removeprefix("=").split(",")]
    # UCX takes interfaces of other kinds too, as eth0.
    names = [name for name in names if name.startswith("mlx" if ucx else "")]
    missing = [name for name in names if name and not _has(devices, name, whole=whole)]
    if (
        excluding
        and devices
        and all(any(_has([one], name, whole=whole) for name in names) for one in devices)
    ):
        yield _no_device(setting, f"leaves out {joined(devices, 4)}, all devices of compute hosts")
    elif missing and devices and not excluding:
        problem = f"names {joined(missing, 4)}, and compute hosts have {joined(devices, 4)}"
        yield _no_device(setting, problem, none_left=len(missing) == len(names))


def _no_device(setting: ManagerSetting, problem: str, *, none_left: bool = True) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {problem}",
        note="no adapter is left, and jobs use sockets or do not start" if none_left else "",
        help="name devices that the hosts have",
        data={"variable": setting.key, "stated": setting.text},
        severity=None if none_left else "warning",
    )


def _has(devices: Sequence[str], name: str, *, whole: bool) -> bool:
    return name in devices if whole else any(device.startswith(name) for device in devices)


def _sharp(subnet: Subnet, setting: ManagerSetting) -> Iterator[Violation]:
    on, place = _sharp_of(subnet)
    wanted = reduces_in_switches(setting.key, setting.text)
    if on and setting.key == "NCCL_COLLNET_NODE_THRESHOLD":
        needed, there = c_number(setting.text), _computing(subnet)
        wanted = False if needed is not None and there and needed > there else None
    if wanted is None:
        return
    if wanted == on:
        if setting.key == "NCCL_ALGO" and wanted and not _stated(subnet, "NCCL_COLLNET_ENABLE"):
            yield _contradicts(
                setting,
                place,
                "allows CollNet alone, which is off without NCCL_COLLNET_ENABLE=1",
                NO_ALGORITHM,
            )
        return
    if not wanted:
        problem, note = "keeps jobs from the reductions in switches that are declared", ""
    else:
        problem = f"requests reductions in switches, and {'SHARP is off' if subnet.sharp else _NO_MANAGER}"
        note = NO_ALGORITHM if setting.key == "NCCL_ALGO" else ""
    yield _contradicts(setting, place, problem, note)


_NO_MANAGER = "no aggregation manager is declared"


def _sharp_of(subnet: Subnet) -> tuple[bool, RelatedPlace]:
    """Return whether SHARP is declared to be on, and where: UFM starts an aggregation manager of its own."""
    if subnet.sharp is not None:
        return subnet.sharp.on, RelatedPlace(subnet.sharp.origin, "SHARP")
    for stated in subnet.gv:
        if subnet.manager == "ufm" and stated.key == "sharp_enabled" and stated.text.lower() == "true":
            return True, RelatedPlace(stated.origin, "SHARP of UFM")
    return False, RelatedPlace(subnet.origin, "the subnet manager")


def _computing(subnet: Subnet) -> int:
    return sum(host.role == "compute" for host in hosts(subnet).values())


def _stated(subnet: Subnet, key: str) -> bool:
    return subnet.job is not None and any(
        setting.key == key and c_number(setting.text) not in (0, None) for setting in subnet.job.environment
    )


def _contradicts(setting: ManagerSetting, place: RelatedPlace, problem: str, note: str) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key}={setting.text} {problem}",
        note=note,
        help="take it out, or change sharp",
        data={"variable": setting.key, "stated": setting.text},
        related=(place,),
        severity="warning",
    )
