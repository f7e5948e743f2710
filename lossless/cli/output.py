"""Reports to the terminal: findings to stdout, problems and counts to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lossless.cli.terminal import out, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.api import Report
    from lossless.report.text import LineText


def report_json(report: Report) -> None:
    """Write a report as one JSON object."""
    from lossless.report.json_format import json_text

    out(json_text(report))


def report_text(report: Report, texts: Mapping[str, str], *, verbose: bool = False) -> None:
    """Write a report for people; ``texts`` are those of files that are not on disk."""
    from lossless.report.text import findings_text, not_judged_text, problems_text, summary_text

    for block in findings_text(report, style_for(sys.stdout)):
        out(f"{block}\n")
    for block in problems_text(report.errors, _line_text(report, texts), style_for(sys.stderr)):
        problem(f"{block}\n")
    if verbose:
        for line in not_judged_text(report.not_judged):
            problem(line)
    problem(summary_text(report))


def _line_text(report: Report, texts: Mapping[str, str]) -> LineText:
    """Return a reader of lines, also of files that no document could be made of."""
    from lossless.errors import UnreadableError
    from lossless.source.text import Lines, read_text

    lines: dict[str, Lines | None] = {}

    def line_text(file: str, number: int) -> str | None:
        if file in report.documents:
            return report.documents[file].line_text(number)
        if file not in lines:
            try:
                lines[file] = Lines(texts[file] if file in texts else read_text(file))
            except UnreadableError:
                lines[file] = None
        found = lines[file]
        return None if found is None else found.line_text(number)

    return line_text
