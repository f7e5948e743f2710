"""Suppressions in an intent, as comments: ``# lossless: ignore[WD001] -- why until=2026-12-31``.

The files of a subnet manager can have them too. One behind a key covers that line and everything
below that key; one on a line of its own covers the next line that has a key. A number sign inside a text
begins no comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from lossless.checks.lint.baseline import Suppression
from lossless.checks.lint.configuration.reader import iso_date
from lossless.checks.rules.selectors import codes_of, unknown
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.limits import SUPPRESSED_RULES
from lossless.ground.basics.wording import nearest
from lossless.ground.documents.marked_document import KnownPlaces
from lossless.ground.documents.text import Lines
from lossless.ground.documents.yaml.compose import YamlLocator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document
    from lossless.ground.documents.yaml.compose import YamlNode

_COMMENT = re.compile(r"(?:^|(?<=[ \t\r\n]))#[ \t]*lossless:")
_BREAK = re.compile(r"[\r\n]")
_DIRECTIVE = re.compile(r"([A-Za-z-]+)(?:[ \t]*\[([^\]]*)\])?(?:[ \t]*--[ \t]*(.*))?")
_WORD = re.compile(r"([A-Za-z-]+)(\[?)")
_UNTIL = re.compile(r"(?:^|(?<=[ \t]))until=(\S*)[ \t]*")
_LINE_END = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"[ \t]*(?:#.*)?")
_FORM = "# lossless: ignore[CODE] -- reason"


def has_marker(text: str) -> bool:
    """Return whether an intent can contain a suppression."""
    return _COMMENT.search(text) is not None


def in_comments(document: Document) -> tuple[list[Suppression], list[Problem]]:
    """Return the suppressions in the comments of an intent, and the problems of comments that are not understood."""
    reader = _CommentReader(document)
    return list(reader.suppressions()), sorted(reader.problems)


class _Places(Protocol):
    """The queries on a file's format: the key on a line, and whether a number sign is text."""

    def path_at(self, line: int) -> Path | None:
        """Return the outermost key on a line, None where there is none."""

    def is_text(self, offset: int) -> bool:
        """Return whether a number sign at an offset begins no comment."""


class _InYaml:
    def __init__(self, root: YamlNode, lines: Lines) -> None:
        self._paths: dict[int, Path] = {}
        self._lines = lines
        self._note(root, ())
        self._texts = sorted(_texts(root))

    def path_at(self, line: int) -> Path | None:
        return self._paths.get(line)

    def is_text(self, offset: int) -> bool:
        # Texts do not overlap: it is the last that begins at or before the offset, or none.
        number = bisect_right(self._texts, offset, key=itemgetter(0))
        return number > 0 and offset < self._texts[number - 1][1]

    def _note(self, node: YamlNode, path: Path) -> None:
        """Note on which line the keys of a node stand: a line belongs to its outermost key."""
        members = list(_members(node))
        for step, key, _ in members:
            self._paths.setdefault(self._lines.place(key.start)[0], (*path, step))
        for step, _, value in members:
            self._note(value, (*path, step))


class _InLines:
    """Files with a statement a line, in which a number sign always begins a comment."""

    def __init__(self, places: KnownPlaces, lines: Lines) -> None:
        self._paths = places.first_on_lines(lines)

    def path_at(self, line: int) -> Path | None:
        return self._paths.get(line)

    def is_text(self, _offset: int) -> bool:
        return False


