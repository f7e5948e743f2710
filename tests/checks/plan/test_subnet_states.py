"""Every state of plans of InfiniBand subnets, by the files alone; and that these are the files that render writes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from lossless import api
from lossless.checks.plan.plan import Plan, PlanStep
from tests.checks.plan.made_subnets import BASE, Intent, changed, planned, two_tenants
from tests.checks.plan.subnet_states import (
    CONF,
    PARTITIONS,
    Held,
    start_of,
    talking,
    unanswerable,
    unserved,
)


def test_what_a_plan_expects_and_brings_is_what_render_writes_but_for_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRIC_M_KEY", "0x1234")
    keys = ("subnet_manager.keys", {"m_key": "FABRIC_M_KEY"})
    plan = planned(
        tmp_path,
        changed(keys, ("qos.levels.rdma.sl", 2), ("jobs.environment.NCCL_DEBUG", "WARN")),
        changed(keys),
    )
    states = states_of(plan)
    for intent, held in (("now", states[0][1]), ("then", states[-1][2])):
        api.render(tmp_path / intent, tmp_path / f"{intent}-out")
        for host, files in held.files.items():
            for name, text in files.items():
                written = (tmp_path / f"{intent}-out" / host / name).read_text().splitlines(keepends=True)
                assert ("m_key 0x0000000000001234\n" in written) == (name == CONF)
                assert text == "".join(line for line in written if not line.startswith("m_key"))


def states_of(plan: Plan) -> list[tuple[PlanStep, Held, Held]]:
    """Return each step with the files before and after it."""
    held = start_of(plan.steps)
    states = []
    for step in plan.steps:
        then = held.after(step)
        states.append((step, held, then))
        held = then
    return states


def require_safe(plan: Plan) -> None:
    """Check each state of each step by the files alone, and that every rollback leads to the start."""
    states = states_of(plan)
    stopped = any(step.kind == "stop" for step in plan.steps)
    for step, held, then in states:
        assert not list(unserved(held, then, step.in_use)), step.number
        assert not list(unanswerable(held, step)), step.number
        if held.texts(PARTITIONS) and not stopped:
            ends = [states[0][1].texts(PARTITIONS), states[-1][2].texts(PARTITIONS)]
            on_way = talking({*held.texts(PARTITIONS), *then.texts(PARTITIONS)})
            assert on_way <= talking(ends[0]) | talking(ends[1]), step.number
    for (_, _, then), back in zip(states, plan.rollback, strict=True):
        held = then
        for step in back:
            after = held.after(step)
            assert not list(unserved(held, after, step.in_use)), step.number
            held = after
        assert held == states[0][1]


LEVELS = st.dictionaries(
    st.sampled_from(("rdma", "bulk", "storage")),
    st.tuples(st.integers(1, 5), st.integers(0, 3), st.sampled_from((16, 64))),
    min_size=1,
).filter(lambda levels: len({sl for sl, _, _ in levels.values()}) == len(levels))


def with_levels(levels: dict[str, tuple[int, int, int]], job: str, vls: int) -> Intent:
    named = {
        name: {"sl": sl, "vl": vl, "high": weight, "low": weight} for name, (sl, vl, weight) in levels.items()
    }
    rest = BASE["qos"]["levels"]["rest"]
    return changed(("qos.levels", {"rest": rest, **named}), ("jobs.level", job), ("qos.vls", vls))


@settings(max_examples=25, deadline=None)
@given(before=LEVELS, after=LEVELS, data=st.data())
def test_every_state_of_levels_that_change_serves_what_is_in_use(
    before: dict[str, tuple[int, int, int]], after: dict[str, tuple[int, int, int]], data: st.DataObject
) -> None:
    jobs = [data.draw(st.sampled_from(sorted(levels))) for levels in (before, after)]
    counts = [data.draw(st.sampled_from((4, 8))) for _ in range(2)]
    current, target = (
        with_levels(levels, job, vls) for levels, job, vls in zip((before, after), jobs, counts, strict=True)
    )
    with tempfile.TemporaryDirectory() as folder:
        plan = planned(Path(folder), target, current)
    if plan.steps:
        require_safe(plan)
    # Levels alone never need a stop: both can be served, or lanes of both.
    assert {step.kind for step in plan.steps} <= {"change", "jobs"}


HOSTS = st.lists(st.sampled_from([f"host{n}" for n in range(1, 5)]), unique=True, min_size=1).map(sorted)


@settings(max_examples=20, deadline=None)
@given(tenants=st.tuples(HOSTS, HOSTS, HOSTS, HOSTS))
def test_no_two_hosts_talk_on_the_way_that_talk_neither_before_nor_after(
    tenants: tuple[list[str], list[str], list[str], list[str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = planned(Path(folder), two_tenants(*tenants[2:]), two_tenants(*tenants[:2]))
    if plan.steps:
        require_safe(plan)
