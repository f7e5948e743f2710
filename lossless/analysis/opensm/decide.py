"""Verdicts on the tables of a running subnet: credit loops by lane, lanes without weight, partitions.

The tables come from dumps of opensm beside its log: forwarding tables, SL to VL tables, and the coordinates that
torus-2QoS found. Forms: linux-rdma/opensm, opensm/osm_dump.c @b3bb0ab (dump_ucast_lfts, dump_sl2vl_tbl),
opensm/osm_torus.c @9b50961.

Service levels of paths that a routing engine chooses are computed for torus-2QoS, and queried from the manager for
others. All of these depend on the switch that an HCA sends from and on the address. lash keeps a lane for each pair
of switches, nue one for each address. dfsssp moves all paths that share a hop between switches together, and answers
each query with one of several lanes that it has for them, at random: its log shows which belong together.

Source: linux-rdma/opensm opensm/osm_ucast_lash.c @2ef378f (get_lash_sl), opensm/osm_ucast_nue.c @aae42c6 (get_nue_sl),
opensm/osm_ucast_dfsssp.c @d4479ba (dfsssp_remove_deadlocks, get_dfsssp_sl), opensm/osm_torus.c @2f21624.

All paths of the forwarding tables are followed at once, hop by hop, for the dependencies between channels by lane,
and the lanes at each port. A path is a switch that HCAs send from, the address it leads to and a service level. Paths
that are identical from some hop on are followed once. A million of them take about a second.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.opensm.programmed import Sender, partition_complaints, questions_to, weight_complaints
from lossless.analysis.routing.infiniband.credit_loops import OWN_LEVELS, CreditLoopVerdict
from lossless.analysis.routing.infiniband.engines import (
    HERE,
    NO_PATH,
    ChannelHop,
    SubnetRoutes,
    hop_texts,
    torus_levels,
)
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.basics.units import joined
from lossless.ground.graphs.cycles import cycle, from_edges
from lossless.model.fabric.infiniband.derived_policy import SECOND_LEVEL, TORUS_ENGINE, with_derived_guids
from lossless.model.fabric.infiniband.subnet import job_level, levels_in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lossless.analysis.opensm.programmed import Questions
    from lossless.analysis.opensm.run import LiveSubnet
    from lossless.analysis.routing.infiniband.engines import SubnetGraph
    from lossless.model.fabric.infiniband.subnet import Subnet


class Routed(NamedTuple):
    """A subnet as an engine has routed it: tables, lanes, and the service levels of each path as bits.

    ``levels`` has all levels if the engine lets paths use the one they request; None if the engine chooses, and its
    choice is unknown.
    """

    subnet: Subnet
    graph: SubnetGraph
    routes: SubnetRoutes
    lanes: NDArray[np.uint8]
    hca_lanes: dict[int, list[int]]
    levels: NDArray[np.uint16] | None
    engine: str


class Decision(NamedTuple):
    """The verdict on credit loops of a running subnet, and complaints in words.

    These are loops that jobs close on one SL, SLs that switches drop, VLs without weight, P_Keys unlike the intent, and
    tables that could not be read.
    """

    credits: CreditLoopVerdict
    complaints: tuple[str, ...]


def decide(up: LiveSubnet, subnet: Subnet, graph: SubnetGraph, engine: str, vls: int, seat: str) -> Decision:
    """Return the verdict on the tables of a running subnet; ``seat`` is the HCA or switch of its manager."""
    asking = questions_to(up, _guid_of(subnet, seat))
    text = asking.up.text
    routes, tables = routes_in(text("opensm-lfts.dump"), graph, subnet), text("opensm-sl2vl.dump")
    levels: NDArray[np.uint16] | None = every_level(graph, routes)
    if engine == TORUS_ENGINE:
        levels = torus_path_levels(graph, routes, text("opensm-torus.dump"), levels_in_use(subnet))
    elif engine in OWN_LEVELS:
        levels = asked_path_levels(asking, graph, routes, engine, text("opensm.log"))
    lanes, hca_lanes = lanes_in(tables, graph, vls), hca_lanes_in(tables, subnet, vls)
    routed = Routed(subnet, graph, routes, lanes, hca_lanes, levels, engine)
    return Decision(
        credit_verdict(routed),
        (*_path_complaints(routed, asking), *partition_complaints(subnet, asking)),
    )


def credit_verdict(routed: Routed) -> CreditLoopVerdict:
    """Return the credit-loop verdict on the tables, with every path on every service level that it may have."""
    graph, routes, engine = routed.graph, routed.routes, routed.engine
    how = f"the tables that opensm's {engine} wrote, {_paths(routed):,} paths"
    together = walk(graph, routes, one_lane(graph), every_level(graph, routes, 1))
    if together.lost is not None:
        switch, column = together.lost
        name, hca = graph.switches[switch].name, graph.hcas[routes.owners[column]]
        return CreditLoopVerdict("unproven", engine, f"{how}: {name} has no path to {hca}")
    if not loop_of(graph, together):
        return CreditLoopVerdict("free", engine, f"{how}; no credit loop even on one VL")
    if routed.levels is None:
        return CreditLoopVerdict("unproven", engine, f"{how}; opensm did not say which VL each path uses")
    loop = loop_of(graph, walk(graph, routes, routed.lanes, routed.levels))
    if loop:
        return CreditLoopVerdict("loop", engine, f"{how}, with the VLs of each", hop_texts(graph, loop))
    return CreditLoopVerdict("free", engine, f"{how}; its VLs break every credit loop")


def _paths(routed: Routed) -> int:
    return (len(routed.graph.hcas) - 1) * len(routed.routes.owners)


def _guid_of(subnet: Subnet, name: str) -> int:
    named = (() if isinstance(nodes, Unknown) else nodes for nodes in (subnet.hcas, subnet.switches))
    return next((node.guid or 0 for nodes in named for node in nodes if node.name == name), 0)


def _path_complaints(routed: Routed, asking: Questions) -> Iterator[str]:
    """Yield credit loops of job traffic, SLs that switches drop, and lanes in use without an arbitration weight.

    The latter two are looked for with QoS on, where the levels of paths are known.
    """
    yield from _job_complaints(routed)
    if not routed.subnet.qos.on or routed.levels is None:
        return
    used, levels = levels_in_use(routed.subnet) or {0: []}, routed.levels
    if routed.engine not in OWN_LEVELS:
        levels = every_level(routed.graph, routed.routes, sum(1 << sl for sl in used))
    walked = walk(routed.graph, routed.routes, routed.lanes, levels)
    if thrown := sorted({*walked.dropped} & {sl for sl in range(SLS) if np.any(levels >> sl & 1)}):
        yield f"packets of SL {joined(map(str, thrown))} are thrown away by switches: their VL is {DROPPED}"
    yield from weight_complaints([*_switch_ports(routed, walked), *_hca_ports(routed, levels)], asking)


def _job_complaints(routed: Routed) -> Iterator[str]:
    """Yield a credit loop that jobs close by sending on one SL, where the engine would choose the SL of each path."""
    graph, routes, level = routed.graph, routed.routes, job_level(routed.subnet)
    if level is None or routed.engine not in OWN_LEVELS:
        return
    walked = walk(graph, routes, routed.lanes, every_level(graph, routes, 1 << level))
    if loop := hop_texts(graph, loop_of(graph, walked)):
        yield f"jobs send on SL {level} alone, which is a credit loop of {len(loop)} hops: {'; '.join(loop)}"


def _switch_ports(routed: Routed, walked: Walk) -> Iterator[Sender]:
    for number, port in np.argwhere(walked.sent.any(axis=2)).tolist():
        lanes = frozenset(np.flatnonzero(walked.sent[number, port]).tolist())
        name = f"{routed.graph.switches[number].name} port {port}"
        yield Sender("switches", routed.graph.guids[number], port, name, lanes)


def _hca_ports(routed: Routed, levels: NDArray[np.uint16]) -> Iterator[Sender]:
    hcas = () if isinstance(routed.subnet.hcas, Unknown) else routed.subnet.hcas
    of_switch = np.bitwise_or.reduce(levels, axis=1)
    for number, hca in enumerate(hcas):
        bits = int(of_switch[routed.graph.attached[number].switch])
        row = routed.hca_lanes.get(number, [0] * SLS)
        lanes = frozenset(row[sl] for sl in range(SLS) if bits >> sl & 1) - {DROPPED}
        yield Sender("HCAs", hca.guid or 0, 1, hca.name, lanes)


_SWITCH = re.compile(r"^Unicast lids \[0-[0-9]+\] of switch Lid [0-9]+ guid 0x([0-9a-f]+)", re.MULTILINE)
_ENTRY = re.compile(r"^0x([0-9a-f]{4}) ([0-9]{3}) # Channel Adapter portguid 0x([0-9a-f]+)", re.MULTILINE)
_OF_SWITCH, _OF_HCA = (
    re.compile(rf"^(?:{kind} 0x([0-9a-f]+), base LID|[^[0-9]#\n]).*$", re.MULTILINE)
    for kind in ("Switch", "Channel Adapter")
)
_LANES = re.compile(r"^[0-9].*$", re.MULTILINE)
_ALL_VLS = 15
_PLACE = re.compile(r"switch ([0-9]+),([0-9]+),([0-9]+) GUID 0x([0-9a-f]+)")


def routes_in(text: str, graph: SubnetGraph, subnet: Subnet) -> SubnetRoutes:
    """Return the routes between HCAs in ``opensm-lfts.dump``; addresses in ascending order."""
    owners = _hcas_by_guid(subnet)
    ports_of: dict[int, dict[str, str]] = {}
    columns: dict[str, int] = {}
    for guid, block in _blocks(text, _SWITCH):
        entries = _ENTRY.findall(block)
        ports_of[guid] = {address: port for address, port, _ in entries}
        columns |= {
            address: owners[int(owner, 16)] for address, _, owner in entries if address not in columns
        }
    addresses = sorted(columns)
    columns_at: list[list[int]] = [[] for _ in graph.switches]
    for column, address in enumerate(addresses):
        columns_at[graph.attached[columns[address]].switch].append(column)
    leads = [{f"{graph.channels[channel].port:03d}": channel for channel in out} for out in graph.out]
    tables = []
    for number, guid in enumerate(graph.guids):
        port_to = ports_of.get(guid, {})
        ports = [port_to.get(address, "") for address in addresses]
        tables.append(array("i", [leads[number].get(port, NO_PATH) for port in ports]))
        for column in columns_at[number]:
            if ports[column] == f"{graph.attached[columns[addresses[column]]].port:03d}":
                tables[-1][column] = HERE
    lids = [int(address, 16) for address in addresses]
    return SubnetRoutes(tuple(tables), [columns[address] for address in addresses], lids)


def _blocks(text: str, head: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the GUID in each match of ``head`` and the text below it; matches without a GUID are left out."""
    heads = list(head.finditer(text))
    ends = [*(following.start() for following in heads[1:]), len(text)]
    for match, end in zip(heads, ends, strict=False):
        if match[1] is not None:
            yield int(match[1], 16), text[match.end() : end]


