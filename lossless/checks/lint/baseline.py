"""A baseline: recorded findings of a repository, by file, object, code and value, never by line.

It hides only recorded findings: another value, a higher severity or one more port or device is a new
finding. One entry a line, sorted, so that two branches that fix different findings can be merged.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.registry import RULES
from lossless.checks.rules.subjects import StaleBaselineEntry
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import SEVERITIES, Origin
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.checks.lint.coverage import RunCoverage
    from lossless.ground.basics.findings import Finding, Severity
    from lossless.ground.documents.document import Document

VERSION = 2
_TEXTS = ("file", "object", "code")


class BaselineKey(NamedTuple):
    """The identity of a finding in a baseline; ``file`` is relative to the baseline's folder.

    ``value`` is the measurement of the rule, as JSON: the ``data`` of the finding, its message if there is no data.
    """

    file: str
    object: str
    code: str
    value: str = "{}"


class BaselineEntry(NamedTuple):
    """One recorded finding: its severity, and how often it affects each element; places without a name are under ""."""

    severity: Severity
    elements: Mapping[str, int]


Entries = dict[BaselineKey, BaselineEntry]


class Baseline(NamedTuple):
    """A baseline as read: its entries, and the number of each entry in the file."""

    file: str
    folder: str
    document: Document | None
    entries: Mapping[BaselineKey, BaselineEntry]
    places: Mapping[BaselineKey, int]
    problems: tuple[Problem, ...] = ()


def read_baseline(file: str) -> Baseline:
    """Return a baseline and its problems; valid entries count even if others are invalid."""
    from lossless.ground.documents.json.document import load_json
    from lossless.ground.documents.text import read_text

    folder = os.path.dirname(os.path.abspath(file))
    try:
        document = load_json(read_text(file), file)
    except InputError as error:
        return Baseline(file, folder, None, {}, {}, tuple(map(_with_help, error.problems)))
    problems: list[Problem] = []
    entries: Entries = {}
    places: dict[BaselineKey, int] = {}
    for number, key, entry in _entries(document, problems):
        # A merge can leave the same entry twice.
        entries[key] = _united(entries.get(key, entry), entry)
        places.setdefault(key, number)
    return Baseline(file, folder, document, entries, places, tuple(problems))


def _united(first: BaselineEntry, second: BaselineEntry) -> BaselineEntry:
    """Merge two entries of one finding: the gravest severity, each element as often as one of them has it."""
    severity = min(first.severity, second.severity, key=SEVERITIES.index)
    return BaselineEntry(severity, Counter(first.elements) | Counter(second.elements))


def _with_help(problem: Problem) -> Problem:
    is_missing = problem.message == "no such file"
    return problem._replace(message="no such file; lossless baseline writes it") if is_missing else problem


def _entries(document: Document, problems: list[Problem]) -> Iterator[tuple[int, BaselineKey, BaselineEntry]]:
    def note(message: str, *path: str | int) -> None:
        span = document.locate(path)
        problems.append(Problem(document.file, span.line, span.column, message))

    if document.data.get("version") != VERSION:
        note(
            f"not a baseline of version {VERSION}; delete the file, and lossless baseline writes it again",
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
            key = BaselineKey(entry["file"], entry["object"], entry["code"], _json(entry.get("value", {})))
            elements = Counter({**Counter(entry.get("on")), "": entry.get("count", 0)})
            yield number, key, BaselineEntry(entry["severity"], +elements)


def _fault(entry: Any) -> str:
    """Return the error message for an entry, empty if it is valid."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in _TEXTS):
        return "an entry needs file, object and code, each a text"
    if entry.get("severity") not in SEVERITIES:
        return f"an entry needs a severity, one of {', '.join(SEVERITIES)}"
    count, elements = entry.get("count", 0), entry.get("on", [])
    if not isinstance(elements, list) or not all(isinstance(name, str) and name for name in elements):
        return "on is a list of names"
    if type(count) is not int or count < (not elements):
        return "an entry needs a count of 1 or more, or a list of names in on"
    if entry["code"] not in RULES:
        from lossless.checks.rules.selectors import unknown

        return unknown(entry["code"])
    return ""


def key_of(finding: Finding, folder: str) -> BaselineKey:
    """Return the identity of a finding in a baseline of a folder."""
    file, name, code = _object_of(finding.code, finding.origin, finding.object_form, folder)
    return BaselineKey(file, name, code, measured(finding))


def measured(finding: Finding) -> str:
    """Return the measurement of a rule, as JSON: the data of the finding, its message if there is no data."""
    return _json(finding.data or {"message": finding.message})


def _object_of(code: str, origin: Origin, form: str, folder: str) -> tuple[str, str, str]:
    name = os.path.relpath(os.path.abspath(origin.file), folder).replace(os.sep, "/")
    separator = "." if form == "intent" else "|"
    return name, separator.join(map(str, origin.path)), code


