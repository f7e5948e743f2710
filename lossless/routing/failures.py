"""What is left of a fabric when something fails: every case once, or as many as there is time for.

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
    from collections.abc import Iterator

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


class Case(NamedTuple):
    """What has failed, and the wires that are left."""

    failed: tuple[Strike, ...]
    wires: Wires


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


def after_failures(wires: Wires, question: Question, survive: int) -> Outcome:
    """Return what up to ``survive`` failures lead to, beginning with none."""
    base = reduced(wires, question, MEMBERS + 2 * survive)
    outcome = _looked_at(iter((Case((), base),)), question, Outcome())
    if survive == 0 or (outcome.circle and outcome.valley):
        return outcome
    cases = _all_cases(base, survive)
    if cases is not None:
        return _looked_at(iter(cases), question, outcome)
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
        if outcome.circle and (outcome.valley or question.policy == "up-down"):
            break
    return outcome


def _all_cases(wires: Wires, survive: int) -> list[Case] | None:
    """Return one case of each kind of one to ``survive`` failures, fewer first; None where they are too many."""
    by_cost: list[dict[frozenset[Strike], Case]] = [{frozenset(): Case((), wires)}]
    work, pairs = 0, sum(map(len, wires.links)) // 2
    for cost in range(1, survive + 1):
        by_cost.append({})
        for before in range(cost):
            for case in by_cost[before].values():
                for strike in _strikes(case.wires, cost - before):
                    failed = (*case.failed, strike)
                    by_cost[cost].setdefault(frozenset(failed), Case(failed, struck(case.wires, strike)))
                    work += pairs
                if work > MOST_WORK:
                    return None
    return [case for found in by_cost[1:] for case in found.values()]


def _strikes(wires: Wires, links: int) -> Iterator[Strike]:
    """Yield what can fail at a cost, one of each kind: switches cost one failure, pairs one for each of their links."""
    kind: dict[int, int] = {}
    for alike in kinds(wires):
        kind.update(dict.fromkeys(alike, alike[0]))
        if links == 1 and wires.links[alike[0]]:
            yield Strike((wires.names[alike[0]],), 1)
    seen = set()
    for near, far, count in wires.pairs():
        pair = (kind[near], kind[far])
        if count == links and pair not in seen:
            seen.add(pair)
            yield Strike((wires.names[near], wires.names[far]), count)


def struck(wires: Wires, strike: Strike) -> Wires:
    """Return what is left after one failure."""
    numbers = tuple(wires.names.index(name) for name in strike.ends)
    if len(numbers) == 1:
        return without(wires, numbers)
    return without(wires, pairs=((numbers[0], numbers[1]),))


def _some_cases(wires: Wires, question: Question, survive: int) -> Iterator[Case]:
    """Yield cases of so many failures, drawn from all there are; few switches of a kind stand by what is struck."""
    marked_apart = told_apart(wires, question)
    alike = kinds(marked_apart)
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
