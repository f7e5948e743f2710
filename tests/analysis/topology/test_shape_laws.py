"""Laws of all shapes: how many links every device has, that all are reached, and that what is added moves nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import combinations
from math import prod
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.topology.shapes import (
    DragonflyPlusShape,
    DragonflyShape,
    LeafSpineShape,
    LinkKind,
    RailShape,
    ThreeTierShape,
    TorusShape,
    WiringPlan,
    wiring_plan,
)
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.model import LinkTier

pytestmark = pytest.mark.tools("laws")

G = 10**9
AT = Origin("fabric.yaml", ("topology",))
SMALL = st.integers(1, 4)
SEVERAL = st.integers(2, 5)


def kind(tier: LinkTier, links: int, speed: int = 400, cable_m: int = 3) -> LinkKind:
    return LinkKind(tier, (links, speed * G), cable_m, AT, AT)


def degrees(plan: WiringPlan, *tiers: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for bundle in plan.bundles:
        if not tiers or bundle.tier in tiers:
            found[bundle.a] += bundle.links
            found[bundle.b] += bundle.links
    return found


def neighbors(plan: WiringPlan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for bundle in plan.bundles:
        found[bundle.a].add(bundle.b)
        found[bundle.b].add(bundle.a)
    return found


def reached(plan: WiringPlan) -> set[str]:
    near, found, waiting = neighbors(plan), set[str](), [plan.nodes[0].name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += near[name]
    return found


def rails(units: int, number: int, spines: int, hosts: int, each: int = 1, planes: int = 1) -> RailShape:
    links = (kind("hosts", number * each * planes), kind("uplinks", 2, 800))
    return RailShape(units, number, spines * planes, hosts, *links, AT, planes)


def fly(groups: int, switches: int, hosts: int, between: int) -> DragonflyShape:
    links = (kind("hosts", 1), kind("local_links", 2), kind("global_links", between))
    return DragonflyShape(groups, switches, hosts, *links, AT)


def fly_plus(groups: int, leaves: int, spines: int, hosts: int, between: int) -> DragonflyPlusShape:
    links = (kind("hosts", 2), kind("uplinks", 3), kind("global_links", between))
    return DragonflyPlusShape(groups, leaves, spines, hosts, *links, AT)


def ring(sides: tuple[int, ...], hosts: int) -> TorusShape:
    return TorusShape(sides, kind("links", 2), hosts, kind("hosts", 1), AT)


def clos(leaves: int, spines: int, hosts: int) -> LeafSpineShape:
    return LeafSpineShape(leaves, spines, hosts, kind("hosts", 2), kind("uplinks", 2, 800, 30), AT)


def pods(
    number: int, leaves: int, spines: int, above: int, planes: int, hosts: int, rails: int = 1, each: int = 1
) -> ThreeTierShape:
    links = (kind("hosts", rails * each), kind("uplinks", 1, 800, 30), kind("spine_uplinks", 2, 800, 300))
    sizes = (number, leaves * rails, spines * planes, above * planes, planes, hosts)
    return ThreeTierShape(*sizes, *links, AT, rails=rails)


def ports_of_hosts(plan: WiringPlan) -> Counter[tuple[str, int]]:
    """How often each port of each host has a cable, ports counted from 0."""
    found: Counter[tuple[str, int]] = Counter()
    for bundle in plan.bundles:
        if bundle.tier == "hosts" and bundle.b_port is None:
            found.update((bundle.b, port) for port in range(bundle.links))
        elif bundle.tier == "hosts":
            assert bundle.b_port is not None
            found[bundle.b, int(bundle.b_port.removeprefix("port")) - 1] += bundle.links
    return found


def leaf_at(plan: WiringPlan) -> dict[tuple[str, int], str]:
    """The leaf that a port of a host is at, ports counted from 0."""
    return {
        (bundle.b, int(bundle.b_port.removeprefix("port")) - 1): bundle.a
        for bundle in plan.bundles
        if bundle.tier == "hosts" and bundle.b_port is not None
    }


def shortest_paths(plan: WiringPlan, a: str, b: str) -> int:
    """How many shortest paths lead from one switch to another, parallel links counted: walked link by link."""
    near: dict[str, Counter[str]] = defaultdict(Counter)
    for bundle in plan.bundles:
        if bundle.tier != "hosts":
            near[bundle.a][bundle.b] += bundle.links
            near[bundle.b][bundle.a] += bundle.links
    counts, seen = Counter({a: 1}), {a}
    while counts and b not in counts:
        seen |= counts.keys()
        onward: Counter[str] = Counter()
        for name, number in counts.items():
            for other, links in near[name].items():
                if other not in seen:
                    onward[other] += number * links
        counts = onward
    return counts[b]


@given(SMALL, SMALL, SMALL, SMALL, st.integers(1, 2))
def test_adapter_n_of_every_host_of_a_unit_is_at_rail_n(
    units: int, number: int, spines: int, hosts: int, each: int
) -> None:
    plan = wiring_plan(rails(units, number, spines, hosts, each))
    leaves = {node.name: node.place for node in plan.nodes if node.role == "leaf"}
    places = {node.name: node.place for node in plan.nodes}
    seen = set()
    for bundle in plan.bundles:
        if bundle.tier == "hosts":
            unit, rail, _ = leaves[bundle.a]
            assert bundle.b_port is not None
            adapter = int(bundle.b_port.removeprefix("port")) - 1
            assert adapter % number == rail
            assert places[bundle.b][0] == unit
            seen.add((bundle.b, adapter))
    assert len(seen) == units * hosts * number * each
    found = degrees(plan)
    assert all(found[name] == hosts * each + 2 * spines for name in leaves)
    assert all(found[node.name] == number * each for node in plan.nodes if node.role == "host")


@given(SMALL, SMALL, SMALL, SMALL, st.integers(1, 2), st.integers(1, 3))
def test_port_p_of_adapter_n_of_every_host_is_at_rail_n_of_plane_p(
    units: int, number: int, spines: int, hosts: int, each: int, planes: int
) -> None:
    plan = wiring_plan(rails(units, number, spines, hosts, each, planes))
    places = {node.name: node.place for node in plan.nodes}
    assert ports_of_hosts(plan) == Counter(
        (node.name, port)
        for node in plan.nodes
        if node.role == "host"
        for port in range(number * each * planes)
    )
    for (host, port), leaf in leaf_at(plan).items():
        adapter, plane = divmod(port, planes)
        assert places[leaf] == (places[host][0], adapter % number, plane)
    found = degrees(plan)
    leaves = [node.name for node in plan.nodes if node.role == "leaf"]
    assert {found[name] for name in leaves} == {hosts * each + 2 * spines}
    assert {found[n.name] for n in plan.nodes if n.role == "spine"} == {units * number * 2}
    for bundle in plan.bundles:
        if bundle.tier == "uplinks":
            assert places[bundle.a][2] == places[bundle.b][0], "a leaf reaches the spines of its plane alone"
    for a, b in combinations(leaves, 2):
        same = places[a][2] == places[b][2]
        assert shortest_paths(plan, a, b) == (spines * 2 * 2 if same else 0)


@given(st.integers(1, 3), st.integers(1, 2), SMALL, st.integers(1, 2), SMALL, st.integers(1, 2))
def test_rails_of_three_tiers_share_the_hosts_of_their_leaves(
    number: int, groups: int, own: int, above: int, rail_count: int, each: int
) -> None:
    """``groups`` of leaves in a pod; each group shares its hosts, one leaf a rail."""
    planes, spines, hosts = 2, own, 3
    plan = wiring_plan(pods(number, groups, spines, above, planes, hosts, rail_count, each))
    places = {node.name: node.place for node in plan.nodes}
    ports = ports_of_hosts(plan)
    assert set(ports.values()) == {1}, "every port of a host has one cable"
    assert len(ports) == number * groups * hosts * rail_count * each
    for (host, port), leaf in leaf_at(plan).items():
        pod, group, _ = places[host]
        assert places[leaf] == (pod, group * rail_count + port % rail_count)
    found = degrees(plan)
    role_of = {node.name: node.role for node in plan.nodes}
    at_each = {"leaf": hosts * each + spines * planes, "spine": groups * rail_count + above * 2}
    at_each |= {"super-spine": number * spines * 2, "host": rail_count * each}
    assert all(found[name] == at_each[role] for name, role in role_of.items())
    within, between = spines * planes, planes * spines * above * spines * 2 * 2
    for a, b in combinations([name for name, role in role_of.items() if role == "leaf"], 2):
        same = places[a][0] == places[b][0]
        assert shortest_paths(plan, a, b) == (within if same else between)


@given(SMALL, SMALL, SMALL)
def test_units_of_one_rail_are_the_leaves_of_a_leaf_spine(units: int, spines: int, hosts: int) -> None:
    of_rails, plain = wiring_plan(rails(units, 1, spines, hosts, 2)), wiring_plan(clos(units, spines, hosts))
    assert neighbors(of_rails) == neighbors(plain)
    assert degrees(of_rails) == degrees(plain)
    assert ports_of_hosts(of_rails) == ports_of_hosts(plain)


@given(SEVERAL, SEVERAL, SMALL, st.integers(1, 9))
def test_every_two_groups_of_a_dragonfly_have_their_links_shared_out_evenly(
    groups: int, switches: int, hosts: int, between: int
) -> None:
    plan = wiring_plan(fly(groups, switches, hosts, between))
    group_of = {node.name: node.place[0] for node in plan.nodes}
    pairs: Counter[tuple[int, ...]] = Counter()
    for bundle in plan.bundles:
        if bundle.tier == "global_links":
            pairs[tuple(sorted((group_of[bundle.a], group_of[bundle.b])))] += bundle.links
    assert pairs == Counter(dict.fromkeys(combinations(range(groups), 2), between))
    ours = degrees(plan, "global_links")
    each = [ours[node.name] for node in plan.nodes if node.role == "switch"]
    assert max(each) - min(each) <= 1
    local = degrees(plan, "local_links")
    assert {local[node.name] for node in plan.nodes if node.role == "switch"} == {2 * (switches - 1)}


@given(SEVERAL, SMALL, SMALL, SMALL, st.integers(1, 9))
def test_only_spines_of_a_dragonfly_plus_leave_their_group(
    groups: int, leaves: int, spines: int, hosts: int, between: int
) -> None:
    plan = wiring_plan(fly_plus(groups, leaves, spines, hosts, between))
    nodes = {node.name: node for node in plan.nodes}
    for bundle in plan.bundles:
        a, b = nodes[bundle.a], nodes[bundle.b]
        if bundle.tier == "global_links":
            assert (a.role, b.role) == ("spine", "spine")
            assert a.place[0] != b.place[0]
        else:
            assert a.place[0] == b.place[0]
    found = degrees(plan, "uplinks", "hosts")
    assert all(found[n] == 2 * hosts + 3 * spines for n in nodes if nodes[n].role == "leaf")
    total = sum(b.links for b in plan.bundles if b.tier == "global_links")
    assert total == groups * (groups - 1) // 2 * between


SIDES = st.lists(st.integers(2, 5), min_size=2, max_size=3).map(tuple)


@given(SIDES, SMALL)
def test_a_torus_has_two_neighbors_a_side_and_one_on_a_side_of_two(sides: Any, hosts: int) -> None:
    plan = wiring_plan(ring(sides, hosts))
    expected = sum(2 if side > 2 else 1 for side in sides)
    near = neighbors(plan)
    for node in plan.nodes:
        if node.role == "switch":
            others = [name for name in near[node.name] if name.startswith("sw-")]
            assert len(others) == expected
            for name in others:
                at = tuple(map(int, name.removeprefix("sw-").split("-")))
                apart = [(a - b) % side for a, b, side in zip(node.place, at, sides, strict=True)]
                assert sorted(apart)[:-1] == [0] * (len(sides) - 1)
                assert max(apart) in (1, sides[apart.index(max(apart))] - 1)
    assert set(degrees(plan, "links").values()) == {2 * expected}
    assert len(plan.nodes) == prod(sides) * (1 + hosts)


PLANS: dict[str, Callable[..., WiringPlan]] = {
    "leaf_spine": lambda a, b, c: wiring_plan(clos(a, b, c)),
    "three_tier": lambda a, b, c: wiring_plan(pods(a, b, 1, c, 2, 2)),
    "three_tier of rails": lambda a, b, c: wiring_plan(pods(a, b, 1, c, 1, 2, rails=2)),
    "rail_optimised": lambda a, b, c: wiring_plan(rails(a, b, c, 2)),
    "dragonfly": lambda a, b, c: wiring_plan(fly(a + 1, b + 1, c, 2)),
    "dragonfly_plus": lambda a, b, c: wiring_plan(fly_plus(a + 1, b, c, 2, 3)),
    "torus-2d": lambda a, b, c: wiring_plan(ring((a + 1, b + 1), c)),
    "torus-3d": lambda a, b, c: wiring_plan(ring((a + 1, b + 1, 3), c)),
}


@pytest.mark.parametrize("shape", PLANS)
@given(a=SMALL, b=SMALL, c=SMALL)
def test_every_device_has_a_name_of_its_own_and_is_reached(shape: str, a: int, b: int, c: int) -> None:
    plan = PLANS[shape](a, b, c)
    names = [node.name for node in plan.nodes]
    assert len(set(names)) == len(names)
    # One leaf and its spines, of several pods, meet at super-spines alone: that is what these are for.
    assert reached(plan) == set(names) or shape == "three_tier"
    assert all(bundle.a != bundle.b and bundle.links > 0 for bundle in plan.bundles)


@given(SMALL, SMALL, SMALL)
def test_planes_of_a_three_tier_meet_at_leaves(pod_count: int, leaves: int, above: int) -> None:
    plan = wiring_plan(pods(pod_count, leaves, 1, above, 2, 2))
    assert reached(plan) == {node.name for node in plan.nodes}


def plugged(plan: WiringPlan) -> dict[tuple[str, ...], tuple[object, ...]]:
    """Return, for each link by its ends and number, how many ports of each speed come before it at both."""
    used: dict[str, Counter[int]] = defaultdict(Counter)
    found: dict[tuple[str, ...], tuple[object, ...]] = {}
    for bundle in plan.bundles:
        for name, kept in ((bundle.a, bundle.a_kept), (bundle.b, bundle.b_kept)):
            for ports, speed_bps in kept:
                used[name][speed_bps] += ports
        for _ in range(bundle.links):
            number = sum(key[:2] == (bundle.a, bundle.b) for key in found)
            before = tuple(tuple(sorted(used[name].items())) for name in (bundle.a, bundle.b))
            found[bundle.a, bundle.b, str(number)] = (*before, bundle.b_port)
            used[bundle.a][bundle.speed_bps] += 1
            used[bundle.b][bundle.speed_bps] += 1
    return found


def assert_nothing_moves(small: WiringPlan, large: WiringPlan) -> None:
    """Every device and link of the small one is in the large one, in the same places and at the same ports."""
    names = {node.name: (node.role, node.place) for node in large.nodes}
    assert {node.name: (node.role, node.place) for node in small.nodes}.items() <= names.items()
    assert plugged(small).items() <= plugged(large).items()


@given(SMALL, SMALL, SMALL, SMALL, SMALL)
def test_adding_a_leaf_or_a_spine_moves_nothing(
    leaves: int, spines: int, hosts: int, more: int, above: int
) -> None:
    small = wiring_plan(clos(leaves, spines, hosts))
    assert_nothing_moves(small, wiring_plan(clos(leaves + more, spines, hosts)))
    assert_nothing_moves(small, wiring_plan(clos(leaves, spines + above, hosts)))


@given(SMALL, SMALL, SMALL, SMALL)
def test_adding_a_pod_a_unit_or_a_group_moves_nothing(a: int, b: int, c: int, more: int) -> None:
    assert_nothing_moves(wiring_plan(pods(a, b, 1, c, 2, 2)), wiring_plan(pods(a + more, b, 1, c, 2, 2)))
    assert_nothing_moves(
        wiring_plan(pods(a, b, 1, c, 2, 2, 2)), wiring_plan(pods(a + more, b, 1, c, 2, 2, 2))
    )
    assert_nothing_moves(wiring_plan(rails(a, b, c, 2)), wiring_plan(rails(a + more, b, c, 2)))
    assert_nothing_moves(wiring_plan(rails(a, b, c, 2, 1, 2)), wiring_plan(rails(a + more, b, c, 2, 1, 2)))
    assert_nothing_moves(wiring_plan(fly(a + 1, b + 1, c, 3)), wiring_plan(fly(a + more + 1, b + 1, c, 3)))
    small, large = fly_plus(a + 1, b, c, 2, 3), fly_plus(a + more + 1, b, c, 2, 3)
    assert_nothing_moves(wiring_plan(small), wiring_plan(large))


@given(a=SMALL, b=SMALL, c=SMALL, now=st.tuples(SMALL, SMALL, SMALL), later=st.tuples(SMALL, SMALL, SMALL))
def test_whatever_is_added_within_the_room_moves_nothing(
    a: int, b: int, c: int, now: tuple[int, int, int], later: tuple[int, int, int]
) -> None:
    """``a``, ``b`` and ``c`` come on top of the larger of two sizes: that is the room of both."""
    first = tuple(map(min, now, later))
    second = tuple(map(max, now, later))
    room = tuple(map(sum, zip(second, (a, b, c), strict=True)))
    assert_nothing_moves(wiring_plan(clos(*first), clos(*room)), wiring_plan(clos(*second), clos(*room)))
    assert_nothing_moves(
        wiring_plan(
            pods(first[0], first[1], first[2], 2, 2, first[2]), pods(room[0], room[1], room[2], 3, 2, room[2])
        ),
        wiring_plan(
            pods(second[0], second[1], second[2], 2, 2, second[2]),
            pods(room[0], room[1], room[2], 3, 2, room[2]),
        ),
    )
    assert_nothing_moves(
        wiring_plan(rails(first[0], 2, first[1], first[2]), rails(room[0], 2, room[1], room[2])),
        wiring_plan(rails(second[0], 2, second[1], second[2]), rails(room[0], 2, room[1], room[2])),
    )
    assert_nothing_moves(
        wiring_plan(rails(first[0], 2, first[1], first[2], 1, 2), rails(room[0], 2, room[1], room[2], 1, 2)),
        wiring_plan(
            rails(second[0], 2, second[1], second[2], 1, 2), rails(room[0], 2, room[1], room[2], 1, 2)
        ),
    )
    assert_nothing_moves(
        wiring_plan(
            pods(first[0], first[1], 2, 2, 2, first[2], 2), pods(room[0], room[1], 3, 3, 2, room[2], 2)
        ),
        wiring_plan(
            pods(second[0], second[1], 2, 2, 2, second[2], 2), pods(room[0], room[1], 3, 3, 2, room[2], 2)
        ),
    )
    assert_nothing_moves(
        wiring_plan(fly(first[0] + 1, 3, first[2], 2), fly(room[0] + 1, 3, room[2], 2)),
        wiring_plan(fly(second[0] + 1, 3, second[2], 2), fly(room[0] + 1, 3, room[2], 2)),
    )
    assert_nothing_moves(
        wiring_plan(
            fly_plus(first[0] + 1, first[1], 2, first[2], 2), fly_plus(room[0] + 1, room[1], 2, room[2], 2)
        ),
        wiring_plan(
            fly_plus(second[0] + 1, second[1], 2, second[2], 2), fly_plus(room[0] + 1, room[1], 2, room[2], 2)
        ),
    )
    assert_nothing_moves(
        wiring_plan(ring((3, 2), first[2]), ring((3, 2), room[2])),
        wiring_plan(ring((3, 2), second[2]), ring((3, 2), room[2])),
    )


def test_without_room_a_host_more_at_every_leaf_moves_the_uplinks() -> None:
    """What the room is for: the law above would hold without it if this were not so."""
    small, large = plugged(wiring_plan(clos(2, 1, 2))), plugged(wiring_plan(clos(2, 1, 3)))
    assert not small.items() <= large.items()


@given(SMALL, SMALL, SMALL)
def test_room_as_large_as_the_shape_changes_nothing(a: int, b: int, c: int) -> None:
    assert wiring_plan(clos(a, b, c), clos(a, b, c)) == wiring_plan(clos(a, b, c))
