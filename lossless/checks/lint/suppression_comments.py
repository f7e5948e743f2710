"""Suppressions that stand in an intent, as comments: ``# lossless: ignore[WD001] -- why until=2026-12-31``.

The files of a subnet manager can have them too. One behind a key is about what stands on that line and everything
below that key; one on a line of its own is about the next line that has a key. What looks like a comment inside a text
is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from lossless.checks.lint.configuration.values import iso_date
from lossless.checks.lint.suppressions import Suppression
from lossless.checks.rules.selectors import codes_of, unknown
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.nearest import nearest
from lossless.ground.documents.marked_document import KnownPlaces
from lossless.ground.documents.text import Lines
from lossless.ground.documents.yaml.document import YamlLocator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.yaml.compose import YamlNode

_COMMENT = re.compile(
    r"(?:^|(?<=[ \t\r\n]))#[ \t]*lossless:[ \t]*([^\r\n]*?)(?=[ \t]+#[ \t]*lossless:|[ \t]*(?:[\r\n]|\Z))"
)
_DIRECTIVE = re.compile(r"([A-Za-z-]+)[ \t]*(?:\[([^\]]*)\])?[ \t]*(?:--[ \t]*(.*))?")
_WORD = re.compile(r"([A-Za-z-]+)(\[?)")
_UNTIL = re.compile(r"(?:^|(?<=[ \t]))until=(\S*)[ \t]*")
_BLANK = re.compile(r"[ \t]*(?:#.*)?")
_FORM = "# lossless: ignore[CODE] -- reason"


def has_marker(text: str) -> bool:
    """Return whether an intent can hold a suppression."""
    return _COMMENT.search(text) is not None


def in_comments(document: Document) -> tuple[list[Suppression], list[Problem]]:
    """Return the suppressions in the comments of an intent, and those that say nothing we know."""
    reader = _CommentReader(document)
    return list(reader.suppressions()), sorted(reader.problems)


class _Places(Protocol):
    """What is asked of a file's form: where it has keys, and what in it is no comment."""

    def path_at(self, line: int, lines: Lines) -> Path | None:
        """Return the outermost key that stands on a line, None where none does."""

    def is_text(self, offset: int) -> bool:
        """Return whether a number sign at an offset begins no comment."""


class _InYaml:
    def __init__(self, locator: YamlLocator) -> None:
        self._root = locator.node(())

    def path_at(self, line: int, lines: Lines) -> Path | None:
        return _path_at(self._root, line, lines)

    def is_text(self, offset: int) -> bool:
        return _is_text(self._root, offset)


class _InLines:
    """Files with a statement a line, in which a number sign always begins a comment."""

    def __init__(self, locator: KnownPlaces) -> None:
        self._locator = locator

    def path_at(self, line: int, lines: Lines) -> Path | None:
        return self._locator.first_on(line, lines)

    def is_text(self, _offset: int) -> bool:
        return False


def _places_of(document: Document) -> _Places:
    if isinstance(document.locator, KnownPlaces):
        return _InLines(document.locator)
    assert isinstance(document.locator, YamlLocator)
    return _InYaml(document.locator)


class _CommentReader:
    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._places = _places_of(document)
        self._lines = Lines(document.text)

    def suppressions(self) -> Iterator[Suppression]:
        """Yield what is understood, note what is not."""
        for match in _COMMENT.finditer(self._document.text):
            directive = _DIRECTIVE.fullmatch(match[1])
            if self._is_meant(match[1]) and not self._places.is_text(match.start()):
                yield from self._read(match.start(), directive)

    def _is_meant(self, comment: str) -> bool:
        """Return whether a comment is for us; ``# lossless: v1`` is an intent's first line, commented out."""
        word = _WORD.match(comment)
        return word is not None and (word[2] == "[" or nearest(word[1], ["ignore"]) is not None)

    def _read(self, offset: int, directive: re.Match[str] | None) -> Iterator[Suppression]:
        line = self._target(offset)
        path = None if line is None else self._places.path_at(line, self._lines)
        rules = self._rules(offset, directive)
        if directive is None or not rules:
            return
        reason, until = self._reason(offset, directive[3] or "")
        if line is None or path is None:
            self._note(offset, "this suppression stands at no key; put it behind a key, or on the line above")
        elif reason:
            origin = Origin(self._document.file, path, "key")
            yield Suppression(origin, rules, reason, until, _covering(self._document, line))

    def _rules(self, offset: int, directive: re.Match[str] | None) -> tuple[str, ...]:
        if directive is None or directive[1] != "ignore":
            self._note(offset, f"not a suppression as it is written; expected {_FORM}")
            return ()
        words = [word.strip() for word in (directive[2] or "").split(",") if word.strip()]
        if not words:
            self._note(offset, f"this suppression names no rule; expected {_FORM}")
        for word in words:
            if not codes_of(word):
                self._note(offset, f"{unknown(word, nearest)} (in a suppression)")
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
        """Return the line that a comment is about, None where it stands below everything."""
        line, column = self._lines.place(offset)
        if self._lines.line_text(line)[: column - 1].strip():
            return line
        while True:
            line += 1
            try:
                text = self._lines.line_text(line)
            except IndexError:
                return None
            if _BLANK.fullmatch(text) is None:
                return line

    def _note(self, offset: int, message: str) -> None:
        self.problems.append(Problem(self._document.file, *self._lines.place(offset), message))


def _covering(document: Document, line: int) -> Callable[[Origin, str], bool]:
    """Return what says whether something stands on a line, or below a key that does."""

    def covers(origin: Origin, _form: str) -> bool:
        if origin.file != document.file:
            return False
        path = origin.path
        prefixes = [path[:length] for length in range(1, len(path) + 1)] or [path]
        return any(span.line == line for span in document.locate_many(prefixes, "key").values())

    return covers


def _is_text(node: YamlNode, offset: int) -> bool:
    """Return whether an offset is inside a key or a value, where a number sign begins no comment."""
    while True:
        inner = next((child for child in _parts(node) if child.start <= offset < child.end), None)
        if inner is None or inner.children is None:
            return inner is not None
        node = inner


def _parts(node: YamlNode) -> Iterator[YamlNode]:
    if isinstance(node.children, dict):
        for key, value in node.children.values():
            yield key
            yield value
    elif node.children is not None:
        yield from node.children


def _path_at(node: YamlNode, line: int, lines: Lines) -> Path | None:
    """Return the outermost key that stands on a line, None where none does."""
    if isinstance(node.children, dict):
        members = [(step, key, value) for step, (key, value) in node.children.items()]
    else:
        members = [(step, item, item) for step, item in enumerate(node.children or ())]
    for step, key, _ in members:
        if lines.place(key.start)[0] == line:
            return (step,)
    for step, _, value in members:
        if lines.place(value.start)[0] <= line <= lines.place(value.end)[0]:
            below = _path_at(value, line, lines)
            if below is not None:
                return (step, *below)
    return None
