"""The files that are checked for an editor, and the results: diagnostics, fixes, and positions in a text.

The files are the texts of the editor, and the files on disk in the same workspace folder unless there are more than
MOST_TOGETHER. Diagnostics are made from a report; a fix is an edit of the parts of lines that differ.

Positions are counted as in the protocol: lines from 0, columns in the units that client and server agreed on. Lines end
at LF, CR LF and CR, for the protocol and for :mod:`lossless.ground.documents` identical.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
    Position,
    PositionEncodingKind,
    Range,
    TextEdit,
)
from pygls.uris import from_fs_path

from lossless.api import Report, lint_documents
from lossless.ground.basics.files import data_dir
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Locations
from lossless.ground.documents.text import Lines
from lossless.interfaces.api.baseline import fix_documents
from lossless.interfaces.api.reference import (
    Candidate,
    Inputs,
    candidates_below,
    is_excluded,
    is_ours,
    read,
    read_text,
)
from lossless.output.report.lint.text import paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.api import Options
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Span
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.text import Document


SOURCE = "lossless"
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


class FindingDiagnostic(NamedTuple):
    """A diagnostic of the protocol, and its finding; None for a problem of reading the file."""

    diagnostic: Diagnostic
    finding: Finding | None


class DiagnosticBuilder:
    """Turns findings and problems of a report into diagnostics; ``uris`` are the editor's URIs of open files."""

    def __init__(self, units: ColumnUnits, uris: Mapping[str, str]) -> None:
        self._units = units
        self._uris = uris

    def diagnostics(self, file: str, text: str, group: LintGroup) -> list[FindingDiagnostic]:
        """Return the diagnostics of an open file, problems of reading first."""
        report = group.report
        lines = Lines(text)
        problems = [
            FindingDiagnostic(self._of_problem(problem, lines), None)
            for problem in report.errors
            if problem.file == file
        ]
        findings = [finding for finding in report.findings if finding.origin.file == file]
        locations = Locations(report.documents, findings)
        return problems + [
            FindingDiagnostic(self._of_finding(finding, locations, group), finding) for finding in findings
        ]

    def uri(self, file: str) -> str:
        """Return the URI of a file."""
        return self._uris.get(file) or from_fs_path(file) or file

    def _of_problem(self, problem: Problem, lines: Lines) -> Diagnostic:
        place = self._units.word(lines, problem.line, problem.column)
        return Diagnostic(place, visible(problem.message), severity=DiagnosticSeverity.Error, source=SOURCE)

    def _of_finding(self, finding: Finding, locations: Locations, group: LintGroup) -> Diagnostic:
        page = _page(finding)
        return Diagnostic(
            self._range(finding.origin, locations, group),
            paragraphs(finding),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=CodeDescription(page) if page else None,
            source=SOURCE,
            related_information=list(self._related(finding, locations, group)) or None,
        )

    def _related(
        self, finding: Finding, locations: Locations, group: LintGroup
    ) -> Iterator[DiagnosticRelatedInformation]:
        for related in finding.related:
            place = self._range(related.origin, locations, group)
            location = Location(self.uri(related.origin.file), place)
            yield DiagnosticRelatedInformation(location, visible(related.message))

    def _range(self, origin: Origin, locations: Locations, group: LintGroup) -> Range:
        span = locations.span(origin)
        if span is None:
            return Range(Position(0, 0), Position(0, 0))
        return self._units.range(group.report.documents[origin.file], span)


def _page(finding: Finding) -> str | None:
    """Return the URI of a rule's page, as configured or in a checkout of lossless.

    None in an installation without pages: hovering shows the same text.
    """
    if finding.url:
        return finding.url
    page = Path(data_dir("profiles")).parent / "docs" / "rules" / f"{finding.code}.md"
    return page.as_uri() if page.is_file() else None


_LINE = re.compile(r"[^\r\n]++(?:\r\n?|\n)?|\r\n?|\n")


Texts = dict[str, tuple[str, str]]
"""The texts of files before and after a fix, by file name."""


def fix(finding: Finding, group: LintGroup, options: Options) -> Texts:
    """Return the texts that the fix of one finding changes; empty without a fix, or if it causes a warning or error."""
    return _fixed(group, options, lambda other: _key(other) == _key(finding), unsafe=True)


