"""The files of a plan: what they hold, what they are called, and how many they are."""

from __future__ import annotations

import copy
import hashlib
import json
import posixpath
from typing import Any

import jsonpatch
import pytest

from lossless.checks.plan.plan import HostGroup, Plan
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.ground.basics.errors import RenderError
from lossless.output.render.plan.batches import limits_of
from lossless.output.render.plan.files import plan_run_files
from lossless.output.render.tree import require_inside
from tests.output.render.plan.made_plans import (
    DRAIN_BY_HAND,
    PATCH,
    RELOAD,
    RUNNING,
    SECOND_PATCH,
    WRITE,
    after,
    batch,
    group,
    host_qos,
    patches,
    plan,
    step,
)

HOSTS = HostGroup("servers", ("host1", "host2"), "take in DSCP 26", host_qos())
DRAINED = group(batch("reload", RELOAD), name="spines", devices=("spine1", "spine2"))._replace(
    drained=True, at_once=1
)


def texts(made: Plan) -> dict[str, str]:
    """Return the files of a plan by their path."""
    files = list(plan_run_files(made))
    for file in files:
        require_inside(file.path)
    assert len({file.path for file in files}) == len(files)
    return {file.path: file.text for file in files}


def loaded(made: Plan, path: str) -> Any:
    return json.loads(texts(made)[path])


def test_every_step_and_every_rollback_has_a_folder() -> None:
    rollback = ((step(group(batch("patch", PATCH))),), (step(DRAINED), step(DRAINED, number=2)))
    paths = texts(plan(step(patches()), step(DRAINED, number=2), rollback=rollback))
    assert {posixpath.dirname(path) for path in paths if path.endswith("manifest.json")} == {
        "step-01",
        "step-02",
        "rollback-from-01/step-01",
        "rollback-from-02/step-01",
        "rollback-from-02/step-02",
    }


def test_a_thousand_switches_have_the_files_of_one() -> None:
    many = group(batch("patch", PATCH), devices=tuple(f"leaf{number}" for number in range(1000)))
    one = group(batch("patch", PATCH))
    assert texts(plan(step(many))).keys() == texts(plan(step(one))).keys()


def test_a_patch_begins_with_a_test_of_every_row_that_there_is() -> None:
    steps = loaded(plan(step(group(batch("patch", PATCH)))), "step-01/leaves/01-patch.json")
    tests = [each for each in steps if each["op"] == "test"]
    assert steps[: len(tests)] == tests
    assert [each["path"] for each in tests] == [
        *(f"/BUFFER_PG/{port}|3" for port in RUNNING["PORT"]),
        "/DSCP_TO_TC_MAP/AZURE",
    ]


def test_patches_applied_one_after_another_give_the_target() -> None:
    config: Any = copy.deepcopy(RUNNING)
    made = plan(step(patches()))
    for number in ("01", "02"):
        config = jsonpatch.JsonPatch(loaded(made, f"step-01/leaves/{number}-patch.json")).apply(config)
    assert config == after(PATCH, SECOND_PATCH)


@pytest.mark.parametrize("path", [("BUFFER_PG", "Ethernet4|3"), ("DSCP_TO_TC_MAP", "AZURE")])
def test_a_patch_does_not_apply_where_a_row_is_another_one(path: tuple[str, str]) -> None:
    changed = copy.deepcopy(RUNNING)
    changed[path[0]][path[1]] = {"anything": "else"}
    patch = jsonpatch.JsonPatch(loaded(plan(step(patches())), "step-01/leaves/01-patch.json"))
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        patch.apply(changed)


def test_names_in_a_pointer_are_escaped() -> None:
    config = {**RUNNING, "DSCP_TO_TC_MAP": {"a/b~c": {"24": "3"}}}
    operation = PATCH[-1]._replace(path=("DSCP_TO_TC_MAP", "a/b~c", "26"))
    made = plan(step(group(batch("patch", (operation,), config))))
    assert [each["path"] for each in loaded(made, "step-01/leaves/01-patch.json")] == [
        "/DSCP_TO_TC_MAP/a~1b~0c",
        "/DSCP_TO_TC_MAP/a~1b~0c/26",
    ]


