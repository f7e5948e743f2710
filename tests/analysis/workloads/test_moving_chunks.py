"""Every formula against the same collective done by hand: the right data ends everywhere, and as many bytes passed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import given, strategies as st

from lossless.analysis.workloads.collectives import Demand, bus_factor, demand
from lossless.model.fabric.cluster import Algorithm, Collective
from tests.analysis.workloads import toy

SIZE = 5040
DOMAINS = st.integers(1, 7)
DOMAIN = st.integers(1, 5)


def formula(collective: Collective, algorithm: Algorithm, domains: int, domain: int) -> Demand:
    return demand(collective, algorithm, SIZE, domains * domain, domain)


def passed(done: toy.Toy) -> tuple[Fraction, Fraction, Fraction, int, int]:
    return done.inside_bytes / done.gpus, done.fabric_bytes, done.busiest_bytes, done.steps, done.fan_in


def said(found: Demand) -> tuple[Fraction, Fraction, Fraction, int, int]:
    return found.inside_bytes, found.fabric_bytes, found.busiest_bytes, found.steps, found.fan_in


def has_everybody_once(done: toy.Toy) -> bool:
    everybody = Counter(range(done.gpus))
    return all(value == everybody for held in done.held for value in held.values())


@given(DOMAINS, DOMAIN)
def test_a_ring_all_reduce_by_hand(domains: int, domain: int) -> None:
    done = toy.ring(domains * domain, domain, Fraction(SIZE), "sg")
    found = formula("all-reduce", "ring", domains, domain)
    assert has_everybody_once(done)
    assert passed(done) == said(found)
    assert done.largest == found.message_bytes


@given(DOMAINS, DOMAIN)
def test_a_ring_reduce_scatter_by_hand_leaves_each_with_its_part(domains: int, domain: int) -> None:
    gpus = domains * domain
    done = toy.ring(gpus, domain, Fraction(SIZE), "s")
    everybody = Counter(range(gpus))
    whole = [[chunk for chunk, value in held.items() if value == everybody] for held in done.held]
    # One part of each ring is whole at each GPU, and no two have the same.
    assert {len(own) for own in whole} == {domain}
    assert len({chunk for own in whole for chunk in own}) == gpus * domain
    assert passed(done) == said(formula("reduce-scatter", "ring", domains, domain))


@given(DOMAINS, DOMAIN)
def test_a_ring_all_gather_by_hand(domains: int, domain: int) -> None:
    gpus = domains * domain
    done = toy.ring(gpus, domain, Fraction(SIZE), "g")
    # The value of each is what its owner had: one part of every ring from every GPU.
    for held in done.held:
        assert Counter(gpu for value in held.values() for gpu in value) == dict.fromkeys(range(gpus), domain)
    assert passed(done) == said(formula("all-gather", "ring", domains, domain))


@given(DOMAINS, DOMAIN)
def test_a_hierarchical_all_reduce_by_hand(domains: int, domain: int) -> None:
    done = toy.hierarchy(domains * domain, domain, Fraction(SIZE))
    found = formula("all-reduce", "hierarchical", domains, domain)
    assert has_everybody_once(done)
    assert passed(done) == said(found)
    assert done.largest == found.message_bytes


@given(st.integers(1, 20), st.integers(1, 3))
def test_two_trees_by_hand(domains: int, domain: int) -> None:
    done = toy.tree(domains * domain, domain, Fraction(SIZE))
    found = formula("all-reduce", "tree", domains, domain)
    assert has_everybody_once(done)
    assert passed(done) == said(found)


@given(DOMAINS, DOMAIN)
def test_an_all_to_all_by_hand(domains: int, domain: int) -> None:
    gpus = domains * domain
    done = toy.all_to_all(gpus, domain, Fraction(SIZE), pxn=False)
    assert all({(a, gpu) for a in range(gpus)} <= held.keys() for gpu, held in enumerate(done.held))
    assert passed(done) == said(formula("all-to-all", "direct", domains, domain))


@given(DOMAINS, DOMAIN)
def test_an_all_to_all_with_pxn_by_hand_stays_on_its_rail(domains: int, domain: int) -> None:
    gpus = domains * domain
    done = toy.all_to_all(gpus, domain, Fraction(SIZE), pxn=True)
    found = formula("all-to-all", "pxn", domains, domain)
    assert all({(a, gpu) for a in range(gpus)} <= held.keys() for gpu, held in enumerate(done.held))
    assert passed(done) == said(found)
    # What is for the GPUs of one domain goes together, piece by piece.
    assert domains == 1 or domain * done.largest == found.message_bytes


@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 5))
def test_a_pipeline_by_hand(domains: int, domain: int, microbatches: int) -> None:
    gpus = domains * domain
    done = toy.pipeline(gpus, domain, Fraction(SIZE), microbatches)
    found = demand("pipeline", "direct", SIZE, gpus, domain, microbatches=microbatches)
    assert all((number, "forward") in held for held in done.held[-domain:] for number in range(microbatches))
    assert all((number, "back") in held for held in done.held[:domain] for number in range(microbatches))
    assert passed(done) == said(found)


@given(st.integers(2, 64))
def test_bus_bandwidth_is_what_links_carry_in_a_ring(gpus: int) -> None:
    """nccl-tests: 2 (n-1)/n for an all-reduce, (n-1)/n for its halves and for an all-to-all."""
    for collective in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        algorithm: Algorithm = "direct" if collective == "all-to-all" else "ring"
        factor = bus_factor(collective, gpus)
        assert factor is not None
        assert factor * SIZE == demand(collective, algorithm, SIZE, gpus).fabric_bytes
    assert bus_factor("pipeline", gpus) is None
