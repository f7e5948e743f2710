"""Management must be reachable when the fabric is not.

Severity: error
Subject: intent

## What it does
Checks the `networks` of an intent that manage devices: those with `purpose: management`, and those without a purpose
whose name contains a word for management (`management`, `mgmt`, `oob`, `bmc`, `ipmi`). Such a network that shares the
fabric in a lossless class is an error; in a lossy class it is reported as information. A network without a class is
ISO002's.

## Why it breaks a lossless fabric
In a storm the lossless queues stall, and every login session that would find the cause stalls with them. The path that
resets a hung host or shuts a port down must not depend on the queues that hang.

## Bad
```yaml intent base=leaf-spine
networks:
  management:
    on: fabric
    class: rdma   # <- here
```

## Good
```yaml intent base=leaf-spine
networks:
  management: {on: separate}
```

## Fix
Put management on switches of its own: `on: separate`. If it must share the fabric, then in a lossy class.

## Sources
- sonic-net/sonic-mgmt issue 20073 (BGP flaps when its queue is paused: all traffic of a paused queue stalls)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3 (one storm stops all of a
  class)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.model import Network, TrafficClass
    from lossless.model.fabric.view import View

_MANAGEMENT = frozenset({"management", "mgmt", "oob", "bmc", "ipmi"})
_STORAGE = frozenset({"storage", "nfs", "nvme", "nvmeof", "iscsi", "ceph", "lustre", "backup"})


def check(view: View) -> Results:
    """Yield a violation per management network that shares the fabric in a class."""
    for network in view.fabric.networks:
        cls = view.fabric.classes.named(network.class_name)
        if cls is not None and not network.separate and manages(network):
            yield _management_on_fabric(network, cls)


def _management_on_fabric(network: Network, cls: TrafficClass) -> Violation:
    kind = "lossless" if cls.lossless else "lossy"
    return Violation(
        origin=network.origin.at("class"),
        message=f"network {network.name} shares the fabric, in {kind} class {cls.name}",
        note="whoever pauses that class cuts management off"
        if cls.lossless
        else "a failure of the fabric cuts management off",
        help="on: separate" + (", or a lossy class" if cls.lossless else ""),
        data={"network": network.name, "class": cls.name, "lossless": cls.lossless},
        severity=None if cls.lossless else "info",
    )


def manages(network: Network) -> bool:
    """Return whether a network manages devices, by its stated purpose, else by a word of its name."""
    return network.purpose == "management" if network.purpose else is_management(network.name)


def stores(network: Network) -> bool:
    """Return whether a network carries storage, by its stated purpose, else by a word of its name."""
    return network.purpose == "storage" if network.purpose else is_storage(network.name)


def is_management(name: str) -> bool:
    """Return whether a network manages devices, by a word of its name."""
    return not _MANAGEMENT.isdisjoint(_words(name))


def is_storage(name: str) -> bool:
    """Return whether a network carries storage, by a word of its name."""
    return not _STORAGE.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    return name.lower().replace("_", "-").replace(".", "-").split("-")
