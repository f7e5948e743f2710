"""Links and hosts that only one side of a plan has: what is told of them, and what is not evaluated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.interfaces.api.plan import plan
from tests.checks.plan.drawn_changes import Data, files_of, intent

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.checks.plan.plan import Plan

SOURCES = pytest.mark.parametrize("source", ["intent", "files"])


def planned(folder: Path, source: str, before: Data, after: Data) -> Plan:
    """Return the plan between two intents, or from the files of the first."""
    current, target = folder / "current.yaml", folder / "target.yaml"
    current.write_text(json.dumps(before))
    target.write_text(json.dumps(after))
    return plan([files_of(current, folder) if source == "files" else current], target)


def shaped(**shape: object) -> Data:
    """Return the small fabric in another shape."""
    data = intent()
    data["topology"]["leaf_spine"] |= shape
    return data


@SOURCES
def test_hosts_that_go_are_taken_out_of_service_before_their_ports_change(
    source: str, tmp_path: Path
) -> None:
    made = planned(tmp_path, source, intent(), shaped(hosts_per_leaf=1))
    assert made.unsafe == ()
    first = made.steps[0]
    assert first.by_hand[0].startswith("take links out of service that the target has not")
    assert "host4 - leaf2:Ethernet4" in first.by_hand[0]
    assert "cables" not in {step.kind for step in made.steps}


def test_hosts_that_come_are_cabled_after_the_last_step(tmp_path: Path) -> None:
    made = planned(tmp_path, "files", shaped(hosts_per_leaf=1), intent())
    assert made.unsafe == ()
    assert {step.kind for step in made.steps} == {"change"}
    assert any(
        note.startswith("links of the target that are not in service") and "host4 - leaf2:Ethernet4" in note
        for note in made.notes
    )


@SOURCES
def test_the_cable_of_a_host_at_the_port_of_an_old_uplink_comes_with_its_link(
    source: str, tmp_path: Path
) -> None:
    """The uplink's cable is not changed for it, and no step sets a host that is not there yet."""
    before, after = (intent(leaf="nvidia-sn4700", spine="nvidia-sn4700") for _ in range(2))
    before["topology"]["leaf_spine"] |= {"uplinks": "2 x 400G"}
    after["topology"]["leaf_spine"] |= {"hosts_per_leaf": 3, "oversubscription": 1.5}
    made = planned(tmp_path, source, before, after)
    assert any("host3 - leaf1:Ethernet16" in note for note in made.notes)
    assert "cables" not in {step.kind for step in made.steps}
    assert not any("host3" in group.hosts for step in made.steps for group in step.hosts)


def test_an_uplink_that_is_not_laid_yet_is_no_danger_and_stops_no_jobs(tmp_path: Path) -> None:
    """Its port is down in the files: one end of it may get PFC before the other."""
    made = planned(tmp_path, "files", shaped(), shaped(uplinks="2 x 800G"))
    assert made.unsafe == ()
    assert {step.kind for step in made.steps} == {"change"}
    assert any("leaf1:Ethernet24 - spine2:Ethernet0" in note for note in made.notes)


def test_files_of_the_same_links_move_none(tmp_path: Path) -> None:
    made = planned(tmp_path, "files", intent(), intent(kmin=400))
    assert not any("links" in note for note in made.notes)
    assert made.steps[0].by_hand == ()


def test_hosts_that_were_not_read_are_named_where_no_step_sets_them(tmp_path: Path) -> None:
    after = {**intent(), "hosts": {"pfc_prevention": "off"}}
    made = planned(tmp_path, "files", intent(), after)
    assert made.steps == ()
    assert made.notes[0].startswith("what hosts are set to now is not known, and no step sets them")
