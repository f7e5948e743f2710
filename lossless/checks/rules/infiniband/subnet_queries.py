"""Shared by the InfiniBand rules: options as opensm reads them, VLs in use, and nodes and partitions of a subnet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.ground.basics.findings import Edit
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import option, options, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import (
        Hca,
        ManagerHost,
        ManagerSetting,
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
    """Return the value of an option that opensm uses: the last one that it accepts, else its default or None."""
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
    """Return the origin of the first named option that opensm.conf or the intent states, else that of the subnet."""
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
    """Return the VL that packets of an SL use, folded as opensm does it; None where they are dropped."""
    vl, count = sl2vl(subnet)[sl], operational_vls(subnet)
    if vl == DROPPED:
        return None
    # Debian's opensm 3.3.23, run: VL 4 becomes VL 0 where VL0-3 are operational.
    return vl % folding(count) if count else vl


def folding(vls: int) -> int:
    """Return the modulus that folds VLs onto so many: opensm masks them (opensm/osm_qos.c @0292ae2), 15 as 16."""
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
    """Return the names of the hosts that have a port in a partition, as far as hosts are known."""
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