def fix_all(file: str, group: LintGroup, options: Options) -> Texts:
    """Return the text of a file before and after the safe fixes that change no other file; empty without any."""

    def only_here(finding: Finding) -> bool:
        return all(edit.origin.file == file for edit in finding.fix)

    return _fixed(group, options, only_here, unsafe=False)


def _key(finding: Finding) -> tuple[object, ...]:
    """Return the key by which a finding is recognized after an edit: code, origin and message."""
    return finding.code, finding.origin, finding.message


def _fixed(group: LintGroup, options: Options, chosen: Callable[[Finding], bool], *, unsafe: bool) -> Texts:
    before, findings = group.documents, group.report.findings
    after = fix_documents(before, findings, options, chosen=chosen, unsafe=unsafe)
    pairs = zip(before, after, strict=True)
    return {old.file: (old.text, new.text) for old, new in pairs if old.text != new.text}


def text_edits(before: str, after: str, units: ColumnUnits) -> list[TextEdit]:
    """Return the edits from one text to another, one for each block of changed lines, limited to its differing part."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    starts = [0, *accumulate(map(len, old))]
    edits = []
    for word, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if word != "equal":
            was, becomes = "".join(old[start:end]), "".join(new[new_start:new_end])
            same, tail = _same(was, becomes)
            first, last = starts[start] + same, starts[end] - tail
            place = Range(_position(old, starts, first, units), _position(old, starts, last, units))
            edits.append(TextEdit(place, becomes[same : len(becomes) - tail]))
    return edits


def _same(before: str, after: str) -> tuple[int, int]:
    """Return how many characters two texts share at their beginning, and then at their end."""
    head = _shared_start(before, after)
    return head, _shared_start(before[head:][::-1], after[head:][::-1])


def _shared_start(before: str, after: str) -> int:
    """Return how many characters two texts share at their beginning."""
    differing = (at for at, (left, right) in enumerate(zip(before, after, strict=False)) if left != right)
    return next(differing, min(len(before), len(after)))


def _position(lines: Sequence[str], starts: Sequence[int], offset: int, units: ColumnUnits) -> Position:
    """Return the position of an offset; for the end of a text with a final line break, the start of the next line."""
    line = bisect_right(starts, offset) - 1
    if line < len(lines):
        return Position(line, units.length(lines[line][: offset - starts[line]]))
    if not lines or lines[-1].endswith(("\n", "\r")):
        return Position(len(lines), 0)
    return Position(len(lines) - 1, units.length(lines[-1]))


_CODECS = {PositionEncodingKind.Utf8: ("utf-8", 1), PositionEncodingKind.Utf16: ("utf-16-le", 2)}
_WORD = re.compile(r""""[^"]*"|'[^']*'|[^\s,:{}\[\]"']+""")


class ColumnUnits:
    """The unit of a column: bytes of UTF-8, units of UTF-16 (unless agreed otherwise), or code points."""

    __slots__ = ("_codec", "_width")

    def __init__(self, encoding: str | None = None) -> None:
        wanted = PositionEncodingKind(encoding or PositionEncodingKind.Utf16)
        self._codec, self._width = _CODECS.get(wanted, ("", 1))

    def length(self, text: str) -> int:
        """Return the length of a text in these column units."""
        if not self._codec or text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width

    def column(self, line: str, character: int) -> int:
        """Return the code point, from 0, of a column in these units; at most the end of the line."""
        if not self._codec or line.isascii():
            return min(character, len(line))
        units = 0
        for at, letter in enumerate(line):
            if units >= character:
                return at
            units += self.length(letter)
        return len(line)

    def position(self, lines: Lines | DocumentView, line: int, column: int) -> Position:
        """Return the position of the protocol for a line and column from 1 in code points, as findings have them."""
        try:
            before = lines.line_text(line)[: column - 1]
        except IndexError:
            before = ""
        return Position(line - 1, self.length(before))

    def range(self, lines: Lines | DocumentView, span: Span) -> Range:
        """Return the range of the protocol for a span."""
        start = self.position(lines, span.line, span.column)
        return Range(start, self.position(lines, span.end_line, span.end_column))

    def word(self, lines: Lines, line: int | None, column: int | None) -> Range:
        """Return the range of the word at a line and column from 1; for None, a problem of the file, its first line."""
        if line is None:
            return Range(Position(0, 0), self.position(lines, 1, len(_line(lines, 1)) + 1))
        column = column or 1
        text = _line(lines, line)
        match = _WORD.match(text, column - 1)
        end = match.end() if match else min(column, len(text))
        return Range(self.position(lines, line, column), self.position(lines, line, end + 1))


