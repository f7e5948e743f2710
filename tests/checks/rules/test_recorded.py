"""What rules say of networks is what is on record: a difference is seen in review (``recorded.py`` writes it again)."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.checks.rules.recorded import (
    EXAMPLES,
    VALUES,
    Scenario,
    bad_examples,
    on_record,
    said,
    said_of_values,
    said_with_changes,
    scenarios,
    stated_examples,
)
from tests.checks.rules.snippets import Snippet, check_together
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE_TESTS = sorted(Path(__file__).parent.rglob("test_*.py"))
TEXTS = {"message", "note", "help"}
ON_RECORD = on_record(EXAMPLES)
VALUES_ON_RECORD = on_record(VALUES)


@pytest.mark.parametrize(
    ("name", "code", "snippet"), [pytest.param(*example, id=example[0]) for example in bad_examples()]
)
def test_what_a_rule_says_of_its_example_and_of_changes_to_it(name: str, code: str, snippet: Snippet) -> None:
    assert said_with_changes(snippet, code) == ON_RECORD.get(name)


@pytest.mark.parametrize(
    ("name", "code", "snippet"), [pytest.param(*example, id=example[0]) for example in stated_examples()]
)
def test_the_values_from_which_on_a_rule_says_something_else(name: str, code: str, snippet: Snippet) -> None:
    # ``make values`` searches for all of them again.
    on_record = VALUES_ON_RECORD[name]
    assert said_of_values(snippet, code, on_record) == on_record


@pytest.mark.parametrize("scenario", [pytest.param(it, id=f"{it.code} {it.fact}") for it in scenarios()])
def test_what_a_rule_says_of_a_scenario(scenario: Scenario) -> None:
    assert said(check_together(scenario.network, scenario.code), scenario.code) == scenario.says


@pytest.mark.parametrize("file", RULE_TESTS, ids=lambda file: file.stem)
def test_what_rules_say_is_on_record_and_in_no_other_test(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    pinned = [node for node in ast.walk(tree) if any(_pins(*pair) for pair in _compared(node))]
    assert [f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}" for node in pinned] == []  # type: ignore[attr-defined]


def test_a_text_is_pinned_in_whichever_form_it_is_compared() -> None:
    forms = (
        'found.message == "no"',
        'f"no {x}" in found.help',
        '(a, one.note[:2]) == (1, "no")',
        '[f.message for f in found] == ["no"]',
        'found.note.startswith("no")',
    )
    others = (
        "found.note in base",
        '(a.file, a.note) == ("no", NOTE)',
        '[f"{f.code}: {f.help}" for f in x] == []',
    )
    pins = [[*_compared(ast.parse(form, mode="eval").body)] for form in (*forms, *others)]
    assert [any(_pins(*pair) for pair in pairs) for pairs in pins] == [True] * 5 + [False] * 3


def _compared(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield what an expression compares with what, item by item where both are tuples."""
    if isinstance(node, ast.Compare):
        for one, other in zip([node.left, *node.comparators], node.comparators, strict=False):
            if isinstance(one, ast.Tuple) and isinstance(other, ast.Tuple):
                yield from zip(one.elts, other.elts, strict=False)
            else:
                yield one, other
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from ((node.func.value, argument) for argument in node.args)


def _pins(one: ast.AST, other: ast.AST) -> bool:
    return any(_reads_text(a) and _is_literal(b) for a, b in ((one, other), (other, one)))


def _reads_text(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in TEXTS for part in ast.walk(node))


def _is_literal(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(node))
