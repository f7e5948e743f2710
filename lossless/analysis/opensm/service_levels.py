"""Service levels of paths that a routing engine chooses: computed for torus-2QoS, queried from the manager for others.

All of these depend on the switch that an HCA sends from and on the address. lash keeps a lane for each pair of
switches, nue one for each address. dfsssp moves all paths that share a hop between switches together, and answers each
query with one of several lanes that it has for them, at random: its log shows which belong together.

Source: linux-rdma/opensm opensm/osm_ucast_lash.c @2ef378f (get_lash_sl), opensm/osm_ucast_nue.c @aae42c6 (get_nue_sl),
opensm/osm_ucast_dfsssp.c @d4479ba (dfsssp_remove_deadlocks, get_dfsssp_sl), opensm/osm_torus.c @2f21624.
"""

from __future__ import annotations

import re
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import numpy as np

from lossless.analysis.opensm.dumps import places_in
from lossless.analysis.opensm.walk import SLS
from lossless.analysis.routing.infiniband.torus import torus_levels
from lossless.model.fabric.infiniband.engine_lanes import SECOND_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lossless.analysis.opensm.programmed import Questions
    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.analysis.routing.infiniband.routes import SubnetRoutes

_AFTER_BALANCING = re.compile(
    r"Approx\. #paths per VL \(after balancing\):\n((?:.* dfsssp_remove_deadlocks: +\d+\. lane: \d+\n)+)"
)
_NEEDED = re.compile(r"dfsssp_remove_deadlocks: Virtual Lanes needed: (\d+)")
_PATHS = re.compile(r"lane: (\d+)")


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
    """Return the levels that a manager answers, as bits, by switch and address; None where an answer is missing."""
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
    """Return the paths, by switch and address, that have one service level; none within a switch."""
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
