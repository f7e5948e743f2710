"""One danger at a time: small fabrics in which only one of the things that a plan looks at is in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.plan.brute_force import is_drained
from tests.checks.plan.crafted import carried_out, crafted
from tests.checks.plan.drawn_changes import Data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TWO_CLASSES: Data = {"second": (30, 4)}
NO_HOSTS: Data = {"shape": "no hosts"}
DYNAMIC: Data = {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"}


def other_traffic_classes(config: dict[str, Any]) -> None:
    """Let DSCP 26 and 30 have their priorities, 3 and 4, by TC 5 and 3, not by TC 3 and 4 as an intent has it.

    While TC 3 becomes that of DSCP 26, each port has both DSCPs lossless, and may yet have one with the other's
    priority: only its neighbors tell that this is wrong.
    """
    config["DSCP_TO_TC_MAP"]["AZURE"] |= {"26": "5", "30": "3"}
    config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"] |= {"3": "4", "5": "3"}
    config["TC_TO_QUEUE_MAP"]["AZURE"] |= {"3": "4", "5": "3"}


@pytest.mark.parametrize("tier", ["leaf", "spine"])
def test_a_dscp_keeps_its_priority_at_both_ends_of_a_link(tmp_path: Path, tier: str) -> None:
    """In either direction: maps of traffic classes to queues change apart from those to priority groups."""

    def edit(name: str, config: dict[str, Any]) -> None:
        if name.startswith(tier):
            other_traffic_classes(config)

    made = crafted(tmp_path, {**NO_HOSTS, **TWO_CLASSES}, edit, sent=(26, 30))
    plan, faults = carried_out(made)
    assert faults == []
    assert not any(is_drained(group, step) for step in plan.steps for group in step.switches)


@pytest.mark.parametrize("tier", ["leaf", "spine"])
def test_a_fault_of_one_dscp_at_the_start_excuses_none_of_another(tmp_path: Path, tier: str) -> None:
    """The ends of each link have other priorities for DSCP 26, which the change ends, and the same one for DSCP 30."""

    def edit(name: str, config: dict[str, Any]) -> None:
        if name.startswith(tier):
            other_traffic_classes(config)
        else:
            config["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "4"

    _, faults = carried_out(crafted(tmp_path, {**NO_HOSTS, **TWO_CLASSES}, edit, sent=(26, 30)))
    assert faults == []


def test_a_dscp_keeps_the_priority_that_nics_have_for_it(tmp_path: Path) -> None:
    """Where there is no other switch, and no host changes."""
    before = {**TWO_CLASSES, "shape": "one leaf"}
    made = crafted(
        tmp_path,
        before,
        lambda _, config: other_traffic_classes(config),
        sent=(26, 30),
        hosts_known=True,
    )
    plan, faults = carried_out(made)
    assert faults == []
    assert [step.kind for step in plan.steps] == ["change"]


def renamed_maps(config: dict[str, Any]) -> None:
    """Let ports use maps of other names, by which DSCP 26 has TC 5, and TC 3 is lossy."""
    for table in ("DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP"):
        config[table]["OLD"] = config[table].pop("AZURE")
    config["DSCP_TO_TC_MAP"]["OLD"] |= {"26": "5"}
    config["TC_TO_PRIORITY_GROUP_MAP"]["OLD"] |= {"3": "0", "5": "3"}
    config["TC_TO_QUEUE_MAP"]["OLD"] |= {"3": "5", "5": "3"}
    for row in config["PORT_QOS_MAP"].values():
        row |= {
            field: "OLD" for field in ("dscp_to_tc_map", "tc_to_pg_map", "tc_to_queue_map") if field in row
        }


@pytest.mark.parametrize("shape", ["no hosts", "leaf_spine"])
def test_packets_between_ports_of_two_sets_of_maps_are_lost(tmp_path: Path, shape: str) -> None:
    """A port with the old maps and one with the new each have DSCP 26 lossless, and packets between them not."""

    def edit(name: str, config: dict[str, Any]) -> None:
        if name.startswith("leaf"):
            renamed_maps(config)

    plan, faults = carried_out(crafted(tmp_path, {"shape": shape}, edit), whole_fabrics=20)
    assert faults == []
    assert all(is_drained(group, step) for step in plan.steps for group in step.switches)


def test_hosts_that_nobody_has_read_take_in_a_dscp_before_any_of_them_sends_it(tmp_path: Path) -> None:
    """In the rollback too: as long as all do both in one step, one sends what another does not take in."""
    plan = crafted(tmp_path, {}, lambda _, __: None, {"dscp": 24}).plan()
    for step in (*plan.steps, *(step for back in plan.rollback for step in back)):
        said = ", ".join([*(group.title for group in step.hosts), *step.by_hand])
        assert "take in DSCP" not in said or "send DSCP" not in said, said


def test_a_buffer_model_alone_takes_a_restart_of_the_buffer_manager(tmp_path: Path) -> None:
    def edit(_: str, config: dict[str, Any]) -> None:
        config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional"

    made = crafted(tmp_path, {**DYNAMIC, "model": "dynamic"}, edit)
    plan, faults = carried_out(made)
    assert faults == []
    assert {batch.how for step in plan.steps for group in step.switches for batch in group.batches} == {
        "reload"
    }


def test_rows_of_another_buffer_model_come_with_the_restart(tmp_path: Path) -> None:
    """Neither forth nor back does a buffer manager see rows of a model that is not its own."""
    after = {**DYNAMIC, "model": "dynamic", "dscp": 24, "detection": 1600}
    _, faults = carried_out(crafted(tmp_path, DYNAMIC, lambda _, __: None, after))
    assert faults == []


def renamed_scheduler(old: str, new: str) -> Callable[[str, dict[str, Any]], None]:
    """Return what gives a scheduler of ports another name."""

    def edit(_: str, config: dict[str, Any]) -> None:
        config["SCHEDULER"][new] = config["SCHEDULER"].pop(old)
        for row in config["QUEUE"].values():
            if row["scheduler"] == old:
                row["scheduler"] = new

    return edit


def test_a_row_goes_only_when_no_port_that_is_up_refers_to_it(tmp_path: Path) -> None:
    """Also where a row of another table has its name, and that one stays."""
    edit = renamed_scheduler("scheduler.cnp", "AZURE")
    _, faults = carried_out(crafted(tmp_path, NO_HOSTS, edit, {**NO_HOSTS, "share": 60}))
    assert faults == []


def test_new_rows_come_in_the_patch_that_refers_to_them(tmp_path: Path) -> None:
    """SONiC's models let the updater write them in no other order, so that one patch does, and one for the old rows."""
    edit = renamed_scheduler("scheduler.rdma", "OLD")
    plan, faults = carried_out(crafted(tmp_path, NO_HOSTS, edit, {**NO_HOSTS, "share": 60}))
    assert faults == []
    assert [len(group.batches) for step in plan.steps for group in step.switches] == [2, 2, 2, 2]
