"""torus-2QoS: dimension by dimension, the shorter direction round, and a lane that changes at the dateline."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.routing.infiniband.engines import (
    Lanes,
    SubnetGraph,
    SubnetRoutes,
    subnet_graph,
    torus_routes,
)
from lossless.model.fabric.infiniband.subnet import Subnet
from tests.subnets import fat_tree, torus

SIDES = st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple)


def routed(subnet: Subnet) -> tuple[SubnetGraph, SubnetRoutes, Lanes]:
    graph = subnet_graph(subnet)
    assert isinstance(graph, SubnetGraph)
    found = torus_routes(graph, subnet)
    assert not isinstance(found, str)
    return graph, *found


def places(graph: SubnetGraph, routes: SubnetRoutes, sender: int, hca: int) -> list[tuple[int, ...]]:
    """Return the places that a path leads over, from the switch of one HCA to that of another."""
    switch, passed = (
        graph.attached[sender].switch,
        [graph.switches[graph.attached[sender].switch].coordinates],
    )
    while (number := routes.tables[switch][hca]) >= 0:
        switch = graph.channels[number].far
        passed.append(graph.switches[switch].coordinates)
    return passed


@settings(max_examples=20)
@given(SIDES)
def test_a_path_goes_the_shorter_direction_round_one_dimension_after_another(sides: tuple[int, ...]) -> None:
    graph, routes, _ = routed(torus(sides, 1, "torus-2QoS"))
    for sender, hca in product(range(len(graph.hcas)), repeat=2):
        passed = places(graph, routes, sender, hca)
        start, end = passed[0], graph.switches[graph.attached[hca].switch].coordinates
        ahead = [(b - a) % side for a, b, side in zip(start, end, sides, strict=True)]
        assert passed[-1] == end
        steps = [
            next((axis, (b[axis] - a[axis]) % side) for axis, side in enumerate(sides) if a[axis] != b[axis])
            for a, b in pairwise(passed)
        ]
        # Where both directions are as short, it is upwards.
        expected = [
            (axis, 1 if 2 * far <= side else side - 1)
            for axis, (far, side) in enumerate(zip(ahead, sides, strict=True))
            for _ in range(min(far, side - far))
        ]
        assert steps == expected


@settings(max_examples=20)
@given(SIDES)
def test_a_service_level_has_a_bit_for_each_dateline_crossed_and_the_bit_is_the_lane(
    sides: tuple[int, ...],
) -> None:
    graph, routes, lanes = routed(torus(sides, 1, "torus-2QoS"))
    levels = set()
    for sender, hca in product(range(len(graph.hcas)), repeat=2):
        passed = places(graph, routes, sender, hca)
        crossed = {
            axis
            for axis, side in enumerate(sides)
            for a, b in pairwise(passed)
            if side > 2 and {a[axis], b[axis]} == {0, side - 1}
        }
        levels.add(lanes.level(sender, hca))
        assert lanes.level(sender, hca) == sum(1 << axis for axis in crossed)
    for channel, level in product(graph.channels, levels):
        near, far = (graph.switches[end].coordinates for end in (channel.near, channel.far))
        axis = next(axis for axis in range(len(sides)) if near[axis] != far[axis])
        assert lanes.lane(channel.near, 99, channel.port, level) == level >> axis & 1


def test_a_torus_that_lacks_a_cable_has_no_path_over_it_and_no_dateline_there() -> None:
    ring = torus((5,), 1, "torus-2QoS")
    assert isinstance(ring.links, tuple)
    broken = tuple(link for link in ring.links if {link.a, link.b} != {"t0", "t4"})
    graph, routes, lanes = routed(ring._replace(links=broken))
    reached = {
        (sender, hca): places(graph, routes, sender, hca)[-1] == graph.switches[hca].coordinates
        for sender, hca in product(range(5), repeat=2)
    }
    lost = {(0, 3), (0, 4), (1, 4), (3, 0), (4, 0), (4, 1)}
    assert {ends for ends, here in reached.items() if not here} == lost
    assert {lanes.level(sender, hca) for sender, hca in product(range(5), repeat=2)} == {0}


def moved(subnet: Subnet, switch: int, coordinates: tuple[int, ...]) -> Subnet:
    assert isinstance(subnet.switches, tuple)
    switches = list(subnet.switches)
    switches[switch] = switches[switch]._replace(coordinates=coordinates)
    return subnet._replace(switches=tuple(switches))


@pytest.mark.parametrize(
    ("subnet", "why"),
    [
        (moved(torus((3, 3), 1), 0, (1, 1)), "the switches have no places in a torus"),
        (moved(torus((3, 3), 1), 0, (0,)), "the switches have no places in a torus"),
        (moved(torus((3, 3), 1), 0, ()), "the switches have no places in a torus"),
        (fat_tree(2, 2, 1, "torus-2QoS"), "torus-2QoS routes a torus, and the intent declares none"),
    ],
)
def test_what_is_no_torus_is_said(subnet: Subnet, why: str) -> None:
    graph = subnet_graph(subnet)
    assert isinstance(graph, SubnetGraph)
    assert torus_routes(graph, subnet) == why
