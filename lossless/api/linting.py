"""Lint: paths, texts and documents to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.api.loading import DEFAULT_OPTIONS, Options, intent_fabric, is_intent, load_fabrics, settings_of
from lossless.errors import InputError, Problem
from lossless.findings import Finding, NotJudged
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.lint.repository import Declare, Judged
    from lossless.source.document import Document
    from lossless.source.excerpts import Shown


class Report(NamedTuple):
    """What a lint run has to say; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count findings that are kept back.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    not_judged: tuple[NotJudged, ...]
    documents: Mapping[str, Shown]
    suppressed: int = 0
    baselined: int = 0

    @property
    def files(self) -> int:
        """How many files were judged."""
        return len(self.documents)


def lint(paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge intents, config_db.json files and directories of them."""
    from lossless.lint.collect import search
    from lossless.lint.repository import judge_files

    candidates, errors = search(paths)
    report = _report(judge_files(candidates, _declaring(options), settings_of(options)), errors)
    if not options.simulate:
        return report
    from lossless.lint.collect import collect

    return _with_runs(report, collect(paths)[0], options)


def lint_text(raw: bytes, file: str, options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge a text that stands for ``file``, whose suffix says what it is."""
    from lossless.lint.collect import foreign
    from lossless.source import load_text
    from lossless.source.text import decode

    try:
        document = load_text(decode(raw, file), file)
    except InputError as error:
        return lint_documents([], options, error.problems)
    reason = foreign(document)
    if reason is not None:
        return lint_documents([], options, [Problem(file, 1, 1, reason)])
    return lint_documents([document], options)


def lint_documents(
    documents: Sequence[Document], options: Options = DEFAULT_OPTIONS, errors: Sequence[Problem] = ()
) -> Report:
    """Judge documents that are already read; ``errors`` are those of reading them."""
    from lossless.lint.repository import judge_documents

    report = _report(judge_documents(documents, _declaring(options), settings_of(options)), errors)
    return _with_runs(report, documents, options) if options.simulate else report


def _with_runs(report: Report, documents: Sequence[Document], options: Options) -> Report:
    """Return a report with what runs of traffic show."""
    from lossless.lint.run import Verdicts
    from lossless.lint.traffic import with_runs

    judged = Verdicts(report.findings, report.not_judged)
    verdicts = with_runs(judged, load_fabrics(documents, options).fabrics)
    return report._replace(findings=verdicts.findings, not_judged=verdicts.not_judged)


def _declaring(options: Options) -> Declare:
    """Return what makes fabrics of the intents among documents."""
    from lossless.lint.repository import Intents

    def declare(documents: Sequence[Document]) -> Intents:
        errors: list[Problem] = []
        fabrics = [intent_fabric(document, options, errors) for document in documents if is_intent(document)]
        return Intents(tuple(fabric for fabric in fabrics if fabric is not None), tuple(errors))

    return declare


def _report(judged: Judged, errors: Sequence[Problem]) -> Report:
    verdicts = judged.verdicts
    return Report(verdicts.findings, (*errors, *judged.errors), verdicts.not_judged, judged.documents)
