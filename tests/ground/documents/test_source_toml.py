"""TOML with positions: what the standard library reads stands where we say it does."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Span
from lossless.ground.documents.toml_document import load_toml

TEXT = """\
# choice
select = ["WD", # watchdogs
  'BUF']
a . b."c d" = {x = 1, y = [1, 2]} # [not.a.table]
when = 1979-05-27 07:32:00

[[suppress]]
rules = ["ECN001"]
[suppress.inner]
why = '''one # two
[three]'''
[[ suppress ]]
until = 2026-12-31
[x."y.z"]
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("select",), Span(2, 10, 3, 9)),
        (("select", 1), Span(3, 3, 3, 8)),
        (("a", "b", "c d", "y", 1), Span(4, 31, 4, 32)),
        (("when",), Span(5, 8, 5, 27)),
        (("suppress", 0), Span(7, 1, 7, 13)),
        (("suppress", 0, "rules"), Span(8, 9, 8, 19)),
        (("suppress", 0, "inner", "why"), Span(10, 7, 11, 11)),
        (("suppress", 1), Span(12, 1, 12, 15)),
        (("suppress", 1, "until"), Span(13, 9, 13, 19)),
        (("x", "y.z"), Span(14, 1, 14, 10)),
        (("suppress", 1, "nothing"), Span(12, 1, 12, 15)),
    ],
)
def test_a_value_is_where_it_was_written(path: tuple[str | int, ...], place: Span) -> None:
    assert load_toml(TEXT, "x.toml").locate(path) == place


def test_a_key_stands_before_its_value() -> None:
    assert load_toml(TEXT, "x.toml").locate(("a", "b", "c d"), "key") == Span(4, 7, 4, 12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = \n", "x.toml:2:5: not valid TOML: Invalid value"),
        ("a = 1\r\na = 2", "x.toml:2:6: not valid TOML: Cannot overwrite a value"),
        ("a = [1,\n", "x.toml:1:8: not valid TOML: Invalid value"),
    ],
)
def test_what_is_no_toml_is_named_at_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_toml(text, "x.toml")
    assert str(caught.value) == message


# --- laws ---

KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=4)
SCALARS = (
    st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
    | st.integers(0, 99)
    | st.booleans()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    """Return a text, number or truth as TOML and JSON both have it."""
    return json.dumps(value, ensure_ascii=False)


def inline(value: Any) -> str:
    """Return a value as TOML on one line; its strings are those of JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)} = {inline(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return written(value)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield from paths(below, (*path, key))


@given(
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES), max_size=3),
)
def test_the_text_at_a_place_is_the_value(values: dict[str, Any], tables: dict[str, dict[str, Any]]) -> None:
    tables = {name: table for name, table in tables.items() if name not in values}
    lines = [f"{written(key)} = {inline(value)} # c" for key, value in values.items()]
    for name, table in tables.items():
        lines += [f"[ {written(name)} ]", *(f"{written(k)}={inline(v)}" for k, v in table.items())]
    text = "\n".join(lines)
    document = load_toml(text, "x.toml")
    for path, value in paths({**values, **tables}):
        if path and not (len(path) == 1 and path[0] in tables):
            span = document.locate(path)
            assert span.line == span.end_line
            found = document.line_text(span.line)[span.column - 1 : span.end_column - 1]
            assert tomllib.loads(f"value = {found}")["value"] == value
