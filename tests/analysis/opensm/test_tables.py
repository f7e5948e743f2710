"""What the tables of a subnet that is up amount to, against paths that are followed one by one through the dumps."""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lossless.analysis.opensm import decide as service_levels
from lossless.analysis.opensm.check import check_with_opensm, seat_of, write_files
from lossless.analysis.opensm.decide import asked_path_levels, decide, routes_in, torus_path_levels
from lossless.analysis.opensm.programmed import questions_to
from lossless.analysis.opensm.run import ibsim_fabric, live, sweep_of
from lossless.formats.device_files.infiniband import files_of
from lossless.ground.basics.errors import SubnetManagerError
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from tests.analysis.opensm.test_routes import files_for, graph_of
from tests.analysis.opensm.test_traps import intent_with, subnet_of
from tests.subnets import dragonfly, fat_tree, fat_tree_of_pods, torus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lossless.analysis.opensm.run import LiveSubnet, Tools
    from lossless.model.fabric.infiniband.subnet import Subnet

ONE_LANE = ",".join("0" * 16)
ROUTED = {
    "ftree": (fat_tree(4, 3, 4, "ftree"), 8, "free"),
    "updn": (fat_tree_of_pods(2, 2, 2, "updn"), 8, "free"),
    "minhop on a dragonfly": (dragonfly(4, 3, 2, "minhop"), 8, "free"),
    "minhop on a ring": (torus((5, 3), 1, "minhop"), 8, "loop"),
    "dor": (torus((5, 3), 2, "dor"), 8, "loop"),
    "dor with QoS": (torus((5, 3), 2, "dor", qos="TRUE"), 8, "loop"),
    "torus-2QoS": (torus((5, 4), 2, "torus-2QoS", qos="TRUE"), 8, "free"),
    "torus-2QoS on 4 lanes": (torus((5, 4), 2, "torus-2QoS", qos="TRUE", max_op_vls="3"), 4, "free"),
    "dfsssp": (torus((5, 4), 2, "dfsssp", qos="TRUE", max_op_vls="4"), 8, "free"),
    "dfsssp with lanes to spare": (torus((5, 3), 2, "dfsssp", qos="TRUE"), 8, "free"),
    "dfsssp on one lane": (torus((5, 4), 2, "dfsssp", qos="TRUE", qos_sl2vl=ONE_LANE), 8, "loop"),
    "lash": (torus((5, 4), 2, "lash", qos="TRUE", max_op_vls="4"), 8, "free"),
    "lash on one lane": (torus((5, 4), 2, "lash", qos="TRUE", qos_sl2vl=ONE_LANE), 8, "loop"),
    "nue": (torus((5, 5), 2, "nue", qos="TRUE"), 8, "free"),
    # Which addresses nue gives which lane is random, and so is whether they loop on one.
    "nue on one lane": (torus((5, 5), 2, "nue", qos="TRUE", qos_sl2vl=ONE_LANE), 8, None),
}


def up(subnet: Subnet, tools: Tools, folder: Path) -> AbstractContextManager[LiveSubnet]:
    files = files_for(subnet)
    configuration = write_files(folder, files, files["opensm.conf"])
    return live(tools, ibsim_fabric(subnet), configuration, folder, seat_of(subnet))


