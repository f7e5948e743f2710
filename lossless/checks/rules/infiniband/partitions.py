"""Shared by the partition rules: the partitions of a file as opensm merges them, and the keys that ports get."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.checks.rules.infiniband.subnet_queries import hcas, hosts, is_on, master, partitions
from lossless.ground.basics.findings import grouped
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.model.fabric.infiniband.subnet import Member, Membership, Partition, Subnet

FULL_MEMBER = 0x8000
"""The bit of a P_Key that makes a port a full member."""
_BASE = 0x7FFF
"""The bits of a P_Key that identify a partition."""


def base_of(key: int) -> int:
    """Return a P_Key without its membership bit."""
    return key & _BASE


def by_key(subnet: Subnet) -> dict[int, list[Partition]]:
    """Return the partitions of the file by the low 15 bits of their keys: opensm merges equal ones.

    One that states no key, or 0, is that of the same name, else it gets the lowest key that is free at its line.

    Source: linux-rdma/opensm opensm/osm_prtn.c @fa74b98 (osm_prtn_make_new, generate_pkey).
    """
    keys: dict[int, list[Partition]] = {}
    names = {"Default": DEFAULT_PKEY}
    for part in partitions(subnet) or ():
        key = part.base or names.get(part.name) or free_key(keys)
        names.setdefault(part.name, key)
        keys.setdefault(key, []).append(part)
    return keys


def free_key(taken: Collection[int]) -> int:
    """Return the lowest P_Key from 1 on that is not taken."""
    return next(key for key in count(1) if key not in taken)


def many(members: Sequence[Member]) -> bool:
    """Return whether entries of a partition may cover more than one port."""
    return len(members) > 1 or any(member.word not in (None, "SELF") for member in members)


def is_of_hosts(member: Member) -> bool:
    """Return whether an entry of a partition may cover hosts: those for switches and for the manager do not."""
    return member.word in (None, "ALL", "ALL_CAS")


def key_tables(subnet: Subnet) -> dict[str, tuple[int, ...]]:
    """Return the P_Keys of every HCA by its name, in the order in which opensm fills the table of a port that is new.

    That is the order of the bytes of the keys, low byte first. Before them is the key with ``indx0``, else the default
    one; the default key of a limited member is missing where ``allow_both_pkeys`` is on.

    Source: linux-rdma/opensm opensm/osm_pkey_mgr.c, opensm/osm_prtn_config.c @fa74b98; tests compare it with runs.
    """
    both = is_on(subnet, "allow_both_pkeys")
    held, first = _memberships(subnet)
    return {hca: _table(of_hca, first.get(hca), both=both) for hca, of_hca in held.items()}


def _memberships(subnet: Subnet) -> tuple[dict[str, dict[int, Membership]], dict[str, int]]:
    """Return the membership of each HCA by P_Key, and the P_Key that ``indx0`` puts at index 0, of HCAs with one."""
    # Where there is a file, all are limited members of the default partition, but for the manager.
    start: Membership = "limited" if partitions(subnet) else "full"
    held: dict[str, dict[int, Membership]] = {hca: {DEFAULT_PKEY: start} for hca in hcas(subnet)}
    by_guid = {hca.guid: name for name, hca in hcas(subnet).items()}
    own = master(subnet).hca
    if own in held:
        held[own][DEFAULT_PKEY] = "full"
    first: dict[str, int] = {}
    for key, parts in by_key(subnet).items():
        for part, member in ((owner, member) for owner in parts for member in owner.members):
            named = own if member.word == "SELF" else member.hca or by_guid.get(member.guid)
            for hca in held if member.word in ("ALL", "ALL_CAS") else (named,):
                if hca in held:
                    held[hca][key] = member.membership
                    first.update({hca: key} if part.index0 else {})
    return held, first


def _table(held: Mapping[int, Membership], first: int | None, *, both: bool) -> tuple[int, ...]:
    bits = {"limited": (0,), "full": (FULL_MEMBER,), "both": (0, FULL_MEMBER) if both else (FULL_MEMBER,)}
    keys = [key | bit for key in sorted(held, key=_low_byte_first) for bit in bits[held[key]]]
    if first is not None:
        asking = first | bits[held[first]][0]
    else:
        asking = DEFAULT_PKEY | (FULL_MEMBER if both else bits[held[DEFAULT_PKEY]][-1])
    return tuple(sorted(keys, key=lambda key: key != asking))


def _low_byte_first(key: int) -> bytes:
    return key.to_bytes(2, "little")


def tables_of_jobs(subnet: Subnet) -> dict[tuple[int, ...], list[str]]:
    """Return the distinct P_Key tables of compute hosts, each with the HCAs that have it."""
    computing = {host.name for host in hosts(subnet).values() if host.role == "compute"}
    tables, ports = key_tables(subnet), hcas(subnet)
    return grouped((table, hca) for hca, table in tables.items() if ports[hca].host in computing)


def wanted_key(subnet: Subnet) -> tuple[Partition, int] | None:
    """Return the partition that jobs are to use, and its P_Key; None where none is stated or it is not defined."""
    name = subnet.job.partition if subnet.job else None
    named = ((part, key) for key, parts in by_key(subnet).items() for part in parts if part.name == name)
    return next(named, None)


def holds_key(ranges: str, key: int) -> bool:
    """Return whether a P_Key without its membership bit is in a list such as ``0x0002, 0x0010-0x0020``."""
    for part in filter(None, (part.strip() for part in ranges.split(","))):
        low, _, high = (end.strip() for end in part.partition("-"))
        first, last = c_number(low), c_number(high or low)
        if first is not None and last is not None and base_of(first) <= key <= base_of(last):
            return True
    return False
