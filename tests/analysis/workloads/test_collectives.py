"""What collectives put on the wire: known answers, and laws that hold for any number of GPUs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.workloads.collectives import Demand, demand, egress_bytes, two_trees
from lossless.analysis.workloads.verdict import port_traffic, scaled
from lossless.ground.basics.errors import QuantityError
from lossless.model.fabric.cluster import ALGORITHMS, Algorithm, Collective

GB = 10**9
SIZES = st.integers(1, 1 << 40)
DOMAINS = st.integers(1, 16)
COUNTS = st.integers(1, 64)
ALL = [(collective, algorithm) for collective, found in ALGORITHMS.items() for algorithm in found]
BETWEEN_GPUS = [
    pair for pair in ALL if pair[1] != "sharp" and pair[0] not in ("storage-read", "storage-write")
]
"""What GPUs send to each other; the rest is reduced on the way, or for servers that nobody has placed."""
PARTED = [pair for pair in ALL if pair[0] not in ("pipeline", "storage-read")]


def moved(found: Demand) -> Fraction:
    return found.inside_bytes + found.fabric_bytes


def test_140_gb_over_1024_gpus_are_279_7_gb_and_22_4_s_at_100_gigabit() -> None:
    """The buffer counted once would take 11.2 s."""
    found = demand("all-reduce", "ring", 140 * GB, 1024)
    assert round(float(found.fabric_bytes) / 1e9, 1) == 279.7
    assert round(float(found.fabric_bytes) * 8 / 100e9, 1) == 22.4


def test_with_sharp_each_gpu_sends_the_buffer_about_once() -> None:
    assert demand("all-reduce", "sharp", 140 * GB, 1024).fabric_bytes == 140 * GB
    assert demand("all-reduce", "sharp", 140 * GB, 1024, 8).fabric_bytes == 140 * GB // 8


def test_domains_keep_most_of_an_all_reduce_off_the_fabric() -> None:
    """72 GPUs to a domain, 16 domains: 2 x 15/16 x K/72 over the fabric."""
    found = demand("all-reduce", "hierarchical", 72 * 16 * GB, 1152, 72)
    assert found.fabric_bytes == 2 * 15 * GB
    assert found.inside_bytes == 2 * 71 * 16 * GB


@pytest.mark.parametrize(
    ("domains", "parts"), [(2, 1), (3, Fraction(3, 2)), (4, 2), (8, 2), (13, 2), (64, 2)]
)
def test_the_busiest_of_two_trees_sends_the_buffer_twice(domains: int, parts: Fraction) -> None:
    assert demand("all-reduce", "tree", GB, domains).busiest_bytes == GB * parts


@given(st.integers(2, 300))
def test_both_trees_reach_everybody_and_no_node_has_more_than_two_children(domains: int) -> None:
    edges = list(two_trees(domains))
    for tree in (edges[::2], edges[1::2]):
        parent_of = dict(tree)
        (root,) = set(range(domains)) - set(parent_of)
        assert len(parent_of) == domains - 1
        assert max(Counter(parent_of.values()).values()) <= 2
        for start in range(domains):
            node, hops = start, 0
            while node != root:
                node, hops = parent_of[node], hops + 1
            assert hops <= (domains - 1).bit_length()
    within = [{parent for _, parent in tree} for tree in (edges[::2], edges[1::2])]
    roots = {root for tree in (edges[::2], edges[1::2]) for root in set(range(domains)) - set(dict(tree))}
    assert (within[0] & within[1]) <= roots


@given(SIZES, COUNTS, DOMAINS)
def test_ring_tree_and_hierarchy_move_the_same_bytes_over_the_fabric_and_none_less_than_a_switch_that_reduces_half(
    size: int, domains: int, domain: int
) -> None:
    gpus = domains * domain
    ring, hierarchical, tree, sharp = (
        demand("all-reduce", algorithm, size, gpus, domain) for algorithm in ALGORITHMS["all-reduce"]
    )
    assert hierarchical.fabric_bytes == tree.fabric_bytes <= ring.fabric_bytes or domains == 1
    assert tree.busiest_bytes >= hierarchical.busiest_bytes
    assert 2 * sharp.fabric_bytes >= hierarchical.fabric_bytes
    assert moved(ring) == 2 * Fraction(gpus - 1, gpus) * size


@given(SIZES, COUNTS, DOMAINS)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(size: int, domains: int, domain: int) -> None:
    gpus = domains * domain
    for algorithm in ALGORITHMS["all-gather"]:
        whole = demand("all-reduce", algorithm, size, gpus, domain)
        halves = [demand(half, algorithm, size, gpus, domain) for half in ("reduce-scatter", "all-gather")]
        assert [sum(moved(half) for half in halves), sum(half.steps for half in halves)] == [
            moved(whole),
            whole.steps,
        ]


@pytest.mark.parametrize(("collective", "algorithm"), ALL)
@given(SIZES, SIZES, COUNTS, DOMAINS)
def test_more_bytes_never_take_less(
    collective: Collective, algorithm: Algorithm, one: int, other: int, domains: int, domain: int
) -> None:
    less, more = (
        demand(collective, algorithm, size, domains * domain, domain) for size in sorted((one, other))
    )
    assert (less.inside_bytes, less.fabric_bytes, less.busiest_bytes) <= (
        more.inside_bytes,
        more.fabric_bytes,
        more.busiest_bytes,
    )
    assert (less.steps, less.fan_in, less.peers) == (more.steps, more.fan_in, more.peers)


@pytest.mark.parametrize(("collective", "algorithm"), PARTED)
@given(SIZES, COUNTS, DOMAINS)
def test_a_larger_domain_never_sends_more_over_the_fabric(
    collective: Collective, algorithm: Algorithm, size: int, domains: int, domain: int
) -> None:
    gpus = 2 * domains * domain
    small, large = (demand(collective, algorithm, size, gpus, each) for each in (domain, 2 * domain))
    assert large.fabric_bytes <= small.fabric_bytes


@pytest.mark.parametrize(("collective", "algorithm"), BETWEEN_GPUS)
@given(SIZES, st.integers(2, 24), st.integers(1, 5))
def test_all_that_is_sent_over_the_fabric_leaves_where_every_gpu_has_a_leaf_of_its_own(
    collective: Collective, algorithm: Algorithm, size: int, domains: int, domain: int
) -> None:
    gpus = domains * domain
    found = demand(collective, algorithm, size, gpus, domain)
    assert sum(egress_bytes(found, range(gpus), domain).values()) == gpus * found.fabric_bytes


@given(SIZES, st.integers(2, 12), st.integers(1, 4), st.data())
def test_what_leaves_two_halves_is_as_much_to_one_as_from_the_other(
    size: int, domains: int, domain: int, data: st.DataObject
) -> None:
    gpus = domains * domain
    groups = data.draw(st.lists(st.integers(0, 1), min_size=gpus, max_size=gpus))
    for collective, algorithm in ALL:
        found = egress_bytes(demand(collective, algorithm, size, gpus, domain), groups, domain)
        assert found.get(0, 0) == found.get(1, 0) or algorithm == "sharp"


@given(SIZES, st.integers(1, 4), st.data())
def test_an_all_to_all_is_counted_pair_by_pair(size: int, domain: int, data: st.DataObject) -> None:
    domains = data.draw(st.integers(2, 5))
    gpus = domains * domain
    groups = data.draw(st.lists(st.integers(0, 3), min_size=gpus, max_size=gpus))
    pairs = [
        (a, b)
        for a in range(gpus)
        for b in range(gpus)
        if a // domain != b // domain and groups[a] != groups[b]
    ]
    counted = Counter(groups[a] for a, _ in pairs)
    found = egress_bytes(demand("all-to-all", "direct", size, gpus, domain), groups, domain)
    assert found == {group: number * Fraction(size, gpus) for group, number in counted.items()}


@given(SIZES, st.integers(1, 4), st.data())
def test_what_port_sends_to_port_adds_up_to_what_leaves_each_group(
    size: int, domain: int, data: st.DataObject
) -> None:
    """Flow by flow, as the packet-level model is asked to carry it, and summed up, as the estimate has it."""
    gpus = data.draw(st.integers(2, 6)) * domain
    groups = data.draw(st.lists(st.integers(0, 3), min_size=gpus, max_size=gpus))
    ports = [(f"gpu{number}:a", f"gpu{number}:b") for number in range(gpus)]
    group_of = {port: group for own, group in zip(ports, groups, strict=True) for port in own}
    for collective, algorithm in BETWEEN_GPUS:
        found = demand(collective, algorithm, size, gpus, domain)
        counted: dict[int, Fraction] = {}
        for (source, target), part in port_traffic(found, ports, domain).items():
            assert source[-1] == target[-1]
            if group_of[source] != group_of[target]:
                counted[group_of[source]] = counted.get(group_of[source], Fraction(0)) + part
        assert counted == egress_bytes(found, groups, domain)


@given(st.integers(1, 5), st.integers(1, 4), st.data())
def test_switches_that_reduce_send_one_part_of_each_rank_on(
    domains: int, domain: int, data: st.DataObject
) -> None:
    gpus = domains * domain
    groups = data.draw(st.lists(st.integers(0, 2), min_size=gpus, max_size=gpus))
    found = demand("all-reduce", "sharp", 5040, gpus, domain)
    reduced: set[tuple[int, int]] = set()
    for rank in range(domain):
        of_rank = groups[rank::domain]
        reduced |= {(group, rank) for group in of_rank if len(set(of_rank)) > 1}
    counted = Counter(group for group, _ in reduced)
    assert egress_bytes(found, groups, domain) == {
        group: many * Fraction(5040, domain) for group, many in counted.items()
    }


@given(SIZES, st.integers(1, 9), st.integers(1, 9))
def test_no_port_sends_more_than_is_run_and_shares_stay_as_they_are(size: int, gpus: int, most: int) -> None:
    ports = [(f"gpu{number}",) for number in range(gpus)]
    whole = port_traffic(demand("all-to-all", "direct", size, gpus), ports, 1)
    sizes, part = scaled(whole, most << 20)
    assert sizes.keys() == whole.keys()
    assert 0 < part <= 1
    assert all(abs(sizes[pair] - whole[pair] * Fraction(part)) <= 1 for pair in whole)


def test_who_is_wrong_is_told() -> None:
    with pytest.raises(QuantityError, match="10 GPUs are no whole number of domains of 4"):
        demand("all-reduce", "ring", GB, 10, 4)
    with pytest.raises(QuantityError, match="all-to-all has no algorithm 'ring'; it has direct"):
        demand("all-to-all", "ring", GB, 8)