class Dumps:
    """The dumps of opensm, read for themselves: nothing of the reader that is tested is used."""

    def __init__(self, subnet: Subnet, text: LiveSubnet) -> None:
        self.ports: dict[int, dict[int, int]] = {}
        for block in text.text("opensm-lfts.dump").split("Unicast lids")[1:]:
            guid = int(re.search(r"guid 0x([0-9a-f]+)", block)[1], 16)  # type: ignore[index]
            rows = re.findall(r"^0x([0-9a-f]+) (\d+) ", block, re.MULTILINE)
            self.ports[guid] = {int(lid, 16): int(port) for lid, port in rows}
        self.lanes: dict[tuple[int, int, int], list[int]] = {}
        for block in text.text("opensm-sl2vl.dump").split("Switch ")[1:]:
            block = re.split(r"^(?:Channel|Router)", block, flags=re.MULTILINE)[0]
            guid = int(block.split(",")[0], 16)
            for entering, leaving, row in re.findall(r"^(\d+) +(\d+) +:(.*)$", block, re.MULTILINE):
                self.lanes[guid, int(entering), int(leaving)] = list(map(int, row.split()))
        self.far: dict[tuple[int, int], tuple[int, int]] = {}
        self.lids = {
            int(line.split()[0], 16): int(line.split()[1], 16)
            for line in text.text("guid2lid").splitlines()
            if line.strip()
        }
        assert isinstance(subnet.switches, tuple)
        assert isinstance(subnet.links, tuple)
        assert isinstance(subnet.hcas, tuple)
        guids = {switch.name: switch.guid or 0 for switch in subnet.switches}
        guids |= {hca.name: hca.guid or 0 for hca in subnet.hcas}
        for link in subnet.links:
            a, b = (guids[link.a], link.a_port or 0), (guids[link.b], link.b_port or 0)
            self.far |= {a: b, b: a}
        self.hcas = [hca.guid or 0 for hca in subnet.hcas]

    def hops(self, source: int, destination: int, level: int, vls: int) -> Iterator[tuple[int, int, int]]:
        """Yield the switch, port and lane of each hop between switches."""
        switch, entering = self.far[source, 1]
        while True:
            leaving = self.ports[switch][self.lids[destination]]
            following = self.far[switch, leaving]
            if following[0] == destination:
                return
            row = self.lanes.get((switch, entering, leaving), [0] * 16)
            yield switch, leaving, row[level] % vls
            switch, entering = following


@pytest.mark.parametrize(("subnet", "vls", "state"), ROUTED.values(), ids=ROUTED)
def test_the_verdict_is_that_of_every_path_followed_alone(
    subnet: Subnet, vls: int, state: str | None, tools: Tools, tmp_path: Path
) -> None:
    named = with_derived_guids(subnet)
    engine = subnet.routing.engine or ""
    asking_for = engine in ("torus-2QoS", "dfsssp", "lash", "nue")
    with up(named, tools, tmp_path) as running:
        decision = decide(running, named, graph_of(named), engine, vls, seat_of(named))
        assert sweep_of(running.text("opensm.log").splitlines()).engine == engine
        dumps = Dumps(named, running)
        pairs = [(one, other) for one in dumps.hcas for other in dumps.hcas if one != other]
        asked = [(dumps.lids[one], dumps.lids[other]) for one, other in pairs] if asking_for else []
        levels = questions_to(running, dumps.hcas[0]).path_levels(asked)
    waits: dict[tuple[int, int, int], set[tuple[int, int, int]]] = {}
    assert levels is not None
    for number, (source, destination) in enumerate(pairs):
        for level in [levels[number]] if asking_for else range(16):
            hops = list(dumps.hops(source, destination, level, vls))
            for before, after in pairwise(hops):
                waits.setdefault(before, set()).add(after)
    try:
        TopologicalSorter(waits).prepare()
        alone = "free"
    except CycleError:
        alone = "loop"
    assert alone == (state or alone)
    assert (decision.credits.state, decision.complaints) == (alone, ())
    assert f"{len(pairs):,} paths" in decision.credits.why


@pytest.mark.parametrize("engine", ["lash", "dfsssp", "nue"])
def test_a_level_that_is_asked_for_few_paths_is_that_of_all_that_are_identical(
    engine: str, tools: Tools, tmp_path: Path
) -> None:
    subnet = with_derived_guids(torus((4, 3), 3, engine, qos="TRUE"))
    graph = graph_of(subnet)
    with up(subnet, tools, tmp_path) as running:
        routes = routes_in(running.text("opensm-lfts.dump"), graph, subnet)
        asking = questions_to(running, 0)._replace(manager=1)
        levels = asked_path_levels(asking, graph, routes, engine, running.text("opensm.log"))
        lids = dict(zip(routes.owners, routes.lids, strict=True))
        apart = [
            (hca, column)
            for column, owner in enumerate(routes.owners)
            for hca in range(len(graph.hcas))
            if graph.attached[hca].switch != graph.attached[owner].switch
        ]
        each = asking.path_levels([(lids[hca], routes.lids[column]) for hca, column in apart])
    assert levels is not None
    assert each is not None
    for (hca, column), level in zip(apart, each, strict=True):
        assert levels[graph.attached[hca].switch, column] >> level & 1
    # dfsssp has lanes to spare on so few switches, and spreads paths over them at random; the others choose one lane.
    several = (np.bitwise_count(levels) > 1).any()
    assert several == (engine == "dfsssp")


