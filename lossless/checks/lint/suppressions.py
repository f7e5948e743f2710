"""What keeps findings back where they stand: what it covers, how long, and whether a run can tell that it is idle."""

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

    from lossless.checks.lint.configuration import Configuration, Entry
    from lossless.checks.lint.extent import Extent
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


def _covering(entry: Entry, folder: str, governed: Callable[[str], bool]) -> Callable[[Origin, str], bool]:
    known: dict[str, bool] = {}

    def holds(file: str) -> bool:
        name = os.path.relpath(os.path.abspath(file), folder).replace(os.sep, "/")
        return governed(file) and (not entry.files or any(fits_file(glob, name) for glob in entry.files))

    def covers(origin: Origin, form: str) -> bool:
        if origin.file not in known:
            known[origin.file] = holds(origin.file)
        return known[origin.file] and (
            not entry.objects or any(fits_object(glob, origin.path, form) for glob in entry.objects)
        )

    return covers


class Ledger:
    """What suppressions have kept back so far."""

    def __init__(self, suppressions: Sequence[Suppression], today: str) -> None:
        self._suppressions = suppressions
        self._over = [bool(one.until and today and one.until < today) for one in suppressions]
        self._hits: list[set[str]] = [set() for _ in suppressions]
        self._missed = [0] * len(suppressions)
        self._by_code: dict[str, list[int]] = {}
        for number, one in enumerate(suppressions):
            for code in frozenset().union(*map(codes_of, one.rules)):
                self._by_code.setdefault(code, []).append(number)

    def keeps_back(self, finding: Finding) -> bool:
        """Return whether a finding is accepted; each suppression that covers it has done its work."""
        accepted = False
        for number in self._answering(finding.code, finding.origin, finding.object_form):
            self._missed[number] += self._over[number]
            accepted = accepted or not self._over[number]
        return accepted

    def saw(self, code: str, origin: Origin, form: str) -> None:
        """Count a finding that another one has taken the place of: a suppression of it is not idle."""
        for _ in self._answering(code, origin, form):
            pass

    def _answering(self, code: str, origin: Origin, form: str) -> Iterable[int]:
        for number in self._by_code.get(code, ()):
            if self._suppressions[number].covers(origin, form):
                self._hits[number].add(code)
                yield number

    def expired(self) -> tuple[ExpiredSuppression, ...]:
        """Return the suppressions whose last day is over."""
        return tuple(
            ExpiredSuppression(one.origin, one.rules, one.reason, one.until, self._missed[number])
            for number, one in enumerate(self._suppressions)
            if self._over[number]
        )

    def idle(self, extent: Extent, errors: Sequence[Problem]) -> tuple[UnusedSuppression, ...]:
        """Return the suppressions that keep nothing back for a rule, where the run can tell."""
        broken = {error.file for error in errors}
        found = []
        for number, one in enumerate(self._suppressions):
            if self._over[number] or (not one.folder and one.origin.file in broken):
                continue
            idle = tuple(rule for rule in one.rules if self._is_idle(number, codes_of(rule), extent))
            if idle:
                found.append(UnusedSuppression(one.origin, idle, one.reason, len(idle) == len(one.rules)))
        return tuple(found)

    def _is_idle(self, number: int, codes: Codes, extent: Extent) -> bool:
        one = self._suppressions[number]
        if codes & self._hits[number]:
            return False
        if one.folder:
            return extent.is_whole(one.folder) and extent.ran_all(codes, one.origin.file)
        return extent.ran_all(codes, one.origin.file)
