"""Our model of SONiC's config updater, held to verdicts and moves that are recorded from the real one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from lossless.formats.sonic.capabilities.updater import update
from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
from lossless.formats.sonic.from_model.tables import OWNED, SHARED
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
