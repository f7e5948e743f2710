"""Goodput at full load by calculation: max-min fair rates of a permutation, where switches spread, hash or route.

Runs of the packet-level model include the costs of buffers, order and congestion control too; the calculation has the
paths alone, and needs no more than switches, links and the choice of paths. So it holds for fabrics that the model
cannot run: buffers that a switch computes itself, classes that may lose frames, InfiniBand, which has credits instead
of PFC. Rates are shares of those that the topology carries under ideal spreading, that is, where each switch divides
every flow evenly over its links of equal distance.

A flow keeps one path where switches hash it, or have one route to each address; it is divided where they choose by
packet. InfiniBand's static routes are those of opensm's engines as :mod:`lossless.analysis.routing` computes them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lossless.analysis.simulation.question.instance import transfers_in_groups
from lossless.analysis.simulation.question.request import chooses, said_of, spread_ideally, spreads_at
from lossless.analysis.simulation.question.scenario import across_rails, participants
from lossless.analysis.simulation.study.verdict import Range
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.cluster import MOST_LOADED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lossless.analysis.routing.infiniband.engines import SubnetGraph, SubnetRoutes
    from lossless.analysis.simulation.question.instance import Transfer
    from lossless.analysis.simulation.question.nodes import EcmpRoutes, SimTopology
    from lossless.analysis.simulation.question.request import Question
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.view import View

    Step = tuple[int, int]
    """A link, by its number, and the node that sends over it."""
    Parts = Mapping[Step, float]
    """The part of a flow that each link carries."""

LEAST_MEAN = 0.9
LEAST_LAST = 0.8
"""Shares of ideal spreading from which a load counts as carried: the mean flow rate, and the time of the last flow.

Conventions of this project: no public source states them. A job waits for the last flow of each step, so at 0.8 its
network time is a quarter longer than the topology allows."""
LEAST_COST = 0.05
"""Share of ideal spreading from which a difference between two runs is named as a cause, chosen for this tool. Seeds
of one fabric differ by about as much."""
_DRAWS, _SPREAD_DRAWS = 48, 12
"""Draws of the permutation and of the hash; fewer where flows are divided, and so depend on the permutation alone."""
MOST_HCAS = 4096
"""The most HCAs of a subnet whose load is calculated: opensm's routes to so many take seconds."""


class Paths(Protocol):
    """The links of flows between NIC ports."""

    divides: bool
    """Whether some switch divides flows over its links."""

    def parts(self, source: int, target: int, rng: random.Random, /) -> Parts:
        """Return the part of a flow on each link."""

    def rate_bps(self, step: Step, /) -> float:
        """Return the rate of a link in one direction."""

    def choices(self, source: int, target: int, /) -> int:
        """Return the number of links that the first switch chooses among, or may spread over; 0 on one switch."""


class SharingExpectation(NamedTuple):
    """The flow rates of a permutation, by calculation: max-min fair rates, each a share of that under ideal spreading.

    ``choices`` is the number of links that the first switch of a flow chooses among; ``divides``: some switch divides
    flows over them. The ranges are from the lowest to the highest tenth of the draws, around the median.
    """

    choices: int
    draws: int
    mean: Range
    slowest_tenth: Range
    divides: bool = False


class CalculatedRun(NamedTuple):
    """The flow rates of the permutation under one condition, as shares of ideal spreading, and its added cost."""

    name: str
    adds: str
    mean: Range
    slowest_tenth: Range


