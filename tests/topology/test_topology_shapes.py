"""A two-tier Clos: every leaf connects to every spine, and hosts are counted through the leaves."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lossless.findings import Origin
from lossless.topology.shapes import LeafSpineShape, Plan, leaf_spine

G = 10**9
ORIGIN = Origin("fabric.yaml", ("topology", "leaf_spine"))


def plan(leaves: int, spines: int, hosts_per_leaf: int, down: int = 1, up: int = 1) -> Plan:
    return leaf_spine(
        LeafSpineShape(
            leaves=leaves,
            spines=spines,
            hosts_per_leaf=hosts_per_leaf,
            host_links=(down, 400 * G),
            uplinks=(up, 800 * G),
            host_cable_m=3,
            uplink_cable_m=30,
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
        ("leaf1", "host1", 2, 400 * G, 3, "host"),
        ("leaf1", "spine1", 8, 800 * G, 30, "switch"),
        ("leaf2", "host2", 2, 400 * G, 3, "host"),
        ("leaf2", "spine1", 8, 800 * G, 30, "switch"),
    ]


def test_every_number_is_blamed_where_it_is_written() -> None:
    found = plan(leaves=1, spines=1, hosts_per_leaf=1)
    keys = [node.origin.path[-1] for node in found.nodes]
    assert keys == ["leaves", "spines", "hosts_per_leaf"]
    assert [b.origin.path[-1] for b in found.bundles] == ["host_links", "uplinks"]
    assert [b.cable_origin.path[-2:] for b in found.bundles] == [("cables", "host"), ("cables", "uplink")]


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
