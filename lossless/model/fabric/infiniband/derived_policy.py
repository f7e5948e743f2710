"""Facts that are derived from a subnet's intent: its QoS policy, lanes of routing engines, and GUIDs of a simulation.

The policy has the declared levels, and one match rule for each partition (but the default one) whose SL is of a level.

torus-2QoS writes the SL2VL tables itself and ignores `qos_sl2vl`; lash, dfsssp and nue give each path the SL of its
lane, and the table must map each SL to the VL of its number.

Source: linux-rdma/opensm opensm/osm_torus.c @fa74b98 (sl2vl_entry); torus-2QoS(8), QUALITY OF SERVICE CONFIGURATION.

A simulated fabric has the declared GUIDs, and others derived from the order of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.qos_policy import PolicyBlock, PolicyLine, QosPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Partition, Subnet


DEFAULT = "DEFAULT"
"""The name of the QoS level that opensm requires, in upper or lower case."""
DEFAULT_PKEY = 0x7FFF
"""The P_Key of the partition that opensm creates itself: all ports are limited members, its own port a full one."""


def policy_of(subnet: Subnet) -> QosPolicy | None:
    """Return the QoS policy of a subnet: the one read, else that of its levels; None without levels or with QoS off."""
    if subnet.policy is not None:
        return subnet.policy
    if not subnet.qos.on or not subnet.qos.levels:
        return None
    origin = subnet.qos.origin
    levels = tuple(_level(level.name, level.sl, level.origin) for level in subnet.qos.levels)
    if not any(level.text("name").upper() == DEFAULT for level in levels):
        levels = (_level(DEFAULT, _default_sl(subnet), origin), *levels)
    return QosPolicy((), (), levels, tuple(_rules(subnet)), origin)


def _default_sl(subnet: Subnet) -> int:
    """Return the SL of packets that match no rule: that of the default partition, which is 0 where none is declared."""
    return next((p.sl for p in _partitions(subnet) if p.base == DEFAULT_PKEY and p.sl is not None), 0)


def _partitions(subnet: Subnet) -> tuple[Partition, ...]:
    partitions = subnet.partitions
    return () if partitions is None or isinstance(partitions, Unknown) else partitions


def _rules(subnet: Subnet) -> Iterator[PolicyBlock]:
    """Yield a match rule for each partition with a P_Key and the SL of a level: a policy overrides a partition's SL.

    The default partition needs none: its SL is that of the default level.
    """
    names = {level.sl: level.name for level in subnet.qos.levels}
    for partition in _partitions(subnet):
        if partition.sl in names and partition.base not in (None, DEFAULT_PKEY):
            stated = (
                ("use", f"partition {partition.name}"),
                ("pkey", f"0x{partition.base:04x}"),
                ("qos-level-name", names[partition.sl]),
            )
            yield PolicyBlock("qos-match-rule", _lines(stated, partition.origin), partition.origin)


def _level(name: str, sl: int, origin: Origin) -> PolicyBlock:
    return PolicyBlock("qos-level", _lines((("name", name), ("sl", str(sl))), origin), origin)


def _lines(stated: tuple[tuple[str, str], ...], origin: Origin) -> tuple[PolicyLine, ...]:
    return tuple(PolicyLine(word, text, origin) for word, text in stated)


TORUS_ENGINE = "torus-2QoS"
SL_IS_LANE = ("lash", "dfsssp", "nue")
"""Engines whose SL of a path is the number of the path's lane."""
TORUS_PORTS: tuple[Literal["ca", "swe"], ...] = ("ca", "swe")
"""Kinds of ports with lanes of their own: hosts, and ports of switches, as keys of arbitration tables have them."""
SECOND_LEVEL = 8
"""The bit of an SL that selects the second level of torus-2QoS; the engine uses all other bits."""


def torus_lanes(kind: Literal["ca", "swe"], vls: int, sl: int) -> frozenset[int]:
    """Return the VLs on which packets of an SL leave ports of one kind, with ``vls`` operational VLs."""
    second = bool(sl & SECOND_LEVEL)
    if kind == "ca":
        return frozenset({1 if second and vls >= 2 else 0})
    first = 4 if second and vls >= 8 else 0
    return frozenset(range(first, first + (4 if vls >= 4 else 2 if vls >= 2 else 1)))


SWITCHES = 0x0200_0000_0000_0000
HCAS = 0x0200_0001_0000_0000
"""The bases of derived GUIDs of switches and of HCAs: locally administered (bit 57), so that no vendor has them."""


def with_derived_guids(subnet: Subnet) -> Subnet:
    """Return the subnet for a simulation: every switch, every HCA and every member that is an HCA has a GUID.

    Derived port GUIDs of HCAs are two apart, since a simulated HCA has its node GUID one below them. A subnet whose
    switches or HCAs are UNKNOWN is returned unchanged.
    """
    if isinstance(subnet.switches, Unknown) or isinstance(subnet.hcas, Unknown):
        return subnet
    switches = tuple(
        switch if switch.guid is not None else switch._replace(guid=SWITCHES + index)
        for index, switch in enumerate(subnet.switches, 1)
    )
    hcas = tuple(
        hca if hca.guid is not None else hca._replace(guid=HCAS + 2 * index + 1)
        for index, hca in enumerate(subnet.hcas)
    )
    return _members_too(subnet._replace(switches=switches, hcas=hcas), {hca.name: hca.guid for hca in hcas})


def _members_too(subnet: Subnet, guids: dict[str, int | None]) -> Subnet:
    if subnet.partitions is None or isinstance(subnet.partitions, Unknown):
        return subnet
    partitions = tuple(
        partition._replace(
            members=tuple(
                member if member.hca is None else member._replace(guid=guids[member.hca])
                for member in partition.members
            )
        )
        for partition in subnet.partitions
    )
    return subnet._replace(partitions=partitions)
