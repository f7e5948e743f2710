"""Bisection bandwidth: one way, over the explicit links, and never more than any cut allows."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.topology.bisection import bisection, collapsed, greatest_flow
from lossless.model.fabric.model import Link

G = 10**9


def hosts(switch: str, number: int, speed_bps: int = 400 * G) -> list[Link]:
    return [Link(switch, f"p{n}", f"{switch}h{n}", "port1", speed_bps, to_host=True) for n in range(number)]


def links(a: str, b: str, number: int = 1, speed_bps: int = 800 * G) -> list[Link]:
    return [Link(a, f"{b}{n}", b, f"{a}{n}", speed_bps, to_host=False) for n in range(number)]


def clos(leaves: int, spines: int, uplinks: int, below: int) -> list[Link]:
    found = []
    for leaf in range(leaves):
        found += hosts(f"leaf{leaf}", below)
        found += [link for spine in range(spines) for link in links(f"leaf{leaf}", f"spine{spine}", uplinks)]
    return found


def ring(switches: int) -> list[Link]:
    found = [link for n in range(switches) for link in hosts(f"s{n}", 2)]
    return found + [link for n in range(switches) for link in links(f"s{n}", f"s{(n + 1) % switches}")]


def test_the_published_design_has_half_of_what_it_claims() -> None:
    """Two leaves of 32 x 400G, one 800G to each of two spines: 1.6 Tb/s one way, 3.2 only if both are added."""
    found = bisection(clos(2, 2, 1, 32))
    assert found is not None
    assert (found.bps, found.host_bps, found.least) == (1600 * G, 12_800 * G, True)


@pytest.mark.parametrize(("leaves", "uplinks", "bps"), [(4, 1, 3200), (4, 16, 25_600), (16, 1, 12_800)])
def test_a_leaf_spine_has_the_uplinks_of_half_its_leaves_up_to_what_hosts_send(
    leaves: int, uplinks: int, bps: int
) -> None:
    found = bisection(clos(leaves, 2, uplinks, 32))
    assert found is not None
    assert (found.bps, found.least) == (bps * G, True)


@pytest.mark.parametrize("switches", [4, 6, 10, 24])
def test_a_ring_is_cut_in_two_places(switches: int) -> None:
    found = bisection(ring(switches))
    assert found is not None
    assert (found.bps, found.least) == (1600 * G, switches <= 10)


def test_of_halves_that_are_equally_weak_the_same_are_reported_in_any_order_of_links() -> None:
    forward, back = bisection(ring(4)), bisection(ring(4)[::-1])
    assert forward is not None
    assert back is not None
    assert (forward.a, forward.b) == (back.a, back.b) == (("s0", "s1"), ("s2", "s3"))


def test_a_torus_of_two_dimensions_is_cut_across() -> None:
    size = 4
    wires = [link for x in range(size) for y in range(size) for link in hosts(f"{x}{y}", 8)]
    for x in range(size):
        for y in range(size):
            wires += links(f"{x}{y}", f"{(x + 1) % size}{y}") + links(f"{x}{y}", f"{x}{(y + 1) % size}")
    found = bisection(wires)
    assert found is not None
    assert (found.bps, found.least) == (2 * size * 800 * G, False)


def test_one_switch_has_no_halves() -> None:
    assert bisection(hosts("leaf1", 4)) is None


def test_halves_hold_as_much_as_can_be() -> None:
    wires = [*hosts("a", 6), *hosts("b", 1), *hosts("c", 1), *links("a", "b"), *links("b", "c")]
    found = bisection(wires)
    assert found is not None
    assert (found.a, found.b, found.host_bps, found.bps) == (("a",), ("b", "c"), 800 * G, 800 * G)


GRAPHS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), st.integers(0, 9)
)


@given(GRAPHS)
def test_the_greatest_flow_is_the_least_cut(edges: dict[tuple[int, int], int]) -> None:
    graph: dict[str, dict[str, int]] = {str(node): {} for node in range(6)}
    for (a, b), bps in edges.items():
        graph[str(a)][str(b)] = bps
    inner = [str(node) for node in range(1, 5)]
    sides = [{"0", *chosen} for size in range(5) for chosen in combinations(inner, size)]
    cuts = [sum(bps for a in side for b, bps in graph[a].items() if b not in side) for side in sides]
    assert greatest_flow(graph, "0", "5") == min(cuts)


@pytest.mark.parametrize("first", ["ab", "ba"])
@pytest.mark.parametrize("neighbors", ["cd", "dc"])
def test_what_was_sent_the_wrong_way_is_taken_back(first: str, neighbors: str) -> None:
    """From a only d is free for both to arrive, as b reaches c alone."""
    graph = {"s": dict.fromkeys(first, 1), "a": dict.fromkeys(neighbors, 1), "b": {"c": 1}}
    graph |= {"c": {"t": 1}, "d": {"t": 1}, "t": {}}
    assert greatest_flow(graph, "s", "t") == 2


@given(st.integers(2, 6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.integers(0, 3))
def test_joining_what_is_identical_changes_no_flow(
    leaves: int, spines: int, up: int, below: int, odd: int
) -> None:
    graph: dict[str, dict[str, int]] = {"a": {}, "b": {}}
    for leaf in range(leaves):
        name = f"leaf{leaf}"
        graph[name] = {f"spine{spine}": up + (leaf == 0) * odd for spine in range(spines)}
        if leaf % 2:
            graph[name]["b"] = below
        else:
            graph["a"][name] = below
    for spine in range(spines):
        graph[f"spine{spine}"] = {f"leaf{n}": graph[f"leaf{n}"][f"spine{spine}"] for n in range(leaves)}
    small = collapsed(graph)
    assert len(small) <= len(graph)
    if not odd:
        # Both ends, the leaves at each of them, and the spines.
        assert len(small) == 5
    assert greatest_flow(small, "a", "b") == greatest_flow(graph, "a", "b")


Small = tuple[dict[str, dict[str, int]], dict[tuple[str, str], int]]
"""The 100 Gb/s of each host to each switch, and of links between switches."""


@st.composite
def small_fabrics(draw: st.DrawFn) -> Small:
    """Return two to four leaves with hosts on one or two of them, spines above, links of any rate or none."""
    leaves = [f"leaf{n}" for n in range(draw(st.integers(2, 4)))]
    spines = [f"spine{n}" for n in range(draw(st.integers(0, 2)))]
    rates = st.integers(1, 4)
    hosts = {}
    for number in range(draw(st.integers(2, 5))):
        at = draw(st.lists(st.sampled_from(leaves), min_size=1, max_size=2, unique=True))
        hosts[f"host{number}"] = {leaf: draw(rates) for leaf in at}
    pairs = [(a, b) for a in leaves for b in spines] + list(combinations(leaves, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return hosts, {pair: draw(rates) for pair in chosen}


def wired(hosts: dict[str, dict[str, int]], between: dict[tuple[str, str], int]) -> list[Link]:
    found = [
        Link(leaf, f"{host}p", host, f"{leaf}p", bps, to_host=True)
        for host, own in hosts.items()
        for leaf, bps in own.items()
    ]
    return found + [Link(a, f"{b}p", b, f"{a}p", bps, to_host=False) for (a, b), bps in between.items()]


def least_cut(near: set[str], hosts: dict[str, dict[str, int]], between: dict[tuple[str, str], int]) -> int:
    """Return the least that separates some hosts from all others, over all cuts of the switches."""
    switches = sorted(
        {leaf for own in hosts.values() for leaf in own} | {end for pair in between for end in pair}
    )
    found = []
    for number in range(1 << len(switches)):
        side = {name for at, name in enumerate(switches) if number >> at & 1}
        cut = sum(bps for (a, b), bps in between.items() if (a in side) != (b in side))
        cut += sum(
            bps
            for host, own in hosts.items()
            for leaf, bps in own.items()
            if (leaf in side) != (host in near)
        )
        found.append(cut)
    return min(found)


@given(small_fabrics())
def test_what_crosses_is_the_least_cut_between_the_stated_halves_of_hosts(fabric: Small) -> None:
    """Tried by hand over every cut of the switches; hosts may have links to two of them, and pass nothing on."""
    hosts, between = fabric
    found = bisection(wired(hosts, between))
    if found is None:
        assert len({leaf for own in hosts.values() for leaf in own}) < 2
        return
    assert found.bps == least_cut(set(found.near), hosts, between)
    bps = {host: sum(own.values()) for host, own in hosts.items()}
    near = sum(bps[host] for host in found.near)
    assert 0 < found.host_bps == min(near, sum(bps.values()) - near)
    if set(found.a) & set(hosts):
        assert (set(found.a), set(found.b)) == (set(found.near), set(hosts) - found.near)


@given(small_fabrics())
def test_no_other_halves_have_less_where_that_is_said(fabric: Small) -> None:
    """All halves of whole groups of hosts that are as equal are cut by hand; a group are those at the same switches."""
    hosts, between = fabric
    found = bisection(wired(hosts, between))
    groups: dict[frozenset[str], set[str]] = {}
    for host, own in hosts.items():
        groups.setdefault(frozenset(own), set()).add(host)
    if found is None or not found.least or len(groups) == 1:
        return
    total = sum(sum(own.values()) for own in hosts.values())

    def off(near: set[str]) -> int:
        return abs(total - 2 * sum(sum(hosts[host].values()) for host in near))

    halves = [
        set[str]().union(*chosen)
        for size in range(1, len(groups))
        for chosen in combinations(groups.values(), size)
    ]
    assert off(set(found.near)) == min(map(off, halves))
    equal = [near for near in halves if off(near) == off(set(found.near))]
    assert found.bps == min(least_cut(near, hosts, between) for near in equal)


def rails(number: int, hosts_: int) -> list[Link]:
    return [Link(f"rail{r}", f"p{h}", f"h{h}", f"p{r}", 400 * G, to_host=True)
            for h in range(hosts_) for r in range(number)]  # fmt: skip


def test_hosts_on_rails_reach_each_other_at_full_rate_without_a_spine() -> None:
    """Each rail leads from every host to every other: nothing is to be cut between rails."""
    found = bisection(rails(8, 4))
    assert found is not None
    assert (found.bps, found.host_bps, found.a, found.least) == (
        2 * 3200 * G,
        2 * 3200 * G,
        ("h0", "h1"),
        True,
    )


def test_two_planes_that_share_no_switch_carry_what_both_carry() -> None:
    wires = [Link(f"{plane}leaf{h // 2}", f"p{h}", f"h{h}", plane, 400 * G, to_host=True)
             for plane in "ab" for h in range(4)]  # fmt: skip
    for plane in "ab":
        wires += links(f"{plane}leaf0", f"{plane}spine", 1, 400 * G)
        wires += links(f"{plane}leaf1", f"{plane}spine", 1, 400 * G)
    found = bisection(wires)
    assert found is not None
    assert (found.bps, found.host_bps, found.least) == (800 * G, 1600 * G, True)
    assert (found.a, found.b) == (("aleaf0", "bleaf0"), ("aleaf1", "bleaf1"))


def test_one_host_has_no_other_half() -> None:
    assert bisection([*rails(2, 1), *links("rail0", "rail1")]) is None
