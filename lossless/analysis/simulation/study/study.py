"""A scenario over its seeds: the length of each run, on all cores, and the combined results.

The storage class that runs beside the requested class has results of its own, which are part of the verdict.

The reaction limit is the time that peers may take for PFC if a vendor's headroom is less than the slowest peer needs.
IEEE 802.3 allows a peer up to 905 pause quanta at 400G. Some headroom rows of vendors are too small for such a peer:
they assume that their own NICs and switches are quicker, and no public source has their reaction time. A drop that
depends on this is not a certain fault: the result is the longest reaction time without drops.

The same network without loss is a reference for the time of transfers of a lossy class. Senders, paths, marks and
links stay. Queues and pools have no limit, no timer runs out, and receivers of packets that come by several paths
take them in any order. Transfers that are slow then have other causes: DCQCN that recovers, or links that several
flows share.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.analysis.simulation.engine.network import UNBOUNDED, SimGroup, SimPort
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, ScenarioInstance, instantiate
from lossless.analysis.simulation.question.nodes import reaction_ns
from lossless.analysis.simulation.question.ports import need_of
from lossless.analysis.simulation.question.request import spread_ideally
from lossless.analysis.simulation.study.loss import UNSAFE_SLOWDOWN, is_late, loss_of, step_time_ns
from lossless.analysis.simulation.study.measure import SeedResult, cycle, measure, standing_since
from lossless.ground.basics.errors import ScenarioError, TooLargeError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.analysis.simulation.engine.network import SimCable, SimFlow, SimNetwork, SimQueue, SimSwitch
    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import GroupUse, NamedLinkEnd
    from lossless.model.fabric.view import View


class BesideVerdict(NamedTuple):
    """The results of the storage class beside the requested one: seeds with drops and with PFC, the longest pause."""

    name: str
    lossless: bool
    dropping_seeds: int
    pfc_seeds: int
    longest_pause_us: float


def beside_verdict(results: Study) -> BesideVerdict | None:
    """Return the results of the storage class over all seeds, None without storage."""
    seen = [seed.beside for seed in results.seeds if seed.beside is not None]
    if not seen:
        return None
    own = results.scenario.classes[1]
    return BesideVerdict(
        name=own.name,
        lossless=own.lossless,
        dropping_seeds=sum(each.drops > 0 for each in seen),
        pfc_seeds=sum(each.pauses > 0 for each in seen),
        longest_pause_us=max(each.longest_pause_ns for each in seen) / 1000,
    )


def dropped_beside(results: Study) -> Iterable[SimulationCause]:
    """Yield the cause where the class of storage is lossless and loses frames."""
    classes = results.scenario.classes
    dropping = [seed for seed in results.seeds if seed.beside is not None and seed.beside.drops]
    if dropping and classes[1].lossless:
        seeds = f"{len(dropping)} of {len(results.seeds)} seeds"
        text = f"lossless frames of class {classes[1].name} are dropped in {seeds}"
        yield SimulationCause("drop", "unsafe", text, len(dropping))


def edges_beside(results: Study, frame_bytes: int) -> Iterable[SimulationCause]:
    """Yield the cause where the class of storage is lossless, dropped nothing, and had too little headroom left."""
    left = [seed.beside.margin_bytes for seed in results.seeds if seed.beside is not None]
    near = [each for each in left if each is not None and each < frame_bytes]
    dropped = any(seed.beside is not None and seed.beside.drops for seed in results.seeds)
    if near and not dropped and results.scenario.classes[1].lossless:
        text = f"{format_bytes(max(0, min(near)))} of headroom of class {results.scenario.classes[1].name} were left"
        yield SimulationCause("headroom", "on the edge", text, len(near))


_HALVINGS = 4
"""The steps of the bisection for the reaction time, exact to a sixteenth of the time that IEEE 802.3 allows."""


class PeerReactionLimit(NamedTuple):
    """Two reaction times of peers to PFC: with ``allowed_ns`` frames are dropped, with ``safe_ns`` none.

    ``place`` is the port that dropped most. In large fabrics both times are those of the seeds that
    dropped most.
    """

    place: NamedLinkEnd
    allowed_ns: float
    safe_ns: float


def peer_reaction_limit(view: View, results: Study, limits: Limits) -> PeerReactionLimit | None:
    """Return the longest reaction time of peers without drops, of a study in which frames were dropped.

    None where frames are dropped even if peers obey at once, where there is neither a vendor's row nor a formula, or
    where the cause is another: a queue that refused frames, a shared headroom pool that ran short, or headroom below
    row or formula.
    """
    worst = _worst(results)
    pools = [
        seed.headroom_pool_margin_bytes
        for seed in results.seeds
        if seed.headroom_pool_margin_bytes is not None
    ]
    short = any(left < results.scenario.frame_bytes for left in pools)
    if worst is None or short or any(seed.refused for seed in results.seeds):
        return None
    rate_bps = _row_rate_bps(view, worst.place)
    if rate_bps is None or _drops(results, 0.0, limits):
        return None
    safe, unsafe = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (safe + unsafe) / 2
        safe, unsafe = (safe, middle) if _drops(results, middle, limits) else (middle, unsafe)
    return PeerReactionLimit(worst.place, reaction_ns(rate_bps), safe * reaction_ns(rate_bps))


def _worst(results: Study) -> GroupUse | None:
    dropping = [seed.worst for seed in results.seeds if seed.drops and seed.worst is not None]
    return max(dropping, key=lambda use: use.drops, default=None)


def _drops(results: Study, part: float, limits: Limits) -> bool:
    """Return whether frames are dropped with a part of the allowed reaction time; seeds that dropped most run first."""
    dropping = sorted(results.seeds, key=lambda seed: -(seed.drops + seed.refused))
    seeds = [seed.seed for seed in dropping]
    again = study(results.scenario._replace(reaction=part), limits, seeds=seeds, share=_REACTION_SHARE)
    return any(seed.drops + seed.refused for seed in again.seeds)


def _row_rate_bps(view: View, place: NamedLinkEnd) -> int | None:
    """Return the rate of a port with at least the headroom of its vendor's row or formula, None if less or unknown."""
    port = view.port(place.switch, place.port) if place.port is not None else None
    if port is None or port.qos is None or port.speed_bps is None:
        return None
    need = need_of(view.switch_by_name[place.switch], port)
    if need is None or need.method == "floor":
        return None
    return port.speed_bps if _given(place, view) >= need.headroom_bytes else None


