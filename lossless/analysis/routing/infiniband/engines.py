"""The routes of opensm's engines minhop, updn, dor and torus-2QoS, and the channel dependency graph along them.

The routes of minhop, updn and dor are computed as opensm computes them. All three count hops, and choose for each
address, among the ports with the fewest hops, the one that carries the fewest addresses so far, the lowest port of
several. updn counts only paths without a valley; dor uses only ports to the neighbor behind the lowest of these ports.
Tests compare the forwarding tables with those that opensm dumps.

Source: linux-rdma/opensm, opensm/osm_ucast_mgr.c @917070c (order of addresses, hops), opensm/osm_switch.c @8ae061c
(osm_switch_recommend_path: the choice of a port), opensm/osm_ucast_updn.c @9b50961 (ranks and directions).

A channel is one direction of one link between two switches. Links of HCAs are left out: an HCA forwards nothing,
so no cycle of waits includes its link.

A packet that occupies buffer space of one channel waits for credits of the next. Where such waits close a cycle, all
packets in it can wait permanently: a credit loop (W. Dally and C. Seitz, IEEE Trans. Computers C-36(5), 1987). A cycle
must run over channels of one virtual lane each, so routes that cross from lane to lane may have none.

Paths between HCAs count. Those to and from the management ports of switches carry few small packets, and are left out.

The routes of torus-2QoS are those on a torus without faults: one dimension after another, and two VLs that cut every
ring at its dateline. A path has one bit of its service level for each dimension; it is set where the path crosses the
dateline, from the last coordinate to the first or back. In that dimension the bit chooses the VL (torus-2QoS(8),
UNICAST ROUTING). Where both directions around a ring are equally short, opensm chooses one of them; here the upward
one stands for both: the two mirror each other, and share no channel.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict, deque
from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.graphs.cycles import cycle, from_edges
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from lossless.model.fabric.infiniband.subnet import Subnet, SubnetLink, SubnetSwitch


class SubnetChannel(NamedTuple):
    """One direction of a link: out of ``port`` of switch ``near`` into ``far_port`` of switch ``far``, by number."""

    near: int
    port: int
    far: int
    far_port: int


class HcaAttachment(NamedTuple):
    """The switch that an HCA is attached to, by its number in the graph, and the port of this switch."""

    switch: int
    port: int


class SubnetGraph(NamedTuple):
    """The switches, HCAs and channels of a subnet by number; switches and HCAs in the order of the subnet.

    ``out`` has for each switch the numbers of the channels that leave it, by port. ``attached`` has the attachment of
    each HCA. ``guids`` are those of the switches, declared or derived.
    """

    switches: tuple[SubnetSwitch, ...]
    hcas: tuple[str, ...]
    guids: tuple[int, ...]
    channels: tuple[SubnetChannel, ...]
    out: tuple[tuple[int, ...], ...]
    attached: tuple[HcaAttachment, ...]

    def hcas_by_switch(self) -> tuple[tuple[int, ...], ...]:
        """Return for each switch the numbers of the HCAs attached to it, sorted by switch port."""
        by_switch: list[list[int]] = [[] for _ in self.switches]
        for hca in sorted(range(len(self.hcas)), key=self.attached.__getitem__):
            by_switch[self.attached[hca].switch].append(hca)
        return tuple(map(tuple, by_switch))

    def channel_at(self) -> dict[tuple[int, int], int]:
        """Map each switch and its outgoing port to the number of the channel that leaves there."""
        return {(channel.near, channel.port): number for number, channel in enumerate(self.channels)}


def subnet_graph(subnet: Subnet) -> SubnetGraph | str:
    """Return the graph of a subnet, or the reason why there is none as text.

    There is none if the cabling is unknown, a link has no port, or an HCA no link.
    """
    named = with_derived_guids(subnet)
    switches, hcas, links = named.switches, named.hcas, named.links
    if isinstance(switches, Unknown) or isinstance(hcas, Unknown) or isinstance(links, Unknown):
        return "the configuration of a subnet manager does not say how the fabric is cabled"
    if any(link.a_port is None or link.b_port is None for link in links):
        return "a switch has no port left for a link, so the fabric cannot be cabled"
    numbers = {switch.name: number for number, switch in enumerate(switches)}
    places = {link.b: HcaAttachment(numbers[link.a], link.a_port or 0) for link in links if link.to_hca}
    if len(places) < len(hcas):
        return "an HCA is not connected to any switch"
    channels = sorted(
        channel for link in links if not link.to_hca for channel in _both_directions(link, numbers)
    )
    out: dict[int, list[int]] = defaultdict(list)
    for number, channel in enumerate(channels):
        out[channel.near].append(number)
    return SubnetGraph(
        switches=switches,
        hcas=tuple(hca.name for hca in hcas),
        guids=tuple(switch.guid or 0 for switch in switches),
        channels=tuple(channels),
        out=tuple(tuple(out[number]) for number in range(len(switches))),
        attached=tuple(places[hca.name] for hca in hcas),
    )


def _both_directions(link: SubnetLink, numbers: dict[str, int]) -> tuple[SubnetChannel, SubnetChannel]:
    a, a_port, b, b_port = numbers[link.a], link.a_port or 0, numbers[link.b], link.b_port or 0
    return SubnetChannel(a, a_port, b, b_port), SubnetChannel(b, b_port, a, a_port)


FAR = 255
"""More hops than any path has: opensm's OSM_NO_PATH."""


