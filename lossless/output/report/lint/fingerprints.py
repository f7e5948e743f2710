"""Fingerprints: the identity of a finding in this run and the next: rule, file and object, never a line.

A finding keeps its fingerprint when lines move and when a number in its message changes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import cause_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding
    from lossless.output.report.lint.file_names import FileNames


def finding_fingerprints(findings: Sequence[Finding], names: FileNames) -> list[str]:
    """Return the fingerprint of every finding, by its place in the order of reports; all differ."""
    relative = {file: names.name(file) for file in {finding.origin.file for finding in findings}}
    return _told_apart((f.code, relative[f.origin.file], *map(str, f.origin.path)) for f in findings)


def cause_fingerprint(finding: Finding) -> str:
    """Return the fingerprint that findings of one cause share, in any run."""
    return _digest(repr(cause_of(finding)))


def problem_fingerprints(problems: Sequence[Problem], names: FileNames) -> list[str]:
    """Return the fingerprint of everything that could not be read; all differ, also from those of findings."""
    return _told_apart(("", names.name(problem.file)) for problem in problems)


def _told_apart(subjects: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a digest for each subject; equal subjects are numbered in their order."""
    seen: dict[str, int] = {}
    digests = []
    for subject in subjects:
        key = "\0".join(subject)
        seen[key] = seen.get(key, 0) + 1
        digests.append(_digest(f"{key}\0{seen[key]}"))
    return digests


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
