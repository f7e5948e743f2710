"""A step of an InfiniBand subnet as people read it: which files a host gets, which go, and what brings them in."""

from __future__ import annotations

from lossless.checks.plan.plan import FileChange, FileGroup, Plan, PlanStep
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.output.report.plan_markdown import plan_markdown, plan_text

CONF = FileChange("opensm.conf", "/etc/opensm/opensm.conf", "sweep 1\n", "sweep 2\n", ("sweep_interval",))
ROOTS = FileChange("root_guid.conf", "/etc/opensm/root_guid.conf", "0x1\n", None)
EMPTY = FileChange("qos-policy.conf", "/etc/opensm/qos-policy.conf", None, "")


def planned(group: FileGroup) -> Plan:
    step = PlanStep(1, "change", "opensm.conf changes", (), (), (0, 1), TimeRange(), (), (), (group,))
    return Plan("x", "old", "new", (0,), (0,), (step,), ((),), 3, "3", transport="infiniband")


def test_a_file_goes_where_it_has_no_text_and_an_empty_one_stays() -> None:
    group = FileGroup("sm1", ("sm1",), (CONF, ROOTS, EMPTY), "hup", ("master", "master"))
    said = "sm1: opensm.conf (sweep_interval), root_guid.conf goes, qos-policy.conf: SIGHUP"
    assert said in plan_text(planned(group))
    assert f"- {said}" in plan_markdown(planned(group))
    assert "SMINFO_MASTER" in plan_markdown(planned(group))


def test_jobs_of_a_subnet_use_service_levels() -> None:
    group = FileGroup("sm1", ("sm1",), (CONF,), "restart", why=("guids change",))
    assert "jobs use SL 0, 1" in plan_text(planned(group))
    assert "sm1: opensm.conf (sweep_interval): restart (guids change)" in plan_text(planned(group))
