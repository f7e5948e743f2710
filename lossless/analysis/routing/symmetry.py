"""Switches and links as plain numbers, and their symmetry: groups of switches that can be exchanged without a change.

A *block* is a group of switches with links to each other and to switches outside the block, but to no other block of
its family: a pod, seen from the switches above all pods; a plane, seen from the leaves; a single leaf, seen from its
spines. Blocks of one *family* have the same links within, switch by switch, and the same links to the same switches
outside. All links are compared, so different blocks are never in one family; two identical blocks whose switches were
ordered differently are both kept.

Routes are computed on these numbers (:class:`Wires`). Parallel links between two switches are one pair: routing uses
all of them, so all wait for the same buffers. Hosts are left out: their packets depend on no earlier buffer, and they
consume the packets they receive, so no cycle goes through one.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

    from lossless.model.fabric.model import Fabric

    Pair = tuple[str, str]

UNKNOWN_TIER = 0
"""The tier of switches without one, and of those whose tier is unknown; hosts may be attached to any of them."""


class Wires(NamedTuple):
    """The switches of a fabric by number. ``links`` has for each switch the number of links to each linked switch.

    ``tiers`` counts from 1 at the leaves, 0 for an unknown tier; ``attached`` is whether a switch has hosts. Marks
    distinguish otherwise identical switches. ``ports`` looks up the first link from one switch to another, port by
    port, for pairs of names. Packets from the first to the second of a ``lossy`` pair are never paused. Switches
    ``outside`` send and receive packets like others with hosts; their forwarding is unknown.
    """

    names: Sequence[str]
    tiers: Sequence[int]
    attached: Sequence[bool]
    links: Sequence[dict[int, int]]
    marks: Sequence[int]
    ports: Callable[[Iterable[Pair]], dict[Pair, Pair]]
    lossy: frozenset[tuple[int, int]] = frozenset()
    outside: frozenset[int] = frozenset()

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yield pairs of linked switches, the lower number first, and the number of their links."""
        for near, others in enumerate(self.links):
            for far, links in others.items():
                if near < far:
                    yield near, far, links

    def above(self, switch: int) -> list[int]:
        """Return the linked switches of a higher tier than a switch."""
        own = self.tiers[switch]
        return [other for other in self.links[switch] if self.tiers[other] > own]


def wires_of(fabric: Fabric) -> Wires:
    """Return the wires of a fabric; a device of several ASICs is one switch."""
    names: dict[str, int] = {}
    tiers: list[int] = []
    for switch in fabric.switches:
        if names.setdefault(switch.device, len(names)) == len(tiers):
            tiers.append(int(known_tier(switch.tier) or UNKNOWN_TIER))
    inside = len(names)
    for outside_link in fabric.beyond:
        if not outside_link.to_host and names.setdefault(outside_link.far, len(names)) == len(tiers):
            tiers.append(int(outside_link.tier or UNKNOWN_TIER))
    number = {**names, **{switch.name: names[switch.device] for switch in fabric.switches}}
    attached = [here >= inside for here in names.values()]
    links = [dict[int, int]() for _ in names]
    for (near_name, _), (far_name, _), to_host in _ends(fabric):
        near = number.get(near_name)
        if near is None:
            continue
        if to_host:
            attached[near] = True
            continue
        far = number.get(far_name)
        if far is not None and near != far:
            links[near][far] = links[far][near] = links[near].get(far, 0) + 1
    ports, outside = partial(_ports_between, fabric), frozenset(range(inside, len(names)))
    lossy = _lossy(fabric, number)
    return Wires(tuple(names), tiers, attached, links, bytes(len(names)), ports, lossy, outside)


def _ends(fabric: Fabric) -> Iterator[tuple[Pair, Pair, bool]]:
    """Yield both ends of all links, by switch and port, and whether the second is a host's."""
    for link in fabric.links:
        yield (link.a, link.a_port), (link.b, link.b_port), link.to_host
    for outside_link in fabric.beyond:
        yield (outside_link.switch, outside_link.port), (outside_link.far, ""), outside_link.to_host


