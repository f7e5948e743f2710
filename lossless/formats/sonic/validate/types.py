"""Types of CONFIG_DB values: the values that SONiC's models accept for a field or the part of a key.

``profiles/sonic/schema.json`` writes a type as a line of words: ``uint32 100..5000``, ``enum drop forward``, ``text
1..32``, ``ref PORT``, the name of one of its patterns, or several of them with ``|`` between, and ``list of`` before
them for a field that holds several values.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Reference = tuple[str, str]
"""A table, and the row of it that a value names."""

_MOST_WORDS = 12
_MOST_CHARACTERS = 64
_MOST_GOOD = 1024
_LARGEST = 2**64 - 1


class Alternative(NamedTuple):
    """One of the alternatives that satisfy a type."""

    kind: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    name: str = ""
    means: str = ""

    def accepts(self, text: str) -> bool:
        """Return whether a text meets this arm; a reference meets it by its form alone."""
        if self.kind == "enum":
            return text in self.words
        if self.kind == "number":
            number = whole(text)
            return number is not None and self.low <= number <= self.high
        if self.kind == "pattern":
            return re.fullmatch(self.name, text) is not None
        return self.kind == "ref" or self.low <= len(text) <= self.high


class ValueType:
    """The accepted values; ``many`` if the value is a list, or text with commas.

    Valid texts are remembered, up to a limit: most fields have few values in a fabric.
    """

    __slots__ = ("_good", "arms", "many")

    def __init__(self, arms: tuple[Alternative, ...], many: bool) -> None:
        self.arms = arms
        self.many = many
        self._good: dict[str, tuple[Reference, ...]] = {}

    @property
    def one(self) -> str:
        """The accepted single values, as messages show them."""
        return " or ".join(arm.means for arm in self.arms)

    @property
    def means(self) -> str:
        """The accepted values, as messages show them."""
        return f"a list of {self.one}" if self.many else self.one

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are allowed, empty where it is not a choice of words."""
        return tuple(word for arm in self.arms for word in arm.words)

    def references(self, text: str) -> tuple[Reference, ...] | None:
        """Return the rows that a text must name, empty if it refers to no row; None if it is refused."""
        references = self._good.get(text)
        if references is None:
            references = self._checked(text)
            if references is not None and len(self._good) < _MOST_GOOD:
                self._good[text] = references
        return references

    def _checked(self, text: str) -> tuple[Reference, ...] | None:
        named = None
        for arm in self.arms:
            if arm.kind == "ref":
                named = ((arm.name, text),)
            elif arm.accepts(text):
                return ()
        return named


def whole(text: str) -> int | None:
    """Return a number as the models read it, None if the text is no number."""
    if len(text) > _MOST_CHARACTERS:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def texts(value: object, many: bool) -> list[str] | None:
    """Return the texts that the models see in a JSON value; None for an object, or a list where one value is due.

    Between two commas, and before or after one, nothing may stand (sonic-buildimage src/sonic-yang-mgmt
    sonic_yang_ext.py @086b03b, tried).
    """
    if isinstance(value, dict):
        return None
    if isinstance(value, list):
        return [str(item) for item in value] if many else None
    return [item for text in str(value).split(",") if (item := text.strip())] if many else [str(value)]


@lru_cache(maxsize=1024)
def parsed(line: str, patterns: PatternTable) -> ValueType:
    """Return the type that a line of the schema means."""
    bare = line.removeprefix("list of ")
    return ValueType(tuple(_arm(arm.split(), patterns) for arm in bare.split(" | ")), bare != line)


class PatternTable:
    """The named patterns of a schema: one object a schema, so that parsed types are kept by its identity."""

    def __init__(self, patterns: Mapping[str, Mapping[str, str]]) -> None:
        self.patterns = patterns


def _arm(words: list[str], patterns: PatternTable) -> Alternative:
    kind, *rest = words
    if kind == "enum":
        return Alternative("enum", words=tuple(rest), means=_choice(rest))
    if kind == "ref":
        return Alternative("ref", name=rest[0], means=f"the name of a row of {rest[0]}")
    if kind == "text":
        low, high = _bounds(rest[0]) if rest else (0, 1 << 30)
        return Alternative("text", low, high, means=f"{low} to {high} characters" if rest else "text")
    if "int" in kind:
        low, high = _bounds(rest[0]) if rest else _width(kind)
        return Alternative("number", low, high, means=_range(low, high))
    return Alternative(
        "pattern", name=patterns.patterns[kind]["pattern"], means=patterns.patterns[kind]["means"]
    )


def _bounds(text: str) -> tuple[int, int]:
    low, _, high = text.partition("..")
    return int(low), int(high)


def _width(kind: str) -> tuple[int, int]:
    bits = int(kind.lstrip("uint"))
    return (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _range(low: int, high: int) -> str:
    if high == _LARGEST:
        return f"a whole number of {low} or more"
    return f"a whole number from {low:,} to {high:,}"


def _choice(words: list[str]) -> str:
    if len(words) > _MOST_WORDS:
        return f"one of {len(words)} words such as {', '.join(words[:4])}"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
