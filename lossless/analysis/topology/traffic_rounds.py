"""Pairs of host ports in rounds, whose traffic crosses every host port and link, and the coverage of each link.

Pairs at one switch measure host ports: there is one path between them, so that they reach line rate whatever the
others do. Pairs between switches cross the links between switches. A round has disjoint pairs, and no link that several
of them may take gets more than its rate, even where all flows of a pair take the same of several equal paths: a slow
pair is then a fault, and no collision of hashes.

Switches choose among equal paths by a hash of each flow (ECMP), for each packet (spraying, adaptive routing), or by the
destination (the forwarding tables of InfiniBand). A test cannot steer a hash: whether every link of a group is crossed
is a matter of chance. With n flows of which each takes a link with probability p, all miss it with (1 - p)^n.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import cache
from itertools import product
from math import exp, inf, log1p
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.model import Link

Spread = Literal["flow", "packet", "destination"]
"""The unit for which switches choose one of several equal paths: a flow, a packet, or a destination."""
MOST_MISSED = 0.01
"""The accepted probability that some link is crossed by no flow. A choice: one repeated run in a hundred."""
_FLOWS = (8, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of queue pairs to try. More than 128 of one process compete for the cache of the NIC (a choice)."""
_SETS = (1, 2, 4)
"""How many ports of each switch send across, as other addresses are other hashes; where the destination decides, to how
many other switches all of them send."""


class HostPort(NamedTuple):
    """A port of a host, by the name of the port in the topology, and the switch port that it is linked to."""

    host: str
    port: str
    switch: str
    switch_port: str
    speed_bps: int


class PortPair(NamedTuple):
    """Traffic from one host port to another; ``line_rate``: no link on any of its paths is slower than these ports."""

    source: HostPort
    target: HostPort
    line_rate: bool = True

    @property
    def rate_bps(self) -> int:
        """The rate of the slower port."""
        return min(self.source.speed_bps, self.target.speed_bps)


class LinkCoverage(NamedTuple):
    """One direction of a link between switches: how many pairs may cross it, and the probability that none does.

    ``missed`` is 0 where a pair has no other path, or where each packet chooses; 1 where no pair has a path over it.
    """

    switch: str
    port: str
    far: str
    far_port: str
    pairs: int
    missed: float


class TrafficRounds(NamedTuple):
    """Rounds of disjoint pairs ``within`` switches and ``across`` them, and the coverage of links between switches.

    ``flows`` is the number of queue pairs of each pair across; ``alone`` are host ports without a pair.
    """

    within: tuple[tuple[PortPair, ...], ...]
    across: tuple[tuple[PortPair, ...], ...]
    flows: int
    coverage: tuple[LinkCoverage, ...]
    alone: tuple[HostPort, ...]


class Wire(NamedTuple):
    """One direction of a link between two switches."""

    switch: str
    port: str
    far: str
    far_port: str
    speed_bps: int


class PairPaths:
    """The shortest paths between switches, each of which is as likely as the others."""

    def __init__(self, links: Iterable[Link]) -> None:
        wires = [
            wire
            for link in links
            if not link.to_host
            for wire in (
                Wire(link.a, link.a_port, link.b, link.b_port, link.speed_bps),
                Wire(link.b, link.b_port, link.a, link.a_port, link.speed_bps),
            )
        ]
        self.wires = tuple(wires)
        self._out = grouped((wire.switch, wire) for wire in wires)
        self.hops_to = cache(self._hops_to)
        self.shares = cache(self._shares)

    def _hops_to(self, target: str) -> Mapping[str, int]:
        """Return the number of links from every switch to one."""
        hops, waiting = {target: 0}, deque([target])
        while waiting:
            switch = waiting.popleft()
            for far in dict.fromkeys(wire.far for wire in self._out.get(switch, ())):
                if far not in hops:
                    hops[far] = hops[switch] + 1
                    waiting.append(far)
        return hops

    def _shares(self, source: str, target: str) -> Mapping[Wire, float]:
        """Return the probability of each link to be on the path of a flow; empty without a path."""
        hops = self.hops_to(target)
        shares: dict[Wire, float] = {}
        at = {source: 1.0}
        for left in range(hops.get(source, 0), 0, -1):
            after: dict[str, float] = {}
            for switch, share in at.items():
                wires = [wire for wire in self._out[switch] if hops[wire.far] == left - 1]
                for wire in wires:
                    shares[wire] = share / len(wires)
                    after[wire.far] = after.get(wire.far, 0.0) + share / len(wires)
            at = after
        return shares


