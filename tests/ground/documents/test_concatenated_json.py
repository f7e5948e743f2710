"""JSON values one after another in one text are read in order, up to where the last one ends."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from lossless.ground.documents.concatenated_json import printed_json

_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text(max_size=4), _VALUES, min_size=1, max_size=4)


@given(st.lists(_OBJECTS, max_size=4))
def test_each_of_several_values_is_read(values: list[dict[str, object]]) -> None:
    text = "".join(
        f"For namespace asic{n}:\n{json.dumps(value, indent=1)}\n" for n, value in enumerate(values)
    )
    printed = printed_json(text)
    assert [one.value for one in printed] == values
    assert [one.before for one in printed] == [(f"For namespace asic{n}:",) for n in range(len(values))]


@given(_OBJECTS, st.integers(0, 200))
def test_a_value_that_is_cut_off_is_read_up_to_there_or_not_at_all(value: dict[str, object], at: int) -> None:
    text = json.dumps(value)
    for one in printed_json(text[: min(at, len(text) - 1)]):
        assert not one.whole
        assert one.value.keys() <= value.keys()


@given(st.text('{}[]",:0a\n\\', max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    printed_json(text)


def test_a_prompt_in_brackets_begins_no_value() -> None:
    assert printed_json('[root@leaf1]# show\n[0]: rx_packets: 1\n{"a": 1}\n')[0].value == {"a": 1}


def test_keys_that_one_object_repeats_are_named() -> None:
    (printed,) = printed_json('{"a": 1, "b": {"c": 1, "c": 2}}')
    assert printed.repeated == ("c",)
