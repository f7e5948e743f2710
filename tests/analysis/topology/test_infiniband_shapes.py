"""Shapes of InfiniBand subnets: what their numbers promise is what is laid out."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import prod

from hypothesis import given, strategies as st

from lossless.analysis.topology.cabling_comparison import (
    SubnetDragonflyPlusShape,
    SubnetFatTreeShape,
    SubnetLayout,
    SubnetLinks,
    SubnetTorusShape,
    SubnetWire,
    dragonfly_plus,
    fat_tree,
    torus,
)
from lossless.ground.basics.findings import Origin

HERE = Origin("fabric.yaml", ("topology",))
SMALL = st.integers(1, 4)


def links(number: int, purpose: str) -> SubnetLinks:
    return SubnetLinks(number, "NDR", purpose, HERE)


@st.composite
def fat_trees(draw: st.DrawFn) -> SubnetFatTreeShape:
    levels, rails, planes = draw(st.sampled_from((2, 3))), draw(SMALL), draw(st.integers(1, 2))
    core_links = links(draw(SMALL), "cores") if levels == 3 else None
    return SubnetFatTreeShape(
        pods=draw(SMALL) if levels == 3 else 1,
        leaves=rails * draw(SMALL),
        spines=planes * draw(SMALL),
        cores=planes * draw(SMALL) if levels == 3 else 0,
        planes=planes,
        rails=rails,
        hosts_per_leaf=draw(SMALL),
        host_links=links(rails * draw(st.integers(1, 2)), "hosts"),
        uplinks=links(draw(SMALL), "uplinks"),
        core_links=core_links,
        origin=HERE,
    )


dragonflies = st.builds(
    SubnetDragonflyPlusShape,
    groups=st.integers(2, 5),
    leaves=SMALL,
    spines=SMALL,
    hosts_per_leaf=SMALL,
    host_links=st.builds(links, SMALL, st.just("hosts")),
    uplinks=st.builds(links, SMALL, st.just("uplinks")),
    global_links=st.builds(links, SMALL, st.just("global")),
    origin=st.just(HERE),
)
tori = st.builds(
    SubnetTorusShape,
    sides=st.lists(st.integers(2, 4), min_size=2, max_size=3).map(tuple),
    links=st.builds(links, SMALL, st.just("ring")),
    hosts_per_switch=st.integers(1, 2),
    host_links=st.builds(links, st.integers(1, 2), st.just("hosts")),
    origin=st.just(HERE),
)


def between(layout: SubnetLayout) -> Counter[tuple[str, str]]:
    """Return how many links there are between every two switches, whichever end comes first."""
    return Counter(tuple(sorted((wire.a, wire.b))) for wire in layout.wires if wire.rail is None)  # type: ignore[misc]


def ends_of(layout: SubnetLayout, purpose: str) -> Counter[str]:
    """Return how many ends of links of a purpose each switch has."""
    found = [wire for wire in layout.wires if wire.purpose == purpose]
    return Counter(wire.a for wire in found) + Counter(wire.b for wire in found if wire.rail is None)


def of_hosts(layout: SubnetLayout) -> dict[str, list[SubnetWire]]:
    found: dict[str, list[SubnetWire]] = {host.name: [] for host in layout.hosts}
    for wire in layout.wires:
        if wire.rail is not None:
            found[wire.b].append(wire)
    return found


@given(fat_trees())
def test_every_leaf_of_a_pod_reaches_every_spine_of_it_by_as_many_links(shape: SubnetFatTreeShape) -> None:
    layout = fat_tree(shape)
    found = between(layout)
    for pod in range(shape.pods):
        leaves = range(pod * shape.leaves + 1, (pod + 1) * shape.leaves + 1)
        spines = range(pod * shape.spines + 1, (pod + 1) * shape.spines + 1)
        for leaf, spine in product(leaves, spines):
            assert found.pop((f"leaf{leaf}", f"spine{spine}")) == shape.uplinks.number
    assert all(a.startswith("core") for a, _ in found)


@given(fat_trees())
def test_a_spine_reaches_the_cores_of_its_plane_and_no_other(shape: SubnetFatTreeShape) -> None:
    reached: dict[str, set[str]] = {}
    for a, b in between(fat_tree(shape)):
        if a.startswith("core"):
            reached.setdefault(b, set()).add(a)
    per_plane = shape.cores // shape.planes
    assert all(len(cores) == per_plane for cores in reached.values())
    assert len(reached) == (shape.pods * shape.spines if shape.core_links else 0)
    assert len({frozenset(cores) for cores in reached.values()}) == (shape.planes if shape.core_links else 0)


@given(fat_trees())
def test_the_hcas_of_a_host_go_to_the_leaves_of_its_rails_in_turn(shape: SubnetFatTreeShape) -> None:
    layout = fat_tree(shape)
    assert len(layout.hosts) == shape.pods * shape.leaves // shape.rails * shape.hosts_per_leaf
    for wires in of_hosts(layout).values():
        by_rail = {wire.rail or 0: int(wire.a.removeprefix("leaf")) for wire in wires}
        assert sorted(by_rail) == list(range(shape.host_links.number))
        first = by_rail[0]
        assert (first - 1) % shape.rails == 0
        assert all(leaf == first + rail % shape.rails for rail, leaf in by_rail.items())


@given(dragonflies)
def test_every_two_groups_are_joined_by_as_many_links_shared_out_evenly(
    shape: SubnetDragonflyPlusShape,
) -> None:
    layout = dragonfly_plus(shape)
    group = {switch.name: switch.group for switch in layout.switches}
    pairs = Counter(frozenset((group[w.a], group[w.b])) for w in layout.wires if w.purpose == "global")
    assert pairs == dict.fromkeys(
        map(frozenset, combinations(range(shape.groups), 2)), shape.global_links.number
    )
    ends = ends_of(layout, "global")
    for one in range(shape.groups):
        shares = [ends[s.name] for s in layout.switches if s.role == "spine" and s.group == one]
        assert max(shares) - min(shares) <= 1


@given(dragonflies)
def test_a_leaf_of_a_dragonfly_plus_reaches_the_spines_of_its_group_alone(
    shape: SubnetDragonflyPlusShape,
) -> None:
    layout = dragonfly_plus(shape)
    group = {switch.name: switch.group for switch in layout.switches}
    up = [wire for wire in layout.wires if wire.purpose == "uplinks"]
    assert all(group[wire.a] == group[wire.b] for wire in up)
    assert len(up) == shape.groups * shape.leaves * shape.spines * shape.uplinks.number


@given(tori)
def test_neighbors_in_a_torus_differ_in_one_coordinate_by_one_step(shape: SubnetTorusShape) -> None:
    layout = torus(shape)
    place = {switch.name: switch.coordinates for switch in layout.switches}
    assert len(place) == prod(shape.sides)
    for a, b in between(layout):
        steps = [(x - y) % side for x, y, side in zip(place[a], place[b], shape.sides, strict=True)]
        apart = [(step, side) for step, side in zip(steps, shape.sides, strict=True) if step]
        assert len(apart) == 1
        assert apart[0][0] in (1, apart[0][1] - 1)


@given(tori)
def test_a_switch_of_a_torus_has_two_neighbors_a_side_and_one_where_the_side_has_two(
    shape: SubnetTorusShape,
) -> None:
    layout = torus(shape)
    wanted = sum(2 if side > 2 else 1 for side in shape.sides) * shape.links.number
    assert set(ends_of(layout, "ring").values()) == {wanted}
    assert set(between(layout).values()) == {shape.links.number}


@given(tori)
def test_the_links_of_a_torus_have_the_same_order_at_every_switch(shape: SubnetTorusShape) -> None:
    layout = torus(shape)
    place = {switch.name: switch.coordinates for switch in layout.switches}
    for wire in layout.wires:
        if wire.purpose == "ring":
            axis = next(
                n for n, (a, b) in enumerate(zip(place[wire.a], place[wire.b], strict=True)) if a != b
            )
            up = 2 * (axis - len(shape.sides))
            assert (wire.a_order, wire.b_order) == (up, up + 1)
            assert (place[wire.b][axis] - place[wire.a][axis]) % shape.sides[axis] == 1
        else:
            assert (wire.a_order, wire.b_order) == (0, 0)
