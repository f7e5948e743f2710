"""The orders that an expert would write, found by search: for each change of roce-256 and for its rollback."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from lossless.api import Plan, plan
from lossless.checks.plan.plan import PlanStep
from lossless.formats.device_files.hosts import files_of_host
from tests.checks.plan.drawn_changes import fabric_at
from tests.paths import ROOT

pytestmark = [pytest.mark.xdist_group("expert orders"), pytest.mark.tools("records")]
EXAMPLE = (ROOT / "examples" / "roce-256" / "fabric.yaml").read_text(encoding="utf-8")
RUNNING = EXAMPLE.replace("transport: rocev2\n", 'transport: rocev2\nsonic: {release: "202411"}\n')
STORAGE = (
    "  storage: {dscp: 28, priority: 4, lossless: true, bandwidth: 20%, "
    "ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}\n"
)
TWO_CLASSES = RUNNING.replace("  cnp: ", f"{STORAGE}  cnp: ").replace(
    "priority: 0, bandwidth: 50%", "priority: 0, bandwidth: 30%"
)
_CLASSES, _REST = RUNNING.index("classes:"), RUNNING.index("hardware:")


def with_preset(name: str) -> str:
    """Return the example with the classes of a preset."""
    return f"{RUNNING[:_CLASSES]}preset: {name}\n{RUNNING[_REST:]}"


def changed(old: str, new: str) -> str:
    """Return the example with one of its values changed."""
    assert old in RUNNING
    return RUNNING.replace(old, new)


def told(steps: Iterable[PlanStep]) -> list[str]:
    """Return steps in a line each: batches of switches that do the same once, then hosts."""
    return [_line(step) for step in steps]


def _line(step: PlanStep) -> str:
    switches = dict.fromkeys(
        " then ".join(f"{batch.how}({', '.join(batch.titles)})" for batch in group.batches)
        for group in step.switches
    )
    return " | ".join([*switches, *(f"hosts {group.title}" for group in step.hosts)]) or step.kind


@cache
def planned(before: str, after: str) -> Plan:
    """Return the plan from one text of an intent to another."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "before.yaml").write_text(before, encoding="utf-8")
        (folder / "after.yaml").write_text(after, encoding="utf-8")
        return plan([folder / "before.yaml"], folder / "after.yaml")


class Order(NamedTuple):
    """A change, the steps that lead there, and those of the rollback from the last one."""

    before: str
    after: str
    steps: list[str]
    rollback: list[str]


