"""What this program wrote is read again as foreign text is: each key of its kind, or the place where it is not."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import Record
from lossless.ground.documents.json.document import load_json
from lossless.ground.documents.json.own_records import own_record


class Leaf(Record):
    """A record within another."""

    name: str
    kind: Literal["up", "down"] = "up"


class Whole(Record):
    """A record of every kind of value."""

    number: int
    on: bool
    anything: Any
    leaves: list[Leaf]
    rows: dict[str, dict[str, str] | None]
    leaf: Leaf | None = None


SOUND: dict[str, Any] = {
    "number": 3,
    "on": True,
    "anything": [None],
    "leaves": [{"name": "a"}, {"name": "b", "kind": "down", "more": 1}],
    "rows": {"x": {"y": "z"}, "none": None},
}


def read(data: object) -> Whole:
    return own_record(load_json(json.dumps(data), "own.json"), Whole)


def test_a_sound_file_is_read_and_keys_that_nobody_reads_are_skipped() -> None:
    whole = read({**SOUND, "more": 3})
    assert (whole.number, whole.on, whole.anything, whole.leaf) == (3, True, [None], None)
    assert [(leaf.name, leaf.kind) for leaf in whole.leaves] == [("a", "up"), ("b", "down")]
    assert whole.rows == {"x": {"y": "z"}, "none": None}
    assert read({**SOUND, "leaf": {"name": "c"}}).leaf == Leaf(name="c")


@pytest.mark.parametrize(
    ("change", "at", "message"),
    [
        ({"number": True}, "true", "number: expected a whole number, found true or false"),
        ({"number": 3.0}, "3.0", "number: expected a whole number, found a number"),
        ({"number": None}, "null", "number: expected a whole number, found null"),
        ({"on": 1}, "1", "on: expected true or false, found a whole number"),
        ({"leaves": {}}, "{}", "leaves: expected a list, found a mapping"),
        ({"leaves": [[]]}, "[]", "leaves[0]: expected a mapping, found a list"),
        ({"leaves": [{}]}, "{}", "leaves[0]: name is missing"),
        ({"leaves": [{"name": "a", "kind": "UP"}]}, '"UP"', "leaves[0].kind: expected one of up, down"),
        ({"leaves": [{"name": "a", "kind": []}]}, "[]", "leaves[0].kind: expected one of up, down"),
        ({"rows": {"\x1b": 5}}, "5", r"rows.\x1b: expected a mapping, found a whole number"),
        ({"rows": {"x": {"y": None}}}, "null", "rows.x.y: expected text, found null"),
    ],
)
def test_a_value_of_another_kind_is_located(change: dict[str, Any], at: str, message: str) -> None:
    data = {**SOUND, **change}
    with pytest.raises(InputError) as raised:
        read(data)
    (problem,) = raised.value.problems
    assert problem.message == message
    assert problem.line == 1
    assert problem.column is not None
    assert json.dumps(data)[problem.column - 1 :].startswith(at)


@pytest.mark.parametrize("key", SOUND)
def test_a_key_that_is_missing_is_named(key: str) -> None:
    with pytest.raises(InputError, match=rf"own\.json:1:1: {key} is missing"):
        read({name: value for name, value in SOUND.items() if name != key})


def test_a_part_is_read_by_its_path() -> None:
    document = load_json(json.dumps(SOUND), "own.json")
    assert own_record(document, Leaf, ("leaves", 1)) == Leaf(name="b", kind="down")
    with pytest.raises(InputError, match=r"own\.json:1:12: expected a mapping, found a whole number"):
        own_record(document, Leaf, ("number",))
