"""One finding per cause where a row or a command makes a class lossy, and other rules report the same row.

The finding on the class is left out for ports that an error of another rule names, and replaces milder findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lossless.ground.basics.findings import Finding, Origin, Path

    Row = tuple[str, Path]


def one_cause(
    findings: Sequence[Finding], codes: Collection[str], restates: tuple[str, ...]
) -> Iterator[Finding]:
    """Yield findings without those of ``codes`` that repeat an error in their row, and without milder ones in that row.

    Findings whose code begins with one of ``restates`` report the same value in other words, and are kept.
    """
    others = [finding for finding in findings if finding.code not in codes]
    said: dict[Row, list[Finding]] = {}
    for finding in others:
        for row in _rows(finding) if finding.severity == "error" else ():
            said.setdefault(row, []).append(finding)
    new = {
        id(finding): left
        for finding in findings
        if finding.code in codes
        for left in [_of_others(finding, said.get(_row(finding.origin), ()))]
        if left is not None
    }
    programmed = {_row(finding.origin) for finding in new.values()}
    for finding in findings:
        if finding.code in codes:
            if id(finding) in new:
                yield new[id(finding)]
        elif (
            finding.severity == "error"
            or finding.code.startswith(restates)
            or _row(finding.origin) not in programmed
        ):
            yield finding


def _of_others(finding: Finding, said: Sequence[Finding]) -> Finding | None:
    """Return a finding on the ports that no error in its row names (``said``); None where none is left.

    An error in the row itself has the same cause. A finding on a whole table is about rows that are missing, one per
    port.
    """
    if not said:
        return finding
    if len(finding.origin.path) > 1:
        return None
    about = {part for error in said for element in error.elements for part in element.split(" - ")}
    left = tuple(element for element in finding.elements if element not in about)
    # An error that names no port is about all.
    if not left or not all(":" in part for part in about) or not all(error.elements for error in said):
        return None
    return finding._replace(elements=left)


def _rows(finding: Finding) -> frozenset[Row]:
    """Return the rows of tables that the origins of a finding are in."""
    return frozenset(_row(origin) for origin in finding.origins)


def _row(origin: Origin) -> Row:
    return origin.file, origin.path[:2]