class CalculatedLoad(NamedTuple):
    """Whether a fabric carries a permutation of its NIC ports by calculation, with the reason why no runs show it.

    ``of_line_rate`` is the part of the line rate of NIC ports that the topology carries under ideal spreading.
    ``assumed`` are sentences on routes that are not computed.
    """

    scenario: str
    of_line_rate: float
    runs: tuple[CalculatedRun, ...]
    reason: str
    assumed: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Whether the load is carried, by the mean flow rate and by the rate of the slowest tenth of flows."""
        last = self.runs[-1]
        carried = last.mean.median >= LEAST_MEAN and last.slowest_tenth.median >= LEAST_LAST
        return f"{'carried' if carried else 'not carried'}, by calculation"

    @property
    def causes(self) -> tuple[str, ...]:
        """The costs above :data:`LEAST_COST`, in words."""
        return tuple(
            f"{run.adds}: flow rates from {before.mean.median:.0%} to {run.mean.median:.0%}"
            for before, run in pairwise(self.runs)
            if before.mean.median - run.mean.median > LEAST_COST
        )


# --- rates ---


def fair_rates_bps(taken: Sequence[Parts], rate_bps: Callable[[Step], float]) -> Any:
    """Return the max-min fair rate of each flow, from the part of it that each link carries."""
    number: dict[Step, int] = {}
    steps = [
        (flow, number.setdefault(step, len(number)), part)
        for flow, parts in enumerate(taken)
        for step, part in parts.items()
    ]
    flow_of, link_of = (np.array([step[at] for step in steps]) for at in (0, 1))
    part_of = np.array([step[2] for step in steps])
    left = np.array([float(rate_bps(step)) for step in number])
    fair, is_open = np.zeros(len(taken)), np.ones(len(taken), bool)
    while is_open.any():
        going = is_open[flow_of]
        many = np.bincount(link_of[going], part_of[going], minlength=len(left))
        share = np.divide(left, many, out=np.full(len(left), np.inf), where=many > 1e-12)
        # Links with the least share are full: their flows keep this rate, and use the other links by it.
        full = share <= share.min() * (1 + 1e-9)
        ending = np.zeros(len(taken), bool)
        ending[flow_of[going & full[link_of]]] = True
        fair[ending] = share.min()
        gone = ending[flow_of]
        left -= share.min() * np.bincount(link_of[gone], part_of[gone], minlength=len(left))
        is_open &= ~ending
    return fair


def mean_and_slowest(shares: Any) -> tuple[float, float]:
    """Return the mean of flow rates, and that of their slowest tenth; both are parts of the ideal rates."""
    slowest = np.sort(shares)[: max(1, len(shares) // 10)]
    return float(shares.mean()), float(slowest.mean())


def expectation(paths: Paths, groups: Iterable[Sequence[int]], ideal: Paths) -> SharingExpectation | None:
    """Return the flow rates of a permutation in each group, None where no flow has a choice of links.

    Each rate is a share of that of the flow over ``ideal`` paths.
    """
    groups = list(groups)
    draws = _SPREAD_DRAWS if paths.divides else _DRAWS
    choices, shares = 0, []
    for draw in range(draws):
        rng = random.Random(draw)
        moves = transfers_in_groups("permutation", groups, groups[0][0], 1, rng)
        taken = [paths.parts(move.source, move.target, rng) for move in moves]
        choices = max(choices, *(paths.choices(move.source, move.target) for move in moves))
        rates_bps = fair_rates_bps(taken, paths.rate_bps)
        shares.append(mean_and_slowest(rates_bps / _rates_bps(ideal, moves)))
    if choices < 2:
        return None
    mean, slowest = (_tenths([share[at] for share in shares]) for at in (0, 1))
    return SharingExpectation(choices, draws, mean, slowest, paths.divides)


def _rates_bps(ideal: Paths, moves: Iterable[Transfer]) -> Any:
    """Return the rates of flows over paths that divide them, which no random choice changes."""
    rng = random.Random(0)
    return fair_rates_bps([ideal.parts(move.source, move.target, rng) for move in moves], ideal.rate_bps)


def _most_bps(paths: Paths, parts: Parts) -> float:
    """Return the rate of the slower of the NIC ports of a flow, whose links are its first and its last."""
    first, *_, last = parts
    return min(paths.rate_bps(first), paths.rate_bps(last))


def _of_line_rate(ideal: Paths, groups: Sequence[Sequence[int]]) -> float:
    """Return the part of the line rate of NIC ports that flows have on average, for the first draw."""
    rng = random.Random(0)
    moves = transfers_in_groups("permutation", groups, groups[0][0], 1, rng)
    most_bps = [_most_bps(ideal, ideal.parts(move.source, move.target, rng)) for move in moves]
    return float((_rates_bps(ideal, moves) / np.array(most_bps)).mean())


def _tenths(values: Sequence[float]) -> Range:
    lowest, *_, highest = quantiles(values, n=10)
    return Range(lowest, median(values), highest)


def _runs(
    ideal: Paths, chosen: Paths, groups: Sequence[Sequence[int]], name: str, adds: str
) -> tuple[CalculatedRun, ...]:
    """Return the runs with ideal spreading and over the chosen paths; equal where no flow has a choice of links."""
    whole = Range(1, 1, 1)
    found = expectation(chosen, groups, ideal)
    rates = (whole, whole) if found is None else (found.mean, found.slowest_tenth)
    return CalculatedRun("ideal spreading", "", whole, whole), CalculatedRun(name, adds, *rates)


# --- fabrics whose switches hash or spread ---


def choice_in_words(question: Question) -> str:
    """Return how switches choose among links, by tier where tiers differ: ``ECMP``, ``adaptive at leaf switches``."""
    if not chooses(question):
        return "ECMP"
    return ", ".join(f"{choice} at {role} switches" for role, choice in question.by_tier) or str(
        question.load_balancing
    )


class IpPaths:
    """Shortest paths as the switches of a question choose them: at random for each flow, or divided evenly."""

    def __init__(self, question: Question, topology: SimTopology, routes: EcmpRoutes) -> None:
        self._topology, self._routes = topology, routes
        self._spreads = {node: spreads_at(question, switch) for node, switch in topology.switch_of.items()}
        self.divides = any(self._spreads.values())
        self._between = grouped((frozenset((wire.a, wire.b)), at) for at, wire in enumerate(topology.wires))
        self._divided: dict[tuple[int, int], dict[Step, float]] = {}

    def parts(self, source: int, target: int, rng: random.Random) -> Parts:
        """Return the part of a flow on each link.

        Raises:
            ScenarioError: no path leads from one to the other.
        """
        nodes = self._routes.path(source, target, rng)
        if not self.divides:
            return {(rng.choice(self._between[frozenset(pair)]), pair[0]): 1.0 for pair in pairwise(nodes)}
        first, last = nodes[1], nodes[-2]
        if not all(self._spreads.values()):
            between = self._spread(first, last, rng)
        elif (first, last) in self._divided:
            between = self._divided[first, last]
        else:
            between = self._divided[first, last] = self._spread(first, last, rng)
        ends = [(self._between[frozenset(pair)][0], pair[0]) for pair in (nodes[:2], nodes[-2:])]
        return {ends[0]: 1.0, **between, ends[1]: 1.0}

    def _spread(self, first: int, last: int, rng: random.Random) -> dict[Step, float]:
        """Return the part of a flow on each link between two switches, all of it on one where a switch hashes."""
        found: dict[Step, float] = {}
        at = {first: 1.0}
        while at.keys() != {last}:
            nearer: dict[int, float] = defaultdict(float)
            for node, part in at.items():
                peers = dict.fromkeys(self._routes.nearer(last, node))
                links = [(wire, peer) for peer in peers for wire in self._between[frozenset((node, peer))]]
                chosen = links if self._spreads[node] else [rng.choice(links)]
                for wire, peer in chosen:
                    found[wire, node] = part / len(chosen)
                    nearer[peer] += part / len(chosen)
            at = nearer
        return found

    def rate_bps(self, step: Step) -> float:
        """Return the rate of a link."""
        return self._topology.wires[step[0]].rate_bps

    def choices(self, source: int, target: int) -> int:
        """Return the number of links that the first switch of a flow chooses among; 0 on one switch."""
        return self._routes.choices(self._topology.leaf(source), self._topology.leaf(target))


def calculated_load(view: View, question: Question, reason: str) -> CalculatedLoad | MissingInput:
    """Return the load of a fabric by calculation, or the missing input; ``reason`` says why no run shows it.

    ``question`` has the permutation (:class:`Question`); nothing of buffers or classes is needed.
    """
    try:
        found = participants(view, question)
        if isinstance(found, MissingInput):
            return found
        declared, groups = found.question, found.groups
        ideal = IpPaths(spread_ideally(declared), found.topology, found.routes)
        of_line_rate = _of_line_rate(ideal, groups)
        chosen = IpPaths(declared, found.topology, found.routes)
        adds = "paths that switches choose" if chooses(declared) else "hash collisions"
        runs = _runs(ideal, chosen, groups, choice_in_words(declared), adds)
    except ScenarioError as error:
        return MissingInput(str(error))
    taking, every = len(found.nics), len(found.topology.nics)
    many = f"{taking:,} of {every:,}" if taking < every else f"{taking:,}"
    words = (f"permutation among {many} NICs", across_rails(found.topology, declared), said_of(declared))
    return CalculatedLoad(", ".join(filter(None, words)), of_line_rate, runs, reason)


# --- subnets with static routes ---


class SubnetPaths:
    """Paths between HCAs of a subnet: by the forwarding tables of an engine, or divided over the shortest ones."""

    def __init__(
        self, graph: SubnetGraph, rates_bps: Mapping[Step, int], routes: SubnetRoutes | None
    ) -> None:
        from lossless.analysis.routing.infiniband.engines import hops_to, nearest_channels

        self._graph, self._rates_bps, self._routes = graph, rates_bps, routes
        self.divides = routes is None
        ends = {attached.switch for attached in graph.attached}
        self._nearest = {end: nearest_channels(graph, end, hops_to(graph, end)) for end in ends}
        self._divided: dict[tuple[int, int], dict[Step, float]] = {}

    def parts(self, source: int, target: int, _rng: random.Random) -> Parts:
        """Return the part of a flow on each link; the port of an HCA is numbered behind the channels of switches.

        Raises:
            ScenarioError: no path leads from one to the other.
        """
        first, last = (self._graph.attached[hca].switch for hca in (source, target))
        up, down = len(self._graph.channels) + source, len(self._graph.channels) + target
        return {(up, 0): 1.0, **self._between(first, last, target), (down, 1): 1.0}

    def _between(self, first: int, last: int, target: int) -> Mapping[Step, float]:
        if self._routes is not None:
            return dict.fromkeys(self._routed(first, target), 1.0)
        if (first, last) not in self._divided:
            self._divided[first, last] = self._spread(first, last)
        return self._divided[first, last]

    def _routed(self, first: int, target: int) -> Iterable[Step]:
        at, last = first, self._graph.attached[target].switch
        assert self._routes is not None
        while at != last:
            channel = self._routes.tables[at][target]
            if channel < 0:
                raise ScenarioError(
                    f"{self._graph.switches[at].name} has no route to {self._graph.hcas[target]}"
                )
            yield channel, 0
            at = self._graph.channels[channel].far

    def _spread(self, first: int, last: int) -> dict[Step, float]:
        found: dict[Step, float] = {}
        at = {first: 1.0}
        while at.keys() != {last}:
            nearer: dict[int, float] = defaultdict(float)
            for node, part in at.items():
                channels = self._nearest[last][node]
                if not channels:
                    names = (self._graph.switches[each].name for each in (first, last))
                    raise ScenarioError(f"no path leads from {' to '.join(names)}")
                for channel in channels:
                    found[channel, 0] = part / len(channels)
                    nearer[self._graph.channels[channel].far] += part / len(channels)
            at = nearer
        return found

    def rate_bps(self, step: Step) -> float:
        """Return the rate of a channel, or of the link of an HCA."""
        return self._rates_bps[step]

    def choices(self, source: int, target: int) -> int:
        """Return the number of links from the first switch that are on shortest paths; 0 on one switch."""
        first, last = (self._graph.attached[hca].switch for hca in (source, target))
        return len(self._nearest[last][first])


ADAPTIVE = "ar_"
"""The prefix of the engines of NVIDIA's opensm whose switches choose a port for each packet."""
_BALANCED = ("ftree",)
"""Engines whose routes are not computed here, and that spread destinations over up ports as minhop does."""


