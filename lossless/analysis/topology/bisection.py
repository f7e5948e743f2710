"""Capacity of a fabric: by tier, complete and with failures; across its bisection; and for each GPU.

The bisection bandwidth is the rate, one way, at which one half of the hosts can send to the other. The halves are
reported: hosts with links to the same switches are kept together, in the order of their switches' names, cut where both
sides have as equal host bandwidth as possible; where all hosts have links to the same switches, as those of rails or of
two planes can have, the first half of them sends to the others. Halves of whole islands (groups of a dragonfly+, pods
of a tree) count where less passes between them, and of a torus those across each of its sides. The bandwidth is the
maximum flow from one half to the other over the explicit links (Dinic's algorithm), as if traffic were sprayed
perfectly; so no routing exceeds it. With few groups of hosts all halves are tried, and where groups have the same links
to the same switches all halves are identical: then it is the least bandwidth of all halves, else that of the reported
halves.

Bandwidth that remains above a switch when links or switches fail is that of the worst case, by its own links. Elements
out of service are removed first; where identical switches have lost different links, the worst of them counts.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.model import Capacity, Fabric, Link, Uplinks


Graph = dict[str, dict[str, int]]
"""For each node the b/s to each of its neighbors, one way."""
_SOURCE, _SINK = "/source", "/sink"
"""The source and the sink of the maximum flow; no name of a device has a slash."""
_TRIED = 10
"""Groups of hosts up to which all halves are tried: 126 pairs of halves of ten equal groups."""


class Bisection(NamedTuple):
    """The bandwidth from half ``a`` to half ``b``, one way; ``host_bps`` is the rate of the hosts of the smaller half.

    Halves are named by their switches, or by their hosts where both have links to one switch. ``near`` are the hosts
    of ``a``. ``least``: no other equally balanced halves of whole groups of hosts have less bandwidth between them.
    """

    bps: int
    host_bps: int
    a: tuple[str, ...]
    b: tuple[str, ...]
    least: bool
    near: frozenset[str] = frozenset()


class _Group(NamedTuple):
    """Hosts with links to the same switches or islands, and the b/s of all their links to each of their switches."""

    hosts: tuple[str, ...]
    at: Mapping[str, int]

    @property
    def bps(self) -> int:
        return sum(self.at.values())


def bisection(links: Iterable[Link], orders: Sequence[Sequence[str]] = ()) -> Bisection | None:
    """Return the bisection bandwidth of a fabric, None with fewer than two hosts or two switches with hosts.

    ``orders`` are orders of the switches (:attr:`Fabric.cut_orders`); if there are several groups of hosts and not all
    halves are tried, each is cut at its half too. Halves of whole islands (the groups of a dragonfly+, the pods of a
    tree) are tried too, which can be less balanced: the halves with the least bandwidth relative to the rate of the
    hosts of the smaller one are returned.
    """
    hosts, between = _bandwidth(links)
    groups = _groups(hosts, {name: name for own in hosts.values() for name in own})
    if len(hosts) < 2 or len({switch for group in groups for switch in group.at}) < 2:
        return None
    if len(groups) == 1:
        return _within(groups[0], hosts, between)
    across = _least(groups, between, orders)
    islands = _groups(hosts, _islands(hosts, between))
    if not 1 < len(islands) < len(groups):
        return across
    apart = _least(islands, between)._replace(least=False)
    return apart if apart.bps * across.host_bps < across.bps * apart.host_bps else across


def _groups(hosts: Mapping[str, Mapping[str, int]], part_of: Mapping[str, str]) -> tuple[_Group, ...]:
    """Return the hosts with links to the same parts of the fabric as groups; ``part_of`` is the part of a switch.

    They are in the order of the names of their parts: of several halves with the least bandwidth the first counts, and
    which that is may not depend on the order in which a file lists hosts.
    """
    together: dict[frozenset[str], list[str]] = {}
    for name, own in hosts.items():
        together.setdefault(frozenset(part_of[switch] for switch in own), []).append(name)
    in_order = sorted(together, key=lambda parts: sorted(map(natural_key, parts)))
    return tuple(
        _Group(tuple(names), _added(hosts[name] for name in names))
        for names in (together[parts] for parts in in_order)
    )


def _islands(hosts: Mapping[str, Mapping[str, int]], between: Graph) -> dict[str, str]:
    """Return the island of each switch with hosts, by its first switch: those that share a switch without hosts."""
    edge = {name for own in hosts.values() for name in own}
    island: dict[str, str] = {}
    for first in between:
        if first not in edge or first in island:
            continue
        island[first], waiting = first, [first]
        while waiting:
            above = (name for name in between[waiting.pop()] if name not in edge)
            found = {low for name in above for low in between[name] if low in edge and low not in island}
            island.update(dict.fromkeys(found, first))
            waiting += found
    return island


def _least(groups: Sequence[_Group], between: Graph, orders: Sequence[Sequence[str]] = ()) -> Bisection:
    """Return the halves of several groups with the least bandwidth between them, as far as halves are tried."""
    identical = _identical(groups, between)
    if len(groups) <= _TRIED and not identical:
        crossings = [_crossing(groups, between, a) for a in _halves(groups)]
        return min(crossings, key=lambda crossing: crossing.bps)._replace(least=True)
    crossings = [_crossing(groups, between, _first_half(groups))._replace(least=identical)]
    for order in orders:
        place = {name: at for at, name in enumerate(order)}
        ordered = sorted(groups, key=lambda group: min(place.get(name, len(place)) for name in group.at))
        crossings.append(_crossing(ordered, between, _first_half(ordered)))
    return min(crossings, key=lambda crossing: Fraction(crossing.bps, crossing.host_bps))


def _bandwidth(links: Iterable[Link]) -> tuple[dict[str, dict[str, int]], Graph]:
    """Return the b/s of each host to each of its switches, and those between each two switches."""
    hosts: dict[str, dict[str, int]] = {}
    between: Graph = {}
    for link in links:
        if link.to_host:
            own = hosts.setdefault(link.b, {})
            own[link.a] = own.get(link.a, 0) + link.speed_bps
            between.setdefault(link.a, {})
        else:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                at = between.setdefault(near, {})
                at[far] = at.get(far, 0) + link.speed_bps
    return hosts, between


def _added(bandwidths: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for bps_at in bandwidths:
        total.update(bps_at)
    return dict(total)


def _within(group: _Group, hosts: Mapping[str, Mapping[str, int]], between: Graph) -> Bisection:
    """Return the bandwidth between the first and the second half of hosts that share all their switches."""
    names = group.hosts
    sums = accumulate(sum(hosts[name].values()) for name in names[:-1])
    number = min(enumerate(sums), key=lambda half: abs(group.bps - 2 * half[1]))[0] + 1
    parts = [_Group(part, _added(hosts[name] for name in part)) for part in (names[:number], names[number:])]
    identical = len({tuple(sorted(hosts[name].items())) for name in names}) == 1
    return _crossing(parts, between, (0,))._replace(least=identical)


def _identical(groups: Sequence[_Group], between: Graph) -> bool:
    """Return whether all groups have equal host bandwidth and the same links, and no switch in common."""
    if len({switch for group in groups for switch in group.at}) < sum(len(group.at) for group in groups):
        return False
    seen = {
        frozenset((bps, frozenset(between[name].items())) for name, bps in group.at.items())
        for group in groups
    }
    return len(seen) == 1 and len({len(group.at) for group in groups}) == 1


def _first_half(groups: Sequence[_Group]) -> tuple[int, ...]:
    """Return the indices of the first groups, in order, whose host bandwidth is nearest to half of the total."""
    total = sum(group.bps for group in groups)
    sums = accumulate(group.bps for group in groups[:-1])
    number, _ = min(enumerate(sums), key=lambda half: abs(total - 2 * half[1]))
    return tuple(range(number + 1))


def _halves(groups: Sequence[_Group]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of groups, by index, that have the first group and host bandwidth as near to half as possible."""
    total = sum(group.bps for group in groups)
    sets = [chosen for size in range(1, len(groups)) for chosen in combinations(range(len(groups)), size)]
    off = {chosen: abs(total - 2 * sum(groups[at].bps for at in chosen)) for chosen in sets}
    nearest = min(off.values())
    return (chosen for chosen in sets if off[chosen] == nearest and 0 in chosen)