def _places_of(document: Document, lines: Lines) -> _Places:
    if isinstance(document.locator, KnownPlaces):
        return _InLines(document.locator, lines)
    assert isinstance(document.locator, YamlLocator)
    return _InYaml(document.locator.node(()), lines)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each comment for lossless: up to the next one, or the end of the line."""
    matches = list(_COMMENT.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=True):
        line_end = _BREAK.search(text, match.end(), end)
        yield match.start(), text[match.end() : line_end.start() if line_end else end].strip(" \t")


class _CommentReader:
    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._lines = Lines(document.text)
        self._places = _places_of(document, self._lines)
        self._following: list[int | None] = []
        self._rules_named = 0

    def suppressions(self) -> Iterator[Suppression]:
        """Yield valid suppressions, and record a problem for each invalid one."""
        for start, comment in _comments(self._document.text):
            if self._is_meant(comment) and not self._places.is_text(start):
                yield from self._read(start, _DIRECTIVE.fullmatch(comment))
            if self._rules_named > SUPPRESSED_RULES:
                self._note(
                    start,
                    f"the comments of a file name at most {SUPPRESSED_RULES:,} rules; the rest is not read",
                )
                return

    def _is_meant(self, comment: str) -> bool:
        """Return whether a comment is for us; ``# lossless: v1`` is an intent's first line, commented out."""
        word = _WORD.match(comment)
        return word is not None and (word[2] == "[" or nearest(word[1], ["ignore"]) is not None)

    def _read(self, offset: int, directive: re.Match[str] | None) -> Iterator[Suppression]:
        line = self._target(offset)
        path = None if line is None else self._places.path_at(line)
        rules = self._rules(offset, directive)
        if directive is None or not rules:
            return
        reason, until = self._reason(offset, directive[3] or "")
        if line is None or path is None:
            self._note(offset, "this suppression stands at no key; put it behind a key, or on the line above")
        elif reason:
            origin = Origin(self._document.file, path, "key")
            yield Suppression(origin, rules, reason, until, line=line)

    def _rules(self, offset: int, directive: re.Match[str] | None) -> tuple[str, ...]:
        if directive is None or directive[1] != "ignore":
            self._note(offset, f"not a suppression as it is written; expected {_FORM}")
            return ()
        words = [word.strip() for word in (directive[2] or "").split(",") if word.strip()]
        self._rules_named += len(words)
        if self._rules_named > SUPPRESSED_RULES:
            return ()
        if not words:
            self._note(offset, f"this suppression names no rule; expected {_FORM}")
        for word in words:
            if not codes_of(word):
                self._note(offset, f"in a suppression: {unknown(word)}")
        return tuple(word for word in words if codes_of(word))

    def _reason(self, offset: int, comment: str) -> tuple[str, str]:
        """Return reason and last day; no reason where something in them has no meaning."""
        days = _UNTIL.findall(comment)
        reason = _UNTIL.sub("", comment).strip()
        if not reason:
            self._note(offset, f"this suppression has no reason; expected {_FORM}")
        dates = [iso_date(day) for day in days]
        if len(days) > 1 or None in dates:
            self._note(
                offset, f"until={days[-1]} is no date of its own; expected one such as until=2026-12-31"
            )
            return "", ""
        return reason, "".join(date for date in dates if date)

    def _target(self, offset: int) -> int | None:
        """Return the line that a comment covers, None if no line with a key follows."""
        line, column = self._lines.place(offset)
        if self._lines.line_text(line)[: column - 1].strip():
            return line
        return self._next(line + 1)

    def _next(self, line: int) -> int | None:
        """Return the first line from one on that holds more than a comment."""
        if not self._following:
            following = None
            texts = _LINE_END.split(self._document.text)
            for number in range(len(texts), 0, -1):
                following = following if _BLANK.fullmatch(texts[number - 1]) else number
                self._following.append(following)
            self._following.reverse()
        return self._following[line - 1] if line <= len(self._following) else None

    def _note(self, offset: int, message: str) -> None:
        self.problems.append(Problem(self._document.file, *self._lines.place(offset), message))


def _members(node: YamlNode) -> Iterator[tuple[str | int, YamlNode, YamlNode]]:
    """Yield the steps into a node with their keys and values; an alias has none, they are at its anchor."""
    if isinstance(node.children, dict):
        members = [(step, key, value) for step, (key, value) in node.children.items()]
    else:
        members = [(step, item, item) for step, item in enumerate(node.children or ())]
    yield from (member for member in members if node.start <= member[1].start < node.end)


def _texts(node: YamlNode) -> Iterator[tuple[int, int]]:
    """Yield where keys and values begin and end: a number sign in them begins no comment."""
    if node.children is None:
        yield node.start, node.end
    for _, key, value in _members(node):
        for part in (key,) if key is value else (key, value):
            yield from _texts(part)
