"""Rules are chosen by the words people know them by, and the most precise word counts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.checks.rules.registry import RULES
from lossless.checks.rules.selectors import (
    RuleChoice,
    chosen,
    codes_of,
    families,
    layered,
    most_precise,
    unknown,
)

ALL = frozenset(RULES)
SELECTORS = st.sampled_from(
    ["ALL", "WD", "WD00", "WD001", "watchdog-missing", "BUF", "BUF0", "BUF001", "ECN", "TOP001"]
)
WORDS = st.lists(SELECTORS, max_size=4).map(tuple)


@pytest.mark.parametrize("word", ["WD001", "wd001", "watchdog-missing"])
def test_one_rule_by_code_or_name(word: str) -> None:
    assert codes_of(word) == {"WD001"}


def test_families_with_and_without_digits() -> None:
    assert codes_of("WD") == {code for code in RULES if code.startswith("WD")}
    assert codes_of("WD00") == {code for code in RULES if code.startswith("WD00")}
    assert codes_of("ALL") == ALL


@pytest.mark.parametrize("word", ["", "W", "C", "WD9", "WD0010", "watchdog", "*", "all"])
def test_what_selects_nothing(word: str) -> None:
    assert codes_of(word) == frozenset()


def test_every_family_stands_for_something() -> None:
    assert all(codes_of(family) for family in families())


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("WDOG", "no rule 'WDOG'; did you mean WD? (lossless rules lists all)"),
        (
            "watchdog-mising",
            "no rule 'watchdog-mising'; did you mean watchdog-missing? (lossless rules lists all)",
        ),
        ("all", "no rule 'all'; did you mean ALL? (lossless rules lists all)"),
        ("%", "no rule '%'; lossless rules lists all"),
    ],
)
def test_an_unknown_word_is_named_with_the_nearest(word: str, message: str) -> None:
    assert unknown(word) == message


def test_the_more_precise_word_counts() -> None:
    assert chosen(RuleChoice(("WD001",), ("WD",))) == {"WD001"}
    assert chosen(RuleChoice(("WD",), ("WD00",))) == codes_of("WD") - codes_of("WD00")
    assert chosen(RuleChoice(("WD",), ("WD",))) == frozenset()
    assert most_precise("WD001", ["ALL", "WD", "WD001"]) == "WD001"
    assert most_precise("WD001", ["ECN"]) is None


@given(WORDS, WORDS, WORDS, WORDS)
def test_what_is_asked_for_on_the_spot_comes_first(
    a: tuple[str, ...], b: tuple[str, ...], c: tuple[str, ...], d: tuple[str, ...]
) -> None:
    configured, asked = RuleChoice(a, b), RuleChoice(c, d)
    found = layered(configured, asked)
    assert found <= ALL
    if c:
        assert found == chosen(asked)
    else:
        assert found == chosen(configured) - frozenset().union(*map(codes_of, d))
    assert layered(configured, RuleChoice()) == chosen(configured)
