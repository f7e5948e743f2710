"""Judges many intents in several processes; a file that may hold suppressions is read once more here, for these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.comments import has_marker
from lossless.checks.lint.repository import Judged, of_all_subnets, of_intents, of_subnets
from lossless.checks.lint.run import Verdicts, together
from lossless.checks.lint.workers import in_processes
from lossless.formats.inputs.collect import load_configuration, read
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts, Places, places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.lint.devices import Settings
    from lossless.checks.lint.repository import Declare
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.excerpts import Shown
    from lossless.model.fabric.infiniband.subnet import Subnet


class _One(NamedTuple):
    """What came of one file; ``shown`` is None where it is none of ours, or cannot be read."""

    verdicts: tuple[Verdicts, ...]
    problems: tuple[Problem, ...]
    errors: tuple[Problem, ...]
    shown: Places | None
    marked: bool
    of_hosts: bool = False
    subnets: tuple[Subnet, ...] = ()


def judge_intents(candidates: Sequence[Candidate], declare: Declare, settings: Settings) -> Judged | None:
    """Judge files of which none is a device's, as ``judge_files`` does.

    Returns None where one has facts of a host: those are judged by the fabrics, which do not leave their process.
    """
    for candidate in candidates:
        # What is looked up here is known to every copy, and said to be in use.
        settings.chosen(candidate.file)

    def judge(candidate: Candidate) -> _One:
        return _judged(candidate, declare, settings)

    found = list(in_processes(judge, candidates, settings.tell))
    if any(one.of_hosts for one in found):
        return None
    documents: dict[str, Shown] = {}
    for candidate, one in zip(candidates, found, strict=True):
        if one.shown is not None:
            documents[candidate.file] = (
                load_configuration(candidate.file)
                if one.marked
                else Excerpts(candidate.file, one.shown, load_configuration)
            )
    verdicts = [verdicts for one in found for verdicts in one.verdicts]
    verdicts += of_all_subnets([subnet for one in found for subnet in one.subnets], settings)
    problems = [problem for one in found for problem in one.problems]
    errors = [error for one in found for error in one.errors]
    return Judged(together(verdicts), (*problems, *errors), documents, {})


def _judged(candidate: Candidate, declare: Declare, settings: Settings) -> _One:
    found = read(candidate)
    if not found.documents:
        return _One((), found.problems, (), None, marked=False, of_hosts=bool(found.facts))
    document = found.documents[0]
    intents = declare(found.documents, None)
    verdicts = (*of_intents(intents, settings), *of_subnets(intents.subnets, settings))
    shown = places(document, _paths(document, verdicts))
    return _One(
        verdicts, found.problems, intents.errors, shown, has_marker(document.text), subnets=intents.subnets
    )


def _paths(document: Document, verdicts: Sequence[Verdicts]) -> Iterator[Path]:
    """Yield where an intent has what is said of it."""
    for finding in (finding for some in verdicts for finding in some.findings):
        for origin in (finding.origin, *(related.origin for related in finding.related)):
            if origin.file == document.file:
                yield origin.path
