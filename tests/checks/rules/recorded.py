"""What a user is told of the networks in tests, as text that is on record and reviewed with every change.

    python -m tests.checks.rules.recorded [CODE ...]

writes the records again: of rules that are named their examples and scenarios, else everything (some minutes).
``recorded-examples.txt`` holds what a rule reports on each Bad example of its documentation, and what changes where its
network is changed in one respect; ``recorded-values.txt`` the values from which on a rule says something else of its
examples, Bad and Good. ``scenarios/`` has networks of their own, one file a family of codes: a heading with a code and
a fact, the network in the form of the examples of rules, and all that the rule says of it.
"""

from __future__ import annotations

import json
import re
import sys
from difflib import ndiff
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from tests.checks.rules.snippets import Snippet, check, check_together, read_snippets, snippets
from tests.checks.rules.stated_values import has_values, moved_values
from tests.checks.rules.variants import reports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding, Origin

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "recorded-examples.txt"
VALUES = FOLDER / "recorded-values.txt"
SCENARIOS = FOLDER / "scenarios"
_BEGINNING = 30
_SECTION = re.compile(r"^## (\w+): ([^\n]+)\n(.*?)```text says\n(.*?)```\n", re.MULTILINE | re.DOTALL)


class Scenario(NamedTuple):
    """A network of ``scenarios/``: the rule and the fact it is about, the files, and what the rule says."""

    code: str
    fact: str
    network: list[Snippet]
    says: str


def bad_examples() -> Iterator[tuple[str, str, Snippet]]:
    """Yield a name, the rule and the snippet of each Bad example in the documentation of rules."""
    return _examples("Bad", "")


def stated_examples() -> Iterator[tuple[str, str, Snippet]]:
    """Yield the same of each example whose values are moved."""
    for name, code, snippet in (*_examples("Bad", ""), *_examples("Good", "Good ")):
        if has_values(snippet):
            yield name, code, snippet


def _examples(heading: str, prefix: str) -> Iterator[tuple[str, str, Snippet]]:
    for code in RULES:
        for number, snippet in enumerate(snippets(rule_of(code).documentation, heading), 1):
            yield f"{code} {prefix}{number}", code, snippet


def on_record(file: Path) -> dict[str, str]:
    """Return what is on record for each example, by its name."""
    parts = file.read_text().split("== ")[1:]
    return {name: says for name, _, says in (part.partition("\n") for part in parts)}


def scenarios() -> list[Scenario]:
    """Return the scenarios, in their order."""
    return [
        Scenario(code, fact, read_snippets(network), says)
        for file in sorted(SCENARIOS.glob("*.md"))
        for code, fact, network, says in _SECTION.findall(file.read_text())
    ]


def said(report: Report, code: str) -> str:
    """Return all that one rule says in a report, as text."""
    findings = (line for finding in report.findings if finding.code == code for line in _finding(finding))
    missing = (
        f"not checked, {rule.times}: {rule.reason}" for rule in report.not_checked if rule.code == code
    )
    errors = (f"refused: {error.message}" for error in report.errors)
    return "".join(f"{line}\n" for line in (*errors, *findings, *missing))


def said_with_changes(snippet: Snippet, code: str) -> str:
    """Return all that one rule says of a snippet, and what it says else where the network is changed in one respect."""
    itself = _said_of(snippet, code)
    return itself + _differences(itself, code, reports(snippet, code))


def said_of_values(snippet: Snippet, code: str, on_record: str | None = None) -> str:
    """Return the values from which on one rule says something else of a snippet, and what.

    With what is on record, numbers are not moved to other values than those; to search for all takes ten times as long.
    """
    moved = moved_values(snippet, code, on_record=on_record)
    return _differences(_said_of(snippet, code), code, moved)


@cache
def _said_of(snippet: Snippet, code: str) -> str:
    """Return all that one rule says of a snippet, which both records ask for."""
    return said(check(snippet, code), code)


def _differences(itself: str, code: str, changed: Iterable[tuple[str, Report]]) -> str:
    says = {name: said(report, code) for name, report in changed}
    silent = "".join(f"-- {name}: silent\n" for name, text in says.items() if not text)
    other = {name: _changes(itself, text) for name, text in says.items() if text not in ("", itself)}
    return silent + "".join(f"-- {name}:\n{text}" for name, text in other.items())


def _changes(before: str, after: str) -> str:
    """Return the lines that come in, and how those begin that go."""
    lines = ndiff(before.splitlines(), after.splitlines())
    kept = (line if line[0] == "+" else f"{line[:_BEGINNING]}..." for line in lines if line[0] in "+-")
    return "".join(f"{line}\n" for line in kept)


def _finding(finding: Finding) -> Iterator[str]:
    likely = "" if finding.confidence == "high" else f" ({finding.confidence} confidence)"
    yield f"{finding.severity}{likely} {_place(finding.origin)}: {finding.message}"
    yield from (
        f"  {name}: {text}" for name, text in (("note", finding.note), ("help", finding.help)) if text
    )
    shown = [*finding.elements[:3], *finding.elements[3:][-1:]]
    yield f"  on {finding.places}: {', '.join(shown)}"
    yield f"  data: {json.dumps(finding.data, ensure_ascii=False)}"
    yield from (f"  see {_place(related.origin)}: {related.message}" for related in finding.related)
    yield from (f"  {edit.action} {_place(edit.origin)}: {json.dumps(edit.value)}" for edit in finding.fix)


def _place(origin: Origin) -> str:
    # Where files are read from a folder, its name is not the same twice.
    path = "|".join(str(key) for key in origin.path)
    return f"{Path(origin.file).name} {path}{' (key)' if origin.mark == 'key' else ''}"


def _record(codes: list[str]) -> None:
    _record_examples(EXAMPLES, bad_examples(), said_with_changes, codes)
    _record_examples(VALUES, stated_examples(), said_of_values, codes)
    for file in sorted(SCENARIOS.glob("*.md")):
        text = file.read_text()
        file.write_text("\n".join([text.partition("\n## ")[0], *_sections(text, codes)]))


def _record_examples(
    file: Path,
    examples: Iterable[tuple[str, str, Snippet]],
    says: Callable[[Snippet, str], str],
    codes: list[str],
) -> None:
    before = on_record(file)
    texts = (
        f"== {name}\n{before.get(name, '') if codes and code not in codes else says(snippet, code)}"
        for name, code, snippet in examples
    )
    file.write_text("".join(texts))


def _sections(text: str, codes: list[str]) -> Iterator[str]:
    for code, fact, network, before in _SECTION.findall(text):
        is_kept = codes and code not in codes
        says = before if is_kept else said(check_together(read_snippets(network), code), code)
        yield f"## {code}: {fact}\n{network}```text says\n{says}```\n"


if __name__ == "__main__":
    _record(sys.argv[1:])
