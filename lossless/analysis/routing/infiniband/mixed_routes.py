"""Old and new routes of a subnet at the same time: dependencies while a manager updates switch after switch.

During the update each switch has its old or its new table, for each destination independently, and packets that came
in by an old hop leave by a new one. So each channel by which a packet for a destination can come in may wait for each
channel of either table for it. Where all these waits together have no cycle, no order of updates
can close one; where they have one, a transition can deadlock although neither old nor new routes have loops
(W. Dally and C. Seitz, IEEE Trans. Computers C-36(5), 1987, of the graph that has a cycle or not).

Of each engine every path is considered that it could choose, not only the one that it does: then the result does not
depend on how ties are broken, and remains true for a manager that takes over and breaks them otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.routing.infiniband.channels import subnet_graph
from lossless.analysis.routing.infiniband.credit_loops import other_routes, roots_of
from lossless.analysis.routing.infiniband.engines import (
    FAR,
    detected_roots,
    hops_to,
    legal_hops_to,
    nearest_channels,
    ranks_below,
)
from lossless.analysis.routing.infiniband.routes import ChannelHop, hop_texts
from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.cycles import cycle
from lossless.ground.graphs.graph import from_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.model.fabric.infiniband.subnet import Subnet

Choices = list[list[int]]
"""For one destination: the channels by which each switch may send to it."""


class MixedVerdict(NamedTuple):
    """Whether old and new routes together have no cycle of waits; ``why`` is the basis of the verdict."""

    state: Literal["free", "loop", "unproven"]
    why: str
    loop: tuple[str, ...] = ()


def mixed_verdict(old: Subnet, new: Subnet) -> MixedVerdict:
    """Return the verdict on the routes of two configurations of one fabric while each switch may have either."""
    graph = subnet_graph(old)
    if isinstance(graph, str):
        return MixedVerdict("unproven", graph)
    routings = [_routing(graph, subnet) for subnet in (old, new)]
    for subnet, routing in zip((old, new), routings, strict=True):
        if isinstance(routing, str):
            return MixedVerdict("unproven", f"{subnet.routing.engine or 'minhop'}: {routing}")
    loop = _loop(graph, [routing for routing in routings if not isinstance(routing, str)])
    if loop:
        why = "old and new routes together have a cycle of waits"
        return MixedVerdict("loop", why, hop_texts(graph, loop))
    return MixedVerdict("free", "old and new routes together have no cycle of waits, even on one VL")


def _routing(graph: SubnetGraph, subnet: Subnet) -> Callable[[int], Choices] | str:
    """Return one configuration's possible channels for a destination; where they are unknown, the reason as text."""
    engine = subnet.routing.engine or "minhop"
    if engine in ("ftree", "ar_ftree", "ar_updn"):
        return _tree(graph, subnet)
    if engine not in ("minhop", "updn", "dor"):
        return "its routes cannot be computed here"
    other = other_routes(subnet)
    if other is not None:
        return f"{other} changes which routes it chooses"
    if engine == "updn":
        return _updn(graph, subnet)
    return lambda to: nearest_channels(graph, to, hops_to(graph, to), one_neighbor=engine == "dor")


def _updn(graph: SubnetGraph, subnet: Subnet) -> Callable[[int], Choices] | str:
    roots = roots_of(subnet)
    roots = detected_roots(graph) if roots is None else roots
    if not roots:
        return "it finds no root switches"
    ranks = ranks_below(graph, roots)
    return lambda to: nearest_channels(graph, to, legal_hops_to(graph, to, ranks))


def _tree(graph: SubnetGraph, subnet: Subnet) -> Callable[[int], Choices] | str:
    """Return the choices of engines for trees: down where the destination is below, else up."""
    roots = roots_of(subnet)
    if roots is None:
        ranks = [FAR if switch.tier is None else -switch.tier for switch in graph.switches]
    else:
        ranks = ranks_below(graph, roots)
    if FAR in ranks or any(abs(ranks[each.near] - ranks[each.far]) != 1 for each in graph.channels):
        return "the fabric is no strict tree"
    return lambda to: _up_or_down(graph, ranks, to)


def _up_or_down(graph: SubnetGraph, ranks: Sequence[int], destination: int) -> Choices:
    above = {destination}
    for switch in sorted(range(len(graph.switches)), key=ranks.__getitem__, reverse=True):
        if any(
            graph.channels[n].far in above and ranks[graph.channels[n].far] > ranks[switch]
            for n in graph.out[switch]
        ):
            above.add(switch)
    return [
        []
        if switch == destination
        else [
            n
            for n in graph.out[switch]
            if (ranks[graph.channels[n].far] > ranks[switch]) == (switch in above)
            and (switch not in above or graph.channels[n].far in above)
        ]
        for switch in range(len(graph.switches))
    ]


def _loop(graph: SubnetGraph, routings: Sequence[Callable[[int], Choices]]) -> tuple[ChannelHop, ...]:
    """Return a shortest cycle of waits, empty without one."""
    after: list[set[int]] = [set() for _ in graph.channels]
    senders = [switch for switch, hcas in enumerate(graph.hcas_by_switch()) if hcas]
    for destination in senders:
        chosen = [routing(destination) for routing in routings]
        either = [sorted({*here[0], *here[-1]}) for here in zip(*chosen, strict=True)]
        for channel, following in _waits(graph, either, senders):
            after[channel].update(following)
    nodes = cycle(from_lists([sorted(following) for following in after]))
    return tuple(ChannelHop(node, 0) for node in nodes)


def _waits(
    graph: SubnetGraph, either: Choices, senders: Sequence[int]
) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the channels by which packets to one destination can arrive, each with the possible next channels."""
    waiting = [channel for sender in senders for channel in either[sender]]
    seen = set(waiting)
    while waiting:
        channel = waiting.pop()
        following = either[graph.channels[channel].far]
        yield channel, following
        for each in following:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
