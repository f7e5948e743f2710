"""A subnet as the wiring of a fabric: what it is made of, what its switches carry, and where its devices stand."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from lossless import api
from lossless.analysis.topology.bisection import fabric_capacity
from lossless.analysis.topology.folding import folded
from lossless.analysis.topology.subnet import (
    COMPUTE,
    LOADING,
    picture_shape,
    subnet_fabric,
    subnet_plan,
    subnet_summary,
    switch_loads,
)
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.infiniband.qos_policy import RATES
from tests.paths import ROOT
from tests.subnets import Cabling, dragonfly, fat_tree, fat_tree_of_pods, torus

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet

NDR = RATES["NDR"].bits_per_second
SUBNETS = {
    "fat tree": fat_tree(6, 3, 5, cables=2),
    "three levels": fat_tree_of_pods(3, 4, 5),
    "torus": torus((5, 4), 3),
    "three dimensions": torus((3, 2, 4), 1),
    "dragonfly+": dragonfly(5, 3, 2),
}


@pytest.mark.parametrize("subnet", SUBNETS.values(), ids=SUBNETS)
def test_every_device_link_and_port_of_a_subnet_is_counted_once(subnet: Subnet) -> None:
    assert isinstance(subnet.links, tuple)
    assert isinstance(subnet.switches, tuple)
    assert isinstance(subnet.hosts, tuple)
    numbers = subnet_summary(subnet)
    assert sum(group.switches for group in numbers.switches) == len(subnet.switches)
    assert sum(hosts for _, hosts in numbers.hosts) == len(subnet.hosts)
    assert sum(group.links for group in numbers.links) == len(subnet.links)
    used = sum(ports * group.switches for group in numbers.switches for ports, _ in group.ports.used)
    assert used == sum(1 if link.to_hca else 2 for link in subnet.links)
    for group in numbers.switches:
        assert sum(ports for ports, _ in (*group.ports.used, *group.ports.free)) == 64
    fabric, picture = subnet_fabric(subnet), folded(subnet_plan(subnet), "subnet", picture_shape(subnet))
    assert len(fabric.links) == len(subnet.links)
    assert sum(edge.links for edge in picture.edges) == len(subnet.links)
    assert sum(item.devices for item in picture.items) == len(subnet.switches) + len(subnet.hosts)


def test_tiers_of_a_tree_carry_what_their_links_do() -> None:
    # 5 hosts below a leaf and 4 links above it; 4 below a spine and 4 above.
    leaves, spines = fabric_capacity(subnet_fabric(SUBNETS["three levels"])).tiers
    assert (leaves.role, len(leaves.switches), leaves.down_bps, leaves.up_bps) == (
        "leaf",
        12,
        5 * NDR,
        4 * NDR,
    )
    assert spines[2:4] == (4 * NDR, 4 * NDR)
    assert switch_loads(SUBNETS["torus"]) == {}


def test_pods_and_groups_are_drawn_apart_and_a_torus_by_its_places() -> None:
    def groups(name: str) -> set[tuple[int, ...]]:
        return {node.place[:1] for node in subnet_plan(SUBNETS[name]).nodes if node.role == "leaf"}

    assert groups("three levels") == {(0,), (1,), (2,)}
    places = {node.place for node in subnet_plan(SUBNETS["torus"]).nodes if node.role == "switch"}
    assert places == {(x, y) for x in range(5) for y in range(4)}


@pytest.mark.parametrize(
    "sides",
    [(2, 3), (3, 3), (2, 6), (6, 2), (3, 4), (2, 7), (3, 5), (5, 3), (4, 4), (2, 8), (2, 2, 3), (2, 2, 4)],
)
def test_the_bisection_of_a_torus_is_the_least_of_all_halves(sides: tuple[int, ...]) -> None:
    """Every choice of half of the switches is tried; hosts send more than all links of a switch carry."""
    fabric = subnet_fabric(torus(sides, 8))
    between = [(link.a, link.b, link.speed_bps) for link in fabric.links if not link.to_host]
    switches = sorted({name for a, b, _ in between for name in (a, b)})
    least = min(
        sum(bps for a, b, bps in between if (a in half) != (b in half))
        for half in map(set, combinations(switches, len(switches) // 2))
    )
    found = fabric_capacity(fabric).bisection
    assert found is not None
    assert found.one_way_bps == least


def test_managers_load_no_links_and_compute_alone_takes_part_in_a_workload() -> None:
    subnet = SUBNETS["fat tree"]
    assert isinstance(subnet.hosts, tuple)
    managing = subnet._replace(
        hosts=(
            subnet.hosts[0]._replace(role="management"),
            subnet.hosts[1]._replace(role="storage"),
            *subnet.hosts[2:],
        )
    )
    assert switch_loads(managing)["leaf0"].down_bps == 4 * NDR
    for roles, hosts in ((COMPUTE, 28), (LOADING, 29)):
        assert sum(link.to_host for link in subnet_fabric(managing, roles).links) == hosts


def test_a_split_port_takes_half_of_a_whole_one() -> None:
    made = Cabling(ports=128, rate="NDR200")
    made.hosts(made.switch("leaf", 0), 3)
    (group,) = subnet_summary(made.subnet("fat-tree", None)).switches
    assert group.ports[:2] == (((3, RATES["NDR200"].bits_per_second),), ((62, NDR),))


def test_of_a_subnet_whose_cables_are_not_known_nothing_is_said() -> None:
    assert subnet_summary(SUBNETS["torus"]._replace(links=UNKNOWN, shape=UNKNOWN)).links == ()


def test_leaves_of_a_subnet_are_drawn_with_their_rails() -> None:
    """The first HCA of each host is at the one leaf, the second at the other; managers have one alone."""
    drawn = api.topology(ROOT / "examples" / "infiniband-256-ndr").picture
    labels = {item.key: item.labels for item in drawn.items if item.role == "leaf"}
    assert labels == {"leaf1": ("rail 1",), "leaf2": ("rail 2",), "leaf3": ("rail 1",), "leaf4": ("rail 2",)}
