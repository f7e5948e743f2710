"""Indexes and arrays of the simulated links and flows: equal-cost links, transfers and their ACKs, DCQCN sets.

Switches are found by memory unit, flows by the link they start on. Equal-cost links are the candidates of each switch
toward a destination, for flows whose links are chosen switch by switch, with all routes of packets over them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import records
from lossless.analysis.simulation.engine.network import SimSpread
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimCable, SimDcqcn, SimFlow, SimNetwork


if TYPE_CHECKING:
    Links = tuple[int, ...]


class EqualPaths:
    """The shortest paths between the switches of a network; ``link_of`` has the parallel links between two nodes."""

    def __init__(self, network: SimNetwork, link_of: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Index the neighboring switches of each switch."""
        self._link_of = link_of
        self._peers: dict[int, list[int]] = {node: [] for node in network.switches}
        for cable in network.cables:
            if cable.a in self._peers and cable.b in self._peers:
                self._peers[cable.a].append(cable.b)
                self._peers[cable.b].append(cable.a)
        self._toward: dict[int, dict[int, Links]] = {}
        self._routes: dict[tuple[int, int], tuple[Links, ...]] = {}

    def toward(self, last: int) -> Mapping[int, Links]:
        """Return for each other switch with a path to switch ``last`` the links by which shortest paths lead there."""
        if last not in self._toward:
            far = self._distances(last)
            nearer = {
                node: sorted({peer for peer in self._peers[node] if far.get(peer) == far[node] - 1})
                for node in far
                if node != last
            }
            self._toward[last] = {
                node: tuple(at for peer in peers for at in self._link_of[node, peer])
                for node, peers in nearer.items()
            }
        return self._toward[last]

    def routes(self, first: int, last: int, ends: Sequence[tuple[int, int]]) -> tuple[Links, ...]:
        """Return all shortest routes from a switch to another; ``ends`` has the two nodes of each link."""
        if (first, last) not in self._routes:
            self._routes[first, last] = tuple(self._walk(first, last, ends))
        return self._routes[first, last]

    def _walk(self, first: int, last: int, ends: Sequence[tuple[int, int]]) -> Iterator[Links]:
        if first == last:
            yield ()
            return
        for link in self.toward(last).get(first, ()):
            yield from ((link, *rest) for rest in self.routes(ends[link][1], last, ends))

    def _distances(self, last: int) -> dict[int, int]:
        far = {last: 0}
        reached = [last]
        for node in reached:
            for peer in self._peers[node]:
                if peer not in far:
                    far[peer] = far[node] + 1
                    reached.append(peer)
        return far


CHOICES = {"hash": 1, "in turn": 2, "adaptive": 3, "flowlets": 4, "flow hash": 5}
"""The numbers of the choices of a link, as in :mod:`.kernel.paths`."""


class Spreading(NamedTuple):
    """Arrays of equal-cost links. ``routes[unit, edge]`` is the fan of a switch toward another, -1 without one.

    A fan is a set of equal-cost links; ``links`` has those of all fans, one fan after another.
    """

    routes: Any
    fans: Any
    flowlets: Any
    links: tuple[int, ...]


def spread(network: SimNetwork, wiring: Wiring, flows: Any, place: Sequence[int], first: int) -> Spreading:
    """Return the equal-cost links (fans) of a network, and set the flows' fields on them; links begin at ``first``."""
    kinds = [
        (n, flow.path[-2], flow.spread) for n, flow in enumerate(network.flows) if flow.spread is not None
    ]
    leaves = {node for n, *_ in kinds for node in (network.flows[n].path[1], network.flows[n].path[-2])}
    edges = {node: number for number, node in enumerate(sorted(leaves))}
    fans: dict[tuple[int, ...], int] = {}
    routes = np.full((len(network.switches) if edges else 0, len(edges)), -1, np.int32)
    paths = EqualPaths(network, wiring.link_of)
    for edge, column in edges.items():
        for node, links in paths.toward(edge).items():
            routes[wiring.unit_of[node], column] = fans.setdefault(links, len(fans))
    for number, edge, kind in kinds:
        own = flows[place[number]]
        _set_flow(own, kind, edges[edge], wiring.routes[number][-1])
        if own["acks"] >= 0:
            # Switches hash what is short, whatever they do with data (uet-htsim @40ccb05).
            back = SimSpread("hash", kind.entropies if kind.choice == "hash" else 1)
            near = network.flows[number].path[1]
            _set_flow(flows[own["acks"]], back, edges[near], wiring.returns[number][-1])
    return Spreading(
        routes, _fans(fans, first), _flowlets(network, flows), tuple(at for of in fans for at in of)
    )


