"""A recording of one run for pictures: of its deepest queue, the groups that feed it, paused links and senders.

Which queue, groups and links these are is known only after a run. So a seed is run twice: the same seed is the same
run.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.kernel import run as recorder
from lossless.analysis.simulation.engine.network import UNBOUNDED
from lossless.analysis.simulation.engine.records import NEVER
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.engine.wiring import PS_PER_BYTE
from lossless.analysis.simulation.study.measure import place_of
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.simulation.engine.run import RunOutcome
    from lossless.analysis.simulation.engine.state import SimState
    from lossless.analysis.simulation.question.instance import ScenarioInstance


MOST_GROUPS, MOST_LINKS, MOST_FLOWS = 64, 24, 128
"""The most groups, links and flows that are recorded: groups by peak PG occupancy, links by their time in pause, and
flows through the hottest queue before others."""


class NodeNames(NamedTuple):
    """Functions that return the name of a node by its number, and the names of both ends of a link by its number."""

    node: Callable[[int], str]
    ends: Callable[[int], tuple[str, str]]


class Focus(NamedTuple):
    """The queues, groups and flows of a run to record, by number, the most relevant first.

    ``hottest`` is the switch queue of peak depth. ``feeding`` are the groups whose frames went to it, by peak PG
    occupancy; ``carrying`` the queues that traffic passed, those paused longest first; ``flows`` all flows, those that
    passed the hottest queue first.
    """

    hottest: int
    feeding: tuple[int, ...]
    carrying: tuple[int, ...]
    flows: tuple[int, ...]


class Probe(NamedTuple):
    """A probe: the kind of its values, its name, and its object in the kernel; ``flow`` is a flow's number, or -1.

    ``sees`` is the kernel's kind of probe, ``at`` the index of the queue, group, memory unit or flow.
    """

    kind: str
    name: str
    sees: int
    at: int
    flow: int = -1


def focus(simulation: Simulation) -> Focus:
    """Return the queues, groups and flows of a finished run to record.

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
    """Yield each route of every transfer, and of the ACKs that are simulated, with its traffic class."""
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
    """Yield the probes of a focus for a repetition of the same run, within the limits of groups, links and flows."""
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
    """Return the name of a queue, or of the group at the other end of its link: both ends, and one class of several."""
    link, number = divmod(at, simulation.index.classes)
    sender, receiver = names.ends(link)
    which = f", class {number}" if simulation.index.classes > 1 else ""
    return f"{sender} to {receiver}{which}"


def _flow_name(path: Sequence[int], names: NodeNames) -> str:
    return f"{names.node(path[0])} to {names.node(path[-1])}"


SAMPLES = 800
"""The number of samples of a run after its beginning: about the columns of a picture."""


class Series(NamedTuple):
    """The values of one probe at the times of its recording.

    ``kind``: ``egress``, ``group``, ``threshold``, ``headroom`` and ``memory`` are bytes (``B``) at a time. ``paused``
    is for how many ``us`` since the time before a link was paused. ``rate`` is the rate that DCQCN allowed when the
    sender last sent, ``delivered`` the rate of arrivals since the time before, both in ``b/s`` and None while the flow
    does not run. ``peak`` is the largest value of the run, between the times too, if it is known; ``pauses`` how often
    a link was paused.
    """

    kind: str
    name: str
    unit: str
    values: tuple[float | None, ...]
    peak: int | None = None
    pauses: int | None = None


class Limit(NamedTuple):
    """A constant line among the series of a kind: Kmin, a headroom, the rate of a link."""

    kind: str
    name: str
    unit: str
    value: float


class Moment(NamedTuple):
    """The first time of an event (mark, PAUSE, drop or watchdog trigger), None where it never happened."""

    name: str
    at_us: float | None


class Recording(NamedTuple):
    """One recorded run: its question, the times of samples, and the series.

    ``counts`` has how many ``groups`` feed the hottest queue, how many ``links`` carry traffic, counted for each
    direction and class, how many of them were ``paused``, and how many ``flows`` there are, including those without a
    series.
    """

    title: str
    seed: int
    times_us: tuple[float, ...]
    series: tuple[Series, ...]
    limits: tuple[Limit, ...]
    moments: tuple[Moment, ...]
    counts: dict[str, int]


def record(instance: ScenarioInstance, seed: int, until_ns: float, title: str) -> Recording:
    """Return the recording of a seed of a scenario, run up to a time and once more with probes.

    Raises:
        ScenarioError: no traffic passed a switch until then.
    """
    simulation = Simulation(instance.network, seed)

    def ends(link: int) -> tuple[str, str]:
        sender = place_of(link, simulation.index, instance, sending=True)
        return str(sender), str(place_of(link, simulation.index, instance, sending=False))

    return record_run(simulation, NodeNames(instance.names.__getitem__, ends), seed, until_ns, title)


