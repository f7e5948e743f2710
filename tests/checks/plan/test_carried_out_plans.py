"""Drawn plans, carried out from their files in a drawn order, are evaluated by rows alone; the tool checks hundreds."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING

import pytest

from tests.checks.plan.drawn_changes import intent
from tools.damages.classes import Checker, Limits, Nic, site_of
from tools.plan_states import Case, Data, Walk, case, outcome, world_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DSCP = Case(intent(second=(30, 4)), intent(dscp=24, second=(30, 4)), ("RDMA DSCP",))


def carried(drawn: Case, folder: Path, source: str) -> list[tuple[str, str]]:
    """Return what is wrong with a case that must be planned."""
    found = outcome(drawn, folder, from_files=source == "files", orders=1, rng=random.Random(0))
    assert not found.refused, found.refused
    assert found.states > 0
    return [*found.wrong]


@pytest.mark.parametrize(("source", "number"), [("intent", 1), ("files", 16)])
def test_a_drawn_plan_is_safe_in_each_state_and_leads_there_and_back(
    source: str, number: int, tmp_path: Path
) -> None:
    assert carried(case(1, number), tmp_path, source) == []


def _swapped(plan: Data) -> None:
    """Let the switches do first what they should do last."""
    first, last = plan["steps"][0], plan["steps"][3]
    first["switches"], last["switches"] = last["switches"], first["switches"]


def _without_a_step_back(plan: Data) -> None:
    del plan["rollback"][2][-1]


def _without_a_restart(plan: Data) -> None:
    plan["steps"][2]["kind"] = "change"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a case that is carried out without a fault."""
    folder = tmp_path_factory.mktemp("plan")
    assert carried(DSCP, folder, "intent") == []
    return folder


@pytest.mark.parametrize(
    ("damage", "kind"),
    [(_swapped, "unsafe"), (_without_a_step_back, "rollback"), (_without_a_restart, "sending")],
)
def test_a_plan_that_is_damaged_does_not_pass(
    damage: Callable[[Data], None], kind: str, folder: Path
) -> None:
    plan = json.loads((folder / "plan" / "plan.json").read_text())
    assert [step["kind"] for step in plan["steps"]] == ["change", "change", "jobs", "change"]
    damage(plan)
    walk = Walk(world_of(DSCP, folder, plan), random.Random(0))
    walk.whole(plan)
    assert kind in {each for each, _ in walk.wrong}


def _longer(host_m: int, xoff: str | None = None) -> Case:
    """Return a case in which hosts get longer cables than those of 10 m, for which an SN4700 is configured for 40 m."""
    before, after = (
        intent(cables=(m, 30), leaf="nvidia-sn4700", spine="nvidia-sn4700") for m in (10, host_m)
    )
    if xoff is not None:
        after["classes"]["rdma"]["buffer"] = {"xoff": xoff}
    return Case(before, after, ("cables",))


def test_headroom_is_enough_for_the_cables_that_it_is_configured_for(tmp_path: Path) -> None:
    """So a cable of 30 m may come before a larger xoff than it needs."""
    assert carried(_longer(30, "700 KiB"), tmp_path, "intent") == []
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert [step["kind"] for step in plan["steps"]] == ["cables", "change"]


def test_a_cable_that_comes_before_its_headroom_does_not_pass(tmp_path: Path) -> None:
    drawn = _longer(150)
    assert carried(drawn, tmp_path, "intent") == []
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert [step["kind"] for step in plan["steps"]] == ["change", "cables"]
    plan["steps"].reverse()
    plan["rollback"] = [[], []]
    walk = Walk(world_of(drawn, tmp_path, plan), random.Random(0))
    walk.whole(plan)
    assert "unsafe" in {each for each, _ in walk.wrong}


def test_two_classes_are_checked_each_with_its_own_priority(folder: Path) -> None:
    """A second class loses its priority at one end of a link, and the first stays lossless."""
    files = (folder / "files").glob("*/config_db.json")
    configs = {file.parent.name: json.loads(file.read_text()) for file in files}
    checker, none = Checker(site_of(configs)), Limits({}, {}, {})
    nics: dict[str, Nic] = {}
    dscps = frozenset({26, 30})
    assert [*checker.faults(configs, nics, dscps, none)] == []
    port = next(
        port for (name, port), far in checker.site.links.items() if name == "leaf1" and far[0] == "spine1"
    )
    damaged = copy.deepcopy(configs)
    damaged["leaf1"]["PORT_QOS_MAP"][port]["pfc_enable"] = "3"
    faults = [*checker.faults(damaged, nics, dscps, none)]
    assert {fault.dscp for fault in faults} == {30}
    assert {fault.what for fault in faults} == {
        "asks for no pause",
        "obeys no pause",
        "is not stopped by its peer",
    }
