"""The analysis of patterns: what it names, what it is silent on, and that it misses no growth of a counted matcher."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from tests.all_cases import ALL_CASES
from tests.patterns.ambiguity import growth
from tests.patterns.automaton import Use
from tests.patterns.steps import Matcher, grows

EXPONENTIAL = {
    r"(?:[0-9]+(?:-[0-9]+)?[ ,]*)+x": "the separator may be missing",
    r"(?:[0-9]+,?)*:": "the separator may be missing",
    r"(?:a*)*b": "a repetition of a repetition",
    r"(?:a+)+b": "a repetition of a repetition",
    r"(?:a|a?b?a)*c": "alternatives that overlap",
    r"(?:\w|\d\d)*:": "alternatives that overlap",
    r"(?:ab|a|b)*c": "two alternatives in a row are a third",
    r"(?:a??a??)+?b": "lazy and empty",
    r"(?=(?:a|ab?)*c)a": "in a lookahead",
    r"(?:a?){30}b": "bounded, and each may be missing",
    r"(?:(?>a)|(?>aa))*b": "alternatives that are atomic, and overlap all the same",
}
POLYNOMIAL = {
    (r"\d+\d+x", Use.MATCH): "two adjacent repetitions",
    (r"\s*(\S.*?)\s*:", Use.MATCH): "a lazy repetition and blanks that it takes as well",
    (r"\s*:", Use.SEARCH): "a search that begins with a repetition",
    (r"[ \t]+$", Use.SEARCH): "a search for what is at the end",
    (r"(?>\s*):", Use.SEARCH): "an atomic one, too",
    (r"'[^:]*?:", Use.SEARCH): "a search whose repetition takes what it begins with",
    (r"(.*?),(.*?),x", Use.MATCH): "lazy ones with a separator that they take as well",
    (r"(?:a(?=.*b))*c", Use.MATCH): "a lookahead for each turn",
    (r"a*(?:-?a)*:", Use.MATCH): "a separator that may be missing",
    (r"(?>a)+a+x", Use.MATCH): "what is repeated is atomic, the repetition is not",
    (r"a*?(?=ab)", Use.SEARCH): "a lookahead that may fail after each turn",
    (r'"(?:[^"\\]|\\.)*"', Use.SCAN): "an escaped quote may begin the next attempt",
    (r"(?:a*b)?", Use.SCAN): "empty where the repetition fails, at each place",
}
LINEAR = (
    (r"\s*x", Use.MATCH),
    (r"a++a*b", Use.MATCH),
    (r"(?>a*)b", Use.MATCH),
    (r"(?>(?:a|ab)*)c", Use.MATCH),
    (r"(?:(?>a|b)c)*d", Use.MATCH),
    (r"\d+(?:,\d+)*", Use.FULLMATCH),
    (r"[a-z]+[0-9]+-[a-z]*", Use.FULLMATCH),
    (r"\s*+(\S++(?:[^\S\n]++\S++)*)\s*+$", Use.MATCH),
    (r"(\w+)\s*=\s*+(.*)", Use.MATCH),
    (r"(?s:.*),(?s:.*)", Use.FULLMATCH),
    (r"(?m)^[ \t]*x", Use.SEARCH),
    (r"(?<!\d)\d++x", Use.SEARCH),
    (r"\b\d++x", Use.SEARCH),
    (r"(?:(?<!\s)\s++)?,\s*+", Use.SCAN),
    (r"\d+|\D+", Use.SCAN),
    (r"\S+(?: \S+)*", Use.SCAN),
    (r'"[^"]*"', Use.SCAN),
    (r'(?s)"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*(?:"|\Z)', Use.SCAN),
    (r"a*", Use.SCAN),
    (r"(?>.*?key).*\bend", Use.MATCH),
    (r"(?=\w+?_u_\w)\w++:", Use.MATCH),
    (r"(?:[^\n]*\n){0,12}x", Use.MATCH),
)
_ATOMS = ("a", "b", "[ab]", "[^a]", ".", r"\w", r"\b", "$", "")
_REPEATS = (
    "{}*",
    "{}+",
    "{}?",
    "{}*?",
    "{}+?",
    "{}??",
    "{}*+",
    "{}++",
    "{}?+",
    "{}{{0,2}}",
    "{}{{2}}",
    "{}{{1,3}}?",
)
_GROUPS = ("(?:{})", "({})", "(?>{})", "(?={})", "(?!{})", "(?:{}|a)", "(?:b|{})", "(?<![ab]){}")


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    grouped = st.builds(str.format, st.sampled_from(_GROUPS), inner).map("(?:{})".format)
    return st.one_of(
        st.builds("".join, st.lists(inner, min_size=2, max_size=3)),
        st.builds(str.format, st.sampled_from(_REPEATS), grouped),
        grouped,
    )


_REPEATED_ATOMS = st.builds(
    str.format, st.sampled_from(_REPEATS), st.sampled_from(("a", "b", "[ab]", "[^a]", "."))
)
PATTERNS = st.recursive(st.sampled_from(_ATOMS) | _REPEATED_ATOMS, _larger, max_leaves=5)


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_exponential_patterns_are_named(pattern: str) -> None:
    found = growth(pattern, 0, Use.MATCH)
    assert found is not None
    assert found.exponential


@pytest.mark.parametrize(("pattern", "use"), POLYNOMIAL)
def test_polynomial_patterns_are_named(pattern: str, use: Use) -> None:
    found = growth(pattern, 0, use)
    assert found is not None
    assert not found.exponential


@pytest.mark.tools("growth")
@pytest.mark.parametrize(("pattern", "use"), [*POLYNOMIAL, *((each, Use.MATCH) for each in EXPONENTIAL)])
def test_the_text_of_what_is_named_takes_a_matcher_more_than_linear_time(pattern: str, use: Use) -> None:
    found = growth(pattern, 0, use)
    assert found is not None
    assert any(grows(pattern, found.before, found.repeated, after, use) for after in ("", "!", "b", "\\"))


@pytest.mark.parametrize(("pattern", "use"), LINEAR)
def test_linear_patterns_are_not_named(pattern: str, use: Use) -> None:
    assert growth(pattern, 0, use) is None


@pytest.mark.tools("growth")
@given(PATTERNS, st.sampled_from(Use), st.sampled_from(("", "a", "b")), st.sampled_from(("", "a", "b", "c")))
@settings(max_examples=800 if ALL_CASES else 100)
def test_what_is_not_named_takes_linear_time(pattern: str, use: Use, before: str, after: str) -> None:
    if growth(pattern, 0, use) is None:
        pumped = [one + two + three for one in "ab" for two in ("", "a", "b") for three in ("", "a", "b")]
        assert [each for each in pumped if grows(pattern, before, each, after, use)] == []


@given(PATTERNS, st.text("abc\n", max_size=8), st.sampled_from(Use))
@settings(max_examples=800 if ALL_CASES else 200)
def test_the_counting_matcher_matches_as_python_does(pattern: str, text: str, use: Use) -> None:
    compiled = re.compile(pattern)
    one = {Use.MATCH: compiled.match, Use.FULLMATCH: compiled.fullmatch, Use.SEARCH: compiled.search}.get(use)
    if one is not None:
        match = one(text)
        assert Matcher(pattern, text, 100_000).run(use) == ([match.span()] if match else [])
