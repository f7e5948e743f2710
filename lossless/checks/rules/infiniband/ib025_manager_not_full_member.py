"""The subnet manager must be a full member of the default partition.

Severity: error
Subject: subnet

## What it does
Goes through the members of the default partition in their order, in which a later entry replaces an earlier one, and
checks the resulting membership of the manager's own port.

## Why it breaks a lossless fabric
Hosts ask the subnet manager for paths over the default partition. Where both are limited members their requests are
dropped: no program that looks up a path (IPoIB, RDMA connections, storage) gets one.

## Bad
```conf partitions base=none beside=opensm.conf
Default=0x7fff :
  SELF=full,
  ALL=limited ;   # <- here
Compute=0x0002 : ALL_CAS=full ;
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff : ALL=limited, SELF=full ;
Compute=0x0002 : ALL_CAS=full ;
```

## Fix
Write `SELF=full` behind the entry for all.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with `SELF=full, ALL=limited` the manager's port has 0x7fff, limited;
  with `ALL=limited, SELF=full` 0xffff; without a line for the default partition 0xffff too
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import by_key, hcas, master, number
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Member, Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation where the default partition's last entry for the manager's port makes it a limited member."""
    entries = [member for part in by_key(subnet).get(DEFAULT_PKEY, ()) for member in part.members]
    about = [entry for entry in entries if _is_about(subnet, entry)]
    if about and about[-1].membership == "limited":
        before = any(entry.word == "SELF" for entry in about[:-1])
        yield Violation(
            origin=about[-1].origin,
            message="the subnet manager is only a limited member of the default partition, as the hosts are"
            if not before
            else "this entry makes the subnet manager a limited member again, after SELF=full",
            note="limited members cannot talk to each other: the hosts' path queries get no answer",
            help="write SELF=full as the last entry of the partition",
        )


def _is_about(subnet: Subnet, entry: Member) -> bool:
    """Return whether an entry is about the port of the manager itself, as far as that is known."""
    master_host = master(subnet)
    if entry.word is not None:
        on_switch = subnet.provenance == "intent" and master_host.hca is None
        return entry.word in ("SELF", "ALL", "ALL_SWITCHES" if on_switch else "ALL_CAS")
    port = hcas(subnet).get(master_host.hca or "")
    own = {guid for guid in (port.guid if port else None, number(subnet, "guid")) if guid}
    return entry.guid in own or (port is not None and entry.hca == port.name)