def minhop(graph: SubnetGraph) -> SubnetRoutes:
    """Return the routes of opensm's engine minhop: shortest paths, distributed over the ports of such paths."""
    return _tables(graph, lambda switch: hops_to(graph, switch))


def dor(graph: SubnetGraph) -> SubnetRoutes:
    """Return the routes of opensm's engine dor: shortest paths, all by the neighbor behind the lowest such port."""
    return _tables(graph, lambda switch: hops_to(graph, switch), one_neighbor=True)


def updn(graph: SubnetGraph, roots: Collection[int]) -> SubnetRoutes:
    """Return the routes of opensm's engine updn with the switches ``roots`` as roots."""
    ranks = ranks_below(graph, roots)
    return _tables(graph, lambda switch: legal_hops_to(graph, switch, ranks))


def hops_to(graph: SubnetGraph, destination: int) -> list[int]:
    """Return for each channel the number of hops by it to a switch, the channel included; ``FAR`` without a path."""
    distance = ranks_below(graph, (destination,))
    return [min(distance[channel.far] + 1, FAR) for channel in graph.channels]


def ranks_below(graph: SubnetGraph, roots: Collection[int]) -> list[int]:
    """Return the number of hops from each switch to the nearest root; ``FAR`` without a path."""
    ranks = [0 if switch in roots else FAR for switch in range(len(graph.switches))]
    waiting = deque(sorted(roots))
    while waiting:
        switch = waiting.popleft()
        for number in graph.out[switch]:
            far = graph.channels[number].far
            if ranks[far] > ranks[switch] + 1:
                ranks[far] = ranks[switch] + 1
                waiting.append(far)
    return ranks


def detected_roots(graph: SubnetGraph) -> frozenset[int]:
    """Return the switches that updn uses as roots without a file of roots: those equally far from almost all HCAs.

    More than nine tenths of all HCAs are at one distance from such a switch, and more than a twentieth at no other.
    """
    hcas = [len(hcas_here) for hcas_here in graph.hcas_by_switch()]
    total, far = sum(hcas), [Counter[int]() for _ in graph.switches]
    for destination in (switch for switch, count in enumerate(hcas) if count):
        hops = hops_to(graph, destination)
        for switch, counts in enumerate(far):
            least = (
                0
                if switch == destination
                else min((hops[number] for number in graph.out[switch]), default=FAR)
            )
            if least < FAR:
                counts[least] += hcas[destination]
    return frozenset(
        switch
        for switch, counts in enumerate(far)
        if any(count > total * 0.9 for count in counts.values())
        and sum(count > total * 0.05 for count in counts.values()) == 1
    )


def upward(graph: SubnetGraph, ranks: Sequence[int]) -> list[bool]:
    """Return for each channel whether it goes up: to a lower rank or, within a rank, to a lower switch GUID.

    Between two roots both directions go up, as in opensm.
    """
    return [
        (ranks[channel.near] == 0 and ranks[channel.far] == 0)
        or (ranks[channel.near], graph.guids[channel.near]) > (ranks[channel.far], graph.guids[channel.far])
        for channel in graph.channels
    ]


