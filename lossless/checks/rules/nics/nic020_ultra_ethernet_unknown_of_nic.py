"""NICs of a fabric on Ultra Ethernet are worth a look where no public source says that they speak its transport.

Severity: info
Confidence: medium
Subject: intent

## What it does
Where an intent has `transport: uec`, names the NICs whose profile does not say that they speak that transport. A
profile says so only where a public document of the vendor does; one that says nothing means unknown, not no. A NIC
without a profile is counted as not checked.

## Why it breaks a lossless fabric
A NIC that only speaks RoCE goes on to do so, whatever the fabric is built for: without pauses its packets are dropped,
trimmed ones are no use to it, and after a loss it may send everything since again.

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
Look into the documents of the NIC and its firmware. If it speaks RoCE alone, state `transport: rocev2`.

## Sources
- profiles/nics of this program, each fact with its source (AMD calls the Pollara 400 ready for Ultra Ethernet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose NIC is not known to speak the transport of the fabric."""
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