def _set_flow(record: Any, kind: SimSpread, edge: int, last_link: int) -> None:
    record["stamped"], record["spread"], record["entropies"] = True, CHOICES[kind.choice], kind.entropies
    record["edge"], record["last_link"] = edge, last_link


def _fans(fans: Mapping[tuple[int, ...], int], first: int) -> Any:
    rows = np.zeros(len(fans), records.FAN)
    for record, links in zip(rows, fans, strict=True):
        record["first"], record["links"] = first, len(links)
        first += len(links)
    return rows


def _flowlets(network: SimNetwork, flows: Any) -> Any:
    """Return the flowlet records, by switch and flow; empty if no flow may change its link after a gap."""
    moved = bool((flows["spread"] == CHOICES["flowlets"]).any())
    moved = moved or any(switch.choice == "flowlets" for switch in network.switches.values())
    kept = np.zeros((len(network.switches) if moved else 0, len(flows)), records.FLOWLET)
    kept["link"] = -1
    return kept


PS_PER_BYTE = 8e12
"""The picoseconds that a byte takes at 1 b/s."""
_COPIED = (
    "g", "initial_alpha", "alpha_to_rate", "min_decrease", "min_rate_bps", "ai_bps", "hai_bps", "first_rate_bps",
    "release_bps",
    "byte_reset", "threshold", "clamp", "clamp_after_increase", "pacing_lock",
)  # fmt: skip
_TIMERS = (
    ("alpha_ps", "alpha_us"),
    ("decrease_ps", "decrease_us"),
    ("increase_ps", "increase_us"),
    ("cnp_gate_ps", "cnp_gate_us"),
)


class Transfers(NamedTuple):
    """Arrays of flows, and ``place``: the index in them of flow i of the network."""

    flows: Any
    points: Any
    params: Any
    cnps: Any
    paths: Any
    place: tuple[int, ...]


def transfers(network: SimNetwork, wiring: Wiring, links: Any) -> Transfers:
    """Return the arrays of all flows; those of one NIC are adjacent, ACKs that travel apart first."""
    many = len(network.flows)
    routes = [*wiring.routes, *(wiring.returns[number] for number in wiring.acked)]
    apart = [False] * many + [acks_apart(network, number) for number in wiring.acked]
    order = sorted(range(len(routes)), key=lambda i: (routes[i][0], not apart[i], i))
    place = {number: at for at, number in enumerate(order)}
    flows, points = np.zeros(len(routes), records.FLOW), np.zeros(len(routes), records.POINT)
    _set_paths(flows, [routes[number] for number in order])
    data = np.array([place[number] for number in range(many)], np.int64)
    acks = np.array([place[many + number] for number in range(len(wiring.acked))], np.int64)
    for name in ("done_at", "nacked_psn", "acks", "told", "dcqcn"):
        flows[name] = -1
    flows["rewind_at"] = records.NEVER
    flows["nack_ps"] = round(network.physics.nack_interval_us * 1e6)
    flows["ack_every"] = network.physics.ack_every
    _set_data(flows, points, data, network, wiring, links)
    _set_acks(flows, acks, data[list(wiring.acked)], network, wiring)
    sets = dcqcn_sets(network)
    flows["dcqcn"][data] = [-1 if flow.dcqcn is None else sets.index(flow.dcqcn) for flow in network.flows]
    paths = [link for number in order for link in routes[number]]
    paths += _set_followers(flows, network, place, len(paths))
    first_links, starts, counts = np.unique(flows["first_link"], return_index=True, return_counts=True)
    links["first_flow"][first_links], links["flows"][first_links] = starts, counts
    np.add.at(links["ack_flows"], flows["first_link"][flows["apart"] == 1], 1)
    depth = _cnp_depth(network, flows) if sets else 1
    return Transfers(
        flows=flows,
        points=points,
        params=dcqcn_params(sets),
        cnps=np.zeros((len(flows), depth), np.int64),
        paths=np.array(paths, np.int32),
        place=tuple(place[number] for number in range(many)),
    )


