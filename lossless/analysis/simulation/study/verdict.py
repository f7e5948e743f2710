"""The verdict from runs: what a scenario showed over its seeds, and which threshold to change.

*Unsafe*: a lossless frame was dropped, the watchdog would act on congestion that nobody is at fault for, or links
wait for each other in a circle. *On the edge*: less than a frame was left of some headroom, or a pause lasted half of
what the watchdog allows. With a NIC that is dead on purpose the watchdog must act, and what it drops is its task.
Whether PFC fires, and whether marks come first, is told with how many seeds say so, and is no verdict.

*Not judged*: only queues that may hold half of their pool refuse frames, where some chips have their buffer in two
halves and pause earlier; or the storm of a dead NIC met no traffic.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import holds_half_of_its_pool
from lossless.analysis.buffers.simulation_facts import SimulationCause
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, HEADROOM_EDGE_FRAMES, BufferVerdict, plain
from lossless.analysis.simulation.question.ends import queue_buffer
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS
from lossless.analysis.simulation.study.crowding import Crowd, worst
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import Seen
    from lossless.analysis.simulation.study.peers import Patience
    from lossless.analysis.simulation.study.study import Study
    from lossless.ground.basics.findings import Json

PAUSE_EDGE = 0.5
"""Part of the detection time from which on a pause is on the edge: what the next horizon may double."""
_HALVES = (
    "by queues that may hold half of their pool: chips with their buffer in two halves pause earlier there than the"
    " model of one buffer"
)


class Range(NamedTuple):
    """A measure over seeds."""

    least: float
    median: float
    most: float


class Happens(NamedTuple):
    """In how many seeds something happened, out of how many; when it first did, median over those."""

    seeds: int
    of: int
    first_us: float | None


class RunVerdict(NamedTuple):
    """What the packet-level model says of one scenario.

    ``cut`` says that some run was stopped with traffic under way, so that maxima are lower bounds.
    ``headroom_ran_out`` says that a group dropped frames, not only a queue.
    ``drain_us`` is what the fullest queue takes to empty at line rate; ``goodput_bps`` is payload delivered over the
    time of the run, ``of_line_rate`` its part of what the step could have had. ``stopped_queues`` and
    ``stopped_frames`` are what the watchdog stopped and dropped, at most of all seeds. ``causes`` are the reasons by
    their kind, for whoever looks for what is to blame. ``ports`` says of each kind of port how many fed one, how full
    its queue was and how many were paused, at most of all seeds.
    """

    verdict: BufferVerdict
    scenario: str
    cut: bool
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    drops: Happens
    pfc: Happens
    marks: Happens
    marks_before_pfc: int
    watchdog: Happens
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
    ports: tuple[Crowd, ...] = ()

    def to_data(self) -> dict[str, Json]:
        """Return the verdict as plain data, names as here; causes are its reasons once more, and left out."""
        named = zip(self._fields, self, strict=True)
        return {name: plain(value) for name, value in named if name != "causes"}


def judge(found: Study, changes: Sequence[str] = (), patient: Patience | None = None) -> RunVerdict:
    """Return the verdict over all seeds; ``changes`` are what :mod:`lossless.analysis.simulation.study.advice` says.

    ``patient`` says how quick peers must be where that decides whether frames are dropped.
    """
    parts = sorted(
        [*_unsafe(found, patient), *_edges(found)], key=lambda part: BUFFER_VERDICTS.index(part.verdict)
    )
    verdict: BufferVerdict = parts[0].verdict if parts else "safe"
    seen = found.seen
    tight = min(
        (one.tightest for one in seen if one.tightest), key=lambda use: use.margin_bytes, default=None
    )
    longest = max(seen, key=lambda one: one.longest_pause_ns)
    widest = max(seen, key=lambda one: (one.spread.links_in_a_row, one.spread.nics, one.spread.switch_ports))
    hottest = max(seen, key=lambda one: one.outcome.egress.bytes)
    goodput = median(_goodput_bps(one) for one in seen)
    return RunVerdict(
        verdict=verdict,
        scenario=describe(found.scenario),
        cut=any(one.cut for one in seen) and not found.scenario.question.dead_nic,
        reasons=tuple(part.text for part in parts),
        changes=tuple(changes),
        drops=_happens(
            seen, [one.outcome.first_drop_ns if one.drops + one.refused else None for one in seen]
        ),
        pfc=_happens(seen, [one.outcome.first_pause_ns for one in seen]),
        marks=_happens(seen, [one.outcome.first_mark_ns for one in seen]),
        marks_before_pfc=sum(
            one.outcome.first_pause_ns is not None and not one.first_pfc_before_mark for one in seen
        ),
        watchdog=_happens(seen, [one.outcome.first_storm_ns for one in seen]),
        egress_bytes=_range(one.outcome.egress.bytes for one in seen),
        egress_at=_text(hottest.hottest),
        group_bytes=_range(one.outcome.group.bytes for one in seen),
        headroom_bytes=_range(one.outcome.headroom.bytes for one in seen) if tight else None,
        headroom_margin_bytes=tight.margin_bytes if tight else None,
        headroom_at=_text(tight.place) if tight else None,
        headroom_ran_out=any(one.drops for one in seen),
        longest_pause_us=longest.longest_pause_ns / 1000,
        longest_pause_at=_text(longest.longest_at),
        pause_goes_on=longest.still_paused,
        spread_links=widest.spread.links_in_a_row,
        spread_ports=f"{widest.spread.switch_ports} of {widest.spread.all_switch_ports}",
        spread_nics=f"{widest.spread.nics} of {widest.spread.all_nics}",
        drain_us=hottest.outcome.egress.bytes * 8e6 / _rate_bps(found, hottest),
        goodput_bps=goodput,
        of_line_rate=median(_of_line_rate(found, one) for one in seen),
        ran_us=median(one.outcome.ended_ns for one in seen) / 1000,
        events=sum(one.outcome.events for one in seen),
        seeds=len(seen),
        cycle=next((one.cycle for one in seen if one.cycle), ()),
        stopped_queues=max(one.outcome.storms for one in seen),
        stopped_frames=max(one.outcome.stopped for one in seen),
        assumed=found.scenario.assumed,
        causes=tuple(parts),
        ports=worst(one.crowds for one in seen),
    )


def describe(scenario: Scenario) -> str:
    """Return the scenario in a line: ``incast of 63 NICs into host1:port1, 8 MiB each, class rdma``."""
    question, names = scenario.question, scenario.plant.names
    target, many = names[scenario.target], len(scenario.nics)
    incast = question.pattern == "incast" and not question.moves
    what = f"incast of {many - 1} NICs into {target}" if incast else (
        f"{question.called or question.pattern} among {many} NICs"
    )  # fmt: skip
    most = "up to " if question.moves else ""
    parts = [what, f"{most}{_mib(question.size_bytes)} each", f"class {scenario.classes[0].name}"]
    if question.storage:
        parts.append(f"{question.storage:.0%} storage in class {scenario.classes[1].name} besides")
    if question.failed:
        parts.append(f"{', '.join(question.failed)} down")
    if question.dead_nic:
        parts.append(f"{target} dead: it pauses its switch without end")
    if question.slow_nic_bps:
        parts.append(f"{target} slow: it takes in {question.slow_nic_bps / 1e9:g} Gb/s")
    return ", ".join(parts)


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.4g} MiB" if size_bytes >= 2**18 else format_bytes(size_bytes)


def _unsafe(found: Study, patient: Patience | None) -> Iterable[SimulationCause]:
    seen = found.seen
    yield from _drops(found, patient)
    if found.scenario.question.dead_nic:
        yield from _dead(found)
    else:
        stormy = [one for one in seen if one.outcome.storms]
        if stormy:
            text = f"the watchdog acts on congestion in {_of(stormy, seen)}"
            yield SimulationCause("storm", "unsafe", text, len(stormy))
    circles = [one for one in seen if one.cycle]
    if circles:
        text = f"links wait for each other in a circle: {', '.join(circles[0].cycle)}"
        yield SimulationCause("circle", "unsafe", text, len(circles))


def _drops(found: Study, patient: Patience | None) -> Iterable[SimulationCause]:
    seen = found.seen
    dropping = [one for one in seen if one.drops or one.refused]
    if not dropping:
        return
    worst = max(dropping, key=lambda one: one.drops + one.refused)
    first = worst.first_drop_at or next(iter(worst.refusing), None)
    sure = f"lossless frames are dropped{f' at {first}' if first else ''} in {_of(dropping, seen)}"
    if not any(one.drops for one in seen) and _only_halves_refuse(found):
        yield SimulationCause("drop", "not judged", f"{sure}, {_HALVES}", len(dropping))
    elif patient is None:
        yield SimulationCause("drop", "unsafe", sure, len(dropping))
    else:
        yield SimulationCause("drop", "on the edge", f"{sure}, {_slow_peers(patient)}", len(dropping))


def _only_halves_refuse(found: Study) -> bool:
    """Return whether every queue that refused a frame may hold half of its pool."""
    plant, job = found.scenario.plant, found.scenario.classes[0]
    switches = {plant.names[node]: switch for node, switch in plant.switch_of.items()}
    places = {place for one in found.seen for place in one.refusing}
    ports = (
        port
        for place in places
        for port in switches[place.switch].ports
        if port.name == place.port and port.qos is not None
    )
    buffers = [queue_buffer(port, job) for port in ports]
    return bool(buffers) and all(buffer is not None and holds_half_of_its_pool(buffer) for buffer in buffers)


def _dead(found: Study) -> Iterable[SimulationCause]:
    """Yield what is amiss where the watchdog does not end the storm of a dead NIC, or had nothing to end."""
    met = [
        one
        for one in found.seen
        if one.outcome.storms or one.outcome.delivered_bytes < one.outcome.size_bytes
    ]
    quiet = [one for one in met if not _ended(found, one)]
    if quiet:
        text = f"nothing ends the pause storm of a dead NIC in {_of(quiet, found.seen)}"
        yield SimulationCause("dead NIC", "unsafe", text, len(quiet))
    if not met:
        ended_us = max(one.outcome.ended_ns for one in found.seen) / 1000
        text = (
            f"the pause storm of the dead NIC, which begins after {DEAD_FROM_NS / 1000:g} us, met no traffic: all was"
            f" delivered after {ended_us:,.1f} us; a larger --size gives it some"
        )
        yield SimulationCause("dead NIC", "not judged", text, len(found.seen))


def _ended(found: Study, one: Seen) -> bool:
    """Return whether the watchdog ended a storm: an alert ends nothing."""
    dogs = [switch.watchdog for switch in found.scenario.switches.values() if switch.watchdog is not None]
    return one.outcome.storms > 0 and any(dog.action != "alert" for dog in dogs)


def _slow_peers(patient: Patience) -> str:
    return (
        f"where peers take the {patient.allowed_ns:,.0f} ns to obey PFC that IEEE 802.3 allows; none are within"
        f" {patient.safe_ns:,.0f} ns: the headroom is the vendor's own"
    )


def _edges(found: Study) -> Iterable[SimulationCause]:
    frame = HEADROOM_EDGE_FRAMES * found.scenario.frame_bytes
    uses = [one.tightest for one in found.seen if one.tightest and not one.tightest.drops]
    tight = min(uses, key=lambda use: use.margin_bytes, default=None)
    if tight is not None and tight.margin_bytes < frame and not any(one.drops for one in found.seen):
        text = f"{format_bytes(max(0, tight.margin_bytes))} of headroom were left at {tight.place}"
        yield SimulationCause("headroom", "on the edge", text, sum(use.margin_bytes < frame for use in uses))
    pools = [
        one.headroom_pool_margin_bytes for one in found.seen if one.headroom_pool_margin_bytes is not None
    ]
    if pools and min(pools) < frame:
        text = f"{format_bytes(max(0, min(pools)))} of the shared headroom pool were left"
        yield SimulationCause("headroom pool", "on the edge", text, sum(left < frame for left in pools))
    longest, allowed = max(one.longest_watched_ns for one in found.seen), detection_ns(found)
    fired = any(one.outcome.storms for one in found.seen)
    if (
        allowed is not None
        and longest >= PAUSE_EDGE * allowed
        and not fired
        and not found.scenario.question.dead_nic
    ):
        text = f"a pause lasted {longest / 1e6:.1f} ms of the watchdog's {allowed / 1e6:g} ms"
        lasting = sum(one.longest_watched_ns >= PAUSE_EDGE * allowed for one in found.seen)
        yield SimulationCause("pause", "on the edge", text, lasting)


def detection_ns(found: Study) -> float | None:
    """Return the shortest detection time of the watchdogs, None where none runs."""
    dogs = (switch.watchdog for switch in found.scenario.switches.values())
    return min((dog.detection_ms * 1e6 for dog in dogs if dog is not None), default=None)


def _of(some: Sequence[Seen], every: Sequence[Seen]) -> str:
    return f"{len(some)} of {len(every)} seeds"


def _happens(seen: Sequence[Seen], when_ns: Sequence[float | None]) -> Happens:
    times = [one for one in when_ns if one is not None]
    return Happens(len(times), len(seen), median(times) / 1000 if times else None)


def _range(values: Iterable[float]) -> Range:
    ordered = sorted(values)
    return Range(ordered[0], median(ordered), ordered[-1])


def _goodput_bps(one: Seen) -> float:
    return one.outcome.delivered_bytes * 8e9 / one.outcome.ended_ns if one.outcome.ended_ns else 0.0


def _of_line_rate(found: Study, one: Seen) -> float:
    """Return the part of line rate: what was delivered took so much longer than it had to."""
    if not one.outcome.ended_ns or not one.outcome.size_bytes:
        return 0.0
    return one.outcome.delivered_bytes / one.outcome.size_bytes * found.step_ns / one.outcome.ended_ns


def _rate_bps(found: Study, one: Seen) -> float:
    port = one.hottest
    wires = found.scenario.plant.wires
    names = found.scenario.plant.names
    ends = [(w, names[w.a], w.a_port.name) for w in wires]
    ends += [(w, names[w.b], w.b_port.name) for w in wires if w.b_port is not None]
    speeds = (w.rate_bps for w, node, name in ends if port and (node, name) == (port.switch, port.port))
    return next(speeds, max(w.rate_bps for w in wires))


def _text(place: object | None) -> str | None:
    return None if place is None else str(place)
