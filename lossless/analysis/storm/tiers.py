"""Traffic shares in a complete fabric in tiers: evenly over the shortest paths that go up and then down.

Traffic from below goes to the link with its destination below it, else up; traffic from a higher tier goes down. The
result is that of ``storm.paths``, but for all destinations at once, and so for fabrics of any size.

The fabric is a graph of directed channels between hosts and switches: traffic follows them, pauses propagate against
them. Rates of channels are those where hosts send at line rate, and each link limits its own traffic; shares are
those of the traffic that comes in at a switch by the channels that leave it.
"""

from __future__ import annotations

from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Tier, known_tier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from lossless.model.fabric.model import Fabric


class StormChannel(NamedTuple):
    """One direction of a link, from a port of one node to a port of another; ``cable`` numbers links of the fabric."""

    source: str
    source_port: str
    target: str
    target_port: str
    speed_bps: int
    cable: int


class ChannelGraph(NamedTuple):
    """The channels of a fabric, those into and out of every node, and the rank of each node.

    Hosts have rank 0, switches the number of their tier; all switches have that of a leaf where any tier is unknown
    (``tiered`` False). The two directions of a link are adjacent.
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
    """Return a fabric as channels, without links that are out of service or lead to a switch that is.

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


_SAME = 1e-6
"""The largest change of a channel's rate, as a share of its speed, that is not passed on to the next switch."""


def rates(net: ChannelGraph, shares: Mapping[int, EgressShares], senders: Iterable[int]) -> list[float]:
    """Return the b/s on each channel where ``senders`` (channels from hosts) send at line rate.

    ``shares`` has for each channel into a switch the shares of its traffic by egress.
    """
    rate = [0.0] * len(net.channels)
    for at in senders:
        rate[at] = float(net.channels[at].speed_bps)
    order = net.switches
    unsettled = set(order)
    # One pass up and one down settles a fabric in tiers; elsewhere each pass brings the rates nearer to their limit.
    for switches in _passes(order):
        for switch in switches:
            if switch in unsettled:
                unsettled.remove(switch)
                unsettled.update(_pass_on(net, shares, rate, switch))
        if not unsettled:
            return rate
    return rate


def _passes(order: list[str]) -> Iterable[list[str]]:
    yield order
    while True:
        yield order[::-1]


def _pass_on(
    net: ChannelGraph, shares: Mapping[int, EgressShares], rate: list[float], switch: str
) -> set[str]:
    """Compute the rates of channels out of a switch from those into it; return next switches whose rates change."""
    leaving = _leaving([(shares.get(at, NOTHING), rate[at]) for at in net.into[switch] if rate[at]])
    changed = set()
    for out in net.out_of[switch]:
        channel = net.channels[out]
        capped_bps = min(leaving.get(out, 0.0), float(channel.speed_bps))
        if abs(capped_bps - rate[out]) > _SAME * channel.speed_bps and net.rank[channel.target]:
            changed.add(channel.target)
        rate[out] = capped_bps
    return changed


def _leaving(arriving: Sequence[tuple[EgressShares, float]]) -> dict[int, float]:
    """Return the b/s that leave a switch by each channel, from the shares and b/s of each channel into it.

    The work grows with the channels and the exclusions of each.
    """
    per_weight: dict[int, list[float]] = {}
    kept_back: dict[tuple[int, int], list[float]] = {}
    for shares, bps in arriving:
        each = bps / shares.total
        per_weight.setdefault(id(shares.weights), []).append(each)
        for out in shares.excluded:
            kept_back.setdefault((id(shares.weights), out), []).append(each)
    leaving: dict[int, float] = {}
    for number, weights in {id(shares.weights): shares.weights for shares, _ in arriving}.items():
        # Sums are rounded once, so that nothing is left where all that comes is kept back.
        every = fsum(per_weight[number])
        for out, weight in weights.items():
            back = kept_back.get((number, out))
            bps = weight * (every - fsum(back) if back else every)
            leaving[out] = leaving.get(out, 0.0) + bps
    return leaving