def _hcas_by_guid(subnet: Subnet) -> dict[int, int]:
    hcas = with_derived_guids(subnet).hcas
    return {} if isinstance(hcas, Unknown) else {hca.guid or 0: number for number, hca in enumerate(hcas)}


def lanes_in(text: str, graph: SubnetGraph, vls: int) -> NDArray[np.uint8]:
    """Return the virtual lane by switch, port in, port out and service level, from ``opensm-sl2vl.dump``.

    ``vls`` is how many lanes are operational. opensm folds lanes beyond them onto those below, on HCAs at once, on
    switches with the heavy sweep after the first, in which the dump is made (opensm 3.3.23, run).
    """
    numbers, lanes = {guid: number for number, guid in enumerate(graph.guids)}, one_lane(graph)
    # Without QoS nothing is written, and every level is on VL 0.
    for guid, rows in _lane_rows(text, _OF_SWITCH):
        if guid in numbers:
            lanes[numbers[guid], rows[:, 0], rows[:, 1]] = _folded(rows[:, 2:], vls)
    return lanes


def hca_lanes_in(text: str, subnet: Subnet, vls: int) -> dict[int, list[int]]:
    """Return the virtual lane by HCA and service level at the ports of HCAs, from ``opensm-sl2vl.dump``."""
    owners = _hcas_by_guid(subnet)
    rows_by_guid = _lane_rows(text, _OF_HCA)
    return {owners[guid]: _folded(rows[0, 2:], vls).tolist() for guid, rows in rows_by_guid if guid in owners}