def legal_hops_to(graph: SubnetGraph, destination: int, ranks: Sequence[int]) -> list[int]:
    """Return the number of hops by each channel to a switch, along paths that never go up after they went down.

    It is ``FAR`` without such a path. The search begins at the destination and goes against the traffic, as opensm's
    does: the direction of the channel by which a switch was queued applies to all paths through it.
    """
    up, back = upward(graph, ranks), _reverse(graph)
    hops = [FAR] * len(graph.channels)
    least = [FAR] * len(graph.switches)
    least[destination] = 0
    came_up = {destination: True}
    waiting, queued = deque((destination,)), {destination}
    while waiting:
        switch = waiting.popleft()
        queued.discard(switch)
        for number in graph.out[switch]:
            if up[number] and not came_up[switch]:
                continue
            far, against = graph.channels[number].far, back[number]
            if least[switch] + 1 >= hops[against] or far == destination:
                continue
            hops[against] = least[switch] + 1
            least[far] = min(least[far], hops[against])
            if far not in queued:
                came_up[far] = up[number]
                queued.add(far)
                waiting.append(far)
    return hops


def _reverse(graph: SubnetGraph) -> list[int]:
    """Return for each channel the other direction of its link."""
    at = graph.channel_at()
    return [at[channel.far, channel.far_port] for channel in graph.channels]


def _tables(
    graph: SubnetGraph, hops: Callable[[int], list[int]], *, one_neighbor: bool = False
) -> SubnetRoutes:
    hcas = graph.hcas_by_switch()
    tables = [array("i", [NO_PATH]) * len(graph.hcas) for _ in graph.switches]
    carried = [0] * len(graph.channels)
    for destination in _by_load(graph, hcas):
        nearest = hops(destination)
        for switch, table in enumerate(tables):
            if switch == destination:
                for hca in hcas[switch]:
                    table[hca] = HERE
                continue
            choice = _choice(graph, switch, nearest, one_neighbor=one_neighbor)
            for hca in hcas[destination] if choice else ():
                channel = min(choice, key=carried.__getitem__)
                carried[channel] += 1
                table[hca] = channel
    return SubnetRoutes(tuple(tables), range(len(graph.hcas)))


def _by_load(graph: SubnetGraph, hcas: Sequence[Sequence[int]]) -> list[int]:
    """Return the switches with HCAs in the order in which opensm routes to them: most HCAs first, then by GUID.

    opensm stores GUIDs in network byte order and compares them in that of the machine, a little-endian one.
    """
    with_hcas = [switch for switch, hcas_here in enumerate(hcas) if hcas_here]
    return sorted(
        with_hcas, key=lambda switch: (-len(hcas[switch]), graph.guids[switch].to_bytes(8, "little"))
    )


def nearest_channels(
    graph: SubnetGraph, destination: int, hops: Sequence[int], *, one_neighbor: bool = False
) -> list[list[int]]:
    """Return for each switch its channels with the fewest hops to a destination switch, among which opensm chooses.

    ``hops`` has the number of hops by each channel. The destination, and a switch without a path, have no channels.
    """
    return [
        [] if switch == destination else _choice(graph, switch, hops, one_neighbor=one_neighbor)
        for switch in range(len(graph.switches))
    ]


def _choice(graph: SubnetGraph, switch: int, hops: Sequence[int], *, one_neighbor: bool) -> list[int]:
    """Return the channels of a switch with the fewest hops, by port.

    With ``one_neighbor`` only those to the neighbor behind the lowest of these ports are returned.
    """
    out = graph.out[switch]
    least = min((hops[number] for number in out), default=FAR)
    nearest = [number for number in out if hops[number] == least < FAR]
    if one_neighbor and nearest:
        first = graph.channels[nearest[0]].far
        nearest = [number for number in nearest if graph.channels[number].far == first]
    return nearest


HERE = -1
"""Entry of a forwarding table: the HCA is attached to this switch."""
NO_PATH = -2
"""Entry of a forwarding table: the switch has no route to the HCA."""


class SubnetRoutes(NamedTuple):
    """Forwarding tables: ``tables[switch][column]`` is the number of a channel, ``HERE`` or ``NO_PATH``.

    ``owners`` has the HCA of each column of the tables: with LMC an HCA has several addresses and columns. ``lids`` has
    the LID of each column in tables that were read, and is empty for tables that were computed.
    """

    tables: tuple[Sequence[int], ...]
    owners: Sequence[int]
    lids: Sequence[int] = ()


class Lanes(NamedTuple):
    """Functions that return the service level and the virtual lane of a packet.

    ``level`` is the service level of a path, by the sending HCA and the column of the forwarding tables. ``lane`` is
    the VL that a switch assigns: by switch, ingress port, egress port, and service level. ``level`` is called for the
    first HCA of a switch, which stands for all of them.
    """

    level: Callable[[int, int], int]
    lane: Callable[[int, int, int, int], int]


