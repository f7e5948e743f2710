"""What a plan is made from does not change its steps: an intent, or the files that were rendered from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.drift.drift import drift_between
from lossless.checks.plan.inputs import host_stages
from lossless.ground.documents import load
from lossless.interfaces.api.plan import plan
from tests.checks.plan.drawn_changes import Data, fabric_at, files_of, intent

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.checks.plan.plan import Plan
    from lossless.model.fabric.hosts import HostQos

ALONE: Data = {"shape": "one leaf"}
PAIRS: dict[str, tuple[Data, Data]] = {
    "another DSCP": ({}, {"dscp": 24}),
    "another priority on one switch": (ALONE, {**ALONE, "priority": 4}),
    "longer cables": (ALONE, {**ALONE, "cables": (10, 100)}),
    "shorter cables": ({**ALONE, "cables": (10, 100)}, ALONE),
    "shares and CNPs": (ALONE, {**ALONE, "cnp": 46, "share": 60}),
}


def steps(made: Plan) -> list[Any]:
    """Return the steps of a plan: what changes on which devices, how, and what goes down meanwhile."""
    return [
        (
            step.kind,
            step.in_use,
            [
                (
                    group.devices,
                    group.drained,
                    [(each.how, each.titles, each.ports_down) for each in group.batches],
                )
                for group in step.switches
            ],
            [(group.hosts, group.title, group.links_down, group.drained) for group in step.hosts],
        )
        for step in made.steps
    ]


def written(folder: Path, name: str, data: Data) -> Path:
    """Write an intent, and return its file."""
    file = folder / name
    file.write_text(json.dumps(intent(**data)), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", PAIRS)
def test_files_give_the_steps_of_their_intent(name: str, tmp_path: Path) -> None:
    """Hosts that were not read have a step where what switches do shows that their settings change."""
    before, after = PAIRS[name]
    current, target = written(tmp_path, "current.yaml", before), written(tmp_path, "target.yaml", after)
    assert steps(plan([files_of(current, tmp_path)], target)) == steps(plan([current], target))


def test_cables_that_are_only_configured_otherwise_are_named_with_a_reserve(tmp_path: Path) -> None:
    current = written(tmp_path, "current.yaml", ALONE)
    target = written(tmp_path, "target.yaml", {**ALONE, "cables": (10, 30)})
    made = plan([files_of(current, tmp_path)], target)
    (line,) = (line for step in made.steps if step.kind == "cables" for line in step.by_hand)
    assert line.startswith("leaf1: change the cables at Ethernet0, Ethernet4 from 5 m to 10 m")
    assert line.endswith("leave a cable that has 10 m already")


def test_a_group_that_the_switch_makes_of_rendered_rows_is_no_difference(tmp_path: Path) -> None:
    """Priority 3 has PFC and no row of its group, as the intent puts its packets into another: buffermgrd makes it."""
    current = written(tmp_path, "current.yaml", {**ALONE, "group": 1})
    files = files_of(current, tmp_path)
    (switch,) = fabric_at(current).switches
    drift = drift_between(switch, load(str(files / "leaf1" / "config_db.json")))
    assert drift.rows == ()


def stages(old: HostQos, new: HostQos) -> int:
    """Return the number of stages of a host whose jobs send the same before and after."""
    dscps = frozenset({26})
    return len(host_stages(old, new, {26: 3}, dscps, dscps))


def test_a_host_that_reported_what_the_target_says_has_no_step(tmp_path: Path) -> None:
    new = fabric_at(written(tmp_path, "target.yaml", ALONE)).hosts[0].qos
    read = new._replace(provenance="deployed")
    assert stages(read, new) == 1
    assert stages(read._replace(mtu_bytes=4200), new) == 2
    assert stages(read._replace(pfc_priorities=(4,)), new) == 2
