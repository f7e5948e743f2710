"""Our model of SONiC's config updater, held to verdicts and moves that are recorded from the real one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from lossless.formats.sonic.capabilities.updater_sorting import UpdaterDevice, move_phases
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict, update
from lossless.formats.sonic.changes.json_patch import applied, parts
from lossless.formats.sonic.from_model import OWNED, SHARED
from tests.conftest import REFERENCE
from tools.check_gcu import EXPLAINED, Comparison, compared_operations, compared_patches, start_of, summary

Data = dict[str, Any]
pytestmark = [pytest.mark.usefixtures("reference"), pytest.mark.tools("records")]


@cache
def record(name: str) -> Data:
    """Return one file of the record."""
    found: Data = json.loads((REFERENCE / "reference" / "gcu" / f"{name}.json").read_text())
    return found


def test_every_single_operation_is_permitted_where_the_updater_permits_it() -> None:
    found = summary([*compared_operations(record("field-operations"))])
    assert found["differ"] == []
    assert found["agree"]["operations"] > 250_000
    assert min(found["agree"].values()) > 80


def test_every_patch_gets_the_answer_of_the_updater_and_takes_the_same_ports_down() -> None:
    found = summary([*compared_patches(record("sort"))])
    assert found["differ"] == []
    assert found["agree"]["accepted"] == found["agree"]["ports"] == found["agree"]["emptied"] > 140
    assert {"field-operation", "empty-table", "target-yang"} <= found["agree"].keys()


PHASES = ("ports up", "no port down", "port down", "last")
OTHERWISE = {
    "port-remove": "ports",
    "port-remove-rollback": "order",
    "egress-list-four": "ports",
    "egress-list-four-rollback": "ports",
}
"""Cases in which the updater moves in another order than in all others: a port that goes loses its admin_status, one
that comes is brought up last, and once ports go down as the patch names them."""


def test_the_updater_moves_in_the_phases_and_takes_ports_down_in_the_order_that_we_say() -> None:
    cases = {case["id"]: case for case in record("sort")["cases"]}
    otherwise = {}
    for case in cases.values():
        start = start_of(case, record("sort")["configurations"], cases)
        if case["verdict"] != "accepted" or start is None:
            continue
        start = {table: rows for table, rows in start.items() if rows}
        phases = move_phases(start, applied(start, case["patch"]))
        rank = {row: PHASES.index(phase.phase) for phase in phases for row in phase.rows}
        order, ports = _recorded_order(case, start, rank)
        if order != sorted(order):
            otherwise[case["id"]] = "order"
        elif ports != [phase.port for phase in phases if phase.port]:
            otherwise[case["id"]] = "ports"
    assert otherwise == OTHERWISE


def _recorded_order(case: Data, start: Data, rank: dict[tuple[str, str], int]) -> tuple[list[int], list[str]]:
    """Return the phases of the recorded moves, one after another, and the ports in the order in which they go down."""
    order, ports = [], []
    for operation in (operation for move in case["moves"] for operation in move):
        path = parts(operation["path"])
        if path[0] == "PORT" and path[-1] == "admin_status":
            ports += [path[1]] if operation.get("value") == "down" else []
            continue
        whole = operation["op"] == "remove" and len(path) == 2
        keys = path[1:2] or tuple(operation.get("value") or start[path[0]])
        # Rows that go late lose their fields before, which EmptiedRow says.
        phases = [rank[path[0], key] for key in keys]
        order += [phase for phase in phases if whole or phase != PHASES.index("last")]
    return order, ports


def test_what_is_explained_still_differs() -> None:
    explained = summary([*compared_patches(record("sort"))])["explained"]
    assert {(item["id"], item["stage"]) for item in explained} == EXPLAINED.keys()


def test_a_change_is_promised_where_its_patch_is_accepted() -> None:
    cases = {case["id"]: case for case in record("sort")["cases"]}
    compared = 0
    for case in cases.values():
        start = start_of(case, record("sort")["configurations"], cases)
        assert start is not None
        device = UpdaterDevice(case["device"]["hwsku"])
        verdict = patch_verdict(start, case["patch"], device)
        if verdict.target is None or verdict.stage == "empty-table":
            continue
        if all(
            start.get(table) == verdict.target.get(table)
            for table in {*start, *verdict.target} - {*OWNED, *SHARED}
        ):
            promised = update(start, verdict.target, device.release, device.hwsku)
            assert (not promised.refusals) == verdict.accepted, case["id"]
            assert not verdict.accepted or promised.ports_down == verdict.ports_down, case["id"]
            compared += 1
    assert compared > 180


def test_what_differs_is_named_with_both_sides_and_makes_the_check_fail() -> None:
    differs = Comparison("ports", "case", ["Ethernet0"], [])
    assert summary([differs])["differ"] == [
        {"stage": "ports", "id": "case", "recorded": ["Ethernet0"], "ours": []}
    ]
