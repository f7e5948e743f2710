"""The buffer verdict from simulation runs: the results of a scenario over its seeds.

*Unsafe*: a lossless frame was dropped, the watchdog triggers on plain congestion, or paused links form a cycle (PFC
deadlock). *On the edge*: less than a frame of some headroom was left, a pause lasted half of the watchdog's detection
time, or drops depend on how fast peers obey PFC. With a NIC that is dead on purpose the watchdog must trigger, and may
drop frames. Whether PFC fires, and whether marks come first, is reported with the number of seeds; it does not change
the verdict.

A lossy class is *unsafe* or *on the edge* if its loss delays transfers, by the worst seed (:func:`worst_loss`).

*Not checked*: only queues that may hold half of their pool refuse frames, where some chips have their buffer in two
halves and pause earlier; or the storm of a dead NIC met no traffic.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import holds_half_of_its_pool
from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, HEADROOM_EDGE_FRAMES, BufferVerdict
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS
from lossless.analysis.simulation.question.ports import queue_buffer
from lossless.analysis.simulation.question.request import said_of
from lossless.analysis.simulation.study.loss import EDGE_SLOWDOWN, UNSAFE_SLOWDOWN, is_late
from lossless.analysis.simulation.study.measure import PortFanIn, PortPeaks, most, worst
from lossless.analysis.simulation.study.study import (
    BesideVerdict,
    beside_verdict,
    dropped_beside,
    edges_beside,
)
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.loss import LossResult
    from lossless.analysis.simulation.study.measure import SeedResult
    from lossless.analysis.simulation.study.study import PeerReactionLimit, Study


_LOST = "packets that are lost", "without loss"
_OUT_OF_ORDER = (
    "packets that are sent again since they arrive out of order",
    "where NICs take them in any order",
)
"""For lost packets and for packets out of order: the cause that delays transfers, and the reference run."""


class LossVerdict(NamedTuple):
    """The loss of a lossy class, each the maximum over all seeds: shares of its packets, timeouts, and the slowdown.

    ``slowdown`` is the longest completion divided by the slowest link's time, ``cost`` divided by that without loss.
    """

    dropped_share: float
    trimmed_share: float
    resent_share: float
    timeouts: int
    slowdown: float
    cost: float
    unfinished: int


def loss_verdict(results: Study) -> LossVerdict | None:
    """Return the loss over all seeds, None for a lossless class."""
    seen = losses(results)
    return worst_loss(seen) if seen else None


def worst_loss(seen: Sequence[LossResult]) -> LossVerdict:
    """Return the maximum of each figure of loss over the results of several seeds."""
    return LossVerdict(
        dropped_share=max(each.dropped / each.packets for each in seen),
        trimmed_share=max(each.trimmed / each.packets for each in seen),
        resent_share=max(each.resent / each.packets for each in seen),
        timeouts=max(each.timeouts for each in seen),
        slowdown=max(each.slowdown for each in seen),
        cost=max(each.cost for each in seen),
        unfinished=max(each.unfinished for each in seen),
    )


def harm(seen: Sequence[LossResult]) -> Iterator[SimulationCause]:
    """Yield the cause where loss delays transfers beyond its limit or leaves some unfinished, in any of the seeds."""
    late = [each for each in seen if is_late(each) and (each.unfinished or each.cost > EDGE_SLOWDOWN)]
    if not late:
        return
    worst = max(late, key=lambda each: (each.unfinished, each.cost))
    verdict: BufferVerdict = "unsafe" if worst.unfinished or worst.cost > UNSAFE_SLOWDOWN else "on the edge"
    limit = UNSAFE_SLOWDOWN if verdict == "unsafe" else EDGE_SLOWDOWN
    why, against = _LOST if any(each.lost for each in late) else _OUT_OF_ORDER
    taking = f"{worst.cost:.1f} times as long as {against} (limit {limit:g})"
    text = f"make transfers take up to {taking}"
    if worst.unfinished:
        many = "1 transfer" if worst.unfinished == 1 else f"{worst.unfinished} transfers"
        text = f"leave {many} unfinished after {taking}"
    yield SimulationCause("drop", verdict, f"{why} {text}, in {len(late)} of {len(seen)} seeds", len(late))


def losses(results: Study) -> Sequence[LossResult]:
    """Return the loss of each seed; empty for a lossless class."""
    return [seed.loss for seed in results.seeds if seed.loss is not None]


PAUSE_EDGE = 0.5
"""The part of the watchdog's detection time from which a pause is on the edge: a longer run may double the pause."""
_HALVES = (
    "by queues that may hold half of their pool: chips with their buffer in two halves pause earlier there than the"
    " model of one buffer"
)


