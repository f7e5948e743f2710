"""How many bytes of a collective leave each group of GPUs: each leaf, pod or half of the fabric."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.analysis.workloads.collectives import two_trees

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.workloads.collectives import Demand


def egress_bytes(demand: Demand, group_of: Sequence[int], domain: int) -> dict[int, Fraction]:
    """Return the bytes that leave each group; groups without outgoing traffic are left out."""
    if demand.peers == "all":
        return _to_all(demand, group_of, domain)
    if demand.peers == "rank":
        return _to_ranks(demand, group_of, domain)
    if demand.peers == "switch":
        return _to_switches(demand, group_of, domain)
    if demand.peers not in ("next", "chain", "tree"):
        return {}
    by_group: dict[int, Fraction] = {}
    for source, target, part in domain_edges(demand, len(group_of) // domain):
        for rank in range(domain):
            here, there = group_of[source * domain + rank], group_of[target * domain + rank]
            if here != there:
                by_group[here] = by_group.get(here, Fraction(0)) + part
    return by_group


def domain_edges(demand: Demand, domains: int) -> Iterator[tuple[int, int, Fraction]]:
    """Yield the source and destination domain of transfers, and the bytes that each rank of the source sends."""
    if demand.peers == "next":
        for number in range(domains):
            yield number, (number + 1) % domains, demand.fabric_bytes
        return
    if demand.peers == "chain":
        each = demand.fabric_bytes * domains / (2 * (domains - 1))
        for number in range(domains - 1):
            yield number, number + 1, each
            yield number + 1, number, each
        return
    # All edges of both trees, up and down, carry the same.
    each = demand.fabric_bytes * domains / (4 * (domains - 1))
    for child, parent in two_trees(domains):
        yield child, parent, each
        yield parent, child, each


def _to_all(demand: Demand, group_of: Sequence[int], domain: int) -> dict[int, Fraction]:
    sizes = Counter(group_of)
    together = Counter((group, number // domain) for number, group in enumerate(group_of))
    gpus = len(group_of)
    each = demand.fabric_bytes / (gpus - domain)
    by_group: dict[int, Fraction] = {}
    for (group, _), own in together.items():
        outside = gpus - sizes[group] - (domain - own)
        if outside:
            by_group[group] = by_group.get(group, Fraction(0)) + own * outside * each
    return by_group


def _to_ranks(demand: Demand, group_of: Sequence[int], domain: int) -> dict[int, Fraction]:
    domains = len(group_of) // domain
    each = demand.fabric_bytes / (domains - 1)
    by_group: dict[int, Fraction] = {}
    together = Counter((group, number % domain) for number, group in enumerate(group_of))
    for (group, _), own in together.items():
        if own < domains:
            by_group[group] = by_group.get(group, Fraction(0)) + own * (domains - own) * each
    return by_group


def _to_switches(demand: Demand, group_of: Sequence[int], domain: int) -> dict[int, Fraction]:
    """Return the bytes that leave each group if switches reduce: one part for each rank that other groups have too."""
    ranks = {(group, number % domain) for number, group in enumerate(group_of)}
    shared = Counter(rank for _, rank in ranks)
    by_group: dict[int, Fraction] = {}
    for group, rank in ranks:
        if shared[rank] > 1:
            by_group[group] = by_group.get(group, Fraction(0)) + demand.fabric_bytes
    return by_group
