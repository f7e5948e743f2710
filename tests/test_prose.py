"""The check of spelling and grammar: it finds planted mistakes where they are, and leaves code alone."""

from __future__ import annotations

import os
import shutil

import pytest

from tools.prose import CHECKER, DICTIONARY, Mistake, mistakes
from tools.prose_text import Passage, passages, plain

WORDS = DICTIONARY.read_text(encoding="utf-8").split()
installed = pytest.mark.skipif(
    not ((CHECKER / "node_modules").is_dir() and shutil.which("node"))
    and not os.environ.get("LOSSLESS_REQUIRE_TOOLS"),
    reason="Harper is not installed: sh tools/install-harper.sh",
)

MODULE = '''"""A module with a mispelled word.

    code = "not prose"
"""

# The buffers of the
# the leaf are full.
NAME = "one_word_and_another"


def check() -> str:
    """Return what the switch has wrote."""
    return f"{NAME} would of {NAME} an PFC row: `colour`, --colour and colour_of are names; colour is a word"
'''


def found(file: str, text: str) -> list[Mistake]:
    return sorted(mistakes(passages(file, text), WORDS))


@installed
def test_mistakes_in_docstrings_comments_and_messages_are_found_in_their_lines() -> None:
    shown = [(each.line, each.text) for each in found("lossless/planted.py", MODULE)]
    assert shown == [
        (1, "mispelled"),
        (6, "the\nthe"),
        (12, "has wrote"),
        (13, "an"),
        (13, "colour"),
        (13, "would of"),
    ]


@installed
def test_strings_of_a_tool_are_not_read() -> None:
    assert [each.line for each in found("tools/planted.py", MODULE)] == [1, 6, 12]


GUIDE = """# A guide

Every ports of a switch can stops.

```
$ lossless lint mispelled
```

| key | meaning |
|---|---|
| `mispelled` | the neigbor of a port |
"""


@installed
def test_a_guide_is_read_but_for_its_code() -> None:
    shown = [(each.line, each.text) for each in found("docs/guides/planted.md", GUIDE)]
    assert shown == [(3, "Every ports"), (3, "can stops"), (11, "neigbor")]


@installed
def test_comments_of_templates_are_read() -> None:
    text = "{# The\n   headrom of a port. #}\nport headrom\n# A watchdog dont help.\n"
    shown = [(each.line, each.text) for each in found("templates/planted.j2", text)]
    assert shown == [(2, "headrom"), (4, "dont")]


def test_no_mistake_is_admitted_by_the_dictionary_twice_or_out_of_order() -> None:
    assert sorted(set(WORDS)) == WORDS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see lossless/checks/lint or docs/rules.", "see `x` or `x`."),
        ("set PORT_QOS_MAP to 3 kB, then", "set `x` to `x`, then"),
        ("a fan-in of N-to-1 with --sort", "a fan-in of N-to-`x` with `x`"),
        ("InfiniBand raises a QuantityError", "InfiniBand raises a `x`"),
    ],
)
def test_what_is_no_prose_becomes_a_code_span(text: str, shown: str) -> None:
    assert plain(text, WORDS) == shown


def test_a_passage_knows_its_lines() -> None:
    assert list(passages("README.md", "# One\n\ntwo\nthree\n- four\n")) == [
        Passage("README.md", 1, 1, "# One"),
        Passage("README.md", 3, 4, "two\nthree"),
        Passage("README.md", 5, 5, "- four"),
    ]