def _lane_rows(text: str, head: re.Pattern[str]) -> Iterator[tuple[int, Numbers]]:
    """Yield the GUID of each port or switch with its rows: port in, port out and the lane of each service level."""
    for guid, block in _blocks(text, head):
        words = " ".join(_LANES.findall(block)).replace(":", " ")
        rows = np.array(words.split(), np.int64).reshape(-1, 2 + SLS)
        if len(rows):
            yield guid, rows


def _folded(lanes: Numbers, vls: int) -> Numbers:
    return lanes if vls == _ALL_VLS else np.where(lanes == DROPPED, DROPPED, lanes % vls)


def places_in(text: str, graph: SubnetGraph) -> list[tuple[int, ...]] | None:
    """Return the coordinates of each switch in ``opensm-torus.dump``, None if a switch has none."""
    place_of = {int(match[4], 16): tuple(map(int, match.groups()[:3])) for match in _PLACE.finditer(text)}
    places = [place_of.get(guid) for guid in graph.guids]
    found_places = [place for place in places if place is not None]
    return found_places if len(found_places) == len(places) else None


_AFTER_BALANCING = re.compile(
    r"Approx\. #paths per VL \(after balancing\):\n((?:.* dfsssp_remove_deadlocks: +[0-9]+\. lane: [0-9]+\n)+)"
)
_NEEDED = re.compile(r"dfsssp_remove_deadlocks: Virtual Lanes needed: ([0-9]+)")
_PATHS = re.compile(r"lane: ([0-9]+)")


