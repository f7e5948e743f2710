"""Shared by the InfiniBand rules: options as opensm reads them, operational VLs, nodes and partitions of a subnet.

Partitions are those of a file as opensm merges them, with the keys that ports get.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.ground.basics.findings import Edit, grouped
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import c_number, option, options, taken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import (
        Hca,
        ManagerHost,
        ManagerSetting,
        Member,
        Membership,
        Option,
        Partition,
        Sharp,
        Subnet,
        SubnetHost,
        SubnetLink,
        SubnetShape,
        SubnetSwitch,
    )

NO_TOPOLOGY = MissingInput("switches, adapters and links are not in the files of a subnet manager")
NO_PARTITIONS = MissingInput("the partition file is not among the files")
OWN_ENGINE = MissingInput("by which engine NVIDIA's OpenSM routes where none is stated")

QOS_UNTOLD = MissingInput("whether opensm is started with --qos: its file says nothing of qos")

TREE_ENGINES = ("ftree", "updn", "dnup", "ar_ftree", "ar_updn")
"""Engines that allow no valley: opensm(8); the ar_ ones are NVIDIA's, by their names."""
LAYERED_ENGINES = ("lash", "dfsssp", "torus-2QoS")
"""Engines that separate paths by VL to keep them free of cycles, and need the SL2VL tables for it: opensm(8)."""

ARBITRATION_TABLES = ("vlarb_high", "vlarb_low")
SL_COUNT = 16
DROPPED = 15
"""The VL of an SL2VL table that drops a packet: opensm(8); VL 15 itself carries management alone."""


def stated(subnet: Subnet) -> Iterator[tuple[ManagerSetting, Option]]:
    """Yield the last setting of each key of opensm.conf with its option; unknown keys are left out."""
    last = {setting.key: setting for setting in subnet.options}
    for key, setting in last.items():
        known_option = option(key)
        if known_option is not None:
            yield setting, known_option


def value(subnet: Subnet, key: str) -> int | bool | str | None:
    """Return the value of an option that opensm uses: that of the last setting with one, else the default or None."""
    known_option = options()[key]
    for setting in reversed(subnet.options):
        if setting.key == key and (taken_value := taken(known_option, setting.text).value) is not None:
            return taken_value
    return None if known_option.default is None else taken(known_option, known_option.default).value


def number(subnet: Subnet, key: str) -> int:
    """Return the number that opensm uses for an option, which must have a number as its default.

    Raises:
        TypeError: it has none.
    """
    option_value = value(subnet, key)
    if not isinstance(option_value, int):
        raise TypeError(f"{key} is no number")
    return option_value


def is_on(subnet: Subnet, key: str) -> bool:
    """Return whether opensm takes an option of opensm.conf as true, by its value or default."""
    return value(subnet, key) is True


def qos_untold(subnet: Subnet) -> bool:
    """Return whether a deployed file has no ``qos``: then the command line may turn it on (IB028)."""
    return subnet.provenance == "deployed" and subnet.option("qos") is None


def written(subnet: Subnet, *keys: str) -> Origin:
    """Return the origin of the first named option that is set, in a file or by an intent, else that of the subnet."""
    settings = filter(None, map(subnet.option, keys))
    return next((setting.origin for setting in settings), subnet.origin)


def set_to(setting: ManagerSetting, text: str) -> tuple[Edit, ...]:
    """Return the edit that gives an option another text; none where the option itself is not in a file."""
    return () if setting.derived else (Edit(setting.origin, "set", text),)


def operational_vls(subnet: Subnet) -> int | None:
    """Return the number of data VLs that ports may use by ``max_op_vls``, None where the code has no meaning."""
    return OPERATIONAL_VLS.get(number(subnet, "max_op_vls"))


def sl2vl(subnet: Subnet) -> tuple[int, ...]:
    """Return the VL of each SL as it is written into tables, before it is folded onto the operational VLs.

    Those that are not stated become VL 0 (opensm 3.3.23, run); without a statement opensm's own default holds.
    """
    stated_vls = subnet.qos.sl2vl
    if stated_vls is None:
        return (*range(DROPPED), 7)
    return (*stated_vls, *[0] * SL_COUNT)[:SL_COUNT]


