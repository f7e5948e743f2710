"""Credit loops: the verdict on a declared subnet, on given forwarding tables, and on an update from old to new routes.

Without opensm, routes are computed where that reproduces opensm's, or all turns that an engine can take are checked.
Where neither is possible, the verdict is *unproven*. The tables of an opensm that has run are checked in
:mod:`lossless.analysis.opensm.decide`.

While a subnet manager updates switch after switch, each switch has its old or its new table, for each destination
independently, and packets that came in by an old hop leave by a new one. So each channel by which a packet for a
destination can come in may wait for each channel of either table for it. Where all these waits together have no
cycle, no order of updates can close one; where they have one, a transition can deadlock although neither old nor new
routes have loops (W. Dally and C. Seitz, IEEE Trans. Computers C-36(5), 1987, of the graph that has a cycle or not).

For such an update every path is considered that an engine could choose, not only the one that it does: then the result
does not depend on how ties are broken, and remains true for a manager that takes over and breaks them otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.routing.infiniband.engines import (
    FAR,
    NEEDED_VLS,
    ChannelHop,
    credit_loop,
    detected_roots,
    dor,
    hop_texts,
    hops_to,
    legal_hops_to,
    minhop,
    nearest_channels,
    ranks_below,
    subnet_graph,
    torus_routes,
    unreachable,
    updn,
    upward,
)
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.graphs.cycles import cycle, from_lists
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.routing.infiniband.engines import Lanes, SubnetGraph, SubnetRoutes
    from lossless.model.fabric.infiniband.subnet import Subnet


State = Literal["free", "loop", "unproven"]
OWN_LEVELS = frozenset({"torus-2QoS", "lash", "dfsssp", "nue"})
"""Engines that choose the service level of each path themselves, to keep cycles apart in lanes."""
_REORDER = (
    "hop_weights_file",
    "port_search_ordering_file",
    "port_prof_ignore_file",
    "guid_routing_order_file",
    "ids_guid_file",
)
_NULL = frozenset({"", "(null)", "FALSE", "0"})


_AS_OPENSM = "routes computed as opensm computes them"
_ALL_UP_DOWN = "no cycle among all paths that go up and then down"


class CreditLoopVerdict(NamedTuple):
    """The verdict on credit loops of a subnet, the routing engine that applies, and the basis of the verdict.

    ``why`` names the routes, or the missing input. ``loop`` is a short cycle, as text (:func:`hop_texts`), or empty.
    """

    state: State
    engine: str
    why: str
    loop: tuple[str, ...] = ()


def subnet_verdict(subnet: Subnet) -> CreditLoopVerdict:
    """Return the credit-loop verdict on a declared subnet, from computed routes or from all turns of its engine."""
    engine = subnet.routing.engine or "minhop"
    graph = subnet_graph(subnet)
    if isinstance(graph, str):
        return CreditLoopVerdict("unproven", engine, graph)
    if engine in ("ftree", "ar_ftree"):
        return _tree(graph, subnet, engine)
    if engine == "ar_updn":
        return _adaptive_updn(graph, subnet)
    if engine == "torus-2QoS":
        return _torus(graph, subnet)
    if engine not in ("minhop", "updn", "dor"):
        return CreditLoopVerdict("unproven", engine, f"the routes of {engine} cannot be computed here")
    other = other_routes(subnet)
    if other is not None:
        return CreditLoopVerdict("unproven", engine, f"{other} changes which routes {engine} chooses")
    if engine == "updn":
        return _updn(graph, subnet)
    routes = dor(graph) if engine == "dor" else minhop(graph)
    return routes_verdict(graph, routes, engine, _AS_OPENSM)


def routes_verdict(
    graph: SubnetGraph, routes: SubnetRoutes, engine: str, how: str, lanes: Lanes | None = None
) -> CreditLoopVerdict:
    """Return the credit-loop verdict on given routes; ``unproven`` where a switch with HCAs has no route to an HCA.

    ``lanes`` is needed for the engines in ``OWN_LEVELS``: without it, and with a cycle on a single lane, their verdict
    is ``unproven``.
    """
    missing = unreachable(graph, routes)
    if missing is not None:
        switch, hca = graph.switches[missing[0]].name, graph.hcas[missing[1]]
        return CreditLoopVerdict("unproven", engine, f"{how}: {switch} has no path to {hca}")
    loop = credit_loop(graph, routes)
    if not loop:
        return CreditLoopVerdict("free", engine, f"{how}; no credit loop even on one VL")
    if engine not in OWN_LEVELS:
        return CreditLoopVerdict("loop", engine, how, hop_texts(graph, loop))
    if lanes is None:
        return CreditLoopVerdict("unproven", engine, f"{how}; which VL each path uses is not known")
    loop = credit_loop(graph, routes, lanes)
    if loop:
        return CreditLoopVerdict("loop", engine, f"{how}, with the VLs of each path", hop_texts(graph, loop))
    return CreditLoopVerdict("free", engine, f"{how}; its VLs keep every cycle open")


def other_routes(subnet: Subnet) -> str | None:
    """Return the first option and value that makes opensm choose other routes than those computed here, or None."""
    for key in (*_REORDER, "port_shifting", "scatter_ports", "lmc"):
        option = subnet.option(key)
        if option is not None and option.text not in _NULL:
            return f"{key} {option.text}"
    return None


def _updn(graph: SubnetGraph, subnet: Subnet) -> CreditLoopVerdict:
    roots = roots_of(subnet)
    if roots is None:
        roots = detected_roots(graph)
    if roots:
        # Cheap, and enough unless roots are cabled to each other: then paths up close a cycle among them.
        if not cycle(from_lists(_turns(graph, upward(graph, ranks_below(graph, roots))))):
            return CreditLoopVerdict("free", "updn", _ALL_UP_DOWN)
        return routes_verdict(graph, updn(graph, roots), "updn", _AS_OPENSM)
    if subnet.routing.no_fallback or len(subnet.routing.engines) > 1:
        return CreditLoopVerdict("unproven", "updn", "updn finds no root switches and gives up")
    return _fallen_back(graph, "updn finds no root switches")


def _adaptive_updn(graph: SubnetGraph, subnet: Subnet) -> CreditLoopVerdict:
    """Return the verdict on NVIDIA's adaptive updn: a packet may take any shortest path that goes up and then down.

    Source: NVIDIA, InfiniBand Cluster Bring-up Procedure, Adaptive Routing (TREE: all ports with the fewest hops).
    """
    roots = roots_of(subnet)
    if roots is None:
        roots = detected_roots(graph)
    if not roots or cycle(from_lists(_turns(graph, upward(graph, ranks_below(graph, roots))))):
        missing = "it finds no root switches" if not roots else "roots are cabled to each other"
        return CreditLoopVerdict("unproven", "ar_updn", f"{missing}, and only NVIDIA's opensm has ar_updn")
    return CreditLoopVerdict("free", "ar_updn", _ALL_UP_DOWN)


def _fallen_back(graph: SubnetGraph, because: str) -> CreditLoopVerdict:
    """Return the verdict on minhop, the routing of opensm after the intended engine gives up."""
    return routes_verdict(graph, minhop(graph), "minhop", f"{because}, so opensm takes minhop; {_AS_OPENSM}")


def roots_of(subnet: Subnet) -> frozenset[int] | None:
    """Return the numbers of the switches in the file of roots; None without such a file or with unknown switches."""
    switches, roots = with_derived_guids(subnet).switches, subnet.routing.roots
    if roots is None or isinstance(switches, Unknown):
        return None
    named = set(roots)
    return frozenset(
        number for number, switch in enumerate(switches) if switch.name in named or switch.guid in named
    )


def _tree(graph: SubnetGraph, subnet: Subnet, engine: str) -> CreditLoopVerdict:
    """Return the verdict on ftree or ar_ftree by all turns that it can take: any path up, then any path down."""
    roots = roots_of(subnet)
    if roots is None:
        tiers = [FAR if switch.tier is None else switch.tier for switch in graph.switches]
    else:
        tiers = ranks_below(graph, roots)
    strict = all(abs(tiers[channel.near] - tiers[channel.far]) == 1 for channel in graph.channels)
    if not strict or FAR in tiers:
        return CreditLoopVerdict(
            "unproven", engine, f"the fabric is no strict tree, which {engine} may refuse or route otherwise"
        )
    # In a strict tree every hop up or down changes the rank by one, so no cycle closes without a valley.
    return CreditLoopVerdict("free", engine, _ALL_UP_DOWN)


def _turns(graph: SubnetGraph, up: Sequence[bool]) -> list[list[int]]:
    """Return, for each channel, the channels that a packet may take after it without a valley."""
    return [
        [after for after in graph.out[channel.far] if up[number] or not up[after]]
        for number, channel in enumerate(graph.channels)
    ]


def _torus(graph: SubnetGraph, subnet: Subnet) -> CreditLoopVerdict:
    """Return the verdict on the routes and VLs of torus-2QoS; without QoS or with one VL minhop may apply."""
    routed = torus_routes(graph, subnet)
    if isinstance(routed, str):
        return CreditLoopVerdict("unproven", "torus-2QoS", routed)
    vls = OPERATIONAL_VLS.get(subnet.qos.max_op_vls or 0)
    if not subnet.qos.on or (vls is not None and vls < NEEDED_VLS):
        missing = "QoS is off" if not subnet.qos.on else f"there is {vls} VL"
        if subnet.routing.no_fallback or len(subnet.routing.engines) > 1:
            return CreditLoopVerdict("unproven", "torus-2QoS", f"torus-2QoS gives up: {missing}")
        return _fallen_back(graph, f"torus-2QoS gives up as {missing}")
    routes, lanes = routed
    return routes_verdict(graph, routes, "torus-2QoS", "routes by dimension, computed", lanes)


Choices = list[list[int]]
"""For one destination: the channels by which each switch may send to it."""


class MixedVerdict(NamedTuple):
    """The verdict on old and new routes together: a cycle of waits (``loop``, as text) or none; ``why``: the basis."""

    state: Literal["free", "loop", "unproven"]
    why: str
    loop: tuple[str, ...] = ()


def mixed_verdict(old: Subnet, new: Subnet) -> MixedVerdict:
    """Return the credit-loop verdict on an update of one subnet, in which each switch may have the old or new table."""
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
    """Return a function from destination switch to the channels that a subnet's engine may choose there.

    Where these are unknown, return the reason as text.
    """
    engine = subnet.routing.engine or "minhop"
    if engine in ("ftree", "ar_ftree", "ar_updn"):
        return _tree_choices(graph, subnet)
    if engine not in ("minhop", "updn", "dor"):
        return "its routes cannot be computed here"
    other = other_routes(subnet)
    if other is not None:
        return f"{other} changes which routes it chooses"
    if engine == "updn":
        return _updn_choices(graph, subnet)
    return lambda to: nearest_channels(graph, to, hops_to(graph, to), one_neighbor=engine == "dor")


def _updn_choices(graph: SubnetGraph, subnet: Subnet) -> Callable[[int], Choices] | str:
    roots = roots_of(subnet)
    roots = detected_roots(graph) if roots is None else roots
    if not roots:
        return "it finds no root switches"
    ranks = ranks_below(graph, roots)
    return lambda to: nearest_channels(graph, to, legal_hops_to(graph, to, ranks))


def _tree_choices(graph: SubnetGraph, subnet: Subnet) -> Callable[[int], Choices] | str:
    """Return the channels that tree engines may choose, by destination: down to one below, else up.

    Where the fabric is no strict tree, return that reason as text.
    """
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
    """Return a short cycle of waits among all channels that old or new routes may use, empty without one."""
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
