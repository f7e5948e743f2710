"""All paths of forwarding tables at once, hop by hop: dependencies between channels by lane, and lanes at each port.

A path is a switch that HCAs send from, the address it leads to and a service level. Paths that are identical from some
hop on are followed once. A million of them take about a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.routing.infiniband.routes import HERE, ChannelHop
from lossless.ground.basics.records import NamedTuple
from lossless.ground.graphs.cycles import cycle
from lossless.ground.graphs.graph import from_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.analysis.routing.infiniband.routes import SubnetRoutes

    Numbers = NDArray[np.int64]

SLS = VLS = 16
DROPPED = 15
"""The VL of an SL2VL table that drops a packet; VL 15 itself carries management alone: opensm(8)."""
LONGEST = 64
"""Hops after which a path is a forwarding loop.

Source: linux-rdma/opensm include/iba/ib_types.h @fa74b98 (IB_SUBNET_PATH_HOPS_MAX).
"""


class Walk(NamedTuple):
    """The results of following all paths: dependencies, lanes in use, discarded service levels.

    ``waits`` are edges ``tail * nodes + head``, a node being ``channel * 16 + lane``. ``sent`` is whether a path leaves
    by a switch, port and lane. ``dropped`` are service levels that some port discards. ``lost`` has a switch and an
    address: from there no path leads to it.
    """

    waits: Numbers
    sent: NDArray[np.bool_]
    dropped: tuple[int, ...]
    lost: tuple[int, int] | None


class _Paths(NamedTuple):
    """Paths under way, by index: the switch of each, the channel it waits in (-1 at first), its address, its level."""

    switch: Numbers
    entering: Numbers
    before: Numbers
    column: Numbers
    level: Numbers


def every_level(graph: SubnetGraph, routes: SubnetRoutes, levels: int = 0xFFFF) -> NDArray[np.uint16]:
    """Return the same service levels, as bits, for every switch that sends and every address."""
    return np.full((len(graph.switches), len(routes.owners)), levels, np.uint16)


def one_lane(graph: SubnetGraph) -> NDArray[np.uint8]:
    """Return SL2VL tables that put everything on VL 0: those of a subnet without QoS."""
    ports = max(switch.ports for switch in graph.switches) + 1
    return np.zeros((len(graph.switches), ports, ports, SLS), np.uint8)


def walk(
    graph: SubnetGraph, routes: SubnetRoutes, lanes: NDArray[np.uint8], levels: NDArray[np.uint16]
) -> Walk:
    """Follow every path to its end. ``levels`` has bits of service levels by switch that sends and address."""
    tables = np.stack([np.asarray(table, np.int64) for table in routes.tables])
    out_port, far, far_port = (
        np.array([*(getattr(channel, name) for channel in graph.channels), 0], np.int64)
        for name in ("port", "far", "far_port")
    )
    host_port = np.array([graph.attached[owner].port for owner in routes.owners], np.int64)
    of_level = _level_groups(lanes)
    paths = _starts(graph, lanes, levels, of_level)
    columns, nodes = len(routes.owners), len(graph.channels) * VLS
    sent = np.zeros((*lanes.shape[:2], VLS), np.bool_)
    waits, dropped, lost = [np.empty(0, np.int64)], set[int](), None
    for _ in range(LONGEST):
        channel = tables[paths.switch, paths.column]
        ends, nowhere = channel == HERE, channel < HERE
        if lost is None and nowhere.any():
            lost = _first(paths, nowhere)
        port = np.where(ends, host_port[paths.column], out_port[channel])
        lane = lanes[paths.switch, paths.entering, port, paths.level].astype(np.int64)
        thrown = (lane == DROPPED) & ~nowhere
        dropped |= set(np.unique(paths.level[thrown]).tolist())
        kept = ~thrown & ~nowhere
        sent[paths.switch[kept], port[kept], lane[kept]] = True
        on = kept & ~ends
        node, before = channel[on] * VLS + lane[on], paths.before[on]
        waits.append(np.unique(before[before >= 0] * nodes + node[before >= 0]))
        identical = np.unique((node * columns + paths.column[on]) * SLS + paths.level[on])
        if not len(identical):
            break
        place, level = np.divmod(identical, SLS)
        node, column = np.divmod(place, columns)
        paths = _Paths(far[node // VLS], far_port[node // VLS], node, column, level)
    else:
        lost = lost or _first(paths, np.ones(len(paths.switch), np.bool_))
    every = tuple(level for level in range(SLS) if of_level[level] in dropped)
    return Walk(np.unique(np.concatenate(waits)), sent, every, lost)


def _first(paths: _Paths, which: NDArray[np.bool_]) -> tuple[int, int]:
    place = int(np.argmax(which))
    return int(paths.switch[place]), int(paths.column[place])


def _level_groups(lanes: NDArray[np.uint8]) -> Any:
    """Return for each service level the lowest one that has the same lane everywhere."""
    flat = lanes.reshape(-1, SLS)
    return [
        next(low for low in range(level + 1) if np.array_equal(flat[:, low], flat[:, level]))
        for level in range(SLS)
    ]


def _starts(
    graph: SubnetGraph, lanes: NDArray[np.uint8], levels: NDArray[np.uint16], of_level: list[int]
) -> _Paths:
    """Return the first hop of every path; one port of those of a switch whose SL2VL tables are the same."""
    ports = {
        (place.switch, lanes[place.switch, place.port].tobytes()): place.port for place in graph.attached
    }
    switch = np.array([number for number, _ in ports], np.int64)
    entering = np.array(list(ports.values()), np.int64)
    groups = []
    for level in sorted(set(of_level)):
        bits = sum(1 << one for one in range(SLS) if of_level[one] == level)
        row, column = np.nonzero(levels[switch] & bits)
        groups.append((switch[row], entering[row], column, np.full(len(row), level, np.int64)))
    places, entered, to, of = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return _Paths(places, entered, np.full(len(places), -1, np.int64), to, of)


def loop_of(graph: SubnetGraph, walked: Walk) -> tuple[ChannelHop, ...]:
    """Return a shortest credit loop, empty if there is none."""
    nodes = len(graph.channels) * VLS
    tails, heads = np.divmod(walked.waits, nodes)
    nodes_around = cycle(from_edges(nodes, tails.tolist(), heads.tolist()))
    return tuple(ChannelHop(*divmod(node, VLS)) for node in nodes_around)
