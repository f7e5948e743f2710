"""Storage must not share the lossless class of the jobs.

Severity: warning
Confidence: medium
Subject: intent

## What it does
Looks at the `networks` of an intent that are storage and share the fabric: those with `purpose: storage`, and those
without a purpose whose name indicates storage (`storage`, `nfs`, `backup-storage`). Their class must not be a lossless
one that the hosts' own traffic uses. A separate lossless class is accepted, and so is a lossy one. Other networks may
belong to the jobs and are not checked; ISO001 checks management. Where a network with `purpose: compute` is
`on: separate`, the jobs do not use this fabric, and nothing is checked.

## Why it breaks a lossless fabric
Storage traffic has bursts of many readers at once. In the class of the collectives its pauses stop the collectives, and
DCQCN, which reacts to the marks of both, slows down the wrong senders.

## Bad
```yaml intent base=leaf-spine
networks:
  storage:
    on: fabric
    class: rdma   # <- here
```

## Good
```yaml intent base=leaf-spine
classes:
  storage: {dscp: 18, priority: 4, lossless: true, bandwidth: 20%, ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
  default: {bandwidth: 30%}
networks:
  storage: {on: fabric, class: storage}
```

```yaml intent base=leaf-spine
networks:
  storage: {on: separate}
```

```yaml intent base=leaf-spine
networks:
  storage: {on: fabric, class: rdma}
  jobs: {on: separate, purpose: compute}
```

## Fix
Give storage a network of its own, or a class of its own.

## Sources
- Juniper/jvd data_center/adc/5stage_evpn_vxlan storage-leaf1_qfx5130-32cd.conf @005ab34 (storage has leaves of its own)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (two lossless classes, so that kinds can be kept apart)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import markings
from lossless.checks.rules.isolation.iso001_management_on_fabric import stores

if TYPE_CHECKING:
    from lossless.model.fabric.model import Network, TrafficClass
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per storage network in a lossless class of the hosts' RDMA traffic.

    None where a separate network serves the jobs.
    """
    if any(network.separate and network.purpose == "compute" for network in view.fabric.networks):
        return
    by_name = {cls.name: cls for cls in view.fabric.classes.lossless}
    for network in view.fabric.networks:
        cls = by_name.get(network.class_name or "")
        if cls is not None and not network.separate and stores(network) and cls.name in _marked(view):
            yield _storage_in_rdma_class(network, cls)


def _marked(view: View) -> set[str]:
    """Return the names of the classes of the hosts' RDMA traffic, by its DSCPs."""
    classes = (
        view.fabric.classes.of_dscp(marking.dscp) for host, _ in view.host_kinds for marking in markings(host)
    )
    return {cls.name for cls in classes if cls is not None}


def _storage_in_rdma_class(network: Network, cls: TrafficClass) -> Violation:
    return Violation(
        origin=network.origin.at("class"),
        message=f"network {network.name} shares lossless class {cls.name} with the jobs' own traffic",
        note="the bursts of one pause the other, and ECN slows down both",
        help="give it a class of its own, or on: separate; where the fabric is for storage alone, state a network of "
        "the jobs: purpose: compute, on: separate",
        data={"network": network.name, "class": cls.name},
    )
