"""Suppressions: what each covers, how long, and whether a run can tell that it is unused."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from lossless.checks.lint.globs import fits_file, fits_object
from lossless.checks.rules.selectors import codes_of
from lossless.checks.rules.subjects import ExpiredSuppression, UnusedSuppression
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.lint.configuration.reader import Configuration, SuppressionEntry
    from lossless.checks.lint.coverage import RunCoverage
    from lossless.checks.rules.registry import Codes
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin


class Suppression(NamedTuple):
    """Findings of some rules that are accepted; ``until`` is the last day, empty without one.

    ``covers`` is given where a finding stands and the form of its object. ``folder`` is the absolute folder below
    which it holds, empty for one that is about its own file.
    """

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    covers: Callable[[Origin, str], bool]
    folder: str = ""


def of_configuration(configuration: Configuration, governed: Callable[[str], bool]) -> list[Suppression]:
    """Return the suppressions of a configuration; ``governed`` says whether it holds for a file."""
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
    """What suppressions have accepted so far."""

    def __init__(self, suppressions: Sequence[Suppression], today: str) -> None:
        self._suppressions = suppressions
        self._expired = [bool(each.until and today and each.until < today) for each in suppressions]
        self._codes: list[set[str]] = [set() for _ in suppressions]
        self._missed = [0] * len(suppressions)
        self._by_code: dict[str, list[int]] = {}
        for number, suppression in enumerate(suppressions):
            for code in frozenset().union(*map(codes_of, suppression.rules)):
                self._by_code.setdefault(code, []).append(number)

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
        for number in self._by_code.get(code, ()):
            if self._suppressions[number].covers(origin, form):
                self._codes[number].add(code)
                yield number

    def expired(self) -> tuple[ExpiredSuppression, ...]:
        """Return the suppressions whose last day is over."""
        return tuple(
            ExpiredSuppression(each.origin, each.rules, each.reason, each.until, self._missed[number])
            for number, each in enumerate(self._suppressions)
            if self._expired[number]
        )

    def unused(self, coverage: RunCoverage, errors: Sequence[Problem]) -> tuple[UnusedSuppression, ...]:
        """Return the suppressions that accept nothing of a rule, where the run can tell."""
        broken = {error.file for error in errors}
        unused = []
        for number, (origin, rules, reason, *_, folder) in enumerate(self._suppressions):
            if self._expired[number] or (not folder and origin.file in broken):
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
