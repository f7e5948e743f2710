"""GUIDs of a simulated fabric: the declared ones, and others derived from the order of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import Unknown

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet

SWITCHES = 0x0200_0000_0000_0000
HCAS = 0x0200_0001_0000_0000
"""The first derived GUID: locally administered (bit 57 is set), so that it collides with no vendor's."""


def with_derived_guids(subnet: Subnet) -> Subnet:
    """Return the subnet for a simulation: every switch, every HCA and every member that is an HCA has a GUID.

    HCAs are two apart: a simulated HCA has its node GUID one below the GUID of its port.
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
