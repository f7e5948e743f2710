"""Traffic shares in any fabric, evenly over all shortest paths to a destination; names of nodes relative to a host.

Under up-down routing a path is a shortest one of those that go up and then down; under shortest-path, of all. Each
switch shares the traffic to a destination evenly over the links that lead nearer to it, as ECMP does.

Names for people are relative to one host. In tiers: ``its leaf``, ``spines of other pods``. Where an intent's shape
has groups, by these: ``spines of its group``. Elsewhere by the number of links from the host's switches.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from lossless.analysis.storm.tiers import ChannelGraph, LeafReachability
    from lossless.model.fabric.cabling import RoutingPolicy


MOST_WORK = 20_000_000
"""The most channels visited, over all destination switches: about a minute."""


class TrafficShares(NamedTuple):
    """The shares of each channel's traffic by the channel it leaves by, and the number of switch pairs without path."""

    shares: dict[int, dict[int, float]]
    lost: int


class _PathState(NamedTuple):
    """The position of a packet: its switch, and whether it can no longer go up there."""

    switch: str
    falls: bool


class EcmpPaths:
    """The shortest paths between switches of a fabric under a routing policy."""

    def __init__(self, net: ChannelGraph, policy: RoutingPolicy) -> None:
        self._net, self._rises = net, policy == "shortest-path"
        self._between = [
            at for at in range(len(net.channels)) if not net.from_host(at) and not net.to_host(at)
        ]
        self._into: dict[_PathState, list[tuple[_PathState, int]]] = {}
        for at in self._between:
            for tail in self._tails(at):
                self._into.setdefault(self._head(at), []).append((tail, at))

    def _head(self, at: int) -> _PathState:
        return _PathState(self._net.channels[at].target, not self._rises and not self._net.is_up(at))

    def _tails(self, at: int) -> Iterable[_PathState]:
        """Return the states from which a packet may take a channel: up or level ones only before it went down."""
        source = self._net.channels[at].source
        yield _PathState(source, False)
        if not self._rises and self._net.is_down(at):
            yield _PathState(source, True)

    def shares(self, weights: Mapping[int, float], senders: Set[int] | None = None) -> TrafficShares:
        """Return the traffic shares where hosts send to each channel into a host by its weight.

        ``senders`` are the channels from hosts with traffic, None for all.

        Raises:
            ScenarioError: the fabric is too large to process every destination by itself.
        """
        ends: dict[str, dict[int, float]] = {}
        for channel, weight in weights.items():
            ends.setdefault(self._net.channels[channel].source, {})[channel] = weight
        if len(ends) * len(self._between) > MOST_WORK:
            raise ScenarioError(
                f"traffic to {len(ends):,} switches over {len(self._between) // 2:,} links between switches is too "
                "much to follow on a fabric with incomplete tiers; choose incast or a smaller fabric of the same kind"
            )
        flows = _Flows(self._net, senders)
        lost = sum(self._follow(flows, switch, own) for switch, own in ends.items())
        return TrafficShares(flows.shares(), lost)

    def _follow(self, flows: _Flows, end: str, own: Mapping[int, float]) -> int:
        """Add the traffic to the hosts of one switch; return the number of sending switches without a path to it."""
        order, nearer = self._next_hops(end)
        weight = sum(own.values())
        waiting: dict[_PathState, dict[int, float]] = {}
        for place in reversed(order):
            came = waiting.get(place, {})
            if not place.falls:
                flows.begin(place.switch, came, weight)
            goes = own if place.switch == end else dict.fromkeys(nearer[place], 1.0)
            for out, sent in flows.passed(came, goes).items():
                if place.switch != end:
                    waiting.setdefault(self._head(out), {})[out] = sent
        starts = {place.switch for place in order if not place.falls}
        return sum(switch not in starts for switch in flows.senders)

    def _next_hops(self, end: str) -> tuple[list[_PathState], dict[_PathState, list[int]]]:
        """Return the states that lead to a switch, the nearest first, and the channels from each that lead nearer."""
        far = dict.fromkeys((_PathState(end, False), _PathState(end, True)), 0)
        order, nearer = list(far), dict[_PathState, list[int]]()
        for place in order:
            for tail, at in self._into.get(place, ()):
                if tail not in far:
                    far[tail] = far[place] + 1
                    order.append(tail)
                if far[tail] == far[place] + 1:
                    nearer.setdefault(tail, []).append(at)
        return order, nearer


class _Flows:
    """The traffic from channel to channel, summed over destinations; hosts of a switch send as one."""

    def __init__(self, net: ChannelGraph, senders: Set[int] | None) -> None:
        self._net = net
        sending = {
            switch: [
                at for at in net.into[switch] if net.from_host(at) and (senders is None or at in senders)
            ]
            for switch in net.switches
        }
        self.senders = {switch: channels for switch, channels in sending.items() if channels}
        # Beside the numbers of channels, one below 0 for the hosts of each switch.
        self._hosts = {switch: -1 - number for number, switch in enumerate(self.senders)}
        self._passed: dict[int, dict[int, float]] = {}

    def begin(self, switch: str, came: dict[int, float], weight: float) -> None:
        """Add the traffic that the hosts of a switch send to a destination of some weight."""
        if switch in self.senders:
            speed_bps = sum(self._net.channels[at].speed_bps for at in self.senders[switch])
            came[self._hosts[switch]] = weight * speed_bps

    def passed(self, came: Mapping[int, float], goes: Mapping[int, float]) -> dict[int, float]:
        """Distribute incoming traffic over outgoing channels by their weights; return the traffic of each of these."""
        every, arrived = sum(goes.values()), sum(came.values())
        for at, rate in came.items():
            passed = self._passed.setdefault(at, {})
            for out, part in goes.items():
                passed[out] = passed.get(out, 0.0) + rate * part / every
        return {out: arrived * part / every for out, part in goes.items()}

    def shares(self) -> dict[int, dict[int, float]]:
        """Return the share of each channel's traffic that leaves by each next channel; no host sends to itself."""
        shares = {at: _parts(leaving) for at, leaving in self._passed.items() if at >= 0}
        for switch, senders in self.senders.items():
            leaving = self._passed.get(self._hosts[switch], {})
            for at in senders:
                own = self._net.channels[at].source
                others = {out: sent for out, sent in leaving.items() if self._net.channels[out].target != own}
                shares[at] = _parts(others)
        return shares


