"""How far a switch is in a plan, read off its rows: not begun, half done, done, or changed by somebody else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.checks.plan.plan import stored_plan
from lossless.checks.plan.search import DeviceProgress, milestones, progress
from lossless.ground.documents import load_text

Data = dict[str, Any]


def batch(before: Data, after: Data) -> Data:
    """Return a batch of plan.json as far as progress reads it."""
    return {"before": before, "after": after}


MAP = "DSCP_TO_TC_MAP"
TOLD: Data = {
    "version": 1,
    "groups": {"leaf": ["leaf1", "leaf2"], "spine": ["spine1"]},
    "steps": [
        {
            "number": 1,
            "switches": [
                {
                    "group": "leaf",
                    "batches": [
                        batch({MAP: {"A": {"26": "3"}}}, {MAP: {"A": {"26": "3", "24": "3"}}}),
                        batch(
                            {"PFC_WD": {"Ethernet0": None, "Ethernet4": None}},
                            {"PFC_WD": {"Ethernet0": {"action": "drop"}, "Ethernet4": {"action": "drop"}}},
                        ),
                    ],
                }
            ],
        },
        {"number": 2, "switches": []},
        {
            "number": 3,
            "switches": [
                {
                    "group": "leaf",
                    "devices": ["leaf1"],
                    "batches": [batch({MAP: {"A": {"26": "3", "24": "3"}}}, {MAP: {"A": {"24": "3"}}})],
                }
            ],
        },
    ],
}
PLAN = stored_plan(load_text(json.dumps(TOLD), "plan.json"))
START: Data = {MAP: {"A": {"26": "3"}}, "PORT": {"Ethernet0": {}}}
WATCHED: Data = {"Ethernet0": {"action": "drop"}, "Ethernet4": {"action": "drop"}}
STATES: list[tuple[Data, DeviceProgress]] = [
    (START, DeviceProgress("leaf1", 0, 3, 0)),
    ({**START, MAP: {"A": {"26": "3", "24": "3"}}}, DeviceProgress("leaf1", 1, 3, 1)),
    (
        {MAP: {"A": {"26": "3", "24": "3"}}, "PFC_WD": {"Ethernet4": {"action": "drop"}}},
        DeviceProgress("leaf1", 1, 3, 1, partly=("PFC_WD|Ethernet4",)),
    ),
    ({MAP: {"A": {"26": "3", "24": 3}}, "PFC_WD": WATCHED}, DeviceProgress("leaf1", 2, 3, 1)),
    ({MAP: {"A": {"24": "3"}}, "PFC_WD": WATCHED}, DeviceProgress("leaf1", 3, 3, 3)),
    (
        {MAP: {"A": {"24": "4"}}, "PFC_WD": WATCHED},
        DeviceProgress("leaf1", 2, 3, 1, neither=(f"{MAP}|A",)),
    ),
]


@pytest.mark.parametrize(("running", "reached"), STATES)
def test_progress_is_read_off_the_rows_of_a_switch(running: Data, reached: DeviceProgress) -> None:
    assert progress(PLAN, "leaf1", running) == reached
    assert reached.finished == (reached.done == 3 and not reached.neither)


def test_a_switch_that_a_later_step_leaves_alone_is_done_before() -> None:
    running = {MAP: {"A": {"26": "3", "24": "3"}}, "PFC_WD": WATCHED}
    assert progress(PLAN, "leaf2", running) == DeviceProgress("leaf2", 2, 2, 1)
    assert progress(PLAN, "spine1", {}).finished


@given(
    st.integers(0, 3), st.dictionaries(st.sampled_from(["BGP_NEIGHBOR", "NTP_SERVER"]), st.just({"a": {}}))
)
def test_rows_that_the_plan_leaves_alone_count_for_nothing(done: int, others: Data) -> None:
    rows = milestones(PLAN, "leaf1")[done].rows
    running: Data = copy.deepcopy(others)
    for (table, key), row in rows.items():
        if row is not None:
            running.setdefault(table, {})[key] = row
    reached = progress(PLAN, "leaf1", running)
    assert (reached.done, reached.partly, reached.neither) == (done, (), ())
