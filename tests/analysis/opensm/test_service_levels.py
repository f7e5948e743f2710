"""Service levels of paths, asked of a manager that runs, one packet a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.opensm import service_levels
from lossless.analysis.opensm.check import check_with_opensm, seat_of, write_files
from lossless.analysis.opensm.dumps import places_in, routes_in
from lossless.analysis.opensm.ibsim_file import ibsim_fabric
from lossless.analysis.opensm.run import live
from lossless.analysis.opensm.service_levels import asked_lanes
from lossless.analysis.routing.infiniband.torus import torus_levels
from lossless.model.fabric.infiniband.guids import with_derived_guids
from tests.analysis.opensm.test_routes import files_for, graph_of
from tests.subnets import torus

if TYPE_CHECKING:
    from lossless.analysis.opensm.tools import Tools


def test_levels_that_opensm_answers_for_torus_2qos_are_the_datelines_that_a_path_crosses(
    tools: Tools, tmp_path: Path
) -> None:
    subnet = with_derived_guids(torus((5, 3), 2, "torus-2QoS", qos="TRUE"))
    graph, files = graph_of(subnet), files_for(subnet)
    configuration = write_files(tmp_path, files, files["opensm.conf"])
    with live(tools, ibsim_fabric(subnet), configuration, tmp_path, seat_of(subnet)) as up:
        routes = routes_in(up.text("opensm-lfts.dump"), graph, subnet)
        places = places_in(up.text("opensm-torus.dump"), graph)
        asked = asked_lanes(up, graph, routes, subnet, seat_of(subnet), 15)
    assert places is not None
    assert asked is not None
    computed = torus_levels(graph, routes, places)
    apart = [
        (hca, column)
        for column, owner in enumerate(routes.owners)
        for hca in range(len(graph.hcas))
        if graph.attached[hca].switch != graph.attached[owner].switch
    ]
    assert {path: asked.level(*path) for path in apart} == {path: computed(*path) for path in apart}
    assert {computed(*path) for path in apart} == {0, 1, 2, 3}


def test_too_many_paths_to_ask_for_leave_the_verdict_open(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_levels, "MOST_PATHS", 10)
    subnet = torus((5, 5), 1, "dfsssp", qos="TRUE")
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.credits.state == "unproven"
    assert "which VL each path uses is not known" in found.credits.why


@pytest.mark.parametrize("engine", ["lash", "dfsssp"])
@pytest.mark.parametrize(("code", "state"), [("1", "loop"), ("2", "loop"), ("4", "free")])
def test_lanes_that_are_folded_onto_each_other_close_the_circle_although_opensm_is_content(
    engine: str, code: str, state: str, tools: Tools
) -> None:
    subnet = torus((5, 5), 1, engine, qos="TRUE", max_op_vls=code)
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.credits.state == state
    said = [complaint for complaint in found.complaints if not complaint.startswith("credit loop")]
    assert said == []
    assert found.swept is not None
    assert (found.swept.sweep.up, found.swept.sweep.engine) == (True, engine)
