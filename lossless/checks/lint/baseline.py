"""A baseline: recorded findings of a repository, by file, object and code, never by line.

One entry a line, sorted, so that two branches that fix different findings can be merged.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.registry import RULES
from lossless.checks.rules.subjects import StaleBaselineEntry
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.checks.lint.coverage import RunCoverage
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.document import Document

VERSION = 1
_TEXTS = ("file", "object", "code")


class BaselineKey(NamedTuple):
    """What identifies a finding in a baseline; ``file`` is relative to the baseline's folder."""

    file: str
    object: str
    code: str


class Baseline(NamedTuple):
    """A baseline as read: how often each finding is known, and as which entry it stands there."""

    file: str
    folder: str
    document: Document | None
    counts: Mapping[BaselineKey, int]
    places: Mapping[BaselineKey, int]
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
    counts: dict[BaselineKey, int] = {}
    places: dict[BaselineKey, int] = {}
    for number, key, count in _entries(document, problems):
        # A merge can leave the same entry twice.
        counts[key] = max(count, counts.get(key, 0))
        places.setdefault(key, number)
    return Baseline(file, folder, document, counts, places, tuple(problems))


def _with_help(problem: Problem) -> Problem:
    is_missing = problem.message == "no such file"
    return problem._replace(message="no such file; lossless baseline writes it") if is_missing else problem


def _entries(document: Document, problems: list[Problem]) -> Iterator[tuple[int, BaselineKey, int]]:
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
            yield number, BaselineKey(*(entry[name] for name in _TEXTS)), entry["count"]


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


def key_of(code: str, origin: Origin, form: str, folder: str) -> BaselineKey:
    """Return what identifies a finding in a baseline of a folder."""
    name = os.path.relpath(os.path.abspath(origin.file), folder).replace(os.sep, "/")
    separator = "|" if form == "config_db" else "."
    return BaselineKey(name, separator.join(map(str, origin.path)), code)


def counts_of(findings: Iterable[Finding], folder: str) -> dict[BaselineKey, int]:
    """Return how often each finding is there, by what identifies it in a baseline of a folder."""
    return Counter(key_of(each.code, each.origin, each.object_form, folder) for each in findings)


def baseline_text(counts: Mapping[BaselineKey, int]) -> str:
    """Return the text of a baseline: the same for the same findings, in whatever order they came."""
    lines = [json.dumps({**key._asdict(), "count": count}) for key, count in sorted(counts.items())]
    body = ",\n".join(lines)
    return f'{{"version": {VERSION}, "findings": [\n{body}\n]}}\n' if lines else _EMPTY


_EMPTY = f'{{"version": {VERSION}, "findings": [\n]}}\n'


class BaselineAccount:
    """A baseline while findings are counted against it."""

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._left = dict(baseline.counts)

    def takes(self, code: str, origin: Origin, form: str) -> bool:
        """Return whether a finding is known; as often as it is listed, not once more."""
        key = key_of(code, origin, form, self.baseline.folder)
        left = self._left.get(key, 0)
        if left:
            self._left[key] = left - 1
        return left > 0

    def stale(self, coverage: RunCoverage) -> dict[BaselineKey, int]:
        """Return what is listed and not found any more, and how often, where the run can tell."""
        return {key: left for key, left in self._left.items() if left and self._is_gone(key, coverage)}

    def _is_gone(self, key: BaselineKey, coverage: RunCoverage) -> bool:
        file = os.path.normpath(os.path.join(self.baseline.folder, key.file))
        if coverage.checked(key.code, file, self.baseline.folder):
            return True
        return file not in coverage.files and not os.path.exists(file)

    def entries(self, coverage: RunCoverage) -> Iterator[StaleBaselineEntry]:
        """Yield the entries that are stale, in the order of the file."""
        stale = self.stale(coverage)
        for key in sorted(stale, key=self.baseline.places.__getitem__):
            place = ("findings", self.baseline.places[key])
            yield StaleBaselineEntry(Origin(self.baseline.file, place), *key, stale[key])
