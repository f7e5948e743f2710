"""Patterns for files and objects, as in .gitignore: a pattern that matches a name covers everything below it too.

``*`` and ``?`` stay within one part, ``**`` goes over any number of them, ``[0-3]`` is one character of a set.

A pattern is matched in one pass over the name, all alternatives at once, each a bit of a number (bit-parallel
simulation of the automaton, as in Baeza-Yates and Gonnet, "A new approach to text searching", CACM 35(10), 1992): no
pattern makes the time more than proportional to the name.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path

_TOKEN = re.compile(r"\*\*|\*|\?|\[!?[^\[\]]+\]|.", re.DOTALL)


def fits_file(pattern: str, file: str, *, whole: bool = False) -> bool:
    """Return whether a pattern matches a file, or a folder that it is in; ``whole``: the file itself alone.

    The file is relative to the folder of the pattern. A pattern without a slash matches that name at any depth.
    """
    named = pattern.removeprefix("./").rstrip("/")
    anchored = named.lstrip("/") if "/" in named else f"**/{named}"
    return _glob(anchored, "/").fits(file, whole=whole)


def fits_object(pattern: str, path: Path, form: str) -> bool:
    """Return whether a pattern matches the object at a path, or one that contains it.

    ``form`` is the notation of objects: ``config_db``, ``intent`` or ``commands``.
    """
    separator = "." if form == "intent" else "|"
    return _glob(pattern, separator).fits(separator.join(map(str, path)))


@cache
def _glob(pattern: str, separator: str) -> _Glob:
    return _Glob(pattern, separator)


class _Glob:
    """A pattern as an automaton: bit *n* is set when *n* tokens have matched."""

    def __init__(self, pattern: str, separator: str) -> None:
        self._separator = separator
        self._tokens = _tokens(pattern)
        self._end = 1 << len(self._tokens)
        self._within = self._bits("*")
        self._across = self._bits("**")
        # Any number of parts, also none: a/**/b is a/b too.
        self._skipped = self._across & (self._bits(separator) >> 1)
        self._next: dict[str, int] = {}

    def fits(self, name: str, *, whole: bool = False) -> bool:
        """Return whether the pattern matches a name, or, unless ``whole``, a part that it begins with."""
        reached = self._entered(1)
        for char in name:
            if not whole and reached & self._end and char == self._separator:
                return True
            staying = self._across if char == self._separator else self._across | self._within
            kept = reached & staying
            reached = self._entered((reached & self._taking(char)) << 1) | kept | kept << 1
            if not reached:
                return False
        return bool(reached & self._end)

    def _entered(self, reached: int) -> int:
        """Return the states reached if stars at the current states match the empty string."""
        stars = self._across | self._within
        while True:
            further = reached | (reached & stars) << 1 | (reached & self._skipped) << 2
            if further == reached:
                return reached
            reached = further

    def _taking(self, char: str) -> int:
        """Return the tokens that match one character."""
        if char not in self._next:
            self._next[char] = sum(
                1 << number for number, token in enumerate(self._tokens) if self._takes(token, char)
            )
        return self._next[char]

    def _takes(self, token: str, char: str) -> bool:
        if token == "?":
            return char != self._separator
        members = _set(token)
        return token == char if members is None else members.fullmatch(char) is not None

    def _bits(self, wanted: str) -> int:
        return sum(1 << number for number, token in enumerate(self._tokens) if token == wanted)


def _tokens(pattern: str) -> list[str]:
    """Return the tokens of a pattern; an invalid set, such as ``[z-a]``, stands for its characters."""
    tokens: list[str] = []
    for token in _TOKEN.findall(pattern):
        if token.startswith("*") and tokens and tokens[-1].startswith("*"):
            tokens[-1] = max(token, tokens[-1])
        elif len(token) > 1 and token.startswith("[") and _set(token) is None:
            tokens += token
        else:
            tokens.append(token)
    return tokens


@cache
def _set(token: str) -> re.Pattern[str] | None:
    """Return the regular expression for a set of characters, None for an invalid set."""
    if len(token) < 2 or not token.startswith("["):
        return None
    try:
        return re.compile(token.replace("\\", "\\\\").replace("[!", "[^"), re.DOTALL)
    except re.error:
        return None
