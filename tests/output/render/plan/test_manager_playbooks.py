"""A plan between two intents of a subnet, carried out by ansible-playbook on pretended hosts of managers, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.checks.plan.plan import Plan
from tests.checks.plan.made_subnets import changed, planned
from tests.output.render.plan.fake_fabric import FakeFabric
from tests.output.render.plan.switches import write_plan

pytestmark = pytest.mark.tools("ansible")


ENGINE = changed(("subnet_manager.routing.engine", "ftree"))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A routing engine that changes."""
    return planned(tmp_path, ENGINE)


def conf_of(plan: Plan, step: int) -> tuple[str, str]:
    """Return opensm.conf before and after a step."""
    file = plan.steps[step].files[0].files[0]
    assert file.before is not None
    assert file.after is not None
    return file.before, file.after


def test_managers_take_their_files_one_after_another_and_give_them_back(plan: Plan, tmp_path: Path) -> None:
    files = write_plan(plan, tmp_path / "plan")
    fabric = FakeFabric(tmp_path / "fabric", files, tmp_path)
    standby = fabric.manager("sm2", state="STANDBY", conf=conf_of(plan, 0)[0])
    master = fabric.manager("sm1", state="MASTER", conf=conf_of(plan, 1)[0])

    first = fabric.play("step-01")
    assert first.status == 0, first.output
    assert standby.files()["opensm.conf"] == conf_of(plan, 0)[1]
    assert master.files()["opensm.conf"] == conf_of(plan, 1)[0]
    again = fabric.play("step-01")
    assert (again.status, again.recap["sm2"].changed) == (0, 0), again.output

    second = fabric.play("step-02")
    assert second.status == 0, second.output
    assert master.files()["opensm.conf"] == conf_of(plan, 1)[1]
    assert master.calls() == ["systemctl stop opensm", "systemctl start opensm"]

    for step in ("rollback-from-02/step-01", "rollback-from-02/step-02"):
        back = fabric.play(step)
        assert back.status == 0, back.output
    assert [standby.files()["opensm.conf"], master.files()["opensm.conf"]] == [
        conf_of(plan, 0)[0],
        conf_of(plan, 1)[0],
    ]


def test_a_master_that_fails_ends_the_step(plan: Plan, tmp_path: Path) -> None:
    files = write_plan(plan, tmp_path / "plan")
    fabric = FakeFabric(tmp_path / "fabric", files, tmp_path)
    standby = fabric.manager("sm2", state="STANDBY", conf=conf_of(plan, 0)[0])
    master = fabric.manager("sm1", state="MASTER", conf=conf_of(plan, 1)[0])
    early = fabric.play("step-02")
    assert early.status != 0
    assert "a step before is not complete on sm2." in early.output
    assert fabric.play("step-01").status == 0
    assert standby.files()["opensm.conf"] == conf_of(plan, 0)[1]
    master.set("fault-systemctl-start", "no")
    played = fabric.play("step-02")
    assert played.status != 0
    assert played.recap["sm1"].failed == 1
    assert master.files()["opensm.conf"] == conf_of(plan, 1)[0]
