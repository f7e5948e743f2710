"""Shared by the rules on cyclic buffer dependencies: a fabric's routing, checked once, and the words for a cycle."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lossless.analysis.routing.dependencies import RoutingQuestion, cycle_through_outside
from lossless.analysis.routing.failures import FailureBudget, FailureOutcome, after_failures
from lossless.analysis.routing.symmetry import Wires, wires_of, without
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.analysis.routing.failures import Failure, VerdictAfterFailures
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.view import View

UNSTATED = "missing topology.routing: up-down routing does not reach every switch"


class FabricRouting(NamedTuple):
    """The routing of a fabric, and the cycle, valley and loss of paths that it leads to (``outcome``).

    ``stated``: the intent declares the routing; else up-down routing is assumed, as in a Clos. ``shortest`` is the
    outcome with shortest paths alone, where extra hops are allowed and there is a cycle or valley; else None.
    """

    stated: bool
    wires: Wires
    question: RoutingQuestion
    outcome: FailureOutcome
    shortest: FailureOutcome | None = None

    @property
    def unknown(self) -> bool:
        """Whether no routing is stated and up-down routing is impossible."""
        return not self.stated and (self.outcome.lost is not None or _tierless(self.wires))

    @property
    def cycle(self) -> tuple[CycleHop, ...]:
        """The smallest cyclic buffer dependency, after the fewest failures that it needs; empty without one."""
        return self.outcome.cycle.verdict.cycle if self.outcome.cycle else ()

    @property
    def extra_hops(self) -> int:
        """The allowed extra hops if the cycle or valley needs them; 0 if shortest paths have it at as few failures."""
        if self.shortest is None:
            return 0
        if self.outcome.cycle:
            needed = _costs(self.outcome.cycle) < _costs(self.shortest.cycle)
        else:
            needed = _costs(self.outcome.valley) < _costs(self.shortest.valley)
        return self.question.extra_hops if needed else 0

    @property
    def beyond(self) -> str:
        """The text on devices outside that could close a cycle, as their routes are unknown; empty where none could."""
        wires = self.wires
        cycle = cycle_through_outside(wires, self.question) if wires.outside else ()
        outside = {wires.names[switch] for switch in wires.outside}
        through = list(dict.fromkeys(hop.near for hop in cycle if hop.near in outside))
        are = "is" if len(through) == 1 else "are"
        why = "routes there are unknown and could close a cyclic buffer dependency"
        return f"{joined(through)} {are} configured elsewhere: {why}" if through else ""

    def pauses_above(self, name: str) -> bool:
        """Return whether links up from a switch have PFC: in an intent both of their ends do, or neither."""
        switch = self.wires.names.index(name)
        return any((switch, other) not in self.wires.lossy for other in self.wires.above(switch))


def _costs(case: VerdictAfterFailures | None) -> float:
    """Return the number of failures that a case needs, infinite where there is no case."""
    return inf if case is None else sum(failure.links for failure in case.failed)


_BY_VIEW: WeakKeyDictionary[View, FabricRouting | None] = WeakKeyDictionary()


def routing_of(view: View) -> FabricRouting | None:
    """Return the routing of a fabric and its outcome, checked once for all rules; None where no port is ever paused."""
    if view not in _BY_VIEW:
        _BY_VIEW[view] = _routing_of(view.fabric)
    return _BY_VIEW[view]


def closes_cycle_if_all_pause(view: View) -> bool:
    """Return whether a cyclic buffer dependency would close if all kinds of links had PFC."""
    routing = _routing_of(view.fabric._replace(pfc_tiers=None))
    return routing is not None and bool(routing.cycle)


def _routing_of(fabric: Fabric) -> FabricRouting | None:
    if not fabric.classes.lossless or fabric.lossy_origin is not None:
        return None
    routing, wires = fabric.routing, wires_of(fabric)
    bounces = frozenset(bounce.names[0] for bounce in routing.bounce) if routing else frozenset()
    tors = frozenset(switch.device for switch in fabric.switches if switch.qos.tunnel is not None)
    question = RoutingQuestion(
        routing.policy if routing else "up-down",
        bounces,
        tors - bounces,
        routing.extra_hops if routing else 0,
    )
    failures = fabric.failures
    if routing is None or failures is None:
        return FabricRouting(False, wires, question, after_failures(wires, question, FailureBudget(0, 0)))
    left = _in_service(wires, [element.names for element in failures.out_of_service])
    return _stated(left, question, FailureBudget(failures.links, failures.switches))


def _stated(wires: Wires, question: RoutingQuestion, budget: FailureBudget) -> FabricRouting:
    outcome, shortest = after_failures(wires, question, budget), None
    if question.extra_hops and (outcome.cycle or outcome.valley):
        shortest = after_failures(wires, question._replace(extra_hops=0), budget)
    return FabricRouting(True, wires, question, outcome, shortest)


def _in_service(wires: Wires, failed: Collection[Sequence[str]]) -> Wires:
    number = {name: place for place, name in enumerate(wires.names)}
    numbers = [tuple(number[name] for name in names if name in number) for names in failed]
    switches = {names[0] for names in numbers if len(names) == 1}
    return without(wires, switches, [(names[0], names[1]) for names in numbers if len(names) == 2])


def _tierless(wires: Wires) -> bool:
    inside = (switch for switch in range(len(wires.names)) if switch not in wires.outside)
    return any(wires.links[switch] and not wires.tiers[switch] for switch in inside)


def flooding_results(
    routing: FabricRouting, violation_of: Callable[[Sequence[CycleHop]], Violation]
) -> Results:
    """Yield the violation of the cyclic buffer dependency that flooding closes, or the missing input about it."""
    flood = _flooded(routing)
    if flood.cycle:
        yield violation_of(flood.cycle)
    elif beyond := flood.beyond:
        yield MissingInput(beyond)


def _flooded(routing: FabricRouting) -> FabricRouting:
    """Return the routing of the fabric with every leaf flooding upwards, without failures."""
    wires, question = routing.wires, routing.question
    leaves = {
        n for n, here in enumerate(wires.attached) if here and n not in wires.outside and wires.above(n)
    }
    bounces = question.bounces | {wires.names[leaf] for leaf in leaves}
    flood = RoutingQuestion(question.policy, bounces)
    return FabricRouting(routing.stated, wires, flood, after_failures(wires, flood, FailureBudget(0, 0)))


def cycle_violation(origin: Origin, message: str, cycle: Sequence[CycleHop], help_text: str) -> Violation:
    """Return the violation of a cycle; ``message`` is completed by its switches in order."""
    return Violation(
        origin=origin,
        # leaf1 -> spine1 -> leaf2 -> spine1 -> leaf1
        message=f"{message}: {' -> '.join([hop.near for hop in (*cycle, cycle[0])])}",
        note=_ports_in_words(cycle),
        help=help_text,
        # The ports whose ingress buffers form the cycle.
        elements=tuple(hop.to_port for hop in cycle),
    )


def _ports_in_words(cycle: Sequence[CycleHop]) -> str:
    """Return the links of a cycle in order, and its valleys, as text."""
    hops = ", ".join(f"{hop.from_port} -> {hop.to_port}" for hop in cycle)
    up = list(dict.fromkeys(hop.near for hop in cycle if hop.up_again))
    valleys = f"; valley at {joined(up)}" if up else ""
    return f"each link waits for the next: {hops}{valleys}"


def lossless_priorities(view: View) -> str:
    """Return the priorities of the lossless classes: ``priority 3``."""
    return spell({c.priority for c in view.fabric.classes.lossless if c.priority is not None})


def spelled_hops(count: int) -> str:
    """Return a number of extra hops as text: ``2 extra hops``."""
    return f"{count} extra {'hop' if count == 1 else 'hops'}"


def once_failed(failed: Sequence[Failure]) -> str:
    """Return the failures as the beginning of a message; empty where there are none."""
    if not failed:
        return ""
    several = len(failed) > 1 or failed[0].links > 1
    return f"after {joined([_in_words(failure) for failure in failed])} {'fail' if several else 'fails'}, "


def _in_words(failure: Failure) -> str:
    if len(failure.ends) == 1:
        return failure.ends[0]
    count = f"all {failure.links} links" if failure.links > 1 else "link"
    return f"{count} {failure.ends[0]} - {failure.ends[1]}"
