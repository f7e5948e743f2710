"""What one half of the hosts can send to the other at once: the bisection bandwidth, one way.

The halves are stated: the switches with hosts, kept whole, in the order of the fabric, cut where both sides have as
much host bandwidth as can be. What crosses is the greatest flow from one half to the other over the explicit links
(Dinic's algorithm), as if traffic were spread perfectly; so no routing reaches more. Few switches with hosts are tried
in all halves, and where these have the same links to the same switches every half is alike: then it is the least of
all halves, else that of the stated one.
"""

from __future__ import annotations

from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING

from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.fabric.model import Link

Graph = dict[str, dict[str, int]]
"""Of each node the b/s to each of its neighbours, one way."""
_SOURCE, _SINK = "/source", "/sink"
"""No name of a device has a slash."""
_TRIED = 10
"""Switches with hosts up to which all halves are tried: 252 pairs of halves of ten."""


class Bisection(NamedTuple):
    """What crosses from half ``a`` to half ``b``, one way; ``host_bps`` is what the hosts of the smaller can send.

    ``least``: no other halves of whole switches, as equal as these, have less between them.
    """

    bps: int
    host_bps: int
    a: tuple[str, ...]
    b: tuple[str, ...]
    least: bool


def bisection(links: Iterable[Link]) -> Bisection | None:
    """Return the bisection bandwidth of a fabric, None where fewer than two switches have hosts."""
    hosts, between = _bandwidth(links)
    if len(hosts) < 2:
        return None
    names = tuple(hosts)
    if len(names) <= _TRIED and not _alike(hosts, between):
        found = [_crossing(hosts, between, a, names) for a in _halves(hosts)]
        return min(found, key=lambda one: one.bps)._replace(least=True)
    return _crossing(hosts, between, _first_half(hosts), names)._replace(least=_alike(hosts, between))


def _bandwidth(links: Iterable[Link]) -> tuple[dict[str, int], Graph]:
    """Return the b/s of hosts by switch, and those between switches."""
    hosts: dict[str, int] = {}
    between: Graph = {}
    for link in links:
        if link.to_host:
            hosts[link.a] = hosts.get(link.a, 0) + link.speed_bps
            between.setdefault(link.a, {})
        else:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                at = between.setdefault(near, {})
                at[far] = at.get(far, 0) + link.speed_bps
    return hosts, between


def _alike(hosts: Mapping[str, int], between: Graph) -> bool:
    """Return whether all switches with hosts have the same hosts and the same links to the same switches."""
    first = next(iter(hosts))
    return all(hosts[name] == hosts[first] and between[name] == between[first] for name in hosts)


def _first_half(hosts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the first switches, in order, that have as near to half of the host bandwidth as can be."""
    total, names = sum(hosts.values()), tuple(hosts)
    sums = accumulate(hosts[name] for name in names[:-1])
    number, _ = min(enumerate(sums), key=lambda one: abs(total - 2 * one[1]))
    return names[: number + 1]


def _halves(hosts: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield all sets of switches that are as near to half of the host bandwidth as the nearest."""
    names, total = tuple(hosts), sum(hosts.values())
    sets = [chosen for size in range(1, len(names)) for chosen in combinations(names, size)]
    off = {chosen: abs(total - 2 * sum(hosts[name] for name in chosen)) for chosen in sets}
    nearest = min(off.values())
    return (chosen for chosen in sets if off[chosen] == nearest and names[0] in chosen)


def _crossing(hosts: Mapping[str, int], between: Graph, a: Sequence[str], names: Sequence[str]) -> Bisection:
    near = frozenset(a)
    b = tuple(name for name in names if name not in near)
    graph = {node: dict(far) for node, far in between.items()}
    graph[_SOURCE], graph[_SINK] = {}, {}
    for name, bps in hosts.items():
        ends = (_SOURCE, name) if name in near else (name, _SINK)
        graph[ends[0]][ends[1]] = bps
    host_bps = min(sum(hosts[name] for name in half) for half in (a, b))
    return Bisection(greatest_flow(collapsed(graph), _SOURCE, _SINK), host_bps, tuple(a), b, least=False)


def collapsed(graph: Graph) -> Graph:
    """Return a graph in which nodes with the same neighbours, to and fro, are one: flows through them are the same."""
    while True:
        back: dict[str, dict[str, int]] = {node: {} for node in graph}
        for node, far in graph.items():
            for other, bps in far.items():
                back[other][node] = bps
        groups: dict[tuple[object, object], list[str]] = {}
        for node, far in graph.items():
            groups.setdefault((frozenset(far.items()), frozenset(back[node].items())), []).append(node)
        if len(groups) == len(graph):
            return graph
        name_of = {node: found[0] for found in groups.values() for node in found}
        graph = _joined(graph, name_of)


def _joined(graph: Graph, name_of: Mapping[str, str]) -> Graph:
    found: Graph = {name: {} for name in name_of.values()}
    for node, far in graph.items():
        at = found[name_of[node]]
        for other, bps in far.items():
            at[name_of[other]] = at.get(name_of[other], 0) + bps
    return found


def greatest_flow(graph: Graph, source: str, sink: str) -> int:
    """Return the greatest flow from one node to another, by Dinic's algorithm."""
    left: Graph = {node: dict(far) for node, far in graph.items()}
    for node, far in graph.items():
        for other in far:
            left[other].setdefault(node, 0)
    total = 0
    while (level := _levels(left, source)).get(sink) is not None:
        ways = {node: list(far) for node, far in left.items()}
        while (pushed := _push(left, level, ways, source, sink)) > 0:
            total += pushed
    return total


def _levels(left: Graph, source: str) -> dict[str, int]:
    level, layer = {source: 0}, [source]
    while layer:
        following = []
        for node in layer:
            for other, bps in left[node].items():
                if bps and other not in level:
                    level[other] = level[node] + 1
                    following.append(other)
        layer = following
    return level


def _push(
    left: Graph, level: Mapping[str, int], ways: Mapping[str, list[str]], source: str, sink: str
) -> int:
    """Send as much as fits along one shortest path; 0 where none is left. What leads nowhere leaves ``ways``."""
    path = [source]
    while path and path[-1] != sink:
        node, onward = path[-1], ways[path[-1]]
        while onward and not (left[node][onward[-1]] and level.get(onward[-1]) == level[node] + 1):
            onward.pop()
        if onward:
            path.append(onward[-1])
            continue
        path.pop()
        if path:
            ways[path[-1]].pop()
    hops = list(pairwise(path))
    bps = min((left[a][b] for a, b in hops), default=0)
    for a, b in hops:
        left[a][b] -= bps
        left[b][a] += bps
    return bps
