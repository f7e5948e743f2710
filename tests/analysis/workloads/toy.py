"""Collectives done by hand: chunks really move from GPU to GPU, and every byte is counted where it passes.

What a chunk holds is the multiset of GPUs that were added up in it: done right, everyone once. Nothing here knows a
formula of :mod:`lossless.analysis.workloads.collectives`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

from lossless.analysis.workloads.collectives import two_trees

Chunk = Hashable
Held = Counter[int]
Move = tuple[int, int, Chunk, int]
"""From which GPU to which, what chunk, and the NIC of which rank it leaves by where it leaves its domain."""


class Toy:
    """GPUs in domains of equal size, what each holds, and what passed: inside domains, and by each NIC."""

    def __init__(self, gpus: int, domain: int) -> None:
        self.gpus, self.domain = gpus, domain
        self.held: list[dict[Chunk, Held]] = [{} for _ in range(gpus)]
        self.sent: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        self.received: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        self.inside_bytes = Fraction(0)
        self.meeting: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.largest = Fraction(0)
        self.steps = 0

    def everyone_starts_with(self, chunks: Iterable[Chunk]) -> None:
        named = list(chunks)
        for gpu in range(self.gpus):
            self.held[gpu] = {chunk: Counter([gpu]) for chunk in named}

    def step(self, moves: Iterable[Move], size: Fraction, *, add: bool) -> None:
        """Do moves at once: what arrives is added to what is held, or replaces it."""
        moves = list(moves)
        arriving = [(b, chunk, Counter(self.held[a][chunk])) for a, b, chunk, _ in moves]
        for a, b, _, nic in moves:
            if a // self.domain == b // self.domain:
                self.inside_bytes += size
                continue
            self.sent[a // self.domain, nic] += size
            self.received[divmod(b, self.domain)] += size
            self.meeting[b].add((a // self.domain, nic))
            self.largest = max(self.largest, size)
        self.steps += 1
        for b, chunk, value in arriving:
            self.held[b][chunk] = self.held[b].get(chunk, Counter()) + value if add else value

    @property
    def fan_in(self) -> int:
        """The most NICs that sent to one GPU over the fabric, at any time."""
        return max(map(len, self.meeting.values()), default=0)

    @property
    def fabric_bytes(self) -> Fraction:
        return Fraction(sum(self.sent.values(), Fraction(0)), self.gpus)

    @property
    def busiest_bytes(self) -> Fraction:
        return max([*self.sent.values(), *self.received.values()], default=Fraction(0))


def ring_moves(order: Sequence[int], step: int, name: Hashable, nic: int, first: int) -> Iterator[Move]:
    """Yield one step of a ring: each hands on the chunk that it got in the last one."""
    many = len(order)
    for at, gpu in enumerate(order):
        yield gpu, order[(at + 1) % many], (name, (at + first - step) % many), nic


def ring(gpus: int, domain: int, size: Fraction, halves: str) -> Toy:
    """Return a ring through all GPUs for each rank: it comes to a domain and leaves it by the NIC of that rank."""
    toy = Toy(gpus, domain)
    orders = {
        nic: [at * domain + (nic + far) % domain for at in range(gpus // domain) for far in range(domain)]
        for nic in range(domain)
    }
    toy.everyone_starts_with(product(orders, range(gpus)))
    part = size / domain / gpus
    for half in halves:
        for step in range(gpus - 1):
            moves = (
                move
                for nic, order in orders.items()
                for move in ring_moves(order, step, nic, nic, int(half == "g" and "s" in halves))
            )
            toy.step(moves, part, add=half == "s")
    return toy


def hierarchy(gpus: int, domain: int, size: Fraction) -> Toy:
    """Return an all-reduce that scatters inside, runs a ring of each rank over the fabric, and gathers inside."""
    toy, domains = Toy(gpus, domain), gpus // domain
    toy.everyone_starts_with(product(range(domain), range(domains)))
    scatter_inside(toy, domains, size / gpus)
    for add, step in product((True, False), range(domains - 1)):
        moves: list[Move] = []
        for rank in range(domain):
            order = [at * domain + rank for at in range(domains)]
            moves += ring_moves(order, step, rank, rank, int(not add))
        toy.step(moves, size / gpus, add=add)
    gather_inside(toy, domains, size / gpus)
    return toy


def tree(gpus: int, domain: int, size: Fraction) -> Toy:
    """Return an all-reduce by two trees over domains, each for half of what a rank has."""
    toy, domains = Toy(gpus, domain), gpus // domain
    toy.everyone_starts_with(product(range(domain), range(2)))
    scatter_inside(toy, 2, size / domain / 2)
    edges = list(two_trees(domains))
    trees = [dict(edges[::2]), dict(edges[1::2])]
    ready = [{node: depth(parents, node) for node in parents} for parents in trees]
    deepest = max((level for one in ready for level in one.values()), default=0)
    for level in range(deepest, 0, -1):
        toy.step(along(trees, ready, level, domain, up=True), size / domain / 2, add=True)
    for level in range(1, deepest + 1):
        toy.step(along(trees, ready, level, domain, up=False), size / domain / 2, add=False)
    gather_inside(toy, 2, size / domain / 2)
    return toy


def depth(parent_of: dict[int, int], node: int) -> int:
    return 0 if node not in parent_of else 1 + depth(parent_of, parent_of[node])


def along(
    trees: Sequence[dict[int, int]], ready: Sequence[dict[int, int]], level: int, domain: int, *, up: bool
) -> Iterator[Move]:
    for half, parents in enumerate(trees):
        for child, parent in parents.items():
            if ready[half][child] == level:
                a, b = (child, parent) if up else (parent, child)
                for rank in range(domain):
                    yield a * domain + rank, b * domain + rank, (rank, half), rank


def scatter_inside(toy: Toy, pieces: int, size: Fraction) -> None:
    """Add up inside each domain: the GPU of a rank ends with all pieces of that rank."""
    for step in range(toy.domain - 1):
        toy.step(_inside(toy, pieces, step, 1), size, add=True)


def gather_inside(toy: Toy, pieces: int, size: Fraction) -> None:
    for step in range(toy.domain - 1):
        toy.step(_inside(toy, pieces, step, 0), size, add=False)


def _inside(toy: Toy, pieces: int, step: int, behind: int) -> Iterator[Move]:
    for first in range(0, toy.gpus, toy.domain):
        for at in range(toy.domain):
            rank = (at - step - behind) % toy.domain
            for piece in range(pieces):
                yield first + at, first + (at + 1) % toy.domain, (rank, piece), 0


def all_to_all(gpus: int, domain: int, size: Fraction, *, pxn: bool) -> Toy:
    """Return everyone handing a piece to everyone; with PXN by way of the GPU of the same rank as the receiver."""
    toy = Toy(gpus, domain)
    for gpu in range(gpus):
        toy.held[gpu] = {(gpu, to): Counter([gpu]) for to in range(gpus)}
    pairs = [(a, b) for a, b in product(range(gpus), repeat=2) if a != b]
    if not pxn:
        far = [(b - a) % gpus for a, b in pairs]
        for away in range(1, gpus):
            toy.step(
                ((a, b, (a, b), a % domain) for (a, b), one in zip(pairs, far, strict=True) if one == away),
                size / gpus, add=False,
            )  # fmt: skip
        return toy
    via = {(a, b): a // domain * domain + b % domain for a, b in pairs}
    for away in range(1, domain):
        handed = [pair for pair in pairs if (via[pair] - pair[0]) % domain == away]
        toy.step(((a, via[a, b], (a, b), 0) for a, b in handed), size / gpus, add=False)
    for away in range(1, gpus // domain):
        gone = [(a, b) for a, b in pairs if (b // domain - a // domain) % (gpus // domain) == away]
        toy.step(((via[a, b], b, (a, b), b % domain) for a, b in gone), size / gpus, add=False)
    return toy


def pipeline(gpus: int, domain: int, size: Fraction, microbatches: int) -> Toy:
    """Return stages that hand activations forward and gradients back, one microbatch a step each."""
    toy, stages = Toy(gpus, domain), gpus // domain
    for rank in range(domain):
        for number in range(microbatches):
            toy.held[rank][number, "forward"] = Counter([rank])
            toy.held[gpus - domain + rank][number, "back"] = Counter([gpus - domain + rank])
    for way, order in (("forward", range(stages)), ("back", range(stages - 1, -1, -1))):
        for step in range(microbatches + stages - 2 if stages > 1 else 0):
            moves: list[Move] = []
            for at, (here, there) in enumerate(pairwise(order)):
                if 0 <= step - at < microbatches:
                    moves += [
                        (here * domain + rank, there * domain + rank, (step - at, way), rank)
                        for rank in range(domain)
                    ]
            toy.step(moves, size, add=False)
    return toy
