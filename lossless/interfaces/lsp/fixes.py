"""Fixes of findings as minimal edits of an editor's text."""

from __future__ import annotations

import re
from bisect import bisect_right
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from lsprotocol.types import Position, Range, TextEdit

from lossless.interfaces.api.baseline import fix_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lossless.api import Options
    from lossless.ground.basics.findings import Finding
    from lossless.interfaces.lsp.positions import ColumnUnits
    from lossless.interfaces.lsp.workspace import LintGroup

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


Texts = dict[str, tuple[str, str]]
"""Files by name, each with its text before and after."""


def fix(finding: Finding, group: LintGroup, options: Options) -> Texts:
    """Return the fixed texts for one finding; empty if it has no fix, or if the fix would cause another finding."""
    return _fixed(group, options, lambda other: _key(other) == _key(finding), unsafe=True)


def fix_all(file: str, group: LintGroup, options: Options) -> Texts:
    """Return the text of a file after all safe fixes, except those that change other files as well."""

    def only_here(finding: Finding) -> bool:
        return all(edit.origin.file == file for edit in finding.fix)

    return _fixed(group, options, only_here, unsafe=False)


def _key(finding: Finding) -> tuple[object, ...]:
    """Return the identity of a finding before and after an edit."""
    return finding.code, finding.origin, finding.message


def _fixed(group: LintGroup, options: Options, chosen: Callable[[Finding], bool], *, unsafe: bool) -> Texts:
    before, findings = group.documents, group.report.findings
    after = fix_documents(before, findings, options, chosen=chosen, unsafe=unsafe)
    pairs = zip(before, after, strict=True)
    return {old.file: (old.text, new.text) for old, new in pairs if old.text != new.text}


def text_edits(before: str, after: str, units: ColumnUnits) -> list[TextEdit]:
    """Return the edits from one text to another: line by line, limited to the differing part of a line."""
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
    """Return the place of an offset; the end of the text is at the end of its last line, or on the line after."""
    line = bisect_right(starts, offset) - 1
    if line < len(lines):
        return Position(line, units.length(lines[line][: offset - starts[line]]))
    if not lines or lines[-1].endswith(("\n", "\r")):
        return Position(len(lines), 0)
    return Position(len(lines) - 1, units.length(lines[-1]))