def host_ports(links: Iterable[Link]) -> tuple[HostPort, ...]:
    """Return the host ports of links, in their order."""
    return tuple(
        HostPort(link.b, link.b_port, link.a, link.a_port, link.speed_bps) for link in links if link.to_host
    )


def traffic_rounds(links: Sequence[Link], spread: Spread) -> TrafficRounds:
    """Return pairs that cross every host port in both directions, and every link between switches where paths allow.

    Where the destination decides the path, every host port sends to other switches and receives from them. Else a few
    ports of each switch do, with as many flows as leave :data:`MOST_MISSED` for all links together, if there is such a
    number.
    """
    ports = grouped((each.switch, each) for each in host_ports(links))
    paths = PairPaths(links)
    within = [pair for each in ports.values() for pair in _within(each)]
    paired = {pair.source for pair in within}
    across: list[PortPair] = []
    flows, coverage = 1, tuple[LinkCoverage, ...]()
    for number in _SETS[:1] if spread == "packet" else _SETS:
        ends = {switch: _ends(each, paired, spread, number) for switch, each in ports.items()}
        across = list(dict.fromkeys(_across(ends, paths, number if spread == "destination" else 1)))
        flows, coverage = _coverage(across, paths, spread)
        if sum(each.missed for each in coverage if each.pairs) <= MOST_MISSED:
            break
    both = {pair.source for pair in (*within, *across)} & {pair.target for pair in (*within, *across)}
    return TrafficRounds(
        _rounds(within, paths),
        _rounds(across, paths),
        flows,
        coverage,
        tuple(port for each in ports.values() for port in each if port not in both),
    )


class _PairedPorts(NamedTuple):
    """The host ports of a switch that send to other switches, and those that receive from them."""

    sources: tuple[HostPort, ...]
    targets: tuple[HostPort, ...]


def _ends(
    ports: Sequence[HostPort], paired: Collection[HostPort], spread: Spread, number: int
) -> _PairedPorts:
    """Return the ports of a switch that send to other switches, and those that receive from them.

    ``paired`` are ports that have a pair at the switch itself.
    """
    if spread == "destination":
        return _PairedPorts(tuple(ports), tuple(ports))
    single = tuple(port for port in ports if port not in paired)
    return _PairedPorts(single or tuple(ports[:number]), single or tuple(ports[-number:]))


def _within(ports: Sequence[HostPort]) -> Iterator[PortPair]:
    """Yield pairs of host ports of one switch, in both directions; every port has a pair unless one host has all.

    The second port of a pair is half of the ports further, so that it is on another host where a host has several in a
    row; for two ports of one host, and for the last of an odd number, it is the first port of another host.
    """
    half = len(ports) // 2
    left: list[HostPort] = [*ports[2 * half :]]
    for one, other in zip(ports[:half], ports[half : 2 * half], strict=True):
        if one.host == other.host:
            left += (one, other)
        else:
            yield PortPair(one, other)
            yield PortPair(other, one)
    for one in left:
        partner = next((each for each in ports if each.host != one.host), None)
        if partner is not None:
            yield PortPair(one, partner)
            yield PortPair(partner, one)


