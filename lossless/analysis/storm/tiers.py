"""Traffic shares in a complete fabric in tiers: evenly over the shortest paths that go up and then down.

Traffic from below goes to the link with its destination below it, else up; traffic from a higher tier goes down. The
result is that of ``storm.paths``, but for all destinations at once, and so for fabrics of any size.
"""

from __future__ import annotations

from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

from lossless.analysis.storm.shares import EgressShares, sharing
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.storm.channels import ChannelGraph

    Leaves = frozenset[str]


class LeafReachability:
    """The leaves below each switch of a fabric, and those it reaches up and then down; equal sets are shared."""

    def __init__(self, net: ChannelGraph) -> None:
        self.net = net
        self._upper, self._lower = _neighbors(net)
        shared: dict[Leaves, Leaves] = {}
        self.below: dict[str, Leaves] = {}
        for switch in net.switches:
            leaves = self._union(shared, (self.below[node] for node in self._lower[switch]))
            self.below[switch] = leaves if net.rank[switch] > 1 else frozenset((switch,))
        self.reached: dict[str, Leaves] = {}
        for switch in reversed(net.switches):
            above = {
                id(leaves_above): leaves_above
                for node in self._upper[switch]
                if (leaves_above := self.reached[node])
            }
            self.reached[switch] = self._union(shared, (self.below[switch], *above.values()))

    @staticmethod
    def _union(known: dict[Leaves, Leaves], sets: Iterator[Leaves] | Sequence[Leaves]) -> Leaves:
        distinct = {id(leaves): leaves for leaves in sets}
        union: Leaves = frozenset[str]().union(*distinct.values())
        return known.setdefault(union, union)

    @cached_property
    def whole(self) -> bool:
        """Whether every uplink reaches all leaves, so that all parallel uplinks are equivalent."""
        if not self.net.tiered:
            return False
        leaves = frozenset(node for node, rank in self.net.rank.items() if rank == 1)
        return all(self._is_whole(switch, leaves) for switch in self.net.switches)

    def _is_whole(self, switch: str, leaves: Leaves) -> bool:
        net = self.net
        ranks = {net.rank[net.channels[at].target] for at in net.out_of[switch]}
        if net.rank[switch] in ranks or (net.rank[switch] > 1 and 0 in ranks):
            return False
        upper, lower = self._upper[switch], self._lower[switch]
        if not upper:
            reaches = self.below[switch] == leaves
        else:
            # Equal sets are one and the same, and comparing two takes as long as they are large.
            above = {id(self.reached[node]): self.reached[node] for node in upper}
            reaches = all(each == leaves for each in above.values()) and _at_most_one(
                map(net.rank.get, upper)
            )
        apart = {id(self.below[node]): self.below[node] for node in lower}
        return (
            reaches
            and sum(map(len, apart.values())) == len(self.below[switch]) - (switch in self.below[switch])
            and _at_most_one(map(net.rank.get, lower))
        )


def _neighbors(net: ChannelGraph) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the switches above each switch, and those below it."""
    upper: dict[str, set[str]] = {switch: set() for switch in net.switches}
    lower: dict[str, set[str]] = {switch: set() for switch in net.switches}
    for channel in net.channels:
        if channel.source in upper and channel.target in upper:
            rise = net.rank[channel.target] - net.rank[channel.source]
            if rise > 0:
                upper[channel.source].add(channel.target)
            elif rise < 0:
                lower[channel.source].add(channel.target)
    return upper, lower


def _at_most_one(values: Iterator[int | None]) -> bool:
    return len(set(values)) <= 1


class TierShares:
    """The shares of the traffic of one channel into a switch by egress, from the weights of the hosts.

    ``weights`` has the weight of each channel into a host; a channel without a weight receives no traffic.
    """

    def __init__(self, tiers: LeafReachability, weights: Mapping[int, float]) -> None:
        self._net, self._below = tiers.net, tiers.below
        self._leaf = dict.fromkeys((node for node, rank in self._net.rank.items() if rank), 0.0)
        for channel, weight in weights.items():
            self._leaf[self._net.channels[channel].source] += weight
        self._total = sum(self._leaf.values())
        self._sums: dict[int, float] = {}
        self._shares: dict[tuple[str, str | int | None], EgressShares] = {}
        self._outgoing = {switch: self._weighed(switch, weights) for switch in self._net.switches}

    def _weighed(self, switch: str, weights: Mapping[int, float]) -> _Outgoing:
        net, down, up = self._net, dict[int, float](), list[int]()
        back: dict[str | int, set[int]] = {}
        groups: dict[int, list[int]] = {}
        rank = net.rank[switch]
        for at in net.out_of[switch]:
            target = net.channels[at].target
            if not net.rank[target]:
                down[at] = weights.get(at, 0.0)
                back.setdefault(target, set()).add(at)
            elif net.rank[target] < rank:
                groups.setdefault(id(self._below[target]), []).append(at)
            else:
                up.append(at)
        for leaves, channels in groups.items():
            back[leaves] = set(channels)
            below = self._sum(self._below[net.channels[channels[0]].target])
            down.update(dict.fromkeys(channels, below / len(channels)))
        beyond = max(0.0, self._total - self._sum(self._below[switch]))
        every = down | dict.fromkeys(up, beyond / len(up) if up else 0.0)
        frozen = {origin: frozenset(channels) for origin, channels in back.items()}
        weights = _above_zero(every)
        return _Outgoing(_above_zero(down), weights, fsum(weights.values()), frozen)

    def _sum(self, leaves: frozenset[str]) -> float:
        # Equal sets are one and the same, so their address is enough.
        if id(leaves) not in self._sums:
            self._sums[id(leaves)] = sum(self._leaf[leaf] for leaf in leaves)
        return self._sums[id(leaves)]

    def of(self, came: int) -> EgressShares:
        """Return the shares of the traffic from channel ``came`` over the channels that leave its switch.

        Traffic from a higher tier goes down; none goes back to where it came from. Channels with the same
        excluded egresses have the same shares.
        """
        net = self._net
        channel = net.channels[came]
        falls = net.rank[channel.source] > net.rank[channel.target]
        origin = None if falls else self._origin(channel.source)
        key = channel.target, origin
        if key not in self._shares:
            outgoing = self._outgoing[channel.target]
            excluded = outgoing.back.get(origin, frozenset[int]()) if origin is not None else frozenset[int]()
            weights, every = (outgoing.down, None) if origin is None else (outgoing.every, outgoing.sum)
            self._shares[key] = sharing(weights, excluded, every)
        return self._shares[key]

    def _origin(self, node: str) -> str | int:
        """Return the origin to which no traffic returns: a host itself, for a switch the leaves below it."""
        # Equal sets are one and the same, so their address is enough.
        return id(self._below[node]) if self._net.rank[node] else node


class _Outgoing(NamedTuple):
    """The traffic that leaves a switch, by weight: down, and down or up, with its sum; and that back to each origin."""

    down: Mapping[int, float]
    every: Mapping[int, float]
    sum: float
    back: Mapping[str | int, frozenset[int]]


def _above_zero(weights: Mapping[int, float]) -> dict[int, float]:
    return {at: weight for at, weight in weights.items() if weight}
