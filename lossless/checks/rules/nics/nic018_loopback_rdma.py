"""Processes of one host should not communicate through its NIC.

Severity: warning
Confidence: medium
Subject: intent

## What it does
Looks for `hosts.loopback_rdma`, by which an intent declares that they do.

## Why it breaks a lossless fabric
Loopback crosses the host's PCIe twice, beside the traffic from the network: two streams into the NIC share one way out.
The NIC falls behind as a receiver and pauses its switch although no link is congested, and no watchdog takes that for a
storm.

## Bad
```yaml intent base=leaf-spine
hosts:
  loopback_rdma: true   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {loopback_rdma: false}
```

## Fix
Use shared memory or NVLink inside a host.

## Sources
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, 8.3 (loopback traffic makes slow receivers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host that uses RDMA to itself."""
    for host, names in view.host_kinds:
        if host.jobs.loopback is True:
            yield Violation(
                origin=host.at("loopback_rdma"),
                message="RDMA inside a host crosses its PCIe twice: the NIC falls behind and pauses the switch",
                note="two streams into the NIC, from the network and from the host itself, share one path out of it",
                help="use shared memory or NVLink inside a host, and leave loopback_rdma out",
                elements=names,
            )