class Range(NamedTuple):
    """The range of a measure, its lower and its upper end, and its median."""

    least: float
    median: float
    most: float


class Occurrence(NamedTuple):
    """The number of seeds with an event, out of all; its first time is the median over those, None without any."""

    seeds: int
    of: int
    first_us: float | None


class RunVerdict(NamedTuple):
    """The verdict of the packet-level model on one scenario.

    ``cut``: some run without a dead NIC was stopped with traffic under way, so that maxima are lower bounds.
    ``headroom_ran_out``: a priority group dropped frames. ``drain_us`` is how long the queue of peak depth takes to
    empty at line rate; ``goodput_bps`` is payload delivered over the time of the run, ``of_line_rate`` its part of the
    payload rate at line rate.

    ``stopped_queues`` and ``stopped_frames`` count how often the watchdog triggered and the frames that it dropped:
    the maximum over all seeds. ``causes`` are the reasons by their kind. ``ports`` has the fan-in, the peak queue depth
    and the number of paused ports of each kind of port: the maximum over all seeds; ``peaks`` has the most bytes of
    switches at each kind. ``beside`` has the results of the storage class, None without storage; ``loss`` the loss of a
    lossy class. ``left_out`` is the number of seeds that were not run to keep to a budget of events.
    """

    verdict: BufferVerdict
    scenario: str
    cut: bool
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    drops: Occurrence
    pfc: Occurrence
    marks: Occurrence
    marks_before_pfc: int
    watchdog: Occurrence
    egress_bytes: Range
    egress_at: str | None
    group_bytes: Range
    headroom_bytes: Range | None
    headroom_margin_bytes: int | None
    headroom_at: str | None
    headroom_ran_out: bool
    longest_pause_us: float
    longest_pause_at: str | None
    pause_goes_on: bool
    spread_links: int
    spread_ports: str
    spread_nics: str
    drain_us: float
    goodput_bps: float
    of_line_rate: float
    ran_us: float
    events: int
    seeds: int
    cycle: tuple[str, ...]
    stopped_queues: int
    stopped_frames: int
    assumed: tuple[str, ...]
    causes: tuple[SimulationCause, ...] = ()
    ports: tuple[PortFanIn, ...] = ()
    peaks: tuple[PortPeaks, ...] = ()
    beside: BesideVerdict | None = None
    loss: LossVerdict | None = None
    left_out: int = 0


