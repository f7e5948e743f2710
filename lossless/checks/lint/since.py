"""Findings that a change adds, removes and leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.baseline import elements_of, measured, part_of
from lossless.checks.lint.report import RemainingFinding
from lossless.ground.basics.findings import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.ground.basics.findings import Finding

    Key = tuple[object, ...]


def compared(
    now: Iterable[Finding], then: Iterable[Finding]
) -> tuple[list[Finding], tuple[RemainingFinding, ...], list[Finding]]:
    """Return added, remaining and removed findings; pairs by object come before pairs by message."""
    left: list[RemainingFinding] = []
    worse: list[Finding] = []
    added, gone = list(now), list(then)
    for key in (_by_object, _by_message):
        added, gone, pairs = _paired(added, gone, key)
        for finding, was in pairs:
            new, known = _parts(finding, was)
            worse += filter(None, [new])
            left += [RemainingFinding(known, was.places)] if known else []
    return [*added, *worse], tuple(left), gone


def _paired(
    now: Sequence[Finding], then: Sequence[Finding], key: Callable[[Finding], Key]
) -> tuple[list[Finding], list[Finding], list[tuple[Finding, Finding]]]:
    waiting: dict[Key, list[Finding]] = {}
    for finding in then:
        waiting.setdefault(key(finding), []).append(finding)
    added, pairs = [], []
    for finding in now:
        if waiting.get(key(finding)):
            pairs.append((finding, waiting[key(finding)].pop(0)))
        else:
            added.append(finding)
    return added, [finding for findings in waiting.values() for finding in findings], pairs


def _by_object(finding: Finding) -> Key:
    return (finding.code, finding.origin.file, finding.origin.path)


def _by_message(finding: Finding) -> Key:
    """Return a key that stays the same if an entry is inserted before another one of a list."""
    return (finding.code, finding.origin.file, finding.message)


def _parts(now: Finding, then: Finding) -> tuple[Finding | None, Finding | None]:
    """Return the new and the earlier part of a finding: by severity, value and places."""
    is_graver = SEVERITIES.index(now.severity) < SEVERITIES.index(then.severity)
    if is_graver or measured(now) != measured(then):
        return now, None
    elements, before = elements_of(now), elements_of(then)
    return part_of(now, elements - before), part_of(now, elements & before)
