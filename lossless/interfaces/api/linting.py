"""Lint: paths, texts and documents to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Finding, NotJudged
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.loading import (
    DEFAULT_OPTIONS,
    Declared,
    Options,
    declared,
    declares_subnet,
    is_intent,
    load_fabrics,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.devices import Settings
    from lossless.checks.lint.governing import Governing
    from lossless.checks.lint.keeping import Settled
    from lossless.checks.lint.repository import Declare, Intents, Judged, Tell
    from lossless.formats.hosts.read.text import Facts
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.excerpts import Shown
    from lossless.interfaces.api.changing import Change

    JudgeFiles = Callable[[Sequence[Candidate], Declare, Settings], Judged]


class Report(NamedTuple):
    """What a lint run has to say; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count findings that are kept back. ``beside`` is how many documents were not
    judged, and are there because a finding points into them: configurations and baselines. ``fail_on`` is the least
    severity that shall fail the run, or ``never``, where a configuration says so. ``change`` is there where findings
    are only those that a change adds.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    not_judged: tuple[NotJudged, ...]
    documents: Mapping[str, Shown]
    suppressed: int = 0
    baselined: int = 0
    beside: int = 0
    fail_on: str | None = None
    change: Change | None = None

    @property
    def files(self) -> int:
        """How many files were judged."""
        return len(self.documents) - self.beside


class Run(NamedTuple):
    """What was judged, before anything is kept back; ``folders`` were judged whole.

    ``governing`` is None where nothing was said of rules and findings.
    """

    judged: Judged
    errors: tuple[Problem, ...]
    governing: Governing | None
    folders: tuple[str, ...] = ()