def run_verdict(
    results: Study, changes: Sequence[str] = (), reaction_limit: PeerReactionLimit | None = None
) -> RunVerdict:
    """Return the verdict over all seeds; ``changes`` are from :mod:`lossless.analysis.simulation.study.advice`.

    ``reaction_limit`` is the longest reaction time of peers without drops, if drops depend on it.
    """
    parts = sorted(
        [*_unsafe(results, reaction_limit), *_edges(results)],
        key=lambda part: BUFFER_VERDICTS.index(part.verdict),
    )
    verdict: BufferVerdict = parts[0].verdict if parts else "safe"
    seeds = results.seeds
    tight = min(
        (seed.tightest for seed in seeds if seed.tightest), key=lambda use: use.margin_bytes, default=None
    )
    longest = max(seeds, key=lambda seed: seed.longest_pause_ns)
    widest = max(
        seeds, key=lambda seed: (seed.propagation.hops, seed.propagation.nics, seed.propagation.switch_ports)
    )
    hottest = max(seeds, key=lambda seed: seed.outcome.egress.bytes)
    goodput = median(seed_goodput_bps(seed) for seed in seeds)
    return RunVerdict(
        verdict=verdict,
        scenario=describe(results.scenario),
        cut=any(seed.cut for seed in seeds) and not results.scenario.question.dead_nic,
        reasons=tuple(part.text for part in parts),
        changes=tuple(changes),
        drops=_happens(
            seeds, [seed.outcome.first_drop_ns if seed.drops + seed.refused else None for seed in seeds]
        ),
        pfc=_happens(seeds, [seed.outcome.first_pause_ns for seed in seeds]),
        marks=_happens(seeds, [seed.outcome.first_mark_ns for seed in seeds]),
        marks_before_pfc=sum(
            seed.outcome.first_pause_ns is not None and not seed.first_pfc_before_mark for seed in seeds
        ),
        watchdog=_happens(seeds, [seed.outcome.first_storm_ns for seed in seeds]),
        egress_bytes=_range(seed.outcome.egress.bytes for seed in seeds),
        egress_at=_text(hottest.hottest),
        group_bytes=_range(seed.outcome.group.bytes for seed in seeds),
        headroom_bytes=_range(seed.outcome.headroom.bytes for seed in seeds) if tight else None,
        headroom_margin_bytes=tight.margin_bytes if tight else None,
        headroom_at=_text(tight.place) if tight else None,
        headroom_ran_out=any(seed.drops for seed in seeds),
        longest_pause_us=longest.longest_pause_ns / 1000,
        longest_pause_at=_text(longest.longest_at),
        pause_goes_on=longest.still_paused,
        spread_links=widest.propagation.hops,
        spread_ports=f"{widest.propagation.switch_ports} of {widest.propagation.all_switch_ports}",
        spread_nics=f"{widest.propagation.nics} of {widest.propagation.all_nics}",
        drain_us=hottest.outcome.egress.bytes * 8e6 / _rate_bps(results, hottest),
        goodput_bps=goodput,
        of_line_rate=median(_of_line_rate(results, seed) for seed in seeds),
        ran_us=median(seed.outcome.ended_ns for seed in seeds) / 1000,
        events=sum(seed.outcome.events for seed in seeds),
        seeds=len(seeds),
        cycle=next((seed.cycle for seed in seeds if seed.cycle), ()),
        stopped_queues=max(seed.outcome.storms for seed in seeds),
        stopped_frames=max(seed.outcome.stopped for seed in seeds),
        assumed=results.scenario.assumed,
        causes=tuple(parts),
        ports=worst(seed.fan_ins for seed in seeds),
        peaks=most(seed.peaks for seed in seeds),
        beside=beside_verdict(results),
        loss=loss_verdict(results),
        left_out=results.left_out,
    )


def describe(scenario: Scenario) -> str:
    """Return the scenario in a line: ``incast of 63 NICs into host1:port1, 8 MiB each, class rdma``."""
    question, names = scenario.question, scenario.topology.names
    target, many = names[scenario.target], len(scenario.nics)
    incast = question.pattern == "incast" and not question.moves
    what = f"incast of {many - 1} NICs into {target}" if incast else (
        f"{question.called or question.pattern} among {_many(scenario)} NICs"
    )  # fmt: skip
    most = "up to " if question.moves else ""
    parts = [what, f"{most}{in_mib(question.size_bytes)} each", f"class {scenario.classes[0].name}"]
    if question.storage:
        parts.append(f"{question.storage:.0%} storage in class {scenario.classes[1].name} besides")
    parts += filter(None, [scenario.rails, said_of(question)])
    if question.failed:
        parts.append(f"{', '.join(question.failed)} down")
    if question.dead_nic:
        parts.append(f"{target} dead: it pauses its switch permanently")
    if question.slow_nic_bps:
        parts.append(f"{target} slow: it takes in {question.slow_nic_bps / 1e9:g} Gb/s")
    return ", ".join(parts)