def subnet_load(subnet: Subnet, reason: str) -> CalculatedLoad | MissingInput:
    """Return the load of a subnet's compute HCAs, or the missing input; ``reason`` says why no run shows it.

    Credits lose no packet and leave rates to the links: max-min fair shares of them, along the routes of the declared
    engine. With adaptive routing each switch divides flows over its shortest paths.
    """
    from lossless.analysis.routing.infiniband.credit_loops import other_routes, roots_of
    from lossless.analysis.routing.infiniband.engines import dor, minhop, subnet_graph, updn

    graph = subnet_graph(subnet)
    if isinstance(graph, str):
        return MissingInput(graph)
    engine = subnet.routing.engine or "minhop"
    assumed: tuple[str, ...] = ()
    groups, many, rails = _hca_groups(subnet, graph)
    if not groups:
        return MissingInput("fewer than two HCAs of compute hosts have a link")
    if sum(map(len, groups)) > MOST_HCAS:
        return MissingInput(f"a load of more than {MOST_HCAS:,} HCAs is not calculated")
    other = other_routes(subnet)
    if not engine.startswith(ADAPTIVE) and other is not None:
        return MissingInput(f"{other} changes which routes {engine} chooses")
    if engine.startswith(ADAPTIVE):
        routes = None
    elif engine == "updn":
        roots = roots_of(subnet)
        if roots is None:
            return MissingInput("the roots of updn are not known")
        routes = updn(graph, roots)
    elif engine in ("minhop", "dor", *_BALANCED):
        routes = dor(graph) if engine == "dor" else minhop(graph)
    else:
        return MissingInput(f"the routes of {engine} are not computed")
    if engine in _BALANCED:
        assumed = (f"minhop's routes stand for those of {engine}: both balance addresses over the ports up",)
    rates_bps = _subnet_rates_bps(subnet, graph)
    try:
        ideal = SubnetPaths(graph, rates_bps, None)
        of_line_rate = _of_line_rate(ideal, groups)
        chosen = ideal if routes is None else SubnetPaths(graph, rates_bps, routes)
        name = f"{engine}, adaptive" if routes is None else f"routes of {engine}"
        runs = _runs(ideal, chosen, groups, name, "static routes")
    except ScenarioError as error:
        return MissingInput(str(error))
    return CalculatedLoad(f"permutation among {many} HCAs{rails}", of_line_rate, runs, reason, assumed)


