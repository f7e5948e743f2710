"""What is left of a fabric when something fails: every case that could matter once, or as many as there is time for.

So many links fail, or so many switches, never both: that is what an intent says must be borne.

Two cases that differ only in which of several blocks that are alike they strike leave the same fabric behind, with
other names. So one is looked at of all that blocks that change places bring to each other. And a failure that ways
have enough others beside shows nothing that was not seen without it. Both hold again for what is left, and so for a
second failure after the first.
"""

from __future__ import annotations

from heapq import merge
from random import Random
from typing import TYPE_CHECKING

from lossless.analysis.routing.channels import without
from lossless.analysis.routing.dependencies import MEMBERS, judge, moves_of, only_up_down, reduced, told_apart
from lossless.analysis.routing.spare import needed
from lossless.analysis.routing.symmetry import Orbits, few_of, folded, twins
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.routing.channels import Wires
    from lossless.analysis.routing.dependencies import Question, Verdict

MOST_WORK = 3_000_000
"""Pairs of switches looked at, over all cases, before cases are drawn instead: about half a minute."""
DRAWN = 300
"""Cases drawn. Where a share p of all cases shows something, n drawn at random show nothing with probability (1 - p)^n.
That is 5 % where p is 1 - 0.05^(1/n), just below 3/n, as ln 0.05 is -2.996: with 300, one in a hundred."""
_SEED = 1


class Strike(NamedTuple):
    """One thing that can fail: a switch, or all links of a pair, by name. ``links`` is how many failures that takes."""

    ends: tuple[str, ...]
    links: int

    def __str__(self) -> str:
        return " - ".join(self.ends)


class Borne(NamedTuple):
    """How many links may fail at once, or how many switches."""

    links: int
    switches: int


class Case(NamedTuple):
    """What has failed, and the wires that are left."""

    failed: tuple[Strike, ...]
    wires: Wires

    @property
    def cost(self) -> int:
        """How many failures it takes."""
        return sum(strike.links for strike in self.failed)


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


def after_failures(wires: Wires, question: Question, borne: Borne) -> Outcome:
    """Return what up to so many failures lead to, beginning with none."""
    base = reduced(wires, question, MEMBERS + max(borne)) if any(borne) else wires
    outcome = _looked_at(iter((Case((), base),)), question, Outcome())
    if _settled(outcome, question):
        return outcome
    failing = [_Cases(base, question, of, most) for of, most in zip(_KINDS, borne, strict=True) if most]
    outcome = _looked_at(merge(*failing, key=_cost), question, outcome)
    for cases in failing:
        if cases.too_many and not _settled(outcome, question):
            drawn = _some_cases(wires, question, list(cases.of(wires)), cases.most)
            outcome = _looked_at(drawn, question, outcome)._replace(drawn=True)
    return outcome


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
            outcome.drawn,
        )
        if _settled(outcome, question):
            break
    return outcome


def _switches(wires: Wires) -> Iterator[Strike]:
    """Yield the switches that can fail: each is one failure."""
    for name, others in zip(wires.names, wires.links, strict=True):
        if others:
            yield Strike((name,), 1)


def _links(wires: Wires) -> Iterator[Strike]:
    """Yield the pairs whose links can fail: one failure for each link."""
    for near, far, count in wires.pairs():
        yield Strike((wires.names[near], wires.names[far]), count)


_KINDS: tuple[Callable[[Wires], Iterator[Strike]], ...] = (_links, _switches)
"""What can fail, in the order of :class:`Borne`."""


def _cost(case: Case) -> int:
    return case.cost


def _settled(outcome: Outcome, question: Question) -> bool:
    """Return whether further failures can show nothing worse than what has been seen."""
    return outcome.circle is not None or (outcome.lost is not None and only_up_down(question))


