"""Laws of YAML documents: data as ruamel.yaml reads it, and spans that read back as the values they name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from ruamel.yaml import YAML

from lossless.ground.basics.errors import InputError
from lossless.ground.documents.yaml.compose import load_yaml

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from lossless.ground.basics.findings import Path, Span
    from lossless.ground.documents.text import Document

words = st.text("ab:#-'\"\\ é😀{}[],&*!|>%@~\n\t09", max_size=6) | st.sampled_from(
    ["dscp", "no", "on", "null", "10:20:30", "2 x 400G", "3m", "<<"]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=16,
)
mappings = st.dictionaries(words, values, min_size=1, max_size=5)
layouts = st.randoms(use_true_random=False)


def write_scalar(value: Any, layout: Random, *, inside: bool = False) -> str:
    """Write a scalar, text in any of the styles that fit it; ``inside`` of brackets a colon ends a plain one."""
    if value is None:
        return layout.choice(["null", "~"])
    if not isinstance(value, str):
        return json.dumps(value)
    styles = [json.dumps(value, ensure_ascii=False)]
    if re.fullmatch(r"[^\n\t]+", value):
        styles.append("'" + value.replace("'", "''") + "'")
    if re.fullmatch(r"[a-z][a-z0-9 :]*[a-z0-9]", value) and value != "null":
        plain = ":" not in value if inside else ": " not in value
        styles += [value] if plain else []
    return layout.choice(styles)


def write_flow(value: Any, layout: Random, *, inside: bool = False) -> str:
    """Write a value on one line."""
    gap = layout.choice(["", " "])
    if isinstance(value, dict):
        members = [
            f"{write_scalar(k, layout, inside=True)}: {write_flow(v, layout, inside=True)}"
            for k, v in value.items()
        ]
        return "{" + gap + ", ".join(members) + gap + "}"
    if isinstance(value, list):
        return "[" + gap + ", ".join(write_flow(item, layout, inside=True) for item in value) + gap + "]"
    return write_scalar(value, layout, inside=inside)


def write_block(value: Any, indent: int, layout: Random) -> str:
    """Write what follows a colon or a dash, in flow or in block style, with comments and blank lines."""
    ending = layout.choice(["\n", "\n\n", "  # 3m: [\n", "\n# {\n"])
    if not isinstance(value, dict | list) or not value or layout.random() < 0.3:
        return f" {write_flow(value, layout)}{ending}"
    margin = " " * indent
    deeper = indent + layout.choice([1, 2, 4])
    if isinstance(value, dict):
        lines = [
            f"{margin}{write_scalar(k, layout)}:{write_block(v, deeper, layout)}" for k, v in value.items()
        ]
    else:
        lines = [f"{margin}-{write_block(item, deeper, layout)}" for item in value]
    return ending + "".join(lines)


def write(data: dict[str, Any], layout: Random) -> str:
    """Write a document in block style at the top."""
    return "".join(f"{write_scalar(k, layout)}:{write_block(v, 1, layout)}" for k, v in data.items())


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every path below a value, with what is there."""
    yield path, value
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in entries:
        yield from paths_in(child, (*path, key))


def read_at(document: Document, span: Span) -> Any:
    """Read the text of a span alone, its first line at the column it had."""
    lines = document.text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    return YAML(typ="safe").load("\n".join(lines))


@given(mappings, layouts, st.booleans())
def test_data_is_what_was_written_and_what_ruamel_reads(
    data: dict[str, Any], layout: Random, pure: bool
) -> None:
    text = write(data, layout)
    document = load_yaml(text, "f", pure=pure)
    assert document.data == data == YAML(typ="safe").load(text)
    assert document.problems == ()


@given(mappings, layouts, st.booleans())
def test_the_spans_of_values_and_keys_read_back(data: dict[str, Any], layout: Random, pure: bool) -> None:
    document = load_yaml(write(data, layout), "f", pure=pure)
    for path, value in paths_in(data):
        assert document.exists(path)
        assert read_at(document, document.locate(path)) == value
        if path and isinstance(path[-1], str):
            assert read_at(document, document.locate(path, "key")) == path[-1]


@given(mappings, layouts)
def test_both_parsers_give_the_same_places(data: dict[str, Any], layout: Random) -> None:
    text = write(data, layout)
    paths = [path for path, _ in paths_in(data)]
    assert load_yaml(text, "f").locate_many(paths) == load_yaml(text, "f", pure=True).locate_many(paths)


@given(mappings, mappings, layouts)
def test_unrelated_neighbors_never_change_what_is_located(
    data: dict[str, Any], others: dict[str, Any], layout: Random
) -> None:
    block = write({"rdma": data}, layout)
    before = write({f"<{key}": value for key, value in others.items()}, layout)
    after = write({f">{key}": value for key, value in others.items()}, layout)
    alone, among_others = load_yaml(block, "f"), load_yaml(before + block + after, "f")
    lines = before.count("\n")
    for path, _ in paths_in(data, ("rdma",)):
        span, moved = alone.locate(path), among_others.locate(path)
        assert moved == (span.line + lines, span.column, span.end_line + lines, span.end_column)


@given(mappings, layouts)
def test_many_paths_at_once_are_located_as_each_alone(data: dict[str, Any], layout: Random) -> None:
    document = load_yaml(write(data, layout), "f")
    paths = [path for path, _ in paths_in(data)] + [(*path, "absent", 7) for path, _ in paths_in(data)]
    assert document.locate_many(paths) == {path: document.locate(path) for path in paths}


@given(st.dictionaries(words, scalars, min_size=1), st.dictionaries(words, scalars, min_size=1), layouts)
def test_a_merge_is_the_union_in_which_own_keys_win(
    base: dict[str, Any], own: dict[str, Any], layout: Random
) -> None:
    members = write_flow(own, layout)[1:-1]
    text = f"base: &base {write_flow(base, layout)}\nown: {{<<: *base, {members}}}\n"
    document = load_yaml(text, "f")
    assert document.data["own"] == base | own
    for key, value in (base | own).items():
        assert read_at(document, document.locate(("own", key))) == value


@given(st.text("ab:#-'\"\\ {}[],&*!|>%@?<~\n\t\r0.e\x07\x85\u2028\ud800", max_size=25), st.booleans())
def test_any_text_is_read_or_refused_with_a_place(text: str, pure: bool) -> None:
    try:
        document = load_yaml("a: 1\n" + text, "f", pure=pure)
    except InputError as error:
        problems = error.problems
        assert problems
    else:
        problems = document.problems
        assert next(iter(document.data)) == "a"
    for problem in problems:
        assert problem.line is not None
        assert problem.line >= 1
