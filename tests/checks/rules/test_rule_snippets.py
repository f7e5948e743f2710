"""Documentation that cannot drift: every Bad snippet draws exactly its rule at the marked line, every Good none."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from lossless.api import lint_documents
from lossless.checks.rules.documentation import _docstring, rule_of
from lossless.checks.rules.registry import RULES, code_of, module_of
from tests.checks.rules.recorded import bad_examples
from tests.checks.rules.snippets import BASES, Snippet, check, read_text, snippets

BAD = [pytest.param(code, snippet, id=name) for name, code, snippet in bad_examples()]
HEADINGS = ("What it does", "Why it breaks a lossless fabric", "Bad", "Good", "Fix", "Sources")


def _good_examples() -> Iterator[object]:
    for code in RULES:
        for number, snippet in enumerate(snippets(rule_of(code).documentation, "Good"), 1):
            yield pytest.param(snippet, id=f"{code} {number}")


@pytest.mark.parametrize(("code", "snippet"), BAD)
def test_bad_draws_exactly_this_rule_where_marked(code: str, snippet: Snippet) -> None:
    report = check(snippet)
    assert report.errors == ()
    findings = [f for f in report.findings if f.severity != "info" or f.code == code]
    if snippet.is_facts:
        # What a tool prints has no keys of its own: the line is where a finding points.
        spans = {f.origin: report.documents[f.origin.file].locate_many([f.origin.path]) for f in findings}
        places = {(f.code, spans[f.origin][f.origin.path].line) for f in findings}
        assert places == {(code, snippet.marked_line)}
    else:
        assert {(f.code, f.origin.path) for f in findings} == {(code, snippet.marked_path())}


@pytest.mark.parametrize("snippet", list(_good_examples()))
def test_good_draws_nothing(snippet: Snippet) -> None:
    report = check(snippet)
    assert report.errors == ()
    assert [f"{f.code}: {f.message}" for f in report.findings] == []


@pytest.mark.parametrize(
    "base", sorted(base for base in BASES.iterdir() if base.suffix != ".csv"), ids=lambda path: path.name
)
def test_bases_are_clean(base: Path) -> None:
    report = lint_documents([read_text(base.read_text(), base.name)])
    assert report.errors == ()
    assert [f"{f.code}: {f.message}" for f in report.findings] == []


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_documented_and_named_after_its_module(code: str) -> None:
    rule = rule_of(code)
    assert [line[3:] for line in rule.documentation.splitlines() if line.startswith("## ")] == list(HEADINGS)
    assert code_of(rule.name) == code
    file = RULES[code].module.rpartition(".")[2]
    assert file == f"{code}_{rule.name}".lower().replace("-", "_")
    assert snippets(rule.documentation, "Bad")
    assert snippets(rule.documentation, "Good")
    assert rule.sources
    assert (rule.to_data()["code"], rule.to_data()["sources"]) == (code, list(rule.sources))


def test_documentation_is_read_from_the_file_where_python_leaves_docstrings_out() -> None:
    module = import_module(module_of("BUF001"))
    optimized = ModuleType(module.__name__)
    optimized.__file__ = module.__file__
    assert _docstring(optimized) == module.__doc__