def _many(scenario: Scenario) -> str:
    """Return as text how many NIC ports take part, and of how many if only those of some leaves do."""
    taking, every = len(scenario.nics), len(scenario.topology.nics)
    return f"{taking:,} of {every:,}" if scenario.question.whole_leaves and taking < every else f"{taking}"


def in_mib(size_bytes: int) -> str:
    """Return the size of a message in MiB, a small one in bytes."""
    return f"{size_bytes / 2**20:.4g} MiB" if size_bytes >= 2**18 else format_bytes(size_bytes)


def _unsafe(results: Study, reaction_limit: PeerReactionLimit | None) -> Iterable[SimulationCause]:
    seeds = results.seeds
    if results.scenario.is_lossy:
        yield from harm(losses(results))
        return
    yield from _drops(results, reaction_limit)
    yield from dropped_beside(results)
    if results.scenario.question.dead_nic:
        yield from _dead(results)
    else:
        stormy = [seed for seed in seeds if seed.outcome.storms]
        if stormy:
            text = f"the watchdog triggers on congestion in {_of(stormy, seeds)}"
            yield SimulationCause("storm", "unsafe", text, len(stormy))
    cycles = [seed for seed in seeds if seed.cycle]
    if cycles:
        text = f"PFC deadlock: paused links form a cycle: {', '.join(cycles[0].cycle)}"
        yield SimulationCause("cycle", "unsafe", text, len(cycles))


def _drops(results: Study, reaction_limit: PeerReactionLimit | None) -> Iterable[SimulationCause]:
    seeds = results.seeds
    dropping = [seed for seed in seeds if seed.drops or seed.refused]
    if not dropping:
        return
    most = max(dropping, key=lambda seed: seed.drops + seed.refused)
    first = most.first_drop_at or next(iter(most.refusing), None)
    sure = f"lossless frames are dropped{f' at {first}' if first else ''} in {_of(dropping, seeds)}"
    if not any(seed.drops for seed in seeds) and _only_halves_refuse(results):
        yield SimulationCause("drop", "not checked", f"{sure}, {_HALVES}", len(dropping))
    elif reaction_limit is None:
        yield SimulationCause("drop", "unsafe", sure, len(dropping))
    else:
        yield SimulationCause("drop", "on the edge", f"{sure}, {_slow_peers(reaction_limit)}", len(dropping))


def _only_halves_refuse(results: Study) -> bool:
    """Return whether every queue that refused a frame may hold half of its pool."""
    topology, job = results.scenario.topology, results.scenario.classes[0]
    switches = {topology.names[node]: switch for node, switch in topology.switch_of.items()}
    places = {place for seed in results.seeds for place in seed.refusing}
    ports = (
        port
        for place in places
        for port in switches[place.switch].ports
        if port.name == place.port and port.qos is not None
    )
    buffers = [queue_buffer(port, job) for port in ports]
    return bool(buffers) and all(buffer is not None and holds_half_of_its_pool(buffer) for buffer in buffers)


def _dead(results: Study) -> Iterable[SimulationCause]:
    """Yield the cause where the watchdog does not end the storm of a dead NIC, or where the storm met no traffic."""
    met = [
        seed
        for seed in results.seeds
        if seed.outcome.storms or seed.outcome.delivered_bytes < seed.outcome.size_bytes
    ]
    quiet = [seed for seed in met if not _ended(results, seed)]
    if quiet:
        text = f"nothing ends the pause storm of a dead NIC in {_of(quiet, results.seeds)}"
        yield SimulationCause("dead NIC", "unsafe", text, len(quiet))
    if not met:
        ended_us = max(seed.outcome.ended_ns for seed in results.seeds) / 1000
        text = (
            f"the pause storm of the dead NIC begins after {DEAD_FROM_NS / 1000:g} us and met no traffic: all was"
            f" delivered after {ended_us:,.1f} us; set a larger --size"
        )
        yield SimulationCause("dead NIC", "not checked", text, len(results.seeds))


def _ended(results: Study, seed: SeedResult) -> bool:
    """Return whether the watchdog ended a storm: an alert ends nothing."""
    return seed.outcome.storms > 0 and results.scenario.ends_storms


