"""What opensm routes on a simulated fabric, and what is computed without it, are the same; and what both mean."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.opensm.check import check_with_opensm, seat_of, write_files
from lossless.analysis.opensm.decide import routes_in
from lossless.analysis.opensm.run import ibsim_fabric, sweep, sweep_of
from lossless.analysis.routing.infiniband.credit_loops import roots_of, routes_verdict, subnet_verdict
from lossless.analysis.routing.infiniband.engines import detected_roots, dor, minhop, subnet_graph, updn
from lossless.checks.rules.base import Violation
from lossless.checks.rules.registry import load
from lossless.ground.basics.records import Unknown
from tests.all_cases import some
from tests.subnets import dragonfly, fat_tree, fat_tree_of_pods, torus
from tests.torus_file import NAME, torus_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.analysis.opensm.run import Tools
    from lossless.analysis.routing.infiniband.engines import SubnetGraph, SubnetRoutes
    from lossless.model.fabric.infiniband.subnet import Subnet


def graph_of(subnet: Subnet) -> SubnetGraph:
    graph = subnet_graph(subnet)
    assert not isinstance(graph, str)
    return graph


def files_for(subnet: Subnet) -> dict[str, str]:
    """The files by hand, so that nothing here depends on how lossless renders them."""
    lines = [f"{option.key} {option.text}" for option in subnet.options]
    files, roots = {}, roots_of(subnet)
    if roots is not None:
        files["roots.conf"] = "".join(f"0x{graph_of(subnet).guids[root]:016x}\n" for root in sorted(roots))
        lines.append("root_guid_file /etc/opensm/roots.conf")
    if torus_lines(subnet):
        files[NAME] = "\n".join(torus_lines(subnet)) + "\n"
    return {"opensm.conf": "\n".join(lines) + "\n", **files}


def updn_of(graph: SubnetGraph, subnet: Subnet) -> SubnetRoutes:
    roots = roots_of(subnet)
    return updn(graph, detected_roots(graph) if roots is None else roots)


def without_roots(subnet: Subnet) -> Subnet:
    return subnet._replace(routing=subnet.routing._replace(roots=None))


def uneven(subnet: Subnet) -> Subnet:
    """Take some HCAs away, so that switches differ in how many they have."""
    assert isinstance(subnet.hcas, tuple)
    assert isinstance(subnet.links, tuple)
    gone = {hca.name for hca in subnet.hcas[1::3]}
    return subnet._replace(
        hcas=tuple(hca for hca in subnet.hcas if hca.name not in gone),
        links=tuple(link for link in subnet.links if link.b not in gone),
    )


COMPUTED: dict[str, Callable[[SubnetGraph, Subnet], SubnetRoutes]] = {
    "minhop": lambda graph, _: minhop(graph),
    "dor": lambda graph, _: dor(graph),
    "updn": updn_of,
}
SHAPES: dict[str, Callable[[str], Subnet]] = {
    "two levels": lambda engine: fat_tree(6, 3, 5, engine),
    "two levels, parallel cables": lambda engine: fat_tree(4, 2, 5, engine, cables=3),
    "two levels, uneven": lambda engine: uneven(fat_tree(6, 4, 5, engine)),
    "two levels, roots found": lambda engine: without_roots(fat_tree(5, 3, 4, engine)),
    "three levels": lambda engine: fat_tree_of_pods(3, 3, 2, engine),
    "three levels, uneven": lambda engine: uneven(fat_tree_of_pods(4, 2, 3, engine)),
    "272 switches": lambda engine: torus((17, 16), 1, engine),
    "ring of 3": lambda engine: torus((3,), 2, engine),
    "ring of 5": lambda engine: torus((5,), 2, engine),
    "torus 4 x 4": lambda engine: torus((4, 4), 2, engine),
    "torus 5 x 6, uneven": lambda engine: uneven(torus((5, 6), 3, engine)),
    "torus 5 x 4 x 3": lambda engine: torus((5, 4, 3), 1, engine),
    "dragonfly of 5": lambda engine: dragonfly(5, 3, 2, engine),
}


@pytest.mark.parametrize("engine", COMPUTED)
@pytest.mark.parametrize("shape", SHAPES)
def test_computed_tables_are_those_that_opensm_dumps(
    shape: str, engine: str, tools: Tools, tmp_path: Path
) -> None:
    subnet = SHAPES[shape](engine)
    if engine == "updn" and not (roots_of(subnet) or detected_roots(graph_of(subnet))):
        pytest.skip("updn finds no roots here, and gives up")
    graph, files = graph_of(subnet), files_for(subnet)
    configuration = write_files(tmp_path, files, files["opensm.conf"])
    ran = sweep(tools, ibsim_fabric(subnet), configuration, tmp_path, seat_of(subnet))
    said = sweep_of(ran.text("opensm.log").splitlines())
    assert (said.up, said.engine) == (True, engine)
    dumped = routes_in(ran.text("opensm-lfts.dump"), graph, subnet)
    computed = COMPUTED[engine](graph, subnet)
    columns = {owner: column for column, owner in enumerate(dumped.owners)}
    for switch, table in enumerate(computed.tables):
        there = [dumped.tables[switch][columns[hca]] for hca in range(len(graph.hcas))]
        assert list(table) == there, graph.switches[switch].name
    ours = routes_verdict(graph, computed, engine, "computed")
    theirs = routes_verdict(graph, dumped, engine, "dumped")
    assert (ours.state, len(ours.loop)) == (theirs.state, len(theirs.loop))


@pytest.mark.parametrize(
    ("subnet", "engine", "state"),
    [
        pytest.param(partial(fat_tree, 4, 3, 4, "ftree"), "ftree", "free", id="two levels"),
        pytest.param(partial(fat_tree_of_pods, 3, 3, 2, "ftree"), "ftree", "free", id="three levels"),
        pytest.param(partial(torus, (5,), 1, "dor"), "dor", "loop", id="ring of 5, dor"),
        pytest.param(partial(torus, (3, 3), 1, "dor"), "dor", "free", id="3 x 3, dor"),
        pytest.param(partial(torus, (7, 3), 1, "minhop"), "minhop", "loop", id="7 x 3, minhop"),
        pytest.param(partial(torus, (5, 5), 1, "sssp"), "sssp", "loop", id="5 x 5, sssp"),
        pytest.param(partial(torus, (5, 5), 2, "torus-2QoS", qos="TRUE"), "torus-2QoS", "free", id="5 x 5"),
        pytest.param(partial(torus, (4, 6), 1, "torus-2QoS", qos="TRUE"), "torus-2QoS", "free", id="4 x 6"),
        pytest.param(
            partial(torus, (5, 4, 3), 1, "torus-2QoS", qos="TRUE"), "torus-2QoS", "free", id="5 x 4 x 3"
        ),
        pytest.param(
            partial(torus, (5, 5), 1, "torus-2QoS", qos="TRUE", max_op_vls="1"),
            "minhop",
            "loop",
            id="torus-2QoS with one VL",
        ),
        pytest.param(partial(torus, (5, 5), 1, "torus-2QoS"), "minhop", "loop", id="torus-2QoS without QoS"),
        pytest.param(partial(torus, (5, 5), 1, "nue"), "nue", "free", id="nue"),
        pytest.param(partial(torus, (5, 5), 1, "lash"), "lash", "loop", id="lash without QoS"),
        pytest.param(partial(dragonfly, 5, 4, 2, "minhop"), "minhop", "free", id="dragonfly"),
    ],
)
def test_opensm_itself_has_or_has_not_credit_loops(
    subnet: Callable[[], Subnet], engine: str, state: str, tools: Tools
) -> None:
    made = subnet()
    found = check_with_opensm(tools, made, files_for(made))
    assert found.swept is not None
    assert (found.swept.sweep.engine, found.credits.state) == (engine, state), found.complaints
    computed = subnet_verdict(made)
    assert computed.state in (state, "unproven")
    if engine == found.intended and state == "free":
        assert found.complaints == ()


def test_without_its_lanes_torus_2qos_would_loop_and_with_them_it_does_not(tools: Tools) -> None:
    made = torus((5, 5), 2, "torus-2QoS", qos="TRUE")
    found = check_with_opensm(tools, made, files_for(made))
    assert found.credits.why.endswith("its VLs break every credit loop")


SIDES = [(one, other) for one in range(2, 7) for other in range(one, 7)]
GROUPS = [(groups, width) for groups in range(2, 7) for width in range(2, 7)]


@pytest.mark.parametrize("engine", ["dor", "minhop"])
@pytest.mark.parametrize(
    "shape",
    [
        *(pytest.param(partial(torus, sides, 1), id=f"torus {sides}") for sides in some(SIDES, 2, "torus")),
        *(
            pytest.param(partial(dragonfly, *of, 1), id=f"dragonfly {of}")
            for of in some(GROUPS, 2, "dragonfly")
        ),
    ],
)
def test_rules_claim_a_credit_loop_where_opensm_has_one_and_nowhere_else(
    shape: Callable[[str], Subnet], engine: str, tools: Tools, tmp_path: Path
) -> None:
    subnet = shape(engine)
    assert not isinstance(subnet.shape, Unknown)
    graph, files = graph_of(subnet), files_for(subnet)
    configuration = write_files(tmp_path, files, files["opensm.conf"])
    ran = sweep(tools, ibsim_fabric(subnet), configuration, tmp_path, seat_of(subnet))
    dumped = routes_in(ran.text("opensm-lfts.dump"), graph, subnet)
    theirs = routes_verdict(graph, dumped, engine, "dumped").state
    assert theirs in ("loop", "free")
    # Of a dragonfly+ IB002 says only that nothing keeps it free of cycles.
    codes = ("IB020", "IB002") if subnet.shape.kind == "torus" else ("IB020",)
    for code in codes:
        found = [it for it in load(code).check(subnet) if isinstance(it, Violation)]
        assert bool(found) is (theirs == "loop"), code
