"""Every pattern of the package matches in linear time, by the analysis of its automaton; none is measured."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

import pytest

from tests.patterns.ambiguity import growth
from tests.patterns.automaton import Use
from tests.patterns.collected import Pattern, freshly_collected

pytestmark = pytest.mark.xdist_group("patterns")
"""One process collects them."""

BOUNDED = {
    (
        "ground.documents.toml_document",
        "_STRING",
    ): "text that tomllib has read: a string ends where the next value begins",
    ("checks.rules.documentation", "_SOURCES"): "the documentation of a rule, which comes with the package",
    ("formats.sonic.state.script_json", "_HGETALL"): "500 characters of a command (_LONGEST)",
    (
        "interfaces.lsp.hover_and_completion",
        "_TOKEN",
    ): "each match begins where the one before ended, the first that fails is the last",
    ("interfaces.lsp.protocol", "_LENGTH"): "a line of at most 8 KiB of an editor (EDITOR_HEADER_BYTES)",
}
"""Patterns whose time may grow faster than their text, and what bounds the text."""

_COUNT = r"\s*(?:Link info:)?\s*(?:(0x[0-9a-fA-F]{1,16})\s+)?([0-9]+)\s+([0-9]+)\[[\s0-9]*\]\s*==\("
_SIGN_OF_SYSFS = r"^\s*(?:/sys/class/\S+/)?(?:ports/[0-9]+/\w+|hw_counters/\w|ecn/roce_[nr]p/\w)\S*?\s*[=:]"
FORMER = (
    (r"qos map dscp ((?:[0-9]+(?:-[0-9]+)?[ ,]*)+?) to traffic-class ([0-9]{1,2})", Use.FULLMATCH, True),
    (
        r"qos map traffic-class ((?:[0-9]+(?:-[0-9]+)?[ ,]*)+?) to (dscp|cos) ([0-9]{1,2})",
        Use.FULLMATCH,
        True,
    ),
    (r"(?m)^[ \t]*([^#\s].*?)[ \t\r]*$", Use.SEARCH, False),
    (r"\*?\s*([A-Z][A-Z0-9_]*?)_P([12])\s+(\S.*?)\s*$", Use.MATCH, False),
    (r"(\s*)(\S[^|]*?)\s*\|\s?(.*?)\s*", Use.FULLMATCH, False),
    (r"(.*?) \(([^)]+)\)", Use.FULLMATCH, False),
    (_COUNT, Use.MATCH, False),
    (rf"(?m){_SIGN_OF_SYSFS}", Use.SEARCH, False),
    (r"\s*([\w./:@-]+?)\s*(?:=|:(?!\S*=))\s*(.*?)\s*", Use.FULLMATCH, False),
    (r"\s*:\s*(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", Use.SCAN, False),
)
"""Patterns of before, which captures with long runs of blanks, digits or quotes held up: exponential or not."""


@cache
def patterns() -> tuple[Pattern, ...]:
    """Return all patterns of the package."""
    return tuple(freshly_collected())


@pytest.mark.tools("growth")
def test_every_pattern_matches_in_linear_time() -> None:
    named = {}
    for pattern in patterns():
        for use in sorted(pattern.uses, key=str):
            found = growth(pattern.text, pattern.flags, use)
            if found is not None:
                named[pattern.module.removeprefix("lossless."), pattern.name] = (
                    f"{pattern.text!r}: {use.value}, {found}"
                )
    assert {place: why for place, why in named.items() if place not in BOUNDED} == {}
    assert BOUNDED.keys() - named.keys() == set(), "bounds of patterns that are linear, or are no more"


@pytest.mark.tools("growth")
def test_patterns_are_collected_from_imports_functions_and_calls() -> None:
    places = {(pattern.module.removeprefix("lossless."), pattern.name) for pattern in patterns()}
    texts = {pattern.text for pattern in patterns()}
    assert len(places) > 400
    assert ("formats.hosts.read.tools", "_SETTING") in places
    assert r"(?:no|default) qos rewrite dscp" in texts, "one of a table that a function compiles"
    assert any(b'"(?:' in text for text in texts if isinstance(text, bytes)), (
        "one that a cached function compiles"
    )
    assert any(str(text).startswith("^(?:(?P<s0>") for text in texts), "one that a function joins of parts"


def test_no_pattern_takes_digits_of_other_scripts() -> None:
    r"""``\d`` does, and ``int`` reads them: write ``[0-9]``."""
    named = [
        each
        for each in patterns()
        if isinstance(each.text, str) and re.search(r"(?<!\\)(?:\\\\)*\\d", each.text)
    ]
    assert [(each.module, each.name) for each in named] == []


def test_a_group_is_not_repeated_possessively() -> None:
    # Before 3.11.5 Python may take less than it has to where such a group fails halfway (python/cpython#106052).
    parser: Any = importlib.import_module("re._parser")
    compiler: Any = importlib.import_module("re._compiler")
    constants: Any = importlib.import_module("re._constants")

    def repeats_group(node: Any) -> bool:
        if isinstance(node, tuple) and node and node[0] is constants.POSSESSIVE_REPEAT:
            return not compiler._simple(node[1][2])
        parts = isinstance(node, list | tuple | parser.SubPattern)
        return parts and any(repeats_group(part) for part in node)

    assert [each for each in patterns() if repeats_group(parser.parse(each.text, each.flags))] == []


@pytest.mark.parametrize(("pattern", "use", "exponential"), FORMER)
def test_former_patterns_are_named(pattern: str, use: Use, exponential: bool) -> None:
    found = growth(pattern, re.compile(pattern).flags, use)
    assert found is not None
    assert found.exponential is exponential