def _set_paths(flows: Any, routes: Sequence[Sequence[int]]) -> None:
    hops = np.array([len(route) for route in routes], np.int32)
    flows["first_hop"] = np.cumsum(hops) - hops
    flows["first_link"] = [route[0] for route in routes]


def _set_data(flows: Any, points: Any, data: Any, network: SimNetwork, wiring: Wiring, links: Any) -> None:
    physics = network.physics
    starts = [records.NEVER if flow.after else round(flow.start_ns * 1000) for flow in network.flows]
    flows["next_at"][data] = flows["started_at"][data] = starts
    flows["size_bytes"][data] = [flow.size_bytes for flow in network.flows]
    flows["mtu_bytes"][data] = [flow.mtu_bytes for flow in network.flows]
    flows["priority"][data] = [flow.traffic_class for flow in network.flows]
    flows["overhead_bytes"][data] = physics.overhead_bytes
    flows["timeout_ps"][data] = 0 if physics.timeout_ms is None else round(physics.timeout_ms * 1e9)
    flows["counts"][data] = 1
    flows["taken"][data] = records.IN_ORDER
    flows["cnp_rides_ack"][data] = physics.cnp_rides_ack
    size = physics.ack_frame_bytes + physics.gap_bytes
    one_way = links["propagation_ps"] + np.rint(size * links["ps_per_byte"]).astype(np.int64)
    flows["feedback_ps"][data] = [int(one_way[list(back)].sum()) for back in wiring.returns]
    line_bps = PS_PER_BYTE / links["ps_per_byte"][flows["first_link"]]
    for name in ("line_bps", "rate_bps", "target_bps"):
        points[name] = line_bps
    points["next_increase_at"] = records.NEVER


def _set_acks(flows: Any, acks: Any, answered: Any, network: SimNetwork, wiring: Wiring) -> None:
    """Set the flows that carry ACKs: an ACK counts as one byte of payload in a frame of its size."""
    flows["acks"][answered] = acks
    flows["taken"][acks] = records.ACKS
    flows["mtu_bytes"][acks] = 1
    flows["overhead_bytes"][acks] = network.physics.ack_frame_bytes - 1
    apart = np.array([acks_apart(network, number) for number in wiring.acked], bool)
    flows["apart"][acks] = apart
    flows["priority"][acks] = np.where(apart, wiring.classes - 1, flows["priority"][answered])


def _set_followers(flows: Any, network: SimNetwork, place: dict[int, int], first: int) -> list[int]:
    """Set how many flows each flow waits for; return the waiting flows, which the paths list from ``first`` on."""
    waiting: dict[int, list[int]] = {}
    for number, flow in enumerate(network.flows):
        flows["waits_for"][place[number]] = len(flow.after)
        for before in flow.after:
            waiting.setdefault(place[before], []).append(place[number])
    listed: list[int] = []
    for number, followers in waiting.items():
        flows["first_follower"][number], flows["followers"][number] = first + len(listed), len(followers)
        listed += followers
    return listed


def dcqcn_sets(network: SimNetwork) -> list[SimDcqcn]:
    """Return the sets of DCQCN parameters that flows have, in the order of their numbers."""
    return sorted({flow.dcqcn for flow in network.flows if flow.dcqcn is not None})


def dcqcn_params(sets: Sequence[SimDcqcn]) -> Any:
    """Return the records of sets of DCQCN parameters."""
    params = np.zeros(len(sets), records.DCQCN)
    for record, dcqcn in zip(params, sets, strict=True):
        for name in _COPIED:
            record[name] = getattr(dcqcn, name)
        for name, timer in _TIMERS:
            record[name] = round(getattr(dcqcn, timer) * 1e6)
    return params


def _cnp_depth(network: SimNetwork, flows: Any) -> int:
    """Return how many CNPs of one flow can be under way: the frames of the fastest link in the longest delay, and 8."""
    fastest = max(cable.rate_bps for cable in network.cables)
    smallest = min(flow.mtu_bytes for flow in network.flows) + network.physics.overhead_bytes
    frame_ps = smallest * PS_PER_BYTE / fastest
    longest = int(flows["feedback_ps"].max()) + 1000 * max(cable.propagation_ns for cable in network.cables)
    return 8 + int(longest / frame_ps)


