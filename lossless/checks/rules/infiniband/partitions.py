"""What rules of partitions share: the partitions of a file as opensm joins them, and the keys that ports get."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.checks.rules.infiniband.subnet_queries import hcas, hosts, hosts_in, partitions
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.model.fabric.infiniband.subnet import Member, Partition, Subnet


def by_key(subnet: Subnet) -> dict[int, list[Partition]]:
    """Return the partitions of the file by the low 15 bits of their keys: opensm joins those that are alike.

    One that states no key, or 0, is that of the same name, else it gets the lowest key that is free where it stands.

    Source: linux-rdma/opensm opensm/osm_prtn.c @fa74b98 (osm_prtn_make_new, generate_pkey).
    """
    keys: dict[int, list[Partition]] = {}
    names = {"Default": DEFAULT_PKEY}
    for part in partitions(subnet) or ():
        key = part.base or names.get(part.name) or _free(keys)
        names.setdefault(part.name, key)
        keys.setdefault(key, []).append(part)
    return keys


def _free(taken: Collection[int]) -> int:
    return next(key for key in count(1) if key not in taken)


def many(members: Sequence[Member]) -> bool:
    """Return whether entries are about more than one port."""
    return len(members) > 1 or any(member.word not in (None, "SELF") for member in members)


def is_of_hosts(member: Member) -> bool:
    """Return whether an entry may be about hosts: GUIDs may be, the words for switches and the manager are not."""
    return member.word in (None, "ALL", "ALL_CAS")


def at_index_0(subnet: Subnet) -> int:
    """Return the key at the first place of a port's table: the default one, or that which asks for it."""
    asking = (part.base for part in partitions(subnet) or () if part.index0 and part.base is not None)
    return next(asking, DEFAULT_PKEY)


def keys_of_jobs(subnet: Subnet) -> set[int]:
    """Return the keys that compute hosts have in their tables: of all partitions, where hosts are not known."""
    computing = {host.name for host in hosts(subnet).values() if host.role == "compute"}
    keys = {DEFAULT_PKEY}
    for part in partitions(subnet) or ():
        reached = not hcas(subnet) or bool(computing & hosts_in(subnet, part))
        if part.base is not None and reached:
            keys.add(part.base)
    return keys
