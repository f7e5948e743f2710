"""The relevant places of a finished run: its hottest queue, the groups that feed it, the paused links, the senders."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.kernel import recorder
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.simulation.engine.run import Simulation
    from lossless.analysis.simulation.engine.state import SimState

MOST_GROUPS, MOST_LINKS, MOST_FLOWS = 64, 24, 128
"""How many of each are recorded: groups of peak PG occupancy, links that were paused longest, and flows, those through
the hottest queue before others."""


class NodeNames(NamedTuple):
    """Functions that return names: of a node by its number, and of both ends of a link by its number."""

    node: Callable[[int], str]
    ends: Callable[[int], tuple[str, str]]


class Focus(NamedTuple):
    """The relevant parts of a run, by the numbers of its queues, groups and flows.

    ``feeding`` are the groups whose frames went to the hottest queue, by peak PG occupancy; ``carrying`` the queues
    that traffic passed, those paused longest first; ``flows`` those that passed the hottest queue, then the others.
    """

    hottest: int
    feeding: tuple[int, ...]
    carrying: tuple[int, ...]
    flows: tuple[int, ...]


class Probe(NamedTuple):
    """A probe: the kind of its values, its name, and its object in the kernel; ``flow`` is a number in the network."""

    kind: str
    name: str
    sees: int
    at: int
    flow: int = -1


def focus(simulation: Simulation) -> Focus:
    """Return the relevant parts of a finished run.

    Raises:
        ScenarioError: no traffic passed a switch.
    """
    state, classes = simulation.state, simulation.index.classes
    hottest = _hottest(simulation)
    carried = tuple(_routes(simulation))
    steps = ((*step, class_number) for links, class_number in carried for step in pairwise(links))
    all_routes, link = simulation.index.wiring.all_routes, hottest // classes
    passing = [any(link in route for route in routes) for routes in all_routes]
    return Focus(
        hottest=hottest,
        feeding=_most(
            {
                into * classes + class_number
                for into, onward, class_number in steps
                if onward * classes + class_number == hottest
            },
            state.groups["max_bytes"],
        ),
        carrying=_most(
            {link * classes + class_number for links, class_number in carried for link in links},
            paused_ps(state),
        ),
        flows=tuple(sorted(range(len(all_routes)), key=lambda number: (not passing[number], number))),
    )


def _hottest(simulation: Simulation) -> int:
    state = simulation.state
    in_switches = np.repeat(state.links["sender_unit"] >= 0, simulation.index.classes)
    held = state.queues["max_bytes"] * in_switches
    if not held.any():
        raise ScenarioError("nothing passed a switch: there is no queue to look at")
    return int(held.argmax())


def _routes(simulation: Simulation) -> Iterator[tuple[Sequence[int], int]]:
    """Yield the links and the class of every transfer, and of the ACKs that are simulated."""
    flows, wiring = simulation.network.flows, simulation.index.wiring
    for flow, routes in zip(flows, wiring.all_routes, strict=True):
        yield from ((route, flow.traffic_class) for route in routes)
    apart = wiring.classes > simulation.network.classes
    for number in wiring.acked:
        own = wiring.classes - 1 if apart else flows[number].traffic_class
        yield from ((route, own) for route in wiring.all_returns[number])


def _most(numbers: Iterable[int], values: Any) -> tuple[int, ...]:
    return tuple(sorted(numbers, key=lambda at: (-int(values[at]), at)))


def paused_ps(state: SimState) -> Any:
    """Return how long each transmitter and class has been paused in all, in ps."""
    queues = state.queues
    stands = queues["paused_since"] >= 0
    return queues["paused_ps"] + (state.clock["now"][0] - queues["paused_since"]) * stands


def probes(simulation: Simulation, focal: Focus, names: NodeNames) -> Iterator[Probe]:
    """Yield the probes for a repetition of the same run."""
    groups, feeding = simulation.state.groups, focal.feeding[:MOST_GROUPS]
    yield Probe("egress", queue_name(simulation, focal.hottest, names), recorder.QUEUE_BYTES, focal.hottest)
    for at in feeding:
        yield Probe("group", queue_name(simulation, at, names), recorder.GROUP_BYTES, at)
    for at in _kinds(groups, feeding, "unit", "alpha", "static_bytes", "lossless"):
        what = "XOFF threshold" if groups["lossless"][at] else "drop threshold"
        yield Probe("threshold", what, recorder.GROUP_THRESHOLD, at)
    for at in lossless(groups, feeding):
        yield Probe("headroom", queue_name(simulation, at, names), recorder.GROUP_HEADROOM, at)
    for at in _kinds(groups, feeding, "unit"):
        node = simulation.index.wiring.ends[at // simulation.index.classes][1]
        yield Probe("memory", names.node(node), recorder.UNIT_BYTES, int(groups["unit"][at]))
    for at in focal.carrying[:MOST_LINKS]:
        yield Probe("paused", queue_name(simulation, at, names), recorder.PAUSED_PS, at)
    yield from _of_flows(simulation, focal.flows[:MOST_FLOWS], names)


def _of_flows(simulation: Simulation, flows: Sequence[int], names: NodeNames) -> Iterator[Probe]:
    place, network = simulation.index.flow_at, simulation.network
    called = {number: _flow_name(network.flows[number].path, names) for number in flows}
    for number, name in called.items():
        if network.flows[number].dcqcn is not None:
            yield Probe("rate", name, recorder.RATE, place[number], number)
    for number, name in called.items():
        yield Probe("delivered", name, recorder.DELIVERED_BYTES, place[number], number)


def lossless(groups: Any, among: Iterable[int]) -> tuple[int, ...]:
    """Return the groups that pause their peer before they drop."""
    return tuple(at for at in among if groups["lossless"][at])


def _kinds(groups: Any, among: Iterable[int], *fields: str) -> tuple[int, ...]:
    """Return one group of each kind, those with the same ``fields``."""
    first: dict[tuple[Any, ...], int] = {}
    for at in among:
        first.setdefault(tuple(groups[field][at].item() for field in fields), at)
    return tuple(first.values())


def queue_name(simulation: Simulation, at: int, names: NodeNames) -> str:
    """Return the name of a queue, or of the group at the other end of its link: both ends, and the class."""
    link, number = divmod(at, simulation.index.classes)
    sender, receiver = names.ends(link)
    which = f", class {number}" if simulation.index.classes > 1 else ""
    return f"{sender} to {receiver}{which}"


def _flow_name(path: Sequence[int], names: NodeNames) -> str:
    return f"{names.node(path[0])} to {names.node(path[-1])}"