def torus_path_levels(
    graph: SubnetGraph, routes: SubnetRoutes, dump: str, asked: Iterable[int]
) -> NDArray[np.uint16] | None:
    """Return the levels of torus-2QoS as bits, by switch and address; None if it did not place every switch.

    Three bits encode the datelines that a path crosses; ``asked`` are requested levels, of which the fourth bit stays.
    """
    places = places_in(dump, graph)
    if places is None:
        return None
    level, seconds = torus_levels(graph, routes, places), {sl & SECOND_LEVEL for sl in asked} or {0}
    levels = np.zeros((len(graph.switches), len(routes.owners)), np.uint16)
    # By address first: the datelines of one are remembered.
    for column in range(len(routes.owners)):
        for switch, hcas in enumerate(graph.hcas_by_switch()):
            for hca in hcas[:1]:
                levels[switch, column] = sum(1 << (level(hca, column) | second) for second in seconds)
    return levels


def asked_path_levels(
    questions: Questions, graph: SubnetGraph, routes: SubnetRoutes, engine: str, log: str
) -> NDArray[np.uint16] | None:
    """Return the SLs that the subnet manager answers, as bits, by switch and address; None if one is unknown.

    dfsssp answers one of several SLs at random: all of these are returned.
    """
    together = _lanes_together(log) if engine == "dfsssp" else [1 << lane for lane in range(SLS)]
    identical = _identical(graph, routes, engine)
    lid_of = dict(zip(routes.owners[::-1], routes.lids[::-1], strict=True))
    sources = [lid_of.get(hcas[0], 0) if hcas else 0 for hcas in graph.hcas_by_switch()]
    answers = questions.path_levels(
        [(sources[switch], routes.lids[column]) for (switch, column), *_ in identical]
    )
    if together is None or answers is None:
        return None
    levels = np.zeros((len(graph.switches), len(routes.owners)), np.uint16)
    for paths, sl in zip(identical, answers, strict=True):
        for switch, column in paths:
            levels[switch, column] = together[sl]
    return levels


def _identical(graph: SubnetGraph, routes: SubnetRoutes, engine: str) -> list[list[tuple[int, int]]]:
    """Return groups of paths (switch, address) that have the same SL in each; paths within a switch are left out."""
    senders = [switch for switch, hcas in enumerate(graph.hcas_by_switch()) if hcas]
    identical: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for column, owner in enumerate(routes.owners):
        there = graph.attached[owner].switch
        for switch in senders:
            if switch != there:
                key = (-1 if engine == "nue" else switch, there if engine == "lash" else column)
                identical.setdefault(key, []).append((switch, column))
    return list(identical.values())


