"""What is left of a fabric when something fails: every case once, or as many as there is time for.

So many links fail, or so many switches, never both: that is what an intent says must be borne.

Two cases that differ only in which of several switches of one kind they strike leave the same fabric behind, with
other names. So of each kind one is struck, and of each two kinds one pair. That holds again for what is left, and so
for a second failure after the first.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from lossless.records import NamedTuple
from lossless.routing.judge import MEMBERS, judge, reduced, told_apart
from lossless.routing.wires import few_of, kinds, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.routing.judge import Question, Verdict
    from lossless.routing.wires import Wires

MOST_WORK = 3_000_000
"""Pairs of switches looked at, over all cases, before cases are drawn instead: about a minute."""
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
    """What was seen first of each kind, with as few failures as it takes.

    ``cases`` is how many fabrics were looked at; ``drawn``: there are more of them, and these were drawn at random.
    """

    circle: Seen | None = None
    valley: Seen | None = None
    lost: Seen | None = None
    cases: int = 0
    drawn: bool = False


def after_failures(wires: Wires, question: Question, borne: Borne) -> Outcome:
    """Return what up to so many failures lead to, beginning with none."""
    base = reduced(wires, question, MEMBERS + 2 * max(borne))
    outcome = _looked_at(iter((Case((), base),)), question, Outcome())
    if not any(borne) or (outcome.circle and outcome.valley):
        return outcome
    kinds_of = ((_switches, borne.switches), (_links, borne.links))
    found = [(of, most, _all_cases(base, of, most)) for of, most in kinds_of]
    known = [case for _, _, cases in found for case in cases or ()]
    outcome = _looked_at(iter(sorted(known, key=lambda case: case.cost)), question, outcome)
    for of, most, cases in found:
        if cases is None:
            drawn = _some_cases(wires, question, list(of(wires)), most)
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
        if outcome.circle and (outcome.valley or question.policy == "up-down"):
            break
    return outcome


def _all_cases(wires: Wires, of: Callable[[Wires], Iterable[Strike]], most: int) -> list[Case] | None:
    """Return one case of each kind of one to ``most`` failures, fewer first; None where they are too many."""
    by_cost: list[dict[frozenset[Strike], Case]] = [{frozenset(): Case((), wires)}]
    work, pairs = 0, sum(map(len, wires.links)) // 2
    for cost in range(1, most + 1):
        by_cost.append({})
        for before in range(cost):
            for case in by_cost[before].values():
                for strike in _one_of_each(case.wires, of, cost - before):
                    failed = (*case.failed, strike)
                    by_cost[cost].setdefault(frozenset(failed), Case(failed, struck(case.wires, strike)))
                    work += pairs
                if work > MOST_WORK:
                    return None
    return [case for found in by_cost[1:] for case in found.values()]


def _switches(wires: Wires) -> Iterator[Strike]:
    """Yield the switches that can fail: each is one failure."""
    for name, others in zip(wires.names, wires.links, strict=True):
        if others:
            yield Strike((name,), 1)


def _links(wires: Wires) -> Iterator[Strike]:
    """Yield the pairs whose links can fail: one failure for each link."""
    for near, far, count in wires.pairs():
        yield Strike((wires.names[near], wires.names[far]), count)


def _one_of_each(wires: Wires, of: Callable[[Wires], Iterable[Strike]], cost: int) -> Iterator[Strike]:
    """Yield what can fail at a cost, one of each kind."""
    kind = {wires.names[switch]: alike[0] for alike in kinds(wires) for switch in alike}
    seen = set()
    for strike in of(wires):
        ends = tuple(kind[name] for name in strike.ends)
        if strike.links == cost and ends not in seen:
            seen.add(ends)
            yield strike


def struck(wires: Wires, strike: Strike) -> Wires:
    """Return what is left after one failure."""
    numbers = tuple(wires.names.index(name) for name in strike.ends)
    if len(numbers) == 1:
        return without(wires, numbers)
    return without(wires, pairs=((numbers[0], numbers[1]),))


def _some_cases(wires: Wires, question: Question, possible: Sequence[Strike], most: int) -> Iterator[Case]:
    """Yield cases of so many failures, drawn from all there are; few switches of a kind stand by what is struck."""
    marked_apart = told_apart(wires, question)
    alike = kinds(marked_apart)
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