def _crossing(groups: Sequence[_Group], between: Graph, a: Sequence[int]) -> Bisection:
    near = [group for at, group in enumerate(groups) if at in a]
    far = [group for at, group in enumerate(groups) if at not in a]
    graph = {node: dict(others) for node, others in between.items()}
    graph[_SOURCE], graph[_SINK] = _added(group.at for group in near), {}
    for name, bps in _added(group.at for group in far).items():
        graph[name][_SINK] = bps
    hosts = [tuple(name for group in half for name in group.hosts) for half in (near, far)]
    switches = [tuple(dict.fromkeys(name for group in half for name in group.at)) for half in (near, far)]
    names = hosts if set(switches[0]) & set(switches[1]) else switches
    host_bps = min(sum(group.bps for group in half) for half in (near, far))
    bps = greatest_flow(collapsed(graph), _SOURCE, _SINK)
    return Bisection(bps, host_bps, names[0], names[1], least=False, near=frozenset(hosts[0]))


def collapsed(graph: Graph) -> Graph:
    """Return a graph with nodes of the same neighbors, in both directions, merged: the maximum flow stays the same."""
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
        name_of = {node: members[0] for members in groups.values() for node in members}
        graph = _joined(graph, name_of)


def _joined(graph: Graph, name_of: Mapping[str, str]) -> Graph:
    joined: Graph = {name: {} for name in name_of.values()}
    for node, far in graph.items():
        at = joined[name_of[node]]
        for other, bps in far.items():
            at[name_of[other]] = at.get(name_of[other], 0) + bps
    return joined


