"""What the rules about circles share: the routing of a fabric, judged once, and circles in words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lossless.analysis.routing.channels import Wires, wires_of, without
from lossless.analysis.routing.dependencies import RoutingQuestion, cycle_through_outside
from lossless.analysis.routing.failures import FailureBudget, FailureOutcome, after_failures
from lossless.checks.rules.wording import joined, spell
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.analysis.routing.dependencies import CycleHop
    from lossless.analysis.routing.failures import Failure
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.view import View

UNSTATED = "an intent does not say how packets are routed: up and then down leads not everywhere"


class FabricRouting(NamedTuple):
    """A fabric as packets find their way in it, and what comes of that.

    ``stated``: the intent says how they do; else they go up and then down, as a Clos is routed.
    """

    stated: bool
    wires: Wires
    question: RoutingQuestion
    outcome: FailureOutcome

    @property
    def unknown(self) -> bool:
        """Whether nothing is stated and going up and then down cannot be meant."""
        return not self.stated and (self.outcome.lost is not None or _tierless(self.wires))

    @property
    def cycle(self) -> tuple[CycleHop, ...]:
        """The smallest circle, after as few failures as it takes."""
        return self.outcome.cycle.verdict.cycle if self.outcome.cycle else ()

    @property
    def beyond(self) -> str:
        """What is not known of devices outside and could close a circle, empty where nothing could."""
        wires = self.wires
        circle = cycle_through_outside(wires, self.question) if wires.outside else ()
        outside = {wires.names[switch] for switch in wires.outside}
        through = list(dict.fromkeys(hop.near for hop in circle if hop.near in outside))
        are = "is" if len(through) == 1 else "are"
        why = "whether packets turn there so that buffers wait in a circle is not known"
        return f"{joined(through)} {are} configured elsewhere: {why}" if through else ""

    def pauses_above(self, name: str) -> bool:
        """Return whether what comes down to a switch is paused, and what it sends up."""
        switch = self.wires.names.index(name)
        ways = self.wires.lossy
        above = self.wires.above(switch)
        return any((other, switch) not in ways for other in above) and any(
            (switch, other) not in ways for other in above
        )


_JUDGED: WeakKeyDictionary[View, FabricRouting | None] = WeakKeyDictionary()


def routed(view: View) -> FabricRouting | None:
    """Return how a fabric is routed, judged once for all rules; None where nothing is ever paused."""
    if view not in _JUDGED:
        _JUDGED[view] = _routed(view.fabric)
    return _JUDGED[view]


def _routed(fabric: Fabric) -> FabricRouting | None:
    if not fabric.classes.lossless or fabric.lossy_origin is not None:
        return None
    routing, wires = fabric.routing, wires_of(fabric)
    bounces = frozenset(one.names[0] for one in routing.bounce) if routing else frozenset()
    tors = frozenset(switch.device for switch in fabric.switches if switch.qos.tunnel is not None)
    question = RoutingQuestion(routing.policy if routing else "up-down", bounces, tors - bounces)
    borne = fabric.failures
    if routing is None or borne is None:
        return FabricRouting(False, wires, question, after_failures(wires, question, FailureBudget(0, 0)))
    left = _in_service(wires, [one.names for one in borne.out_of_service])
    return FabricRouting(
        True, left, question, after_failures(left, question, FailureBudget(borne.links, borne.switches))
    )


def _in_service(wires: Wires, failed: Collection[Sequence[str]]) -> Wires:
    number = {name: place for place, name in enumerate(wires.names)}
    numbers = [tuple(number[name] for name in names if name in number) for names in failed]
    switches = {names[0] for names in numbers if len(names) == 1}
    return without(wires, switches, [(names[0], names[1]) for names in numbers if len(names) == 2])


def _tierless(wires: Wires) -> bool:
    inside = (switch for switch in range(len(wires.names)) if switch not in wires.outside)
    return any(wires.links[switch] and not wires.tiers[switch] for switch in inside)


def flooded(routing: FabricRouting) -> FabricRouting:
    """Return the fabric as it is where every leaf sends up what it floods."""
    wires, question = routing.wires, routing.question
    leaves = {
        n for n, here in enumerate(wires.attached) if here and n not in wires.outside and wires.above(n)
    }
    bounces = question.bounces | {wires.names[leaf] for leaf in leaves}
    flood = RoutingQuestion(question.policy, bounces)
    return FabricRouting(routing.stated, wires, flood, after_failures(wires, flood, FailureBudget(0, 0)))


def circle_in_words(circle: Sequence[CycleHop]) -> str:
    """Return the switches of a circle in order: ``leaf1 -> spine1 -> leaf2 -> spine1 -> leaf1``."""
    return " -> ".join([hop.near for hop in circle] + [circle[0].near])


def ports_in_words(circle: Sequence[CycleHop]) -> str:
    """Return the links of a circle in order, and where it turns up."""
    hops = ", ".join(f"{hop.from_port} -> {hop.to_port}" for hop in circle)
    up = list(dict.fromkeys(hop.near for hop in circle if hop.up_again))
    turns = f"; what came from above goes up again at {joined(up)}" if up else ""
    return f"what comes by each link waits for the next: {hops}{turns}"


def buffers(circle: Sequence[CycleHop]) -> tuple[str, ...]:
    """Return the ports whose ingress buffers wait for each other."""
    return tuple(hop.to_port for hop in circle)


def priorities(view: View) -> str:
    """Return the priorities of the lossless classes: ``priority 3``."""
    return spell({c.priority for c in view.fabric.classes.lossless if c.priority is not None})


def after(failed: Sequence[Failure]) -> str:
    """Return what has failed as the beginning of a message, empty where nothing has."""
    if not failed:
        return ""
    return f"once {joined([_struck(strike) for strike in failed])} {'has' if len(failed) == 1 else 'have'} failed, "


def _struck(strike: Failure) -> str:
    if len(strike.ends) == 1:
        return strike.ends[0]
    count = f"all {strike.links} links" if strike.links > 1 else "the link"
    return f"{count} of {strike.ends[0]} and {strike.ends[1]}"
