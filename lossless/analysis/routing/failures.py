"""Routing verdicts after failures: every case of failures that matters once, or as many as the work limit allows.

Either a number of links fail, or a number of switches, never both: the failures to tolerate that an intent declares.

Two cases that differ only in which of several identical blocks fails leave the same fabric behind, with other names.
So one of the symmetric cases is checked (:class:`~lossless.analysis.routing.symmetry.Orbits`). And the failure of an
element whose paths have enough disjoint alternatives shows nothing new (:func:`critical_elements`). Both are also
true for the remaining fabric, and so for a second failure.

Let every two switches with hosts be joined by more shortest paths than there are failures, no two of which share a
switch or a link. Then some of them are left, distances between hosts stay, and every path after the failures
existed before. So no turn is new, and turns that could close no cycle before close none now. Only the failure of a
switch or link on scarcer paths can change that.

Paths that begin and end in the same switches share nothing else if they go through different *parts* of the fabric:
those that are left when all switches with hosts are removed, as the planes of a Clos or the spines of a leaf-spine.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import merge
from random import Random
from typing import TYPE_CHECKING

from lossless.analysis.routing.dependencies import (
    MEMBERS,
    moves_of,
    only_up_down,
    reduced,
    routing_verdict,
    told_apart,
)
from lossless.analysis.routing.moves import carried, shortest_paths
from lossless.analysis.routing.symmetry import Orbits, few_of, folded, parts, twins, without
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.routing.dependencies import RoutingQuestion, RoutingVerdict
    from lossless.analysis.routing.moves import PolicyMoves, ShortestPaths
    from lossless.analysis.routing.symmetry import Wires


MOST_WORK = 6_000_000
"""The most channels between switches checked, over all cases, before cases are drawn at random: about half a minute."""
DRAWN = 300
"""The number of failure cases that are drawn at random where there are too many to check all.

