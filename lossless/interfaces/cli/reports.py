"""Reports to the terminal and to files: findings to stdout, problems and counts to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from lossless.ground.basics.foreign_text import gated
from lossless.interfaces.cli.terminal import (
    expected_document,
    out,
    out_document,
    problem,
    problem_lines,
    style_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.api import Options, Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Severity
    from lossless.ground.basics.foreign_text import Form
    from lossless.interfaces.api.lint import ReportForm
    from lossless.interfaces.cli.options.lint import ReportOptions
    from lossless.interfaces.cli.terminal import ExpectedDocument
    from lossless.output.report.columns import TextStyle
    from lossless.output.report.lint.summary import ReportText
    from lossless.output.report.lint.text import LineText


_GATES: dict[str, Form] = {
    "text": "text",
    "json": "json",
    "sarif": "json",
    "gitlab": "json",
    "github": "github",
    "junit": "markup",
    "markdown": "markup",
    "html": "markup",
}
"""The form that the output stream expects for each format of a report."""


def draw(file: str, svg: str) -> None:
    """Write an SVG picture to a file, and print the file name.

    Raises:
        LosslessError: the file system refuses.
    """
    from lossless.ground.documents.atomic import write_all

    write_all({file: svg})
    problem(f"drawn in {file}")


def report_text(
    report: Report,
    texts: Mapping[str, str],
    *,
    verbose: bool = False,
    source: bool = True,
    brief: bool = False,
) -> None:
    """Write a report for people; ``texts`` are those of files that are not on disk.

    Without ``source`` no line of a file is shown; ``brief`` shows one line for each finding, and no counts.
    """
    blank = "" if brief else "\n"
    if report.findings:
        from lossless.output.report.lint.text import findings_text

        for block in findings_text(report, style_for(sys.stdout).showing(source=source, brief=brief)):
            out(block + blank)
    if report.tests:
        from lossless.output.report.lint.text import verdicts_text

        for block in verdicts_text(report, style_for(sys.stdout).showing(source=source, brief=brief)):
            out(block + blank)
    if report.culprits:
        from lossless.output.report.lint.text import culprits_text

        for block in culprits_text(report, style_for(sys.stdout).showing(source=source, brief=brief)):
            out(block + blank)
    if report.patch or (report.change is not None and not brief):
        for block in _changed(
            report, style_for(sys.stdout, verbose=verbose).showing(source=source, brief=brief)
        ):
            out(block + blank)
    if report.errors:
        from lossless.output.report.lint.text import problems_text

        style = style_for(sys.stderr).showing(source=source, brief=brief)
        for block in problems_text(report.errors, _line_text(report, texts), style):
            problem_lines(block + blank)
    if not brief:
        _tell_counts(report, verbose=verbose)


def report_statistics(report: Report, texts: Mapping[str, str], *, verbose: bool, brief: bool) -> None:
    """Write the number of findings of each rule, the problems of reading, and unless ``brief`` the counts."""
    from lossless.output.report.lint.summary import statistics_text
    from lossless.output.report.lint.text import problems_text

    table = statistics_text(report, style_for(sys.stdout, verbose=verbose))
    if table:
        out(table)
    style = style_for(sys.stderr).showing(source=not brief, brief=brief)
    for block in problems_text(report.errors, _line_text(report, texts), style):
        problem_lines(block)
    if not brief:
        _tell_counts(report, verbose=verbose)


def write_report(
    report: Report,
    texts: Mapping[str, str],
    reporting: ReportOptions,
    failing: tuple[Severity, ...],
    profile_dirs: Sequence[str] = (),
) -> bool:
    """Write a report in every requested form, files first; return whether the files could be written.

    ``failing`` are the severities that make the run fail; ``profile_dirs`` are the hardware profiles of its pictures.
    """
    written = _write_files(report, texts, reporting, failing, profile_dirs) if reporting.files else True
    if reporting.statistics:
        report_statistics(report, texts, verbose=reporting.verbose, brief=reporting.quiet)
    elif reporting.form == "text":
        report_text(report, texts, verbose=reporting.verbose, source=reporting.source, brief=reporting.quiet)
    else:
        text = _report_as(report, reporting.form, failing, profile_dirs)
        if text:
            out_document(text, _GATES[reporting.form])
        # The log of a step is read by people too.
        if reporting.form == "github" and not reporting.quiet:
            _tell_counts(report, verbose=reporting.verbose)
    return written


def _report_as(
    report: Report, form: str, failing: tuple[Severity, ...], profile_dirs: Sequence[str] = ()
) -> str:
    """Return a report in a form other than text; notices of omitted findings are printed on standard error."""
    from lossless.interfaces.api.lint import report_as

    return _told(form, report_as(report, cast("ReportForm", form), failing, profile_dirs))


def _write_files(
    report: Report,
    texts: Mapping[str, str],
    reporting: ReportOptions,
    failing: tuple[Severity, ...],
    profile_dirs: Sequence[str],
) -> bool:
    """Write the requested files, all or none; report the reason if they cannot be written."""
    from lossless.ground.basics.errors import RenderError
    from lossless.ground.documents.atomic import write_all

    made: dict[str, str] = {}
    for form, path in reporting.files:
        if form == "text":
            text = _told(form, _plain_text(report, texts, reporting))
        else:
            text = _report_as(report, form, failing, profile_dirs)
        made[path] = gated(f"{text}\n", _GATES[form]) if text else ""
    try:
        _require_apart(report, made)
        write_all(made)
    except RenderError as error:
        problem(f"lossless: {error}")
        return False
    return True


def _require_apart(report: Report, paths: Iterable[str]) -> None:
    """Refuse to write a report over a file that it reports on.

    Raises:
        RenderError: a path is a file that was checked, or would have been.
    """
    require_apart(paths, (*report.documents, *(error.file for error in report.errors)))


def require_apart(paths: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to write over an input of a run.

    Raises:
        RenderError: a path is one of the inputs.
    """
    from os.path import realpath

    from lossless.ground.basics.errors import RenderError

    checked = {realpath(file) for file in inputs}
    for path in paths:
        if realpath(path) in checked:
            raise RenderError(f"{path}: cannot be written: it is one of the files that were checked")


