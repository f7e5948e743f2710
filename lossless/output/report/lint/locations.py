"""Origins to places in the files, each document walked once for all findings.

Files as other programs know them: relative to the root of a repository, wherever the run began.
"""

from __future__ import annotations

from posixpath import join, normpath, relpath
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.checks.lint.run import Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Path, Span
    from lossless.ground.documents.excerpts import DocumentView


class Locations:
    """Lines and columns of the origins of findings.

    A value that is empty, or is not on one line with its key, is shown by its key: a brace alone has no meaning.
    """

    __slots__ = ("_documents", "_keys", "_values")

    def __init__(self, documents: Mapping[str, DocumentView], findings: Iterable[Finding]) -> None:
        self._documents = documents
        self._keys: dict[str, dict[Path, Span]] = {}
        self._values: dict[str, dict[Path, Span]] = {}
        paths: dict[str, dict[Path, None]] = {}
        for finding in findings:
            for origin in filter(None, (*finding.origins, finding.via)):
                paths.setdefault(origin.file, {})[origin.path] = None
        for file in paths.keys() & documents.keys():
            self._keys[file] = documents[file].locate_many(paths[file], "key")
            self._values[file] = documents[file].locate_many(paths[file])

    def span(self, origin: Origin) -> Span | None:
        """Return the span of an origin, None in a file that was not read."""
        file, path, mark = origin
        if file not in self._keys or path not in self._keys[file]:
            return None
        key, value = self._keys[file][path], self._values[file][path]
        if mark == "key":
            return key
        beside_key = value.line == value.end_line == key.line and value.column < value.end_column
        return value if beside_key else key

    def line_text(self, file: str, number: int) -> str:
        """Return a line of a document that a span was found in."""
        return self._documents[file].line_text(number)


def locate(report: Report) -> tuple[Locations, list[Finding]]:
    """Return the places of all findings, and the findings in the order of reports.

    By file; in a file errors first; then by place. The order that rules ran in does not matter.
    """
    locations = Locations(report.documents, report.findings)

    def order(finding: Finding) -> tuple[object, ...]:
        span = locations.span(finding.origin)
        place = (span.line, span.column) if span else (0, 0)
        severity = SEVERITIES.index(finding.severity)
        tie = (finding.code, finding.message, finding.object, finding.elements)
        return (finding.origin.file, severity, *place, *tie)

    return locations, sorted(report.findings, key=order)


def sort_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems by file and place; those that concern a whole file come first in it."""
    return sorted(problems, key=lambda p: (p.file, p.line or 0, p.column or 0, p.message))


def shown_file(file: str) -> str:
    """Return a file name as reports write it: relative names without a leading ``./``."""
    return file.removeprefix("./")


class FileNames:
    """Names of files relative to a root; nothing is looked up on disk."""

    __slots__ = ("_folder", "_root")

    def __init__(self, folder: str, root: str) -> None:
        self._folder = folder
        self._root = root

    def relative(self, file: str) -> str | None:
        """Return a file relative to the root, None where it lies outside."""
        name = relpath(self.absolute(file), self._root)
        return None if name == ".." or name.startswith("../") else name

    def name(self, file: str) -> str:
        """Return a file relative to the root; outside of it the absolute path."""
        return self.relative(file) or self.absolute(file)

    def absolute(self, file: str) -> str:
        """Return the absolute path of a file."""
        return normpath(join(self._folder, file))