class EgressShares(NamedTuple):
    """The shares of the traffic of one channel: each egress by its weight, except those ``excluded``.

    ``weights`` has the egresses of a switch with a weight above 0, and is one object for all channels into the switch
    with the same shares, so that a fabric takes memory by its channels and not by pairs of them. ``total`` is the sum
    of the weights that are not excluded.
    """

    weights: Mapping[int, float]
    total: float
    excluded: frozenset[int] = frozenset()

    def of(self, out: int) -> float:
        """Return the share of the traffic that leaves by the channel ``out``."""
        return 0.0 if out in self.excluded else self.weights.get(out, 0.0) / self.total

    def any_of(self, outs: Collection[int]) -> bool:
        """Return whether any traffic leaves by one of the channels ``outs``."""
        return any(out in self.weights and out not in self.excluded for out in outs)

    def parts(self) -> dict[int, float]:
        """Return the share of every egress that is not excluded; if there is traffic, the shares sum to 1."""
        return {out: self.of(out) for out in self.weights if out not in self.excluded}


NOTHING = EgressShares({}, 1.0)
"""The shares of no traffic."""


def sharing(
    weights: Mapping[int, float], excluded: frozenset[int] = frozenset(), every: float | None = None
) -> EgressShares:
    """Return the shares by weight, all weights being above 0; :data:`NOTHING` where all egresses are excluded.

    ``every`` is the sum of the weights (``fsum``) where that is known.
    """
    left = fsum(weights[out] for out in excluded if out in weights)
    total = (fsum(weights.values()) if every is None else every) - left
    return EgressShares(weights, total, excluded) if total > 0 else NOTHING


class WeightSum:
    """Sums of the shares of the egresses ``outs`` of a switch; the work grows with the exclusions of each share.

    Sums are rounded once (``fsum``), so that a share is exactly 0 where all these egresses are excluded.
    """

    def __init__(self, outs: Set[int]) -> None:
        self._outs = outs
        self._sums: dict[int, float] = {}

    def part(self, shares: EgressShares) -> float:
        """Return the share that leaves by any of the egresses."""
        weights = shares.weights
        if id(weights) not in self._sums:
            self._sums[id(weights)] = fsum(weights.get(out, 0.0) for out in self._outs)
        if shares.excluded.isdisjoint(self._outs):
            return self._sums[id(weights)] / shares.total
        left = fsum(weights.get(out, 0.0) for out in shares.excluded if out in self._outs)
        return (self._sums[id(weights)] - left) / shares.total


if TYPE_CHECKING:
    Leaves = frozenset[str]


class LeafReachability:
    """The leaves below each switch of a fabric, and the leaves it reaches up and then down; equal sets are shared."""

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
        """Whether the fabric is in complete tiers: every uplink reaches all leaves, so parallel uplinks are equivalent.

        Also, no link joins two switches of one tier, or a host and a switch above the leaves.
        """
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
    """Return for each switch the linked switches of higher rank, and those of lower rank."""
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
    """The shares of the traffic of each channel into a switch by egress, from the weights of the hosts.

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
        """Return the key of a source that gets none of its traffic back: a host, or the leaves below a switch."""
        # Equal sets are one and the same, so their address is enough.
        return id(self._below[node]) if self._net.rank[node] else node


class _Outgoing(NamedTuple):
    """The weights of channels out of a switch: those down, and all, with their sum.

    ``back`` has the channels that lead back to a source of traffic, by the key of the source.
    """

    down: Mapping[int, float]
    every: Mapping[int, float]
    sum: float
    back: Mapping[str | int, frozenset[int]]


def _above_zero(weights: Mapping[int, float]) -> dict[int, float]:
    return {at: weight for at, weight in weights.items() if weight}
