"""A backtracking matcher that counts its steps: what the analysis of automata is compared with.

It reads the same parse trees as Python's matcher and tries the same paths in the same order, one character at a time.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from tests.patterns.automaton import Use

_parser: Any = importlib.import_module("re._parser")
_C: Any = importlib.import_module("re._constants")

Then = Callable[[int], bool]


class TooManyStepsError(Exception):
    """A match takes more steps than are counted."""


class Matcher:
    """One pattern on one text."""

    def __init__(self, pattern: str, text: str, most: int) -> None:
        self._items = _parser.parse(pattern)
        self._text = text
        self._most = most
        self.steps = 0

    def run(self, use: Use) -> list[tuple[int, int]]:
        """Return the spans of all matches.

        Raises:
            TooManyStepsError: the limit is reached first.
        """
        found: list[tuple[int, int]] = []
        at, size = 0, len(self._text)
        while at <= size:
            ends: list[int] = []

            def done(end: int, ends: list[int] = ends) -> bool:
                if use is Use.FULLMATCH and end != size:
                    return False
                ends.append(end)
                return True

            self._sequence(self._items, 0, at, done)
            if ends:
                found.append((at, ends[0]))
            if use in (Use.MATCH, Use.FULLMATCH) or (ends and use is Use.SEARCH):
                break
            at = max(ends[0], at + 1) if ends else at + 1
        return found

    def _sequence(self, items: Any, index: int, at: int, then: Then) -> bool:
        if index == len(items):
            return then(at)
        return self._item(items[index], at, lambda end: self._sequence(items, index + 1, end, then))

    def _item(self, item: Any, at: int, then: Then) -> bool:
        self.steps += 1
        if self.steps > self._most:
            raise TooManyStepsError
        op, value = item
        if op is _C.SUBPATTERN:
            return self._sequence(value[3], 0, at, then)
        if op is _C.BRANCH:
            return any(self._sequence(branch, 0, at, then) for branch in value[1])
        if op in (_C.MAX_REPEAT, _C.MIN_REPEAT):
            return self._repeat(value, at, then, greedy=op is _C.MAX_REPEAT)
        if op in (_C.ATOMIC_GROUP, _C.POSSESSIVE_REPEAT, _C.ASSERT, _C.ASSERT_NOT):
            return self._scope(op, value, at, then)
        if op is _C.AT:
            return self._anchored(value, at) and then(at)
        return at < len(self._text) and _takes(item, self._text[at]) and then(at + 1)

    def _repeat(self, value: Any, at: int, then: Then, *, greedy: bool) -> bool:
        low, high, body = value

        def pass_on(count: int, begun: int, here: int) -> bool:
            def more() -> bool:
                if count >= high or (count >= low and here == begun and count):
                    return False
                return self._sequence(body, 0, here, lambda end: pass_on(count + 1, here, end))

            if count < low:
                return more()
            return (more() or then(here)) if greedy else (then(here) or more())

        return pass_on(0, -1, at)

    def _scope(self, op: Any, value: Any, at: int, then: Then) -> bool:
        """Match what is matched once: the first path through it counts."""
        ends: list[int] = []

        def end(here: int) -> bool:
            ends.append(here)
            return True

        if op is _C.POSSESSIVE_REPEAT:
            self._repeat(value, at, end, greedy=True)
        elif op is _C.ATOMIC_GROUP:
            self._sequence(value, 0, at, end)
        elif value[0] > 0:
            self._sequence(value[1], 0, at, end)
        elif (start := at - value[1].getwidth()[0]) >= 0:
            self._sequence(value[1], 0, start, end)
        if op is _C.ASSERT_NOT:
            return not ends and then(at)
        return bool(ends) and then(at if op is _C.ASSERT else ends[0])

    def _anchored(self, code: Any, at: int) -> bool:
        text = self._text
        if code in (_C.AT_BEGINNING, _C.AT_BEGINNING_STRING):
            return at == 0
        if code is _C.AT_END:
            return at == len(text) or text[at:] == "\n"
        if code is _C.AT_END_STRING:
            return at == len(text)
        is_edge = _is_word(text[at - 1 : at]) != _is_word(text[at : at + 1])
        return is_edge == (code is _C.AT_BOUNDARY)


def _is_word(letter: str) -> bool:
    return re.fullmatch(r"\w", letter) is not None


_CATEGORIES = {
    f"CATEGORY_{negated}{name}": letter.upper() if negated else letter
    for name, letter in (("WORD", r"\w"), ("DIGIT", r"\d"), ("SPACE", r"\s"))
    for negated in ("", "NOT_")
}


def _takes(item: Any, letter: str) -> bool:
    """Return whether one item of a parse tree takes a character."""
    op, value = item
    if op is _C.ANY:
        return letter != "\n"
    if op is _C.IN:
        negated = value[0][0] is _C.NEGATE
        return negated != any(_takes(part, letter) for part in value[negated:])
    if op is _C.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if op is _C.CATEGORY:
        return re.fullmatch(_CATEGORIES[str(value)], letter) is not None
    return bool((ord(letter) == value) == (op is _C.LITERAL))


MOST = 60_000


def steps(pattern: str, text: str, use: Use, most: int = MOST) -> int:
    """Return the number of steps of a pattern on a text, at most a limit."""
    matcher = Matcher(pattern, text, most)
    deepest = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        matcher.run(use)
    except TooManyStepsError:
        return most
    finally:
        sys.setrecursionlimit(deepest)
    return matcher.steps


def grows(pattern: str, before: str, repeated: str, after: str, use: Use) -> bool:
    """Return whether the steps for a text that is repeated grow faster than their number: by second differences.

    Bounds of a small pattern are behind it after 24 turns, and it spends fewer than 100 steps on both ends of a text.
    """

    def of_turns(turns: int) -> int:
        return steps(pattern, before + repeated * turns + after, use)

    more = of_turns(72)
    # An exponential pattern comes to the limit on each of the texts.
    return more == MOST or more - 2 * of_turns(48) + of_turns(24) > 100
