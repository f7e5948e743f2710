"""RFC 6902 as the updater's library has it: what a patch makes of a configuration, and what two of them differ in."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given, strategies as st

from lossless.formats.sonic.changes.json_patch import Element, PatchDoesNotApply, applied, elements, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

Data = dict[str, Any]
NAMES = st.sampled_from(["a", "b", "c/d", "e~f", "0", "1"])
VALUES = st.sampled_from(["1", "2", 1])
LEAVES = VALUES | st.lists(VALUES, max_size=3)
CONFIGURATIONS = st.dictionaries(
    NAMES, st.dictionaries(NAMES, st.dictionaries(NAMES, LEAVES, max_size=3), max_size=3)
)
POINTERS = st.lists(NAMES | st.just("-"), max_size=4).map(
    lambda names: "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)
)
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
        "path": POINTERS,
        "from": POINTERS,
        "value": LEAVES | st.dictionaries(NAMES, LEAVES, max_size=2),
    }
)


def by_library(configuration: Data, patch: Sequence[Data]) -> Any:
    """Return what the library makes of a configuration, None where the patch does not apply to it."""
    try:
        found = jsonpatch.JsonPatch(copy.deepcopy(list(patch))).apply(copy.deepcopy(configuration))
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError):
        return None
    return found if isinstance(found, dict) else None


def ours(configuration: Data, patch: Sequence[Data]) -> Any:
    try:
        return applied(configuration, patch)
    except PatchDoesNotApply:
        return None


@given(CONFIGURATIONS, st.lists(OPERATIONS, min_size=1, max_size=3))
def test_a_patch_makes_of_a_configuration_what_the_library_makes_of_it(
    configuration: Data, patch: list[Data]
) -> None:
    # The library of the updater neither moves nor copies the whole configuration; newer ones do.
    if all(step["from"] for step in patch):
        before = copy.deepcopy(configuration)
        assert ours(configuration, patch) == by_library(configuration, patch)
        assert configuration == before


@pytest.mark.parametrize(
    "step",
    [
        {"op": "remove", "path": "/t/none"},
        {"op": "replace", "path": "/t/none", "value": "1"},
        {"op": "add", "path": "/none/a", "value": "1"},
        {"op": "test", "path": "/t/a/x", "value": "2"},
        {"op": "add", "path": "/t/a/list/2", "value": "1"},
        {"op": "add", "path": "/t/a/list/01", "value": "1"},
        {"op": "add", "path": "/t/a/x/below", "value": "1"},
        {"op": "move", "from": "/t", "path": "/t/a"},
        {"op": "remove", "path": ""},
        {"op": "replace", "path": "", "value": "1"},
        {"op": "add", "path": "t", "value": "1"},
        {"op": "add", "path": "/t/~2", "value": "1"},
        {"op": "add", "path": "/t/b"},
        {"op": "swap", "path": "/t"},
        {"path": "/t"},
    ],
)
def test_what_finds_no_place_does_not_apply(step: Data) -> None:
    with pytest.raises(PatchDoesNotApply) as raised:
        applied({"t": {"a": {"x": "1", "list": ["1"]}}}, [step])
    assert (raised.value.op, raised.value.path) == (step.get("op", ""), step["path"])


def test_pointers_are_read_as_they_are_escaped() -> None:
    assert parts("/a~1b/~01/~0") == ("a/b", "~1", "~")
    assert parts("") == ()


def as_elements(patch: Any) -> list[Element]:
    return [Element(step["op"], parts(step["path"]), step.get("value")) for step in patch]


TABLES = st.dictionaries(
    NAMES,
    st.dictionaries(NAMES, st.dictionaries(NAMES, st.sampled_from(list("12345")), max_size=4), max_size=4),
)


@given(TABLES, TABLES)
def test_the_difference_holds_every_element_that_the_library_can_find(before: Data, after: Data) -> None:
    found = elements(before, after)
    seen = as_elements(jsonpatch.make_patch(before, after))
    assert [element for element in seen if element not in found] == []
    certain = len({json.dumps(element) for element in found}) == len({e.path for e in found})
    if certain:
        assert sorted(map(repr, found)) == sorted(map(repr, seen))


def test_one_value_that_goes_and_comes_is_a_move_and_what_goes_is_not_seen() -> None:
    before = {"t": {"a": {"x": "1"}, "k": {"f": "1"}}, "u": {"r": {"z": "1"}}}
    after = {"t": {"b": {"x": "1"}, "k": {}}, "u": {"r": {"z": "1", "g": "1"}}}
    assert set(map(repr, elements(before, after))) == {
        repr(Element("move", ("t", "b"))),
        repr(Element("move", ("u", "r", "g"))),
    }


def test_where_the_pairs_of_moves_are_open_every_one_is_named() -> None:
    gone_once = elements({"t": {"a": {"x": "1"}}}, {"t": {"b": {"x": "1"}, "c": {"x": "1"}}})
    assert sorted((element.op, element.path[-1]) for element in gone_once) == [
        ("add", "b"),
        ("add", "c"),
        ("move", "b"),
        ("move", "c"),
    ]
    gone_twice = elements({"t": {"a": {"x": "1"}, "b": {"x": "1"}}}, {"t": {"c": {"x": "1"}}})
    assert sorted((element.op, element.path[-1]) for element in gone_twice) == [
        ("move", "c"),
        ("remove", "a"),
        ("remove", "b"),
    ]


def test_lists_differ_place_by_place() -> None:
    assert elements({"t": {"a": ["1", "2"]}}, {"t": {"a": ["1"]}}) == (Element("remove", ("t", "a", "1")),)
    assert elements({"t": {"a": ["1"]}}, {"t": {"a": ["1", "2"]}}) == (Element("add", ("t", "a", "1"), "2"),)
    assert elements({"t": {"a": ["1"]}}, {"t": {"a": ["2"]}}) == (
        Element("remove", ("t", "a", "0")),
        Element("add", ("t", "a", "0"), "2"),
    )


def test_a_number_is_not_its_text() -> None:
    assert elements({"t": 1}, {"t": "1"}) == (Element("replace", ("t",), "1"),)
    assert elements({"t": 1}, {"t": True}) == (Element("replace", ("t",), True),)