def _given(place: NamedLinkEnd, view: View) -> int:
    port = view.port(place.switch, place.port or "")
    groups = port.qos.groups if port is not None and port.qos is not None else ()
    switch = view.switch_by_name[place.switch]
    held = (
        given_headroom(switch, group.buffer)
        for group in groups
        if group is not None and group.buffer is not None
    )
    return max(held, default=0)


QUIET_TIMERS = 10
"""A run ends when no maximum has grown for so many rate-increase timers: PFC comes in waves of recovery."""
QUIET_WITHOUT_NS = 1e6
"""The quiet time in ns without DCQCN, where rates do not recover in waves."""
STEP_SLACK = 1.05
"""A step takes longer than its bytes at line rate: inter-frame gaps, propagation delay, pauses that end late."""
LONGEST_STEPS = 20
"""The longest run in steps at line rate, beside the quiet time: it ends then even if queues still grow."""
NEVER_NS = 1e12
"""The quiet time of a lossy class: it is followed until all transfers have ended, or can no longer be harmless."""
_MOST_OVER_ESTIMATE = 6
"""Runs may take so many times the estimated events where lost packets are sent again: 5.3 times was measured
(lossy RoCE with go-back-N, an incast of 127)."""
_EVENTS_PER_HOP = 3
"""Events of a frame at each hop: sending, arriving, and a part of a PFC frame."""
STUDY_SHARE, UNLIMITED_SHARE, _REACTION_SHARE = 1 / 5, 1 / 10, 1 / 40
"""The parts of a report's budget of events for the requested traffic, for the same with unlimited headroom, and for
each of the studies of :func:`peer_reaction_limit`, five at most. Half of the budget is left for a permutation."""


class Times(NamedTuple):
    """Durations that bound a run: a step at line rate, the horizon, and the time without growth that ends it.

    A pause that goes on at the end of the run is followed until it is ``watch_ns`` old: a watchdog has checked it then.
    """

    step_ns: float
    horizon_ns: float
    quiet_ns: float
    watch_ns: float = 0.0


