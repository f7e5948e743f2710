"""Checks of many intents in several processes, and the findings of traffic simulations in a report.

A file that may have suppressions is read once more, in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import SimulationRequest
from lossless.analysis.simulation.study.answer import survey
from lossless.checks.lint.filter import has_marker
from lossless.checks.lint.results import of_all_subnets, of_intents, of_subnets
from lossless.checks.lint.run import CheckedReport, gathered, run, together
from lossless.checks.lint.workers import in_processes
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.subjects import SimulationRun
from lossless.formats.inputs.collect import load_configuration, read
from lossless.formats.inputs.intents import declarations_of
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts, PathPlaces, places
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.lint.run import Settings
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, ObjectForm, Path
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


class _IntentFile(NamedTuple):
    """The report of one file, and the problems of reading it.

    ``shown`` are the places to which findings refer, None where the file is no document for rules, or cannot be read.
    ``marked``: it may have suppressions.
    """

    report: CheckedReport
    problems: tuple[Problem, ...]
    shown: PathPlaces | None
    marked: bool
    has_host_facts: bool = False
    subnets: tuple[Subnet, ...] = ()


def check_intents(candidates: Sequence[Candidate], settings: Settings) -> CheckedReport | None:
    """Return the report of files of which none is a device's, as ``check_files`` does.

    None if a file has facts of a host: hosts are compared with fabrics, which other processes do not return.
    """
    for candidate in candidates:
        # What is looked up here is known to every copy, and counts as used.
        settings.chosen(candidate.file)

    def check(candidate: Candidate) -> _IntentFile:
        return _checked(candidate, settings)

    files = list(in_processes(check, candidates, settings.progress))
    if any(file.has_host_facts for file in files):
        return None
    documents: dict[str, DocumentView] = {}
    for candidate, file in zip(candidates, files, strict=True):
        if file.shown is not None:
            documents[candidate.file] = (
                load_configuration(candidate.file)
                if file.marked
                else Excerpts(candidate.file, file.shown, load_configuration)
            )
    unread = CheckedReport(errors=tuple(problem for file in files for problem in file.problems))
    subnets = of_all_subnets([subnet for file in files for subnet in file.subnets], settings)
    whole = together([unread, *(file.report for file in files), *subnets])
    return whole._replace(documents=documents)


def _checked(candidate: Candidate, settings: Settings) -> _IntentFile:
    inputs = read(candidate)
    if not inputs.documents:
        return _IntentFile(
            CheckedReport(), inputs.problems, None, marked=False, has_host_facts=bool(inputs.facts)
        )
    document = inputs.documents[0]
    intents = declarations_of(inputs.documents, settings.profile_dirs)
    reports = (*of_intents(intents, settings), *of_subnets(intents.subnets, settings))
    report = gathered([CheckedReport(errors=intents.errors), *reports])
    shown = places(document, _paths(document, report))
    marked = has_marker(document.text)
    return _IntentFile(report, inputs.problems, shown, marked, subnets=intents.subnets)


def _paths(document: Document, report: CheckedReport) -> Iterator[Path]:
    """Return the paths in a document to which findings refer."""
    origins = (origin for finding in report.findings for origin in finding.origins)
    return (origin.path for origin in origins if origin.file == document.file)


def with_runs(checked: CheckedReport, fabrics: Iterable[Fabric]) -> CheckedReport:
    """Return a report with the findings of simulations; rules on simulations receive the earlier findings."""
    reports, findings = [checked], list(checked.findings)
    for facts in survey(map(View, fabrics), SimulationRequest()):
        fabric = facts.view.fabric if facts.view is not None else None
        form: ObjectForm = "intent" if fabric is not None and fabric.declared else "config_db"
        reports.append(run(SimulationRun(facts, _of_files(findings, fabric)), rules_for("runs"), form))
        findings += reports[-1].findings
    return together(reports)


def _of_files(findings: Iterable[Finding], fabric: Fabric | None) -> tuple[Finding, ...]:
    """Return the findings in the files of a fabric, including those of earlier runs."""
    files = {switch.origin.file for switch in fabric.switches} if fabric is not None else set()
    return tuple(finding for finding in findings if finding.origin.file in files)
