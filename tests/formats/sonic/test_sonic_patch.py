"""The laws of patches: exact, in an order in which nothing dangles, and never what the updater refuses."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonpatch
import pytest
from hypothesis import given, settings, strategies as st

from lossless.formats.device_files.switches import switch_file
from lossless.formats.sonic.capabilities.updater_sorting import updater_table
from lossless.formats.sonic.capabilities.updater_verdict import releases, update
from lossless.formats.sonic.changes.json_patch import (
    REFERRED,
    RowDifference,
    differences,
    operations,
    pointer_part,
)
from lossless.formats.sonic.from_model import OWNED, SHARED, tables
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.formats.sonic.validate.schema import schema
from lossless.ground.documents import load_text
from lossless.model.hardware.load import switch_for_hwsku
from tests.formats.sonic.drifted import SPELLINGS, dangling, drifted
from tests.strategies import fabric_of, intents
from tools.example_base import base_of

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch

Data = dict[str, Any]


class Pair(NamedTuple):
    """What runs on a switch, what is rendered onto it, and the switch."""

    running: Data
    target: Data
    switch: Switch

    def __repr__(self) -> str:
        return f"{self.switch.name}: {[s.as_json() for s in operations(self.running, self.target)]}"[:2000]


@st.composite
def pairs(draw: Any, changes: Any = None) -> Pair:
    """Draw what runs on a switch, what is rendered onto it, and the switch."""
    fabric = fabric_of(draw(intents(renderable=True)))
    switch = fabric.switches[draw(st.integers(0, len(fabric.switches) - 1))]
    base = load_text(json.dumps(base_of(fabric, switch)), "config_db.json")
    target: Data = json.loads(switch_file(switch, base).text)
    running = draw(drifted(target, changes) if changes else drifted(target))
    onto = load_text(json.dumps(running), "config_db.json")
    return Pair(running, json.loads(switch_file(switch, onto).text), switch)


def drift(running: Data, switch: Switch) -> tuple[RowDifference, ...]:
    """Return what differs between what runs on a switch and what is rendered for it."""
    deployed = Tables("config_db.json", running)
    read = read_fabric([deployed], switch_for_hwsku).switches[0]
    return differences(deployed, tables(switch), read)


def applied(running: Data, steps: Any) -> Data:
    found: Data = jsonpatch.JsonPatch([step.as_json() for step in steps]).apply(running)
    return found


@given(pairs())
def test_a_patch_applied_to_what_runs_gives_what_is_rendered(pair: Pair) -> None:
    running, target, _ = pair
    assert applied(running, operations(running, target)) == target


@pytest.mark.tools("laws")
@given(pairs())
@settings(max_examples=40)
def test_at_no_step_does_anything_refer_to_a_row_that_is_not_there(pair: Pair) -> None:
    running, target, _ = pair
    steps = operations(running, target)
    allowed = dangling(running) | dangling(target)
    at, place = copy.deepcopy(running), 0
    for place in range(len(steps)):
        at = applied(at, steps[place : place + 1])
        assert dangling(at) <= allowed, steps[place]


@given(pairs(SPELLINGS))
def test_another_spelling_is_no_drift(pair: Pair) -> None:
    running, _, switch = pair
    assert drift(running, switch) == ()


@pytest.mark.tools("laws")
@given(pairs())
def test_where_nothing_differs_in_meaning_the_switch_means_what_is_rendered(
    pair: Pair,
) -> None:
    running, target, switch = pair
    rows = drift(running, switch)
    assert drift(target, switch) == ()
    assert bool(rows) <= bool(operations(running, target))


Served = tuple[dict[str, str], dict[str, str]]
"""Weights of schedulers by name, and the scheduler of each queue; every scheduler has a queue."""


@st.composite
def served(draw: Any) -> Served:
    """Draw the schedulers of a switch and its queues."""
    weights = draw(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["30", "50", "70"]), min_size=1))
    places = ["Ethernet0|0", "Ethernet0|3", "Ethernet4|0", "Ethernet4|3"]
    queues = {place: draw(st.sampled_from(sorted(weights))) for place in places}
    return {name: weights[name] for name in queues.values()}, queues


def scheduled(side: Served) -> Data:
    weights, queues = side
    return {
        "SCHEDULER": {name: {"type": "DWRR", "weight": weight} for name, weight in weights.items()},
        "QUEUE": {place: {"scheduler": name} for place, name in queues.items()},
    }


@given(served(), served())
def test_queues_differ_exactly_where_the_weights_bound_to_them_do(before: Served, after: Served) -> None:
    """Names of schedulers do not count, however many of either side have one weight."""
    deployed = Tables("config_db.json", scheduled(before))
    read = read_fabric([deployed], switch_for_hwsku).switches[0]
    at_queues = [
        {place: weights[name] for place, name in queues.items()} for weights, queues in (before, after)
    ]
    assert bool(differences(deployed, scheduled(after), read)) == (at_queues[0] != at_queues[1])


def refused_by_upstream(before: Data, after: Data, chip: str, release: str, rules: Data) -> bool:
    """Return whether the updater raises, told again from its source: it looks at its own difference of both files."""
    for step in jsonpatch.make_patch(before, after):
        table, *parts = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        if step["op"] == "remove" and step["path"] in ("/PFC_WD/GLOBAL/POLL_INTERVAL", "/PFC_WD/GLOBAL"):
            return True
        own = rules.get(table)
        if own is None or ("rows" in own and len(parts) <= 1 and step["op"] in own["rows"]):
            continue
        exact = own["fields"] == "whole"
        kept = [part for part in parts if not (exact and any(char.isdigit() for char in part))]
        place = "/".join(kept).lower()
        value = step.get("value")
        names = [f"{place}/{key}" if place else key for key in value] if isinstance(value, dict) else [place]
        for name in names:
            wanted = name if exact else name.split("/")[-1]
            scenario = next((s for s in own["scenarios"] if wanted in s["fields"]), None)
            if scenario is None or step["op"] not in scenario["operations"] or chip not in scenario["since"]:
                return True
            if release != "master" and f"{release}00" < scenario["since"][chip]:
                return True
    return False


def as_in_the_database(data: Data) -> Data:
    return {
        table: {
            k: {f: str(v) if isinstance(v, int) else v for f, v in row.items()} for k, row in rows.items()
        }
        for table, rows in data.items()
    }


@given(pairs(), st.sampled_from(releases()))
def test_every_step_of_a_patch_is_one_that_the_updater_permits(pair: Pair, release: str) -> None:
    running, target, _ = pair
    found = update(running, target, release, "ACS-SN5600")
    if not found.refusals:
        rules = updater_table()["rules"][updater_table()["releases"][release]["rules"]]["tables"]
        before, after = as_in_the_database(running), as_in_the_database(target)
        assert not refused_by_upstream(before, after, "spc4", release, rules)


def test_rows_of_ports_go_before_new_ones_come() -> None:
    running = {"BUFFER_PG": {"Ethernet0|3-4": {"profile": "a"}, "Ethernet0|0": {"profile": "b"}}}
    target = {"BUFFER_PG": {"Ethernet0|3": {"profile": "a"}, "Ethernet0|0": {"profile": "b"}}}
    assert [(step.op, step.path[1]) for step in operations(running, target)] == [
        ("remove", "Ethernet0|3-4"),
        ("add", "Ethernet0|3"),
    ]


def test_a_profile_is_there_before_its_group_and_goes_after_it() -> None:
    running = {"BUFFER_PROFILE": {"old": {}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "old"}}}
    target = {"BUFFER_PROFILE": {"new": {}}, "BUFFER_PG": {"Ethernet0|3": {"profile": "new"}}}
    assert [(step.op, *step.path) for step in operations(running, target)] == [
        ("add", "BUFFER_PROFILE", "new"),
        ("replace", "BUFFER_PG", "Ethernet0|3", "profile"),
        ("remove", "BUFFER_PROFILE", "old"),
    ]


@pytest.mark.parametrize(
    ("name", "written"), [("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("Ethernet0|3", "Ethernet0|3")]
)
def test_names_are_escaped_as_json_pointers_ask(name: str, written: str) -> None:
    assert pointer_part(name) == written


def test_a_multi_asic_patch_names_the_namespace() -> None:
    (step,) = operations({}, {"QUEUE": {"Ethernet0|3": {}}})
    assert step.as_json("asic0") == {"op": "add", "path": "/asic0/QUEUE", "value": {"Ethernet0|3": {}}}


def test_the_last_row_takes_its_table_with_it() -> None:
    """The updater refuses a patch that leaves an empty table; and what the file has empty the switch has not."""
    assert [step.path for step in operations({"QUEUE": {"a": {}}}, {})] == [("QUEUE",)]
    assert operations({"QUEUE": {}}, {}) == ()
    assert [step.op for step in operations({"QUEUE": {}}, {"QUEUE": {"a": {}}})] == ["add"]


def test_tables_that_others_refer_to_are_known_as_such() -> None:
    """Every reference of the schema between owned tables leads from a later table of the order to an earlier."""
    order = [*REFERRED, *(table for table in (*OWNED, *SHARED) if table not in REFERRED)]
    found = [
        (table, other)
        for table in order
        for other in set(order) - {"DEVICE_METADATA", "PORT"}
        if re.search(rf"\bref {other}\b(?!_)", json.dumps(schema().tables.get(table, {})))
    ]
    assert len(found) > 8
    assert all(other in REFERRED and order.index(other) < order.index(table) for table, other in found)
