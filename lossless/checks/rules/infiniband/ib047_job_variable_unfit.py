"""The variables of jobs must fit the subnet that jobs run on.

Severity: error
Subject: subnet

## What it does
Looks at the environment of jobs: variables that take NCCL off InfiniBand (NCCL_IB_DISABLE, NCCL_NET=Socket), values
that a queue pair cannot have (NCCL_IB_TIMEOUT 0 to 31, NCCL_IB_RETRY_CNT 0 to 7, NCCL_IB_SL 0 to 15), devices that no
compute host has (NCCL_IB_HCA, UCX_NET_DEVICES), and SHARP: jobs that request it where it is off or no aggregation
manager is declared, and jobs that switch it off where it is declared. NCCL reaches SHARP by a plugin and its CollNet
algorithms or NVLS: NCCL_ALGO that leaves all of them out for an all-reduce, NCCL_NET_PLUGIN=none and
NCCL_IBEXT_DISABLE=1 switch it off; NCCL_ALGO with CollNet algorithms alone requests it.

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
from lossless.model.fabric.hosts import VARIABLE_RANGES
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet

_OF_SHARP = ("NCCL_COLLNET_ENABLE", "SHARP_COLL_ENABLE_SAT")
"""Variables with which jobs request reductions in the switches; 0 is no, which is the default of both."""
_COLLNET = frozenset({"collnet", "collnetdirect", "collnetchain"})
"""NCCL's algorithms that reduce in switches by a plugin; the first is their name up to 2.13."""
_ALGORITHMS = _COLLNET | {"tree", "ring", "nvls", "nvlstree", "pat"}


def check(subnet: Subnet) -> Results:
    """Yield a violation per variable of jobs that the subnet cannot serve."""
    for setting in subnet.job.environment if subnet.job else ():
        yield from _leaves_infiniband(setting)
        yield from _out_of_range(setting)
        yield from _devices(subnet, setting)
        yield from _sharp(subnet, setting)


def _leaves_infiniband(setting: ManagerSetting) -> Iterator[Violation]:
    disabled = setting.key == "NCCL_IB_DISABLE" and c_number(setting.text) not in (0, None)
    if disabled or (setting.key == "NCCL_NET" and setting.text.lower() == "socket"):
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key}={setting.text} takes jobs off InfiniBand: NCCL uses sockets",
            help="take it out",
            data={"variable": setting.key, "stated": setting.text},
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
    """Yield a violation where a list names devices that no compute host has.

    Names are compared by their beginning, those of UCX or after ``=`` as a whole. Lists that exclude devices (``^``),
    and names of UCX that do not begin with ``mlx``, are left out.
    """
    if setting.key not in ("NCCL_IB_HCA", "UCX_NET_DEVICES") or setting.text.startswith("^"):
        return
    computing = {host.name for host in hosts(subnet).values() if host.role == "compute"}
    devices = sorted({hca.device for hca in hcas(subnet).values() if hca.host in computing})
    whole = setting.key == "UCX_NET_DEVICES" or setting.text.startswith("=")
    names = [part.partition(":")[0].strip() for part in setting.text.removeprefix("=").split(",")]
    missing = [name for name in names if name and not _has(devices, name, whole=whole)]
    if setting.key == "UCX_NET_DEVICES":
        # UCX takes interfaces of other kinds too, as eth0.
        missing = [name for name in missing if name.startswith("mlx")]
    if devices and missing:
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key} names {joined(missing, 4)}, and compute hosts have {joined(devices, 4)}",
            note=""
            if len(missing) < len(names)
            else "no adapter is left, and jobs use sockets or do not start",
            help="name devices that the hosts have",
            data={"variable": setting.key, "missing": [*missing]},
            severity="warning" if len(missing) < len(names) else None,
        )


def _has(devices: Sequence[str], name: str, *, whole: bool) -> bool:
    return name in devices if whole else any(device.startswith(name) for device in devices)


def _wanted(setting: ManagerSetting) -> bool | None:
    """Return whether a variable requests SHARP (True) or keeps jobs from it (False); None where it does neither."""
    text = setting.text.lower()
    if setting.key in _OF_SHARP:
        return c_number(text) not in (0, None)
    if setting.key == "NCCL_NET_PLUGIN" and text == "none":
        return False
    if setting.key == "NCCL_IBEXT_DISABLE" and c_number(text) not in (0, None):
        return False
    if setting.key == "NCCL_ALGO":
        allowed = _all_reduce_algorithms(text)
        # Between hosts NVLS reduces by CollNet; inside of one it needs none.
        if allowed and allowed <= _COLLNET:
            return True
        if allowed and not allowed & (_COLLNET | {"nvls"}):
            return False
    return None


def _all_reduce_algorithms(text: str) -> frozenset[str] | None:
    """Return the algorithms that NCCL_ALGO allows for an all-reduce; None where it has an unknown one.

    It is a list, or several with ``;`` between them and the name of a function before the ``:`` of each; a list that
    begins with ``^`` has those that are left out. That of a function counts before that of all.
    """
    lists: dict[str, frozenset[str]] = {}
    for part in text.split(";"):
        function, colon, names = part.rpartition(":")
        named = frozenset(name.strip() for name in names.removeprefix("^").split(","))
        if not named <= _ALGORITHMS:
            return None
        lists[function if colon else ""] = _ALGORITHMS - named if names.startswith("^") else named
    return lists.get("allreduce", lists.get("", _ALGORITHMS))


def _sharp(subnet: Subnet, setting: ManagerSetting) -> Iterator[Violation]:
    wanted, sharp = _wanted(setting), subnet.sharp
    on = sharp is not None and sharp.on
    if wanted is None or wanted == on:
        return
    here, what = (subnet.origin, "the subnet manager") if sharp is None else (sharp.origin, "SHARP")
    if not wanted:
        problem = "keeps jobs from the reductions in switches that are declared"
    elif sharp is None:
        problem = "requests reductions in switches, and no aggregation manager is declared"
    else:
        problem = "requests reductions in switches, and SHARP is off"
    yield Violation(
        origin=setting.origin,
        message=f"{setting.key}={setting.text} {problem}",
        help="take it out" if wanted else "take it out, or state sharp: off",
        data={"variable": setting.key, "stated": setting.text},
        related=(RelatedPlace(here, what),),
        severity="warning",
    )