class ChannelHop(NamedTuple):
    """A channel by number and the virtual lane on it; 0 in a cycle found for a single lane."""

    channel: int
    lane: int


def unreachable(graph: SubnetGraph, routes: SubnetRoutes) -> tuple[int, int] | None:
    """Return a switch with HCAs and an HCA that its table has no route to, by number; None without such a pair."""
    for switch, hcas in enumerate(graph.hcas_by_switch()):
        for column, channel in enumerate(routes.tables[switch] if hcas else ()):
            if channel == NO_PATH:
                return switch, routes.owners[column]
    return None


def credit_loop(
    graph: SubnetGraph, routes: SubnetRoutes, lanes: Lanes | None = None
) -> tuple[ChannelHop, ...]:
    """Return a short credit loop, empty without one.

    Without ``lanes``, a single virtual lane is assumed. Routes without a cycle then have none with more lanes either.
    """
    if lanes is None:
        count = 1
        edges = _edges(graph, routes)
    else:
        count = 16
        edges = _edges_by_lane(graph, routes, lanes)
    size = len(graph.channels) * count
    nodes = cycle(from_edges(size, [edge // size for edge in edges], [edge % size for edge in edges]))
    return tuple(ChannelHop(*divmod(node, count)) for node in nodes)


def _edges(graph: SubnetGraph, routes: SubnetRoutes) -> list[int]:
    """Return the waits of a channel for the next one of a path, as sorted numbers ``channel * channels + next``."""
    size, edges = len(graph.channels), set()
    ends = [channel.far for channel in graph.channels]
    senders = [switch for switch, hcas in enumerate(graph.hcas_by_switch()) if hcas]
    for column in range(len(routes.owners)):
        following = [table[column] for table in routes.tables]
        walked = set[int]()
        for sender in senders:
            switch, before = sender, None
            while (channel := following[switch]) >= 0:
                if before is not None:
                    edges.add(before * size + channel)
                if switch in walked:
                    break
                walked.add(switch)
                before, switch = channel, ends[channel]
    return sorted(edges)


def _edges_by_lane(graph: SubnetGraph, routes: SubnetRoutes, lanes: Lanes) -> list[int]:
    edges: set[int] = set()
    senders = [(switch, hcas[0]) for switch, hcas in enumerate(graph.hcas_by_switch()) if hcas]
    for column in _unlike(graph, routes):
        next_channels = [table[column] for table in routes.tables]
        walked: set[tuple[int, int]] = set()
        for switch, hca in senders:
            if next_channels[switch] >= 0:
                start = (switch, graph.attached[hca].port, lanes.level(hca, column))
                edges.update(_waits(graph, next_channels, lanes, start, walked))
    return sorted(edges)


def _waits(
    graph: SubnetGraph,
    next_channels: Sequence[int],
    lanes: Lanes,
    start: tuple[int, int, int],
    walked: set[tuple[int, int]],
) -> Iterator[int]:
    """Yield the waits along one path, as numbers, up to the first channel and VL that a path of its SL has visited."""
    (switch, port, level), size, before = start, len(graph.channels) * 16, None
    while next_channels[switch] >= 0:
        channel = graph.channels[next_channels[switch]]
        node = next_channels[switch] * 16 + lanes.lane(switch, port, channel.port, level)
        if before is not None:
            yield before * size + node
        if (node, level) in walked:
            return
        walked.add((node, level))
        before, switch, port = node, channel.far, channel.far_port


def _unlike(graph: SubnetGraph, routes: SubnetRoutes) -> list[int]:
    """Return one column of the tables for each set of columns that lead to the same switch by the same channels."""
    columns: dict[tuple[int, bytes], int] = {}
    for column, owner in enumerate(routes.owners):
        next_channels = array("i", [table[column] for table in routes.tables]).tobytes()
        columns.setdefault((graph.attached[owner].switch, next_channels), column)
    return list(columns.values())


def hop_texts(graph: SubnetGraph, hops: Sequence[ChannelHop]) -> tuple[str, ...]:
    """Return hops as text: the switch, the port that a packet leaves by, the next switch, and VLs unless all are 0."""
    texts = []
    lanes = any(hop.lane for hop in hops)
    for hop in hops:
        channel = graph.channels[hop.channel]
        near, far = graph.switches[channel.near].name, graph.switches[channel.far].name
        texts.append(f"{near} port {channel.port} -> {far}" + (f" on VL {hop.lane}" if lanes else ""))
    return tuple(texts)


NEEDED_VLS = 2
"""Data VLs below which opensm refuses: ``ERR 4E48: Too few data VLs to support torus routing without credit loops``,
seen from opensm 3.3.23 with max_op_vls 1 on a torus of 5 x 5."""


def torus_routes(
    graph: SubnetGraph, subnet: Subnet, *, halfway: bool = True
) -> tuple[SubnetRoutes, Lanes] | str:
    """Return the torus-2QoS routes and lanes of a declared torus; for any other fabric, the reason as text.

    Without ``halfway``, paths that are equally short in both directions around a ring are left out: opensm divides them
    between the two directions.
    """
    if isinstance(subnet.shape, Unknown) or subnet.shape.kind != "torus":
        return "torus-2QoS routes a torus, and the intent declares none"
    places = [switch.coordinates for switch in graph.switches]
    sides = subnet.shape.sides
    numbers = {place: number for number, place in enumerate(places)}
    steps = _steps(graph, places)
    if len(numbers) < len(places) or any(len(place) != len(sides) for place in places):
        return "the switches have no places in a torus"
    tables = [array("i", [NO_PATH]) * len(graph.hcas) for _ in places]
    for hca, attached in enumerate(graph.attached):
        for switch, table in enumerate(tables):
            table[hca] = _next(places[switch], places[attached.switch], sides, steps[switch], halfway=halfway)
    routes = SubnetRoutes(tuple(tables), range(len(graph.hcas)))
    return routes, Lanes(torus_levels(graph, routes, places), _lane(graph, places))


def _steps(graph: SubnetGraph, places: Sequence[tuple[int, ...]]) -> list[dict[tuple[int, ...], int]]:
    """Return for each switch the channel to each neighbor, by coordinates; its lowest port of several."""
    return [{places[graph.channels[number].far]: number for number in reversed(out)} for out in graph.out]


def _next(
    here: tuple[int, ...],
    there: tuple[int, ...],
    sides: tuple[int, ...],
    steps: dict[tuple[int, ...], int],
    *,
    halfway: bool,
) -> int:
    """Return the channel of the next hop: in the first dimension that differs, the shorter direction around.

    ``HERE`` at the destination; ``NO_PATH`` without a link there or, without ``halfway``, for two equal directions.
    """
    for axis, side in enumerate(sides):
        ahead = (there[axis] - here[axis]) % side
        if ahead * 2 == side > 2 and not halfway:
            return NO_PATH
        if ahead:
            step = 1 if ahead * 2 <= side else -1
            place = (*here[:axis], (here[axis] + step) % side, *here[axis + 1 :])
            return steps.get(place, NO_PATH)
    return HERE


def torus_levels(
    graph: SubnetGraph, routes: SubnetRoutes, places: Sequence[tuple[int, ...]]
) -> Callable[[int, int], int]:
    """Return a function that maps sending HCA and table column to a service level: a bit for each dateline crossed.

    The dateline of a dimension lies between its first and its last coordinate; a side of 2 or less has none.
    """
    sides = [max(axis) + 1 for axis in zip(*places, strict=True)]
    crossing = [
        sum(
            1 << axis
            for axis, side in enumerate(sides)
            if side > 2 and {places[channel.near][axis], places[channel.far][axis]} == {0, side - 1}
        )
        for channel in graph.channels
    ]

    # The rest of a path is that of the switch it comes to: known once for each switch of a column.
    @lru_cache(maxsize=1)
    def known_of(_column: int) -> dict[int, int]:
        return {}

    def level(hca: int, column: int) -> int:
        known, switch = known_of(column), graph.attached[hca].switch
        path: list[tuple[int, int]] = []
        while switch not in known:
            number = routes.tables[switch][column]
            if number < 0 or len(path) > len(routes.tables):
                known[switch] = 0
            else:
                path.append((switch, crossing[number]))
                switch = graph.channels[number].far
        crossed = known[switch]
        for switch, dateline in reversed(path):
            crossed |= dateline
            known[switch] = crossed
        return crossed

    return level


def _lane(graph: SubnetGraph, places: Sequence[tuple[int, ...]]) -> Callable[[int, int, int, int], int]:
    axes = {
        (channel.near, channel.port): next(
            axis
            for axis, (a, b) in enumerate(zip(places[channel.near], places[channel.far], strict=True))
            if a != b
        )
        for channel in graph.channels
    }
    return lambda switch, entering, leaving, level: level >> axes[switch, leaving] & 1  # noqa: ARG005
