"""The automaton of a regular expression, as Python's own parser reads it and its matcher walks it.

A position is a place of the pattern that takes one character. What follows it is a list of moves in the order in
which the matcher tries them; two paths to one position are two moves. A scope is the body of an atomic group, of a
possessive quantifier or of a lookaround: once it has matched, the matcher tries no other path through it.

Sets of characters are bits of representatives: all of ASCII, and of the rest one for each kind that the pattern
tells apart. One more bit is the edge of the text.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NamedTuple

# Their names are private, and the public ones of before 3.11 warn.
_parser: Any = importlib.import_module("re._parser")
_compiler: Any = importlib.import_module("re._compiler")
_C: Any = importlib.import_module("re._constants")

EXIT = -1
"""The target of a move that leaves the pattern, or the part of it that is being built."""
MOST_COPIES = 128
"""A repetition that is bounded by more counts as one without a bound: the square of 128 is a constant to live with."""
_KINDS = "\x1c\x85\u0660\u2003\u212a\u00b5\u00e9\u0130\u4e00\U0001f600"
"""Characters beyond ASCII: a separator, blanks, a digit, letters with and without a fellow in ASCII, an emoji."""


class UnknownConstruct(ValueError):  # noqa: N818
    """A pattern has a construct that the analysis does not know."""


class Move(NamedTuple):
    """One path on: to a position or out, on condition of the characters before and after the place."""

    target: int
    before: int
    after: int
    sure: bool = True
    """Whether nothing but these characters decides that the matcher gets there."""
    leaves: frozenset[int] = frozenset()
    """The scopes that end on the path."""


Moves = tuple[Move, ...]


class Fragment(NamedTuple):
    """A part of a pattern: the moves into it (and past it, where it may be empty), and those after each position."""

    entry: Moves
    follow: dict[int, Moves]


class Automaton(NamedTuple):
    """The positions of a pattern, each with its characters, its scopes from the outside, and the moves after it."""

    letters: str | bytes
    masks: list[int]
    scopes: list[tuple[int, ...]]
    entry: Moves
    follow: dict[int, Moves]
    certain: dict[int, frozenset[int]]
    """By scope (0: the pattern) the positions from which it matches whatever follows."""

    @property
    def edge(self) -> int:
        """The bit of the edge of the text."""
        return 1 << len(self.letters)

    @property
    def full(self) -> int:
        """Every character, and the edge of the text."""
        return (self.edge << 1) - 1


class Use(Enum):
    """How a pattern meets a text."""

    MATCH = "match"
    FULLMATCH = "fullmatch"
    SEARCH = "search"
    SCAN = "scan"
    """Again and again up to the end: finditer, findall, sub, split, or match at a place that moves."""


def automaton_of(pattern: str | bytes, flags: int, use: Use, most_copies: int = MOST_COPIES) -> Automaton:
    """Return the automaton of a pattern as compiled, and as used: a search tries it at each place of the text."""
    parsed = _parser.parse(pattern, flags)
    builder = _Builder(parsed.state.flags, _letters(parsed, isinstance(pattern, bytes)), most_copies)
    body = builder.sequence(parsed, parsed.state.flags)
    if use is Use.FULLMATCH:
        body = builder.joined(body, Fragment((builder.move(after=builder.edge),), {}))
    elif use in (Use.SEARCH, Use.SCAN):
        body = builder.searched(body, again=use is Use.SCAN)
    body = builder.without_dead_moves(0, body)
    return Automaton(builder.letters, builder.masks, builder.scopes, body.entry, body.follow, builder.certain)


def _letters(parsed: Any, binary: bool) -> str | bytes:
    """Return characters that stand for all that the pattern tells apart."""
    if binary:
        return bytes(range(256))
    points = {*range(128), *map(ord, _KINDS)}
    for low, high in _ranges(parsed):
        points |= {low, high, max(low - 1, 0), min(high + 1, 0x10FFFF)}
    return "".join(chr(point) for point in sorted(points) if not 0xD800 <= point < 0xE000)


def _ranges(node: Any) -> Iterator[tuple[int, int]]:
    """Yield the ranges of characters that a parse tree names."""
    if isinstance(node, tuple) and len(node) == 2 and node[0] in (_C.LITERAL, _C.NOT_LITERAL):
        yield node[1], node[1]
    elif isinstance(node, tuple) and len(node) == 2 and node[0] is _C.RANGE:
        yield node[1]
    elif isinstance(node, list | tuple | _parser.SubPattern):
        for part in node:
            yield from _ranges(part)


def _matched(letters: str | bytes, item: Any, flags: int) -> int:
    """Return the representatives that one character of a pattern matches, by the matcher itself."""
    key = (letters, repr(item), flags)
    if key not in _MATCHED:
        state = _parser.State()
        state.flags, state.str = flags, letters
        one = _compiler.compile(_parser.SubPattern(state, [item]), flags).fullmatch
        parts = [letters[at : at + 1] for at in range(len(letters))]
        _MATCHED[key] = sum(1 << at for at, letter in enumerate(parts) if one(letter) is not None)
    return _MATCHED[key]


_MATCHED: dict[tuple[str | bytes, str, int], int] = {}


class _Builder:
    """Makes positions and moves of a parse tree, from the inside out."""

    def __init__(self, flags: int, letters: str | bytes, most_copies: int) -> None:
        self.letters = letters
        self.most_copies = most_copies
        self.edge = 1 << len(letters)
        self.full = (self.edge << 1) - 1
        self.text_flags = flags & (re.ASCII | re.UNICODE | re.LOCALE)
        self.masks: list[int] = []
        self.scopes: list[tuple[int, ...]] = []
        self.certain: dict[int, frozenset[int]] = {}
        self._exits: dict[tuple[int, int], int] = {}
        """By scope and position the characters before which the scope ends there."""
        self._looking: set[int] = set()
        """Scopes of lookarounds: nothing follows them."""
        self._last_scope = 0
        self._restart = EXIT - 1
        """The position that takes characters before a further match: the move to it is never dead."""

    def searched(self, body: Fragment, *, again: bool) -> Fragment:
        """Return a pattern that may begin after any number of characters, ``again``: also after it matched."""
        if again:
            self._restart = len(self.masks)
        return self.joined(self._loop(self._character(self.edge - 1), greedy=False, at_least_one=False), body)

    def move(self, target: int = EXIT, *, before: int = -1, after: int = -1, sure: bool = True) -> Move:
        return Move(target, before & self.full, after & self.full, sure)

    def mask(self, item: Any, flags: int) -> int:
        kept = flags & (re.IGNORECASE | re.DOTALL) | self.text_flags
        return _matched(self.letters, item, int(kept))

    def sequence(self, items: Any, flags: int) -> Fragment:
        made = Fragment((self.move(),), {})
        for item in items:
            made = self.joined(made, self.part(item, flags))
        return made

    def part(self, item: Any, flags: int) -> Fragment:
        """Return the fragment of one item of a parse tree."""
        op, value = item
        if op in (_C.LITERAL, _C.NOT_LITERAL, _C.IN, _C.ANY):
            return self._character(self.mask(item, flags))
        if op is _C.BRANCH:
            parts = [self.sequence(branch, flags) for branch in value[1]]
            entry = tuple(move for part in parts for move in part.entry)
            return Fragment(_few(entry), {at: moves for part in parts for at, moves in part.follow.items()})
        if op is _C.SUBPATTERN:
            _, added, removed, body = value
            return self.sequence(body, (flags | added) & ~removed)
        if op is _C.ATOMIC_GROUP:
            return self._atomic(self.sequence(value, flags))
        if op in (_C.MAX_REPEAT, _C.MIN_REPEAT, _C.POSSESSIVE_REPEAT):
            low, high, body = value
            made = self._repeated(lambda: self.sequence(body, flags), low, high, op is not _C.MIN_REPEAT)
            return self._atomic(made) if op is _C.POSSESSIVE_REPEAT else made
        if op in (_C.ASSERT, _C.ASSERT_NOT):
            return self._lookaround(value[1], value[0], op is _C.ASSERT_NOT, flags)
        if op is _C.AT:
            return Fragment(self._anchor(value, flags), {})
        if op is _C.FAILURE:
            return Fragment((), {})
        raise UnknownConstruct(str(op))

    def _character(self, mask: int) -> Fragment:
        self.masks.append(mask)
        self.scopes.append(())
        at = len(self.masks) - 1
        return Fragment((self.move(at),), {at: (self.move(),)})

    def _anchor(self, code: Any, flags: int) -> Moves:
        newline = self.mask((_C.LITERAL, 10), 0)
        if code is _C.AT_BEGINNING_STRING or (code is _C.AT_BEGINNING and not flags & re.MULTILINE):
            return (self.move(before=self.edge),)
        if code is _C.AT_BEGINNING:
            return (self.move(before=newline | self.edge),)
        if code is _C.AT_END_STRING:
            return (self.move(after=self.edge),)
        if code is _C.AT_END:
            # Before a line end only the last one counts, but for MULTILINE.
            last = self.move(after=newline, sure=bool(flags & re.MULTILINE))
            return (self.move(after=self.edge), last)
        word = self.mask((_C.IN, [(_C.CATEGORY, _C.CATEGORY_WORD)]), 0)
        other = self.full & ~word
        if code is _C.AT_BOUNDARY:
            return (self.move(before=word, after=other), self.move(before=other, after=word))
        if code is _C.AT_NON_BOUNDARY:
            return (self.move(before=word, after=word), self.move(before=other, after=other))
        raise UnknownConstruct(str(code))

    def joined(self, first: Fragment, second: Fragment) -> Fragment:
        """Return the fragment of two that follow each other."""
        follow = {at: self._through(moves, second.entry) for at, moves in first.follow.items()}
        return Fragment(self._through(first.entry, second.entry), {**follow, **second.follow})

    def _through(self, moves: Moves, entry: Moves) -> Moves:
        """Return moves with those that leave replaced by what they then meet."""
        if all(move.target != EXIT for move in moves):
            return moves
        made: list[Move] = []
        for move in moves:
            if move.target != EXIT:
                made.append(move)
                continue
            for then in entry:
                before, after = move.before & then.before, move.after & then.after
                reached = after if then.target == EXIT else after & self.masks[then.target]
                if before and reached:
                    sure, leaves = move.sure and then.sure, move.leaves | then.leaves
                    made.append(Move(then.target, before, after, sure, leaves))
        return _few(tuple(made))

    def _repeated(self, body: Callable[[], Fragment], low: int, high: int, greedy: bool) -> Fragment:
        """Return a repetition: copies where it is bounded, a loop where it is not."""
        made = Fragment((self.move(),), {})
        copies = min(low, self.most_copies)
        if high is not _C.MAXREPEAT and high <= self.most_copies:
            for _ in range(high - low):
                made = self._optional(self.joined(body(), made), greedy)
        else:
            part = body()
            if low > self.most_copies and any(move.target == EXIT for move in part.entry):
                # Each of the copies may be the one that takes nothing.
                part = part._replace(entry=part.entry + part.entry)
            made = self._loop(part, greedy, at_least_one=copies > 0)
            copies -= copies > 0
            if high is not _C.MAXREPEAT or low > self.most_copies:
                # Where a count decides, nothing is certain.
                made = self.joined(made, Fragment((self.move(sure=False),), {}))
        for _ in range(copies):
            made = self.joined(body(), made)
        return made

    def _optional(self, part: Fragment, greedy: bool) -> Fragment:
        past = (self.move(),)
        return Fragment(_few(part.entry + past if greedy else past + part.entry), part.follow)

    def _loop(self, part: Fragment, greedy: bool, *, at_least_one: bool) -> Fragment:
        # After an empty pass the matcher goes on behind the loop: a second path to leave.
        past = (self.move(),)
        again = _few(part.entry + past if greedy else past + part.entry)
        follow = {at: self._through(moves, again) for at, moves in part.follow.items()}
        return Fragment(part.entry if at_least_one else again, follow)

    def _atomic(self, part: Fragment) -> Fragment:
        """Return a part as a scope: its positions are inside, and the paths out of it leave it."""
        self._last_scope += 1
        scope = self._last_scope
        part = self.without_dead_moves(scope, part)
        left = frozenset((scope,))
        follow = {}
        for at, moves in part.follow.items():
            self.scopes[at] = (scope, *self.scopes[at])
            outs = [move.after for move in moves if move.target == EXIT]
            self._exits[scope, at] = _union(outs)
            follow[at] = tuple(
                move._replace(leaves=move.leaves | left) if move.target == EXIT else move for move in moves
            )
        return Fragment(part.entry, follow)

    def _lookaround(self, body: Any, direction: int, negated: bool, flags: int) -> Fragment:
        """Return what is looked for as a scope beside the pattern, and the move on, by one character where it is so."""
        one = self._one_character(body, flags)
        if one is not None:
            wanted = self.full & ~one if negated else one
            move = self.move(after=wanted) if direction > 0 else self.move(before=wanted)
            return Fragment((move,), {})
        if direction < 0:
            # Of fixed length: a constant.
            return Fragment((self.move(sure=False),), {})
        looked = self.sequence(body, flags)
        first = [
            move.after & (self.full if move.target == EXIT else self.masks[move.target])
            for move in looked.entry
        ]
        looked = self._atomic(looked)
        self._looking.add(self._last_scope)
        beside = tuple(move._replace(sure=False) for move in looked.entry if move.target != EXIT)
        follow = {
            at: tuple(move for move in moves if move.target != EXIT) for at, moves in looked.follow.items()
        }
        past = self.move(after=-1 if negated else _union(first), sure=False)
        return Fragment((*beside, past), follow)

    def _one_character(self, body: Any, flags: int) -> int | None:
        """Return what a lookaround looks for, if it is one character or the edge of the text."""
        if len(body) != 1:
            return None
        op, value = body[0]
        if op in (_C.LITERAL, _C.NOT_LITERAL, _C.IN, _C.ANY):
            return self.mask(body[0], flags)
        if op is _C.AT and value is _C.AT_END_STRING:
            return self.edge
        if op is _C.AT and value is _C.AT_END and flags & re.MULTILINE:
            return self.edge | self.mask((_C.LITERAL, 10), 0)
        if op is _C.SUBPATTERN:
            return self._one_character(value[3], (flags | value[1]) & ~value[2])
        if op is _C.BRANCH:
            parts = [self._one_character(branch, flags) for branch in value[1]]
            known = [part for part in parts if part is not None]
            return _union(known) if len(known) == len(parts) else None
        return None

    def without_dead_moves(self, scope: int, part: Fragment) -> Fragment:
        """Return a scope without moves that the matcher never tries: those after one from which the scope matches."""
        certain = self._certain(part.follow)
        self.certain[scope] = frozenset(certain)
        follow = {at: self._live(moves, certain, self.masks[at]) for at, moves in part.follow.items()}
        return Fragment(self._live(part.entry, certain, self.full), follow)

    def _live(self, moves: Moves, certain: set[int], before: int) -> Moves:
        taken, kept = 0, []
        for move in moves:
            reached = move.after if move.target == EXIT else move.after & self.masks[move.target]
            if move.target == self._restart:
                kept.append(move)
            elif reached & ~taken:
                kept.append(move._replace(after=move.after & ~taken))
            if move.sure and not before & ~move.before and (move.target == EXIT or move.target in certain):
                taken |= reached
        return tuple(kept)

    def _certain(self, follow: dict[int, Moves]) -> set[int]:
        """Return the positions from which a scope of these moves matches whatever follows: the most that agree."""
        found = {at for at in follow if not self._looking & {*self.scopes[at]}}
        while True:
            lost = {at for at in found if not self._matches_on(at, follow, found)}
            if not lost:
                return found
            found -= lost

    def _matches_on(self, at: int, follow: dict[int, Moves], certain: set[int]) -> bool:
        if not self.scopes[at]:
            return not self.full & ~self._covered(at, follow[at], certain)
        # Inside an inner scope: wherever that ends, the rest has to match.
        inner = self.scopes[at][0]
        if at not in self.certain[inner]:
            return False
        seen, waiting = {at}, [at]
        while waiting:
            here = waiting.pop()
            outs = tuple(move for move in follow[here] if inner in move.leaves)
            if self._exits[inner, here] & ~self._covered(here, outs, certain):
                return False
            for move in follow[here]:
                if move.target != EXIT and inner not in move.leaves and move.target not in seen:
                    seen.add(move.target)
                    waiting.append(move.target)
        return True

    def _covered(self, at: int, moves: Moves, certain: set[int]) -> int:
        """Return the characters with which one of some moves goes on for certain."""
        covered = 0
        for move in moves:
            if not move.sure or self.masks[at] & ~move.before:
                continue
            if move.target == EXIT:
                covered |= move.after
            elif move.target in certain:
                covered |= move.after & self.masks[move.target]
        return covered


def _union(masks: list[int]) -> int:
    made = 0
    for mask in masks:
        made |= mask
    return made


def _few(moves: Moves) -> Moves:
    """Return moves without a third and further ones that are the same: two are ambiguous enough."""
    seen: dict[Move, int] = {}
    kept = []
    for move in moves:
        seen[move] = seen.get(move, 0) + 1
        if seen[move] <= 2:
            kept.append(move)
    return tuple(kept)
