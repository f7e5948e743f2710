"""Judges the files of a run once more: only those that have changed since the last time, or what they depend on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.lint.devices import finder
from lossless.checks.lint.repository import FEWEST_FOR_WORKERS, Others, completed, joined
from lossless.checks.lint.workers import judge_file, judge_in_processes, usable
from lossless.formats.inputs.collect import is_json, load_configuration, read
from lossless.formats.inputs.subnet_manager import manager_files
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.lint.devices import Outcome, Settings
    from lossless.checks.lint.repository import Declare, Intents, Judged, Tell
    from lossless.checks.rules.registry import Codes
    from lossless.formats.hosts.read.text import Facts
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document

Mark = tuple[int, int, int] | None
"""What changes when a file does: its time, size and number; None where there is no file."""


def mark_of(file: str) -> Mark:
    """Return the mark of a file as it is now."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


class _Known(NamedTuple):
    """What was said of the devices of a file: nothing where it is none of ours or cannot be read."""

    basis: tuple[Mark, Codes | None]
    outcomes: tuple[Outcome, ...]
    excerpts: Excerpts | None
    problems: tuple[Problem, ...]
    facts: tuple[Candidate, ...]


class _Declared(NamedTuple):
    """What intents say, and the files they were read from."""

    basis: tuple[tuple[str, Mark], ...]
    documents: tuple[Document, ...]
    intents: Intents
    problems: tuple[Problem, ...]
    facts: tuple[Facts, ...]


class Again:
    """What is known of files that were judged; :meth:`judge` takes the place of ``judge_files``."""

    def __init__(self) -> None:
        self._declared: _Declared | None = None
        self._known: dict[Candidate, _Known] = {}
        self._compared: bool | None = None

    def forget(self) -> None:
        """Forget everything, as something has changed that all of it may depend on."""
        self._declared = None
        self._known.clear()

    def judge(self, candidates: Sequence[Candidate], declare: Declare, settings: Settings) -> Judged:
        """Judge files as ``judge_files`` does."""
        devices = [candidate for candidate in candidates if is_json(candidate.file)]
        declared = self._intents([one for one in candidates if not is_json(one.file)], declare, settings.tell)
        settings = completed(
            settings, declared.intents, [candidate.file for candidate in devices], len(declared.facts)
        )
        if settings.compared is not self._compared:
            # Those that are not compared have left no summary.
            self._known.clear()
            self._compared = settings.compared
        known = self._devices(devices, settings)
        documents = {document.file: document.whole for document in declared.documents}
        excerpts = {one.excerpts.file: one.excerpts for one in known if one.excerpts is not None}
        outcomes = [outcome for one in known for outcome in one.outcomes]
        read_again = (read(candidate) for one in known for candidate in one.facts)
        facts = (*declared.facts, *(host for one in read_again for host in one.facts))
        judged = joined(
            declared.intents,
            outcomes,
            {**documents, **excerpts},
            settings,
            Others(facts, manager_files(declared.documents)),
        )
        problems = (*declared.problems, *(problem for one in known for problem in one.problems))
        return judged._replace(errors=(*problems, *judged.errors))

    def _intents(self, candidates: Sequence[Candidate], declare: Declare, tell: Tell | None) -> _Declared:
        basis = tuple((candidate.file, mark_of(candidate.file)) for candidate in candidates)
        if self._declared is None or self._declared.basis != basis:
            self._known.clear()
            found = [read(candidate) for candidate in candidates]
            documents = tuple(document for one in found for document in one.documents)
            problems = tuple(problem for one in found for problem in one.problems)
            facts = tuple(host for one in found for host in one.facts)
            self._declared = _Declared(basis, documents, declare(documents, tell), problems, facts)
        return self._declared

    def _devices(self, candidates: Sequence[Candidate], settings: Settings) -> list[_Known]:
        bases = {one: (mark_of(one.file), settings.chosen(one.file)) for one in candidates}
        kept = {one: self._known[one] for one in candidates if one in self._known}
        self._known = {one: known for one, known in kept.items() if known.basis == bases[one]}
        anew = [candidate for candidate in candidates if candidate not in self._known]
        for candidate, outcomes, excerpts, problems, facts in _judged(anew, settings):
            self._known[candidate] = _Known(bases[candidate], outcomes, excerpts, problems, facts)
        return [self._known[candidate] for candidate in candidates]


_One = tuple[
    "Candidate", "tuple[Outcome, ...]", "Excerpts | None", "tuple[Problem, ...]", "tuple[Candidate, ...]"
]


def _judged(candidates: Sequence[Candidate], settings: Settings) -> Iterable[_One]:
    """Yield what is said of each device: by several processes where there are many."""
    if len(candidates) >= FEWEST_FOR_WORKERS and usable():
        yield from _judged_apart(candidates, settings)
        return
    find = finder(settings.profile_dirs)
    for candidate in candidates:
        one = judge_file(candidate, settings, find)
        excerpts = Excerpts(candidate.file, one.shown, load_configuration) if one.outcomes else None
        yield candidate, one.outcomes, excerpts, one.problems, one.facts


def _judged_apart(candidates: Sequence[Candidate], settings: Settings) -> Iterable[_One]:
    work = judge_in_processes(candidates, settings)
    outcomes: dict[str, tuple[Outcome, ...]] = {}
    for outcome in work.outcomes:
        outcomes[outcome.file] = (*outcomes.get(outcome.file, ()), outcome)
    problems: dict[str, tuple[Problem, ...]] = {}
    of_hosts = frozenset(work.facts)
    for problem in work.problems:
        problems[problem.file] = (*problems.get(problem.file, ()), problem)
    for candidate in candidates:
        file = candidate.file
        facts = (candidate,) if candidate in of_hosts else ()
        yield candidate, outcomes.get(file, ()), work.excerpts.get(file), problems.get(file, ()), facts
