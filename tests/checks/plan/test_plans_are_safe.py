"""A plan keeps RDMA lossless in every state on its way, and each rollback leads back; carried out from what it says."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.ground.basics.errors import InputError
from lossless.interfaces.api.plan import plan
from tests.all_cases import some
from tests.checks.plan.brute_force import Walk
from tests.checks.plan.drawn_changes import Data, bench_of, changes, files_of, intent

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from lossless.checks.plan.plan import Plan

EXAMPLES = int(os.environ.get("LOSSLESS_PLANS", "12"))
"""Pairs of intents that are drawn; more of them with another number in the environment."""
DSCP = {"dscp": 24}
NEW_CLASS = {"second": (30, 4)}
DYNAMIC = {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"}
BARE: Data = {"shape": "no hosts"}
ALONE: Data = {"shape": "one leaf"}
NAMED: dict[str, tuple[Data, Data]] = {
    "another DSCP": ({}, DSCP),
    "another priority": ({}, {"priority": 4}),
    "a class more": ({}, NEW_CLASS),
    "a class less": (NEW_CLASS, {}),
    "DSCPs of two classes swapped": (NEW_CLASS, {"dscp": 30, "second": (26, 4)}),
    "watchdog": ({}, {"poll": 400, "detection": 1600, "action": "forward"}),
    "marking and shares": ({}, {"kmin": 400, "share": 60, "cnp": 46}),
    "longer cables": ({}, {"cables": (10, 100)}),
    "shorter cables": ({"cables": (10, 100)}, {}),
    "longer cables and another DSCP": ({}, {**DSCP, "cables": (3, 100)}),
    "one longer, one shorter": ({"cables": (3, 100)}, {"cables": (10, 30)}),
    "dynamic buffer model": (DYNAMIC, {**DYNAMIC, "model": "dynamic"}),
    "another release": ({"release": "202311"}, {"kmin": 400}),
    "another release and DSCP": ({"release": "202311"}, DSCP),
    "an older release": ({}, {"release": "202311", **DSCP}),
    "the old DSCP for CNPs": ({}, {**DSCP, "cnp": 26}),
    "another priority group": ({}, {"group": 1}),
    "another DSCP and priority group": ({}, {**DSCP, "group": 1}),
    "another DSCP between switches alone": (BARE, {**BARE, **DSCP}),
    "DSCPs swapped between switches alone": ({**BARE, **NEW_CLASS}, {**BARE, "dscp": 30, "second": (26, 4)}),
    "another priority on one switch": (ALONE, {**ALONE, "priority": 4}),
    "DSCPs swapped on one switch": ({**ALONE, **NEW_CLASS}, {**ALONE, "dscp": 30, "second": (26, 4)}),
    "another group on one switch": (ALONE, {**ALONE, "group": 1}),
}


class Carried(NamedTuple):
    """A plan, and the walk that carried it out."""

    plan: Plan
    walk: Walk


def carried(before: Data, after: Data, *, files: bool, whole_fabrics: int = 0) -> Carried:
    """Make a plan from one intent, or from what is rendered from it, to another, and carry it out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        current, target = folder / "current.yaml", folder / "target.yaml"
        current.write_text(json.dumps(intent(**before)))
        target.write_text(json.dumps(intent(**after)))
        running = files_of(current, folder) if files else None
        made = plan([running or current], target)
        walk = Walk(bench_of(current, target, folder, running), whole_fabrics=whole_fabrics)
    walk.whole(made)
    return Carried(made, walk)


@pytest.mark.parametrize("files", [False, True], ids=["intent", "files"])
@pytest.mark.parametrize("name", some([*NAMED], 2, "states"))
def test_each_state_of_a_named_change_is_safe(name: str, files: bool) -> None:
    assert carried(*NAMED[name], files=files).walk.faults == []


@pytest.mark.laws
@settings(max_examples=EXAMPLES)
@given(changes(), st.booleans())
def test_each_state_of_a_drawn_change_is_safe(change: tuple[Data, Data], files: bool) -> None:
    try:
        found = carried(*change, files=files)
    except InputError:
        assume(False)
    assert found.walk.faults == []


@pytest.mark.parametrize("name", ["another DSCP", "a class more"])
def test_each_state_of_a_whole_fabric_is_safe(name: str) -> None:
    """Not link by link: every device in any state of its own, drawn at random, 200 times a step."""
    before, after = NAMED[name]
    found = carried(before, after, files=False, whole_fabrics=200)
    assert found.walk.faults == []
