"""Laws of loading: whatever stands in the file, what is said of it has a place and an operator's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st
from jsonschema import Draft202012Validator

from lossless.formats.intent.load import intent_schema, load_intent
from lossless.ground.basics.errors import InputError
from tests.strategies import document_of, intents

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from lossless.ground.basics.errors import Problem

Data = dict[str, Any]
JARGON = (
    "input",
    "instance",
    "dictionary",
    "tuple",
    "integer",
    "boolean",
    "string",
    "none",
    "something else",
    "{",
)
VALIDATOR = Draft202012Validator(intent_schema())
PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)
RUBBISH: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(PRINTABLE, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(PRINTABLE, max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value in plain data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [*([path] if path else []), *(p for key, value in items for p in places(value, (*path, key)))]


def changed(data: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """Return plain data with another value at a path."""
    if not path:
        return new
    copy: Any = list(data) if isinstance(data, list) else dict(data)
    copy[path[0]] = changed(data[path[0]], path[1:], new)
    return copy


def problems_of(data: Data) -> tuple[Problem, ...]:
    try:
        load_intent(document_of(data))
    except InputError as error:
        return error.problems
    return ()


@given(intents(), st.data(), RUBBISH)
def test_any_wrong_value_is_met_with_places_and_without_jargon(
    data: Data, choice: st.DataObject, new: Any
) -> None:
    path = choice.draw(st.sampled_from(places(data)))
    problems = problems_of(changed(data, path, new))
    assert [p[1:3] for p in problems] == sorted(p[1:3] for p in problems)
    assert len(set(problems)) == len(problems)
    for problem in problems:
        assert problem.line is not None
        said = problem.message.lower()
        for text in texts(new):
            said = said.replace(text.lower(), "")
        assert not [word for word in JARGON if word in said.partition("found")[0]], problem.message


def texts(data: Any) -> list[str]:
    """Return the texts in plain data, keys among them: a message may quote what was written."""
    if isinstance(data, dict | list):
        return [
            text
            for part in (*data, *(data.values() if isinstance(data, dict) else ()))
            for text in texts(part)
        ]
    return [data] if isinstance(data, str) and data else []


@given(intents(), st.data(), st.text(PRINTABLE, max_size=6))
def test_any_unknown_key_is_one_problem_at_its_place(data: Data, choice: st.DataObject, key: str) -> None:
    named = (("classes",), ("networks",), ("topology", "devices"))
    fixed = [
        p
        for p in [(), *places(data)]
        if isinstance(at(data, p), dict)
        and p not in named
        and p[-1:] not in (("by_speed",), ("breakout",), ("dscp",))
    ]
    path = choice.draw(st.sampled_from(fixed))
    assume(key not in KNOWN_KEYS)
    spoilt = changed(data, path, {**at(data, path), key: 1})
    problems = problems_of(spoilt)
    assert len(problems) == 1
    assert problems[0].message.startswith("unknown key ")
    assert not VALIDATOR.is_valid(spoilt)


def at(data: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def keys_of(schema: Any) -> set[str]:
    """Return every key that a JSON Schema knows anywhere."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*(keys_of(value) for value in schema.values()))


KNOWN_KEYS = keys_of(VALIDATOR.schema)


@given(intents())
def test_the_schema_accepts_what_is_loaded(data: Data) -> None:
    assert problems_of(data) == ()
    VALIDATOR.validate(data)


@given(intents(), st.data(), RUBBISH)
def test_what_the_schema_refuses_is_refused(data: Data, choice: st.DataObject, new: Any) -> None:
    spoilt = changed(data, choice.draw(st.sampled_from(places(data))), new)
    assert VALIDATOR.is_valid(spoilt) or problems_of(spoilt)