def greatest_flow(graph: Graph, source: str, sink: str) -> int:
    """Return the maximum flow from one node to another, by Dinic's algorithm."""
    left: Graph = {node: dict(far) for node, far in graph.items()}
    for node, far in graph.items():
        for other in far:
            left[other].setdefault(node, 0)
    total = 0
    while (level := _levels(left, source)).get(sink) is not None:
        onward = {node: list(far) for node, far in left.items()}
        while (pushed := _push(left, level, onward, source, sink)) > 0:
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
    left: Graph, level: Mapping[str, int], onward_of: Mapping[str, list[str]], source: str, sink: str
) -> int:
    """Send the maximum along one shortest path, and return it; 0 without a path.

    Dead ends are removed from ``onward_of``.
    """
    path = [source]
    while path and path[-1] != sink:
        node, onward = path[-1], onward_of[path[-1]]
        while onward and not (left[node][onward[-1]] and level.get(onward[-1]) == level[node] + 1):
            onward.pop()
        if onward:
            path.append(onward[-1])
            continue
        path.pop()
        if path:
            onward_of[path[-1]].pop()
    hops = list(pairwise(path))
    bps = min((left[a][b] for a, b in hops), default=0)
    for a, b in hops:
        left[a][b] -= bps
        left[b][a] += bps
    return bps


class ToleratedFailures(NamedTuple):
    """The number of links, or of switches, that fail in the worst case of a tier, and the elements out of service."""

    links: int
    switches: int
    out_of_service: tuple[str, ...]


class UplinksLeft(NamedTuple):
    """The uplink bandwidth left above a switch, and the oversubscription ratio with it; None without bandwidth."""

    up_bps: int
    ratio: float | None


class AfterFailures(NamedTuple):
    """The least uplink bandwidth left above a switch, after failures of links and after failures of switches."""

    links: UplinksLeft
    switches: UplinksLeft


class TierCapacity(NamedTuple):
    """One kind of leaf or spine: bandwidth below and above it, one way, without failures and in the worst case."""

    role: str
    switches: tuple[str, ...]
    down_bps: int
    up_bps: int
    ratio: float
    after: AfterFailures


class HalvesCapacity(NamedTuple):
    """The bisection bandwidth from half ``a`` to half ``b``, one way; fields as in :class:`Bisection`."""

    one_way_bps: int
    host_bps: int
    least: bool
    a: tuple[str, ...]
    b: tuple[str, ...]


class GpuBandwidth(NamedTuple):
    """The bandwidth of each GPU when all send at once, one way, in b/s; None where the intent lacks the inputs.

    ``inside_bps`` is that to the GPUs of its domain, ``host_bps`` onto the fabric, ``leaf_bps`` beyond its leaf, both
    for the GPU with the least, and ``half_bps`` to the other half of the fabric.
    """

    gpus: int
    domain_gpus: int
    inside_bps: int | None
    host_bps: int
    leaf_bps: int | None
    half_bps: int | None


class FabricCapacity(NamedTuple):
    """The capacity of a fabric: by tier, across its bisection, for each GPU; ``failed`` are the failures of tiers."""

    failed: ToleratedFailures
    tiers: tuple[TierCapacity, ...]
    bisection: HalvesCapacity | None
    per_gpu: GpuBandwidth | None