class Wiring(NamedTuple):
    """The links of a network, those of one sender together.

    ``ends`` has the two nodes of each link, ``cables`` its cable and whether it leads from a to b, ``cable_of`` that
    cable's number in the network; ``link_of``
    gives the parallel links between two nodes, ``unit_of`` the memory unit of a switch. ``routes`` has the links of
    each flow's path and ``returns`` those of its path back, ``all_routes`` and ``all_returns`` all that its
    packets and their ACKs can take: one alone, unless switches choose; ``acked`` names the flows whose ACKs are
    simulated. ``classes`` counts one more than the network where ACKs travel apart.
    """

    ends: tuple[tuple[int, int], ...]
    cables: tuple[tuple[SimCable, bool], ...]
    cable_of: tuple[int, ...]
    link_of: dict[tuple[int, int], list[int]]
    unit_of: dict[int, int]
    routes: tuple[tuple[int, ...], ...]
    returns: tuple[tuple[int, ...], ...]
    all_routes: tuple[tuple[tuple[int, ...], ...], ...]
    all_returns: tuple[tuple[tuple[int, ...], ...], ...]
    acked: tuple[int, ...]
    classes: int


def wire(network: SimNetwork) -> Wiring:
    """Return the indexes of the links and flows of a network."""
    numbered = _directions(network)
    both = [(cable, True) for cable in network.cables] + [(cable, False) for cable in network.cables]
    cables = [both[at] for at in numbered]
    ends = [(cable.a, cable.b) if forward else (cable.b, cable.a) for cable, forward in cables]
    link_of: dict[tuple[int, int], list[int]] = {}
    for number, pair in enumerate(ends):
        link_of.setdefault(pair, []).append(number)
    lanes = [flow.lanes or (number,) * len(flow.path) for number, flow in enumerate(network.flows)]
    laned = list(zip(network.flows, lanes, strict=True))
    routes = tuple(_route(flow.path, own, link_of) for flow, own in laned)
    returns = tuple(_route(flow.path[::-1], own[: len(flow.path) - 1][::-1], link_of) for flow, own in laned)
    paths = EqualPaths(network, link_of)
    all_routes, all_returns = (
        tuple(_all_routes(flow, route, paths, ends) for flow, route in zip(network.flows, of, strict=True))
        for of in (routes, returns)
    )
    acked = _acked(all_routes, all_returns)
    apart = any(acks_apart(network, number) for number in acked)
    return Wiring(
        ends=tuple(ends),
        cables=tuple(cables),
        cable_of=tuple(at % len(network.cables) for at in numbered),
        link_of=link_of,
        unit_of={node: number for number, node in enumerate(sorted(network.switches))},
        routes=routes,
        returns=returns,
        all_routes=all_routes,
        all_returns=all_returns,
        acked=acked,
        classes=network.classes + apart,
    )


def _directions(network: SimNetwork) -> list[int]:
    """Return the directions of all cables, sorted by sender: n is cable n from a to b, n + their number its reverse."""
    many = len(network.cables)
    senders = [cable.a for cable in network.cables] + [cable.b for cable in network.cables]
    return sorted(range(2 * many), key=lambda at: (senders[at], at % many))


def _route(
    path: Sequence[int], lanes: Sequence[int], link_of: dict[tuple[int, int], list[int]]
) -> tuple[int, ...]:
    """Return the links of a path; of parallel ones, that of the flow's lane at this hop."""
    hops = (link_of[pair] for pair in pairwise(path))
    return tuple(parallel[lane % len(parallel)] for parallel, lane in zip(hops, lanes, strict=False))


def _all_routes(
    flow: SimFlow, route: tuple[int, ...], paths: EqualPaths, ends: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], ...]:
    """Return every route that packets of a flow may take, as links; ``route`` is one of them."""
    if flow.spread is None:
        return (route,)
    first, last = ends[route[0]][1], ends[route[-1]][0]
    return tuple((route[0], *between, route[-1]) for between in paths.routes(first, last, ends))


def _acked(
    routes: Sequence[Sequence[Sequence[int]]], returns: Sequence[Sequence[Sequence[int]]]
) -> tuple[int, ...]:
    """Return the numbers of the flows whose ACKs may share a link with data; other ACKs delay nothing."""
    carrying = {link for each in routes for route in each for link in route}
    return tuple(
        number for number, each in enumerate(returns) if any(not carrying.isdisjoint(back) for back in each)
    )


def acks_apart(network: SimNetwork, number: int) -> bool:
    """Return whether the ACKs of a flow travel apart from data: those of a sender with a window always do."""
    return network.physics.acks == "apart" or network.flows[number].window is not None