def test_levels_that_opensm_answers_for_torus_2qos_are_the_datelines_that_a_path_crosses(
    tools: Tools, tmp_path: Path
) -> None:
    subnet = with_derived_guids(torus((5, 3), 2, "torus-2QoS", qos="TRUE"))
    graph = graph_of(subnet)
    with up(subnet, tools, tmp_path) as running:
        routes = routes_in(running.text("opensm-lfts.dump"), graph, subnet)
        computed = torus_path_levels(graph, routes, running.text("opensm-torus.dump"), (0,))
        asking = questions_to(running, 0)._replace(manager=1)
        asked = asked_path_levels(asking, graph, routes, "torus-2QoS", "")
        both = torus_path_levels(graph, routes, running.text("opensm-torus.dump"), (1, 9))
    assert computed is not None
    assert asked is not None
    assert both is not None
    assert (computed[asked > 0] == asked[asked > 0]).all()
    assert set(asked.ravel().tolist()) == {0, 1, 2, 4, 8}
    assert (both == computed | computed << 8).all()


def test_a_manager_that_does_not_answer_for_all_paths_leaves_the_verdict_open(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_levels, "_NEEDED", re.compile("never said"))
    subnet = torus((5, 5), 1, "dfsssp", qos="TRUE")
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.credits.state == "unproven"
    assert any("did not say which VL each path uses" in complaint for complaint in found.complaints)


def test_without_numpy_it_is_said_what_to_install(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lossless.analysis.opensm.decide", None)
    subnet = fat_tree(2, 2, 2)
    with pytest.raises(SubnetManagerError, match=r"pip install .*'numpy"):
        check_with_opensm(tools, subnet, files_for(subnet))


@pytest.mark.parametrize("engine", ["lash", "dfsssp"])
@pytest.mark.parametrize(("code", "state"), [("1", "loop"), ("2", "loop"), ("4", "free")])
def test_lanes_that_are_folded_onto_each_other_close_the_cycle_although_opensm_is_content(
    engine: str, code: str, state: str, tools: Tools
) -> None:
    subnet = torus((5, 5), 1, engine, qos="TRUE", max_op_vls=code)
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.credits.state == state
    said = [complaint for complaint in found.complaints if not complaint.startswith("credit loop")]
    assert said == []
    assert found.swept is not None
    assert (found.swept.sweep.up, found.swept.sweep.engine) == (True, engine)


def test_a_lane_that_paths_leave_by_needs_a_weight_in_the_tables_that_ports_have(tools: Tools) -> None:
    starved = torus((5, 4), 1, "torus-2QoS", qos="TRUE", qos_vlarb_high="0:64", qos_vlarb_low="0:4")
    found = check_with_opensm(tools, starved, files_for(starved))
    said = [complaint for complaint in found.complaints if "no weight" in complaint]
    # Between switches VL 0 to 3 cut the rings of both dimensions; hosts send on VL 0 alone.
    assert len(said) == 1
    assert said[0].startswith("VL 1, 2 and 3 have no weight at ") or said[0].startswith("VL 1 has no weight")
    assert "ports of switches" in said[0]


def of_partitions(partitions: dict[str, object], tools: Tools, **options: str) -> list[str]:
    job = {"jobs": None, "qos": None}
    document = intent_with({"partitions": partitions, "subnet_manager": {"options": options}, **job})
    subnet = subnet_of(document)
    complaints = check_with_opensm(tools, subnet, files_of(subnet)).complaints
    return [complaint for complaint in complaints if "member" in complaint]


def test_members_that_opensm_made_are_those_that_partitions_state(tools: Tools) -> None:
    apart = {"a": {"pkey": 16, "members": {"full": "host1"}}, "b": {"pkey": 32, "members": {"full": "host2"}}}
    merged = {**apart, "b": {"pkey": 16, "members": {"full": "host2"}}}
    both = {"a": {"pkey": 16, "members": {"full": "host1", "both": "host2"}}}
    none: dict[str, object] = {"compute": None, "storage": None}
    assert of_partitions(none | apart, tools) == []
    assert of_partitions(none | merged, tools) == [
        "host2:mlx5_0 is a full member of a, P_Key 0x0010; meant is no member",
        "host1:mlx5_0 is a full member of b, P_Key 0x0010; meant is no member",
    ]
    assert of_partitions(none | both, tools) == [
        "host2:mlx5_0 is a full member of a, P_Key 0x0010; meant is a member of both kinds"
    ]
    assert of_partitions(none | both, tools, allow_both_pkeys="TRUE") == []
