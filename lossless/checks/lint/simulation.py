"""Findings from traffic simulations of fabrics, beside those of the other rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import SimulationRequest
from lossless.analysis.simulation.study.answer import survey
from lossless.checks.lint.run import run, together
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.subjects import SimulationRun
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.checks.lint.report import Report
    from lossless.ground.basics.findings import Finding, ObjectForm
    from lossless.model.fabric.model import Fabric


def with_runs(checked: Report, fabrics: Iterable[Fabric]) -> Report:
    """Return a report with the findings of simulations; rules on simulations receive the earlier findings."""
    reports, findings = [checked], list(checked.findings)
    for facts in survey(map(View, fabrics), SimulationRequest()):
        fabric = facts.view.fabric if facts.view is not None else None
        form: ObjectForm = "intent" if fabric is not None and fabric.declared else "config_db"
        reports.append(run(SimulationRun(facts, _of_files(findings, fabric)), rules_for("runs"), form))
        findings += reports[-1].findings
    return together(reports)


def _of_files(findings: Iterable[Finding], fabric: Fabric | None) -> tuple[Finding, ...]:
    """Return the findings in the files of a fabric, those of runs before this one too."""
    files = {switch.origin.file for switch in fabric.switches} if fabric is not None else set()
    return tuple(finding for finding in findings if finding.origin.file in files)
