"""What is left of a fabric when something fails: every case that could matter once, or as many as there is time for.

Two cases that differ only in which of several blocks that are alike they strike leave the same fabric behind, with
other names. So one is looked at of all that blocks that change places bring to each other. And a failure that ways
have enough others beside shows nothing that was not seen without it. Both hold again for what is left, and so for a
second failure after the first.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from lossless.records import NamedTuple
from lossless.routing.alike import Orbits, few_of, folded, twins
from lossless.routing.judge import MEMBERS, judge, moves_of, only_up_down, reduced, told_apart
from lossless.routing.spare import needed
from lossless.routing.wires import without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.routing.judge import Question, Verdict
    from lossless.routing.wires import Wires

MOST_WORK = 3_000_000
"""Pairs of switches looked at, over all cases, before cases are drawn instead: about half a minute."""
DRAWN = 300
"""Cases drawn. Where none of n shows anything, at most 3/n of all would, with 95 % confidence: the rule of three (J. A.
Hanley and A. Lippman-Hand, JAMA 249(13), 1983). With 300 that is one in a hundred."""
_SEED = 1


class Strike(NamedTuple):
    """One thing that can fail: a switch, or all links of a pair, by name. ``links`` is how many failures that takes."""

    ends: tuple[str, ...]
    links: int

    def __str__(self) -> str:
        return " - ".join(self.ends)


class Case(NamedTuple):
    """What has failed, and the wires that are left."""

    failed: tuple[Strike, ...]
    wires: Wires


class Seen(NamedTuple):
    """A verdict, and after which failures it holds."""

    verdict: Verdict
    failed: tuple[Strike, ...]


class Outcome(NamedTuple):
    """What was seen first of each kind, with as few failures as it takes; after a circle nothing more is looked for.

    ``cases`` is how many fabrics were looked at; unless some of them were ``drawn`` at random because there are more,
    they show what all show.
    """

    circle: Seen | None = None
    valley: Seen | None = None
    lost: Seen | None = None
    cases: int = 0
    drawn: bool = False


def after_failures(wires: Wires, question: Question, survive: int) -> Outcome:
    """Return what up to ``survive`` failures lead to, beginning with none."""
    if survive == 0:
        return _looked_at(iter((Case((), wires),)), question, Outcome())
    base = reduced(wires, question, MEMBERS + survive)
    outcome = _looked_at(iter((Case((), base),)), question, Outcome())
    if _settled(outcome, question):
        return outcome
    cases = _Cases(base, question, survive)
    outcome = _looked_at(iter(cases), question, outcome)
    if not cases.too_many:
        return outcome
    return _looked_at(_some_cases(wires, question, survive), question, outcome)._replace(drawn=True)


def _looked_at(cases: Iterator[Case], question: Question, outcome: Outcome) -> Outcome:
    """Add what cases show that was not seen with fewer failures."""
    for case in cases:
        verdict = judge(case.wires, question)
        seen = Seen(verdict, case.failed)
        outcome = Outcome(
            outcome.circle or (seen if verdict.circle else None),
            outcome.valley or (seen if verdict.valley else None),
            outcome.lost or (seen if verdict.lost else None),
            outcome.cases + 1,
        )
        if _settled(outcome, question):
            break
    return outcome


def _settled(outcome: Outcome, question: Question) -> bool:
    """Return whether further failures can show nothing worse than what has been seen."""
    return outcome.circle is not None or (outcome.lost is not None and only_up_down(question))


class _Cases:
    """One case of each kind of one to ``survive`` failures that could matter, fewer first.

    Where a failure could not change anything, the cases without it show what those with it would. ``too_many``: there
    was no time for all.
    """

    def __init__(self, wires: Wires, question: Question, survive: int) -> None:
        self.too_many = False
        self._question, self._survive, self._work = question, survive, 0
        self._by_cost: list[dict[frozenset[Strike], Case]] = [{} for _ in range(survive + 1)]
        self._by_cost[0][frozenset()] = Case((), wires)

    def __iter__(self) -> Iterator[Case]:
        last = self._survive - 1
        for cost in range(self._survive):
            yield from self._by_cost[cost].values() if cost else ()
            # With all cases of fewer failures looked at, there is no need to find the rest of the last ones first.
            yield from self._by_cost[self._survive].values() if cost == last else ()
            for case in self._by_cost[cost].values():
                yield from (after for after in self._after(case, cost) if cost == last)
                if self.too_many:
                    return

    def _after(self, case: Case, cost: int) -> Iterator[Case]:
        """Yield the cases with one failure more; stop when there is no time for more."""
        remaining, size = self._survive - cost, sum(map(len, case.wires.links)) // 2
        few = folded(case.wires, MEMBERS + remaining)
        for strike in _strikes(few, self._question, remaining):
            failed, found = (*case.failed, strike), self._by_cost[cost + strike.links]
            self._work += size
            self.too_many = self._work > MOST_WORK
            if self.too_many:
                return
            if frozenset(failed) not in found:
                after = found[frozenset(failed)] = Case(failed, struck(few, strike))
                yield after


def _strikes(wires: Wires, question: Question, failures: int) -> Iterator[Strike]:
    """Yield what can fail, one of each kind: switches cost one failure, pairs one for each of their links.

    Only what must fail, or some of it, for up to so many ``failures`` to change anything.
    """
    switches, pairs = needed(wires, moves_of(wires, question), failures)
    if not pairs:
        return
    orbits, names, seen = Orbits(wires), wires.names, set[object]()
    for ends in (*((switch,) for switch in sorted(switches)), *sorted(pairs)):
        links = wires.links[ends[0]][ends[1]] if len(ends) == 2 else 1
        kind = orbits.of(ends)
        if links <= failures and kind not in seen:
            seen.add(kind)
            yield Strike(tuple(names[end] for end in ends), links)


def struck(wires: Wires, strike: Strike) -> Wires:
    """Return what is left after one failure."""
    numbers = tuple(wires.names.index(name) for name in strike.ends)
    if len(numbers) == 1:
        return without(wires, numbers)
    return without(wires, pairs=((numbers[0], numbers[1]),))


def _some_cases(wires: Wires, question: Question, survive: int) -> Iterator[Case]:
    """Yield cases of so many failures, drawn from all there are; few switches of a kind stand by what is struck."""
    marked_apart = told_apart(wires, question)
    alike = twins(marked_apart)
    possible = [Strike((name,), 1) for name, others in zip(wires.names, wires.links, strict=True) if others]
    possible += [Strike((wires.names[a], wires.names[b]), n) for a, b, n in wires.pairs() if n <= survive]
    number = {name: place for place, name in enumerate(wires.names)}
    random = Random(_SEED)
    for _ in range(DRAWN):
        drawn, left = list[Strike](), survive
        while left and len(drawn) < len(possible):
            strike = random.choice(possible)
            if strike not in drawn and strike.links <= left:
                drawn.append(strike)
                left -= strike.links
        kept = {number[name] for strike in drawn for name in strike.ends}
        case = Case((), few_of(marked_apart, alike, MEMBERS, kept))
        for strike in drawn:
            case = Case((*case.failed, strike), struck(case.wires, strike))
        yield case
