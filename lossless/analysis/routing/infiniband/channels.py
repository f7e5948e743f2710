"""A subnet in numbers for routing: switches, the channels between them, and the attachment of HCAs.

A channel is one direction of one link between two switches. Links of HCAs are left out: an HCA forwards nothing,
so no cycle of waits includes its link.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lossless.ground.basics.known import Unknown
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.infiniband.guids import with_derived_guids

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetLink, SubnetSwitch


class SubnetChannel(NamedTuple):
    """One direction of a link: out of ``port`` of switch ``near`` into ``far_port`` of switch ``far``, by number."""

    near: int
    port: int
    far: int
    far_port: int


class HcaAttachment(NamedTuple):
    """The attachment of an HCA: the number of a switch, and the port of it."""

    switch: int
    port: int


class SubnetGraph(NamedTuple):
    """Switches and HCAs by number, in the order of the subnet.

    ``out`` has the channels that leave each switch, by port. ``attached`` has the attachment of each HCA. ``guids`` are
    those of the switches, declared or derived.
    """

    switches: tuple[SubnetSwitch, ...]
    hcas: tuple[str, ...]
    guids: tuple[int, ...]
    channels: tuple[SubnetChannel, ...]
    out: tuple[tuple[int, ...], ...]
    attached: tuple[HcaAttachment, ...]

    def hcas_by_switch(self) -> tuple[tuple[int, ...], ...]:
        """Return the HCAs of each switch, by port."""
        by_switch: list[list[int]] = [[] for _ in self.switches]
        for hca in sorted(range(len(self.hcas)), key=self.attached.__getitem__):
            by_switch[self.attached[hca].switch].append(hca)
        return tuple(map(tuple, by_switch))

    def channel_at(self) -> dict[tuple[int, int], int]:
        """Return the channels by switch and port."""
        return {(channel.near, channel.port): number for number, channel in enumerate(self.channels)}


def subnet_graph(subnet: Subnet) -> SubnetGraph | str:
    """Return a subnet in numbers; for a subnet without the needed facts, the reason as text."""
    named = with_derived_guids(subnet)
    switches, hcas, links = named.switches, named.hcas, named.links
    if isinstance(switches, Unknown) or isinstance(hcas, Unknown) or isinstance(links, Unknown):
        return "the configuration of a subnet manager does not say how the fabric is cabled"
    if any(link.a_port is None or link.b_port is None for link in links):
        return "a switch has no port left for a link, so the fabric cannot be cabled"
    numbers = {switch.name: number for number, switch in enumerate(switches)}
    places = {link.b: HcaAttachment(numbers[link.a], link.a_port or 0) for link in links if link.to_hca}
    if len(places) < len(hcas):
        return "an HCA is not connected to any switch"
    channels = sorted(
        channel for link in links if not link.to_hca for channel in _both_directions(link, numbers)
    )
    out: dict[int, list[int]] = defaultdict(list)
    for number, channel in enumerate(channels):
        out[channel.near].append(number)
    return SubnetGraph(
        switches=switches,
        hcas=tuple(hca.name for hca in hcas),
        guids=tuple(switch.guid or 0 for switch in switches),
        channels=tuple(channels),
        out=tuple(tuple(out[number]) for number in range(len(switches))),
        attached=tuple(places[hca.name] for hca in hcas),
    )


def _both_directions(link: SubnetLink, numbers: dict[str, int]) -> tuple[SubnetChannel, SubnetChannel]:
    a, a_port, b, b_port = numbers[link.a], link.a_port or 0, numbers[link.b], link.b_port or 0
    return SubnetChannel(a, a_port, b, b_port), SubnetChannel(b, b_port, a, a_port)
