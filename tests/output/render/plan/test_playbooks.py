"""What the playbooks of a plan do: ansible-playbook, run on pretended switches and hosts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lossless.checks.plan.plan import HostGroup, Plan
from tests.all_cases import ALL_CASES
from tests.output.render.plan import processes
from tests.output.render.plan.fake_fabric import FakeFabric, Played
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
from tests.output.render.plan.switches import FakeSwitch, write_plan, write_tools

pytestmark = pytest.mark.tools("ansible")


CHANGES = {"patch": PATCH, "write": WRITE, "reload": RELOAD}
CALLS = {"patch": 9, "write": 7, "reload": 9}
"""The first is by the check of the switch, before any is changed."""
CROSS = (
    [(how, call, fault) for how in CALLS for call in range(1, CALLS[how] + 1)
     for fault in ("half", "half-hang", "disconnect")]
    if ALL_CASES
    else [("reload", 5, "disconnect")]
)  # fmt: skip
"""Every call by ``make cases``; test_run_script.py has every call of the script anyway."""
LEAVES = group(batch("patch", PATCH), devices=("leaf1", "leaf2"))
SPINES = group(batch("write", WRITE), name="spines", devices=("spine1",))
HOSTS = HostGroup("servers", ("host1",), "take in DSCP 26", host_qos())


def fabric(tmp_path: Path, made: Plan) -> FakeFabric:
    files = write_plan(made, tmp_path / "plan")
    return FakeFabric(tmp_path / "fabric", files, write_tools(tmp_path / "tools"))


def one_switch(tmp_path: Path, how: str) -> tuple[FakeFabric, FakeSwitch]:
    made = fabric(tmp_path, plan(step(group(batch(how, CHANGES[how])))))
    return made, made.switch("leaf1")


def said(played: Played) -> str:
    """What was printed, line ends inside of texts as such."""
    return played.output.replace("\\n", "\n")


def test_a_step_is_carried_out_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(group(batch("patch", PATCH)), hosts=(HOSTS,))))
    switch, host = made.switch("leaf1"), made.host("host1")
    first = made.play("step-01")
    assert (first.status, {name: recap.failed for name, recap in first.recap.items()}) == (
        0, {"leaf1": 0, "host1": 0},
    ), first.output  # fmt: skip
    assert switch.running == switch.saved == after(PATCH)
    assert host.state["nics"]["eth0"]["pfc"] == [0, 0, 0, 1, 0, 0, 0, 0]
    root = made.place("host1")
    assert os.access(root / "usr/local/sbin/lossless-roce.sh", os.X_OK)
    assert (root / "etc/systemd/system/lossless-roce.service").exists()
    assert (root / "enabled").exists()
    switch.forget()
    again = made.play("step-01")
    assert (again.status, {name: recap.changed for name, recap in again.recap.items()}) == (
        0, {"leaf1": 0, "host1": 0},
    ), again.output  # fmt: skip
    # One by the check, one by the run.
    assert switch.calls == ["show runningconfiguration all"] * 2


def test_a_switch_that_fails_stops_those_after_it_and_a_repeated_run_goes_on(tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(LEAVES._replace(at_once=1))))
    leaf1, leaf2 = made.switch("leaf1"), made.switch("leaf2")
    leaf1.set("faults", {"config apply-patch": "half-hang"})
    failed = made.play("step-01")
    assert failed.status != 0
    assert failed.recap["leaf1"].failed == 1
    assert "batch 01 failed: config apply-patch 01-patch.json gave no answer" in said(failed)
    assert leaf1.running == leaf1.saved == leaf2.running == RUNNING
    assert leaf2.calls == ["show runningconfiguration all"]
    leaf1.forget()
    assert made.play("step-01").status == 0
    assert leaf1.saved == leaf2.saved == after(PATCH)


@pytest.mark.parametrize("at_once", [None, 1])
def test_a_switch_that_is_out_of_reach_stops_the_step(at_once: int | None, tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(LEAVES._replace(at_once=at_once, devices=("leaf2", "leaf1")), SPINES)))
    leaf1, _, spine1 = (made.switch(name) for name in ("leaf1", "leaf2", "spine1"))
    made.cut_off("leaf2", 10**6)
    failed = made.play("step-01")
    assert failed.status != 0
    assert failed.recap["leaf2"].failed == 1
    assert leaf1.running == spine1.running == RUNNING


@pytest.mark.parametrize(("how", "call", "fault"), CROSS)
def test_no_fault_leaves_anything_between(how: str, call: int, fault: str, tmp_path: Path) -> None:
    made, switch = one_switch(tmp_path, how)
    old, new = RUNNING, after(CHANGES[how])
    switch.set("faults", {str(call): fault})
    done = made.play("step-01")
    if call == 1 and fault == "disconnect":
        assert (done.recap["leaf1"].failed, switch.running, switch.saved) == (1, old, old), done.output
    elif fault == "disconnect" or done.status == 0:
        assert (done.status, switch.running, switch.saved) == (0, new, new), done.output
    else:
        assert (done.recap["leaf1"].failed, switch.running, switch.saved) == (1, old, old), done.output
    switch.forget()
    assert made.play("step-01").status == 0
    assert switch.running == switch.saved == new


def test_a_switch_that_is_lost_for_good_goes_on_by_itself(tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(group(batch("patch", PATCH)), SPINES)))
    switch, spine1 = made.switch("leaf1"), made.switch("spine1")
    switch.set("faults", {"config apply-patch": "disconnect"})
    switch.set("disconnected_for", 10**6)
    lost = made.play("step-01", lossless_limit_s=4, lossless_poll_s=2)
    assert (lost.status != 0, spine1.running) == (True, RUNNING)
    made.cut_off("leaf1", 0)
    wait_for_the_end(switch)
    assert switch.saved in (RUNNING, after(PATCH))
    switch.forget()
    again = made.play("step-01")
    # A machine on which the script takes longer than the limit ends it wherever it is.
    assert again.status == 0 or "restores what was before it" in said(again)
    assert switch.saved == after(PATCH) or again.status != 0


def wait_for_the_end(switch: FakeSwitch) -> None:
    """Wait until the lock is given back."""
    for _ in processes.attempts():
        if not subprocess.run(["flock", "--nonblock", str(switch.lock), "true"], check=False).returncode:
            return
        time.sleep(0.1)


def test_a_start_that_somebody_else_has_changed_and_a_second_run_are_refused(tmp_path: Path) -> None:
    made, switch = one_switch(tmp_path, "patch")
    switch.running = theirs = {**RUNNING, "DSCP_TO_TC_MAP": {"AZURE": {"24": "4"}}}
    refused = made.play("step-01")
    assert refused.recap["leaf1"].failed == 1
    assert "DSCP_TO_TC_MAP|AZURE: 24 is 4, not 3, 48 is not set, not 6" in said(refused)
    assert (switch.running, switch.saved) == (theirs, RUNNING)
    switch.running = RUNNING
    with locked(switch.lock):
        refused = made.play("step-01")
    assert refused.recap["leaf1"].failed == 1
    assert f"another run holds {switch.lock}" in said(refused)
    assert switch.running == RUNNING


def test_a_second_run_on_a_host_is_refused(tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(hosts=(HOSTS,))))
    host, lock = made.host("host1"), made.place("host1") / "run/lossless-plan.lock"
    with locked(lock):
        refused = made.play("step-01", forked=False)
    assert refused.recap["host1"].failed == 1
    assert f"another run holds {lock}" in said(refused)
    assert host.changes() == []


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold a lock as another run does."""
    command = ["flock", str(lock), "sh", "-c", "echo locked; read line"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "locked\n"
        yield
        holder.stdin.close()


def test_what_people_do_is_asked_for_before_any_switch_changes(tmp_path: Path) -> None:
    drained = group(batch("reload", RELOAD))._replace(drained=True, at_once=1)
    jobs = step(number=2, kind="jobs", by_hand=("restart every job",))
    made = fabric(tmp_path, plan(step(drained, by_hand=(DRAIN_BY_HAND,)), jobs))
    switch = made.switch("leaf1")
    refused = made.play("step-01")
    assert refused.status != 0
    assert f"- {DRAIN_BY_HAND}\nThen run the same command with -e drained=NAMES, the devices" in said(refused)
    assert switch.calls == []
    assert made.play("step-01", drained="leaf1").status == 0
    assert switch.saved == after(RELOAD)
    refused = made.play("step-02", forked=False)
    assert refused.status != 0
    assert "- restart every job\nThen run the same command with -e jobs_restarted=yes." in said(refused)
    assert made.play("step-02", jobs_restarted="yes").status == 0


def test_each_device_that_must_be_drained_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    leaves = LEAVES._replace(batches=SPINES.batches, drained=True, at_once=1)
    made = fabric(tmp_path, plan(step(leaves, by_hand=(DRAIN_BY_HAND,))))
    leaf1, leaf2 = made.switch("leaf1"), made.switch("leaf2")
    for drained, unnamed in (("yes", "leaf1, leaf2"), ("leaf2", "leaf1")):
        refused = made.play("step-01", drained=drained)
        assert refused.status != 0
        assert re.search(f"Not named: {unnamed}$", said(refused), re.MULTILINE), said(refused)
    assert leaf1.calls == leaf2.calls == []
    assert made.play("step-01", check=True).status == 0, "nothing changes, so nothing has to be drained"
    assert made.play("step-01", limit="leaf1", drained=["leaf1"]).status == 0
    assert (leaf1.saved, leaf2.saved) == (after(WRITE), RUNNING)
    assert made.play("step-01", drained="leaves").status == 0
    assert leaf2.saved == after(WRITE)


def test_a_step_is_refused_while_another_group_has_not_done_the_one_before(tmp_path: Path) -> None:
    second = group(batch("patch", SECOND_PATCH, after(PATCH), ports_down=()))
    servers = HOSTS._replace(hosts=("host1", "host2"))
    made = fabric(tmp_path, plan(step(LEAVES, hosts=(servers,)), step(second, hosts=(HOSTS,), number=2)))
    leaf1, leaf2, host1, _ = (
        made.switch("leaf1"),
        made.switch("leaf2"),
        made.host("host1"),
        made.host("host2"),
    )
    assert made.play("step-01", limit="leaf1,host1").status == 0
    set_before = host1.state
    refused = made.play("step-02", limit="leaf1")
    assert refused.status != 0
    assert "a step before is not complete on leaf2, host2." in said(refused)
    assert leaf1.running == after(PATCH)
    assert (leaf2.running, host1.state) == (RUNNING, set_before)
    assert made.play("step-02", limit="leaf1", lossless_incomplete="leaf2,host2").status == 0
    assert leaf1.saved == after(PATCH, SECOND_PATCH)
    # What has done this step has done the one before, although its rows are others by now.
    assert made.play("step-01", limit="leaf2,host2").status == 0
    again = made.play("step-02", check=True)
    assert (again.status, again.recap["leaf1"].changed) == (0, 0), again.output


def test_a_step_after_one_that_people_do_asks_whether_it_was_done(tmp_path: Path) -> None:
    jobs = step(number=2, kind="jobs", title="jobs restart", by_hand=("restart every job",))
    made = fabric(tmp_path, plan(step(SPINES), jobs, step(group(batch("patch", PATCH)), number=3)))
    leaf1, _ = made.switch("leaf1"), made.switch("spine1")
    refused = made.play("step-02", jobs_restarted="yes")
    assert refused.status != 0
    assert "a step before is not complete on spine1." in said(refused)
    assert made.play("step-01").status == 0
    refused = made.play("step-03")
    assert refused.status != 0
    assert "Step 2 comes first: jobs restart.\n- restart every job" in said(refused)
    assert leaf1.running == RUNNING
    assert made.play("step-03", step_02_done="yes").status == 0
    assert leaf1.running == after(PATCH)


@pytest.mark.parametrize("check", [True, False])
def test_a_switch_that_drifted_stops_the_step_before_any_other_changes(check: bool, tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(LEAVES, SPINES, hosts=(HOSTS,))))
    leaf1, leaf2, spine1 = (made.switch(name) for name in ("leaf1", "leaf2", "spine1"))
    host1 = made.host("host1")
    assert made.play("step-01", check=True).status == 0
    leaf2.running = {**RUNNING, "DSCP_TO_TC_MAP": {"AZURE": {"24": "4"}}}
    refused = made.play("step-01", check=check)
    assert refused.recap["leaf2"].failed == 1
    assert "DSCP_TO_TC_MAP|AZURE: 24 is 4, not 3" in said(refused)
    assert leaf1.running == leaf1.saved == spine1.running == RUNNING
    assert host1.changes() == []