class Study(NamedTuple):
    """The results of all seeds of a scenario.

    ``step_ns`` is the time of the step at line rate over the paths of flows, ``ideal_ns`` that under ideal spreading.
    ``left_out`` is the number of seeds that were not run to keep to a budget of events.
    """

    scenario: Scenario
    seeds: tuple[SeedResult, ...]
    step_ns: float
    horizon_ns: float
    ideal_ns: float
    left_out: int = 0


def study(
    scenario: Scenario,
    limits: Limits,
    progress: Callable[[int, int], None] | None = None,
    *,
    seeds: Sequence[int] | None = None,
    share: float = STUDY_SHARE,
) -> Study:
    """Return the results of a scenario with each of its seeds; ``progress`` gets how many are done of how many.

    As many of the seeds are run as fit into a ``share`` of the budget of ``limits`` by the events of the first, one at
    least.

    Raises:
        ScenarioError: no seed is to be run, or the runs would take more events than ``limits`` allow.
    """
    wanted = seeds_of(scenario, limits) if seeds is None else seeds
    first = instantiate(scenario, 1)
    times = times_of(scenario, first.network)
    require_events(first.network, times.horizon_ns, limits._replace(seeds=len(wanted)))

    def run_seed(seed: int, go_on: Callable[[], bool]) -> SeedResult:
        return follow(first if seed == 1 else instantiate(scenario, seed), seed, times, go_on)

    runs = [partial(run_seed, seed) for seed in wanted]
    estimated = estimated_events(first.network, times.horizon_ns) * len(runs)
    if limits.budget is None or estimated * _MOST_OVER_ESTIMATE <= share * limits.budget:
        done = in_threads(runs, limits.threads, progress)
    else:
        done = in_threads(runs[:1], limits.threads)
        fitting = max(1, int(share * limits.budget) // max(1, done[0].outcome.events))
        others = runs[1:fitting]
        if progress is not None:
            progress(1, 1 + len(others))
        done += in_threads(others, limits.threads, progress and (lambda now, of: progress(1 + now, 1 + of)))
    # All flows of an incast wait for one link, however they are spread.
    is_incast = scenario.question.pattern == "incast" and not scenario.question.moves
    ideal_ns = times.step_ns if is_incast else step_time_ns(ideal_network(scenario))
    left_out = len(wanted) - len(done)
    return Study(scenario, tuple(done), times.step_ns, times.horizon_ns, ideal_ns, left_out)


def ideal_network(scenario: Scenario, seed: int = 1) -> SimNetwork:
    """Return the network of a seed in which packets are spread over all equal paths."""
    return instantiate(scenario._replace(question=spread_ideally(scenario.question)), seed).network


def in_threads(
    runs: Sequence[Callable[[Callable[[], bool]], Any]],
    threads: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """Return the results of runs, each called with a function that returns whether to go on.

    ``threads`` None: one a core.
    """
    done: list[Any] = []
    stopped = Event()
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            for seen in pool.map(lambda run: run(lambda: not stopped.is_set()), runs):
                done.append(seen)
                if progress is not None:
                    progress(len(done), len(runs))
        except BaseException:
            # Threads cannot be ended from outside: they check this event from time to time.
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    return done


def times_of(scenario: Scenario, network: SimNetwork) -> Times:
    """Return the durations of the runs of a scenario, by the network of its first seed."""
    step_ns = step_time_ns(network)
    return Times(step_ns, _horizon_ns(scenario, step_ns), _quiet_ns(scenario), watch_ns(scenario))


def is_random(scenario: Scenario) -> bool:
    """Return whether a scenario depends on the random seed: by marks, WRED drops, transfers, or choice of paths."""
    question = scenario.question
    if scenario.dcqcn is not None or question.pattern == "permutation" or question.storage:
        return True
    curves = [queue.wred for end in scenario.ends.values() for queue in end.queues if queue.wred is not None]
    if any(not curve.marks and curve.pmax < 1 and curve.kmin_bytes < curve.kmax_bytes for curve in curves):
        return True
    return len({scenario.topology.leaf(nic) for nic in scenario.nics}) > 1


def follow(
    instance: ScenarioInstance, seed: int, times: Times, go_on: Callable[[], bool] | None = None
) -> SeedResult:
    """Return the result of one seed, run for at least a step, then until no maximum has grown for ``quiet_ns``.

    This part ends at the horizon. Then late transfers of a lossy class are compared with a run without loss, for
    which both runs may go on longer; for a lossless class current pauses are followed, unless there is a held NIC or
    a deadlock.
    """
    simulation = Simulation(instance.network, seed)
    has_hold = bool(instance.network.holds)
    least_ns = times.horizon_ns if has_hold else STEP_SLACK * times.step_ns + QUIET_WITHOUT_NS
    until_ns = min(least_ns, times.horizon_ns)
    while not simulation.advance(until_ns, go_on) and (go_on is None or go_on()):
        quiet_until_ns = int(simulation.state.clock["grew_at"][0]) / 1000 + times.quiet_ns
        if until_ns >= min(times.horizon_ns, quiet_until_ns):
            break
        until_ns = min(quiet_until_ns, times.horizon_ns)
    if instance.lossy:
        without_ns = _compared(simulation, instance.network, seed, times, go_on)
        return measure(simulation, instance, seed, cut=not simulation.ended, without_loss_ns=without_ns)
    deadlocked = bool(cycle(simulation.state, simulation.index, instance))
    if not (simulation.ended or has_hold or deadlocked):
        _follow_pauses(simulation, times.watch_ns, go_on)
    return measure(simulation, instance, seed, cut=not simulation.ended)


def _compared(
    simulation: Simulation,
    network: SimNetwork,
    seed: int,
    times: Times,
    go_on: Callable[[], bool] | None,
) -> float | None:
    """Return the time of transfers in a run without loss, None where loss cannot have made them late.

    The run itself is then continued until its loss can no longer count as harmless compared with that time.
    """
    if not is_late(loss_of(simulation.state, network)):
        return None
    free = Simulation(without_loss(network), seed)
    free.advance(LONGEST_STEPS * times.step_ns + 2 * QUIET_WITHOUT_NS, go_on)
    done_ps = free.state.flows["done_at"][free.state.flows["counts"] == 1]
    ended_ps = done_ps.max() if (done_ps >= 0).all() else free.state.clock["now"][0]
    simulation.advance(lossy_horizon_ns(int(ended_ps) / 1000), go_on)
    return int(ended_ps) / 1000


def _follow_pauses(simulation: Simulation, watch_ns: float, go_on: Callable[[], bool] | None) -> None:
    """Let time pass until every current pause has ended, or has been long enough for a watchdog to trigger."""
    since = standing_since(simulation.state, simulation.index)
    left = since >= 0
    while left.any() and (go_on is None or go_on()):
        now_ns, age_ns = _ages(simulation, since[left])
        if age_ns >= watch_ns:
            return
        # The longer a pause has lasted, the longer it is likely to go on: long ones are looked at less often.
        simulation.advance(now_ns + min(max(QUIET_WITHOUT_NS, age_ns / 4), watch_ns - age_ns), go_on)
        left &= standing_since(simulation.state, simulation.index) == since
        if simulation.ended:
            return


def _ages(simulation: Simulation, since: Any) -> tuple[float, float]:
    """Return the current time and the age of the youngest pause, in ns."""
    now = int(simulation.state.clock["now"][0])
    return now / 1000, (now - int(since.max())) / 1000


def events_of(network: SimNetwork) -> int:
    """Return about how many events the traffic of a network takes: three for each frame at each hop, ACKs included."""
    carrying = {pair for flow in network.flows for pair in pairwise(flow.path)}
    return sum(
        -(-flow.size_bytes // flow.mtu_bytes)
        * len(flow.path)
        * _EVENTS_PER_HOP
        * _frames_per_hop(flow.path, carrying)
        for flow in network.flows
    )


def _frames_per_hop(path: tuple[int, ...], carrying: set[tuple[int, int]]) -> int:
    """Return 2 where ACKs share links with data on their path back, and so are simulated as frames; else 1."""
    return 2 if any((there, here) in carrying for here, there in pairwise(path)) else 1


def estimated_events(network: SimNetwork, horizon_ns: float) -> int:
    """Return the estimated events of a run: those of its traffic, at most those of links at line rate until its end."""
    return min(events_of(network), _events_within(network, horizon_ns))


def require_events(network: SimNetwork, horizon_ns: float, limits: Limits) -> None:
    """Raise an error before a run that would take too many events.

    Raises:
        TooLargeError: naming the number and the options that make it smaller.
    """
    events = estimated_events(network, horizon_ns) * limits.seeds
    if events > limits.events:
        raise TooLargeError(
            f"this would take about {events:,} events, more than the {limits.events:,} allowed;"
            " make --size, --nics or --seeds smaller, or allow more with --max-events"
        )


def _events_within(network: SimNetwork, horizon_ns: float) -> int:
    """Return the most events that all links at line rate can cause in a time."""
    frame = min(flow.mtu_bytes for flow in network.flows) + network.physics.overhead_bytes
    per_ns = sum(2 * cable.rate_bps for cable in network.cables) / 8e9 / frame
    return int(per_ns * horizon_ns * _EVENTS_PER_HOP)


def seeds_of(scenario: Scenario, limits: Limits) -> range:
    """Return the seeds to run: one where nothing is random.

    Raises:
        ScenarioError: fewer than one.
    """
    if limits.seeds < 1:
        raise ScenarioError(f"seeds is {limits.seeds}; expected at least 1")
    return range(1, (limits.seeds if is_random(scenario) else 1) + 1)


def _quiet_ns(scenario: Scenario) -> float:
    if scenario.is_lossy:
        return NEVER_NS
    return QUIET_WITHOUT_NS if scenario.dcqcn is None else QUIET_TIMERS * scenario.dcqcn.increase_us * 1000


def lossy_horizon_ns(least_ns: float) -> float:
    """Return how long a run of a lossy class is followed whose transfers take ``least_ns`` at least.

    A run that lost packets, with transfers under way after that time, is unsafe, however late they end.
    """
    return (UNSAFE_SLOWDOWN + 1) * least_ns + QUIET_WITHOUT_NS


def _horizon_ns(scenario: Scenario, step_ns: float) -> float:
    """Return the horizon of a run; with a dead NIC every watchdog has had time to trigger twice by then."""
    if scenario.is_lossy:
        return lossy_horizon_ns(step_ns)
    longest = LONGEST_STEPS * step_ns + 2 * _quiet_ns(scenario)
    if not scenario.question.dead_nic:
        return longest
    return DEAD_FROM_NS + (watch_ns(scenario) or longest)


def watch_ns(scenario: Scenario) -> float:
    """Return the time in which every watchdog can trigger twice, 0 if none runs."""
    times = (2 * (watchdog.detection_ms + watchdog.poll_ms) * 1e6 for watchdog in scenario.watchdogs)
    return max(times, default=0.0)


_ROOMY = SimGroup(alpha=None, headroom_bytes=None, static_bytes=UNBOUNDED)


def without_loss(network: SimNetwork) -> SimNetwork:
    """Return the network in a form in which no packet is dropped, trimmed or sent again."""
    roomy: dict[int, SimPort] = {}
    return network._replace(
        cables=tuple(_cable(cable, roomy) for cable in network.cables),
        switches={node: _switch(switch) for node, switch in network.switches.items()},
        flows=tuple(map(_flow, network.flows)),
    )


def _cable(cable: SimCable, roomy: dict[int, SimPort]) -> SimCable:
    return cable._replace(a_end=_end(cable.a_end, roomy), b_end=_end(cable.b_end, roomy))


def _end(end: SimPort | None, roomy: dict[int, SimPort]) -> SimPort | None:
    """Return a switch port without limits, None for a host's; ports that are one object stay one, laid out once."""
    if end is None:
        return None
    if id(end) not in roomy:
        roomy[id(end)] = SimPort(tuple(map(_queue, end.queues)), (_ROOMY,) * len(end.groups))
    return roomy[id(end)]


def _queue(queue: SimQueue) -> SimQueue:
    """Return a queue without a limit, with its marking curve; a curve that drops is removed."""
    wred = queue.wred if queue.wred is not None and queue.wred.marks else None
    return queue._replace(wred=wred, limit_bytes=UNBOUNDED, trim=None, alpha=0.0, pool_bytes=0)


def _switch(switch: SimSwitch) -> SimSwitch:
    return switch._replace(
        buffer_bytes=UNBOUNDED, pool_bytes=UNBOUNDED, headroom_pool_bytes=None, other_pools=()
    )


def _flow(flow: SimFlow) -> SimFlow:
    if flow.window is not None:
        flow = flow._replace(window=flow.window._replace(timeout_us=None))
    return flow if flow.spread is None else flow._replace(ahead_frames=0)