def fabric_capacity(fabric: Fabric) -> FabricCapacity:
    """Return the capacity of a fabric, complete and with the failures that its intent tolerates."""
    failures = fabric.failures
    failed = ToleratedFailures(0, 0, ())
    if failures:
        failed = ToleratedFailures(failures.links, failures.switches, failures.gone)
    tiers = tuple(_of_identical(_tier(capacity, failed) for capacity in fabric.capacities))
    across = bisection(fabric.links, fabric.cut_orders)
    halves = across and HalvesCapacity(across.bps, across.host_bps, across.least, across.a, across.b)
    return FabricCapacity(failed, tiers, halves, _per_gpu(fabric, across))


def _tier(capacity: Capacity, failed: ToleratedFailures) -> TierCapacity:
    down_bps, up_bps = capacity.down_bps, capacity.up_bps
    return TierCapacity(
        role=capacity.tier.word,
        switches=capacity.leaves,
        down_bps=down_bps,
        up_bps=up_bps,
        ratio=round(ratio(down_bps, up_bps), 3),
        after=AfterFailures(
            links=_left(down_bps, left_without_links(capacity, failed.links)),
            switches=_left(down_bps, left_without_switches(capacity, failed.switches)),
        ),
    )


def _left(down_bps: int, up_bps: int) -> UplinksLeft:
    # A ratio over nothing has no number in JSON.
    return UplinksLeft(up_bps, round(ratio(down_bps, up_bps), 3) if up_bps else None)


def _of_identical(tiers: Iterable[TierCapacity]) -> Iterator[TierCapacity]:
    """Yield the capacities of tiers, those with the same figures joined to one with all their switches."""
    for same in grouped((line._replace(switches=()), line) for line in tiers).values():
        yield same[0]._replace(switches=tuple(name for line in same for name in line.switches))


def _per_gpu(fabric: Fabric, across: Bisection | None) -> GpuBandwidth | None:
    cluster = fabric.cluster
    links: dict[str, int] = {}
    for link in fabric.links:
        if link.to_host:
            links[link.b] = links.get(link.b, 0) + link.speed_bps
    if cluster is None or not links:
        return None
    each, joined = cluster.gpus_per_host, cluster.scale_up
    host_bps = min(links.values()) // each
    return GpuBandwidth(
        gpus=len(links) * each,
        domain_gpus=cluster.domain_gpus,
        inside_bps=joined.rate_bps if joined else None,
        host_bps=host_bps,
        leaf_bps=_beyond_leaf(fabric, links, each),
        half_bps=int(host_bps * across.bps / across.host_bps) if across else None,
    )


def _beyond_leaf(fabric: Fabric, links: Mapping[str, int], each: int) -> int | None:
    """Return the least bandwidth of a GPU beyond its leaf: its links times the share that uplinks carry, or None."""
    share = {
        name: min(1.0, c.up_bps / c.down_bps)
        for c in fabric.capacities
        if c.tier is Tier.LEAF
        for name in c.leaves
    }
    if not share:
        return None
    sent: dict[str, float] = dict.fromkeys(links, 0.0)
    for link in fabric.links:
        if link.to_host:
            sent[link.b] += link.speed_bps * share.get(link.a.partition(":")[0], 0.0)
    return int(min(sent.values()) / each)


def left_without_links(capacity: Capacity, failed: int) -> int:
    """Return the least uplink bandwidth in b/s that remains after the loss of any ``failed`` uplinks of one switch."""
    return min(sum(_links(uplinks)[failed:]) for uplinks in _in_service(capacity))


def left_without_switches(capacity: Capacity, failed: int) -> int:
    """Return the least uplink bandwidth in b/s that remains after the loss of any ``failed`` switches above one."""
    return min(sum(_switches(uplinks)[failed:]) for uplinks in _in_service(capacity))


def _in_service(capacity: Capacity) -> tuple[tuple[Uplinks, ...], ...]:
    return capacity.in_service or (capacity.uplinks,)


def _links(uplinks: Iterable[Uplinks]) -> list[int]:
    """Return the speed of each link, the fastest first."""
    return sorted((up.speed_bps for up in uplinks for _ in range(up.links)), reverse=True)


def _switches(uplinks: Iterable[Uplinks]) -> list[int]:
    """Return the bandwidth to each switch above, the highest first."""
    above: dict[str, int] = {}
    for up in uplinks:
        above[up.above] = above.get(up.above, 0) + up.links * up.speed_bps
    return sorted(above.values(), reverse=True)


def ratio(down_bps: int, up_bps: int) -> float:
    """Return the oversubscription ratio of a switch; infinite without uplink bandwidth."""
    return down_bps / up_bps if up_bps else math.inf
