"""A fabric as directed channels between hosts and switches: traffic follows them, pauses propagate against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import Tier, known_tier

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric


class StormChannel(NamedTuple):
    """One direction of a link, from a port of one node to a port of another; ``cable`` is the link's number."""

    source: str
    source_port: str
    target: str
    target_port: str
    speed_bps: int
    cable: int


class ChannelGraph(NamedTuple):
    """The channels of a fabric, those into and out of every node, and the rank of each node.

    Hosts have rank 0, switches the number of their tier, in a fabric without tiers all that of a leaf. The two
    directions of a link are adjacent.
    """

    channels: tuple[StormChannel, ...]
    into: dict[str, list[int]]
    out_of: dict[str, list[int]]
    rank: dict[str, int]
    tiered: bool

    def is_up(self, channel: int) -> bool:
        """Whether a channel leads to a higher tier."""
        ends = self.channels[channel]
        return self.rank[ends.source] < self.rank[ends.target]

    def is_down(self, channel: int) -> bool:
        """Whether a channel leads to a lower tier."""
        ends = self.channels[channel]
        return self.rank[ends.source] > self.rank[ends.target]

    def to_host(self, channel: int) -> bool:
        """Whether a channel leads to a host."""
        return not self.rank[self.channels[channel].target]

    def from_host(self, channel: int) -> bool:
        """Whether a channel comes from a host."""
        return not self.rank[self.channels[channel].source]

    @property
    def switches(self) -> list[str]:
        """All switches, the lowest first."""
        return sorted((node for node, rank in self.rank.items() if rank), key=self.rank.__getitem__)


def channel_graph(fabric: Fabric) -> ChannelGraph:
    """Return a fabric as channels, without elements that are out of service.

    Raises:
        ScenarioError: a switch that has several ASICs.
    """
    several = next((switch.device for switch in fabric.switches if switch.asic), None)
    if several is not None:
        raise ScenarioError(
            f"{several} has several ASICs, each with a buffer of its own, and its profile does not say how they are "
            "connected: which of them fills, and when, is unknown"
        )
    tiers = {switch.name: known_tier(switch.tier) for switch in fabric.switches}
    tiered = None not in tiers.values()
    rank = {name: int(tier if tier and tiered else Tier.LEAF) for name, tier in tiers.items()}
    rank.update({host.name: 0 for host in fabric.hosts})
    failed = fabric.failures
    channels: list[StormChannel] = []
    for number, (a, a_port, b, b_port, speed_bps, _) in enumerate(fabric.links):
        if failed is None or failed.works(a, b):
            channels.append(StormChannel(a, a_port, b, b_port, speed_bps, number))
            channels.append(StormChannel(b, b_port, a, a_port, speed_bps, number))
    into: dict[str, list[int]] = {node: [] for node in rank}
    out_of: dict[str, list[int]] = {node: [] for node in rank}
    for at, channel in enumerate(channels):
        out_of[channel.source].append(at)
        into[channel.target].append(at)
    return ChannelGraph(tuple(channels), into, out_of, rank, tiered)
