"""Laws of places in JSON: a span holds exactly what the data holds, whatever stands around it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.errors import InputError
from lossless.ground.documents.json.document import load_json

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path, Span
    from lossless.ground.documents.text import Document

keys = st.text(max_size=5) | st.sampled_from(["PORT", "Ethernet0", "}", '"', "\\", "é", "😀", "\n"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | keys
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(keys, values, max_size=5)
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", "\t:\n ")]),
        "ensure_ascii": st.booleans(),
    }
)


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every path below a value, with what is there."""
    yield path, value
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in entries:
        yield from paths_in(child, (*path, key))


def text_at(document: Document, span: Span) -> str:
    """Cut a span out of the text by its lines and columns alone."""
    lines = document.text.split("\n")
    start = sum(len(line) + 1 for line in lines[: span.line - 1]) + span.column - 1
    end = sum(len(line) + 1 for line in lines[: span.end_line - 1]) + span.end_column - 1
    return document.text[start:end]


@given(objects, layouts)
def test_the_span_of_a_value_reads_back_as_the_value(data: dict[str, Any], layout: dict[str, Any]) -> None:
    document = load_json(json.dumps(data, **layout), "f")
    assert document.data == data
    for path, value in paths_in(data):
        assert document.exists(path)
        assert json.loads(text_at(document, document.locate(path))) == value


@given(objects, layouts)
def test_the_span_of_a_key_reads_back_as_the_key(data: dict[str, Any], layout: dict[str, Any]) -> None:
    document = load_json(json.dumps(data, **layout), "f")
    for path, _ in paths_in(data):
        if path and isinstance(path[-1], str):
            assert json.loads(text_at(document, document.locate(path, "key"))) == path[-1]


@given(objects, layouts)
def test_many_paths_at_once_are_located_as_each_alone(data: dict[str, Any], layout: dict[str, Any]) -> None:
    text = json.dumps(data, **layout)
    paths = [path for path, _ in paths_in(data)] + [(*path, "absent", 7) for path, _ in paths_in(data)]
    together = load_json(text, "f").locate_many(paths)
    assert together == {path: load_json(text, "f").locate(path) for path in paths}


@given(objects, objects, objects)
def test_unrelated_neighbors_never_change_what_is_located(
    data: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    whole = {f"<{key}": value for key, value in before.items()} | {"PORT": data}
    whole |= {f">{key}": value for key, value in after.items()}
    alone, among_others = load_json(json.dumps({"PORT": data}), "f"), load_json(json.dumps(whole), "f")
    for path, _ in paths_in(data, ("PORT",)):
        for mark in ("value", "key"):
            assert text_at(alone, alone.locate(path, mark)) == text_at(
                among_others, among_others.locate(path, mark)
            )


pairs: st.SearchStrategy[Any] = st.deferred(
    lambda: st.lists(st.tuples(st.sampled_from("ab"), repeated), max_size=4)
)
repeated: st.SearchStrategy[Any] = (
    st.integers(0, 9) | st.lists(st.integers(0, 9), max_size=2) | pairs.map(lambda p: ("object", p))
)


def dump_pairs(value: Any) -> str:
    """Write objects given as pairs, repeats and all."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f'"{key}": {dump_pairs(inner)}' for key, inner in value[1]) + "}"
    return json.dumps(value)


def count_repeats(value: Any) -> int:
    """Count keys written again in the same object."""
    if not isinstance(value, tuple):
        return 0
    own = len(value[1]) - len({key for key, _ in value[1]})
    return own + sum(count_repeats(inner) for _, inner in value[1])


@given(pairs)
def test_with_repeated_keys_places_are_those_of_the_values_in_effect(data: Any) -> None:
    text = dump_pairs(("object", data))
    document = load_json(text, "f")
    assert document.data == json.loads(text)
    assert len(document.duplicates) == count_repeats(("object", data))
    for path, value in paths_in(document.data):
        assert json.loads(text_at(document, document.locate(path))) == value
    for duplicate in document.duplicates:
        assert text.startswith(json.dumps(duplicate.path[-1]), duplicate.column - 1)


@given(st.text("{}[]\":,\\u0dD8 \n\t1-.eE+NaInfity/#'truefalsn", max_size=30))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        document = load_json(text, "f")
    except InputError as error:
        [problem] = error.problems
        assert problem.line is not None
        assert 1 <= problem.line <= text.count("\n") + 1
    else:
        assert document.data == json.loads(text)


members = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(keys, inner), max_size=4).map(tuple),
    max_leaves=12,
)
"""Values whose objects are tuples of members, so that a key can stand in them twice."""


def written(value: Any, layout: dict[str, Any]) -> str:
    """Write such a value as JSON."""
    comma, colon = layout["separators"]
    plain = {"ensure_ascii": layout["ensure_ascii"]}
    if isinstance(value, tuple):
        inside = (f"{json.dumps(key, **plain)}{colon}{written(child, layout)}" for key, child in value)
        return f"{{{comma.join(inside)}}}"
    if isinstance(value, list):
        return f"[{comma.join(written(child, layout) for child in value)}]"
    return json.dumps(value, **plain)


def repeats_in(value: Any) -> bool:
    children = [child for _, child in value] if isinstance(value, tuple) else value
    if not isinstance(children, list):
        return False
    names = [key for key, _ in value] if isinstance(value, tuple) else []
    return len(set(names)) < len(names) or any(map(repeats_in, children))


@given(st.lists(st.tuples(keys, members), max_size=5).map(tuple), layouts)
def test_a_repeated_key_is_reported_however_it_is_written(value: Any, layout: dict[str, Any]) -> None:
    document = load_json(written(value, layout), "f")
    assert bool(document.duplicates) == repeats_in(value)
