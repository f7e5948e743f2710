"""Transfers of one step of jobs: senders, receivers, sizes, and the transfers that must be done before.

Nodes here are NIC ports. In a *step* every NIC sends ``size_bytes``, divided among its destinations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from lossless.model.fabric.workloads import Pattern


class Transfer(NamedTuple):
    """One transfer; ``after`` counts earlier transfers of the same workload that must be done first."""

    source: int
    target: int
    size_bytes: int
    after: tuple[int, ...] = ()


def transfers_in_planes(
    pattern: Pattern, planes: Iterable[Sequence[int]], target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return one step of a pattern in each of some planes; NIC ports of different planes exchange no traffic."""
    transfers: list[Transfer] = []
    for nics in planes:
        before = len(transfers)
        step = transfers_of(pattern, nics, target, size_bytes, rng)
        transfers += [one._replace(after=tuple(at + before for at in one.after)) for one in step]
    return tuple(transfers)


def transfers_of(
    pattern: Pattern, nics: Sequence[int], target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return one step of a pattern among NICs; ``target`` is the destination of an incast."""
    return _MAKERS[pattern](nics, target, size_bytes, rng)


def _incast(nics: Sequence[int], target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return all NICs but the target sending to it at once."""
    return tuple(Transfer(nic, target, size_bytes) for nic in nics if nic != target)


def _all_to_all(
    nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random
) -> tuple[Transfer, ...]:
    """Return every NIC sending an equal part to every other, each beginning with its neighbor."""
    many = len(nics)
    part = max(1, size_bytes // max(1, many - 1))
    return tuple(
        Transfer(nics[at], nics[(at + far) % many], part) for far in range(1, many) for at in range(many)
    )


def _ring(nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return a ring all-reduce: 2 (N - 1) rounds in which each passes a part on, once it has received the last."""
    many = len(nics)
    part = max(1, size_bytes // many)
    transfers: list[Transfer] = []
    for turn in range(2 * (many - 1)):
        for at in range(many):
            before = ((turn - 1) * many + (at - 1) % many,) if turn else ()
            transfers.append(Transfer(nics[at], nics[(at + 1) % many], part, before))
    return tuple(transfers)


def _tree(nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return a binary tree all-reduce: up once both children have sent, down once the parent has."""
    many = len(nics)
    up = {child: number for number, child in enumerate(range(many - 1, 0, -1))}
    children = {parent: [c for c in (2 * parent + 1, 2 * parent + 2) if c < many] for parent in range(many)}
    transfers = [
        Transfer(nics[child], nics[(child - 1) // 2], size_bytes, tuple(up[c] for c in children[child]))
        for child in up
    ]
    down: dict[int, int] = {}
    for child in range(1, many):
        parent = (child - 1) // 2
        before = tuple(up[c] for c in children[0]) if parent == 0 else (down[parent],)
        down[child] = len(transfers)
        transfers.append(Transfer(nics[parent], nics[child], size_bytes, before))
    return tuple(transfers)


def _permutation(
    nics: Sequence[int], _target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return every NIC sending to one other and receiving from one other, at random."""
    order = list(nics)
    rng.shuffle(order)
    return tuple(Transfer(order[at - 1], order[at], size_bytes) for at in range(len(order)))


_MAKERS: dict[Pattern, Callable[[Sequence[int], int, int, random.Random], tuple[Transfer, ...]]] = {
    "incast": _incast,
    "all-to-all": _all_to_all,
    "ring": _ring,
    "tree": _tree,
    "permutation": _permutation,
}
