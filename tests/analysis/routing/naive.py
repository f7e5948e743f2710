"""What waits for what, found packet by packet: an oracle that shares nothing with the room it checks.

Every path is a list of switches, every packet is followed over it, and every two channels that it takes one after the
other are an edge. There are no states, no sets of destinations and no kinds, and it is as slow as that sounds.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.routing.symmetry import Wires

    Channel = tuple[int, int]
    Buffer = tuple[int, int, int]  # from, to, and 0 for the first priority of a class, 1 for the second


class Plain(NamedTuple):
    """A fabric as a child would note it down: ``joined`` has each pair of switches once for every link."""

    tiers: Sequence[int]
    hosts: Sequence[bool]
    joined: Sequence[Channel]
    policy: str
    bounces: frozenset[int] = frozenset()
    moved: frozenset[int] = frozenset()
    lossy: frozenset[Channel] = frozenset()
    outside: frozenset[int] = frozenset()
    extra_hops: int = 0

    @property
    def ends(self) -> list[int]:
        """The switches with hosts."""
        return [switch for switch, here in enumerate(self.hosts) if here]

    @property
    def talks(self) -> list[Channel]:
        """Who sends to whom: all switches with hosts to all others, but those outside not to each other."""
        return [(a, b) for a, b in product(self.ends, self.ends) if a != b and not {a, b} <= self.outside]

    def near(self, switch: int) -> list[int]:
        """Return the switches that links join to one."""
        return sorted({b for a, b in self.both_directions() if a == switch})

    def above(self, switch: int) -> list[int]:
        """Return those of them in a higher tier."""
        return [other for other in self.near(switch) if self.tiers[other] > self.tiers[switch]]

    def both_directions(self) -> set[Channel]:
        """Return the directions of all pairs."""
        return {*self.joined, *((b, a) for a, b in self.joined)}


def plain(
    wires: Wires, policy: str, bounces: Iterable[str] = (), moved: Iterable[str] = (), extra_hops: int = 0
) -> Plain:
    """Return the same fabric without what wires know of it beside their links."""
    joined = [(a, b) for a, b, links in wires.pairs() for _ in range(links)]
    numbers = {name: number for number, name in enumerate(wires.names)}
    again, apart = (frozenset(numbers[name] for name in names) for names in (bounces, moved))
    return Plain(
        tuple(wires.tiers),
        tuple(wires.attached),
        joined,
        policy,
        again,
        apart,
        wires.lossy,
        wires.outside,
        extra_hops,
    )


def paths_between(fabric: Plain, start: int, end: int, avoided: int | None = None) -> list[list[int]]:
    """Return all paths that the policy allows and that have so many extra hops at most, as switches."""
    shortest = shortest_paths(fabric, start, end, avoided)
    growing = [[start]] if shortest else []
    arrived = list[list[int]]()
    while growing and len(growing[0]) <= len(shortest[0]) + fabric.extra_hops:
        arrived += [path for path in growing if path[-1] == end]
        growing = [
            [*path, step]
            for path in growing
            if path[-1] != end and (len(path) == 1 or path[-1] not in fabric.outside)
            for step in fabric.near(path[-1])
            if step not in path[-2:-1] and step != avoided and _allowed(fabric, [*path, step])
        ]
    return arrived


def shortest_paths(fabric: Plain, start: int, end: int, avoided: int | None = None) -> list[list[int]]:
    """Return the shortest of all paths that the policy allows, as switches."""
    growing = [[start]]
    while growing:
        if arrived := [path for path in growing if path[-1] == end]:
            return arrived
        growing = [
            [*path, step]
            for path in growing
            if len(path) == 1 or path[-1] not in fabric.outside
            for step in fabric.near(path[-1])
            if step not in path and step != avoided and _allowed(fabric, [*path, step])
        ]
    return []


def _allowed(fabric: Plain, path: Sequence[int]) -> bool:
    """Return whether a path goes up, then level at most once, then down, where the policy asks for that."""
    if fabric.policy == "shortest-path":
        return True
    climbed = [fabric.tiers[b] - fabric.tiers[a] for a, b in pairwise(path)]
    return all(before > 0 or after < 0 for before, after in pairwise(climbed))


class Walk(NamedTuple):
    """The buffers that a packet for ``end`` takes one after the other; ``bounced`` is the one it was in before."""

    buffers: tuple[Buffer, ...]
    end: int
    bounced: tuple[Buffer, ...] = ()


def waits(fabric: Plain) -> set[tuple[Buffer, Buffer]]:
    """Return which buffers wait for which, by following every packet there can be, bounced ones among them."""
    found: set[tuple[Buffer, Buffer]] = set()
    seen: set[Walk] = set()
    walks = [
        Walk(tuple((a, b, 0) for a, b in pairwise(path)), end)
        for start, end in fabric.talks
        for path in paths_between(fabric, start, end)
    ]
    while walks:
        walk = walks.pop()
        if walk not in seen:
            seen.add(walk)
            found.update(pairwise((*walk.bounced, *walk.buffers)))
            walks += [more for taken in walk.buffers for more in _bounces(fabric, taken, walk.end)]
    return {pair for pair in found if not any((near, far) in fabric.lossy for near, far, _ in pair)}


def _bounces(fabric: Plain, taken: Buffer, end: int) -> Iterator[Walk]:
    """Yield the walks of a packet that came down to a switch which cannot send it further down."""
    above, here, priority = taken
    same, other = here in fabric.bounces, here in fabric.moved and priority == 0
    if fabric.tiers[above] <= fabric.tiers[here] or not (same or other):
        return
    # What was for the hosts of this switch goes to another one that has them too; which, is not known.
    wanted = [other_end for other_end in fabric.ends if other_end != here] if end == here else [end]
    after = priority if same else 1
    for up in fabric.above(here):
        yield Walk(((here, up, after),), up, (taken,))
        for goal in wanted if up not in fabric.outside else ():
            for path in paths_between(fabric, up, goal, avoided=here):
                yield Walk(tuple((a, b, after) for a, b in pairwise([here, *path])), goal, (taken,))


def through_outside(fabric: Plain) -> set[tuple[Buffer, Buffer]]:
    """Return the waits there are where switches outside forward all to all, but nothing to where it came from."""
    through = {
        ((a, b, 0), (b, c, 0))
        for (a, b), (here, c) in product(fabric.both_directions(), repeat=2)
        if b == here and b in fabric.outside and a != c and not {(a, b), (b, c)} & fabric.lossy
    }
    return waits(fabric) | through


def shortest_cycle(fabric: Plain) -> int:
    """Return how many buffers the smallest cycle has, 0 where none closes."""
    return shortest_of(waits(fabric))


def shortest_of(found: set[tuple[Buffer, Buffer]]) -> int:
    """Return how many buffers the smallest cycle of waits has, 0 where none closes."""
    after: dict[Buffer, set[Buffer]] = {}
    for before, following in found:
        after.setdefault(before, set()).add(following)
    lengths = [length for buffer in after if (length := _back(after, buffer))]
    return min(lengths, default=0)


def _back(after: dict[Buffer, set[Buffer]], start: Buffer) -> int:
    seen, layer, length = set[tuple[int, int, int]](), {start}, 0
    while layer:
        length += 1
        layer = {following for buffer in layer for following in after.get(buffer, ())} - seen
        if start in layer:
            return length
        seen |= layer
    return 0


def has_valley(fabric: Plain) -> bool:
    """Return whether packets, none of them bounced, go up anywhere after they came down.

    Where a tier is not known, or is that of a switch outside, nobody can say what is up.
    """
    return any(
        _dips(fabric, path) for start, end in fabric.talks for path in paths_between(fabric, start, end)
    )


def _dips(fabric: Plain, path: Sequence[int]) -> bool:
    down = False
    for a, b in pairwise(path):
        if not (fabric.tiers[a] and fabric.tiers[b]) or {a, b} & fabric.outside:
            down = False
        elif fabric.tiers[b] < fabric.tiers[a]:
            down = True
        elif down and fabric.tiers[b] > fabric.tiers[a]:
            return True
    return False


def has_lost(fabric: Plain) -> bool:
    """Return whether two switches with hosts are joined by links and by no path, and none may lead around outside."""
    free = fabric._replace(policy="shortest-path")
    inside = [end for end in fabric.ends if end not in fabric.outside]
    return any(
        shortest_paths(free, a, b) and not shortest_paths(fabric, a, b) and not _may_go_around(fabric, a, b)
        for a, b in product(inside, inside)
    )


def _may_go_around(fabric: Plain, start: int, end: int) -> bool:
    """Return whether one can send to a switch outside at the top, and one of those to the other."""
    tops = [
        switch
        for switch in fabric.outside
        if all(0 < fabric.tiers[other] < fabric.tiers[switch] for other in fabric.near(switch))
    ]
    return any(shortest_paths(fabric, start, top) for top in tops) and any(
        shortest_paths(fabric, top, end) for top in tops
    )


def left(fabric: Plain, links: int, switches: int) -> Iterator[Plain]:
    """Yield what is left after every choice of up to so many links that fail, and of so many switches."""
    pairs = sorted({(min(pair), max(pair)) for pair in fabric.joined})
    for count in range(links + 1):
        for chosen in combinations(pairs, count):
            if sum(_links(fabric, pair) for pair in chosen) <= links:
                yield _without(fabric, chosen)
    for count in range(1, switches + 1):
        for gone in combinations(range(len(fabric.tiers)), count):
            yield _without(fabric, [(switch,) for switch in gone])


def _links(fabric: Plain, strike: tuple[int, ...]) -> int:
    return sum(sorted(pair) == sorted(strike) for pair in fabric.joined)


def _without(fabric: Plain, chosen: Iterable[tuple[int, ...]]) -> Plain:
    gone = set(chosen)
    kept = [(a, b) for a, b in fabric.joined if not {(a,), (b,), (a, b), (b, a)} & gone]
    hosts = [here and (switch,) not in gone for switch, here in enumerate(fabric.hosts)]
    return fabric._replace(joined=kept, hosts=hosts)
