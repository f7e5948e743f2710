"""A variable of jobs must be one of their network, and must not take them off it.

Severity: warning
Subject: cloud

## What it does
Compares the names under `hosts.environment` with the network that the jobs run on: NCCL_IB_* where a plugin takes the
place of NCCL's own InfiniBand transport, NCCL_IB_TC and NCCL_IB_FIFO_TC on InfiniBand, whose packets have no ToS byte,
FI_EFA_* where there is no EFA, NCCL_FASTRAK_* where there is no GPUDirect-TCPXO, NCCL_GPUDIRECTTCPX_* where there is no
GPUDirect-TCPX, NCCL's settings for sockets on EFA.
So is a variable that requests reductions in switches (NCCL_COLLNET_ENABLE, NCCL_ALGO with CollNet algorithms alone)
where the switches are not those of InfiniBand.
It is an error where jobs leave the network: by NCCL_IB_DISABLE where NCCL's own transport is used, by NCCL_NET=Socket,
by NCCL_NET_PLUGIN=none or NCCL_NET=IB where a plugin is needed, and on EFA by another FI_PROVIDER; and where a queue
pair cannot have a value (NCCL_IB_TIMEOUT 0 to 31, NCCL_IB_RETRY_CNT 0 to 7).

## Why it breaks a lossless fabric
The variable was set for a timeout, a class or an adapter. No software on this network reads it, and the job runs with
the defaults of the network. A job that leaves the network runs without an error, over TCP, at a fraction of its rate.

## Bad
```yaml intent base=none
lossless: v1
fabric: train
transport: efa
hosts:
  environment:
    NCCL_IB_TIMEOUT: 22   # <- here
```

```yaml intent base=none
lossless: v1
fabric: train
transport: azure
hosts:
  environment:
    NCCL_IB_TC: 106   # <- here
```

```yaml intent base=none
lossless: v1
fabric: train
transport: efa
hosts:
  environment:
    FI_PROVIDER: tcp   # <- here
```

## Good
```yaml intent base=none
lossless: v1
fabric: train
transport: azure   # lossless: ignore[MGD001] -- known
hosts:
  environment: {NCCL_IB_TIMEOUT: 22}
```

## Fix
Take the variable out. On InfiniBand NCCL_IB_SL chooses the class.

## Sources
- NVIDIA/nccl src/transport/net_ib @5067397 (the code that reads NCCL_IB_*), docs, environment variables (NCCL_IB_TC)
- NVIDIA/nccl docs, environment variables (NCCL_IB_DISABLE, NCCL_NET, NCCL_NET_PLUGIN)
- NVIDIA/nccl src/init.cc @5067397 (collNetSupport: without a plugin that has CollNet it is off)
- Mellanox/nccl-rdma-sharp-plugins src/p2p_plugin.c @2f5ac02 (isSharpDev: ports whose link layer is InfiniBand alone)
- libfabric fabric(7) (FI_PROVIDER)
- aws/aws-ofi-nccl doc/efa-env-var.md @518f4c6
- google/nccl-plugin-gpudirect-tcpxo tcpxo_scripts/nccl-env-profile.sh @8f816be
- GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-config.yaml @992db81
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.model.fabric.hosts import (
    VARIABLE_RANGES,
    effect_without_reductions,
    reduces_in_switches,
    variable_number,
)
from lossless.model.hardware.clouds import EFA, TCPX, TCPXO

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Variable
    from lossless.model.fabric.view import View
    from lossless.model.hardware.clouds import CloudNetwork

_BYTES = ("NCCL_IB_TC", "NCCL_IB_FIFO_TC")
_OF_SOCKETS = ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD")


def check(view: View) -> Results:
    """Yield a violation per variable without effect on its network, that takes jobs off it, or out of range."""
    managed = view.fabric.managed
    if managed is None:
        return
    if managed.network is None:
        yield MissingInput("which network it is depends on machine, which the intent does not state")
        return
    for variable in managed.stated:
        why = _why(variable.name, managed.network)
        if why is not None:
            yield _variable_without_effect(variable, managed.network, why)
        elif (leaves := _leaves(variable, managed.network)) is not None:
            yield _wrong(variable, managed.network, f"takes jobs off {managed.network.name}", leaves)
        elif not _may_reduce(managed.network) and reduces_in_switches(variable.name, variable.value):
            yield _reductions(variable, managed.network)
        elif limits := _beyond(variable):
            yield _wrong(
                variable, managed.network, f"is no value of its field: {limits[0]} to {limits[1]}", ""
            )


def _may_reduce(network: CloudNetwork) -> bool:
    """Return whether switches of a network may reduce: those of InfiniBand alone have SHARP."""
    return network.verbs and not network.roce


def _reductions(variable: Variable, network: CloudNetwork) -> Violation:
    return Violation(
        origin=variable.origin,
        message=f"{variable.name}={variable.value} requests reductions in switches, which {network.name} does not have",
        note=effect_without_reductions(variable.name),
        help="take it out",
        data={"variable": variable.name, "network": network.name},
    )


def _leaves(variable: Variable, network: CloudNetwork) -> str | None:
    """Return the reason why a variable takes jobs off their network, None where it does not."""
    name, value = variable.name, variable.value
    word = value.strip().lower()
    if name == "NCCL_IB_DISABLE" and variable_number(word):
        return "NCCL's InfiniBand transport is off, and jobs use sockets"
    if name == "NCCL_NET" and word == "socket":
        return "jobs use sockets"
    if name == "NCCL_NET" and word == "ib" and not network.verbs:
        return "NCCL's InfiniBand transport finds no device there, and jobs do not start"
    if name == "NCCL_NET_PLUGIN" and word == "none" and not network.verbs:
        return "without the plugin of the network jobs use sockets"
    if name == "FI_PROVIDER" and network.name == EFA.name:
        named = [part.strip() for part in word.removeprefix("^").split(",")]
        if word.startswith("^"):
            return "libfabric leaves the provider efa out" if "efa" in named else None
        return None if "efa" in named else f"libfabric opens the provider {value} alone"
    return None


def _beyond(variable: Variable) -> tuple[int, int] | None:
    """Return the range of a variable whose value is beyond it; None for others."""
    limits = VARIABLE_RANGES.get(variable.name)
    if limits is None or not variable.value.isdecimal() or limits[0] <= int(variable.value) <= limits[1]:
        return None
    return limits


def _wrong(variable: Variable, network: CloudNetwork, problem: str, why: str) -> Violation:
    return Violation(
        origin=variable.origin,
        message=f"{variable.name}={variable.value} {problem}",
        note=why,
        help="take it out",
        data={"variable": variable.name, "network": network.name},
        severity="error",
    )


def _why(name: str, network: CloudNetwork) -> str | None:
    if name.startswith("NCCL_IB_") and not network.verbs:
        return "a plugin takes the place of NCCL's InfiniBand transport, which alone reads NCCL_IB_*"
    if name in _BYTES and not network.roce:
        return "packets of InfiniBand have no ToS byte; there NCCL_IB_SL chooses the class"
    if name.startswith("FI_EFA_") and network.name != EFA.name:
        return "there is no EFA"
    if name.startswith("NCCL_FASTRAK_") and network.name != TCPXO.name:
        return f"only the plugin of {TCPXO.name} reads it"
    if name.startswith("NCCL_GPUDIRECTTCPX_") and network.name != TCPX.name:
        return f"only the plugin of {TCPX.name} reads it"
    if name in _OF_SOCKETS and network.name == EFA.name:
        return "it is for NCCL's sockets, and EFA's plugin has none"
    return None


def _variable_without_effect(variable: Variable, network: CloudNetwork, why: str) -> Violation:
    return Violation(
        origin=variable.origin,
        message=f"{variable.name} has no effect on {network.name}",
        note=why,
        help="take it out",
        data={"variable": variable.name, "network": network.name},
    )
