"""Findings that are errors, as problems of the intent that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem

if TYPE_CHECKING:
    from lossless.checks.lint.report import Report
    from lossless.ground.documents.text import Document


def require_no_errors(report: Report, document: Document) -> None:
    """Refuse an intent in which rules find errors.

    Raises:
        InputError: there are some, each located.
    """
    errors = [finding for finding in report.findings if finding.severity == "error"]
    spans = {finding.origin: document.locate(finding.origin.path) for finding in errors}
    if errors:
        raise InputError(
            Problem(
                document.file,
                spans[each.origin].line,
                spans[each.origin].column,
                f"{each.code} {each.message}",
            )
            for each in errors
        )
