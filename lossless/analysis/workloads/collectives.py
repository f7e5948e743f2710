"""Collectives: the bytes that each GPU sends, inside its domain and on the fabric, and that leave groups of GPUs.

N GPUs in M domains of D each (D = 1 if nothing but the fabric joins them); K is the size of the buffer: the data
reduced in an all-reduce or reduce-scatter, the result of an all-gather, all data that one GPU distributes in an
all-to-all, the data that a GPU of one stage sends to that of the next in a pipeline, the data that one GPU reads from
storage or writes.

- A ring moves 2 (N-1)/N K per GPU, the least that an all-reduce can without help from switches: each element takes
  N - 1 additions and N - 1 copies, each after one transfer, and N GPUs share them (NVIDIA/nccl-tests
  doc/PERFORMANCE.md @03a204a, which has the halves for an all-gather and a reduce-scatter too). Where domains join GPUs
  the ring passes through a whole domain before it leaves it, and there are as many rings as GPUs in a domain, so that
  each leaves by another: 1/D of the bytes of each GPU go over the fabric.
- A hierarchical all-reduce reduces and scatters inside the domain, runs one ring per rank of the domain over the
  fabric for K/D, and gathers inside.
- Two binary trees carry half of the buffer each, and an inner node of one is a leaf of the other (NVIDIA/nccl
  src/graph/trees.cc @18a07ee): together they send as much as a ring, the busiest GPU at most 2 K.
- With SHARP switches reduce: each GPU sends K/D once, and receives as much.
- An all-to-all sends K/N from each to each. With PXN data for another domain is first passed, inside the domain, to
  the GPU of the same rank as the destination: it leaves by that GPU's NIC, and stays on that rail. NCCL does so by
  default where it can (P2P_PXN_LEVEL is 2 in src/graph/search.cc, read in copies of NVIDIA/nccl).

Sizes are those of nccl-tests (:func:`bus_factor`).

A group of GPUs is a leaf, a pod or a half of the fabric. All of it is arithmetic.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cluster import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.cluster import Algorithm, Collective


Peers = Literal["next", "chain", "all", "rank", "tree", "switch", "outside", "none"]
"""The destinations of the bytes on the fabric, in order: the same rank in the next domain (after the last, the first),
in the next domain and the one before, all GPUs of other domains equally, those of the same rank, the neighbors in two
binary trees over domains, a switch that reduces, an endpoint outside the cluster, none."""


class Demand(NamedTuple):
    """The bytes that one GPU sends: ``inside_bytes`` to its domain, ``fabric_bytes`` to others, the mean of all GPUs.

    ``busiest_bytes`` are the bytes that the busiest GPU sends or receives over the fabric. ``steps`` is the number of
    steps, one after another. ``fan_in`` is the number of senders that may send to one GPU over the fabric at once, or
    to one storage server; ``message_bytes`` is the size of each sender's message to it.
    """

    inside_bytes: Fraction
    fabric_bytes: Fraction
    busiest_bytes: Fraction
    steps: int
    peers: Peers
    fan_in: int
    message_bytes: Fraction


def bus_factor(collective: Collective, gpus: int) -> Fraction | None:
    """Return bus bandwidth over algorithm bandwidth as nccl-tests has them; None for a collective without one.

    Algorithm bandwidth is K over the time (NVIDIA/nccl-tests doc/PERFORMANCE.md @dcf8189, for an all-to-all
    src/alltoall.cu @07ac716).
    """
    rounds = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}.get(collective)
    return None if rounds is None else Fraction(rounds * (gpus - 1), gpus)


def demand(
    collective: Collective,
    algorithm: Algorithm,
    size_bytes: int,
    gpus: int,
    domain: int = 1,
    *,
    sources: int = 1,
    microbatches: int = 1,
) -> Demand:
    """Return the bytes that each GPU sends in one collective.

    ``sources`` is how many servers one GPU reads from, or writes to; ``microbatches`` how often a stage of a pipeline
    sends to the next.

    Raises:
        QuantityError: no GPU, GPUs that are no whole number of domains, or an algorithm of another collective.
    """
    if gpus < 1 or domain < 1 or gpus % domain:
        raise QuantityError(f"{gpus} GPUs are no whole number of domains of {domain}")
    if algorithm not in ALGORITHMS[collective]:
        algorithms = ", ".join(ALGORITHMS[collective])
        raise QuantityError(f"{collective} has no algorithm {algorithm!r}; it has {algorithms}")
    k, domains = Fraction(size_bytes), gpus // domain
    if collective == "all-to-all":
        return (_with_pxn if algorithm == "pxn" else _all_to_all)(k, gpus, domain)
    if collective == "storage-read":
        return Demand(Fraction(0), Fraction(0), k, 1, "outside", sources, k / sources)
    if collective == "storage-write":
        return Demand(Fraction(0), k, k, 1, "outside", gpus, k / sources)
    if collective == "pipeline":
        return _pipeline(k, domains, microbatches)
    if algorithm == "tree":
        return _tree(k, domain, domains)
    if algorithm == "sharp":
        return _sharp(k, domain, domains)
    rounds = 2 if collective == "all-reduce" else 1
    return (_hierarchical if algorithm == "hierarchical" else _ring)(k, rounds, domain, domains)


def _ring(k: Fraction, rounds: int, domain: int, domains: int) -> Demand:
    gpus = domain * domains
    sent, steps = rounds * (gpus - 1) * k / gpus, rounds * (gpus - 1)
    if domains == 1:
        return Demand(sent, Fraction(0), Fraction(0), steps, "none", 0, Fraction(0))
    out = sent / domain
    return Demand(sent - out, out, out, steps, "next", 1, out / steps)


def _hierarchical(k: Fraction, rounds: int, domain: int, domains: int) -> Demand:
    inside, part = rounds * (domain - 1) * k / domain, k / domain
    steps = rounds * (domain - 1 + domains - 1)
    out = rounds * (domains - 1) * part / domains
    if domains == 1:
        return Demand(inside, Fraction(0), Fraction(0), steps, "none", 0, Fraction(0))
    return Demand(inside, out, out, steps, "next", 1, part / domains)


def _tree(k: Fraction, domain: int, domains: int) -> Demand:
    """Return the demand of two trees over domains; inside a domain the parts are reduced and gathered as in a ring."""
    inside, part = 2 * (domain - 1) * k / domain, k / domain
    depth = (domains - 1).bit_length()
    steps = 2 * (depth + domain - 1)
    out = 2 * (domains - 1) * part / domains
    if domains == 1:
        return Demand(inside, Fraction(0), Fraction(0), steps, "none", 0, Fraction(0))
    edges = list(two_trees(domains))
    ends = Counter(end for edge in edges for end in edge)
    # Every edge carries half the part up and half of it down.
    busiest = max(ends.values()) * part / 2
    # What goes up and what comes down are under way at once, so all neighbors in both trees may send.
    neighbors = {pair for child, parent in edges for pair in ((child, parent), (parent, child))}
    fan_in = max(Counter(sender for sender, _ in neighbors).values())
    return Demand(inside, out, busiest, steps, "tree", fan_in, busiest / fan_in)


def two_trees(domains: int) -> Iterator[tuple[int, int]]:
    """Yield the edges of both binary trees over domains, each from the child to its parent, by domain number.

    The second tree is the first in reverse order, or one further where the number is odd (NVIDIA/nccl
    src/graph/trees.cc @18a07ee).
    """
    for node in range(1, domains):
        parent = _parent(node, domains)
        yield node, parent
        if domains % 2:
            yield (node + 1) % domains, (parent + 1) % domains
        else:
            yield domains - 1 - node, domains - 1 - parent


def _parent(node: int, nodes: int) -> int:
    """Return the parent of a node in a binary tree in the order of numbers, whose leaves are the odd numbers."""
    bit = node & -node
    above = (node ^ bit) | bit << 1
    return above if above < nodes else node ^ bit


def _sharp(k: Fraction, domain: int, domains: int) -> Demand:
    inside, part = 2 * (domain - 1) * k / domain, k / domain
    if domains == 1:
        return Demand(inside, Fraction(0), Fraction(0), 2 * (domain - 1), "none", 0, Fraction(0))
    return Demand(inside, part, part, 2 * (domain - 1) + 2, "switch", 1, part)


def _all_to_all(k: Fraction, gpus: int, domain: int) -> Demand:
    each = k / gpus
    out = (gpus - domain) * each
    peers: Peers = "all" if gpus > domain else "none"
    return Demand((domain - 1) * each, out, out, gpus - 1, peers, gpus - domain, each)


def _with_pxn(k: Fraction, gpus: int, domain: int) -> Demand:
    """Return the demand of an all-to-all with PXN: a GPU sends one message for all GPUs of a destination domain."""
    direct = _all_to_all(k, gpus, domain)
    handed_on = direct.fabric_bytes * (domain - 1) / domain
    others = gpus // domain - 1
    return direct._replace(
        inside_bytes=direct.inside_bytes + handed_on,
        steps=domain - 1 + others,
        peers="rank" if others else "none",
        fan_in=others,
        message_bytes=direct.fabric_bytes / others if others else direct.message_bytes,
    )


def _pipeline(k: Fraction, domains: int, microbatches: int) -> Demand:
    """Return the demand of a pipeline: activations forward and gradients back, each domain a stage of parallel GPUs.

    Stages between the first and the last send both.
    """
    if domains == 1:
        return Demand(Fraction(0), Fraction(0), Fraction(0), 0, "none", 0, Fraction(0))
    sent = 2 * k * microbatches
    steps = 2 * (microbatches + domains - 2)
    busiest = sent if domains > 2 else sent / 2
    return Demand(
        Fraction(0), sent * (domains - 1) / domains, busiest, steps, "chain", min(2, domains - 1), k
    )


def egress_bytes(demand: Demand, group_of: Sequence[int], domain: int) -> dict[int, Fraction]:
    """Return the bytes that leave each group of GPUs; groups without outgoing traffic are left out.

    Traffic with storage does not count.
    """
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
    """Yield the transfers between domains as source, destination, and bytes of each rank of the source.

    By ``peers`` of the demand they lead to the next domain, along a chain, or along two trees.
    """
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
    """Return the bytes that leave each group if switches reduce.

    For each rank that other groups have too, these are the bytes of one GPU.
    """
    ranks = {(group, number % domain) for number, group in enumerate(group_of)}
    shared = Counter(rank for _, rank in ranks)
    by_group: dict[int, Fraction] = {}
    for group, rank in ranks:
        if shared[rank] > 1:
            by_group[group] = by_group.get(group, Fraction(0)) + demand.fabric_bytes
    return by_group