def _hca_groups(subnet: Subnet, graph: SubnetGraph) -> tuple[list[list[int]], str, str]:
    """Return the compute HCAs that exchange traffic, by rail where leaves have HCAs of one rail; how many; and rails.

    Of rails as many take part as have :data:`MOST_LOADED` HCAs together, and one at least.
    """
    if isinstance(subnet.hosts, Unknown) or isinstance(subnet.hcas, Unknown):
        return [], "", ""
    computing = {name for host in subnet.hosts if host.role == "compute" for name in host.hcas}
    rail = {hca.name: hca.rail for hca in subnet.hcas}
    taking = [hca for hca, name in enumerate(graph.hcas) if name in computing]
    rails_at = grouped((graph.attached[hca].switch, rail[graph.hcas[hca]]) for hca in taking)
    by_rail = grouped((rail[graph.hcas[hca]], hca) for hca in taking)
    if len(by_rail) < 2 or any(len(set(rails)) > 1 for rails in rails_at.values()):
        return [taking] if len(taking) > 1 else [], f"{len(taking):,}", ""
    chosen: list[list[int]] = []
    for hcas in by_rail.values():
        if chosen and sum(map(len, chosen)) + len(hcas) > MOST_LOADED:
            break
        chosen += [hcas] if len(hcas) > 1 else []
    number = sum(map(len, chosen))
    many = f"{number:,} of {len(taking):,}" if number < len(taking) else f"{number:,}"
    return chosen, many, ", traffic within rails"


def _subnet_rates_bps(subnet: Subnet, graph: SubnetGraph) -> dict[Step, int]:
    """Return the rate of each channel, and of the link of each HCA in both directions."""
    assert not isinstance(subnet.links, Unknown)
    number = {switch.name: at for at, switch in enumerate(graph.switches)}
    hca_of = {name: at for at, name in enumerate(graph.hcas)}
    channel_at = graph.channel_at()
    rates_bps: dict[Step, int] = {}
    for link in subnet.links:
        rate_bps = link.rate.bits_per_second
        if link.to_hca:
            hca = len(graph.channels) + hca_of[link.b]
            rates_bps[hca, 0] = rates_bps[hca, 1] = rate_bps
            continue
        for name, port in ((link.a, link.a_port), (link.b, link.b_port)):
            rates_bps[channel_at[number[name], port or 0], 0] = rate_bps
    return rates_bps
