"""Routes of a subnet, and the channel dependency graph along them.

A packet that occupies buffer space of one channel waits for credits of the next. Where such waits close a cycle, all
packets in it can wait permanently: a credit loop (W. Dally and C. Seitz, IEEE Trans. Computers C-36(5), 1987). A cycle
must run over channels of one virtual lane each, so routes that cross from lane to lane may have none.

Paths between HCAs count. Those to and from the management ports of switches carry few small packets, and are left out.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.cycles import cycle
from lossless.ground.graphs.graph import from_edges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.routing.infiniband.channels import SubnetGraph

HERE = -1
"""Entry of a table: the HCA is attached to this switch."""
NO_PATH = -2
"""Entry of a table: the switch has no route to it."""


class SubnetRoutes(NamedTuple):
    """Forwarding tables: ``tables[switch][hca]`` is the number of the channel, or one of the entries above.

    With LMC an HCA has several addresses; ``owners`` then has the HCA of each column of the tables. ``lids`` are those
    of the columns in tables that were read; none in tables that were computed.
    """

    tables: tuple[Sequence[int], ...]
    owners: Sequence[int]
    lids: Sequence[int] = ()


class Lanes(NamedTuple):
    """The virtual lanes of packets.

    ``level`` is the service level of a path, by the sending HCA and the column of the tables. ``lane`` is the lane that
    a switch assigns: by switch, the port it came in by, the port it leaves by, and service level. The first HCA of a
    switch stands for all of them.
    """

    level: Callable[[int, int], int]
    lane: Callable[[int, int, int, int], int]


class ChannelHop(NamedTuple):
    """A channel and the virtual lane on it; 0 where lanes do not matter."""

    channel: int
    lane: int


def unreachable(graph: SubnetGraph, routes: SubnetRoutes) -> tuple[int, int] | None:
    """Return a switch with HCAs and an HCA without a path from it, None where all paths exist."""
    for switch, hcas in enumerate(graph.hcas_by_switch()):
        for column, channel in enumerate(routes.tables[switch] if hcas else ()):
            if channel == NO_PATH:
                return switch, routes.owners[column]
    return None


def credit_loop(
    graph: SubnetGraph, routes: SubnetRoutes, lanes: Lanes | None = None
) -> tuple[ChannelHop, ...]:
    """Return a shortest credit loop, empty without one.

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
    """Return waits as numbers, ``channel * channels + next``, each once."""
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
    """Yield the waits along one path, up to the first channel that another path of its level has visited."""
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
    """Return one column of those that lead to one switch by the same paths."""
    columns: dict[tuple[int, bytes], int] = {}
    for column, owner in enumerate(routes.owners):
        next_channels = array("i", [table[column] for table in routes.tables]).tobytes()
        columns.setdefault((graph.attached[owner].switch, next_channels), column)
    return list(columns.values())


def hop_texts(graph: SubnetGraph, hops: Sequence[ChannelHop]) -> tuple[str, ...]:
    """Return hops as text: the switch, the port that a packet leaves by, and the next switch."""
    texts = []
    lanes = any(hop.lane for hop in hops)
    for hop in hops:
        channel = graph.channels[hop.channel]
        near, far = graph.switches[channel.near].name, graph.switches[channel.far].name
        texts.append(f"{near} port {channel.port} -> {far}" + (f" on VL {hop.lane}" if lanes else ""))
    return tuple(texts)
