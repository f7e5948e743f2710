"""Which way flows take, and who sends what to whom: shortest paths shared evenly, and steps of known jobs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.wiring import wire
from lossless.analysis.simulation.question.instance import instantiate, transfers_of
from lossless.analysis.simulation.question.nodes import EcmpRoutes, SimTopology, sim_topology
from lossless.ground.basics.errors import ScenarioError
from lossless.model.fabric.cluster import PATTERNS
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import Patch, declared, example, missing, put
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.simulation.question.instance import Transfer
    from lossless.model.fabric.cluster import Pattern


def built(view: View, *failed: tuple[str, str]) -> SimTopology:
    found = sim_topology(view, frozenset(failed))
    assert isinstance(found, SimTopology)
    return found


def switches_between(found: SimTopology, path: Sequence[int]) -> list[str]:
    """Return the switches of a path by the letters of their names: leaf or spine."""
    return [found.names[node].rstrip("0123456789") for node in path[1:-1]]


# --- paths ---

ROCE = built(example())


def leaf_spine(**shape: Any) -> Patch:
    return {"topology": {"leaf_spine": shape}}


def wired(*links: str, leaves: int, hosts: int) -> Patch:
    """Return an intent of links like ``l1 l2``: leaves in any shape, a host at each of the first ones."""
    devices = {f"l{n}": {"role": "leaf"} for n in range(1, leaves + 1)}
    devices |= {f"h{n}": {"role": "host"} for n in range(1, hosts + 1)}
    between = [dict(zip("ab", link.split(), strict=True)) for link in links]
    down = [{"a": f"l{n}", "b": f"h{n}"} for n in range(1, hosts + 1)]
    each = {"links": "1 x 400G", "cable": "3m"}
    return {
        "topology": {
            "leaf_spine": None,
            "devices": devices,
            "links": [{**link, **each} for link in (*down, *between)],
        }
    }


def test_paths_in_a_leaf_spine_go_up_and_down_once() -> None:
    routes, rng = EcmpRoutes(ROCE), Random(1)
    for source in ROCE.nics:
        for target in ROCE.nics:
            if source == target:
                continue
            path = routes.path(source, target, rng)
            near = ROCE.leaf(source) == ROCE.leaf(target)
            assert switches_between(ROCE, path) == (["leaf"] if near else ["leaf", "spine", "leaf"])
            assert (path[0], path[1], path[-2], path[-1]) == (
                source,
                ROCE.leaf(source),
                ROCE.leaf(target),
                target,
            )


def hops(found: SimTopology) -> dict[tuple[int, int], int]:
    """Return how far switches are from each other, by Floyd and Warshall."""
    far = {(node, node): 0 for node in found.switch_of}
    for one in found.wires:
        if one.b in found.switch_of:
            far[one.a, one.b] = far[one.b, one.a] = 1
    none = len(found.names)
    for via in found.switch_of:
        for a in found.switch_of:
            for b in found.switch_of:
                through = far.get((a, via), none) + far.get((via, b), none)
                if through < far.get((a, b), none):
                    far[a, b] = through
    return far


def adjacent(found: SimTopology) -> set[frozenset[int]]:
    return {frozenset((one.a, one.b)) for one in found.wires}


@settings(max_examples=30)
@given(intents(renderable=True), st.integers(0, 1000))
def test_every_path_is_shortest_and_made_of_links(data: dict[str, Any], seed: int) -> None:
    found = built(View(fabric_of(data)))
    routes, rng, far, links = EcmpRoutes(found), Random(seed), hops(found), adjacent(found)
    for source, target in pairwise(found.nics):
        ends = found.leaf(source), found.leaf(target)
        assert routes.reaches(source, target) == (ends in far)
        if ends not in far:
            continue
        path = routes.path(source, target, rng)
        assert len(path) == far[ends] + 3
        assert all(frozenset(pair) in links for pair in pairwise(path))


def test_a_ring_is_crossed_the_shorter_way() -> None:
    sides = ("l1 l2", "l2 l3", "l3 l4", "l4 l5", "l5 l1")
    found = built(declared(wired(*sides, leaves=5, hosts=5)))
    first, third = (found.names.index(name) for name in ("h1:port1", "h3:port1"))
    names = [found.names[node] for node in EcmpRoutes(found).path(first, third, Random(1))]
    assert names == ["h1:port1", "l1", "l2", "l3", "h3:port1"]


FLOWS = 4000
"""Of so many flows, each of k equal paths gets FLOWS / k of them within five standard deviations."""


def nearly(flows: int, share: float) -> Any:
    return pytest.approx(flows * share, abs=5 * (flows * share * (1 - share)) ** 0.5)


def spines_taken(found: SimTopology, flows: int = FLOWS) -> Counter[str]:
    routes, rng = EcmpRoutes(found), Random(7)
    source, target = found.nics[-1], found.nics[0]
    return Counter(found.names[routes.path(source, target, rng)[2]] for _ in range(flows))


def test_every_spine_gets_its_share_of_flows() -> None:
    taken = spines_taken(built(declared(leaf_spine(spines=4, uplinks="1 x 800G"))))
    assert taken == {f"spine{n}": nearly(FLOWS, 1 / 4) for n in range(1, 5)}


def test_a_spine_with_more_links_gets_more_flows() -> None:
    """spine1 has one of its two links to leaf2 left: 1 of the 3 that leave the leaf."""
    taken = spines_taken(built(declared(), ("leaf2", "Ethernet32")))
    assert taken == {"spine1": nearly(FLOWS, 1 / 3), "spine2": nearly(FLOWS, 2 / 3)}


def test_after_a_failure_the_others_carry_its_flows() -> None:
    taken = spines_taken(built(declared(), ("leaf2", "Ethernet32"), ("leaf2", "Ethernet40")))
    assert taken == {"spine2": FLOWS}


def flows_by_link(patch: Patch, seeds: int) -> Counter[tuple[str, str, int]]:
    """Return how many flows crossed each direction of each cable between two switches, over seeds."""
    found = put(declared(patch), pattern="all-to-all", size_bytes=1000)
    counted: Counter[tuple[str, str, int]] = Counter()
    for seed in range(seeds):
        staged = instantiate(found, seed)
        wiring = wire(staged.network)
        for route in wiring.routes:
            for link in route[1:-1]:
                sender, receiver = (staged.names[node] for node in wiring.ends[link])
                parallel = wiring.link_of[wiring.ends[link]]
                counted[sender, receiver, parallel.index(link)] += 1
    return counted


def test_parallel_links_get_their_share_of_flows() -> None:
    """Eight NICs on either side: 64 flows each way over two spines with two links to either leaf."""
    seeds = 60
    counted = flows_by_link({}, seeds)
    assert len(counted) == 2 * 2 * 2 * 2
    assert all(times == nearly(64 * seeds, 1 / 4) for times in counted.values())


def test_which_link_a_flow_takes_up_says_nothing_of_the_one_it_takes_down() -> None:
    """Each switch hashes for itself: of flows that shared an uplink, half share the downlink too."""
    found = put(declared(), pattern="all-to-all", size_bytes=1000)
    staged = instantiate(found, 1)
    wiring = wire(staged.network)
    both = [
        [wiring.link_of[wiring.ends[link]].index(link) for link in route[1:-1]]
        for route in wiring.routes
        if len(route) == 4
    ]
    assert len(both) == 128
    assert sum(up == down for up, down in both) == nearly(len(both), 1 / 2)


def test_no_path_is_an_error_that_names_both_ends() -> None:
    cut = built(declared(), *(("leaf1", f"Ethernet{number}") for number in (32, 40, 48, 56)))
    routes, names = EcmpRoutes(cut), cut.names
    source, target = names.index("host5:port2"), names.index("host1:port1")
    assert not routes.reaches(source, target)
    assert routes.reaches(names.index("host4:port2"), target)
    with pytest.raises(ScenarioError, match=r"^no path leads from host5:port2 to host1:port1$"):
        routes.path(source, target, Random(1))


def test_a_question_across_a_cut_fabric_is_refused_before_it_runs() -> None:
    uplinks = tuple(f"leaf1:Ethernet{number}" for number in (32, 40, 48, 56))
    with pytest.raises(ScenarioError, match=r"^no path leads from host5:port1 to host1:port1$"):
        put(declared(), failed=uplinks)


def dual_plane(*apart: str) -> View:
    """Return two planes of two leaves under a spine; of three hosts port 1 is in plane 1, port 2 in plane 2.

    ``apart`` are hosts with both ports in plane 2.
    """
    leaves = {f"leaf{plane}{n}": {"role": "leaf"} for plane in (1, 2) for n in (1, 2)}
    spines = {f"spine{plane}": {"role": "spine"} for plane in (1, 2)}
    hosts = {name: {"role": "host"} for name in ("h1", "h2", "h3", *apart)}
    up = [{"a": leaf, "b": f"spine{leaf[4]}", "links": "2 x 800G", "cable": "30m"} for leaf in leaves]
    down = [
        {
            "a": f"leaf{2 if host in apart else plane}{1 + at % 2}",
            "b": host,
            "links": "1 x 400G",
            "cable": "3m",
        }
        for at, host in enumerate(hosts)
        for plane in (1, 2)
    ]
    topology = {"leaf_spine": None, "devices": {**leaves, **spines, **hosts}, "links": [*up, *down]}
    return declared({"topology": topology})


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("target", ["h1:port1", "h2:port2"])
def test_in_disjoint_planes_every_nic_port_sends_within_its_own(pattern: Pattern, target: str) -> None:
    found = put(dual_plane(), pattern=pattern, target=target)
    instance = instantiate(found, 1)
    ends = [(instance.names[flow.path[0]], instance.names[flow.path[-1]]) for flow in instance.network.flows]
    assert all(source[-1] == goal[-1] for source, goal in ends)
    planes = {source[-1] for source, _ in ends}
    assert planes == ({target[-1]} if pattern == "incast" else {"1", "2"})
    flows = instance.network.flows
    assert all(flows[at].path[-1] == flow.path[0] for flow in flows for at in flow.after)
    assert any(text.startswith("2 planes that no link joins") for text in found.assumed) == (
        pattern != "incast"
    )


def test_of_few_nics_as_many_are_of_each_plane() -> None:
    """Two planes of four leaves: six NIC ports are at leaves of both, though one plane has leaves enough."""
    shape = {"units": 4, "rails": 1, "planes": 2, "spines": 2, "hosts_per_unit": 2, "host_links": "2 x 400G"}
    shape |= {"uplinks": "1 x 800G", "cables": {"host": "3m", "uplink": "30m"}}
    view = declared({"topology": {"leaf_spine": None, "rail_optimised": shape}})
    found = put(view, pattern="permutation", nics=6)
    taking_part = [found.topology.names[nic] for nic in found.nics]
    assert sorted(name[-1] for name in taking_part) == ["1", "1", "1", "1", "2", "2"]
    assert len({found.topology.leaf(nic) for nic in found.nics}) == 5, "the target's leaf has one more"


def test_a_host_with_no_port_in_the_plane_of_the_target_is_an_error() -> None:
    with pytest.raises(ScenarioError, match=r"^no path leads from h4:port1 to h1:port1$"):
        put(dual_plane("h4"))


def test_a_plane_that_a_failure_cuts_is_no_plane_of_its_own() -> None:
    view = dual_plane()
    cut = tuple(
        f"{link.a}:{link.a_port}" for link in view.fabric.links if (link.a, link.b) == ("leaf12", "spine1")
    )
    with pytest.raises(ScenarioError, match=r"^no path leads from h2:port1 to h1:port1$"):
        put(view, failed=cut)


def test_a_leaf_without_uplinks_that_exist_is_not_checked() -> None:
    """Forty leaves with two uplinks each to one spine of 64 ports: eight leaves get none."""
    shape = leaf_spine(leaves=40, spines=1, uplinks="2 x 800G", hosts_per_leaf=1)
    assert missing(declared(shape)) == (
        "no path leads from host33:port1 to host1:port1: 16 links have no port on a switch"
    )


def test_the_links_of_paths_are_all_parallel_ones_between_their_nodes_and_no_others() -> None:
    routes = EcmpRoutes(ROCE)
    path = routes.path(ROCE.nics[0], ROCE.nics[-1], Random(1))
    found = [ROCE.wires[at] for at in routes.wires(routes.pairs([path], equal=False))]
    assert Counter(frozenset((one.a, one.b)) for one in found) == {
        frozenset(pair): 1 if pair[0] in ROCE.nics or pair[1] in ROCE.nics else 8 for pair in pairwise(path)
    }


def test_the_links_of_all_equal_paths_are_those_of_every_path_that_may_be_drawn() -> None:
    routes = EcmpRoutes(ROCE)
    ends = ROCE.nics[0], ROCE.nics[-1]
    drawn = {routes.path(*ends, Random(seed)) for seed in range(40)}
    equal = routes.pairs([next(iter(drawn))], equal=True)
    assert len(drawn) > 1
    assert equal == routes.pairs(drawn, equal=False)


# --- workloads ---

SIZES = st.integers(1, 1 << 30)
NUMBERS = st.integers(2, 40)


def step(pattern: Pattern, many: int, size_bytes: int, seed: int = 1) -> tuple[Transfer, ...]:
    """Return a step among NICs 100, 101, ..., the target being 100."""
    return transfers_of(pattern, range(100, 100 + many), 100, size_bytes, Random(seed))


def sent(transfers: Sequence[Transfer]) -> Mapping[int, int]:
    total: Counter[int] = Counter()
    for one in transfers:
        total[one.source] += one.size_bytes
    return total


def received(transfers: Sequence[Transfer]) -> Mapping[int, int]:
    return sent([one._replace(source=one.target) for one in transfers])


def known(transfers: Sequence[Transfer]) -> dict[int, set[int]]:
    """Return whose parts every NIC has in the end, if a transfer carries only what it is made to wait for."""
    carried: list[set[int]] = []
    has: dict[int, set[int]] = {}
    for one in transfers:
        waited = {one.source}.union(*(carried[number] for number in one.after))
        assert all(transfers[number].target == one.source for number in one.after)
        carried.append(waited)
        has.setdefault(one.target, {one.target}).update(waited)
    return has


@given(NUMBERS, SIZES)
def test_an_incast_has_everybody_send_to_the_target_at_once(many: int, size_bytes: int) -> None:
    transfers = step("incast", many, size_bytes)
    assert sent(transfers) == dict.fromkeys(range(101, 100 + many), size_bytes)
    assert received(transfers) == {100: (many - 1) * size_bytes}
    assert not any(one.after for one in transfers)


@given(NUMBERS, SIZES)
def test_all_to_all_covers_all_pairs_once_in_equal_parts(many: int, size_bytes: int) -> None:
    transfers = step("all-to-all", many, size_bytes)
    nics = range(100, 100 + many)
    pairs = [(one.source, one.target) for one in transfers]
    assert sorted(pairs) == [(a, b) for a in nics for b in nics if a != b]
    part = max(1, size_bytes // (many - 1))
    assert {one.size_bytes for one in transfers} == {part}
    assert sent(transfers) == received(transfers) == dict.fromkeys(nics, part * (many - 1))


@given(NUMBERS, SIZES)
def test_all_to_all_never_begins_with_two_that_send_to_one(many: int, size_bytes: int) -> None:
    """Turn by turn, each sends to another: what makes an all-to-all no incast."""
    transfers = step("all-to-all", many, size_bytes)
    for turn in range(many - 1):
        targets = {one.target for one in transfers[turn * many : (turn + 1) * many]}
        assert len(targets) == many


@given(NUMBERS, SIZES)
def test_a_ring_moves_two_n_minus_one_parts_of_n_through_every_nic(many: int, size_bytes: int) -> None:
    """2 (N - 1) / N K: what every all-reduce must at least send."""
    transfers = step("ring", many, size_bytes)
    each = 2 * (many - 1) * max(1, size_bytes // many)
    assert sent(transfers) == received(transfers) == dict.fromkeys(range(100, 100 + many), each)
    if size_bytes >= many:
        assert 2 * (many - 1) * size_bytes / many - each < 2 * (many - 1)
    assert {(one.target - one.source) % many for one in transfers} == {1}


@given(NUMBERS, SIZES)
def test_in_a_ring_each_round_waits_for_the_one_before(many: int, size_bytes: int) -> None:
    transfers = step("ring", many, size_bytes)
    for number, one in enumerate(transfers):
        turn = number // many
        assert len(one.after) == (1 if turn else 0)
        for before in one.after:
            assert before // many == turn - 1
            assert transfers[before].target == one.source


@given(NUMBERS, SIZES)
def test_in_a_tree_everybody_sends_up_once_and_hears_from_above_once(many: int, size_bytes: int) -> None:
    transfers = step("tree", many, size_bytes)
    up, down = transfers[: many - 1], transfers[many - 1 :]
    assert {one.source for one in up} == {one.target for one in down} == set(range(101, 100 + many))
    assert sorted((one.target, one.source) for one in up) == sorted((one.source, one.target) for one in down)
    assert {one.size_bytes for one in transfers} == {size_bytes}
    assert max(Counter(one.target for one in up).values()) <= 2


@given(NUMBERS, SIZES)
def test_a_tree_goes_up_before_it_goes_down(many: int, size_bytes: int) -> None:
    transfers = step("tree", many, size_bytes)
    depth = [0] * len(transfers)
    for number, one in enumerate(transfers):
        assert all(before < number for before in one.after)
        depth[number] = 1 + max((depth[before] for before in one.after), default=0)
    height = (many).bit_length() - 1
    up, down = depth[: many - 1], depth[many - 1 :]
    assert max(up) == height
    assert min(down) == height + 1
    assert max(depth) == 2 * height


@pytest.mark.parametrize("pattern", ["ring", "tree"])
@given(many=NUMBERS)
def test_an_all_reduce_brings_everybodys_part_to_everybody(pattern: Pattern, many: int) -> None:
    everybody = set(range(100, 100 + many))
    assert known(step(pattern, many, 1 << 20)) == dict.fromkeys(everybody, everybody)


@given(NUMBERS, SIZES, st.integers(0, 1 << 30))
def test_a_permutation_has_no_fixed_point_and_is_one(many: int, size_bytes: int, seed: int) -> None:
    transfers = step("permutation", many, size_bytes, seed)
    nics = dict.fromkeys(range(100, 100 + many), size_bytes)
    assert sent(transfers) == received(transfers) == nics
    assert len(transfers) == many
    assert all(one.source != one.target for one in transfers)


def test_permutations_differ_by_seed_alone() -> None:
    drawn = [step("permutation", 20, 1, seed) for seed in range(10)]
    assert len(set(drawn)) == 10
    assert drawn == [step("permutation", 20, 1, seed) for seed in range(10)]


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "permutation"])
def test_nothing_else_is_random(pattern: Pattern) -> None:
    assert len({step(pattern, 20, 1 << 20, seed) for seed in range(10)}) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_of_two_nics_each_pattern_makes_a_step(pattern: Pattern) -> None:
    transfers = step(pattern, 2, 1000)
    assert {(one.source, one.target) for one in transfers} >= {(101, 100)}
    assert sent(transfers)[101] == 1000
