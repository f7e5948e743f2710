"""Laws of reading devices: whatever stands in a file, the rest of it is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, strategies as st

from lossless.api import lint_documents
from lossless.formats.sonic.read.tables import READ_TABLES, whole_number
from lossless.formats.sonic.to_model.ports import index_range
from lossless.ground.basics.findings import natural_key
from lossless.ground.documents import load_text
from lossless.model.fabric.view import bare
from tests.formats.sonic.devices import Config, base, read
from tests.strategies import shuffled

if TYPE_CHECKING:
    from random import Random

WORD_LIST = """
    3 3-4 4-3 0-7 -1 Ethernet0 Ethernet0|3 Ethernet0,Ethernet4|3-4 AZURE global localhost GLOBAL NULL
    [BUFFER_POOL|ingress_lossless_pool] 5m 400000 | a|b|c|3 true pfc_enable profile pool size xoff speed lanes
    hwsku hostname name scheduler
"""
WORDS = st.sampled_from(WORD_LIST.split())
TEXTS = WORDS | st.text(max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ROWS = st.dictionaries(TEXTS, VALUES | st.dictionaries(TEXTS, VALUES, max_size=4), max_size=4)
CONFIGS = st.dictionaries(st.sampled_from(sorted(READ_TABLES)), VALUES | ROWS, max_size=8)


@given(CONFIGS)
def test_any_json_object_is_read(data: Config) -> None:
    switch, _ = read(data)
    assert len({port.name for port in switch.ports}) == len(switch.ports)


def places(data: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the path of every table, row and field."""
    return [(*path, key) for key in data] + [
        found
        for key, value in data.items()
        if isinstance(value, dict)
        for found in places(value, (*path, key))
    ]


@given(st.data(), VALUES | TEXTS)
def test_a_device_with_any_one_value_changed_is_read_and_checked(choice: st.DataObject, new: Any) -> None:
    data = base()
    path = choice.draw(st.sampled_from(places(data)))
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    if choice.draw(st.booleans()):
        holder[path[-1]] = new
    else:
        holder[choice.draw(TEXTS)] = holder.pop(path[-1])
    read(data)
    report = lint_documents([load_text(json.dumps(data), "sw.json")])
    assert [error.message for error in report.errors] == [
        f"{path[0]} is a {type(data[path[0]]).__name__}, not a table of rows; it is not read"
        for _ in range(len(path) == 1 and path[0] in data and not isinstance(data[path[0]], dict))
    ]


@given(CONFIGS, st.randoms(use_true_random=False))
def test_the_order_of_keys_means_nothing(data: Config, random: Random) -> None:
    switch, notes = read(data)
    other, other_notes = read(shuffled(data, random))
    assert bare(other) == bare(switch)
    assert sorted(other_notes) == sorted(notes)


@given(st.sampled_from(["leaf", "azure"]), st.randoms(use_true_random=False))
def test_the_order_of_keys_of_a_real_device_means_nothing(name: str, random: Random) -> None:
    assert bare(read(shuffled(base(name), random))[0]) == bare(read(base(name))[0])


@given(st.text(max_size=8))
def test_ranges_are_what_orchagent_takes(text: str) -> None:
    found = index_range(text)
    if found is not None:
        assert 0 <= found[0] <= found[-1] <= 255
        assert "-" not in text or found[0] < found[-1]


@given(st.integers(-(10**19), 10**19))
def test_numbers_are_read_back(value: int) -> None:
    assert whole_number(str(value)) == value


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from(("", "0", "000")))
def test_names_sort_by_their_numbers_whatever_zeros_lead(one: int, other: int, zeros: str) -> None:
    keys = natural_key(f"leaf{zeros}{one}-2"), natural_key(f"leaf{other}-1")
    assert (keys[0] < keys[1]) == (one < other)


def test_names_of_the_same_numbers_have_one_order() -> None:
    assert sorted({"leaf8", "leaf08", "leaf008"}, key=natural_key) == ["leaf008", "leaf08", "leaf8"]
