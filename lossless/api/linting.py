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

    from lossless.fabric.model import Fabric
    from lossless.lint.repository import Declare, Intents, Judged
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
    judged = judge_files(candidates, _declaring(options), settings_of(options))
    if not options.simulate:
        return _report(judged, errors)
    from lossless.lint.collect import collect

    return _report(_with_runs(judged, collect(paths)[0], options), errors)


def lint_text(raw: bytes, file: str, options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge a text that stands for ``file``, whose suffix says what it is."""
    from lossless.lint.collect import foreign
    from lossless.source import load_bytes

    try:
        document = load_bytes(raw, file, lists=True)
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
    return _report(judge(documents, options), errors)


def lint_intent(document: Document, options: Options) -> tuple[Report, Fabric | None]:
    """Judge one intent, and return its fabric as well, so that it is made once; None where it has none."""
    from lossless.lint.repository import judge_documents

    made: list[Fabric] = []

    def declare(documents: Sequence[Document]) -> Intents:
        intents = _declaring(options)(documents)
        made.extend(intents.fabrics)
        return intents

    report = _report(judge_documents([document], declare, settings_of(options)), ())
    return report, (made[0] if made else None)


def judge(documents: Sequence[Document], options: Options) -> Judged:
    """Judge documents; origins name documents, which may be parts of files."""
    from lossless.lint.repository import judge_documents

    judged = judge_documents(documents, _declaring(options), settings_of(options))
    return _with_runs(judged, documents, options) if options.simulate else judged


def _with_runs(judged: Judged, documents: Sequence[Document], options: Options) -> Judged:
    """Return what is judged with what runs of traffic show."""
    from lossless.lint.traffic import with_runs

    return judged._replace(verdicts=with_runs(judged.verdicts, load_fabrics(documents, options).fabrics))


def _declaring(options: Options) -> Declare:
    """Return what makes fabrics of the intents among documents."""
    from lossless.lint.repository import Intents

    def declare(documents: Sequence[Document]) -> Intents:
        errors: list[Problem] = []
        fabrics = [intent_fabric(document, options, errors) for document in documents if is_intent(document)]
        return Intents(tuple(fabric for fabric in fabrics if fabric is not None), tuple(errors))

    return declare


def _report(judged: Judged, errors: Sequence[Problem]) -> Report:
    findings, not_judged = judged.verdicts[:2]
    if judged.layouts:
        from lossless.source.layout import as_written

        findings = as_written(findings, judged.layouts)
    return Report(findings, (*errors, *judged.errors), not_judged, judged.documents)
