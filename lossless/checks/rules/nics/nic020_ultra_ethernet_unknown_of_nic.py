"""NICs of a fabric on Ultra Ethernet should be confirmed by a public source to support its transport.

Severity: info
Confidence: medium
Subject: intent

## What it does
Where an intent has `transport: uec`, names the NICs whose profile does not declare support for that transport. A
profile declares it only where a public document of the vendor does; without it, support is unknown, not excluded. A NIC
without a profile is counted as not checked.

## Why it breaks a lossless fabric
A NIC that only supports RoCE keeps sending RoCE on any fabric: without pauses its packets are dropped, it cannot use
trimmed ones, and after a loss it may resend all packets since.

## Bad
```yaml intent base=leaf-spine
transport: uec
classes:
  rdma: {lossless: false}
pfc: off
congestion_control: nscc
hardware:
  nic: connectx-7   # <- here
```

## Good
```yaml intent base=leaf-spine
transport: uec
classes:
  rdma: {lossless: false}
pfc: off
congestion_control: nscc
hardware: {nic: amd-pollara-400}
```

## Fix
Check the documents of the NIC and its firmware. If it supports RoCE alone, state `transport: rocev2`.

## Sources
- profiles/nics of this program, each fact with its source (AMD calls the Pollara 400 ready for Ultra Ethernet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose NIC is not known to support the transport of the fabric."""
    for host, names in view.host_kinds if view.fabric.ultra_ethernet else ():
        if host.nic is None:
            yield unread("whether its NIC speaks Ultra Ethernet", names)
        elif not host.nic.ultra_ethernet:
            yield Violation(
                origin=host.nic_origin,
                message=f"transport is uec, and {host.nic_name} is not known to speak it",
                note="its profile has no public source for that: it may, or it speaks RoCE alone",
                help="look into the documents of the NIC and its firmware, or state transport: rocev2",
                elements=names,
                data={"nic": host.nic_name},
            )