def _wherever(key: BaselineKey) -> tuple[str, str, str]:
    """Return the part of a finding's identity that does not depend on its place."""
    return key.file, key.code, key.value


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def elements_of(finding: Finding) -> Counter[str]:
    """Return how often a finding affects each element; places without a name are under ""."""
    unnamed = max(finding.places, 1) - len(finding.elements)
    return +Counter({**Counter(finding.elements), "": max(unnamed, not finding.elements)})


def part_of(finding: Finding, elements: Counter[str]) -> Finding | None:
    """Return a finding on some of its elements, None where there are none."""
    if elements == elements_of(finding):
        return finding
    named = tuple(name for name in finding.elements if name in elements)
    return finding._replace(elements=named, places=elements.total()) if elements else None


def entries_of(findings: Iterable[Finding], folder: str) -> Entries:
    """Return the entries of findings in a baseline of a folder."""
    entries: Entries = {}
    for finding in findings:
        added_to(entries, key_of(finding, folder), BaselineEntry(finding.severity, elements_of(finding)))
    return entries


def added_to(entries: Entries, key: BaselineKey, more: BaselineEntry) -> None:
    """Add a record to an entry; a record of higher severity replaces the entry."""
    entry = entries.get(key)
    if entry is None or SEVERITIES.index(more.severity) < SEVERITIES.index(entry.severity):
        entries[key] = more
    else:
        entries[key] = entry._replace(elements=Counter(entry.elements) + Counter(more.elements))


def baseline_text(entries: Mapping[BaselineKey, BaselineEntry]) -> str:
    """Return the text of a baseline; it does not depend on the order of the findings."""
    lines = [json.dumps(_line(key, entry)) for key, entry in sorted(entries.items(), key=itemgetter(0))]
    body = ",\n".join(lines)
    return f'{{"version": {VERSION}, "findings": [\n{body}\n]}}\n' if lines else _EMPTY


def _line(key: BaselineKey, entry: BaselineEntry) -> dict[str, object]:
    elements = Counter(entry.elements)
    count = elements.pop("", 0)
    names = sorted(elements.elements(), key=natural_key)
    line = {**key._asdict(), "severity": entry.severity, "value": json.loads(key.value)}
    return {**line, **({"on": names} if names else {}), **({"count": count} if count else {})}


_EMPTY = f'{{"version": {VERSION}, "findings": [\n]}}\n'


class BaselineAccount:
    """A baseline while findings are counted against it."""

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._left = {key: Counter(entry.elements) for key, entry in baseline.entries.items()}
        self._of_object = grouped((key[:3], key) for key in baseline.entries)
        self._of_place = grouped(
            ((*_wherever(key), name), key)
            for key, entry in baseline.entries.items()
            for name in entry.elements
        )

    def unknown_part(self, finding: Finding) -> Finding | None:
        """Return the part of a finding that is not recorded: the whole finding, its new places, or None.

        An entry hides as many places as it lists, not one more. A finding is reported at the first of its
        places, so that one more may move it: places by name are found wherever it is reported.
        """
        own = key_of(finding, self.baseline.folder)
        new = self._not_in(own, finding, elements_of(finding))
        for name in filter(None, tuple(new)):
            for key in self._of_place.get((*_wherever(own), name), ()):
                new[name] = self._not_in(key, finding, Counter({name: new[name]}))[name]
        return part_of(finding, +new)

    def _not_in(self, key: BaselineKey, finding: Finding, elements: Counter[str]) -> Counter[str]:
        """Count places of a finding against an entry; return those that it does not hide."""
        entry = self.baseline.entries.get(key)
        if entry is None:
            return elements
        known = self._left[key] & elements
        self._left[key] -= known
        is_graver = SEVERITIES.index(finding.severity) < SEVERITIES.index(entry.severity)
        return elements if is_graver else elements - known

    def saw(self, code: str, origin: Origin, form: str) -> None:
        """Note that a finding is there, though another one is shown in its place: its entries are not stale."""
        for key in self._of_object.get(_object_of(code, origin, form, self.baseline.folder), ()):
            self._left[key].clear()

    def stale(self, coverage: RunCoverage) -> dict[BaselineKey, Mapping[str, int]]:
        """Return the entries, with counts, whose findings no longer occur; only entries that this run has checked."""
        return {key: left for key, left in self._left.items() if left and self._is_gone(key, coverage)}

    def _is_gone(self, key: BaselineKey, coverage: RunCoverage) -> bool:
        file = os.path.normpath(os.path.join(self.baseline.folder, key.file))
        if coverage.checked(key.code, file, self.baseline.folder):
            return True
        return file not in coverage.files and not os.path.exists(file)

    def entries(self, stale: Iterable[BaselineKey]) -> Iterator[StaleBaselineEntry]:
        """Yield entries that are stale, in the order of the file."""
        for key in sorted(stale, key=self.baseline.places.__getitem__):
            place = ("findings", self.baseline.places[key])
            yield StaleBaselineEntry(Origin(self.baseline.file, place), key.file, key.object, key.code)
