"""Where a cursor is in an intent, also while it cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.findings import Path as Keys
from lossless.ground.documents import load
from lossless.interfaces.lsp.hover_and_completion import Cursor, cursor_at, key_at
from tests.conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/fabric.yaml"))


def at_bar(text: str) -> Cursor:
    """Return the cursor at the bar, which is no part of the text."""
    before, _, after = text.partition("|")
    line = before.count("\n")
    return cursor_at(before + after, line, len(before) - before.rfind("\n") - 1)


@pytest.mark.parametrize(
    ("text", "path", "typed", "in_value"),
    [
        ("|", (), "", False),
        ("los|", (), "los", False),
        ("lossless: |", ("lossless",), "", True),
        ("classes:\n  rdma: {dscp: 26, pri|", ("classes", "rdma"), "pri", False),
        ("classes:\n  rdma: {dscp: 26,\n         pri|", ("classes", "rdma"), "pri", False),
        ("classes:\n  rdma: {dscp: 26, ecn: {min: |", ("classes", "rdma", "ecn", "min"), "", True),
        ("classes:\n  rdma: {ecn: {min: 1 B}, |", ("classes", "rdma"), "", False),
        ("classes:\n  rdma: {dscp: 26, ecn: {\n  cnp:\n    sch|", ("classes", "cnp"), "sch", False),
        ("pfc:\n  watchdog: {}\n|\nhosts: {}", (), "", False),
        ("pfc:\n  watchdog: {}\n  |\nhosts: {}", ("pfc",), "", False),
        ("topology:\n  links:\n    - {a: leaf1, |", ("topology", "links", 0), "", False),
        ("topology:\n  links:\n    - a: leaf1\n      ca|", ("topology", "links", 0), "ca", False),
        ("topology:\n  links:\n  - a: leaf1\n    b: x\n  - a: |", ("topology", "links", 0, "a"), "", True),
        ("telemetry:\n  alerts: [watch|", ("telemetry", "alerts", 0), "watch", True),
        ('networks:\n  "a b":\n    on: sep|', ("networks", "a b", "on"), "sep", True),
        ("pfc: # the watch\n  wat|", ("pfc",), "wat", False),
        ("fabric: x # y\nhosts: {mtu: 9000} \n|", (), "", False),
        ("hosts:\r\n  mtu: 9000\r\n  tr|", ("hosts",), "tr", False),
    ],
)
def test_the_cursor_is_below_what_is_open(text: str, path: Keys, typed: str, in_value: bool) -> None:
    assert at_bar(text) == Cursor(path, typed, in_value)


def leaves(data: Any, path: Keys = ()) -> list[Keys]:
    """Return the paths of all keys of plain data."""
    if isinstance(data, list):
        return [found for value in data for found in leaves(value, path)]
    items = data.items() if isinstance(data, dict) else ()
    return [one for key, value in items for one in ((*path, key), *leaves(value, (*path, key)))]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_key_of_the_examples_is_found_where_it_stands(example: Path) -> None:
    document = load(example)
    keys = [path for path in leaves(document.data) if document.exists(path)]
    assert keys
    for path, span in document.locate_many(keys, "key").items():
        assert key_at(document.text, span.line - 1, span.column - 1) == path


@given(
    st.text(st.sampled_from("ab:-{}[],'\"#\n\r &*|>\t\u2028"), max_size=60),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_no_text_has_a_place_that_cannot_be_asked_for(text: str, line: int, column: int) -> None:
    cursor_at(text, line, column)
    key_at(text, line, column)
