"""Credit loops by computed routes: trees have none, rings have, lanes cut them; what cannot be known is unproven."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.routing.infiniband import engines as routing
from lossless.analysis.routing.infiniband.credit_loops import (
    CreditLoopVerdict,
    routes_verdict,
    subnet_verdict,
)
from lossless.analysis.routing.infiniband.engines import (
    NO_PATH,
    Lanes,
    SubnetGraph,
    SubnetRoutes,
    credit_loop,
    dor,
    minhop,
    subnet_graph,
    unreachable,
    updn,
)
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet
from tests.subnets import HERE, dragonfly, fat_tree, fat_tree_of_pods, torus

TREE_ENGINES = ("updn", "ftree", "minhop", "ar_updn", "ar_ftree", None)


@given(
    leaves=st.integers(1, 6),
    spines=st.integers(1, 4),
    hosts=st.integers(1, 4),
    cables=st.integers(1, 3),
    engine=st.sampled_from(TREE_ENGINES),
)
def test_no_fat_tree_of_two_levels_has_a_credit_loop(
    leaves: int, spines: int, hosts: int, cables: int, engine: str | None
) -> None:
    assert subnet_verdict(fat_tree(leaves, spines, hosts, engine, cables)).state == "free"


@pytest.mark.parametrize("engine", TREE_ENGINES)
def test_no_fat_tree_of_three_levels_has_a_credit_loop(engine: str | None) -> None:
    verdict = subnet_verdict(fat_tree_of_pods(3, 3, 2, engine))
    assert verdict.state == "free"
    # Of updn and ftree no path need be followed: paths without a valley close no cycle, whichever paths are chosen.
    all_paths = subnet_verdict(fat_tree_of_pods(3, 3, 2, "ftree")).why
    assert (verdict.why == all_paths) == (engine in ("updn", "ftree", "ar_updn", "ar_ftree"))


@given(side=st.integers(3, 12), hosts=st.integers(1, 3), engine=st.sampled_from(("dor", "minhop")))
def test_a_ring_of_five_or_more_has_a_credit_loop_and_a_ring_of_three_has_none(
    side: int, hosts: int, engine: str
) -> None:
    verdict = subnet_verdict(torus((side,), hosts, engine))
    if side == 3:
        assert verdict.state == "free"
    elif side >= 5:
        assert (verdict.state, len(verdict.loop)) == ("loop", side)


@settings(max_examples=30)
@given(st.lists(st.integers(2, 6), min_size=2, max_size=3))
def test_dor_on_a_torus_loops_exactly_where_a_side_is_five_or_longer(sides: list[int]) -> None:
    # With sides of four both directions are as short, and the lowest port is taken everywhere: the cycle stays open.
    verdict = subnet_verdict(torus(tuple(sides), 1, "dor"))
    longer = [side for side in sides if side >= 5]
    assert (verdict.state, len(verdict.loop)) == (("loop", min(longer)) if longer else ("free", 0))


@pytest.mark.tools("laws")
@settings(max_examples=30)
@given(st.lists(st.integers(2, 6), min_size=2, max_size=3))
def test_torus_2qos_with_its_lanes_has_no_credit_loop(sides: list[int]) -> None:
    for options in ({}, {"max_op_vls": "2"}):
        verdict = subnet_verdict(torus(tuple(sides), 1, "torus-2QoS", qos="TRUE", **options))
        assert (verdict.state, verdict.engine) == ("free", "torus-2QoS")


@pytest.mark.parametrize("options", [{"qos": "TRUE", "max_op_vls": "1"}, {}])
def test_torus_2qos_with_one_lane_or_without_qos_is_minhop_and_loops(options: dict[str, str]) -> None:
    verdict = subnet_verdict(torus((5, 5), 1, "torus-2QoS", **options))
    assert (verdict.state, verdict.engine) == ("loop", "minhop")


@pytest.mark.parametrize(
    ("subnet", "why"),
    [
        (torus((5, 5), 1, "torus-2QoS,updn"), "gives up: QoS is off"),
        (fat_tree(2, 2, 2, "torus-2QoS"), "declares none"),
        (torus((3, 3), 1, "ftree"), "no strict tree"),
        (torus((3, 3), 1, "lash", qos="TRUE"), "lash cannot be computed"),
        (torus((3, 3), 1, "dfsssp", qos="TRUE"), "dfsssp cannot be computed"),
        (torus((5, 3), 1, "ar_updn"), "it finds no root switches"),
        (torus((5, 3), 1, "ar_ftree"), "no strict tree"),
        (torus((3, 3), 1, "dfp"), "dfp cannot be computed"),
        (torus((3, 3), 1, "dor", lmc="1"), "lmc 1"),
        (torus((3, 3), 1, "minhop", hop_weights_file="/etc/opensm/weights"), "hop_weights_file"),
        (fat_tree(2, 2, 2)._replace(links=UNKNOWN), "does not say how the fabric is cabled"),
    ],
)
def test_what_can_be_neither_run_nor_computed_is_unproven(subnet: Subnet, why: str) -> None:
    verdict = subnet_verdict(subnet)
    assert verdict.state == "unproven"
    assert why in verdict.why


def graph_of(subnet: Subnet) -> SubnetGraph:
    graph = subnet_graph(subnet)
    assert isinstance(graph, SubnetGraph)
    return graph


RING = graph_of(torus((5,), 1, "dor"))


def on_lane(lane: int) -> Lanes:
    return Lanes(lambda _hca, _column: 0, lambda *_hop: lane)


@pytest.mark.parametrize("engine", ["torus-2QoS", "lash", "dfsssp", "nue"])
def test_engines_that_keep_cycles_apart_in_lanes_are_checked_by_their_lanes(engine: str) -> None:
    routes = dor(RING)
    unknown = routes_verdict(RING, routes, engine, "given")
    assert (unknown.state, unknown.why) == ("unproven", "given; which VL each path uses is not known")
    one = routes_verdict(RING, routes, engine, "given", on_lane(3))
    assert (one.state, one.why, len(one.loop)) == ("loop", "given, with the VLs of each path", 5)
    # A second lane from the cable on that closes the ring
    after_seam = Lanes(lambda _hca, column: column, lambda switch, _in, _out, level: int(level < switch))
    assert routes_verdict(RING, routes, engine, "given", after_seam).state == "free"


def test_the_first_hca_of_a_switch_speaks_for_the_others() -> None:
    graph = graph_of(torus((5,), 3, "dor"))
    routes, first = dor(graph), {hcas[0] for hcas in graph.hcas_by_switch()}
    # Only what the first HCAs send is kept apart: it changes the lane where the ring is closed.
    lanes = Lanes(
        lambda hca, column: graph.attached[column].switch if hca in first else 15,
        lambda switch, _in, _out, level: int(level < switch),
    )
    assert credit_loop(graph, routes, lanes) == ()


@pytest.mark.parametrize("step", [1, 4])
def test_routes_that_all_go_one_direction_round_a_ring_loop(step: int) -> None:
    onward = {(channel.near, channel.far): number for number, channel in enumerate(RING.channels)}
    tables = [
        [routing.HERE if hca == near else onward[near, (near + step) % 5] for hca in range(5)]
        for near in range(5)
    ]
    loop = credit_loop(RING, SubnetRoutes(tuple(tables), range(5)))
    assert {hop.channel for hop in loop} == {onward[near, (near + step) % 5] for near in range(5)}


def test_engines_with_one_lane_loop_whatever_is_said_of_lanes() -> None:
    assert routes_verdict(RING, dor(RING), "dor", "given", on_lane(0)).state == "loop"


@pytest.mark.parametrize(("switch", "column"), [(0, 1), (4, 0)])
def test_routes_that_lead_nowhere_are_unproven(switch: int, column: int) -> None:
    routes = dor(RING)
    tables = [list(table) for table in routes.tables]
    tables[switch][column] = NO_PATH
    verdict = routes_verdict(RING, SubnetRoutes(tuple(tables), routes.owners), "dor", "given")
    why = f"given: t{switch} has no path to t{column}h0:mlx5_0"
    assert (verdict.state, verdict.why) == ("unproven", why)


def test_a_switch_without_hosts_may_know_no_path() -> None:
    subnet = fat_tree(2, 2, 2, "minhop")
    graph = graph_of(subnet)
    routes = minhop(graph)
    tables = [list(table) for table in routes.tables]
    spine = next(number for number, switch in enumerate(graph.switches) if switch.name == "spine0")
    tables[spine][0] = NO_PATH
    assert unreachable(graph, SubnetRoutes(tuple(tables), routes.owners)) is None


def rootless(engines: str, *, no_fallback: bool = False) -> CreditLoopVerdict:
    """Return the verdict on a torus, where updn finds no roots."""
    ring = torus((5, 5), 1, engines)
    return subnet_verdict(ring._replace(routing=ring.routing._replace(no_fallback=no_fallback)))


def test_updn_without_roots_gives_up_where_opensm_may_not_take_minhop() -> None:
    assert rootless("updn").engine == "minhop"
    for verdict in (rootless("updn", no_fallback=True), rootless("updn,dor")):
        assert verdict == ("unproven", "updn", "updn finds no root switches and gives up", ())


def test_a_tree_whose_switches_have_no_tier_is_no_strict_tree() -> None:
    tree = fat_tree(2, 2, 2, "ftree")
    unrooted = tree._replace(routing=tree.routing._replace(roots=None))
    assert isinstance(unrooted.switches, tuple)
    assert subnet_verdict(unrooted).state == "free"
    first = unrooted.switches[0]._replace(tier=None)
    assert subnet_verdict(unrooted._replace(switches=(first, *unrooted.switches[1:]))).state == "unproven"
    islands = tree._replace(routing=tree.routing._replace(roots=()))
    assert subnet_verdict(islands).state == "unproven"


def test_options_at_their_defaults_change_no_route() -> None:
    assert subnet_verdict(torus((3, 3), 1, "dor", lmc="0", port_shifting="FALSE")).state == "free"


def test_updn_without_roots_finds_those_of_a_tree_and_none_of_a_torus() -> None:
    tree = fat_tree(4, 2, 3)
    assert subnet_verdict(tree._replace(routing=tree.routing._replace(roots=None))).engine == "updn"
    verdict = subnet_verdict(torus((5, 5), 1, "updn"))
    assert (verdict.state, verdict.engine) == ("loop", "minhop")
    assert "so opensm takes minhop" in verdict.why


def test_roots_that_are_cabled_to_each_other_in_a_ring_let_updn_loop() -> None:
    ring = torus((5,), 1, "updn")
    names = tuple(f"t{number}" for number in range(5))
    verdict = subnet_verdict(ring._replace(routing=ring.routing._replace(roots=names)))
    assert (verdict.state, verdict.engine) == ("loop", "updn")


@given(
    st.sampled_from(
        [
            torus((5,), 2, "dor"),
            torus((6, 5), 1, "dor"),
            torus((4, 4), 2, "minhop"),
            torus((5, 4, 3), 1, "dor"),
        ]
    )
)
def test_a_loop_can_be_followed_from_cable_to_cable(subnet: Subnet) -> None:
    hops = [re.fullmatch(r"(\S+) port (\d+) -> (\S+)", hop) for hop in subnet_verdict(subnet).loop]
    assert hops
    assert all(hop is not None for hop in hops)
    ends = [hop.groups() for hop in hops if hop is not None]
    assert all(before[2] == after[0] for before, after in pairwise([*ends, ends[0]]))
    assert isinstance(subnet.links, tuple)
    cables = {(link.a, str(link.a_port), link.b) for link in subnet.links if not link.to_hca}
    cables |= {(link.b, str(link.b_port), link.a) for link in subnet.links if not link.to_hca}
    assert set(ends) <= cables


@given(
    st.integers(2, 5),
    st.integers(2, 3),
    st.sampled_from([minhop, dor, lambda graph: updn(graph, {0})]),
)
def test_every_computed_table_leads_to_every_hca(groups: int, width: int, engine: object) -> None:
    graph = subnet_graph(dragonfly(groups, width, 2))
    assert not isinstance(graph, str)
    assert callable(engine)
    assert unreachable(graph, engine(graph)) is None


def test_more_hosts_never_open_a_cycle() -> None:
    for hosts in (1, 2, 5):
        graph = subnet_graph(torus((5, 5), hosts))
        assert not isinstance(graph, str)
        assert len(credit_loop(graph, dor(graph))) == 5


def test_a_link_without_a_port_is_said_and_not_checked() -> None:
    subnet = fat_tree(2, 2, 2)
    assert isinstance(subnet.links, tuple)
    broken = (subnet.links[0]._replace(a_port=None), *subnet.links[1:])
    assert "no port left" in subnet_verdict(subnet._replace(links=broken)).why


def test_the_last_statement_of_an_option_counts() -> None:
    subnet = torus((3, 3), 1, "dor", lmc="1")
    again = (*subnet.options, ManagerSetting("lmc", "0", HERE))
    assert subnet_verdict(subnet._replace(options=again)).state == "free"


@settings(max_examples=60, deadline=None)
@given(
    sides=st.sampled_from(((5,), (6,), (5, 4), (5, 5))),
    levels=st.integers(1, 3),
    lanes=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_a_cycle_is_found_exactly_where_following_every_path_to_its_end_finds_one(
    sides: tuple[int, ...], levels: int, lanes: int, seed: int
) -> None:
    graph = subnet_graph(torus(sides, 1, "dor"))
    assert isinstance(graph, SubnetGraph)
    routes = dor(graph)
    chosen = Lanes(
        lambda hca, column: (seed + 7 * hca + 13 * column) % levels,
        lambda switch, entering, leaving, level: (
            (seed + level * (1 + 3 * switch) + entering + leaving) % lanes
        ),
    )
    assert bool(credit_loop(graph, routes, chosen)) == walked_in_a_cycle(graph, routes, chosen)


def walked_in_a_cycle(graph: SubnetGraph, routes: SubnetRoutes, lanes: Lanes) -> bool:
    waits: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for hca, attached in enumerate(graph.attached):
        for column in range(len(routes.owners)):
            hops, switch, port = [], attached.switch, attached.port
            while (number := routes.tables[switch][column]) >= 0:
                channel = graph.channels[number]
                hops.append((number, lanes.lane(switch, port, channel.port, lanes.level(hca, column))))
                switch, port = channel.far, channel.far_port
            for before, after in pairwise(hops):
                waits[before].add(after)
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return True
    return False
