"""The check of spelling and grammar: it finds planted mistakes where they are, and leaves code alone."""

from __future__ import annotations

import pytest

from tools.prose import DICTIONARY, marks, mistakes
from tools.prose_text import Passage, passages, plain

WORDS = DICTIONARY.read_text(encoding="utf-8").split()
installed = pytest.mark.tools("harper")

MODULE = '''"""A module with a mispelled word.

    code = "not prose"
"""

# The buffers of the
# the leaf are full.
NAME = "one_word_and_another"


def check() -> str:
    """Return what the switch has wrote."""
    return f"{NAME} would of {NAME} a row: `colour`, --colour and colour_of are names; colour is a word"
'''


GUIDE = """# A guide

Every ports of a switch can stops. These link is down.

```
$ lossless lint mispelled
```

| key | meaning |
|---|---|
| `mispelled` | the neigbor of a port |
"""
TEMPLATE = "{# The\n   headrom of a port. #}\nport headrom\n# A watchdog dont help.\n"


@installed
def test_mistakes_are_found_in_their_lines_and_code_is_left_alone() -> None:
    """All in one: a start of Harper takes seconds."""
    texts = {
        "docs/guides/planted.md": GUIDE,
        "lossless/planted.py": MODULE,
        "templates/planted.j2": TEMPLATE,
        "tools/planted.py": MODULE,
    }
    read = (passage for file, text in texts.items() for passage in passages(file, text))
    assert {(each.file, each.line, each.text) for each in mistakes(read, WORDS)} == {
        ("docs/guides/planted.md", 3, "Every ports"),
        ("docs/guides/planted.md", 3, "These link"),
        ("docs/guides/planted.md", 3, "can stops"),
        ("docs/guides/planted.md", 11, "neigbor"),
        ("lossless/planted.py", 1, "mispelled"),
        ("lossless/planted.py", 6, "the\nthe"),
        ("lossless/planted.py", 12, "wrote"),
        ("lossless/planted.py", 13, "colour"),
        ("lossless/planted.py", 13, "would of"),
        ("templates/planted.j2", 2, "headrom"),
        ("templates/planted.j2", 4, "dont"),
        ("tools/planted.py", 1, "mispelled"),
        ("tools/planted.py", 6, "the\nthe"),
        ("tools/planted.py", 12, "wrote"),
    }


def test_the_dictionary_is_sorted_and_has_each_word_once() -> None:
    assert sorted(set(WORDS)) == WORDS


def test_docstrings_name_their_subject_by_a_noun() -> None:
    """At most 6 of 1,000 words in a package stand in for a noun; headings of rules have one each."""
    rates = {package: 1000 * found / words for package, (found, words) in marks().items()}
    assert {package: rate for package, rate in rates.items() if rate > 6} == {}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see lossless/checks/lint or docs/rules.", "see `x` or `x`."),
        ("set PORT_QOS_MAP to 3 kB, then", "set `x` to `x`, then"),
        ("a fan-in of N-to-1 with --sort", "a fan-in of `x` with `x`"),
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
