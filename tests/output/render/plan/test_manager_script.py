"""What ``run.sh`` does on the host of a subnet manager: it takes files in, or leaves the host as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.output.render.plan.manager_host import (
    CONF,
    M_KEY,
    NEW,
    OLD,
    POLICY,
    ROOTS,
    ManagerHost,
    group,
    plan,
)

HUP = plan(group(CONF, POLICY))
RESTART = plan(group(CONF, POLICY, how="restart"))


def test_files_come_into_their_places_and_opensm_reads_them_on_sighup(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    done = host.run(HUP)
    assert (done.returncode, done.stderr) == (0, "")
    assert host.files() == {"opensm.conf": NEW, "qos-policy.conf": "qos-levels\n"}
    assert host.calls() == ["pkill -HUP -x opensm"]
    assert (host.fake / "read").read_text() == NEW + "qos-levels\n"


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.run(HUP)
    calls = host.calls()
    again = host.run(HUP)
    assert again.returncode == 0
    assert "nothing to do" in again.stdout
    assert host.calls() == calls
    assert host.run(HUP, "--check").returncode == 0


def test_check_says_what_is_left_and_changes_nothing(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    asked = host.run(HUP, "--check")
    assert (asked.returncode, asked.stdout) == (1, "lossless-plan: 0 of 2 files are as after this step\n")
    assert host.files() == {"opensm.conf": OLD}
    assert host.calls() == []


def test_check_says_what_a_run_would_refuse(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path, conf="some other line\n")
    asked = host.run(HUP, "--check")
    assert asked.returncode == 2
    assert "neither as before this step nor as after it: /etc/opensm/opensm.conf" in asked.stderr


def test_an_opensm_that_restarts_is_stopped_before_any_file_changes(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    assert host.run(RESTART).returncode == 0
    assert host.calls() == ["systemctl stop opensm", "systemctl start opensm"]
    assert (host.fake / "at-stop").read_text() == "opensm.conf\n"
    assert host.files()["opensm.conf"] == NEW


def test_a_file_that_the_target_has_not_goes(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.write("root_guid.conf", "0x1\n")
    assert host.run(plan(group(CONF, ROOTS, how="restart"))).returncode == 0
    assert host.files() == {"opensm.conf": NEW}


def test_an_opensm_that_was_built_for_another_folder_has_its_file_there(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    (host.root / "etc/rdma").mkdir()
    (host.root / "etc/opensm/opensm.conf").rename(host.root / "etc/rdma/opensm.conf")
    assert host.run(HUP).returncode == 0
    assert (host.root / "etc/rdma/opensm.conf").read_text() == NEW
    assert host.files() == {"qos-policy.conf": "qos-levels\n"}


def test_keys_of_the_subnet_stay_on_the_host_and_nowhere_else(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path, conf=M_KEY + OLD)
    assert host.run(HUP).returncode == 0
    assert host.files()["opensm.conf"] == NEW + M_KEY
    assert host.run(HUP, "--check").returncode == 0
    holding = [path for path in host.tree.rglob("*") if path.is_file() and M_KEY in path.read_text()]
    assert [path.name for path in holding] == ["opensm.conf.before"]
    assert holding[0].parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("edited", [OLD + "sweep_interval 20\n", ""])
def test_files_that_the_plan_does_not_expect_are_left_alone(tmp_path: Path, edited: str) -> None:
    host = ManagerHost(tmp_path, conf=edited)
    refused = host.run(HUP)
    assert refused.returncode == 1
    assert "neither as before this step nor as after it: /etc/opensm/opensm.conf" in refused.stderr
    assert host.files() == {"opensm.conf": edited}
    assert host.calls() == []


def test_some_files_that_are_new_already_are_refused(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path, conf=NEW)
    refused = host.run(HUP)
    assert refused.returncode == 1
    assert "1 of 2 files are new already, and no run of this step began here" in refused.stderr
    assert host.calls() == []


@pytest.mark.parametrize(("state", "told"), [("STANDBY", "standby"), ("none", "none")])
def test_a_step_of_the_master_is_refused_elsewhere(tmp_path: Path, state: str, told: str) -> None:
    host = ManagerHost(tmp_path, state=state)
    refused = host.run(HUP)
    assert refused.returncode == 1
    assert f"the manager here is {told}, and this step is for the master" in refused.stderr
    assert host.files() == {"opensm.conf": OLD}


def test_a_standby_need_not_sweep(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path, state="STANDBY")
    host.set("silent")
    assert host.run(plan(group(CONF, states=("standby", "standby")))).returncode == 0


def test_a_manager_that_hands_over_is_done_once_it_is_a_standby(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.set("silent")
    host.set("becomes", "STANDBY")
    assert host.run(plan(group(CONF, states=("master", "standby")))).returncode == 0


@pytest.mark.parametrize(
    ("what", "fault", "why"),
    [
        (HUP, "fault-pkill--HUP", "pkill -HUP -x opensm failed"),
        (RESTART, "fault-systemctl-stop", "systemctl stop opensm failed"),
        (RESTART, "fault-systemctl-start", "systemctl start opensm failed"),
    ],
)
def test_what_fails_is_rolled_back(tmp_path: Path, what: object, fault: str, why: str) -> None:
    host = ManagerHost(tmp_path)
    host.set(fault, "no")
    failed = host.run(what)  # type: ignore[arg-type]
    assert failed.returncode == 1
    assert why in failed.stderr
    assert host.files() == {"opensm.conf": OLD}
    assert (host.fake / "read").read_text() == OLD
    assert (host.fake / "state").read_text() == "MASTER\n"
    # The cause is gone: the same command does it.
    assert host.run(what).returncode == 0  # type: ignore[arg-type]
    assert host.files()["opensm.conf"] == NEW


def test_a_sweep_with_errors_is_rolled_back_and_says_so_where_that_fails_too(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.set("errors")
    failed = host.run(HUP)
    assert failed.returncode == 3
    assert "opensm says: Errors during initialization" in failed.stderr
    assert host.files() == {"opensm.conf": OLD}


@pytest.mark.tools("hanging")
def test_a_subnet_that_does_not_come_up_is_rolled_back(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.set("silent")
    failed = host.run(HUP)
    assert failed.returncode == 3
    assert "opensm has not said SUBNET UP" in failed.stderr
    assert host.files() == {"opensm.conf": OLD}


def test_a_run_that_was_cut_off_is_taken_up(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    host.set("fault-systemctl-start", "no")
    host.set("always")
    assert host.run(RESTART).returncode == 3
    (host.fake / "fault-systemctl-start").unlink()
    assert host.run(RESTART).returncode == 0
    assert host.files()["opensm.conf"] == NEW


def test_without_a_log_nothing_is_begun(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path)
    (host.root / "var/log/opensm.log").unlink()
    refused = host.run(HUP)
    assert refused.returncode == 1
    assert "refused, and nothing was changed: there is no" in refused.stderr
    assert host.calls() == []


def test_another_run_is_refused(tmp_path: Path) -> None:
    import fcntl

    host = ManagerHost(tmp_path)
    with (host.fake / "lossless-plan.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert host.run(HUP).returncode == 2
    assert host.files() == {"opensm.conf": OLD}


def test_files_of_jobs_need_no_manager(tmp_path: Path) -> None:
    host = ManagerHost(tmp_path, state="none")
    assert host.run(plan(group(POLICY, how="nothing", states=None))).returncode == 0
    assert host.files()["qos-policy.conf"] == "qos-levels\n"
    assert host.calls() == []
