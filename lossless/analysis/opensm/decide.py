"""Verdicts on the tables of a running subnet: credit loops by lane, lanes without weight, partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lossless.analysis.opensm.dumps import hca_lanes_in, lanes_in, routes_in
from lossless.analysis.opensm.programmed import (
    Sender,
    partition_complaints,
    questions_to,
    weight_complaints,
)
from lossless.analysis.opensm.service_levels import asked_path_levels, torus_path_levels
from lossless.analysis.opensm.walk import DROPPED, SLS, every_level, loop_of, one_lane, walk
from lossless.analysis.routing.infiniband.credit_loops import OWN_LEVELS, CreditLoopVerdict
from lossless.analysis.routing.infiniband.routes import hop_texts
from lossless.ground.basics.known import Unknown
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import joined
from lossless.model.fabric.infiniband.engine_lanes import TORUS_ENGINE
from lossless.model.fabric.infiniband.qos_options import job_level, levels_in_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lossless.analysis.opensm.programmed import Questions
    from lossless.analysis.opensm.run import LiveSubnet
    from lossless.analysis.opensm.walk import Walk
    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.analysis.routing.infiniband.routes import SubnetRoutes
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
    """The verdict on credit loops, and other differences from the intent in words."""

    credits: CreditLoopVerdict
    complaints: tuple[str, ...]


def decide(up: LiveSubnet, subnet: Subnet, graph: SubnetGraph, engine: str, vls: int, seat: str) -> Decision:
    """Return the verdict on a running subnet; ``seat`` is the HCA or switch of its manager."""
    asking = questions_to(up, _guid_of(subnet, seat))
    routed = _routed(asking, subnet, graph, engine, vls)
    return Decision(
        credit_verdict(routed),
        (*_path_complaints(routed, asking), *partition_complaints(subnet, asking)),
    )


def credit_verdict(routed: Routed) -> CreditLoopVerdict:
    """Return whether paths have a credit loop, every path on every service level that it may have."""
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


def _routed(asking: Questions, subnet: Subnet, graph: SubnetGraph, engine: str, vls: int) -> Routed:
    text = asking.up.text
    routes, tables = routes_in(text("opensm-lfts.dump"), graph, subnet), text("opensm-sl2vl.dump")
    levels: NDArray[np.uint16] | None = every_level(graph, routes)
    if engine == TORUS_ENGINE:
        levels = torus_path_levels(graph, routes, text("opensm-torus.dump"), levels_in_use(subnet))
    elif engine in OWN_LEVELS:
        levels = asked_path_levels(asking, graph, routes, engine, text("opensm.log"))
    lanes, hca_lanes = lanes_in(tables, graph, vls), hca_lanes_in(tables, subnet, vls)
    return Routed(subnet, graph, routes, lanes, hca_lanes, levels, engine)


def _guid_of(subnet: Subnet, name: str) -> int:
    named = (() if isinstance(nodes, Unknown) else nodes for nodes in (subnet.hcas, subnet.switches))
    return next((node.guid or 0 for nodes in named for node in nodes if node.name == name), 0)


def _path_complaints(routed: Routed, asking: Questions) -> Iterator[str]:
    """Yield problems of the lanes of service levels that are meant to be used."""
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
    """Yield a credit loop of paths that jobs take on one level where the engine chooses the level of each path."""
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