ORDERS = {
    "new DSCP": Order(
        before=RUNNING,
        after=changed("dscp: 26", "dscp: 24"),
        steps=[
            "patch(DSCP_TO_TC_MAP|AZURE|24 becomes 3) | hosts take in DSCP 24 too",
            "hosts send DSCP 24, no longer DSCP 26",
            "jobs",
            "patch(DSCP_TO_TC_MAP|AZURE|26 becomes 0) | hosts take in DSCP 26 no longer",
        ],
        rollback=[
            ("patch(DSCP_TO_TC_MAP|AZURE|26 becomes 3) | hosts back to before: take in DSCP 26 no longer"),
            "hosts back to before: send DSCP 24, no longer DSCP 26",
            "jobs",
            "patch(DSCP_TO_TC_MAP|AZURE|24 becomes 0) | hosts back to before: take in DSCP 24 too",
        ],
    ),
    "new lossless class": Order(
        before=RUNNING,
        after=TWO_CLASSES,
        steps=[
            (
                "write(values of BUFFER_POOL) then patch(DSCP_TO_TC_MAP|AZURE|28 becomes 4, "
                "TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 "
                "becomes 4, values of SCHEDULER, new rows of SCHEDULER, rows of ports) | hosts take in "
                "DSCP 28 too"
            ),
        ],
        rollback=[
            (
                "patch(DSCP_TO_TC_MAP|AZURE|28 becomes 0, TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 0, "
                "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 goes, values of SCHEDULER, rows of ports) then "
                "write(values of BUFFER_POOL) then patch(unused rows of SCHEDULER) | hosts back to before: "
                "take in DSCP 28 too"
            ),
        ],
    ),
    "PFC off": Order(
        before=TWO_CLASSES,
        after=RUNNING,
        steps=[
            "jobs",
            (
                "patch(DSCP_TO_TC_MAP|AZURE|28 becomes 0, TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 0, "
                "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 goes, values of SCHEDULER, rows of ports) then "
                "write(values of BUFFER_POOL) then patch(unused rows of SCHEDULER) | hosts take in DSCP 28 no "
                "longer"
            ),
        ],
        rollback=[
            (
                "write(values of BUFFER_POOL) then patch(DSCP_TO_TC_MAP|AZURE|28 becomes 4, "
                "TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 "
                "becomes 4, values of SCHEDULER, new rows of SCHEDULER, rows of ports) | hosts back to "
                "before: take in DSCP 28 no longer"
            ),
        ],
    ),
    "second DSCP that no host sends": Order(
        before=RUNNING,
        after=changed("dscp: 26", "dscp: [26, 24]"),
        steps=[
            "patch(DSCP_TO_TC_MAP|AZURE|24 becomes 3) | hosts take in DSCP 24 too",
        ],
        rollback=[
            "patch(DSCP_TO_TC_MAP|AZURE|24 becomes 0) | hosts back to before: take in DSCP 24 too",
        ],
    ),
    "watchdog timers": Order(
        before=RUNNING,
        after=changed("detection: 1200ms", "detection: 800ms"),
        steps=[
            "patch(PFC_WD)",
        ],
        rollback=[
            "patch(PFC_WD)",
        ],
    ),
    "ECN curve": Order(
        before=RUNNING,
        after=changed("min: 800 KiB, max: 3200 KiB", "min: 4 MiB, max: 8 MiB"),
        steps=[
            "write(values of WRED_PROFILE)",
        ],
        rollback=[
            "write(values of WRED_PROFILE)",
        ],
    ),
    "alpha": Order(
        before=RUNNING,
        after=changed("probability: 20%}}", "probability: 20%}, buffer: {dynamic_th: 1}}"),
        steps=[
            "patch(values of BUFFER_PROFILE)",
        ],
        rollback=[
            "patch(values of BUFFER_PROFILE)",
        ],
    ),
    "longer cables": Order(
        before=RUNNING,
        after=changed("uplink: 30m", "uplink: 60m"),
        steps=[
            (
                "write(values of BUFFER_POOL, new rows of BUFFER_PROFILE) then patch(rows of ports, "
                "CABLE_LENGTH) then write(unused rows of BUFFER_PROFILE)"
            ),
            "cables",
        ],
        rollback=[
            "cables",
            (
                "write(new rows of BUFFER_PROFILE) then patch(rows of ports, CABLE_LENGTH) then "
                "write(values of BUFFER_POOL, unused rows of BUFFER_PROFILE)"
            ),
        ],
    ),
    "another preset": Order(
        before=with_preset("azure"),
        after=with_preset("nvidia"),
        steps=[
            (
                "patch(other DSCPs of DSCP_TO_TC_MAP|AZURE, DSCP_TO_TC_MAP|AZURE|26 becomes 3, values of "
                "SCHEDULER, new rows of SCHEDULER) then write(values of WRED_PROFILE) | hosts take in "
                "DSCP 26 too"
            ),
            "hosts send DSCP 26, no longer DSCP 3, 4",
            "jobs",
            (
                "patch(DSCP_TO_TC_MAP|AZURE|3 becomes 0, DSCP_TO_TC_MAP|AZURE|4 becomes 0, "
                "TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 0, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 "
                "goes, rows of ports) then write(values of BUFFER_POOL) then patch(unused rows of "
                "SCHEDULER) | hosts take in DSCP 3, 4 no longer"
            ),
        ],
        rollback=[
            (
                "write(values of BUFFER_POOL, values of WRED_PROFILE) then patch(other DSCPs of "
                "DSCP_TO_TC_MAP|AZURE, DSCP_TO_TC_MAP|AZURE|3 becomes 3, DSCP_TO_TC_MAP|AZURE|4 becomes "
                "4, TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, "
                "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, new rows of SCHEDULER, values of "
                "SCHEDULER) then patch(rows of ports) then patch(unused rows of SCHEDULER) | hosts back "
                "to before: take in DSCP 3, 4 no longer"
            ),
            "hosts back to before: send DSCP 26, no longer DSCP 3, 4",
            "jobs",
            "patch(DSCP_TO_TC_MAP|AZURE|26 becomes 1) | hosts back to before: take in DSCP 26 too",
        ],
    ),
    "another priority": Order(
        before=RUNNING,
        after=changed("priority: 3", "priority: 4"),
        steps=[
            "stop",
            (
                "patch(DSCP_TO_TC_MAP|AZURE|26 becomes 4, TC_TO_PRIORITY_GROUP_MAP|AZURE|3 becomes 0, "
                "TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|3 "
                "goes, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 4, rows of ports) | hosts set "
                "as the target says"
            ),
            "start",
        ],
        rollback=[
            "stop",
            (
                "patch(DSCP_TO_TC_MAP|AZURE|26 becomes 3, TC_TO_PRIORITY_GROUP_MAP|AZURE|3 becomes 3, "
                "TC_TO_PRIORITY_GROUP_MAP|AZURE|4 becomes 0, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|4 "
                "goes, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|3 becomes 3, rows of ports) | hosts back "
                "to before: set as the target says"
            ),
            "start",
        ],
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_the_order_of_a_change_is_that_of_an_expert(name: str) -> None:
    order = ORDERS[name]
    assert told(planned(order.before, order.after).steps) == order.steps


@pytest.mark.parametrize("name", ORDERS)
def test_the_rollback_is_that_of_an_expert(name: str) -> None:
    order = ORDERS[name]
    assert told(planned(order.before, order.after).rollback[-1]) == order.rollback


@pytest.mark.parametrize("name", ORDERS)
def test_a_step_has_only_devices_whose_files_or_rows_change(name: str) -> None:
    before, after = ORDERS[name].before, ORDERS[name].after
    made = planned(before, after)
    start = host_texts(before)
    texts = _carried_out(made.steps, start)
    assert texts == host_texts(after)
    assert _carried_out(made.rollback[-1] if made.rollback else (), texts) == start


def _carried_out(steps: Iterable[PlanStep], texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the files of each host after some steps, each of which gives hosts and switches something else."""
    texts = dict(texts)
    for step in steps:
        for group in step.hosts:
            own = [file.text for file in files_of_host(group.hosts[0], group.qos)]
            for host in group.hosts:
                assert texts[host] != own, (step.title, host)
                texts[host] = own
        for switches in step.switches:
            assert all(batch.before != batch.after for batch in switches.batches), step.title
    return texts


@cache
def host_texts(intent: str) -> dict[str, list[str]]:
    """Return the files of each host of the text of an intent."""
    with TemporaryDirectory() as name:
        path = Path(name) / "fabric.yaml"
        path.write_text(intent, encoding="utf-8")
        return {
            host.name: [file.text for file in files_of_host(host.name, host.qos)]
            for host in fabric_at(path).hosts
        }


def test_what_is_lossless_and_not_sent_is_named() -> None:
    dscp = ORDERS["second DSCP that no host sends"]
    forth, back = planned(dscp.before, dscp.after), planned(dscp.after, dscp.before)
    note = "no setting of hosts sends DSCP 24: jobs can send it after the last step, and must have stopped before "
    assert f"{note}a rollback" in forth.notes
    assert (forth.sent, forth.wanted) == ((26,), (26,))
    assert (back.steps[0].kind, back.steps[0].title) == ("jobs", "jobs stop sending DSCP 24")
    assert [step.in_use for step in back.steps] == [(24, 26), (26,)]
    assert all("restart" not in line for step in back.steps for line in step.by_hand)
    assert [step.kind for step in back.rollback[-1]] == ["change"]


def test_removal_of_a_dscp_waits_until_jobs_have_restarted() -> None:
    steps = planned(RUNNING, changed("dscp: 26", "dscp: 24")).steps
    assert [(step.kind, step.in_use) for step in steps] == [
        ("change", (26,)),
        ("change", (24, 26)),
        ("jobs", (24, 26)),
        ("change", (24,)),
    ]


def test_a_default_that_is_stated_is_no_step() -> None:
    stated = changed("cnp_interval: 4us", "cnp_interval: 4us, priorities: [3]")
    assert planned(RUNNING, stated).steps == ()


def test_nothing_to_change_is_no_step() -> None:
    assert planned(RUNNING, RUNNING).steps == ()