def test_rows_that_the_updater_refuses_are_written_and_removed_by_commands() -> None:
    made = texts(plan(step(group(batch("write", WRITE)))))
    assert made["step-01/leaves/01-write.sh"].splitlines() == [
        "sonic-db-cli CONFIG_DB DEL 'PFC_WD|Ethernet4'",
        "sonic-db-cli CONFIG_DB HDEL 'PFC_WD|Ethernet0' restoration_time",
        "config load -y 01-write.json",
    ]
    assert made["step-01/leaves/01-undo.sh"].splitlines() == [
        "config load -y 01-undo.json",
        "sonic-db-cli CONFIG_DB DEL 'DSCP_TO_TC_MAP|OTHER'",
    ]
    written = json.loads(made["step-01/leaves/01-write.json"])
    assert {table: list(rows) for table, rows in written.items()} == {
        "PFC_WD": ["Ethernet0"],
        "BUFFER_PORT_INGRESS_PROFILE_LIST": ["Ethernet0"],
        "DSCP_TO_TC_MAP": ["OTHER"],
    }


def test_only_removals_load_nothing() -> None:
    made = texts(plan(step(group(batch("write", WRITE[2:3])))))
    assert "step-01/leaves/01-write.json" not in made
    assert made["step-01/leaves/01-write.sh"] == "sonic-db-cli CONFIG_DB DEL 'PFC_WD|Ethernet4'\n"


def test_the_manifest_has_the_checksum_of_every_file_and_who_gets_them() -> None:
    made = plan(step(patches(), DRAINED, hosts=(HOSTS,), by_hand=(DRAIN_BY_HAND,)))
    files = texts(made)
    manifest = json.loads(files["step-01/manifest.json"])
    assert (manifest["plan"], manifest["step"], manifest["variables"]) == ("p1", 1, ["drained"])
    sums = {f"step-01/{path}": sum_ for path, sum_ in (manifest["files"] | manifest["shared_files"]).items()}
    assert {posixpath.normpath(path): sum_ for path, sum_ in sums.items()} == {
        path: hashlib.sha256(text.encode()).hexdigest()
        for path, text in files.items()
        if path not in ("step-01/manifest.json", "inventory.yml")
    }
    assert [(each["group"], each["devices"], each["at_once"]) for each in manifest["switches"]] == [
        ("leaves", ["leaf1"], None),
        ("spines", ["spine1", "spine2"], 1),
    ]
    assert [(each["group"], each["devices"]) for each in manifest["hosts"]] == [
        ("servers", ["host1", "host2"])
    ]


def test_an_inventory_tells_apart_groups_that_are_called_the_same() -> None:
    first = group(batch("patch", PATCH), name="Leaf switches", devices=("leaf1", "leaf2"))
    second = first._replace(devices=("leaf1",))
    third = first._replace(name="leaf2", devices=("leaf2",))
    files = texts(plan(step(first), step(second, number=2), step(third, first, number=3)))
    assert "step-01/leaf_switches/batches" in files
    assert "step-02/leaf_switches_group/batches" in files
    assert {"step-03/leaf2_group/batches", "step-03/leaf_switches/batches"} <= files.keys()


def test_the_groups_of_a_plan_are_in_its_inventory() -> None:
    made = plan(step(patches()))._replace(groups={"leaves": ("leaf1",), "pod 1": ("leaf1", "leaf9")})
    assert texts(made)["inventory.yml"].partition("plan_switches:")[2].split() == [
        *("children:", "leaves:", "hosts:", '"leaf1":', "plan_hosts:", "children:", "{}"),
        *("pod_1:", "hosts:", '"leaf1":', '"leaf9":'),
    ]


@pytest.mark.parametrize("device", ["leaf[1:3]", "leaf1:22", "../leaf1", "a,b", "", "{{ x }}"])
def test_a_device_whose_name_an_inventory_takes_for_something_else_is_refused(device: str) -> None:
    with pytest.raises(RenderError, match="an inventory takes"):
        texts(plan(step(group(batch("patch", PATCH), devices=(device,)))))


def test_a_plan_whose_id_leads_elsewhere_is_refused() -> None:
    with pytest.raises(RenderError, match="plan id"):
        texts(plan(step(patches()))._replace(id="../p1"))


