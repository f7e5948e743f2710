"""Wires made by hand, and drawn."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from lossless.analysis.routing.moves import PolicyMoves
from lossless.analysis.routing.symmetry import Wires

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def wires(
    names: Sequence[str],
    tiers: Sequence[int],
    pairs: Iterable[tuple[str, str]],
    attached: Sequence[bool] | None = None,
) -> Wires:
    """Return wires by names; a pair that comes twice has two links."""
    number = {name: place for place, name in enumerate(names)}
    links: list[dict[int, int]] = [{} for _ in names]
    for one, other in pairs:
        a, b = number[one], number[other]
        links[a][b] = links[b][a] = links[a].get(b, 0) + 1
    with_hosts = [tier <= 1 for tier in tiers] if attached is None else attached
    return Wires(names, tiers, with_hosts, links, [0] * len(names), _ports)


def _ports(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, str]]:
    return {(near, far): (f"{near}:to-{far}", f"{far}:to-{near}") for near, far in pairs}


def leaf_spine(leaves: int, spines: int) -> Wires:
    """Return a two-tier Clos of single links."""
    below, above = [f"leaf{n}" for n in range(leaves)], [f"spine{n}" for n in range(spines)]
    return wires([*below, *above], [1] * leaves + [2] * spines, product(below, above))


def three_tier(pods: int, leaves: int, spines: int, supers: int) -> Wires:
    """Return a three-tier Clos in planes: the n-th spine of every pod leads to the n-th ``supers`` super-spines."""
    below = [f"leaf{pod}-{n}" for pod in range(pods) for n in range(leaves)]
    middle = [f"spine{pod}-{n}" for pod in range(pods) for n in range(spines)]
    above = [f"super{plane}-{n}" for plane in range(spines) for n in range(supers)]
    up = (
        (f"leaf{p}-{a}", f"spine{p}-{b}") for p in range(pods) for a in range(leaves) for b in range(spines)
    )
    over = (
        (f"spine{p}-{b}", f"super{b}-{c}") for p in range(pods) for b in range(spines) for c in range(supers)
    )
    tiers = [1] * len(below) + [2] * len(middle) + [3] * len(above)
    return wires([*below, *middle, *above], tiers, (*up, *over))


def ring(switches: int) -> Wires:
    """Return switches in a ring, each with hosts."""
    return torus((switches,))


def torus(sides: tuple[int, ...]) -> Wires:
    """Return a torus of switches with hosts."""
    places = list(product(*map(range, sides)))
    pairs = {
        frozenset((place, _next(place, sides, axis, 1))) for place in places for axis in range(len(sides))
    }
    joined = [sorted(map(str, pair)) for pair in pairs if len(pair) == 2]
    return wires([str(place) for place in places], [0] * len(places), sorted((a, b) for a, b in joined))


def _next(place: tuple[int, ...], sides: tuple[int, ...], axis: int, step: int) -> tuple[int, ...]:
    return (*place[:axis], (place[axis] + step) % sides[axis], *place[axis + 1 :])


def dimension_order(sides: tuple[int, ...], *, datelines: bool) -> PolicyMoves:
    """Return the moves of a torus that is routed one dimension after the other.

    With datelines a packet changes to a second virtual lane where it crosses the seam of a ring; a lane of a link is
    a channel of its own. States are a switch, the dimension last moved in, and the lane.
    """
    places = list(product(*map(range, sides)))
    states = [(place, 0, 0) for place in places]
    states += [
        (p, a, v) for a in range(len(sides)) for v in range(1 + datelines) for p in places if (a, v) != (0, 0)
    ]
    number = {state: at for at, state in enumerate(states)}
    switch = {place: at for at, place in enumerate(places)}
    lane_of: dict[tuple[int, int, int], int] = {}
    channels: list[tuple[int, int]] = []
    found: list[tuple[int, int, int]] = []
    for (place, axis, lane), following, step in product(states, range(len(sides)), (1, -1)):
        if following < axis or sides[following] < 2:
            continue
        there = _next(place, sides, following, step)
        crosses = abs(there[following] - place[following]) > 1
        over = int(datelines and (crosses or (lane if following == axis else 0)))
        key = (switch[place], switch[there], over)
        if key not in lane_of:
            lane_of[key] = len(channels)
            channels.append(key[:2])
        found.append((number[place, axis, lane], number[there, following, over], lane_of[key]))
    tails, heads, over_channels = zip(*found, strict=True)
    return PolicyMoves([switch[place] for place, _, _ in states], tails, heads, over_channels, channels)


@st.composite
def tiered(draw: st.DrawFn, most: int = 7) -> Wires:
    """Draw switches in tiers, or in none, with any links between them, those of one tier among them.

    Pairs have one link or two; some are lossy, one way or both.
    """
    count = draw(st.integers(2, most))
    tiers = draw(st.lists(st.sampled_from([1, 1, 2, 3, 0]), min_size=count, max_size=count))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    twice = draw(st.sets(st.sampled_from(chosen))) if chosen else set()
    attached = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    names = [f"s{n}" for n in range(count)]
    made = wires(names, tiers, [(names[a], names[b]) for a, b in (*chosen, *twice)], attached)
    directions = [direction for a, b in chosen for direction in ((a, b), (b, a))]
    return made._replace(
        lossy=draw(st.frozensets(st.sampled_from(directions), max_size=3)) if directions else frozenset()
    )


@st.composite
def joined(draw: st.DrawFn, most: int = 6) -> Wires:
    """Draw switches that links join to each other, all of them, and at least two with hosts; tiers may be any."""
    count = draw(st.integers(3, most))
    names = [f"s{n}" for n in range(count)]
    tree = [(names[n], names[draw(st.integers(0, n - 1))]) for n in range(1, count)]
    others = [
        (names[a], names[b]) for a in range(count) for b in range(a) if (names[a], names[b]) not in tree
    ]
    more = draw(st.lists(st.sampled_from(others), unique=True, max_size=4)) if others else []
    hosts = draw(st.sets(st.sampled_from(names), min_size=2))
    tiers = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    return wires(names, tiers, [*tree, *more], [name in hosts for name in names])


@st.composite
def odd_pods(draw: st.DrawFn) -> Wires:
    """Draw pods whose spines all reach all super-spines, with a few links too many and too few, and hosts anywhere."""
    sizes = st.integers(1, 2)
    number, leaves, spines, supers = draw(sizes), draw(sizes), draw(sizes), draw(sizes)
    top = [f"super{n}" for n in range(supers)]
    spine = [f"spine{pod}-{n}" for pod in range(number) for n in range(spines)]
    leaf = [f"leaf{pod}-{n}" for pod in range(number) for n in range(leaves)]
    pairs = [(low, high) for low, high in product(leaf, spine) if low[4] == high[5]]
    pairs += product(spine, top)
    names = [*leaf, *spine, *top]
    for _ in range(draw(st.integers(0, 2))):
        pairs.remove(draw(st.sampled_from(pairs)))
    odd = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda pair: pair[0] != pair[1])
    pairs += draw(st.lists(odd, max_size=2))
    hosts = {*leaf} ^ draw(st.sets(st.sampled_from(names), max_size=1))
    tiers = [1] * len(leaf) + [2] * len(spine) + [3] * len(top)
    return wires(names, tiers, pairs, [name in hosts for name in names])


@st.composite
def worn_clos(draw: st.DrawFn, most: int = 6) -> Wires:
    """Draw a small Clos of two or three tiers from which some links are gone."""
    two = st.builds(leaf_spine, st.integers(2, most), st.integers(1, most - 2))
    three = st.builds(
        three_tier, st.integers(2, 3), st.integers(1, most - 2), st.integers(1, 2), st.integers(1, 2)
    )
    whole = draw(st.one_of(two, three) if most > 4 else two)
    pairs = [(whole.names[a], whole.names[b]) for a, b, _ in whole.pairs()]
    gone = draw(st.sets(st.sampled_from(pairs), max_size=3))
    return wires(whole.names, whole.tiers, [pair for pair in pairs if pair not in gone])


@st.composite
def pods(draw: st.DrawFn, most: int = 6) -> Wires:
    """Draw a Clos of small pods or leaves, nearly all identical, with peers, parallel links, odd switches."""
    whole = draw(
        st.one_of(
            st.builds(leaf_spine, st.integers(2, most + 2), st.integers(1, most)),
            st.builds(
                three_tier, st.integers(2, most), st.integers(1, 2), st.integers(1, 3), st.integers(1, 2)
            ),
        )
    )
    names, tiers = [*whole.names, "border"], [*whole.tiers, 1]
    pairs = [(names[a], names[b]) for a, b, _ in whole.pairs()]
    if draw(st.booleans()):
        pairs += [
            (n, f"{n[:-1]}1")
            for n in names
            if n.startswith("leaf") and n.endswith("-0") and n[:-1] + "1" in names
        ]
    if draw(st.booleans()):
        pairs += [("border", name) for name, tier in zip(names, tiers, strict=True) if tier == max(tiers)]
    parallel = draw(st.sets(st.sampled_from(pairs), max_size=2))
    gone = draw(st.sets(st.sampled_from(pairs), max_size=3))
    hosts = draw(st.sets(st.sampled_from(names), max_size=2))
    attached = [tier <= 1 or name in hosts for name, tier in zip(names, tiers, strict=True)]
    found = wires(names, tiers, [*(pair for pair in pairs if pair not in gone), *parallel], attached)
    one_way = [way for a, b, _ in found.pairs() for way in ((a, b), (b, a))]
    return found._replace(
        lossy=frozenset(draw(st.sets(st.sampled_from(one_way), max_size=4))) if one_way else frozenset()
    )
