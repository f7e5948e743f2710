"""Shapes: a two-tier Clos joins every leaf with every spine, a three-tier one joins pods by super-spines."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, strategies as st

from lossless.analysis.topology.shapes import (
    LeafSpineShape,
    LinkKind,
    ThreeTierShape,
    WiringPlan,
    wiring_plan,
)
from lossless.ground.basics.findings import Origin

G = 10**9
ORIGIN = Origin("fabric.yaml", ("topology", "leaf_spine"))


def plan(leaves: int, spines: int, hosts_per_leaf: int, down: int = 1, up: int = 1) -> WiringPlan:
    return wiring_plan(
        LeafSpineShape(
            leaves=leaves,
            spines=spines,
            hosts_per_leaf=hosts_per_leaf,
            host_links=LinkKind("hosts", (down, 400 * G), 3, ORIGIN, ORIGIN),
            uplinks=LinkKind("uplinks", (up, 800 * G), 30, ORIGIN, ORIGIN),
            origin=ORIGIN,
        )
    )


def test_a_small_one_in_full() -> None:
    found = plan(leaves=2, spines=1, hosts_per_leaf=1, down=2, up=8)
    assert [(node.name, node.role) for node in found.nodes] == [
        ("leaf1", "leaf"),
        ("leaf2", "leaf"),
        ("spine1", "spine"),
        ("host1", "host"),
        ("host2", "host"),
    ]
    assert [(b.a, b.b, b.links, b.speed_bps, b.cable_m, b.tier) for b in found.bundles] == [
        ("leaf1", "host1", 2, 400 * G, 3, "hosts"),
        ("leaf1", "spine1", 8, 800 * G, 30, "uplinks"),
        ("leaf2", "host2", 2, 400 * G, 3, "hosts"),
        ("leaf2", "spine1", 8, 800 * G, 30, "uplinks"),
    ]


def test_every_number_is_blamed_where_it_is_written() -> None:
    found = plan(leaves=1, spines=1, hosts_per_leaf=1)
    keys = [node.origin.path[-1] for node in found.nodes]
    assert keys == ["leaves", "spines", "hosts_per_leaf"]


NUMBERS = st.integers(1, 5)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_links_add_up(leaves: int, spines: int, hosts: int, down: int, up: int) -> None:
    found = plan(leaves, spines, hosts, down, up)
    degree: Counter[str] = Counter()
    for bundle in found.bundles:
        degree[bundle.a] += bundle.links
        degree[bundle.b] += bundle.links
    expected = {"leaf": hosts * down + spines * up, "spine": leaves * up, "host": down}
    assert {node.name: degree[node.name] for node in found.nodes} == {
        node.name: expected[node.role] for node in found.nodes
    }
    assert len({(b.a, b.b) for b in found.bundles}) == len(found.bundles)


def pods(
    number: int, leaves: int, spines: int, above: int, planes: int = 1, hosts: int = 1, up: int = 1
) -> WiringPlan:
    return wiring_plan(
        ThreeTierShape(
            pods=number,
            leaves_per_pod=leaves,
            spines_per_pod=spines,
            super_spines=above,
            planes=planes,
            hosts_per_leaf=hosts,
            host_links=LinkKind("hosts", (1, 400 * G), 3, ORIGIN, ORIGIN),
            uplinks=LinkKind("uplinks", (up, 800 * G), 30, ORIGIN, ORIGIN),
            spine_uplinks=LinkKind("spine_uplinks", (up + 1, 800 * G), 300, ORIGIN, ORIGIN),
            origin=ORIGIN,
        )
    )


def pairs(found: WiringPlan, tier: str) -> list[tuple[str, str]]:
    return [(bundle.a, bundle.b) for bundle in found.bundles if bundle.tier == tier]


def test_small_pods_in_full() -> None:
    found = pods(number=2, leaves=1, spines=1, above=2)
    assert [(node.name, node.role) for node in found.nodes] == [
        ("leaf1", "leaf"),
        ("leaf2", "leaf"),
        ("spine1", "spine"),
        ("spine2", "spine"),
        ("superspine1", "super-spine"),
        ("superspine2", "super-spine"),
        ("host1", "host"),
        ("host2", "host"),
    ]
    assert [(b.a, b.b, b.links, b.cable_m, b.tier) for b in found.bundles] == [
        ("leaf1", "host1", 1, 3, "hosts"),
        ("leaf1", "spine1", 1, 30, "uplinks"),
        ("spine1", "superspine1", 2, 300, "spine_uplinks"),
        ("spine1", "superspine2", 2, 300, "spine_uplinks"),
        ("leaf2", "host2", 1, 3, "hosts"),
        ("leaf2", "spine2", 1, 30, "uplinks"),
        ("spine2", "superspine1", 2, 300, "spine_uplinks"),
        ("spine2", "superspine2", 2, 300, "spine_uplinks"),
    ]


def test_spines_of_a_plane_meet_only_the_super_spines_of_that_plane() -> None:
    found = pods(number=2, leaves=1, spines=2, above=4, planes=2)
    assert pairs(found, "spine_uplinks") == [
        ("spine1", "superspine1"),
        ("spine1", "superspine2"),
        ("spine2", "superspine3"),
        ("spine2", "superspine4"),
        ("spine3", "superspine1"),
        ("spine3", "superspine2"),
        ("spine4", "superspine3"),
        ("spine4", "superspine4"),
    ]


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.integers(1, 3), NUMBERS)
def test_links_of_pods_add_up(
    number: int, leaves: int, spines: int, above: int, planes: int, up: int
) -> None:
    found = pods(number, leaves, spines * planes, above * planes, planes, hosts=2, up=up)
    degree: Counter[str] = Counter()
    for bundle in found.bundles:
        degree[bundle.a] += bundle.links
        degree[bundle.b] += bundle.links
    expected = {
        "leaf": 2 + spines * planes * up,
        "spine": leaves * up + above * (up + 1),
        "super-spine": number * spines * (up + 1),
        "host": 1,
    }
    assert {node.name: degree[node.name] for node in found.nodes} == {
        node.name: expected[node.role] for node in found.nodes
    }
    assert len({(b.a, b.b) for b in found.bundles}) == len(found.bundles)


def test_no_leaf_leaves_its_pod() -> None:
    found = pods(number=3, leaves=2, spines=2, above=2)
    for leaf, spine in pairs(found, "uplinks"):
        assert (int(leaf.removeprefix("leaf")) - 1) // 2 == (int(spine.removeprefix("spine")) - 1) // 2