class _Cases:
    """One case of each kind of one to ``most`` failures that could matter, fewer first; ``of`` says what can fail.

    Where a failure could not change anything, the cases without it show what those with it would. ``too_many``: there
    was no time for all.
    """

    def __init__(
        self, wires: Wires, question: Question, of: Callable[[Wires], Iterator[Strike]], most: int
    ) -> None:
        self.of, self.most, self.too_many = of, most, False
        self._question, self._work = question, 0
        self._by_cost: list[dict[frozenset[Strike], Case]] = [{} for _ in range(most + 1)]
        self._by_cost[0][frozenset()] = Case((), wires)

    def __iter__(self) -> Iterator[Case]:
        last = self.most - 1
        for cost in range(self.most):
            yield from self._by_cost[cost].values() if cost else ()
            # With all cases of fewer failures looked at, there is no need to find the rest of the last ones first.
            yield from self._by_cost[self.most].values() if cost == last else ()
            for case in self._by_cost[cost].values():
                yield from (after for after in self._after(case, cost) if cost == last)
                if self.too_many:
                    return

    def _after(self, case: Case, cost: int) -> Iterator[Case]:
        """Yield the cases with one failure more; stop when there is no time for more."""
        remaining, size = self.most - cost, sum(map(len, case.wires.links)) // 2
        few = folded(case.wires, MEMBERS + remaining)
        for strike in self._strikes(few, remaining):
            failed, found = (*case.failed, strike), self._by_cost[cost + strike.links]
            self._work += size
            self.too_many = self._work > MOST_WORK
            if self.too_many:
                return
            if frozenset(failed) not in found:
                after = found[frozenset(failed)] = Case(failed, struck(few, strike))
                yield after

    def _strikes(self, wires: Wires, failures: int) -> Iterator[Strike]:
        """Yield what can fail, one of each kind.

        Only what must fail, or some of it, for up to so many ``failures`` to change anything.
        """
        matters = self._that_matter(wires, failures)
        number = {name: place for place, name in enumerate(wires.names)}
        if matters is not None and not matters:
            return
        orbits, seen = Orbits(wires), set[object]()
        for strike in self.of(wires):
            ends = tuple(sorted(number[name] for name in strike.ends))
            if strike.links > failures or not (matters is None or ends in matters):
                continue
            kind = orbits.of(ends)
            if kind not in seen:
                seen.add(kind)
                yield strike

    def _that_matter(self, wires: Wires, failures: int) -> frozenset[tuple[int, ...]] | None:
        """Return the ends that could change anything by failing; None where any could.

        What is bounced goes on from switches above, which may have fewer ways than hosts have.
        """
        if self._question.bounces or self._question.moved:
            return None
        switches, pairs = needed(wires, moves_of(wires, self._question), failures)
        return frozenset((*((switch,) for switch in switches), *pairs))


def struck(wires: Wires, strike: Strike) -> Wires:
    """Return what is left after one failure."""
    numbers = tuple(wires.names.index(name) for name in strike.ends)
    if len(numbers) == 1:
        return without(wires, numbers)
    return without(wires, pairs=((numbers[0], numbers[1]),))


def _some_cases(wires: Wires, question: Question, possible: Sequence[Strike], most: int) -> Iterator[Case]:
    """Yield cases of so many failures, drawn from all there are; few switches of a kind stand by what is struck."""
    marked_apart = told_apart(wires, question)
    alike = twins(marked_apart)
    number = {name: place for place, name in enumerate(wires.names)}
    random = Random(_SEED)
    for _ in range(DRAWN):
        drawn = _drawn(random, possible, most)
        kept = {number[name] for strike in drawn for name in strike.ends}
        case = Case((), few_of(marked_apart, alike, MEMBERS, kept))
        for strike in drawn:
            case = Case((*case.failed, strike), struck(case.wires, strike))
        yield case


def _drawn(random: Random, possible: Sequence[Strike], most: int) -> list[Strike]:
    """Return strikes that add up to so many failures, or to as many as there can be."""
    drawn, left = list[Strike](), most
    while left:
        strike = random.choice(possible)
        if strike not in drawn and strike.links <= left:
            drawn.append(strike)
            left -= strike.links
        elif not any(one.links <= left and one not in drawn for one in possible):
            break
    return drawn
