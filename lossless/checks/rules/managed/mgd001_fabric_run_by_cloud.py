"""On a fabric that a cloud runs, the rules of PFC, ECN, DSCP and watchdogs have nothing to check.

Severity: info
Subject: cloud

## What it does
Reports each intent whose `transport` is a cloud's (`efa`, `gcp`, `azure`), and the reason. Only the rules of this
family check such an intent, and TOP014 its `cluster`: it has no switches, and no class that a tenant could mark.

## Why it breaks a lossless fabric
It does not. A clean report would otherwise read as if headroom, marking and pauses had been checked and found right.
AWS's SRD delivers packets itself, by many paths and in any order, and needs no lossless network below it; InfiniBand
sends by credits; where a cloud runs RoCE, its own profile marks for its own switches.

## Bad
```yaml intent base=none
lossless: v1
fabric: train
transport: efa   # <- here
```

## Good
```yaml intent base=leaf-spine
transport: rocev2
```

## Fix
Nothing is to fix. Where the switches are yours after all, state `transport: rocev2` and describe them.

## Sources
- libfabric fi_efa(7), supported features (SRD)
- GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo/README.md @0a2b482
- Azure/azhpc-images customizations/ndv5.sh @bf3b320
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.model.hardware.clouds import NETWORKS, PROVIDERS

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import ManagedFabric
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where a cloud runs the fabric."""
    managed = view.fabric.managed
    if managed is not None:
        yield Violation(
            origin=managed.origin,
            message=f"PFC, ECN, DSCP and watchdog rules do not apply: {_why(managed)}",
            note="checked are the environment of the jobs and the cluster; rendered is the environment",
            data={"transport": managed.transport, "machine": managed.machine and managed.machine.name},
        )


def _why(managed: ManagedFabric) -> str:
    if managed.network is not None:
        return managed.network.why
    names = " or ".join(network.name for network in NETWORKS[managed.transport])
    return (
        f"{PROVIDERS[managed.transport]} runs the switches; whether its network is {names} depends on machine"
    )
