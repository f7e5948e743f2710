"""Tables that programs print are read back cell by cell, whatever stands around them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.ground.documents.printed_tables import (
    PrintedPairs,
    PrintedTable,
    TextLine,
    cells_of,
    printed_blocks,
    spans_of,
)

_WORD = st.text("abcXYZ0189.:/|%-", min_size=1, max_size=9).filter(lambda word: set(word) - set("-:|"))
_CELL = st.one_of(_WORD, st.builds("{} {}".format, _WORD, _WORD)).filter(
    lambda cell: not cell.endswith(":") and not cell.startswith(("==>", "-", "|"))
)


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    columns = draw(st.integers(2, 6))
    headings = draw(st.lists(_CELL, min_size=columns, max_size=columns))
    key = _WORD.filter(lambda word: not word.endswith((":", ">")))
    rows = draw(
        st.lists(
            st.builds(
                lambda first, rest: [first, *rest],
                key,
                st.lists(_CELL, min_size=columns - 1, max_size=columns - 1),
            ),
            min_size=1,
            max_size=5,
        )
    )
    return headings, rows


def _printed(headings: list[str], rows: list[list[str]], *, right: bool) -> str:
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


@given(_tables(), st.booleans())
def test_a_table_that_was_printed_is_read_back(table: tuple[list[str], list[list[str]]], right: bool) -> None:
    headings, rows = table
    (block,) = printed_blocks(_printed(headings, rows, right=right) + "\n")
    assert isinstance(block, PrintedTable)
    assert list(block.headings) == headings
    assert [list(row.cells) for row in block.rows] == rows


@given(st.text("-+|=: \t\nab1#$.", max_size=200))
def test_any_text_has_blocks(text: str) -> None:
    printed_blocks(text)


def test_tables_that_follow_each_other_without_a_blank_line_are_two() -> None:
    text = "Pool maximum: (Namespace asic0)\n Pool    Bytes\n-----  -------\n    a        1\n"
    blocks = printed_blocks(text + text.replace("asic0", "asic1"))
    kinds = [type(block) for block in blocks]
    assert kinds == [TextLine, PrintedTable, TextLine, PrintedTable]


def test_rows_go_on_after_a_blank_line_where_the_table_does() -> None:
    """Source: pfcstat --history divides its ports by blank lines (sonic-utilities scripts/pfcstat @7eef69b)."""
    (table,) = printed_blocks("Port    PFC\n----  -----\n   a      1\n\n   b      2\n")
    assert isinstance(table, PrintedTable)
    assert [row.cells for row in table.rows] == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    "line", ["# show pfc counters", "$ portstat  -a", "Totals:", "Ports of asic0  (all):"]
)
def test_a_prompt_and_a_title_end_a_table(line: str) -> None:
    table, after = printed_blocks(f"Port    PFC\n----  -----\n   a      1\n{line}\n")
    assert isinstance(table, PrintedTable)
    assert len(table.rows) == 1
    assert after == TextLine(line, 4)


def test_a_cell_wider_than_its_column_stays_one_cell() -> None:
    (table,) = printed_blocks("      Port    UC0\n----------  -----\n  Ethernet12   N/A\n")
    assert isinstance(table, PrintedTable)
    assert table.rows[0].cells == ("Ethernet12", "N/A")


def test_a_cell_that_reaches_below_the_next_heading_moves_no_other() -> None:
    (table,) = printed_blocks("Port    UC0    UC1\n----  -----  -----\nEthernet1200  N/A  7\n")
    assert isinstance(table, PrintedTable)
    assert table.rows[0].cells == ("Ethernet1200", "N/A", "7")


def test_cells_one_blank_apart_are_divided_below_their_headings() -> None:
    spans = spans_of("Port     RxPPP      TxPPP")
    assert cells_of("ii1/1/3  11,707,050 52", spans) == ("ii1/1/3", "11,707,050", "52")


def test_a_wrapped_cell_belongs_to_the_row_above() -> None:
    text = "Counter   Reasons\n--------  -------\nDEBUG_0   L2_ANY\n          L3_ANY\nDEBUG_1   None\n"
    (table,) = printed_blocks(text)
    assert isinstance(table, PrintedTable)
    assert [row.cells for row in table.rows] == [("DEBUG_0", "L2_ANY L3_ANY"), ("DEBUG_1", "None")]


def test_names_and_values_between_two_rulers_are_no_table() -> None:
    title, pairs = printed_blocks("Pool: lossy\n----  ----\nsize  4096\ntype  egress\n----  ----\n")
    assert title == TextLine("Pool: lossy", 1)
    assert isinstance(pairs, PrintedPairs)
    assert [row.cells for row in pairs.rows] == [("size", "4096"), ("type", "egress")]


def test_a_dotted_list_has_names_and_values_in_groups() -> None:
    (pairs,) = printed_blocks("Jabbers Received........ N/A\n\nOverruns Received....... 0\n")
    assert isinstance(pairs, PrintedPairs)
    assert [row.cells for row in pairs.rows] == [("Jabbers Received", "N/A"), ("Overruns Received", "0")]


def test_a_box_with_a_ruler_after_each_row_wraps_its_cells() -> None:
    text = "+---+-----+\n| A | B   |\n+===+=====+\n| x | one |\n|   | two |\n+---+-----+\n| y | 3   |\n+---+-----+\n"
    (table,) = printed_blocks(text)
    assert isinstance(table, PrintedTable)
    assert [row.cells for row in table.rows] == [("x", "one two"), ("y", "3")]


def test_a_row_within_which_the_text_ends_is_left_out() -> None:
    (table,) = printed_blocks("Port    PFC0    PFC1\n----  ------  ------\n   a      11      12\n   b      2")
    assert isinstance(table, PrintedTable)
    assert table.unread_line == 4
    assert [row.cells[0] for row in table.rows] == ["a"]


def test_a_row_of_a_box_with_other_cells_than_the_headings_is_left_out() -> None:
    (table,) = printed_blocks("+---+---+\n| A | B |\n+===+===+\n| x |\n+---+---+\n| y | 3 |\n+---+---+\n")
    assert isinstance(table, PrintedTable)
    assert table.unread_line == 4
    assert [row.cells for row in table.rows] == [("y", "3")]