def _device(name: str) -> str:
    return name.partition(":")[0]


def _ports_between(fabric: Fabric, pairs: Iterable[Pair]) -> dict[Pair, Pair]:
    """Return the ports of the first link of each pair of devices, in both directions, each as ``switch:port``.

    They are looked up only when a result is shown.
    """
    wanted, ports_of = set(pairs), dict[tuple[str, str], tuple[str, str]]()
    for near_end, far_end, _ in _ends(fabric):
        near, far = _device(near_end[0]), _device(far_end[0])
        if (near, far) in wanted or (far, near) in wanted:
            ports = (":".join(near_end), ":".join(far_end))
            ports_of.setdefault((near, far), ports)
            ports_of.setdefault((far, near), ports[::-1])
    return ports_of


def _lossy(fabric: Fabric, number: Mapping[str, int]) -> frozenset[tuple[int, int]]:
    """Return the pairs of switch numbers whose second switch does not pause packets from the first.

    Empty where the intent does not state which tiers have PFC. Outside switches are assumed to have no PFC on links on
    which this side has none.
    """
    if fabric.pfc_tiers is None:
        return frozenset()
    unwanted_by_ports: dict[int, set[str]] = {}
    for switch in fabric.switches:
        unwanted_by_ports.setdefault(
            id(switch.ports), {port.name for port in switch.ports if port.pfc_unwanted}
        )
    unwanted = {switch.name: unwanted_by_ports[id(switch.ports)] for switch in fabric.switches}
    lossy: set[Pair] = set()
    for link in fabric.links:
        if not link.to_host:
            lossy |= {(link.b, link.a)} if link.a_port in unwanted[link.a] else set()
            lossy |= {(link.a, link.b)} if link.b_port in unwanted[link.b] else set()
    for outside_link in fabric.beyond:
        if not outside_link.to_host and outside_link.port in unwanted[outside_link.switch]:
            lossy |= {(outside_link.far, outside_link.switch), (outside_link.switch, outside_link.far)}
    return frozenset((number[near], number[far]) for near, far in lossy)


def without(wires: Wires, switches: Collection[int] = (), pairs: Collection[tuple[int, int]] = ()) -> Wires:
    """Return the wires that remain where switches, and all links of some pairs, are out of service.

    A switch that is out of service keeps its number, without links and without hosts.
    """
    links = list(wires.links)
    for switch in switches:
        for other in wires.links[switch]:
            links[other] = {far: count for far, count in links[other].items() if far != switch}
        links[switch] = {}
    for near, far in pairs:
        links[near] = {other: count for other, count in links[near].items() if other != far}
        links[far] = {other: count for other, count in links[far].items() if other != near}
    attached = [here and number not in switches for number, here in enumerate(wires.attached)]
    return wires._replace(links=links, attached=attached)


def parts(wires: Wires, beside: Collection[int] = ()) -> list[int]:
    """Return the number of each switch's connected component, in the graph without the switches in ``beside``.

    Switches in ``beside`` have -1.
    """
    part_of: list[int | None] = [None] * len(wires.names)
    for switch in beside:
        part_of[switch] = -1
    for root, known in enumerate(part_of):
        if known is not None:
            continue
        part_of[root], waiting = root, [root]
        while waiting:
            for other in wires.links[waiting.pop()]:
                if part_of[other] is None:
                    part_of[other] = root
                    waiting.append(other)
    return [-1 if part is None else part for part in part_of]


def compact(wires: Wires, surplus: Collection[int]) -> Wires:
    """Return the wires without the ``surplus`` switches; the others are numbered again in their order."""
    kept = [switch for switch in range(len(wires.names)) if switch not in surplus]
    number = {switch: place for place, switch in enumerate(kept)}
    links = [{number[o]: n for o, n in wires.links[s].items() if o in number} for s in kept]
    lossy = ((number.get(near), number.get(far)) for near, far in wires.lossy)
    return Wires(
        [wires.names[s] for s in kept],
        [wires.tiers[s] for s in kept],
        [wires.attached[s] for s in kept],
        links,
        [wires.marks[s] for s in kept],
        wires.ports,
        frozenset((near, far) for near, far in lossy if near is not None and far is not None),
        frozenset(number[switch] for switch in wires.outside if switch in number),
    )