def _lanes_together(log: str) -> list[int] | None:
    """Return for each lane, as bits, those among which dfsssp chooses at random; None if its log does not show them.

    Its log has the number of paths on each lane: lanes that belong together are adjacent and have equal numbers.
    """
    tables, needed = _AFTER_BALANCING.findall(log), _NEEDED.findall(log)
    counts = _PATHS.findall(tables[-1]) if tables else []
    sizes = [len(list(group)) for _, group in groupby(counts)]
    if not needed or len(sizes) != min(int(needed[-1]), len(counts)):
        return None
    ends = list(accumulate(sizes))
    groups = [
        sum(1 << lane for lane in range(end - size, end)) for size, end in zip(sizes, ends, strict=True)
    ]
    beyond = [1 << lane for lane in range(len(counts), SLS)]
    return [bits for bits, size in zip(groups, sizes, strict=True) for _ in range(size)] + beyond


if TYPE_CHECKING:
    Numbers = NDArray[np.int64]

SLS = VLS = 16
DROPPED = 15
"""The VL of an SL2VL table that drops a packet; VL 15 itself carries management alone: opensm(8)."""
LONGEST = 64
"""The number of hops after which a path counts as a forwarding loop.

Source: linux-rdma/opensm include/iba/ib_types.h @fa74b98 (IB_SUBNET_PATH_HOPS_MAX).
"""


class Walk(NamedTuple):
    """The results of following all paths: dependencies, lanes in use, discarded service levels.

    ``waits`` are edges ``tail * nodes + head``, a node being ``channel * 16 + lane``. ``sent`` is whether a path leaves
    by a switch, port and lane. ``dropped`` are the SLs whose packets a switch on a path discards, and unused SLs
    on the same lanes. ``lost`` has a switch and the table column of an address that has no route from it, or that a
    loop never reaches.
    """

    waits: Numbers
    sent: NDArray[np.bool_]
    dropped: tuple[int, ...]
    lost: tuple[int, int] | None


class _Paths(NamedTuple):
    """Paths under way, by index: the switch of each, its ingress port, its address and its level.

    ``before`` is the channel and lane that it waits in, as a node of :class:`Walk`; -1 at first.
    """

    switch: Numbers
    entering: Numbers
    before: Numbers
    column: Numbers
    level: Numbers


def every_level(graph: SubnetGraph, routes: SubnetRoutes, levels: int = 0xFFFF) -> NDArray[np.uint16]:
    """Return the same service levels, as bits, for every switch and every address."""
    return np.full((len(graph.switches), len(routes.owners)), levels, np.uint16)


def one_lane(graph: SubnetGraph) -> NDArray[np.uint8]:
    """Return SL2VL tables that put every SL on VL 0: those of a subnet without QoS."""
    ports = max(switch.ports for switch in graph.switches) + 1
    return np.zeros((len(graph.switches), ports, ports, SLS), np.uint8)


def walk(
    graph: SubnetGraph, routes: SubnetRoutes, lanes: NDArray[np.uint8], levels: NDArray[np.uint16]
) -> Walk:
    """Return the results of following all paths; ``levels`` has bits of SLs by sending switch and address."""
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
    """Return for each service level the lowest one that has the same lane in every SL2VL table."""
    flat = lanes.reshape(-1, SLS)
    return [
        next(low for low in range(level + 1) if np.array_equal(flat[:, low], flat[:, level]))
        for level in range(SLS)
    ]


def _starts(
    graph: SubnetGraph, lanes: NDArray[np.uint8], levels: NDArray[np.uint16], of_level: list[int]
) -> _Paths:
    """Return the start of every path: of a switch's HCA ports with the same SL2VL table one stands for all."""
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
    """Return a short credit loop among the waits of a walk, empty if there is none."""
    nodes = len(graph.channels) * VLS
    tails, heads = np.divmod(walked.waits, nodes)
    nodes_around = cycle(from_edges(nodes, tails.tolist(), heads.tolist()))
    return tuple(ChannelHop(*divmod(node, VLS)) for node in nodes_around)
