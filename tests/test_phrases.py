"""The check for retired phrases: it finds them across lines and in names, and leaves alone what is permitted."""

from __future__ import annotations

import pytest

from tests.paths import ROOT
from tools.phrases import LIST, Phrase, Use, phrases, uses

LISTED = phrases((ROOT / LIST).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found", "line"),
    [
        ("the rule draws\n    # seven errors", "draws\n    # seven errors", 1),
        ("one\ntwo\nthe queues stand still", "stand still", 3),
        ("def test_hosts_that_stand_still() -> None:", "stand still", 1),
        ("Mended", "Mended", 1),
    ],
)
def test_a_retired_phrase_is_found_where_it_begins(text: str, found: str, line: int) -> None:
    (use,) = uses("docs/guides/storm.md", text, LISTED)
    assert (use.file, use.line, use.text) == ("docs/guides/storm.md", line, found)


def test_a_phrase_is_left_alone_where_it_is_permitted_and_nowhere_else() -> None:
    text = '<circle cx="1"/>'
    assert list(uses("docs/architecture.svg", text, LISTED)) == []
    assert [use.text for use in uses("docs/guides/storm.md", text, LISTED)] == ["circle"]


@pytest.mark.parametrize("text", ["a crowdless name", "mendacious", "all right", "knotty"])
def test_words_that_only_contain_a_phrase_are_left_alone(text: str) -> None:
    assert [use.text for use in uses("README.md", text, LISTED)] == []


@pytest.mark.parametrize("phrase", LISTED, ids=lambda phrase: str(phrase.write))
def test_what_is_to_be_written_instead_is_not_retired_itself(phrase: Phrase) -> None:
    assert list[Use](uses("docs/glossary.md", phrase.write, LISTED)) == []