if TYPE_CHECKING:
    Block = Sequence[int]
    Family = Sequence[Block]
    Link = tuple[int, bool, bool]


def folded(wires: Wires, most: int) -> Wires:
    """Return the wires with at most ``most`` blocks of each family left, a family being blocks that are identical."""
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
    """Return the wires with at most ``most`` blocks of each family, beside those with a switch to be ``kept``."""
    surplus = {
        switch
        for family in families
        for block in [block for block in family if kept.isdisjoint(block)][most:]
        for switch in block
    }
    return compact(wires, surplus) if surplus else wires


def families(wires: Wires) -> Iterator[Family]:
    """Yield the families of identical blocks of a fabric; a switch may be in blocks of several families."""
    yield from twins(wires)
    for level in _levels(wires):
        yield from _blocks(wires, level, 1)


def twins(wires: Wires) -> list[Family]:
    """Return the switches grouped by equal properties and equal links to the same switches: blocks of one switch."""
    by_links: dict[object, list[Block]] = {}
    for switch, others in enumerate(wires.links):
        links = _links(wires, switch, others) if wires.lossy else frozenset(others.items())
        by_links.setdefault((_own(wires, switch), links), []).append((switch,))
    return list(by_links.values())


def _own(wires: Wires, switch: int) -> tuple[int, bool, bool, int]:
    return wires.tiers[switch], wires.attached[switch], switch in wires.outside, wires.marks[switch]


def _links(wires: Wires, switch: int, others: Iterable[int]) -> frozenset[tuple[int, Link]]:
    """Return the far switches of a switch's links, each with the properties of the links to it."""
    return frozenset((far, _link(wires, switch, far)) for far in others)


def _link(wires: Wires, near: int, far: int) -> Link:
    """Return the number of links from one switch to another, and for each direction whether it is without PFC."""
    return wires.links[near][far], (near, far) in wires.lossy, (far, near) in wires.lossy


def _levels(wires: Wires) -> Iterator[frozenset[int]]:
    """Yield sets of switches that might separate blocks: each tier, and each distance from the switches with hosts.

    A set of all switches is left out. Any other sets would do as well, since blocks are compared.
    """
    seen = set()
    for height in (wires.tiers, _hops(wires)):
        for value in sorted(set(height), reverse=True):
            level = frozenset(switch for switch, own in enumerate(height) if own == value)
            if level not in seen and len(level) < len(height):
                seen.add(level)
                yield level


def _hops(wires: Wires) -> list[int]:
    """Return the hops from each switch to the nearest switch with hosts; -1 where there is no path to one."""
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
    """Return the families of blocks that are left when the switches of a level are removed.

    Blocks of which at most ``most`` have the same numbers of switches, tiers and links are left out.
    """
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
    """The order of the switches of blocks, the same in identical blocks if that is possible without backtracking.

    Switches are distinguished by their properties, by the links that leave their block, then by those within: colors
    are refined until nothing changes (as by Weisfeiler and Leman), and where several switches still share one, the
    first of them gets another.
    """

    def __init__(self, wires: Wires) -> None:
        self._wires = wires
        self._colours: dict[object, int] = {}

    def of(self, block: Block) -> tuple[Block, object]:
        """Return the switches of a block in order, and the properties and links of each, numbered in this order."""
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
        """Return the colors of switches, refined by those of their neighbors until nothing changes."""
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

    A switch or a pair is given as its ends: the number of one switch, or of two in either order.
    """

    def __init__(self, wires: Wires) -> None:
        self._wires = wires
        self._first: dict[Block, Block] = {}
        for family in families(wires):
            for first, second in pairwise(family):
                self._swap({**dict(zip(first, second, strict=True)), **dict(zip(second, first, strict=True))})

    def of(self, ends: Block) -> Block:
        """Return the ends that stand for all members of a group, by the ends of one member."""
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
