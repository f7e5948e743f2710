"""Explains mistakes in a JSON text for operators, with their places; imported only where one is suspected.

Offsets are zero-based; texts are walked token by token, so that the content of strings does not mislead.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING

from lossless.ground.documents.text import DuplicateKey, Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING = r'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*(?:"|\Z)'
_STRUCTURE = re.compile(_STRING + r"|[{}\[\],]", re.DOTALL)
_NUMBER = re.compile(_STRING + r"|NaN|-?Infinity|-?[0-9][0-9.eE+-]*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SPACES = " \t\n\r"
_FOREIGN_WORDS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "TRUE": "true",
    "FALSE": "false",
    "NULL": "null",
}
_REASONS = (
    (
        "Invalid control character",
        "a control character inside a string; write a line break as \\n, a tab as \\t",
    ),
    ("Invalid \\u", "\\u must be followed by four hexadecimal digits"),
    ("Invalid \\", "unknown escape inside a string; a backslash is written \\\\"),
    ("Unexpected UTF-8 BOM", "a second byte-order mark; remove it"),
    ("Extra data", "more text after the end of the JSON value; one file holds one object"),
    ("Expecting ':'", "expected ':' after this key"),
    ("Expecting ','", "expected ',' or the closing bracket; is a comma missing before this?"),
    ("Expecting property name", "expected a key in double quotes"),
    ("Expecting value", "expected a value"),
)


def explain(text: str, reason: str, offset: int) -> tuple[int, str]:
    """Return the offset and the description of a syntax error, from the standard library's reason and offset."""
    comma = _trailing_comma(text, reason, offset)
    if comma is not None:
        return comma, "a comma before the closing bracket; JSON allows none after the last entry"
    if reason.startswith("Unterminated string"):
        return offset, "this string is never closed by '\"'"
    if not text[offset:].strip(_SPACES):
        return len(text.rstrip(_SPACES)), "the file ends too early; is it cut off?"
    if reason.startswith("Invalid \\"):
        # Where inside the escape Python points differs between versions.
        offset = text.rindex("\\", 0, offset + 1)
    return offset, _foreign(text, reason, offset) or _plain_reason(reason)


def bad_number(text: str) -> tuple[int, str]:
    """Return the offset and the description of the first number that is not finite, or too long for Python.

    Raises:
        ValueError: there is no such number.
    """
    for match in _NUMBER.finditer(text):
        token = match[0]
        if token.endswith(("NaN", "Infinity")):
            return match.start(), f"{token} is not a number in JSON"
        if token[0] != '"' and not _is_representable(token):
            return match.start(), f"{token[:20]}{'...' * (len(token) > 20)} is too large a number"
    raise ValueError("every number in this text is representable")


def depth_exceeded(text: str, limit: int) -> int:
    """Return the offset of the first bracket that opens more than ``limit`` levels.

    Raises:
        ValueError: there is none.
    """
    depth = 0
    for match in _STRUCTURE.finditer(text):
        depth += (match[0] in "{[") - (match[0] in "}]")
        if depth > limit:
            return match.start()
    raise ValueError("this text is not nested that deep")


def lone_surrogate(text: str) -> int | None:
    """Return the offset of the first string that contains half of a surrogate pair, None without one."""
    for match in _STRUCTURE.finditer(text):
        if match[0][0] == '"':
            try:
                json.loads(match[0]).encode()
            except UnicodeEncodeError:
                return match.start()
    return None


def duplicates(text: str) -> Iterator[DuplicateKey]:
    """Yield every repetition of a key in a valid JSON text, in the order of the text."""
    lines = Lines(text)
    scopes: list[_Scope] = []
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token in "{[":
            scopes.append(_Scope(is_object=token == "{"))
        elif token in "}]":
            scopes.pop()
        elif token == ",":
            scopes[-1].advance()
        elif scopes[-1].expects_key:
            first = scopes[-1].enter(json.loads(token), match.start())
            if first is not None:
                path = tuple(scope.key for scope in scopes)
                yield DuplicateKey(path, *lines.place(match.start()), lines.place(first)[0])


class _Scope:
    """One open object or list: the current key or index, and the first occurrence of each key."""

    __slots__ = ("_first", "expects_key", "is_object", "key")

    def __init__(self, is_object: bool) -> None:
        self.is_object = self.expects_key = is_object
        self.key: str | int = 0
        self._first: dict[str, int] = {}

    def advance(self) -> None:
        """Move past a comma."""
        self.expects_key = self.is_object
        if not self.is_object and isinstance(self.key, int):
            self.key += 1

    def enter(self, key: str, offset: int) -> int | None:
        """Move past a key; return the offset of its first occurrence, None for a new key."""
        self.key, self.expects_key = key, False
        first = self._first.setdefault(key, offset)
        return None if first == offset else first


def _trailing_comma(text: str, reason: str, offset: int) -> int | None:
    # Python 3.13 names this mistake and points at the comma, earlier versions point behind it.
    if reason.startswith("Illegal trailing comma"):
        return offset
    before = text[:offset].rstrip(_SPACES)
    return len(before) - 1 if before.endswith(",") and text[offset : offset + 1] in ("}", "]") else None


def _foreign(text: str, reason: str, offset: int) -> str | None:
    if text.startswith(("//", "/*", "#"), offset):
        return "JSON has no comments"
    if text[offset] == "'":
        return "single quotes; JSON takes double quotes"
    word = _WORD.match(text, offset)
    if word and reason.startswith("Expecting value"):
        meant = _FOREIGN_WORDS.get(word[0])
        return f"{word[0]} is not a JSON value; write {meant}" if meant else f"{word[0]} needs double quotes"
    if word and reason.startswith("Expecting property name"):
        return f"key {word[0]} needs double quotes"
    return None


def _plain_reason(reason: str) -> str:
    for start, message in _REASONS:
        if reason.startswith(start):
            return message
    return f"not valid JSON: {reason}"


def _is_representable(literal: str) -> bool:
    try:
        # An integer has no largest value in Python, only a longest notation.
        return bool(literal.lstrip("-").isdigit() and literal == str(int(literal))) or isfinite(
            float(literal)
        )
    except ValueError:
        return False
