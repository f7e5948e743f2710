"""On the way no state has a cyclic buffer dependency that neither the start nor the target has.

A DSCP in use keeps its priority at every hop. So the dependencies of a priority, in any state, are a part of those that
it has at the start or of those that it has in the target, whatever the routing is (``crossings``, looked at in whole
fabrics that are drawn). Here the rule for cycles looks at such fabrics itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.api import plan
from lossless.checks.plan.kinds_of_switches import plain_document
from lossless.ground.basics.errors import InputError
from tests.checks.plan.brute_force import Place, Walk
from tests.checks.plan.crafted import crafted
from tests.checks.plan.crossings import Crossing, faults_across
from tests.checks.plan.drawn_changes import Data, files_of, intent
from tests.checks.plan.service import Served
from tests.checks.rules.checking import drawn, unchecked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lossless.checks.plan.plan import Plan

STATES = 4
"""Fabrics that are drawn of each step."""
OBEYED = Served(headroom=1, paused=3, obeyed=3, watched=True, marked=True, pools=(None, None))


def states_of(walk: Walk, made: Plan) -> Iterator[Place]:
    """Yield fabrics in the midst of each step of a plan, every switch in a state of its own."""
    place = walk.start()
    for step in made.steps:
        yield from (walk.midway(place, step) for _ in range(STATES))
        place = walk.step(place, step, f"step {step.number}")


@pytest.mark.tools("laws")
def test_no_state_of_an_up_down_fabric_has_a_cycle(tmp_path: Path) -> None:
    shape: Data = {"shape": "no hosts"}
    made = crafted(tmp_path, shape, lambda _, __: None, {**shape, "second": (30, 4)})
    for place in states_of(Walk(made.bench), made.plan()):
        files = [plain_document(f"{name}.json", config) for name, config in place.configs.items()]
        assert (drawn("TOP005", *files), unchecked("TOP005", *files)) == ([], [])


def test_a_target_that_makes_a_cycle_lossless_is_refused(tmp_path: Path) -> None:
    """The leaves bounce packets at the start too, and no priority has PFC."""
    current, target = tmp_path / "current.yaml", tmp_path / "target.yaml"
    current.write_text(json.dumps(intent()))
    files = files_of(current, tmp_path)
    for file in files.glob("*/config_db.json"):
        config = json.loads(file.read_text())
        for row in config["PORT_QOS_MAP"].values():
            row.pop("pfc_enable", None)
        file.write_text(json.dumps(config))
    data = intent()
    data["topology"]["routing"] = {"bounce": ["leaf1", "leaf2"]}
    target.write_text(json.dumps(data))
    with pytest.raises(InputError, match="TOP005 cyclic buffer dependency"):
        plan([files], target)


@pytest.mark.parametrize(
    ("turns", "is_new"),
    [("ab bc", False), ("bc ca", False), ("ab bc ca", True)],
)
def test_dependencies_of_two_acyclic_sides_together_are_new(turns: str, is_new: bool) -> None:
    """Three ports of a switch: each side has two turns, which close no cycle, and both of them have three."""
    known = [{3: {("leaf1", turn[0], turn[1]) for turn in side.split()}} for side in ("ab bc", "bc ca")]
    found = [Crossing("leaf1", turn[0], turn[1], 26, 3, OBEYED) for turn in turns.split()]
    assert bool([*faults_across(found, known)]) == is_new