def vl_of(subnet: Subnet, sl: int) -> int | None:
    """Return the VL of packets of an SL, folded where ``max_op_vls`` is a valid code; None where they are dropped."""
    vl, count = sl2vl(subnet)[sl], operational_vls(subnet)
    if vl == DROPPED:
        return None
    # Debian's opensm 3.3.23, run: VL 4 becomes VL 0 where VL0-3 are operational.
    return vl % folding(count) if count else vl


def folding(vls: int) -> int:
    """Return the modulus by which opensm folds VLs: the number of operational ones, 16 for 15.

    opensm masks VLs (opensm/osm_qos.c @0292ae2).
    """
    return 16 if vls == DROPPED else vls


def active_sharp(subnet: Subnet) -> Sharp | None:
    """Return the SHARP settings of a subnet; None where SHARP is not on."""
    return subnet.sharp if subnet.sharp is not None and subnet.sharp.on else None


def master(subnet: Subnet) -> ManagerHost:
    """Return the intended master: the subnet manager of highest priority, of those that are not standby if any is."""
    active = [manager for manager in subnet.managers if not manager.standby] or subnet.managers
    return max(active, key=lambda manager: manager.priority or 0)


def shape(subnet: Subnet) -> SubnetShape | None:
    """Return the topology of a subnet by its shape; None where it is unknown or written out link by link."""
    return None if isinstance(subnet.shape, Unknown) or subnet.shape.kind == "explicit" else subnet.shape


def partitions(subnet: Subnet) -> tuple[Partition, ...] | None:
    """Return the partitions of a subnet's partition file; empty where there is no file, None where it was not read."""
    return None if isinstance(subnet.partitions, Unknown) else subnet.partitions or ()


def switches(subnet: Subnet) -> dict[str, SubnetSwitch]:
    """Return the switches of a subnet by name; empty where they are unknown."""
    return {} if isinstance(subnet.switches, Unknown) else {switch.name: switch for switch in subnet.switches}


def hcas(subnet: Subnet) -> dict[str, Hca]:
    """Return the adapter ports of a subnet by name; empty where they are unknown."""
    return {} if isinstance(subnet.hcas, Unknown) else {hca.name: hca for hca in subnet.hcas}


def hosts(subnet: Subnet) -> dict[str, SubnetHost]:
    """Return the hosts of a subnet by name; empty where they are unknown."""
    return {} if isinstance(subnet.hosts, Unknown) else {host.name: host for host in subnet.hosts}


def links(subnet: Subnet) -> tuple[SubnetLink, ...]:
    """Return the links of a subnet; empty where they are unknown."""
    return () if isinstance(subnet.links, Unknown) else subnet.links


def hosts_in(subnet: Subnet, partition: Partition) -> set[str]:
    """Return the names of known hosts with a port in a partition; ``SELF``, the manager's own entry, does not count."""
    names = {member.hca for member in partition.members}
    guids = {member.guid for member in partition.members} - {None}
    for_all = any(member.word in ("ALL", "ALL_CAS") for member in partition.members)
    return {hca.host for hca in hcas(subnet).values() if for_all or hca.name in names or hca.guid in guids}


def storage_partitions(subnet: Subnet) -> Iterator[Partition]:
    """Yield the partitions that have storage hosts in them, but for the one that jobs are to use."""
    storing = {host.name for host in hosts(subnet).values() if host.role == "storage"}
    used = subnet.job.partition if subnet.job else None
    for partition in partitions(subnet) or ():
        if partition.name != used and storing & hosts_in(subnet, partition):
            yield partition


FULL_MEMBER = 0x8000
"""The bit of a P_Key that makes a port a full member."""
_BASE = 0x7FFF
"""The bits of a P_Key that identify a partition."""


def base_of(key: int) -> int:
    """Return a P_Key without its membership bit."""
    return key & _BASE


def by_key(subnet: Subnet) -> dict[int, list[Partition]]:
    """Return the partitions of the file by the low 15 bits of their keys: opensm merges equal ones.

    A partition without a key, or with 0, has the key of an earlier one of its name, else the lowest key that is free at
    its line.

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
    one; with ``allow_both_pkeys`` on, the default key of a limited member keeps its place.

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
