"""Judges many files in several processes; what comes back is small: findings, places to show, summaries."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.checks.lint.devices import Outcome, finder, judge_document
from lossless.formats.inputs.collect import load_configuration, read
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts, Places, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.lint.devices import FindHardware, Settings
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path

_CHUNK = 8
"""Files handed to a process at a time: few, so that both end together."""


class Work(NamedTuple):
    """What came of many files: the outcomes, what to show of each, what could not be read, and what is of hosts."""

    outcomes: list[Outcome]
    excerpts: dict[str, Excerpts]
    problems: list[Problem]
    facts: list[Candidate]


class JudgedFile(NamedTuple):
    """What came of one file: an outcome for each device in it; none where it is none of ours, or cannot be read."""

    outcomes: tuple[Outcome, ...]
    problems: tuple[Problem, ...]
    shown: Places
    facts: tuple[Candidate, ...] = ()


_judge: list[Callable[[Candidate], Any]] = []
"""What a process judges with; set once, when it starts."""

_Judged = TypeVar("_Judged")


def usable() -> bool:
    """Return whether this machine has several processors to use, and processes that start as copies.

    Elsewhere than on Linux copies are not safe, or do not exist; a process started anew costs more than it saves.
    """
    return sys.platform == "linux" and processors() > 1 and _has_locks()


def _has_locks() -> bool:
    """Return whether processes can share a lock here; some containers have no memory for that."""
    import multiprocessing

    try:
        multiprocessing.get_context("fork").Lock()
    except (ImportError, OSError):
        return False
    return True


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def judge_in_processes(candidates: Sequence[Candidate], settings: Settings) -> Work:
    """Judge the files of devices in several processes; raises LosslessError as :func:`in_processes` does."""
    from lossless.checks.rules.registry import rules_for

    # Read once here, and shared by every copy.
    for chosen in {settings.chosen(candidate.file) for candidate in candidates}:
        rules_for("fabric", "device", chosen=chosen)
    find = finder(settings.profile_dirs)

    def judge(candidate: Candidate) -> JudgedFile:
        return judge_file(candidate, settings, find)

    outcomes: list[Outcome] = []
    excerpts: dict[str, Excerpts] = {}
    problems: list[Problem] = []
    facts: list[Candidate] = []
    for judged in in_processes(judge, candidates, settings.tell):
        problems += judged.problems
        facts += judged.facts
        outcomes += judged.outcomes
        for outcome in judged.outcomes[:1]:
            excerpts[outcome.file] = Excerpts(outcome.file, judged.shown, load_configuration)
    return Work(outcomes, excerpts, problems, facts)


def in_processes(
    judge: Callable[[Candidate], _Judged],
    candidates: Sequence[Candidate],
    tell: Callable[[int, int], None] | None,
) -> Iterator[_Judged]:
    """Yield what is said of each file by as many processes as there are processors; in the order of the files.

    Raises:
        LosslessError: a process was ended from outside, as a machine does that has no memory left.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(processors(), context, _begin, (judge,)) as pool:
            for done, judged in enumerate(pool.map(_judge_one, candidates, chunksize=_CHUNK), 1):
                if tell is not None:
                    tell(done, len(candidates))
                yield judged
    except BrokenProcessPool as error:
        raise LosslessError(
            "a process that judged files was ended from outside; is there enough memory?"
        ) from error


def _begin(judge: Callable[[Candidate], Any]) -> None:
    import gc

    # A worker lives for seconds and makes next to no cycles; looking for them takes a tenth of its time.
    gc.disable()
    _judge[:] = [judge]


def _judge_one(candidate: Candidate) -> Any:
    return _judge[0](candidate)


def judge_file(candidate: Candidate, settings: Settings, find: FindHardware) -> JudgedFile:
    """Judge one file, and keep of it only what reports may show."""
    found = read(candidate)
    if not found.documents:
        facts = (candidate,) if found.facts else ()
        return JudgedFile((), found.problems, Places({}, {}, {}), facts)
    outcomes = tuple(judge_document(document, settings, find) for document in found.documents)
    paths = (path for outcome in outcomes for path in _paths(outcome))
    return JudgedFile(outcomes, found.problems, places(found.documents[0].whole, paths))


def _paths(outcome: Outcome) -> Iterator[Path]:
    """Yield where the file of a device has what is said of it."""
    layout = outcome.layout
    for finding in outcome.verdicts.findings:
        for origin in (finding.origin, *(related.origin for related in finding.related)):
            if origin.file == outcome.name:
                yield origin.path if layout is None else layout.written(origin.path)
            elif origin.file == outcome.file:
                yield origin.path
