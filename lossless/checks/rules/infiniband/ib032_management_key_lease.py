"""The lease of the management key must outlast the sweeps that renew it, and protection needs a key.

Severity: warning
Subject: subnet

## What it does
Compares `m_key_lease_period` with `sweep_interval`, and looks for a protection level or a lease without a key. A key
without a lease is information.

## Why it breaks a lossless fabric
A port whose key was tried wrongly starts a timer of the lease, which only sweeps reset. Where sweeps are rarer than
the lease, or off, ports open themselves to any manager; opensm puts other numbers in place of these when it starts,
and the subnet is not the one that was declared. A protection level without a key protects nothing.

## Bad
```conf opensm base=none
m_key 0x1122334455667788
m_key_lease_period 5   # <- here
sweep_interval 10
```

```conf opensm base=none
m_key_protection_level 1   # <- here
```

## Good
```conf opensm base=none
m_key 0x1122334455667788
m_key_protection_level 1
m_key_lease_period 60
sweep_interval 10
```

## Fix
Let the lease be a few sweeps long, and state a key, from the environment, where ports are to be protected.

## Sources
- opensm(8), of opensm 3.3.23, MKEY CONFIGURATION: the lease "should be a few multiples of the subnet sweep time";
  both numbers are changed at start where they do not fit; a key of 0 disables protection
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import number, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where protection or a lease lacks an M_Key, or a key has no lease or one renewed too late."""
    level, lease_s = number(subnet, "m_key_protection_level"), number(subnet, "m_key_lease_period")
    keyed = number(subnet, "m_key") or any(secret.key == "m_key" for secret in subnet.secrets)
    if not keyed and (level or lease_s):
        yield Violation(
            origin=written(subnet, "m_key_protection_level", "m_key_lease_period"),
            message="ports should be protected by a key, but there is none: m_key is 0",
            note="a key of 0 turns protection off",
            help="state an m_key",
            data={"level": level, "lease_s": lease_s},
        )
    elif keyed and lease_s:
        yield from _lease(subnet, lease_s)
    elif keyed:
        yield _permanent(subnet)


def _permanent(subnet: Subnet) -> Violation:
    here = next((secret.origin for secret in subnet.secrets if secret.key == "m_key"), None)
    return Violation(
        origin=here or written(subnet, "m_key"),
        message="ports keep their M_Key permanently: without a lease no manager that lacks it can take the subnet over",
        help="state an m_key_lease_period of a few sweeps, or keep the key where it is not lost",
        severity="info",
    )


def _lease(subnet: Subnet, lease_s: int) -> Iterator[Violation]:
    sweep_s = number(subnet, "sweep_interval")
    if sweep_s and sweep_s < lease_s:
        return
    sweeps = f"sweeps come every {sweep_s} s" if sweep_s else "sweeps are off"
    yield Violation(
        origin=written(subnet, "m_key_lease_period"),
        message=f"the key's lease of {lease_s} s is not renewed in time: {sweeps}",
        note="opensm changes one of the two when it starts",
        help="let the lease be a few sweeps long",
        data={"lease_s": lease_s, "sweep_s": sweep_s},
    )