def _line(lines: Lines, number: int) -> str:
    try:
        return lines.line_text(number)
    except IndexError:
        return ""


def meets(first: Range, second: Range) -> bool:
    """Return whether two ranges touch."""
    return _order(first.start) <= _order(second.end) and _order(second.start) <= _order(first.end)


def _order(position: Position) -> tuple[int, int]:
    return position.line, position.character


MOST_TOGETHER = 100
"""Most files of a folder that are checked with the open texts, about a second's work; else only the open ones are."""
_Signature = tuple[int, int, int]


class LintGroup(NamedTuple):
    """The files of one folder that were checked together, with their report, and the number of those left out."""

    documents: tuple[Document, ...]
    report: Report
    left_out: int = 0


class WorkspaceFiles:
    """Checks the files of the workspace folders; a file on disk is read again only when it has changed."""

    def __init__(self, options: Callable[[], Options]) -> None:
        self.options = options
        self._roots: tuple[str, ...] = ()
        self._candidates: dict[str, dict[str, Candidate]] = {}
        self._reads: dict[str, tuple[_Signature, Inputs]] = {}
        self._ours: set[str] = set()

    def search(self, roots: Sequence[str]) -> None:
        """Search the folders of a workspace for files to check."""
        self._roots = tuple(roots)
        options = self.options()
        self._candidates = {
            root: {os.path.realpath(each.file): each for each in candidates_below([root], options)}
            for root in self._roots
        }

    def lint(self, texts: Mapping[str, str]) -> dict[str, LintGroup]:
        """Check the editor's texts with the other files of their workspace folders; return the group of each text."""
        by_root: dict[str | None, list[str]] = {}
        for file in texts:
            by_root.setdefault(self._root(file), []).append(file)
        groups: dict[str, LintGroup] = {}
        for root, files in by_root.items():
            for together in [[file] for file in files] if root is None else [files]:
                group = self._group(root, {file: texts[file] for file in together})
                groups |= dict.fromkeys(together, group)
        return groups

    def is_ours(self, file: str, text: str) -> bool:
        """Return whether a text is an intent or a configuration, or its file had such a text before."""
        return file in self._ours or is_ours(file, text)

    def _group(self, root: str | None, texts: Mapping[str, str]) -> LintGroup:
        edited = [self._edited(file, text) for file, text in texts.items()]
        others = self._on_disk(root, {os.path.realpath(file) for file in texts})
        left_out = len(others) if len(others) > MOST_TOGETHER else 0
        documents = [document for inputs in edited for document in inputs.documents]
        if not left_out:
            documents += others
        problems = [problem for inputs in edited for problem in inputs.problems]
        return LintGroup(tuple(documents), lint_documents(documents, self.options(), problems), left_out)

    def _edited(self, file: str, text: str) -> Inputs:
        root = self._root(file)
        if root is not None and is_excluded(file, root, self.options()):
            return Inputs()
        inputs = read_text(file, text)
        if inputs.documents:
            self._ours.add(file)
        return inputs if inputs.documents or self._expected(file, text) else Inputs()

    def _expected(self, file: str, text: str) -> bool:
        known = self._candidates.get(self._root(file) or "", {}).get(os.path.realpath(file))
        return self.is_ours(file, text) or (known is not None and known.expected)

    def _root(self, file: str) -> str | None:
        """Return the innermost folder of the workspace that holds a file, None if none does."""
        holding = [root for root in self._roots if file.startswith(root.rstrip(os.sep) + os.sep)]
        return max(holding, key=len, default=None)

    def _on_disk(self, root: str | None, opened: set[str]) -> list[Document]:
        candidates = self._candidates.get(root or "", {})
        unopened = [candidate for name, candidate in candidates.items() if name not in opened]
        return [document for candidate in unopened for document in self._read(candidate).documents]

    def _read(self, candidate: Candidate) -> Inputs:
        try:
            status = Path(candidate.file).stat()
        except OSError:
            return Inputs()
        signature = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._reads.get(candidate.file)
        if known is None or known[0] != signature:
            known = self._reads[candidate.file] = (signature, read(candidate))
        return known[1]