def record_run(simulation: Simulation, names: NodeNames, seed: int, until_ns: float, title: str) -> Recording:
    """Return the recording of a simulation, run up to a time and once more with probes.

    ``names`` has the names of its nodes and links.

    Raises:
        ScenarioError: no traffic passed a switch until then.
    """
    simulation.advance(until_ns)
    seen = focus(simulation)
    watched = tuple(probes(simulation, seen, names))
    every_ps = max(1, int(simulation.state.clock["now"][0]) // SAMPLES)
    simulation.restart(seed)
    simulation.record([(probe.sees, probe.at) for probe in watched], every_ps / 1000, SAMPLES + 1)
    simulation.advance(until_ns)
    state = simulation.state
    times_ps = np.arange(int(state.clock["samples"][0])) * every_ps
    samples = state.samples[: len(times_ps)]
    return Recording(
        title=title,
        seed=seed,
        times_us=tuple((times_ps / 1e6).tolist()),
        series=tuple(_series(state, probe, times_ps, samples[:, at]) for at, probe in enumerate(watched)),
        limits=tuple(_limits(simulation, seen, names)),
        moments=tuple(_moments(simulation.outcome())),
        counts=_counts(state, seen),
    )


# --- series ---


def _series(state: SimState, probe: Probe, times_ps: Any, seen: Any) -> Series:
    if probe.kind == "paused":
        since = np.diff(seen, prepend=0.0) / 1e6
        return Series(
            probe.kind, probe.name, "us", tuple(since.tolist()), pauses=int(state.queues["pauses"][probe.at])
        )
    if probe.kind in ("rate", "delivered"):
        return Series(probe.kind, probe.name, "b/s", _of_flow(state, probe, times_ps, seen))
    return Series(probe.kind, probe.name, "B", tuple(seen.tolist()), _peak(state, probe))


def _of_flow(state: SimState, probe: Probe, times_ps: Any, seen: Any) -> tuple[float | None, ...]:
    """Return the rate of a flow at each sample while it runs, None before its start and after its end is sampled."""
    every_ps = times_ps[1] if len(times_ps) > 1 else 1
    rates = seen if probe.kind == "rate" else np.diff(seen, prepend=0.0) * PS_PER_BYTE / every_ps
    flow = state.flows[probe.at]
    done_at = NEVER if flow["done_at"] < 0 else int(flow["done_at"]) + every_ps
    runs = (times_ps >= flow["started_at"]) & (times_ps < done_at)
    return tuple(rate if now else None for rate, now in zip(rates.tolist(), runs.tolist(), strict=True))


def _peak(state: SimState, probe: Probe) -> int | None:
    if probe.kind == "egress":
        return int(state.queues["max_bytes"][probe.at])
    if probe.kind in ("group", "headroom"):
        return int(state.groups["max_bytes" if probe.kind == "group" else "max_headroom"][probe.at])
    return None


# --- what does not move ---


def _limits(simulation: Simulation, seen: Focus, names: NodeNames) -> Iterator[Limit]:
    yield from _egress_limits(simulation.state.queues[seen.hottest])
    groups = simulation.state.groups
    sizes = [int(groups["headroom_bytes"][at]) for at in lossless(groups, seen.feeding)]
    for size in sorted(set(sizes)):
        many = sizes.count(size)
        some = f" of {many} group{'s' if many > 1 else ''}" if many < len(sizes) else ""
        yield Limit("headroom", f"headroom{some}", "B", size)
    for unit in sorted({int(groups["unit"][at]) for at in seen.feeding}):
        yield from _memory_limits(simulation.state.units[unit])
    yield from _rate_limits(simulation, seen, names)


def _egress_limits(queue: Any) -> Iterator[Limit]:
    if queue["wred"]:
        low, high = ("WRED minimum", "WRED maximum") if queue["wred"] == 2 else ("Kmin", "Kmax")
        yield Limit("egress", low, "B", float(queue["kmin"]))
        yield Limit("egress", high, "B", float(queue["kmax"]))
    if queue["limit_bytes"] < UNBOUNDED:
        yield Limit("egress", "queue limit", "B", int(queue["limit_bytes"]))


def _memory_limits(unit: Any) -> Iterator[Limit]:
    pool, headroom = int(unit["pool_bytes"]), int(unit["headroom_pool_bytes"])
    yield Limit("memory", "pool", "B", pool)
    yield Limit("memory", "pool and headroom", "B", min(pool + headroom, int(unit["buffer_bytes"])))


def _rate_limits(simulation: Simulation, seen: Focus, names: NodeNames) -> Iterator[Limit]:
    """Yield the rates of the NICs, and an equal share of the link that has most to carry for its rate."""
    routes = simulation.index.wiring.routes
    rate_bps = PS_PER_BYTE / simulation.state.links["ps_per_byte"]
    for line_bps in sorted({round(rate_bps[routes[number][0]]) for number in seen.flows[:MOST_FLOWS]}):
        yield Limit("rate", "line rate of senders", "b/s", line_bps)
    flows = _flows_by_link(simulation)
    tightest = max(sorted(flows), key=lambda link: flows[link] / rate_bps[link])
    sender, receiver = names.ends(tightest)
    share = f"1/{flows[tightest]:.3g} of {sender} to {receiver}"
    for kind in ("rate", "delivered"):
        yield Limit(kind, share, "b/s", round(rate_bps[tightest] / flows[tightest]))


def _flows_by_link(simulation: Simulation) -> dict[int, float]:
    """Return how many flows each link carries; a flow with several routes counts as a fraction on each."""
    flows: dict[int, float] = {}
    for routes in simulation.index.wiring.all_routes:
        for link in (link for route in routes for link in route):
            flows[link] = flows.get(link, 0) + 1 / len(routes)
    return {link: round(many, 9) for link, many in flows.items()}


def _moments(seen: RunOutcome) -> Iterator[Moment]:
    for name, at_ns in (
        ("first mark", seen.first_mark_ns),
        ("first PAUSE", seen.first_pause_ns),
        ("first drop", seen.first_drop_ns),
        ("watchdog triggers", seen.first_storm_ns),
    ):
        yield Moment(name, None if at_ns is None else at_ns / 1000)


def _counts(state: SimState, seen: Focus) -> dict[str, int]:
    return {
        "groups": len(seen.feeding),
        "links": len(seen.carrying),
        "paused": sum(int(state.queues["pauses"][at]) > 0 for at in seen.carrying),
        "flows": len(seen.flows),
    }
