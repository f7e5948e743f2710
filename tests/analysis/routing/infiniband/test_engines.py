"""Tables of engines, followed entry by entry: shortest, legal, spread evenly, and by one neighbor for dor."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.routing.infiniband.engines import (
    FAR,
    HERE,
    NO_PATH,
    SubnetGraph,
    SubnetRoutes,
    detected_roots,
    dor,
    hops_to,
    minhop,
    ranks_below,
    subnet_graph,
    updn,
    upward,
)
from lossless.model.fabric.infiniband.subnet import Subnet
from tests.subnets import Cabling, dragonfly, fat_tree, fat_tree_of_pods, torus

SUBNETS = st.one_of(
    st.builds(fat_tree, st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), cables=st.integers(1, 3)),
    st.builds(torus, st.sampled_from([(4,), (5,), (2, 3), (4, 3), (2, 2, 3)]), st.integers(1, 2)),
    st.builds(dragonfly, st.integers(2, 4), st.integers(1, 3), st.integers(1, 2)),
)


def graph_of(subnet: Subnet) -> SubnetGraph:
    graph = subnet_graph(subnet)
    assert isinstance(graph, SubnetGraph)
    return graph


def distances(graph: SubnetGraph, start: int) -> dict[int, int]:
    """Return how far all switches are from one, that can be reached."""
    found, layer, hops = {start: 0}, {start}, 0
    while layer:
        hops += 1
        layer = {
            graph.channels[number].far for switch in layer for number in graph.out[switch]
        } - found.keys()
        found |= dict.fromkeys(layer, hops)
    return found


def path(graph: SubnetGraph, routes: SubnetRoutes, switch: int, hca: int) -> list[int]:
    """Return the channels of the path from a switch to an HCA, which must end there."""
    taken: list[int] = []
    while (number := routes.tables[switch][hca]) != HERE:
        taken.append(number)
        switch = graph.channels[number].far
        assert len(taken) <= len(graph.switches)
    assert switch == graph.attached[hca].switch
    return taken


@given(SUBNETS)
def test_a_graph_has_the_cables_of_its_subnet(subnet: Subnet) -> None:
    graph, cables = graph_of(subnet), subnet.links
    assert isinstance(cables, tuple)
    names = [switch.name for switch in graph.switches]
    hosts = {(names[near], port, hca) for hca, (near, port) in zip(graph.hcas, graph.attached, strict=True)}
    assert hosts == {(cable.a, cable.a_port, cable.b) for cable in cables if cable.to_hca}
    ends = {(names[near], port, names[far], far_port) for near, port, far, far_port in graph.channels}
    switches = {(c.a, c.a_port, c.b, c.b_port) for c in cables if not c.to_hca}
    assert ends == switches | {(b, b_port, a, a_port) for a, a_port, b, b_port in switches}
    for by_port in (*graph.hcas_by_switch(), *graph.out):
        assert list(by_port) == sorted(by_port)


@given(SUBNETS, st.data())
def test_hops_and_ranks_are_distances(subnet: Subnet, data: st.DataObject) -> None:
    graph = graph_of(subnet)
    switches = st.sampled_from(range(len(graph.switches)))
    one, other = data.draw(switches), data.draw(switches)
    from_one, from_other = distances(graph, one), distances(graph, other)
    hops = hops_to(graph, one)
    assert hops == [from_one[channel.far] + 1 for channel in graph.channels]
    ranks = ranks_below(graph, {one, other})
    assert ranks == [min(from_one[switch], from_other[switch]) for switch in range(len(graph.switches))]


def test_what_no_cable_leads_to_is_far() -> None:
    tree = fat_tree(2, 1, 1)
    assert isinstance(tree.links, tuple)
    apart = graph_of(tree._replace(links=tuple(link for link in tree.links if link.to_hca)))
    assert ranks_below(apart, {0}) == [0, FAR, FAR]
    routes = minhop(apart)
    assert [list(table) for table in routes.tables] == [[HERE, NO_PATH], [NO_PATH, HERE], [NO_PATH, NO_PATH]]
    assert detected_roots(apart) == frozenset()


@given(SUBNETS, st.sampled_from([minhop, dor]))
def test_minhop_and_dor_take_shortest_paths(subnet: Subnet, engine: object) -> None:
    graph = graph_of(subnet)
    assert callable(engine)
    routes = engine(graph)
    for switch in range(len(graph.switches)):
        far = distances(graph, switch)
        for hca, attached in enumerate(graph.attached):
            assert len(path(graph, routes, switch, hca)) == far[attached.switch]


@given(SUBNETS)
def test_dor_goes_to_an_hca_by_one_neighbor_of_each_switch_behind_its_lowest_port(subnet: Subnet) -> None:
    graph = graph_of(subnet)
    routes = dor(graph)
    for switch in range(len(graph.switches)):
        for destination in {attached.switch for attached in graph.attached} - {switch}:
            hops = hops_to(graph, destination)
            nearest = min(hops[number] for number in graph.out[switch])
            lowest = next(number for number in graph.out[switch] if hops[number] == nearest)
            taken = {
                graph.channels[routes.tables[switch][hca]].far
                for hca, attached in enumerate(graph.attached)
                if attached.switch == destination
            }
            assert taken == {graph.channels[lowest].far}


@given(SUBNETS, st.data())
def test_updn_never_goes_up_after_it_went_down(subnet: Subnet, data: st.DataObject) -> None:
    graph = graph_of(subnet)
    roots = data.draw(st.sets(st.sampled_from(range(len(graph.switches))), min_size=1, max_size=2))
    up, routes = upward(graph, ranks_below(graph, roots)), updn(graph, roots)
    for switch, table in enumerate(routes.tables):
        for hca, channel in enumerate(table):
            if channel != NO_PATH and graph.hcas_by_switch()[switch]:
                directions = [up[number] for number in path(graph, routes, switch, hca)]
                assert directions == sorted(directions, reverse=True)


@given(st.integers(2, 5), st.integers(1, 4), st.integers(1, 3))
def test_in_a_tree_updn_takes_shortest_paths(leaves: int, spines: int, hosts: int) -> None:
    graph = graph_of(fat_tree(leaves, spines, hosts))
    roots = {number for number, switch in enumerate(graph.switches) if switch.tier == 1}
    assert detected_roots(graph) == roots
    routes = updn(graph, roots)
    for switch, hcas in enumerate(graph.hcas_by_switch()):
        for hca, attached in enumerate(graph.attached):
            hops = 0 if switch == attached.switch else 2 if hcas else 1
            assert len(path(graph, routes, switch, hca)) == hops


@pytest.mark.parametrize("engine", [minhop, lambda graph: updn(graph, {2, 3, 4})])
def test_paths_are_spread_over_all_nearest_ports(engine: object) -> None:
    graph = graph_of(fat_tree(2, 3, 6))
    assert callable(engine)
    routes = engine(graph)
    carried = Counter(channel for table in routes.tables for channel in table if channel >= 0)
    up = [
        carried[number]
        for number, channel in enumerate(graph.channels)
        if graph.hcas_by_switch()[channel.near]
    ]
    assert up == [2] * 6


def test_between_roots_both_directions_lead_up() -> None:
    graph = graph_of(torus((3,), 1))
    assert all(upward(graph, [0, 0, 0]))
    ranks = ranks_below(graph, {0})
    assert ranks == [0, 1, 1]
    ups = {(c.near, c.far) for c, up in zip(graph.channels, upward(graph, ranks), strict=True) if up}
    # Of two switches as far from the root the one with the smaller GUID is higher.
    higher, lower = sorted((1, 2), key=lambda switch: graph.guids[switch])
    assert ups == {(1, 0), (2, 0), (lower, higher)}


@pytest.mark.parametrize(
    ("at_hops", "is_root"),
    [
        # Of 20 HCAs 18 are nine tenths and 1 is a twentieth: it takes more than the first, and no more than the second.
        ((0, 20), True),
        ((0, 19, 1), True),
        ((1, 19), True),
        ((0, 18, 1, 1), False),
        ((0, 18, 2), False),
        ((2, 18), False),
        ((20,), True),
    ],
)
def test_a_root_has_more_than_nine_tenths_at_one_distance_and_a_twentieth_at_no_other(
    at_hops: tuple[int, ...], is_root: bool
) -> None:
    chain = Cabling()
    for hops, count in enumerate(at_hops):
        chain.hosts(chain.switch(f"s{hops}"), count)
    for hops in range(1, len(at_hops)):
        chain.cable(f"s{hops - 1}", f"s{hops}")
    assert (0 in detected_roots(graph_of(chain.subnet("fat-tree", None)))) == is_root


def test_hcas_that_cannot_be_reached_are_at_no_distance() -> None:
    apart = Cabling()
    apart.hosts(apart.switch("s0"), 1)
    apart.hosts(apart.switch("s1"), 19)
    assert detected_roots(graph_of(apart.subnet("fat-tree", None))) == {1}


def test_roots_are_switches_that_nearly_all_hcas_are_equally_far_from() -> None:
    tree = graph_of(fat_tree_of_pods(3, 2, 2))
    tops = {number for number, switch in enumerate(tree.switches) if switch.tier == 2}
    assert detected_roots(tree) == tops
    assert detected_roots(graph_of(torus((5, 5), 1))) == frozenset()
