"""How traffic is shared over a fabric in tiers that is whole: by any of the shortest paths evenly, up and then down.

What comes from below a switch goes to where its destination is below another of its links, else up; what comes from
above goes down. That is what ``storm.paths`` finds for every destination by itself, for all of them at
once, and so for fabrics of any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.storm.channels import ChannelGraph

    Leaves = frozenset[str]


class LeafReachability:
    """The leaves below each switch of a fabric, and those it reaches up and then down; equal sets are shared."""

    def __init__(self, net: ChannelGraph) -> None:
        self.net = net
        shared: dict[Leaves, Leaves] = {}
        self.below: dict[str, Leaves] = {}
        for switch in net.switches:
            leaves = self._union(shared, (self.below[node] for node in self._lower(switch)))
            self.below[switch] = leaves if net.rank[switch] > 1 else frozenset((switch,))
        self.reached: dict[str, Leaves] = {}
        for switch in reversed(net.switches):
            above = {
                id(leaves_above): leaves_above
                for node in self._upper(switch)
                if (leaves_above := self.reached[node])
            }
            self.reached[switch] = self._union(shared, (self.below[switch], *above.values()))

    @staticmethod
    def _union(known: dict[Leaves, Leaves], sets: Iterator[Leaves] | Sequence[Leaves]) -> Leaves:
        distinct = {id(leaves): leaves for leaves in sets}
        union: Leaves = frozenset[str]().union(*distinct.values())
        return known.setdefault(union, union)

    def _lower(self, switch: str) -> set[str]:
        targets = (self.net.channels[at].target for at in self.net.out_of[switch] if self.net.is_down(at))
        return {node for node in targets if self.net.rank[node]}

    def _upper(self, switch: str) -> set[str]:
        return {self.net.channels[at].target for at in self.net.out_of[switch] if self.net.is_up(at)}

    @property
    def whole(self) -> bool:
        """Whether every uplink leads on to all leaves, so that none is better than another beside it."""
        if not self.net.tiered:
            return False
        leaves = frozenset(node for node, rank in self.net.rank.items() if rank == 1)
        return all(self._is_whole(switch, leaves) for switch in self.net.switches)

    def _is_whole(self, switch: str, leaves: Leaves) -> bool:
        net = self.net
        if any(not (net.is_up(at) or net.is_down(at)) for at in net.out_of[switch]):
            return False
        if net.rank[switch] > 1 and any(map(net.to_host, net.out_of[switch])):
            return False
        upper, lower = self._upper(switch), self._lower(switch)
        if not upper:
            reaches = self.below[switch] == leaves
        else:
            reaches = all(self.reached[node] == leaves for node in upper) and _at_most_one(
                map(net.rank.get, upper)
            )
        apart = {id(self.below[node]): self.below[node] for node in lower}
        return (
            reaches
            and sum(map(len, apart.values())) == len(self.below[switch] - {switch})
            and _at_most_one(map(net.rank.get, lower))
        )


def _at_most_one(values: Iterator[int | None]) -> bool:
    return len(set(values)) <= 1


class TierShares:
    """How much of what comes in by one channel of a switch leaves by another, by how much each host is sent.

    ``weights`` has the weight of each channel into a host; what is not in it is sent nothing.
    """

    def __init__(self, tiers: LeafReachability, weights: Mapping[int, float]) -> None:
        self._net, self._below = tiers.net, tiers.below
        self._leaf = dict.fromkeys((node for node, rank in self._net.rank.items() if rank), 0.0)
        for channel, weight in weights.items():
            self._leaf[self._net.channels[channel].source] += weight
        self._total = sum(self._leaf.values())
        self._sums: dict[int, float] = {}
        self._shares: dict[tuple[str, str | int | None], dict[int, float]] = {}
        self._out = {switch: self._outgoing(switch, weights) for switch in self._net.switches}

    def _outgoing(
        self, switch: str, weights: Mapping[int, float]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return what leads down and up, each with its weight."""
        net, down, up = self._net, dict[int, float](), []
        groups: dict[frozenset[str], list[int]] = {}
        for at in net.out_of[switch]:
            target = net.channels[at].target
            if not net.rank[target]:
                down[at] = weights.get(at, 0.0)
            elif net.is_down(at):
                groups.setdefault(self._below[target], []).append(at)
            elif net.is_up(at):
                up.append(at)
        for leaves, channels in groups.items():
            down.update(dict.fromkeys(channels, self._sum(leaves) / len(channels)))
        beyond = max(0.0, self._total - self._sum(self._below[switch]))
        return down, dict.fromkeys(up, beyond / len(up)) if up else {}

    def _sum(self, leaves: frozenset[str]) -> float:
        # Equal sets are one and the same, so their address is enough.
        if id(leaves) not in self._sums:
            self._sums[id(leaves)] = sum(self._leaf[leaf] for leaf in leaves)
        return self._sums[id(leaves)]

    def of(self, came: int) -> Mapping[int, float]:
        """Return the channels that traffic from channel ``came`` leaves its switch by, with shares that add up to 1.

        Empty where nothing of it goes on. Channels from where the same is sent nothing share one mapping.
        """
        net = self._net
        channel = net.channels[came]
        origin = self._origin(channel.source) if not net.is_down(came) else None
        key = channel.target, origin
        if key not in self._shares:
            self._shares[key] = self._shared(channel.target, origin)
        return self._shares[key]

    def _shared(self, switch: str, origin: str | int | None) -> dict[int, float]:
        down, up = self._out[switch]
        if origin is None:
            allowed = down
        else:
            channels = self._net.channels
            back = {at for at in down if self._origin(channels[at].target) == origin}
            allowed = {at: weight for at, weight in (down | up).items() if at not in back}
        total = sum(allowed.values())
        return {at: weight / total for at, weight in allowed.items() if weight} if total else {}

    def _origin(self, node: str) -> str | int:
        """Return where nothing is sent back to: a host itself, of a switch the leaves below it."""
        # Equal sets are one and the same, so their address is enough.
        return id(self._below[node]) if self._net.rank[node] else node
