"""What a patch promises, SONiC's config updater does: held to verdicts and moves recorded from the real one.

The record (sonic-utilities generic_config_updater @691b1bb with the models of sonic-buildimage @086b03b) has for each
case the configuration, the patch, whether it was admitted, each move, and the ports that went down on the way.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from lossless.formats.sonic.capabilities.updater import update
from lossless.formats.sonic.from_model.tables import OWNED, SHARED
from tests.conftest import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("reference")
NOT_COMPARED = {
    "wd-old-release": "the device runs an image older than the updater's rules for this ASIC",
    "xoff-th5-old": "the device runs an image older than the updater's rules for this ASIC",
    "form-empty-table": "the patch leaves an empty table, which none of ours does",
    "trim-th5": "packet trimming is not rendered, so no patch has it",
}


@cache
def record() -> Data:
    """Return the recorded cases by their names, and the configurations they start from."""
    found = json.loads((REFERENCE / "reference" / "gcu" / "sort.json").read_text())
    return {"configs": found["configurations"], "cases": {case["id"]: case for case in found["cases"]}}


def after(config: Data, operations: Iterable[Data]) -> Data:
    """Return a configuration after operations; the database keeps no table without rows."""
    config = deepcopy(config)
    for operation in operations:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        at = config
        for parent in parents:
            at = at.setdefault(parent, {})
        if operation["op"] == "remove":
            at.pop(last, None)
        else:
            at[last] = operation["value"]
    return {table: rows for table, rows in config.items() if rows}


def moved(config: Data, case: Data) -> Data:
    """Return what the updater made of a configuration, or would have had to."""
    steps: Sequence[Data] = case["patch"]
    if case["verdict"] == "accepted":
        steps = [operation for move in case["moves"] for operation in move]
    return after(config, steps)


def start_of(case: Data) -> Data | None:
    """Return the configuration that a case starts from, None where the case that leads there is not on record."""
    start = case["start"]
    if isinstance(start, str):
        config: Data = record()["configs"][start]["config"]
        return config
    before = record()["cases"].get(start["end_of"])
    config_before = start_of(before) if before is not None else None
    return None if config_before is None else moved(config_before, before)


def compared() -> dict[str, tuple[Data, Data, Data]]:
    """Return the cases with start and end that change nothing but tables that a patch of ours may change."""
    found = {}
    for name, case in record()["cases"].items():
        start = start_of(case)
        if start is None or name in NOT_COMPARED or case["end_sha256"] is None:
            continue
        end = moved(start, case)
        others = {*start, *end} - {*OWNED, *SHARED}
        if all(start.get(table) == end.get(table) for table in others):
            found[name] = (case, start, end)
    return found


def test_a_patch_is_promised_where_the_updater_admits_it_and_nowhere_else() -> None:
    cases = compared()
    promised = {
        name: not update(start, end, "master", case["device"]["hwsku"]).refusals
        for name, (case, start, end) in cases.items()
    }
    assert promised == {name: case["verdict"] == "accepted" for name, (case, _, _) in cases.items()}
    assert len(promised) >= 150


def test_the_ports_said_to_go_down_are_those_the_updater_takes_down() -> None:
    admitted = {name: found for name, found in compared().items() if found[0]["verdict"] == "accepted"}
    said = {
        name: sorted(update(start, end, "master", case["device"]["hwsku"]).ports_down)
        for name, (case, start, end) in admitted.items()
    }
    assert said == {name: sorted(case["ports_taken_down"]) for name, (case, _, _) in admitted.items()}


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_what_is_not_compared_is_on_record(name: str) -> None:
    assert name in record()["cases"]