@pytest.mark.parametrize("cause", ["refused by the driver", "no tool"])
def test_a_host_that_cannot_be_set_keeps_the_files_that_it_boots_with(cause: str, tmp_path: Path) -> None:
    made = fabric(tmp_path, plan(step(hosts=(HOSTS,))))
    host, root = made.host("host1"), made.place("host1")
    state = host.state
    state["nics"]["eth0"]["qos_refused"] = True
    host.put(state)
    if cause == "no tool":
        (root / "nic" / "bin" / "mlnx_qos").unlink()
    assert made.play("step-01").recap["host1"].failed == 1
    assert not (root / "usr/local/sbin/lossless-roce.sh").exists()
    assert not (root / "enabled").exists()


def test_ansible_lint_has_nothing_to_say(tmp_path: Path) -> None:
    drained = group(batch("reload", RELOAD), name="spines", devices=("spine1",))._replace(
        drained=True, at_once=2
    )
    steps = (
        step(
            patches(),
            drained,
            hosts=(HOSTS,),
            by_hand=("drain " + "every switch and " * 20, "use {{ braces }}"),
        ),
        step(number=2, kind="cables", by_hand=("change the cables",), title="long " * 60),
        step(number=3),
    )
    files = write_plan(plan(*steps, rollback=((), (step(SPINES),), ())), tmp_path / "plan")
    lint = shutil.which("ansible-lint", path=str(Path(sys.executable).parent))
    assert lint, "ansible-lint is part of the development environment"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [lint, "--offline", "--nocolor", "--strict", "--profile", "production", "."],
        cwd=files, env={"PATH": path, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "Passed: 0 failure(s), 0 warning(s)" in done.stderr
