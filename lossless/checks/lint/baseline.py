"""A baseline: the findings that a repository had when it began, by file, object and code, never by line.

One entry a line, sorted, so that two branches that mend different things can be merged.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.registry import RULES
from lossless.checks.rules.subjects import StaleBaselineEntry
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.checks.lint.extent import Extent
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document

VERSION = 1
_TEXTS = ("file", "object", "code")


class Known(NamedTuple):
    """What a baseline knows a finding by; ``file`` is relative to the baseline's folder."""

    file: str
    object: str
    code: str


class Baseline(NamedTuple):
    """A baseline as read: how often each finding is known, and as which entry it stands there."""

    file: str
    folder: str
    document: Document | None
    counts: Mapping[Known, int]
    places: Mapping[Known, int]
    problems: tuple[Problem, ...] = ()


def read_baseline(file: str) -> Baseline:
    """Return a baseline with what is wrong in it; entries that mean something count even so."""
    from lossless.ground.documents.json.document import load_json
    from lossless.ground.documents.text import read_text

    folder = os.path.dirname(os.path.abspath(file))
    try:
        document = load_json(read_text(file), file)
    except InputError as error:
        return Baseline(file, folder, None, {}, {}, tuple(map(_with_help, error.problems)))
    problems: list[Problem] = []
    counts: dict[Known, int] = {}
    places: dict[Known, int] = {}
    for number, known, count in _entries(document, problems):
        # A merge can leave the same entry twice.
        counts[known] = max(count, counts.get(known, 0))
        places.setdefault(known, number)
    return Baseline(file, folder, document, counts, places, tuple(problems))


def _with_help(problem: Problem) -> Problem:
    is_missing = problem.message == "no such file"
    return problem._replace(message="no such file; lossless baseline writes it") if is_missing else problem


def _entries(document: Document, problems: list[Problem]) -> Iterator[tuple[int, Known, int]]:
    def note(message: str, *path: str | int) -> None:
        span = document.locate(path)
        problems.append(Problem(document.file, span.line, span.column, message))

    if document.data.get("version") != VERSION:
        note(
            f"not a baseline of this version; expected version {VERSION}, as lossless baseline writes",
            "version",
        )
        return
    entries = document.data.get("findings")
    if not isinstance(entries, list):
        note("findings is no list", "findings")
        return
    for number, entry in enumerate(entries):
        fault = _fault(entry)
        if fault:
            note(fault, "findings", number)
        else:
            yield number, Known(*(entry[name] for name in _TEXTS)), entry["count"]


def _fault(entry: Any) -> str:
    """Return what is wrong with an entry, nothing where it is sound."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in _TEXTS):
        return "an entry needs file, object and code, each a text"
    count = entry.get("count")
    if type(count) is not int or count < 1:
        return "an entry needs a count of 1 or more"
    if entry["code"] not in RULES:
        from lossless.checks.rules.selectors import unknown
        from lossless.ground.basics.nearest import nearest

        return unknown(entry["code"], nearest)
    return ""


def known_as(code: str, origin: Origin, form: str, folder: str) -> Known:
    """Return what a baseline in a folder knows a finding by."""
    name = os.path.relpath(os.path.abspath(origin.file), folder).replace(os.sep, "/")
    separator = "|" if form == "config_db" else "."
    return Known(name, separator.join(map(str, origin.path)), code)


def counted(findings: Iterable[Finding], folder: str) -> dict[Known, int]:
    """Return how often each finding is there, as a baseline in a folder knows it."""
    counts: dict[Known, int] = {}
    for finding in findings:
        known = known_as(finding.code, finding.origin, finding.object_form, folder)
        counts[known] = counts.get(known, 0) + 1
    return counts


def written(counts: Mapping[Known, int]) -> str:
    """Return the text of a baseline: the same for the same findings, in whatever order they came."""
    lines = [json.dumps({**known._asdict(), "count": count}) for known, count in sorted(counts.items())]
    body = ",\n".join(lines)
    return f'{{"version": {VERSION}, "findings": [\n{body}\n]}}\n' if lines else _EMPTY


_EMPTY = f'{{"version": {VERSION}, "findings": [\n]}}\n'


class Account:
    """A baseline while findings are counted against it."""

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._left = dict(baseline.counts)

    def takes(self, code: str, origin: Origin, form: str) -> bool:
        """Return whether a finding is known; as often as it is listed, not once more."""
        known = known_as(code, origin, form, self.baseline.folder)
        left = self._left.get(known, 0)
        if left:
            self._left[known] = left - 1
        return left > 0

    def stale(self, extent: Extent) -> dict[Known, int]:
        """Return what is listed and not found any more, and how often, where the run can tell."""
        return {known: left for known, left in self._left.items() if left and self._is_gone(known, extent)}

    def _is_gone(self, known: Known, extent: Extent) -> bool:
        file = os.path.normpath(os.path.join(self.baseline.folder, known.file))
        if extent.judged(known.code, file, self.baseline.folder):
            return True
        return file not in extent.files and not os.path.exists(file)

    def entries(self, extent: Extent) -> Iterator[StaleBaselineEntry]:
        """Yield the entries that are stale, in the order of the file."""
        stale = self.stale(extent)
        for known in sorted(stale, key=self.baseline.places.__getitem__):
            place = ("findings", self.baseline.places[known])
            yield StaleBaselineEntry(Origin(self.baseline.file, place), *known, stale[known])
