"""Commands in the documentation print what it shows, and the tool that writes them again finds what is left out."""

from __future__ import annotations

import re

import pytest

from tests.paths import ROOT
from tools import answers

NOT_DRAWN = {
    # tools/dashboard_pictures.py draws them; tests/formats/telemetry compares.
    "docs/guides/telemetry.md": [f"telemetry-{name}.svg" for name in ("fabric", "switch", "host", "storm")],
    "README.md": ["docs/guides/storm-roce-256.svg"],
    "docs/guides/headroom.md": ["headroom.svg"],
    "docs/guides/simulate.md": ["xoff-and-ecn.svg"],
}
"""By page: pictures that no command of it draws. Another page or tool draws them; the last is a sketch by hand."""
TEN = "".join(f"line {number}\n" for number in range(10))


@pytest.mark.tools("answers")
@pytest.mark.parametrize("name", answers.PAGES)
def test_a_page_shows_what_its_commands_print(name: str) -> None:
    found = answers.fresh([name])
    assert {path: path.read_text() for path in found} == found
    page = ROOT / name
    shown = answers.pictures(page.read_text())
    assert [p for p in shown if page.parent / p not in found] == NOT_DRAWN.get(name, [])


def test_every_answer_of_a_page_is_in_a_block_that_is_run() -> None:
    for name in answers.PAGES:
        text = (ROOT / name).read_text()
        assert re.findall(r"^\s+```\n\s+\$ ", text, re.MULTILINE) == [], name


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("anything\n", TEN),
        ("line 0\n...\n", "line 0\n...\n"),
        ("...\nline 9\n", "...\nline 9\n"),
        ("line 0\n...\nline 4\nline 5\n...\n", "line 0\n...\nline 4\nline 5\n...\n"),
        ("...\nlime 7\n...\n", "...\nline 7\n...\n"),
    ],
)
def test_what_is_left_out_stays_left_out(before: str, now: str) -> None:
    assert answers.cut(TEN, before) == now


def test_a_line_that_is_gone_is_not_guessed() -> None:
    with pytest.raises(LookupError, match="choose by hand"):
        answers.cut(TEN, "...\nsomething else entirely\n")


def test_what_is_stale_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "faq.md"
    assert answers.stale({page: page.read_text()}, check=True) == 0
    assert answers.stale({page: "other"}, check=True) == 1
    assert capsys.readouterr().err == "docs/faq.md is stale; run: make docs\n"