def _across(ends: Mapping[str, _PairedPorts], paths: PairPaths, others: int) -> Iterator[PortPair]:
    """Yield pairs from each switch to others, about half of the list further on, then over links not crossed yet."""
    crossed: set[Wire] = set()
    for names in _connected(ends, paths):
        for step, (number, switch) in product(range(others), enumerate(names)):
            far = names[(number + len(names) // 2 + step) % len(names)]
            if far != switch:
                crossed.update(paths.shares(switch, far))
                yield from _between(ends[switch], ends[far], paths)
    for wire in paths.wires:
        if wire not in crossed and wire.switch in ends and wire.far in ends:
            crossed.update(paths.shares(wire.switch, wire.far))
            yield from _between(ends[wire.switch], ends[wire.far], paths)


def _connected(ends: Mapping[str, _PairedPorts], paths: PairPaths) -> Iterator[list[str]]:
    """Yield the switches with hosts, those that reach each other together, in their order."""
    left = [*ends]
    while left:
        near = paths.hops_to(left[0])
        yield [switch for switch in left if switch in near]
        left = [switch for switch in left if switch not in near]


def _between(near: _PairedPorts, far: _PairedPorts, paths: PairPaths) -> Iterator[PortPair]:
    for number in range(max(len(near.sources), len(far.targets))):
        source = near.sources[number % len(near.sources)]
        turned = number % len(far.targets)
        others = (*far.targets[turned:], *far.targets[:turned])
        target = next((each for each in others if each.host != source.host), None)
        if target is not None:
            pair = PortPair(source, target)
            slowest = min(wire.speed_bps for wire in paths.shares(source.switch, target.switch))
            yield pair._replace(line_rate=slowest >= pair.rate_bps)


def _rounds(pairs: Sequence[PortPair], paths: PairPaths) -> tuple[tuple[PortPair, ...], ...]:
    """Return pairs in rounds, each in the first round that takes it (:meth:`_Round.takes`)."""
    rounds: list[_Round] = []
    for pair in pairs:
        wires = paths.shares(pair.source.switch, pair.target.switch)
        room = next((each for each in rounds if each.takes(pair, wires)), None)
        if room is None:
            room = _Round()
            rounds.append(room)
        room.add(pair, wires)
    return tuple(tuple(each.pairs) for each in rounds)


class _Round:
    """The pairs of one round, their ports, and the most bits per second that they may send over each link."""

    def __init__(self) -> None:
        self.pairs: list[PortPair] = []
        self._ports: set[HostPort] = set()
        self._load_bps: dict[Wire, int] = {}

    def takes(self, pair: PortPair, wires: Iterable[Wire]) -> bool:
        """Return whether both ports of a pair are free in this round, and links in use have room for its rate."""
        return not self._ports & {pair.source, pair.target} and all(
            self._load_bps.get(wire, 0) + pair.rate_bps <= wire.speed_bps or wire not in self._load_bps
            for wire in wires
        )

    def add(self, pair: PortPair, wires: Iterable[Wire]) -> None:
        """Add a pair to the round."""
        self.pairs.append(pair)
        self._ports |= {pair.source, pair.target}
        for wire in wires:
            self._load_bps[wire] = self._load_bps.get(wire, 0) + pair.rate_bps


def _coverage(
    pairs: Sequence[PortPair], paths: PairPaths, spread: Spread
) -> tuple[int, tuple[LinkCoverage, ...]]:
    """Return the number of flows of each pair, and how likely each direction of each link is crossed by one of them."""
    crossing = dict.fromkeys(paths.wires, 0)
    # The logarithm of the probability that one flow of each pair misses a link.
    missing = dict.fromkeys(paths.wires, 0.0)
    ends = Counter((pair.source.switch, pair.target.switch) for pair in pairs)
    for (source, target), many in ends.items():
        for wire, share in paths.shares(source, target).items():
            crossing[wire] += many
            missing[wire] += many * (log1p(-share) if share < 1 and spread != "packet" else -inf)

    choices = (1,) if spread == "destination" else _FLOWS
    reached = [missing[wire] for wire, many in crossing.items() if many]
    enough = (flows for flows in choices if sum(exp(flows * each) for each in reached) <= MOST_MISSED)
    flows = next(enough, choices[-1])
    return flows, tuple(
        LinkCoverage(wire.switch, wire.port, wire.far, wire.far_port, many, exp(flows * missing[wire]))
        for wire, many in crossing.items()
    )
