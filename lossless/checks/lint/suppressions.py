"""Suppressions: the findings and period that each covers, and whether a run can detect that it is unused."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from lossless.checks.lint.globs import fits_file, fits_object
from lossless.checks.rules.selectors import codes_of
from lossless.checks.rules.subjects import ExpiredSuppression, UnusedSuppression
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.checks.lint.configuration.reader import Configuration, SuppressionEntry
    from lossless.checks.lint.coverage import RunCoverage
    from lossless.checks.rules.registry import Codes
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Path
    from lossless.ground.documents.document import Document


class Suppression(NamedTuple):
    """Findings of some rules that are accepted; ``until`` is the last day, empty without one.

    One of a configuration applies below ``folder``, an absolute path, to findings that it ``covers``, a function of the
    place of a finding and the form of its object. One in a file covers a ``line`` of it, and everything below a key on
    that line.
    """

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    covers: Callable[[Origin, str], bool] | None = None
    folder: str = ""
    line: int = 0


def of_configuration(configuration: Configuration, governed: Callable[[str], bool]) -> list[Suppression]:
    """Return the suppressions of a configuration; ``governed`` decides whether it applies to a file."""
    return [
        Suppression(
            entry.origin,
            entry.rules,
            entry.reason,
            entry.until,
            _covering(entry, configuration.folder, governed),
            configuration.folder,
        )
        for entry in configuration.entries
    ]


def _covering(
    entry: SuppressionEntry, folder: str, governed: Callable[[str], bool]
) -> Callable[[Origin, str], bool]:
    holds_in: dict[str, bool] = {}

    def holds(file: str) -> bool:
        name = os.path.relpath(os.path.abspath(file), folder).replace(os.sep, "/")
        return governed(file) and (not entry.files or any(fits_file(glob, name) for glob in entry.files))

    def covers(origin: Origin, form: str) -> bool:
        if origin.file not in holds_in:
            holds_in[origin.file] = holds(origin.file)
        return holds_in[origin.file] and (
            not entry.objects or any(fits_object(glob, origin.path, form) for glob in entry.objects)
        )

    return covers


class SuppressionLedger:
    """The findings that suppressions have accepted so far."""

    def __init__(
        self, suppressions: Sequence[Suppression], today: str, documents: Mapping[str, Document]
    ) -> None:
        self._suppressions = suppressions
        self._documents = documents
        self._lines: dict[tuple[str, Path], set[int]] = {}
        self._expired = [bool(each.until and today and each.until < today) for each in suppressions]
        self._codes: list[set[str]] = [set() for _ in suppressions]
        self._missed = [0] * len(suppressions)
        self._configured: dict[str, list[int]] = {}
        self._on_line: dict[tuple[str, str, int], list[int]] = {}
        for number, suppression in enumerate(suppressions):
            for code in frozenset().union(*map(codes_of, suppression.rules)):
                if suppression.covers is not None:
                    self._configured.setdefault(code, []).append(number)
                else:
                    place = (code, suppression.origin.file, suppression.line)
                    self._on_line.setdefault(place, []).append(number)
        self._commented = frozenset(file for _, file, _ in self._on_line)

    def accepts(self, finding: Finding) -> bool:
        """Return whether a finding is accepted; each suppression that covers it is in use then."""
        accepted = False
        for number in self._covering(finding.code, finding.origin, finding.object_form):
            self._missed[number] += self._expired[number]
            accepted = accepted or not self._expired[number]
        return accepted

    def saw(self, code: str, origin: Origin, form: str) -> None:
        """Count a finding that another one has taken the place of: a suppression of it is in use."""
        for _ in self._covering(code, origin, form):
            pass

    def _covering(self, code: str, origin: Origin, form: str) -> Iterable[int]:
        for number in self._configured.get(code, ()):
            covers = self._suppressions[number].covers
            if covers is not None and covers(origin, form):
                self._codes[number].add(code)
                yield number
        for line in self._lines_of(origin) if origin.file in self._commented else ():
            for number in self._on_line.get((code, origin.file, line), ()):
                self._codes[number].add(code)
                yield number

    def _lines_of(self, origin: Origin) -> set[int]:
        """Return the lines of an object: that of its own key, and those of the keys above it."""
        file, path, *_ = origin
        if (file, path) not in self._lines:
            prefixes = [path[:length] for length in range(1, len(path) + 1)] or [path]
            spans = self._documents[file].locate_many(prefixes, "key").values()
            self._lines[file, path] = {span.line for span in spans}
        return self._lines[file, path]

    def expired(self) -> tuple[ExpiredSuppression, ...]:
        """Return the suppressions whose last day is over."""
        return tuple(
            ExpiredSuppression(each.origin, each.rules, each.reason, each.until, self._missed[number])
            for number, each in enumerate(self._suppressions)
            if self._expired[number]
        )

    def unused(self, coverage: RunCoverage, errors: Sequence[Problem]) -> tuple[UnusedSuppression, ...]:
        """Return the suppressions with a rule that accepted no finding; only if the run has checked for it."""
        broken = {error.file for error in errors}
        unused = []
        for number, (origin, rules, reason, *_) in enumerate(self._suppressions):
            in_broken = not self._suppressions[number].folder and origin.file in broken
            if self._expired[number] or in_broken:
                continue
            idle = tuple(rule for rule in rules if self._is_unused(number, codes_of(rule), coverage))
            if idle:
                unused.append(UnusedSuppression(origin, idle, reason, len(idle) == len(rules)))
        return tuple(unused)

    def _is_unused(self, number: int, codes: Codes, coverage: RunCoverage) -> bool:
        suppression = self._suppressions[number]
        if codes & self._codes[number]:
            return False
        is_covered = not suppression.folder or coverage.is_whole(suppression.folder)
        return is_covered and coverage.ran_all(codes, suppression.origin.file)