def require_apart_from(paths: Sequence[str], named: Iterable[str], options: Options) -> None:
    """Refuse to write over an input of a run, before it begins; ``named`` are its files and folders.

    Raises:
        RenderError: a path is one of the named files, or a file in a folder that is read.
    """
    if not paths:
        return
    from lossless.interfaces.api.lint import found_at

    named = tuple(named)
    found = found_at(named, options)
    require_apart(paths, (*named, *(candidate.file for candidate in found.candidates)))


def write_pages(outputs: Sequence[tuple[str, str]], page: Callable[[], str]) -> None:
    """Write a page of HTML to the files of ``--output``, all or none; the page is made only if there is such a file.

    Raises:
        RenderError: a file cannot be written.
    """
    if not outputs:
        return
    from lossless.ground.documents.atomic import write_all

    text = gated(f"{page()}\n", _GATES["html"])
    write_all({path: text for _, path in outputs})


def _told(form: str, made: ReportText) -> str:
    """Return the text of a report, and print its notices about omitted parts."""
    for notice in made.notices:
        problem(f"{form}: {notice}")
    return made.text


def _plain_text(report: Report, texts: Mapping[str, str], reporting: ReportOptions) -> ReportText:
    """Return the text report for people as one text without colors."""
    from lossless.output.report.columns import TextStyle
    from lossless.output.report.lint.summary import ReportText
    from lossless.output.report.lint.text import culprits_text, findings_text, problems_text, verdicts_text

    style = TextStyle(source=reporting.source, brief=reporting.quiet, verbose=reporting.verbose)
    blocks = [*findings_text(report, style), *verdicts_text(report, style), *culprits_text(report, style)]
    blocks += _changed(report, style)
    blocks += problems_text(report.errors, _line_text(report, texts), style)
    if reporting.quiet:
        return ReportText("\n".join(blocks))
    return ReportText("\n\n".join([*blocks, "\n".join(_counts(report, style, verbose=reporting.verbose))]))


def _changed(report: Report, style: TextStyle) -> Iterator[str]:
    """Yield the findings that a change removes and leaves, none if brief, and the updater's answer to a patch."""
    if report.change is not None and not style.brief:
        from lossless.output.report.lint.text import change_text

        yield from change_text(report.change, style)
    if report.patch:
        from lossless.output.report.lint.json_format import patch_text

        yield from patch_text(report.patch, style)


def _tell_counts(report: Report, *, verbose: bool) -> None:
    for line in _counts(report, style_for(sys.stderr), verbose=verbose):
        problem_lines(line)


def _counts(report: Report, style: TextStyle, *, verbose: bool) -> Iterator[str]:
    from lossless.output.report.lint.summary import not_checked_text, skipped_text, summary_text

    if verbose:
        yield from not_checked_text(report.not_checked, style)
    yield from skipped_text(report.skipped, style, verbose=verbose)
    yield summary_text(report, style)
    if report.change is not None:
        from lossless.output.report.lint.text import counts_text

        yield counts_text(report.change, len(report.findings))


def _line_text(report: Report, texts: Mapping[str, str]) -> LineText:
    """Return a function that reads a line of a file, also of one that could not be parsed; None for no text."""
    from lossless.ground.basics.errors import UnreadableError
    from lossless.ground.documents.text import Lines, read_text

    lines: dict[str, Lines | None] = {}

    def line_text(file: str, number: int) -> str | None:
        if file in report.documents:
            return report.documents[file].line_text(number)
        if file not in lines:
            try:
                lines[file] = Lines(texts[file] if file in texts else read_text(file))
            except UnreadableError:
                lines[file] = None
        shown = lines[file]
        return None if shown is None else shown.line_text(number)

    return line_text


_VERSION = 1
"""The version of the keys in a JSON object that has errors alone."""


def add_errors(document: ExpectedDocument, problems: Sequence[Problem]) -> None:
    """Put errors into the document on standard output: a report of them, or the key ``errors`` of its JSON.

    Documents of other forms, such as CSV, have no place for errors and stay as they are.
    """
    if document.is_report and not document.is_given:
        from lossless.api import Report

        text = _report_as(Report(errors=tuple(problems)), document.form, ())
        out_document(text, _GATES[document.form])
    elif document.form == "json":
        import json

        from lossless.output.report.lint.json_format import problem_data

        data: dict[str, Any] = {"version": _VERSION} if document.held is None else json.loads(document.held)
        data["errors"] = [*data.get("errors", ()), *map(problem_data, problems)]
        document.is_given = False
        out_document(json.dumps(data, indent=2), "json")


def nothing_to_compare(
    report: Report,
    refusal: str = "a fabric with errors is not rendered, so there is nothing to compare with",
) -> bool:
    """Return whether an intent has findings that are errors, which prevent a rendering; report them if so."""
    if not any(finding.severity == "error" for finding in report.findings):
        return False
    report_text(report, {})
    problem(f"refused: {refusal}")
    document = expected_document()
    if document is not None and document.form == "json":
        from lossless.ground.basics.errors import Problem

        error = Problem(report.findings[0].origin.file, None, None, refusal)
        out_document(_report_as(report._replace(errors=(*report.errors, error)), "json", ()), "json")
    return True
