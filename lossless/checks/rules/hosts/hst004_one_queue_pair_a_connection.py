"""A connection should have several queue pairs, which spread it over the uplinks.

Severity: info
Subject: intent, hosts

## What it does
Reads a stated `hosts.nccl.ib_qps_per_connection` of 1 where leaves have more than one uplink. NCCL's default is 1 too;
only a stated value is checked, because it was chosen on purpose.

## Why it breaks a lossless fabric
ECMP picks a path for each queue pair, by its UDP source port. A collective has few and large flows: with one queue
pair each, some uplinks carry several at full rate and others none, and the overloaded ones pause.

## Bad
```yaml intent base=leaf-spine
hosts:
  nccl:
    ib_qps_per_connection: 1   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  nccl: {ib_qps_per_connection: 4}
```

## Fix
Set NCCL_IB_QPS_PER_CONNECTION to 2 to 8, or have the switches hash on the queue pair or route adaptively.

## Sources
- Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024 (queue pair scaling)
- NVIDIA/nccl src/transport/net_ib (NCCL_IB_QPS_PER_CONNECTION: 1, of 1 to 128)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host with one queue pair per connection and several uplinks at its leaf.

    The leaf is that of the first host of the kind.
    """
    for host, names in view.host_kinds:
        uplinks = _uplinks(view, names[0]) if host.jobs.qps_per_connection == 1 else 0
        if uplinks > 1:
            yield Violation(
                origin=host.at("nccl", "ib_qps_per_connection"),
                message=f"one queue pair a connection takes one of a leaf's {uplinks} uplinks",
                note="ECMP places queue pairs, not bytes: a few large flows overload some links and leave others idle",
                help="set it to 2 to 8, or have the switches spread by queue pair",
                elements=names,
                data={"uplinks": uplinks},
            )


def _uplinks(view: View, host: str) -> int:
    """Return the number of uplinks of a host's leaf, the largest where it has several leaves."""
    leaves = {link.a for link in view.links_of.get(host, ())}
    return max((sum(not link.to_host for link in view.links_of.get(leaf, ())) for leaf in leaves), default=0)