def _parts(leaving: Mapping[int, float]) -> dict[int, float]:
    total = sum(leaving.values())
    return {out: sent / total for out, sent in leaving.items() if sent} if total else {}


_NAMES = {1: "leaves", 2: "spines", 3: "super-spines"}


class ShapeGroups(NamedTuple):
    """The groups of a topology's shape: the word for one, and the group number of every switch in a group."""

    name: str
    of: Mapping[str, int]


class RelativeNames:
    """One host and the switches it is connected to; names other nodes relative to them."""

    def __init__(
        self,
        tiers: LeafReachability,
        host: str,
        leaves: Set[str],
        groups: ShapeGroups | None = None,
        rail_of: Mapping[str, int] | None = None,
    ) -> None:
        self._net, self._below, self._groups = tiers.net, tiers.below, groups
        self.rail_of = rail_of or {}
        self._rails = {self.rail_of[leaf] for leaf in leaves if leaf in self.rail_of}
        """The rails of the host's switches."""
        self.host = host
        self.leaves = leaves
        singular, plural = ("leaf", "leaves") if self._net.tiered else ("switch", "switches")
        self.its_leaf = f"its {singular if len(leaves) == 1 else plural}"
        self._named: dict[str, str] = {}

    def who(self, node: str) -> str:
        """Return the name of a node relative to the host: ``its leaf``, ``spines of other pods``."""
        if node not in self._named:
            self._named[node] = self._who(node)
        return self._named[node]

    def _who(self, node: str) -> str:
        rank = self._net.rank[node]
        if node == self.host:
            return node
        if rank == 0:
            return "hosts"
        if node in self.leaves:
            return self.its_leaf
        if self._groups is not None and node in self._groups.of:
            return self._in_group(node, self._groups)
        if not self._net.tiered:
            far = self.links_away[node]
            return f"switches {far} {'link' if far == 1 else 'links'} away"
        if rank == 1:
            return self._leaf(node)
        return "super-spines" if rank == 3 else self._spine(node)

    @cached_property
    def links_away(self) -> dict[str, int]:
        """The number of links between each switch and the nearest one of the host, 0 for a switch without a path."""
        far = dict.fromkeys(sorted(self.leaves), 0)
        order = list(far)
        for node in order:
            for at in self._net.out_of[node]:
                other = self._net.channels[at].target
                if self._net.rank[other] and other not in far:
                    far[other] = far[node] + 1
                    order.append(other)
        return dict.fromkeys(self._net.switches, 0) | far

    def _in_group(self, node: str, groups: ShapeGroups) -> str:
        many = _NAMES[self._net.rank[node]] if self._net.tiered else "switches"
        if all(groups.of.get(leaf) != groups.of[node] for leaf in self.leaves):
            return f"{many} of other {groups.name}s"
        identical = any(self._net.rank[leaf] == self._net.rank[node] for leaf in self.leaves)
        return f"{'other ' if identical else ''}{many} of its {groups.name}"

    @cached_property
    def _pod(self) -> frozenset[str]:
        """The leaves of the host, and all leaves with a spine in common with one of these."""
        own = (leaves for node, leaves in self._below.items() if self._net.rank[node] == 2)
        return frozenset(self.leaves).union(*(leaves for leaves in own if not leaves.isdisjoint(self.leaves)))

    @cached_property
    def _pods(self) -> bool:
        """Whether there are leaves outside the pod of the host."""
        return any(rank == 1 and node not in self._pod for node, rank in self._net.rank.items())

    def where(self, host: str) -> str:
        """Return the name of the switch of another host that is nearest to this host: ``its leaf, on all rails``."""
        leaves = list(dict.fromkeys(self._net.channels[at].target for at in self._net.out_of[host]))
        # Those nearest to this host say most: on rails most hosts have links to leaves of every kind.
        nearest = min(
            leaves, key=lambda leaf: (leaf not in self.leaves, self.rail_of.get(leaf) not in self._rails)
        )
        every = self.rail_of and {*map(self.rail_of.get, leaves)} == {*self.rail_of.values()}
        return f"{self.who(nearest)}{', on all rails' if every else ''}"

    def _leaf(self, leaf: str) -> str:
        if self._rails != {*self.rail_of.values()}:
            same = self.rail_of.get(leaf) in self._rails
            return "other leaves of its rail" if same else "leaves of other rails"
        if not self._pods:
            return "other leaves"
        return "other leaves of its pod" if leaf in self._pod else "leaves of other pods"

    def _spine(self, spine: str) -> str:
        if not self._pods:
            return "spines"
        mine = not self._below[spine].isdisjoint(self._pod)
        return "spines of its pod" if mine else "spines of other pods"