@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        ("jobs", "jobs_restarted"),
        ("cables", "cables_changed"),
        ("stop", "jobs_stopped"),
        ("start", "jobs_started"),
        ("change", "by_hand_done"),
    ],
)
def test_what_people_do_is_asked_for_by_a_variable(kind: Any, variable: str) -> None:
    files = texts(plan(step(kind=kind, by_hand=("do it",))))
    assert json.loads(files["step-01/manifest.json"])["variables"] == [variable]
    assert f"-e {variable}=yes" in files["step-01/playbook.yml"]
    assert "- do it\n" in files["step-01/playbook.yml"]


def test_one_device_changes_before_the_others_and_both_numbers_are_variables() -> None:
    files = texts(plan(step(patches())))
    check, serial = (line for line in files["step-01/playbook.yml"].splitlines() if "serial:" in line)
    assert check == '  serial: "100%"'
    first, others = json.loads(serial.partition(": ")[2])
    assert "lossless_canary | default(1)" in first
    assert "lossless_serial | default('100%')" in others


def test_no_variable_changes_how_many_drained_switches_change_at_once() -> None:
    playbook = texts(plan(step(DRAINED)))["step-01/playbook.yml"]
    assert f"  serial: {DRAINED.at_once}\n" in playbook


def test_the_playbook_of_a_step_asks_every_device_of_the_steps_before() -> None:
    jobs = step(number=2, kind="jobs", by_hand=("restart every job",))
    back = (step(group(batch("patch", PATCH))), step(DRAINED, number=2))
    files = texts(
        plan(step(patches(), hosts=(HOSTS,)), jobs, step(DRAINED, number=3), rollback=((), (), back))
    )
    asked = {path: text.count('"how": ') for path, text in files.items() if path.endswith("playbook.yml")}
    assert asked == {
        "step-01/playbook.yml": 0,
        "step-02/playbook.yml": 2,
        "step-03/playbook.yml": 2,
        "rollback-from-03/step-01/playbook.yml": 0,
        "rollback-from-03/step-02/playbook.yml": 1,
    }
    assert json.loads(files["step-03/manifest.json"])["variables"] == ["step_02_done", "drained"]


def test_drained_hosts_change_so_many_at_once_and_their_drain_is_asked_for() -> None:
    hosts = HOSTS._replace(links_down=2, drained=True, at_once=2)
    files = texts(plan(step(hosts=(hosts,), by_hand=("drain hosts",))))
    assert "  serial: 2\n" in files["step-01/playbook.yml"]
    assert "step-01/playbook.yml -e drained=NAMES\n" in files["step-01/playbook.yml"]
    manifest = json.loads(files["step-01/manifest.json"])
    assert manifest["variables"] == ["drained"]
    assert [(each["links_down"], each["at_once"]) for each in manifest["hosts"]] == [(2, 2)]


def test_nothing_is_asked_for_where_nobody_has_anything_to_do() -> None:
    files = texts(plan(step(patches())))
    assert json.loads(files["step-01/manifest.json"])["variables"] == []
    assert "assert" not in files["step-01/playbook.yml"]


def test_a_text_of_a_plan_is_no_template_of_ansible() -> None:
    made = plan(step(DRAINED, by_hand=("{{ lookup('pipe', 'id') }}", "{% if %}"), title="{{ 1 }}"))
    playbook = texts(made)["step-01/playbook.yml"]
    assert "{{ lookup" not in playbook
    assert "{% if" not in playbook
    assert "{{ 1" not in playbook


def test_the_limit_of_a_run_is_more_than_that_of_all_its_commands() -> None:
    files = texts(plan(step(patches())))
    limits = [int(line.split()[2]) for line in files["step-01/leaves/batches"].splitlines()]
    _, whole = (
        int(line.split()[1])
        for line in files["step-01/playbook.yml"].splitlines()
        if "lossless_limit_s" in line
    )
    # Each batch, and its rollback twice.
    assert whole > 3 * sum(limits)


def test_ports_are_waited_for_only_where_some_go_down() -> None:
    lines = texts(plan(step(patches())))["step-01/leaves/batches"].splitlines()
    assert [line.split()[3] for line in lines] == ["120", "0"]


def test_a_patch_may_take_longer_than_any_that_was_measured() -> None:
    assert limits_of(batch("patch", PATCH, time=TimeRange(24, 548))).command_s == 300 + 548
    assert limits_of(batch("reload", RELOAD, time=TimeRange(0, 900))).command_s == 900