def _slow_peers(reaction_limit: PeerReactionLimit) -> str:
    return (
        f"where peers take the {reaction_limit.allowed_ns:,.0f} ns to obey PFC that IEEE 802.3 allows; none are dropped"
        f" up to {reaction_limit.safe_ns:,.0f} ns: the headroom is the vendor's own"
    )


def _edges(results: Study) -> Iterable[SimulationCause]:
    if results.scenario.is_lossy:
        return
    frame = HEADROOM_EDGE_FRAMES * results.scenario.frame_bytes
    yield from edges_beside(results, frame)
    uses = [seed.tightest for seed in results.seeds if seed.tightest and not seed.tightest.drops]
    tight = min(uses, key=lambda use: use.margin_bytes, default=None)
    if tight is not None and tight.margin_bytes < frame and not any(seed.drops for seed in results.seeds):
        text = f"{format_bytes(max(0, tight.margin_bytes))} of headroom were left at {tight.place}"
        yield SimulationCause("headroom", "on the edge", text, sum(use.margin_bytes < frame for use in uses))
    pools = [
        seed.headroom_pool_margin_bytes
        for seed in results.seeds
        if seed.headroom_pool_margin_bytes is not None
    ]
    if pools and min(pools) < frame:
        text = f"{format_bytes(max(0, min(pools)))} of the shared headroom pool were left"
        yield SimulationCause("headroom pool", "on the edge", text, sum(left < frame for left in pools))
    longest, allowed = max(seed.longest_watched_ns for seed in results.seeds), detection_ns(results.scenario)
    fired = any(seed.outcome.storms for seed in results.seeds)
    if (
        allowed is not None
        and longest >= PAUSE_EDGE * allowed
        and not fired
        and not results.scenario.question.dead_nic
    ):
        text = f"a pause lasted {longest / 1e6:.1f} ms of the watchdog's {allowed / 1e6:g} ms"
        lasting = sum(seed.longest_watched_ns >= PAUSE_EDGE * allowed for seed in results.seeds)
        yield SimulationCause("pause", "on the edge", text, lasting)


def detection_ns(scenario: Scenario) -> float | None:
    """Return the shortest detection time of the watchdogs, None where none runs."""
    return min((watchdog.detection_ms * 1e6 for watchdog in scenario.watchdogs), default=None)


def _of(some: Sequence[SeedResult], every: Sequence[SeedResult]) -> str:
    return f"{len(some)} of {len(every)} seeds"


def _happens(seeds: Sequence[SeedResult], when_ns: Sequence[float | None]) -> Occurrence:
    times = [when for when in when_ns if when is not None]
    return Occurrence(len(times), len(seeds), median(times) / 1000 if times else None)


def _range(values: Iterable[float]) -> Range:
    ordered = sorted(values)
    return Range(ordered[0], median(ordered), ordered[-1])


def seed_goodput_bps(seed: SeedResult) -> float:
    """Return the payload that a seed delivered over the time of its run, in b/s."""
    return seed.outcome.delivered_bytes * 8e9 / seed.outcome.ended_ns if seed.outcome.ended_ns else 0.0


def _of_line_rate(results: Study, seed: SeedResult) -> float:
    """Return the goodput as a fraction of the payload rate at line rate, without headers, preambles and gaps."""
    if not seed.outcome.ended_ns or not seed.outcome.size_bytes:
        return 0.0
    return seed.outcome.delivered_bytes / seed.outcome.size_bytes * results.ideal_ns / seed.outcome.ended_ns


def _rate_bps(results: Study, seed: SeedResult) -> float:
    port = seed.hottest
    wires = results.scenario.topology.wires
    names = results.scenario.topology.names
    ends = [(w, names[w.a], w.a_port.name) for w in wires]
    ends += [(w, names[w.b], w.b_port.name) for w in wires if w.b_port is not None]
    speeds = (w.rate_bps for w, node, name in ends if port and (node, name) == (port.switch, port.port))
    return next(speeds, max(w.rate_bps for w in wires))


def _text(place: object | None) -> str | None:
    return None if place is None else str(place)
