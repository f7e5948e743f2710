"""All paths at once are what a packet does that is followed alone: on made-up tables, lanes and service levels."""

from __future__ import annotations

from array import array
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings, strategies as st

from lossless.analysis.opensm.decide import DROPPED, SLS, every_level, loop_of, one_lane, walk
from lossless.analysis.routing.infiniband.engines import (
    HERE,
    NO_PATH,
    SubnetGraph,
    SubnetRoutes,
    credit_loop,
    dor,
    minhop,
    subnet_graph,
)
from tests.subnets import dragonfly, fat_tree, torus

if TYPE_CHECKING:
    from numpy.typing import NDArray


def graph_of(name: str) -> SubnetGraph:
    made = {"ring": torus((5,), 2), "torus": torus((3, 4), 1), "tree": fat_tree(3, 2, 2)}
    graph = subnet_graph(made[name])
    assert not isinstance(graph, str)
    return graph


class Followed:
    """What packets do, one path after another, hop by hop."""

    def __init__(
        self,
        graph: SubnetGraph,
        routes: SubnetRoutes,
        lanes: NDArray[np.uint8],
        levels: NDArray[np.uint16],
    ) -> None:
        self.waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self.sent: set[tuple[int, int, int]] = set()
        self.dropped: set[int] = set()
        self.lost = False
        for source in graph.attached:
            for column, owner in enumerate(routes.owners):
                for level in range(SLS):
                    if levels[source.switch, column] >> level & 1:
                        switch, entering, before, hops = source.switch, source.port, None, 0
                        while True:
                            following = routes.tables[switch][column]
                            if following == NO_PATH or hops > 64:
                                self.lost = True
                                break
                            here = following == HERE
                            leaving = graph.attached[owner].port if here else graph.channels[following].port
                            lane = int(lanes[switch, entering, leaving, level])
                            if lane == DROPPED:
                                self.dropped.add(level)
                                break
                            self.sent.add((switch, leaving, lane))
                            if here:
                                break
                            node = (following, lane)
                            if before is not None:
                                self.waits.setdefault(before, set()).add(node)
                            before, hops = node, hops + 1
                            switch, entering = (
                                graph.channels[following].far,
                                graph.channels[following].far_port,
                            )

    @property
    def loops(self) -> bool:
        try:
            TopologicalSorter(self.waits).prepare()
        except CycleError:
            return True
        return False


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["ring", "torus", "tree"]), st.randoms(use_true_random=False), st.booleans())
def test_all_paths_at_once_wait_send_and_drop_as_packets_followed_alone(
    name: str, random: object, cut: bool
) -> None:
    graph, generator = graph_of(name), np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    tables = [array("i", table) for table in minhop(graph).tables]
    # Some entries lead elsewhere: paths then loop, or take other routes.
    for _ in range(int(generator.integers(0, 6))):
        switch, column = int(generator.integers(len(tables))), int(generator.integers(len(graph.hcas)))
        if tables[switch][column] != HERE:
            tables[switch][column] = NO_PATH if cut else int(generator.choice(graph.out[switch]))
    routes = SubnetRoutes(tuple(tables), range(len(graph.hcas)))
    lanes = generator.choice(
        np.array([0, 1, 2, DROPPED], np.uint8), one_lane(graph).shape, p=[0.4, 0.3, 0.29, 0.01]
    )
    levels = generator.integers(0, 1 << 16, every_level(graph, routes).shape).astype(np.uint16)
    alone, together = Followed(graph, routes, lanes, levels), walk(graph, routes, lanes, levels)
    nodes = len(graph.channels) * 16
    edges = [divmod(edge, nodes) for edge in together.waits.tolist()]
    assert {(divmod(tail, 16), divmod(head, 16)) for tail, head in edges} == {
        (tail, head) for tail, heads in alone.waits.items() for head in heads
    }
    assert set(map(tuple, np.argwhere(together.sent).tolist())) == alone.sent
    assert set(together.dropped) == alone.dropped
    assert (together.lost is not None) == alone.lost
    assert bool(loop_of(graph, together)) == alone.loops


def test_on_one_lane_all_paths_at_once_are_the_waits_that_the_linter_finds() -> None:
    for subnet in (torus((5, 4), 2), fat_tree(4, 3, 3), dragonfly(4, 3, 2)):
        graph = subnet_graph(subnet)
        assert not isinstance(graph, str)
        for engine in (dor, minhop):
            routes = engine(graph)
            walked = walk(graph, routes, one_lane(graph), every_level(graph, routes, 1))
            assert loop_of(graph, walked) == credit_loop(graph, routes)
            assert (walked.lost, walked.dropped) == (None, ())
