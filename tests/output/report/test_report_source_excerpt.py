"""A caret must stand under the part it means, whatever the line holds."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from hypothesis import given, strategies as st

from lossless.output.report.lint.text import excerpt

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=300)
ESC = "\x1b"


def columns_of(text: str) -> int:
    """Columns a terminal uses, counted apart from the code under test."""
    wide = sum(east_asian_width(char) in "WF" and category(char) not in ("Mn", "Me") for char in text)
    return len(text) + wide - sum(category(char) in ("Mn", "Me") for char in text)


def test_the_caret_covers_the_value() -> None:
    assert excerpt("mtu: 9100", 5, 9, 80) == ("mtu: 9100", "     ^^^^")


def test_a_tab_is_four_columns() -> None:
    assert excerpt("\tmtu:\t9100", 6, 10, 80) == ("    mtu:    9100", "            ^^^^")


def test_a_wide_character_is_two_columns_and_a_combining_one_none() -> None:
    assert excerpt("名: e\u0301x", 3, 6, 80) == ("名: e\u0301x", "    ^^")


def test_a_character_that_cannot_be_printed_is_spelled_out() -> None:
    assert excerpt(f"a{ESC}b", 2, 3, 80) == ("a\\x1bb", "     ^")


def test_the_end_of_a_line_can_be_meant() -> None:
    assert excerpt("mtu:", 4, 4, 80) == ("mtu:", "    ^")


def test_a_long_line_is_cut_around_the_caret() -> None:
    line = "".join(f"{number:04}" for number in range(1000))
    text, carets = excerpt(line, 2000, 2004, 40)
    assert text == f"...{line[1989:2023]}..."
    assert len(text) == 40
    assert text[len(carets) - 4 : len(carets)] == line[2000:2004] == "0500"


def test_the_beginning_of_a_long_line_is_kept_where_the_caret_is_near() -> None:
    assert excerpt("x" * 100, 2, 4, 40) == ("x" * 37 + "...", "  ^^")


def test_a_value_longer_than_the_screen_is_marked_to_its_edge() -> None:
    assert excerpt("ab" + "x" * 500, 2, 502, 40) == ("ab" + "x" * 35 + "...", "  " + "^" * 35)


@given(LINES, st.data())
def test_text_and_carets_fit_the_screen(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    text, carets = excerpt(line, start, end, 40)
    assert columns_of(text) <= 40
    assert 0 < len(carets) <= 41
    assert text.isprintable()


@given(LINES, st.data())
def test_the_first_caret_stands_where_the_part_begins(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    marked = line[:start] + "\u2603" + line[start:]
    text, carets = excerpt(marked, start, start + 1, 40)
    before = carets.index("^")
    assert any(columns_of(text[:i]) == before and char == "\u2603" for i, char in enumerate(text))
