"""What is rendered is what SONiC's YANG models accept, for every product and every generated intent."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.device_files.switches import switch_file
from lossless.formats.sonic.from_model import OWNED
from lossless.formats.sonic.validate.conformity import validate
from lossless.ground.documents import load_text
from tests.conftest import REFERENCE
from tests.output.render.sonic_schema import violations
from tests.strategies import fabric_of, intents
from tools.example_base import base_of

Data = dict[str, Any]


@cache
def schema() -> Data:
    found: Data = json.loads((REFERENCE / "facts" / "sonic-schema.json").read_text())
    return found


def tables_of(data: Data, number: int) -> Data:
    fabric = fabric_of(data)
    switch = fabric.switches[number % len(fabric.switches)]
    base = load_text(json.dumps(base_of(fabric, switch)), f"base/{switch.name}/config_db.json")
    found: Data = json.loads(switch_file(switch, base).text)
    return found


@pytest.mark.usefixtures("reference")
@given(intents(renderable=True), st.integers(0, 7))
def test_the_models_accept_what_is_rendered(data: Data, number: int) -> None:
    tables = tables_of(data, number)
    assert list(violations(schema(), tables, {*OWNED, "FLEX_COUNTER_TABLE"})) == []
    assert validate(tables).problems == ()
    assert set(tables) & set(OWNED) <= set(schema())


def test_the_check_refuses_what_the_models_refuse(reference: Path) -> None:
    """A checker that accepts everything proves nothing: it must agree with upstream on the one-change probes."""
    probes = {p["probe"]: p for p in json.loads((reference / "corpus" / "probes" / "index.json").read_text())}
    # Rules between fields (must) and comma-joined keys are beyond this checker.
    beyond = {"pfcwd_detect_lt_poll", "pfcwd_on_global_fields", "wred_min_gt_max", "scheduler_pir_only"}
    beyond |= {"pool_percentage_traditional"}
    for name in sorted(set(probes) - beyond):
        tables = json.loads((reference / "corpus" / "probes" / f"{name}.json").read_text())
        as_text = {
            table: {k: {f: str(v) for f, v in row.items()} for k, row in rows.items()}
            for table, rows in tables.items()
        }
        found = list(violations(schema(), as_text))
        assert (found == []) == probes[name]["yang_accepts"], (name, found)