def lint(paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge intents, config_db.json files and directories of them."""
    return report_of(judged_at(paths, options), options)


def judged_at(paths: Sequence[str | PathLike[str]], options: Options, judge: JudgeFiles | None = None) -> Run:
    """Judge what lies at some paths, and keep nothing back yet; ``judge`` may know some of it from before."""
    import os

    from lossless.checks.lint.repository import judge_files
    from lossless.formats.inputs.collect import search

    candidates, errors = search(paths, lenient=options.per_file)
    governing = _governing(options, [candidate.file for candidate in candidates])
    judged = (judge or judge_files)(candidates, _declaring(options), _settings(options, governing))
    if options.simulate:
        from lossless.formats.inputs.collect import collect

        judged = _with_runs(judged, collect(paths, lenient=options.per_file)[0], options, governing)
    # What compares files did not run where each is judged by itself: no folder was judged whole.
    folders = (
        () if options.per_file else tuple(os.path.abspath(path) for path in paths if os.path.isdir(path))
    )
    return Run(judged, tuple(errors), governing, folders)


def lint_text(raw: bytes, file: str, options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge a text that stands for ``file``, whose suffix says what it is."""
    from lossless.formats.inputs.collect import foreign
    from lossless.formats.inputs.subnet_manager import documents_in, is_managers
    from lossless.ground.documents import load_bytes
    from lossless.ground.documents.text import decode

    try:
        managers = documents_in(file, decode(raw, file), near=False) if is_managers(file) else ()
        if managers:
            return lint_documents(managers, options)
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
    return lint_together(documents, (), options, errors)


def lint_together(
    documents: Sequence[Document],
    facts: Sequence[Facts],
    options: Options,
    errors: Sequence[Problem] = (),
) -> Report:
    """Judge documents that are already read, and what hosts say of themselves."""
    files = [document.file for document in (*documents, *(one.document for one in facts))]
    governing = _governing(options, files)
    return report_of(Run(judge(documents, options, governing, facts), tuple(errors), governing), options)


def lint_intent(document: Document, options: Options) -> tuple[Report, Declared]:
    """Judge one intent, and return what it declares as well, so that it is made once."""
    from lossless.checks.lint.repository import judge_documents

    made: list[Declared] = []

    def declare(documents: Sequence[Document], tell: Tell | None) -> Intents:
        intents = _declaring(options)(documents, tell)
        made.extend(Declared(fabric=fabric) for fabric in intents.fabrics)
        made.extend(Declared(subnet=subnet) for subnet in intents.subnets)
        return intents

    governing = _governing(options, [document.file])
    judged = judge_documents([document], declare, _settings(options, governing))
    return report_of(Run(judged, (), governing), options), (made[0] if made else Declared())


def judge(
    documents: Sequence[Document],
    options: Options,
    governing: Governing | None = None,
    facts: Sequence[Facts] = (),
) -> Judged:
    """Judge documents; origins name documents, which may be parts of files."""
    from lossless.checks.lint.repository import judge_documents

    judged = judge_documents(documents, _declaring(options), _settings(options, governing), facts)
    return _with_runs(judged, documents, options, governing) if options.simulate else judged


def _governing(options: Options, files: Sequence[str]) -> Governing | None:
    """Return the configurations of a run, None where nothing was said of rules and findings anywhere."""
    asked = bool(options.select or options.ignore)
    if not (options.configured or options.configuration or options.baseline or asked):
        return None
    from lossless.checks.lint.governing import Governing

    choice = None
    if asked:
        from lossless.checks.rules.selectors import Choice

        choice = Choice(options.select, options.ignore)
    found = Governing(searching=options.configured, only=options.configuration, asked=choice)
    is_needed = options.configuration or options.baseline or asked or any(map(found.is_configured, files))
    return found if is_needed else None


def _settings(options: Options, governing: Governing | None) -> Settings:
    settings = settings_of(options)._replace(apart=options.per_file, tell=options.tell)
    return settings if governing is None else settings._replace(chosen=governing.chosen)


def _with_runs(
    judged: Judged, documents: Sequence[Document], options: Options, governing: Governing | None
) -> Judged:
    """Return what was judged with what runs of traffic show, where a rule is chosen that asks for them."""
    from lossless.checks.rules.registry import codes_for

    choices = {governing.chosen(document.file) for document in documents} if governing else {None}
    if all(chosen is not None and chosen.isdisjoint(codes_for("runs")) for chosen in choices):
        return judged
    from lossless.checks.lint.traffic import with_runs

    fabrics = load_fabrics(documents, options).fabrics
    verdicts = with_runs(judged.verdicts, fabrics)
    subnets = sum(map(declares_subnet, documents))
    if subnets:
        gap = NotJudged("SIM001", "traffic on an InfiniBand subnet is not simulated", subnets)
        verdicts = verdicts._replace(not_judged=(*verdicts.not_judged, gap))
    return judged._replace(verdicts=verdicts)


def _declaring(options: Options) -> Declare:
    """Return what makes fabrics and subnets of the intents among documents."""
    from lossless.checks.lint.repository import Intents, counted

    def declare(documents: Sequence[Document], tell: Tell | None) -> Intents:
        errors: list[Problem] = []
        intents = counted([document for document in documents if is_intent(document)], tell)
        found = [declared(document, options, errors) for document in intents]
        return Intents(
            tuple(one.fabric for one in found if one.fabric is not None),
            tuple(errors),
            tuple(one.subnet for one in found if one.subnet is not None),
        )

    return declare


def report_of(run: Run, options: Options) -> Report:
    """Return the report of a run, without what is suppressed or known."""
    run = run._replace(judged=_as_written(run.judged))
    judged = run.judged
    verdicts = judged.verdicts
    report = Report(verdicts.findings, (*run.errors, *judged.errors), verdicts.not_judged, judged.documents)
    if run.governing is None and not any(map(_may_suppress, judged.documents.values())):
        return report
    found = settled_run(run, options)
    return report._replace(
        findings=found.findings,
        errors=(*report.errors, *found.problems),
        documents={**report.documents, **{one.file: one for one in found.beside}},
        suppressed=found.suppressed,
        baselined=found.baselined,
        beside=len(found.beside),
        fail_on=found.fail_on,
    )


def _as_written(judged: Judged) -> Judged:
    """Return what was judged with origins by which the files have it."""
    if not judged.layouts:
        return judged
    from lossless.ground.documents.layout import as_written

    findings = as_written(judged.verdicts.findings, judged.layouts)
    return judged._replace(verdicts=judged.verdicts._replace(findings=findings), layouts={})


def _may_suppress(document: Shown) -> bool:
    """Return whether a file can hold a suppression; JSON has no comments."""
    if document.file.lower().endswith(".json"):
        return False
    import re

    return re.search(r"#[ \t]*lossless:", getattr(document, "text", "")) is not None


def settled_run(run: Run, options: Options) -> Settled:
    """Return what is left of the findings of a run."""
    run = run._replace(judged=_as_written(run.judged))
    from lossless.checks.lint.governing import Governing
    from lossless.checks.lint.keeping import Terms, settled

    governing = run.governing or Governing(searching=False)
    terms = Terms(governing, options.baseline, options.today, options.simulate, run.folders, run.errors)
    return settled(run.judged, terms)
