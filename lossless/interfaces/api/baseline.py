"""Baseline and fix: records current findings in a baseline file, or corrects them by editing the files they are in.

A new baseline leaves out entries whose findings are fixed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Finding
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.lint import (
    DEFAULT_OPTIONS,
    Options,
    Report,
    accounted,
    as_configured,
    found_at,
    lint,
    lint_documents,
    lint_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.baseline import BaselineKey, Entries
    from lossless.ground.documents.text import Document


BASELINE = "lossless-baseline.json"
"""The default name of a baseline, in the current folder."""
_SUPPRESSION_RULES = "SUP"


class BaselineResult(NamedTuple):
    """The baseline file, the number of its entries, and the numbers of entries that are new and gone.

    ``errors`` are the problems of reading files; a run with errors writes nothing, and the numbers are those that it
    would have written. ``is_configured`` reports whether the configuration of the run names the file.
    """

    file: str
    findings: int
    added: int
    removed: int
    errors: tuple[Problem, ...]
    is_configured: bool


def baseline(
    paths: Sequence[str | PathLike[str]],
    file: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    *,
    prune: bool = False,
) -> BaselineResult:
    """Record a baseline of the current findings at ``paths``; with ``prune`` only remove fixed findings.

    ``file`` defaults to the configured baseline, else to ``lossless-baseline.json`` in the current folder. Entries
    about files that this run did not check stay in the baseline.

    Raises:
        InputError: the existing baseline cannot be read, ``prune`` is given and there is none, or the configuration has
            mistakes and names no baseline.
        OutsideError: the file has no stated name, and is a link that leads outside.
        RenderError: the baseline cannot be written.
    """
    from lossless.checks.lint.baseline import baseline_text, entries_of
    from lossless.ground.documents.atomic import require_writable, write_all
    from lossless.ground.documents.folder import StatedPath

    options = as_configured(options)
    configured = configured_baseline(options)
    # By the name that nobody stated it may be a link, or a pipe, of a stranger.
    file = file or configured or StatedPath(BASELINE).beside("")
    require_writable(file)
    before = _present(file, needed=prune)
    report = lint(paths, options._replace(baseline=file if os.path.exists(file) else ""))
    new = [finding for finding in report.findings if not finding.code.startswith(_SUPPRESSION_RULES)]
    added = {} if prune else entries_of(new, os.path.dirname(os.path.abspath(file)))
    after = _changed(before, report.stale.get(file, {}), added)
    if not report.errors and (after != before or not os.path.exists(file)):
        write_all({file: baseline_text(after)})
    is_configured = configured is not None and os.path.abspath(configured) == os.path.abspath(file)
    new_keys, gone_keys = after.keys() - before, before.keys() - after
    return BaselineResult(file, len(after), len(new_keys), len(gone_keys), report.errors, is_configured)


def configured_baseline(options: Options) -> str | None:
    """Return the baseline that the given configuration, else that of the current folder, names; None without one.

    Raises:
        InputError: the configuration names no baseline, and has mistakes, one of which may be its name.
    """
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup, shown_path

    configuration = ConfigurationLookup(searching=bool(options.configured), only=options.configuration).of(
        "anything"
    )
    if configuration is None:
        return None
    if configuration.baseline is None:
        if configuration.problems:
            raise InputError(configuration.problems)
        return None
    return shown_path(configuration.baseline)


def _present(file: str, *, needed: bool) -> Entries:
    """Return the entries of an existing baseline; none if the file is missing and not ``needed``.

    Raises:
        InputError: the baseline cannot be read, or is missing and ``needed``.
    """
    from lossless.checks.lint.baseline import read_baseline

    if not needed and not os.path.exists(file):
        return {}
    present = read_baseline(file)
    if present.problems:
        raise InputError(present.problems)
    return dict(present.entries)


def _changed(before: Entries, stale: Mapping[BaselineKey, Mapping[str, int]], added: Entries) -> Entries:
    from collections import Counter

    from lossless.checks.lint.baseline import added_to

    after = {
        key: entry._replace(elements=Counter(entry.elements) - Counter(stale.get(key, {})))
        for key, entry in before.items()
    }
    for key, entry in added.items():
        added_to(after, key, entry)
    return {key: entry for key, entry in after.items() if entry.elements}


class FixResult(NamedTuple):
    """The text of each changed file before and after a fix, the fixed findings, and the report of remaining findings.

    ``refused`` lists findings that were not fixed because the fix, or one tried together with it, would cause a warning
    or an error, with the code of that.
    """

    changed: dict[str, tuple[str, str]]
    findings: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...]
    report: Report

    @property
    def shown(self) -> dict[str, tuple[str, str]]:
        """The texts before and after, by file, without the keys that protect an InfiniBand subnet."""
        from lossless.formats.inputs.subnet_manager import without_secrets

        return {
            file: (without_secrets(file, before), without_secrets(file, after))
            for file, (before, after) in self.changed.items()
        }


def fix(
    paths: Sequence[str | PathLike[str]],
    options: Options = DEFAULT_OPTIONS,
    *,
    unsafe: bool = False,
    write: bool = True,
) -> FixResult:
    """Fix the findings that an edit of files can fix; with ``unsafe`` also those whose fix changes device behavior.

    Without ``write`` the changes are returned and no file is written. Dumps, and files of several devices, are checked
    and not changed.

    Raises:
        LosslessError: a file has changed meanwhile, or cannot be written; the message names files that could not be
            put back.
    """
    from lossless.checks.lint.cache import fixed_documents
    from lossless.formats.inputs.collect import Inputs, merged, read
    from lossless.ground.documents.atomic import require_writable, rewrite_all

    options = as_configured(options)
    found = found_at(paths, options)
    inputs = merged([Inputs(problems=found.problems), *map(read, found.candidates)])
    # A file of several devices, or in another form, is checked with the rest and left as it is.
    documents = [document for document in inputs.documents if document.part is None]
    apart = [document for document in inputs.documents if document.part is not None]

    def findings_of(edited: Sequence[Document]) -> tuple[Finding, ...]:
        return lint_inputs(inputs._replace(documents=(*edited, *apart), problems=()), options).findings

    fixed = fixed_documents(documents, findings_of, unsafe=unsafe)
    before = {document.file: document.text for document in documents}
    changed = {
        document.file: (before[document.file], document.text)
        for document in fixed.documents
        if document.text != before[document.file]
    }
    if write:
        for file in changed:
            require_writable(file)
        rewrite_all(changed)
    report = lint_inputs(inputs._replace(documents=(*fixed.documents, *apart)), options)
    return FixResult(changed, fixed.findings, fixed.refused, accounted(report, found))


def fix_documents(
    documents: Sequence[Document],
    findings: Sequence[Finding],
    options: Options = DEFAULT_OPTIONS,
    *,
    chosen: Callable[[Finding], bool],
    unsafe: bool = False,
) -> tuple[Document, ...]:
    """Return documents with the fixes of those of their findings that are ``chosen``; nothing is written."""
    from lossless.checks.lint.cache import fixed_documents

    def check(edited: Sequence[Document]) -> list[Finding]:
        known = findings if edited is documents else lint_documents(edited, options).findings
        return [finding if chosen(finding) else finding._replace(fixable="no") for finding in known]

    return fixed_documents(documents, check, unsafe=unsafe).documents