Where a share p of all cases has a result, n random cases miss it with probability (1 - p)^n. That is 5 % where p is
1 - 0.05^(1/n), just below 3/n, as ln 0.05 is -2.996: with 300, one in a hundred.
"""
_SEED = 1


class Failure(NamedTuple):
    """An element that can fail: a switch, or all links of a pair of switches, by name. It counts ``links`` failures."""

    ends: tuple[str, ...]
    links: int

    def __str__(self) -> str:
        return " - ".join(self.ends)


class FailureBudget(NamedTuple):
    """The number of links that may fail at once, or of switches."""

    links: int
    switches: int


class FailureCase(NamedTuple):
    """The failed elements, and the remaining wires."""

    failed: tuple[Failure, ...]
    wires: Wires

    @property
    def cost(self) -> int:
        """The number of failures."""
        return sum(failure.links for failure in self.failed)


class VerdictAfterFailures(NamedTuple):
    """A routing verdict, and the failed elements that lead to it."""

    verdict: RoutingVerdict
    failed: tuple[Failure, ...]


class FailureOutcome(NamedTuple):
    """The first verdict with a cycle, with a valley, and with a lost pair of switches, cases of fewer failures first.

    The search ends at a cycle, or where nothing worse is possible. ``cases`` is the number of fabrics checked; at the
    end of a whole search they stand for all, unless some were ``drawn`` at random because there are more.
    """

    cycle: VerdictAfterFailures | None = None
    valley: VerdictAfterFailures | None = None
    lost: VerdictAfterFailures | None = None
    cases: int = 0
    drawn: bool = False


def after_failures(wires: Wires, question: RoutingQuestion, budget: FailureBudget) -> FailureOutcome:
    """Return the routing verdicts after up to ``budget`` failures, beginning with the fabric without failures."""
    base = reduced(wires, question, MEMBERS + max(budget)) if any(budget) else wires
    outcome = _checked(iter((FailureCase((), base),)), question, FailureOutcome())
    if _settled(outcome, question):
        return outcome
    failing = [_Cases(base, question, of, most) for of, most in zip(_KINDS, budget, strict=True) if most]
    outcome = _checked(merge(*failing, key=_cost), question, outcome)
    for cases in failing:
        if cases.too_many and not _settled(outcome, question):
            drawn = _some_cases(wires, question, list(cases.of(wires)), cases.most)
            outcome = _checked(drawn, question, outcome)._replace(drawn=True)
    return outcome


def _checked(
    cases: Iterator[FailureCase], question: RoutingQuestion, outcome: FailureOutcome
) -> FailureOutcome:
    """Return an outcome with the first cycle, valley and lost pair of further cases, where it does not have one yet."""
    for case in cases:
        verdict = routing_verdict(case.wires, question)
        first_seen = VerdictAfterFailures(verdict, case.failed)
        outcome = FailureOutcome(
            outcome.cycle or (first_seen if verdict.cycle else None),
            outcome.valley or (first_seen if verdict.valley else None),
            outcome.lost or (first_seen if verdict.lost else None),
            outcome.cases + 1,
            outcome.drawn,
        )
        if _settled(outcome, question):
            break
    return outcome


def _switches(wires: Wires) -> Iterator[Failure]:
    """Yield the switches that can fail, those with links to switches: each is one failure."""
    for name, others in zip(wires.names, wires.links, strict=True):
        if others:
            yield Failure((name,), 1)


def _links(wires: Wires) -> Iterator[Failure]:
    """Yield the pairs of switches whose links can fail: one failure for each link."""
    for near, far, count in wires.pairs():
        yield Failure((wires.names[near], wires.names[far]), count)


_KINDS: tuple[Callable[[Wires], Iterator[Failure]], ...] = (_links, _switches)
"""Functions that yield the elements that can fail, in the order of :class:`FailureBudget`."""


def _cost(case: FailureCase) -> int:
    return case.cost


def _settled(outcome: FailureOutcome, question: RoutingQuestion) -> bool:
    """Return whether no further case is needed: there is a cycle, or a lost pair where nothing worse is possible."""
    return outcome.cycle is not None or (outcome.lost is not None and only_up_down(question))


class _Cases:
    """The cases of one to ``most`` failures that could change the verdict, one of several symmetric ones, fewer first.

    ``of`` yields the elements of a fabric that can fail. A case also
    stands for those with further failures that could not change the verdict. ``too_many``: the work limit was reached.
    """

    def __init__(
        self, wires: Wires, question: RoutingQuestion, of: Callable[[Wires], Iterator[Failure]], most: int
    ) -> None:
        self.of, self.most, self.too_many = of, most, False
        self._question, self._work = question, 0
        self._by_cost = defaultdict[int, dict[frozenset[Failure], FailureCase]](dict)
        self._by_cost[0][frozenset()] = FailureCase((), wires)

    def __iter__(self) -> Iterator[FailureCase]:
        last = self.most - 1
        for cost in range(self.most):
            yield from self._by_cost[cost].values() if cost else ()
            # With all cases of fewer failures looked at, there is no need to find the rest of the last ones first.
            yield from self._by_cost[self.most].values() if cost == last else ()
            for case in self._by_cost[cost].values():
                yield from (after for after in self._after(case, cost) if cost == last)
                if self.too_many:
                    return

    def _after(self, case: FailureCase, cost: int) -> Iterator[FailureCase]:
        """Yield the new cases with one more failed element, until the work limit is reached."""
        remaining, size = self.most - cost, sum(map(len, case.wires.links))
        folded_wires = folded(case.wires, MEMBERS + remaining)
        for failure in self._strikes(folded_wires, remaining):
            failed, known = (*case.failed, failure), self._by_cost[cost + failure.links]
            self._work += size
            self.too_many = self._work > MOST_WORK
            if self.too_many:
                return
            if frozenset(failed) not in known:
                next_case = known[frozenset(failed)] = FailureCase(
                    failed, after_failure(folded_wires, failure)
                )
                yield next_case

    def _strikes(self, wires: Wires, failures: int) -> Iterator[Failure]:
        """Yield the elements that can fail, one of several symmetric ones.

        Elements that are known not to be critical (:func:`critical_elements`) are left out.
        """
        matters = self._that_matter(wires, failures)
        number = {name: place for place, name in enumerate(wires.names)}
        if matters is not None and not matters:
            return
        orbits, seen = Orbits(wires), set[object]()
        for failure in self.of(wires):
            ends = tuple(sorted(number[name] for name in failure.ends))
            if failure.links > failures or not (matters is None or ends in matters):
                continue
            kind = orbits.of(ends)
            if kind not in seen:
                seen.add(kind)
                yield failure

    def _that_matter(self, wires: Wires, failures: int) -> frozenset[tuple[int, ...]] | None:
        """Return the switches and pairs whose failure could change anything; None where any could, as with bounces.

        Bounced packets continue from switches above, which may have fewer paths than hosts have.
        """
        if self._question.bounces or self._question.moved:
            return None
        switches, pairs = critical_elements(wires, moves_of(wires, self._question), failures)
        return frozenset((*((switch,) for switch in switches), *pairs))


def after_failure(wires: Wires, failure: Failure) -> Wires:
    """Return the remaining wires after one failure."""
    numbers = tuple(wires.names.index(name) for name in failure.ends)
    if len(numbers) == 1:
        return without(wires, numbers)
    return without(wires, pairs=((numbers[0], numbers[1]),))


def _some_cases(
    wires: Wires, question: RoutingQuestion, possible: Sequence[Failure], most: int
) -> Iterator[FailureCase]:
    """Yield random cases of ``most`` failures, fewer where no more fit, with few of the identical switches kept."""
    marked_apart = told_apart(wires, question)
    identical = twins(marked_apart)
    number = {name: place for place, name in enumerate(wires.names)}
    random = Random(_SEED)
    for _ in range(DRAWN):
        drawn = _drawn(random, possible, most)
        kept = {number[name] for failure in drawn for name in failure.ends}
        case = FailureCase((), few_of(marked_apart, identical, MEMBERS, kept))
        for failure in drawn:
            case = FailureCase((*case.failed, failure), after_failure(case.wires, failure))
        yield case


def _drawn(random: Random, possible: Sequence[Failure], most: int) -> list[Failure]:
    """Return random elements that count ``most`` failures together, or fewer where no further element fits."""
    drawn, left = list[Failure](), most
    while left:
        failure = random.choice(possible)
        if failure not in drawn and failure.links <= left:
            drawn.append(failure)
            left -= failure.links
        elif not any(other.links <= left and other not in drawn for other in possible):
            break
    return drawn


class CriticalElements(NamedTuple):
    """Elements of paths with too few disjoint alternatives: switches, and pairs of switches, the lower number first."""

    switches: frozenset[int]
    pairs: frozenset[tuple[int, int]]


def critical_elements(wires: Wires, moves: PolicyMoves, failures: int) -> CriticalElements:
    """Return the critical elements: any set of up to ``failures`` failures that changes a distance has one of them."""
    paths = shortest_paths(moves, wires.attached)
    switches, pairs = set[int](), set[tuple[int, int]]()
    for move, here in enumerate(carried(moves, paths, _with_few(wires, moves, paths, failures))):
        if here:
            near, far = moves.channels[moves.over[move]]
            pairs.add((min(near, far), max(near, far)))
            if here & ~paths.own[far]:
                switches.add(far)
    return CriticalElements(frozenset(switches), frozenset(pairs))


def _with_few(wires: Wires, moves: PolicyMoves, paths: ShortestPaths, failures: int) -> dict[int, int]:
    """Return, by switch with hosts, the destinations with shortest paths by at most ``failures`` parts or links."""
    through = _through(wires, moves, paths)
    scarce = {}
    for switch in paths.destinations:
        more = [-1] + [0] * (failures + 1)
        for reached in through[switch]:
            for count in range(failures, -1, -1):
                more[count + 1] |= more[count] & reached
        scarce[switch] = ~more[-1]
    return scarce


def _through(wires: Wires, moves: PolicyMoves, paths: ShortestPaths) -> dict[int, Sequence[int]]:
    """Return, by switch with hosts, the destinations of shortest paths over each connected component, and each link.

    Links that go straight from one switch with hosts to another fail together, and count as many failures.
    """
    with_hosts = frozenset(paths.destinations)
    paths_beyond, part = shortest_paths(moves, wires.attached, with_hosts), parts(wires, with_hosts)
    by_part: dict[int, dict[int, int]] = {switch: {} for switch in paths.destinations}
    straight: dict[int, list[int]] = {switch: [] for switch in paths.destinations}
    for tail, head in zip(moves.tails, moves.heads, strict=True):
        # Only what a switch sends itself begins here: in the state of its own number.
        if tail not in with_hosts:
            continue
        far = moves.at[head]
        if far in with_hosts:
            straight[tail] += [paths.own[far]] * wires.links[tail][far]
            continue
        reached = by_part[tail].get(part[far], 0)
        for layer, following in zip(paths_beyond.layers, paths.layers[1:], strict=False):
            reached |= layer.get(head, 0) & following.get(tail, 0)
        by_part[tail][part[far]] = reached
    return {switch: [*by_part[switch].values(), *straight[switch]] for switch in paths.destinations}
