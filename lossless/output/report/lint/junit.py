"""Findings as JUnit XML: a suite for each file, a case for each finding or problem, a passing one for a file without.

Only findings that make the run fail are failures; lesser findings are passing cases with their text beside them, so
that they leave a pipeline green.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, xml
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.lint.summary import ReportText
from lossless.output.report.lint.text import (
    FileNames,
    headline,
    locate,
    object_of,
    other_places,
    paragraphs,
    sort_problems,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

    from lossless.checks.lint.run import CheckedReport
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.lint.summary import RunContext

_HEAD = '<?xml version="1.0" encoding="utf-8"?>'


class _Case(NamedTuple):
    """One test case of a suite, for a finding or an unreadable file; ``outcome`` is None if it passes."""

    name: str
    group: str
    file: str
    line: int | None = None
    outcome: Literal["failure", "error"] | None = None
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_text(report: CheckedReport, context: RunContext) -> ReportText:
    """Return the findings and problems of a report as one XML document, its suites in the order of file names."""
    names = FileNames(context.folder, context.root)
    locations, findings = locate(report)
    cases = [_problem(problem, names) for problem in sort_problems(report.errors)]
    cases += [_finding(finding, locations, names, context) for finding in findings]
    suites: dict[str, list[_Case]] = {names.name(file): [] for file in report.documents}
    for case in cases:
        suites.setdefault(case.file, []).append(case)
    for file, held in suites.items():
        held[:] = held or [_Case("no findings", "lossless", file)]
    every = [case for held in suites.values() for case in held]
    lines = [_HEAD, f"<testsuites {_attributes(name='lossless', **_counts(every))}>"]
    lines += (line for file in sorted(suites) for line in _suite(file, suites[file]))
    return ReportText("\n".join([*lines, "</testsuites>"]))


def _finding(finding: Finding, locations: Locations, names: FileNames, context: RunContext) -> _Case:
    span = locations.span(finding.origin)
    suffix = f" ({object_of(finding.origin.path)})" if finding.origin.path else ""
    return _Case(
        name=f"{finding.code} {finding.name}{suffix}",
        group=f"lossless.{finding.code}",
        file=names.name(finding.origin.file),
        line=span.line if span else None,
        outcome="failure" if finding.severity in context.failing else None,
        kind=finding.severity,
        message=headline(finding),
        text=paragraphs(finding, other_places(finding, locations, names.name)),
    )


def _problem(problem: Problem, names: FileNames) -> _Case:
    text = visible(problem.message)
    return _Case(
        name="can be read",
        group="lossless",
        file=names.name(problem.file),
        line=problem.line,
        outcome="error",
        kind="unreadable",
        message=text.partition("\n")[0],
        text=text,
    )


def _suite(file: str, cases: list[_Case]) -> Iterator[str]:
    yield f"  <testsuite {_attributes(name=file, **_counts(cases))}>"
    named: dict[str, int] = {}
    for case in cases:
        named[case.name] = named.get(case.name, 0) + 1
        # A report shows one case of a name.
        times = named[case.name]
        yield from _case(case if times == 1 else case._replace(name=f"{case.name} #{times}"))
    yield "  </testsuite>"


def _case(case: _Case) -> Iterator[str]:
    head = f"    <testcase {_attributes(name=case.name, classname=case.group, file=case.file, line=case.line, time=0)}"
    if case.outcome is None and not case.text:
        yield f"{head}/>"
        return
    attributes = _attributes(message=case.message, type=case.kind)
    open_tag = f"{case.outcome} {attributes}" if case.outcome else "system-out"
    text = case.text if case.outcome else f"{case.kind}: {case.text}"
    yield f"{head}>"
    yield f"      <{open_tag}>{xml(text)}</{case.outcome or 'system-out'}>"
    yield "    </testcase>"


def _counts(cases: Iterable[_Case]) -> dict[str, object]:
    outcomes = [case.outcome for case in cases]
    failures, errors = outcomes.count("failure"), outcomes.count("error")
    return {"tests": len(outcomes), "failures": failures, "errors": errors, "skipped": 0, "time": 0}


def _attributes(**values: object) -> str:
    given = {key: value for key, value in values.items() if value is not None}
    return " ".join(f'{key}="{xml(visible(str(value)))}"' for key, value in given.items())
