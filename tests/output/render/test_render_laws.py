"""The law of rendering: what is read back from what was rendered is what was declared."""

from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.resolve.layout import MONITORED
from lossless.formats.sonic.from_model import OWNED
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Cable, Port, Switch, SwitchQos
from lossless.model.hardware.load import switch_for_hwsku
from tests.paths import ROOT
from tests.strategies import fabric_of, intents
from tests.switch_view import NOT_CARRIED, switch_view
from tools.example_base import base_of

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

Data = dict[str, Any]
pytestmark = pytest.mark.laws


def rendered(fabric: Fabric, switch: Switch) -> Data:
    base = load_text(json.dumps(base_of(fabric, switch)), f"base/{switch.name}/config_db.json")
    found: Data = json.loads(switch_file(switch, base).text)
    return found


def view(tables: Data) -> Any:
    (switch,) = read_fabric([Tables("config_db.json", tables)], switch_for_hwsku).switches
    return switch_view(switch, frozenset(MONITORED))


def declared(switch: Switch) -> Any:
    return switch_view(switch, frozenset(MONITORED))


@given(intents(renderable=True))
def test_what_is_read_back_is_what_was_declared(data: Data) -> None:
    fabric = fabric_of(data)
    for switch in fabric.switches:
        assert view(rendered(fabric, switch)) == declared(switch)


def _values(tables: Data) -> list[tuple[str, str, str]]:
    return [
        (table, key, field)
        for table in (*OWNED, "FLEX_COUNTER_TABLE")
        for key, fields in tables.get(table, {}).items()
        for field in fields
        if table != "FLEX_COUNTER_TABLE" or (key in MONITORED and field == "FLEX_COUNTER_STATUS")
    ]


def _other(value: str) -> str:
    """Return a value of the same kind that means something else."""
    other = {"true": "false", "enable": "disable", "drop": "forward", "forward": "alert", "alert": "drop"}
    if value in other:
        return other[value]
    if value.lstrip("-").isdecimal():
        return str((int(value) + 1) % 8) if -8 <= int(value) < 8 else str(int(value) + 1)
    if value.endswith("m") and value[:-1].isdecimal():
        return f"{int(value[:-1]) + 1}m"
    # A list loses its last entry: orchagent reads 2_x as 2.
    return value.rpartition(",")[0] or f"{value}_x"


def one_value_changed(tables: Data, choice: st.DataObject) -> tuple[Data, str]:
    """Return tables in which one value is another one or is taken away, and which that is."""
    assume(_values(tables))
    table, key, field = choice.draw(st.sampled_from(_values(tables)))
    changed = deepcopy(tables)
    if choice.draw(st.booleans()):
        del changed[table][key][field]
    else:
        changed[table][key][field] = _other(tables[table][key][field])
    return changed, f"{table}|{key}|{field}: {changed[table][key].get(field)}"


@given(intents(renderable=True), st.data())
def test_changing_any_rendered_value_is_seen(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    tables = rendered(fabric, switch)
    assume(_values(tables))
    table, key, field = choice.draw(st.sampled_from(_values(tables)))
    before = tables[table][key][field]
    tables[table][key][field] = _other(before)
    assert view(tables) != declared(switch), f"{table}|{key}|{field}: {before} -> {_other(before)}"


@given(intents(renderable=True), st.data())
def test_dropping_any_rendered_row_is_seen(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    tables = rendered(fabric, switch)
    assume(_values(tables))
    table, key, _ = choice.draw(st.sampled_from(_values(tables)))
    del tables[table][key]
    assert view(tables) != declared(switch), f"{table}|{key}"


def test_the_list_of_what_is_not_carried_names_fields_that_exist() -> None:
    kinds = {kind.__name__: kind for kind in (Switch, SwitchQos, Port, Cable)}
    for name in NOT_CARRIED:
        kind, _, field = name.partition(".")
        assert field in kinds[kind]._fields


_SCRIPT = """
import sys
from lossless.api import render
render("examples/roce-256", sys.argv[1], base_dir="examples/roce-256/base")
"""


def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    trees = []
    for seed in ("0", "1", "2025"):
        folder = tmp_path / seed
        command = [sys.executable, "-c", _SCRIPT, str(folder)]
        subprocess.run(command, cwd=ROOT, env={"PYTHONHASHSEED": seed}, check=True)
        files = (path for path in folder.rglob("*") if path.is_file())
        trees.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    assert trees[0] == trees[1] == trees[2]
    assert len(trees[0]) > 60
