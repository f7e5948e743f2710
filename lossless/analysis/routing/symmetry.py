"""Symmetry of a fabric: switches, and groups of them, that can be exchanged without changing a link.

A *block* is a group of switches that links join to each other and to some others beside them, but not to any block of
its family: a pod, seen from the switches above all pods; a plane, seen from the leaves; a single leaf, seen from its
spines. Blocks of one *family* have the same links within, place by place, and the same links to the same others. All
links are compared, so different blocks are never in one family; two identical blocks whose switches were
ordered differently are both kept.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.routing.channels import compact, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from lossless.analysis.routing.channels import Wires

    Block = Sequence[int]
    Family = Sequence[Block]
    Link = tuple[int, bool, bool]


def folded(wires: Wires, most: int) -> Wires:
    """Return the wires with at most ``most`` blocks of each family left."""
    wires = few_of(wires, twins(wires), most)
    folding = True
    while folding:
        folding = False
        for level in _levels(wires):
            fewer = few_of(wires, _blocks(wires, level, most), most)
            if fewer is not wires:
                wires, folding = few_of(fewer, twins(fewer), most), True
                break
    return wires


def few_of(wires: Wires, families: Iterable[Family], most: int, kept: Set[int] = frozenset()) -> Wires:
    """Return the wires with ``most`` blocks of each family, and in addition those with a switch to be ``kept``."""
    surplus = {
        switch
        for family in families
        for block in [block for block in family if kept.isdisjoint(block)][most:]
        for switch in block
    }
    return compact(wires, surplus) if surplus else wires


def families(wires: Wires) -> Iterator[Family]:
    """Yield the families of a fabric; a switch may be in a block of several."""
    yield from twins(wires)
    for level in _levels(wires):
        yield from _blocks(wires, level, 1)


def twins(wires: Wires) -> list[Family]:
    """Return switches with the same links to the same others, and none to each other: blocks of one switch."""
    by_links: dict[object, list[Block]] = {}
    for switch, others in enumerate(wires.links):
        links = _links(wires, switch, others) if wires.lossy else frozenset(others.items())
        by_links.setdefault((_own(wires, switch), links), []).append((switch,))
    return list(by_links.values())


def _own(wires: Wires, switch: int) -> tuple[int, bool, bool, int]:
    return wires.tiers[switch], wires.attached[switch], switch in wires.outside, wires.marks[switch]


def _links(wires: Wires, switch: int, others: Iterable[int]) -> frozenset[tuple[int, Link]]:
    """Return the links of a switch by their far end."""
    return frozenset((far, _link(wires, switch, far)) for far in others)


def _link(wires: Wires, near: int, far: int) -> Link:
    """Return the properties of the links from one switch to another: their number, and the directions with PFC."""
    return wires.links[near][far], (near, far) in wires.lossy, (far, near) in wires.lossy


def _levels(wires: Wires) -> Iterator[frozenset[int]]:
    """Yield sets of switches that might separate blocks: each tier, and each number of hops from hosts.

    Any sets would be valid, since blocks are compared. These are useful where a fabric has levels at all.
    """
    seen = set()
    for height in (wires.tiers, _hops(wires)):
        for value in sorted(set(height), reverse=True):
            level = frozenset(switch for switch, own in enumerate(height) if own == value)
            if level not in seen and len(level) < len(height):
                seen.add(level)
                yield level


def _hops(wires: Wires) -> list[int]:
    """Return the distance of each switch to the nearest one with hosts; -1 without one."""
    hops = [0 if here else -1 for here in wires.attached]
    layer = [switch for switch, here in enumerate(wires.attached) if here]
    while layer:
        following = []
        for switch in layer:
            for other in wires.links[switch]:
                if hops[other] < 0:
                    hops[other] = hops[switch] + 1
                    following.append(other)
        layer = following
    return hops


def _blocks(wires: Wires, level: frozenset[int], most: int) -> list[Family]:
    """Return the families of more than ``most`` blocks that are left when the switches of a level are removed."""
    members: dict[int, list[int]] = {}
    for switch, part in enumerate(parts(wires, level)):
        if part >= 0:
            members.setdefault(part, []).append(switch)
    rough: dict[object, list[list[int]]] = {}
    for block in members.values():
        sizes = sorted((*_own(wires, switch), len(wires.links[switch])) for switch in block)
        rough.setdefault(tuple(sizes), []).append(block)
    by_form: dict[object, list[Block]] = {}
    for blocks in rough.values():
        if len(blocks) > most:
            form = _Form(wires)
            for block in blocks:
                ordered, drawn = form.of(block)
                by_form.setdefault(drawn, []).append(ordered)
    return list(by_form.values())


class _Form:
    """Orders the switches of blocks, identical blocks in the same order where that is possible without backtracking.

    Switches are distinguished by their properties, by the links that leave their block, then by those within: colors
    are refined until nothing changes (as by Weisfeiler and Leman), and where several switches still share one, the
    first of them gets another.
    """

    def __init__(self, wires: Wires) -> None:
        self._wires = wires
        self._colours: dict[object, int] = {}

    def of(self, block: Block) -> tuple[Block, object]:
        """Return a block in order, and the properties of its switches and links, by their places in it."""
        inner = set(block)
        wires, links = self._wires, self._wires.links
        outside = {s: _links(wires, s, links[s].keys() - inner) for s in block}
        within = {s: [(_link(wires, s, far), far) for far in links[s] if far in inner] for s in block}
        colours = {s: self._colour((_own(wires, s), outside[s])) for s in block}
        ordered = self._ordered(colours, within)
        place = {switch: number for number, switch in enumerate(ordered)}
        drawn = tuple(
            (_own(wires, s), outside[s], frozenset((kind, place[far]) for kind, far in within[s]))
            for s in ordered
        )
        return ordered, drawn

    def _colour(self, what: object) -> int:
        return self._colours.setdefault(what, len(self._colours))

    def _ordered(self, colours: dict[int, int], within: dict[int, list[tuple[Link, int]]]) -> list[int]:
        while True:
            colours = self._refined(colours, within)
            ordered = sorted(colours, key=lambda switch: (colours[switch], switch))
            shared = next((a for a, b in pairwise(ordered) if colours[a] == colours[b]), None)
            if shared is None:
                return ordered
            colours[shared] = self._colour(("first", colours[shared]))

    def _refined(self, colours: dict[int, int], within: dict[int, list[tuple[Link, int]]]) -> dict[int, int]:
        """Refine the colors of switches by those of their neighbors until nothing changes."""
        count = len(set(colours.values()))
        while count < len(colours):
            finer = {
                s: self._colour((own, tuple(sorted((kind, colours[far]) for kind, far in within[s]))))
                for s, own in colours.items()
            }
            finer_count = len(set(finer.values()))
            if finer_count == count:
                break
            colours, count = finer, finer_count
        return colours


class Orbits:
    """Groups of switches, and of pairs of switches, that exchanges of blocks can map to each other.

    Both are given as their ends: one switch, or two in either order.
    """

    def __init__(self, wires: Wires) -> None:
        self._wires = wires
        self._first: dict[Block, Block] = {}
        for family in families(wires):
            for first, second in pairwise(family):
                self._swap({**dict(zip(first, second, strict=True)), **dict(zip(second, first, strict=True))})

    def of(self, ends: Block) -> Block:
        """Return the ends that represent all those that these can be exchanged with."""
        return self._root(tuple(sorted(ends)))

    def _swap(self, moved: dict[int, int]) -> None:
        for switch, there in moved.items():
            self._join((switch,), (there,))
            for far in self._wires.links[switch]:
                self._join((switch, far), (there, moved.get(far, far)))

    def _root(self, ends: Block) -> Block:
        while (above := self._first.get(ends, ends)) != ends:
            self._first[ends] = ends = self._first.get(above, above)
        return ends

    def _join(self, first: Block, second: Block) -> None:
        root, joined = self.of(first), self.of(second)
        if root != joined:
            self._first[joined] = root
