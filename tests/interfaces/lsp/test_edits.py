"""Texts and places as an editor has them: edits and columns."""

from __future__ import annotations

from hypothesis import given, strategies as st
from lsprotocol.types import Position

from lossless.ground.basics.findings import Span
from lossless.ground.documents.text import Lines
from lossless.interfaces.lsp.workspace import ColumnUnits, text_edits
from tests.interfaces.lsp.client import applied

UTF_16 = ColumnUnits("utf-16")
LINES = st.lists(st.text(st.sampled_from("ab {\u00b5\U0001d510\u2028"), max_size=4), max_size=6).map(
    "\n".join
)


@given(LINES, LINES)
def test_edits_make_one_text_of_another(before: str, after: str) -> None:
    assert applied(before, text_edits(before, after, UTF_16)) == after


def test_only_what_differs_is_replaced() -> None:
    before = 'a\n\U0001d510 "x": "080", # why\nb\n'
    (edit,) = text_edits(before, before.replace("080", "80"), UTF_16)
    assert (str(edit.range), edit.new_text) == ("1:9-1:10", "")


def test_columns_are_those_of_the_encoding_that_was_agreed_on() -> None:
    lines = Lines("x\nµ\U0001d510: 1\n")
    span = Span(2, 3, 2, 4)
    starts = {name: ColumnUnits(name).range(lines, span).start for name in ("utf-8", "utf-16", "utf-32")}
    assert starts == {"utf-8": Position(1, 6), "utf-16": Position(1, 3), "utf-32": Position(1, 2)}
    assert ColumnUnits().range(lines, span).start == Position(1, 3)


@given(
    st.text(st.sampled_from("aµ\u20ac\U0001d510"), max_size=6),
    st.integers(0, 6),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
)
def test_a_column_comes_back_as_it_was(line: str, column: int, encoding: str) -> None:
    units = ColumnUnits(encoding)
    place = units.position(Lines(line), 1, min(column, len(line)) + 1)
    assert units.column(line, place.character) == min(column, len(line))
