"""``lossless plan`` of fabrics whose switches run other systems than SONiC, as a person meets it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from lossless.api import render
from lossless.interfaces.cli import main
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT

MIXED, NEXUS = (
    (ROOT / "examples" / name / "fabric.yaml").read_text("utf-8") for name in ("roce-256-mixed", "nexus-128")
)
SEEN = """\
4 steps from old.yaml to new.yaml
77 states were evaluated; they stand for 141,733,920,770 of the whole fabric, all safe
what a session does to traffic while it is taken, and how long it takes, no public source says
time to drain is not counted: state it with --drain-time
time until a port is up again is not counted: state it with --link-up-time

1. configurations change; jobs send DSCP 26
   leaf (2 switches): session: DSCP 24 gets traffic class 3
   spine (2 switches): session: DSCP 24 gets traffic class 3
   hosts (32): take in DSCP 24 too
   leaf: on each switch, run the commands of 01-session.txt in the folder of its group
   spine: on each switch, run the commands of 01-session.txt in the folder of its group
   leaf: the revision is applied as a whole, and rolls back by itself after ten minutes without nv
     config confirm; what the chip does to packets meanwhile is not known
   spine: the session is committed at once, and goes back by itself after ten minutes without the
     second commit; what the chip does to packets meanwhile is not known
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put intents into a folder, with what one of them renders (``running``) and the plan to another (``out``)."""
    folder = tmp_path_factory.mktemp("planned")
    for prefix, text in (("", MIXED), ("nexus-", NEXUS)):
        (folder / f"{prefix}old.yaml").write_text(text, encoding="utf-8")
        (folder / f"{prefix}new.yaml").write_text(text.replace("dscp: 26", "dscp: 24"), encoding="utf-8")
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        patch.chdir(folder)
        render("old.yaml", "running")
        assert main(("plan", "old.yaml", "new.yaml", "-o", "out")) == 0
    return folder


@pytest.fixture(autouse=True)
def _there(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """Run ``cli`` in the folder that all share."""
    monkeypatch.chdir(folder)


def test_steps_are_told_as_those_of_sonic(cli: Cli) -> None:
    assert cli("plan", "old.yaml", "new.yaml").out.startswith(SEEN)


def test_each_group_has_its_session_and_the_rollback() -> None:
    step = Path("out/step-01")
    assert (
        step / "leaf/01-session.nv"
    ).read_text() == "nv set qos mapping default-global dscp 24 switch-priority 3\n"
    assert (step / "leaf/01-undo-session.nv").read_text().endswith("dscp 24 switch-priority 0\n")
    assert "qos map dscp 24 26 to traffic-class 3\n" in (step / "spine/01-session.cfg").read_text()
    lines = (step / "spine/01-session.txt").read_text().splitlines()
    (name,) = (
        line.split()[-1]
        for line in lines
        if line.startswith("  configure session ") and "commit" not in line and "abort" not in line
    )
    assert {
        f"  configure session {name} commit",
        f"  configure session {name} abort",
        "  commit timer 00:10:00",
    } <= {*lines}
    told = json.loads((step / "manifest.json").read_text())
    assert {"leaf/01-session.nv", "spine/01-session.cfg", "spine/01-session.txt"} <= told["files"].keys()


def test_the_playbook_waits_for_the_sessions() -> None:
    text = Path("out/step-01/playbook.yml").read_text()
    assert "that: by_hand_done | default(ansible_check_mode) | bool" in text
    assert "hosts: leaf" not in text


def test_nx_os_lets_go_of_one_dscp_of_a_list(cli: Cli) -> None:
    cli("plan", "nexus-old.yaml", "nexus-new.yaml", "-o", "nexus-out")
    assert Path("nexus-out/step-04/leaf/01-session.cfg").read_text() == (
        "class-map type qos match-any LOSSLESS-GROUP-3\n  match dscp 24\n"
        "class-map type qos match-any LOSSLESS-GROUP-3\n  no match dscp 26\n"
    )


def test_traffic_between_steps_is_not_run(cli: Cli) -> None:
    refused = cli("plan", "old.yaml", "new.yaml", "--simulate")
    assert (refused.code, refused.out) == (2, "")
    assert "runs of traffic between steps know SONiC alone" in refused.err


def test_progress_is_asked_of_the_switch(cli: Cli) -> None:
    refused = cli("lint", "--plan", "out", "running/leaf1/qos.nv")
    assert refused.code == 2
    assert "the check in the files of its step says whether it is done" in refused.err


def test_another_system_is_refused(cli: Cli) -> None:
    Path("sonic.yaml").write_text(MIXED.replace(", format: eos}", "}"), encoding="utf-8")
    refused = cli("plan", "old.yaml", "sonic.yaml")
    assert refused.code == 2
    assert "a plan does not replace one system by another" in refused.err


def test_structured_configurations_are_refused(cli: Cli) -> None:
    names = ("leaf1/qos.yaml", "leaf2/qos.nv", "spine1/avd.yml", "spine2/qos.cfg")
    refused = cli("plan", *(f"running/{name}" for name in names), "new.yaml")
    assert refused.code == 2
    assert (
        "running/spine1/avd.yml: structured; a session is made for the text that the switch prints"
        in refused.err
    )


def test_files_of_switches_and_trees_of_nvue_are_planned_from(cli: Cli) -> None:
    names = ("leaf1/qos.yaml", "leaf2/qos.nv", "spine1/qos.cfg", "spine2/qos.cfg")
    told = cli("plan", *(f"running/{name}" for name in names), "new.yaml")
    assert (told.code, told.out.splitlines()[0].partition(" from ")[0]) == (0, "4 steps")
