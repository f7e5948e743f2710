"""The results of one simulation run of a fabric, by the names of its devices: the input of a verdict.

Among them are the fan-in during the run (the number of ports that feed each kind of port, its peak queue depth, and
whether it was paused) and the peak bytes at each kind of port, to compare with the watermarks of switches.
"""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lossless.analysis.buffers.headroom.formulas import QUANTUM_BYTES
from lossless.analysis.buffers.verdict import LONGEST_PAUSE_QUANTA
from lossless.analysis.simulation.engine.memory_units import memory_units
from lossless.analysis.simulation.engine.run import RunOutcome, longest_pauses, outcome
from lossless.analysis.simulation.study.loss import LossResult, loss_of
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.simulation.engine.run import Simulation
    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.model.fabric.state import CountedSince


class PortFanIn(NamedTuple):
    """All ports of one kind that the traffic leaves by: from ``sender`` to ``receiver``, by role.

    ``fan_in`` is the most ports that feed one queue, 0 for ports of hosts. ``peak_queue_depth_bytes`` is the peak depth
    of a queue of these ports, ``paused`` the number of ports that were paused at some time.
    """

    sender: str
    receiver: str
    ports: int
    fan_in: int
    peak_queue_depth_bytes: int
    paused: int


def port_fan_ins(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> tuple[PortFanIn, ...]:
    """Return the fan-in of each kind of port in one run."""
    feeding = _feeding(route for routes in index.wiring.all_routes for route in routes)
    by_kind: dict[tuple[str, str], PortFanIn] = {}
    for link in feeding:
        sender, receiver = index.wiring.ends[link]
        kind = instance.roles[sender], instance.roles[receiver]
        queue = state.queues[link * index.classes]
        own = PortFanIn(*kind, 1, len(feeding[link]), int(queue["max_bytes"]), int(queue["pauses"] > 0))
        by_kind[kind] = _with(by_kind[kind], own) if kind in by_kind else own
    return tuple(by_kind.values())


def worst(runs: Iterable[tuple[PortFanIn, ...]]) -> tuple[PortFanIn, ...]:
    """Return the fan-in of each kind of port, with the largest value of each figure over several runs."""
    by_kind: dict[tuple[str, str], PortFanIn] = {}
    for fan_in in (fan_in for kinds in runs for fan_in in kinds):
        kind = fan_in.sender, fan_in.receiver
        most = by_kind.get(kind, fan_in)
        by_kind[kind] = PortFanIn(
            *kind,
            ports=max(most.ports, fan_in.ports),
            fan_in=max(most.fan_in, fan_in.fan_in),
            peak_queue_depth_bytes=max(most.peak_queue_depth_bytes, fan_in.peak_queue_depth_bytes),
            paused=max(most.paused, fan_in.paused),
        )
    return tuple(by_kind.values())


def _feeding(routes: Iterable[tuple[int, ...]]) -> dict[int, set[int]]:
    """Return for each link the links whose traffic continues over it; links of the longest routes come first."""
    longest_first = sorted(routes, key=len, reverse=True)
    # Each step once, as routes have many in common; one begins with a step from -1, which is no link.
    steps = dict.fromkeys(chain.from_iterable(pairwise((-1, *route)) for route in longest_first))
    feeding: dict[int, set[int]] = {}
    for link, onward in steps:
        feeding.setdefault(onward, set()).update({link} - {-1})
    return feeding


def _with(fan_in: PortFanIn, other: PortFanIn) -> PortFanIn:
    return fan_in._replace(
        ports=fan_in.ports + other.ports,
        fan_in=max(fan_in.fan_in, other.fan_in),
        peak_queue_depth_bytes=max(fan_in.peak_queue_depth_bytes, other.peak_queue_depth_bytes),
        paused=fan_in.paused + other.paused,
    )


PeakOf = Literal["shared_bytes", "headroom_bytes", "queue_bytes"]
"""A peak: of a priority group in shared buffer, of one in headroom, of an egress queue."""


class PortPeaks(NamedTuple):
    """The peaks of the class at all ports of one kind: by the roles of the switch and of its peer, and the rate.

    ``shared_bytes`` is the most that an ingress group held in shared and reserved buffer, ``headroom_bytes`` the most
    that it charged to headroom, ``queue_bytes`` the peak depth of an egress queue.
    """

    switch: str
    peer: str
    speed_bps: int
    shared_bytes: int = 0
    headroom_bytes: int = 0
    queue_bytes: int = 0


class PeakComparison(NamedTuple):
    """One peak at all ports of a kind: of switches of a role, towards peers of a role, at a speed.

    ``measured_bytes`` is the highest watermark of a lossless group or queue ``at`` one of ``ports`` that were captured,
    ``since`` its window; None where none was captured. ``simulated_bytes`` is the most of all runs, None where none had
    traffic there. ``closed_form_bytes`` is the headroom that is ``needed``, or the ``XOFF`` of a group that
    has the pool alone; None where no closed form bounds the peak.
    """

    switch: str
    peer: str
    speed_bps: int | None
    peak: PeakOf
    measured_bytes: int | None = None
    at: str | None = None
    since: CountedSince | None = None
    ports: int = 0
    simulated_bytes: int | None = None
    closed_form_bytes: int | None = None
    closed_form: str | None = None


def port_peaks(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> tuple[PortPeaks, ...]:
    """Return the peak bytes of one run at each kind of switch port."""
    return most([tuple(_peaks(state, index, instance))])


def most(runs: Iterable[tuple[PortPeaks, ...]]) -> tuple[PortPeaks, ...]:
    """Return the peaks of each kind of port, with the largest value of each over several runs."""
    by_kind = grouped((peaks[:3], peaks) for kinds in runs for peaks in kinds)
    return tuple(
        PortPeaks(
            *kind,
            max(peaks.shared_bytes for peaks in same),
            max(peaks.headroom_bytes for peaks in same),
            max(peaks.queue_bytes for peaks in same),
        )
        for kind, same in by_kind.items()
    )


def _peaks(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> Iterator[PortPeaks]:
    """Yield the peaks of each end of a link that is in a switch."""
    for link, (sender, receiver) in enumerate(index.wiring.ends):
        speed_bps = instance.wires[index.wiring.cable_of[link]].rate_bps
        near, far = instance.roles[sender], instance.roles[receiver]
        if sender in instance.network.switches:
            queue = state.queues[link * index.classes]
            yield PortPeaks(near, far, speed_bps, queue_bytes=int(queue["max_bytes"]))
        if receiver in instance.network.switches:
            group = state.groups[link * index.classes]
            held = int(group["max_shared"]), int(group["max_headroom"])
            yield PortPeaks(far, near, speed_bps, *held)


class NamedLinkEnd(NamedTuple):
    """An end of a link: switch and port by name, or a NIC without a port; and the name of the other end."""

    switch: str
    port: str | None
    peer: str

    def __str__(self) -> str:
        return self.switch if self.port is None else f"{self.switch}:{self.port}"


class GroupUse(NamedTuple):
    """A priority group that used headroom or dropped: its port, the bytes used, the headroom's size, and the drops."""

    place: NamedLinkEnd
    used_bytes: int
    headroom_bytes: int
    drops: int

    @property
    def margin_bytes(self) -> int:
        """The part of the group's headroom that stayed free."""
        return self.headroom_bytes - self.used_bytes


class PoolUse(NamedTuple):
    """A shared headroom pool that is smaller than the sum of headrooms: its switch, and the least that stayed free."""

    switch: str
    left_bytes: int


class PropagationExtent(NamedTuple):
    """The extent of pauses: hops, paused switch ports and paused NIC ports, and the numbers of all such ports."""

    hops: int
    switch_ports: int
    all_switch_ports: int
    nics: int
    all_nics: int


class PauseTimes(NamedTuple):
    """The pause that came closest to the longest that one PFC frame can request on its link, and that limit.

    ``nic_share`` is the part of the run for which the NIC that was paused most was paused.
    """

    longest_ns: float = 0.0
    longest_limit_ns: float = 1.0
    nic_share: float = 0.0


class BesideResult(NamedTuple):
    """The results of the second simulated class, that of storage.

    ``margin_bytes`` is the least free part of a used headroom, None if none was used.
    """

    drops: int
    pauses: int
    longest_pause_ns: float
    margin_bytes: int | None


class SeedResult(NamedTuple):
    """The results of one seed.

    ``tightest`` is the group that came closest to the end of its headroom, ``most_headroom`` the group that used the
    most of it, ``hottest`` the port of peak queue depth, ``longest_at`` the transmitter that was paused longest,
    ``still_paused`` whether that pause went on at the end; ``longest_watched_ns`` is the longest pause of a transmitter
    in a switch, which a watchdog observes: both without links that a dead NIC holds. ``refused`` counts frames of the
    class that an egress queue did not take, without those that the watchdog dropped. ``headroom_pool_margin_bytes`` is
    the least free part of the ``pools``, None without one. ``cycle`` names paused links that form a cycle (PFC
    deadlock). ``cut``: the run was stopped while traffic was under way. ``uses`` are all groups of the class that used
    headroom or dropped, those that dropped first by time; ``pools`` the headroom pools smaller than the sum of their
    headrooms; ``refusing`` the ports whose queues refused frames, ``stopped`` those on whose queues the watchdog
    triggered. ``fan_ins`` has the fan-in of each kind of port, ``peaks`` the most bytes at each kind. ``pauses`` has
    the pause times of the class. ``beside`` has the results of the storage class, None if none is simulated; ``loss``
    is that of a lossy class, None for a lossless one.
    """

    seed: int
    outcome: RunOutcome
    drops: int
    refused: int
    first_drop_at: NamedLinkEnd | None
    tightest: GroupUse | None
    headroom_pool_margin_bytes: int | None
    hottest: NamedLinkEnd | None
    most_headroom: GroupUse | None
    longest_pause_ns: float
    longest_at: NamedLinkEnd | None
    still_paused: bool
    propagation: PropagationExtent
    cycle: tuple[str, ...]
    cut: bool
    uses: tuple[GroupUse, ...] = ()
    pools: tuple[PoolUse, ...] = ()
    refusing: tuple[NamedLinkEnd, ...] = ()
    stopped: tuple[NamedLinkEnd, ...] = ()
    longest_watched_ns: float = 0.0
    fan_ins: tuple[PortFanIn, ...] = ()
    pauses: PauseTimes = PauseTimes()
    peaks: tuple[PortPeaks, ...] = ()
    beside: BesideResult | None = None
    loss: LossResult | None = None

    @property
    def worst(self) -> GroupUse | None:
        """The group that dropped most, else the tightest, None where none used headroom or dropped."""
        most = max(self.uses, key=lambda use: use.drops, default=None)
        return most if most is not None and most.drops else self.tightest

    @property
    def first_pfc_before_mark(self) -> bool:
        """Whether a pause was sent before any frame was marked."""
        marked, paused = self.outcome.first_mark_ns, self.outcome.first_pause_ns
        return paused is not None and (marked is None or paused < marked)


def measure(
    simulation: Simulation,
    instance: ScenarioInstance,
    seed: int,
    *,
    cut: bool,
    without_loss_ns: float | None = None,
) -> SeedResult:
    """Return the results of a run; :func:`.loss.loss_of` documents ``without_loss_ns``."""
    state, index = simulation.state, simulation.index
    job = _of_class(state, index, 0)
    uses = tuple(_uses(state, index, instance))
    dropping = [use for use in uses if use.drops]
    pools = tuple(_pools(state, instance))
    longest, longest_at, still = _longest(state, index, instance)
    return SeedResult(
        seed=seed,
        outcome=outcome(state, index, 0),
        drops=int(state.groups["drops"][job].sum()),
        refused=int(state.queues["drops"][job].sum()),
        first_drop_at=dropping[0].place if dropping else None,
        tightest=min(uses, key=lambda use: (use.margin_bytes, str(use.place)), default=None),
        headroom_pool_margin_bytes=min((pool.left_bytes for pool in pools), default=None),
        most_headroom=max(uses, key=lambda use: (use.used_bytes, str(use.place)), default=None),
        hottest=_hottest(state, index, instance),
        longest_pause_ns=longest,
        longest_watched_ns=_longest_watched_ns(state, index),
        longest_at=longest_at,
        still_paused=still,
        propagation=_propagation(state, index),
        cycle=cycle(state, index, instance),
        cut=cut,
        uses=uses,
        pools=pools,
        refusing=_sending(job[state.queues["drops"][job] > 0], index, instance),
        stopped=_sending(job[state.queues["storms"][job] > 0], index, instance),
        fan_ins=port_fan_ins(state, index, instance) if instance.roles else (),
        pauses=_pause_times(state, job),
        peaks=port_peaks(state, index, instance) if instance.roles else (),
        beside=_beside(state, index) if instance.network.classes > 1 and not instance.lossy else None,
        loss=loss_of(state, instance.network, without_loss_ns) if instance.lossy else None,
    )


def _beside(state: SimState, index: ArrayIndex) -> BesideResult:
    """Return the results of the second simulated class, that of storage."""
    own = _of_class(state, index, 1)
    groups = state.groups[own]
    left = (groups["headroom_bytes"] - groups["max_headroom"])[groups["max_headroom"] > 0]
    return BesideResult(
        margin_bytes=int(left.min()) if len(left) else None,
        drops=int(state.groups["drops"][own].sum()) + int(state.queues["drops"][own].sum()),
        pauses=int(state.groups["pauses"][own].sum()),
        longest_pause_ns=int(longest_pauses(state)[own].max(initial=0)) / 1000,
    )


def _of_class(state: SimState, index: ArrayIndex, number: int) -> Any:
    """Return the indexes of the groups and queues of a class, in the order of links."""
    return np.arange(number, len(state.queues), index.classes)


def place_of(link: int, index: ArrayIndex, instance: ScenarioInstance, *, sending: bool) -> NamedLinkEnd:
    """Return the end of a link that sends, or without ``sending`` the end that receives, by name."""
    _, forward = index.wiring.cables[link]
    wire = instance.wires[index.wiring.cable_of[link]]
    sender, receiver = index.wiring.ends[link]
    here, there = (sender, receiver) if sending else (receiver, sender)
    at_a = forward == sending
    port = wire.a_port if at_a else wire.b_port
    return NamedLinkEnd(instance.names[here], port.name if port is not None else None, instance.names[there])


def _uses(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> Iterator[GroupUse]:
    """Yield the groups of the first class that used headroom or dropped, those that dropped first by time."""
    job = _of_class(state, index, 0)
    groups = state.groups[job]
    used = np.flatnonzero((groups["max_headroom"] > 0) | (groups["drops"] > 0))
    first = np.where(groups["first_drop_at"] < 0, np.iinfo(np.int64).max, groups["first_drop_at"])
    for link in used[np.argsort(first[used], kind="stable")]:
        group = groups[link]
        place = place_of(int(link), index, instance, sending=False)
        yield GroupUse(place, int(group["max_headroom"]), int(group["headroom_bytes"]), int(group["drops"]))


def _pools(state: SimState, instance: ScenarioInstance) -> Iterator[PoolUse]:
    """Yield the headroom pools that are smaller than the sum of their groups' headrooms."""
    promised = np.bincount(
        np.maximum(state.groups["unit"], 0),
        weights=state.groups["headroom_bytes"],
        minlength=len(state.units),
    )
    left = state.units["headroom_pool_bytes"] - state.units["max_headroom"]
    for unit, (node, pool, _) in enumerate(memory_units(instance.network)):
        if pool == 0 and promised[unit] > state.units["headroom_pool_bytes"][unit]:
            yield PoolUse(instance.names[node], int(left[unit]))


def _sending(queues: Any, index: ArrayIndex, instance: ScenarioInstance) -> tuple[NamedLinkEnd, ...]:
    """Return the port of each queue, by name."""
    return tuple(place_of(int(at) // index.classes, index, instance, sending=True) for at in queues)


def _hottest(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> NamedLinkEnd | None:
    held = state.queues["max_bytes"][_of_class(state, index, 0)]
    at = int(held.argmax())
    return place_of(at, index, instance, sending=True) if held[at] else None


def _longest_watched_ns(state: SimState, index: ArrayIndex) -> float:
    """Return the longest pause in ns of a transmitter in a switch, without those that a dead NIC holds paused."""
    return int(longest_pauses(state)[_watched(state, index)].max(initial=0)) / 1000


def _watched(state: SimState, index: ArrayIndex) -> Any:
    """Return for each queue whether it is one of a switch that no dead NIC holds paused."""
    links = state.links["sender_unit"] >= 0
    links[state.holds["link"]] = False
    return np.repeat(links, index.classes)


def standing_since(state: SimState, index: ArrayIndex) -> Any:
    """Return the start of the current pause in ps of each switch queue, -1 if none lasts or a dead NIC holds it."""
    return np.where(_watched(state, index), state.queues["paused_since"], -1)


def _longest(
    state: SimState, index: ArrayIndex, instance: ScenarioInstance
) -> tuple[float, NamedLinkEnd | None, bool]:
    """Return the longest pause in ns of those that no dead NIC holds, its transmitter, and whether it goes on.

    Without a pause these are 0, None and False.
    """
    longest = longest_pauses(state)
    held = {
        int(link) * index.classes + class_number
        for link in state.holds["link"]
        for class_number in range(index.classes)
    }
    longest[sorted(held)] = 0
    at = int(longest.argmax())
    if longest[at] == 0:
        return 0.0, None, False
    goes_on = state.queues["paused_since"][at] >= 0
    still = bool(goes_on and state.queues["longest_pause_ps"][at] < longest[at])
    return int(longest[at]) / 1000, place_of(at // index.classes, index, instance, sending=True), still


def _propagation(state: SimState, index: ArrayIndex) -> PropagationExtent:
    paused = state.queues["pauses"][_of_class(state, index, 0)] > 0
    by_switch = state.links["sender_unit"] >= 0
    is_paused, any_paused = paused.tolist(), bool(paused.any())
    runs = (_run(route, is_paused) for routes in index.wiring.all_routes for route in routes)
    return PropagationExtent(
        hops=max(runs, default=0) if any_paused else 0,
        switch_ports=int((paused & by_switch).sum()),
        all_switch_ports=int(by_switch.sum()),
        nics=int((paused & ~by_switch).sum()),
        all_nics=int((~by_switch).sum()),
    )


def _pause_times(state: SimState, job: Any) -> PauseTimes:
    """Return the pause times of the class; ``job`` are its queues, in the order of links."""
    longest_ps = longest_pauses(state)[job]
    limits_ps = LONGEST_PAUSE_QUANTA * QUANTUM_BYTES * state.links["ps_per_byte"]
    at = int((longest_ps / limits_ps).argmax())
    now, queues = int(state.clock["now"][0]), state.queues[job]
    paused_ps = queues["paused_ps"] + np.where(queues["paused_since"] >= 0, now - queues["paused_since"], 0)
    of_nics = paused_ps[state.links["sender_unit"] < 0]
    share = float(of_nics.max(initial=0)) / now if now else 0.0
    return PauseTimes(float(longest_ps[at]) / 1000, float(limits_ps[at]) / 1000, share)


def _run(route: tuple[int, ...], paused: Sequence[bool]) -> int:
    """Return the propagation hops on a path: its longest run of paused links."""
    longest = here = 0
    for link in route:
        here = here + 1 if paused[link] else 0
        longest = max(longest, here)
    return longest


def cycle(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> tuple[str, ...]:
    """Return paused links that form a cycle (PFC deadlock), by their transmitters; empty where none do."""
    links = _find_cycle(_waits(state, index))
    return tuple(str(place_of(link, index, instance, sending=True)) for link in links)


def _waits(state: SimState, index: ArrayIndex) -> dict[int, set[int]]:
    """Return for each paused link the paused links that the frames it delivered wait for."""
    job = _of_class(state, index, 0)
    queues = state.queues[job]
    paused = set(np.flatnonzero((queues["paused_since"] >= 0) & (state.links["sender_unit"] >= 0)).tolist())
    waits: dict[int, set[int]] = {}
    for onward in paused:
        number = int(queues["head"][onward])
        while number >= 0:
            came = int(state.frames["via"][number])
            if came in paused:
                waits.setdefault(came, set()).add(onward)
            number = int(state.frames["next"][number])
    return waits


def _find_cycle(after: dict[int, set[int]]) -> tuple[int, ...]:
    """Return one cycle of a graph, empty where it has none."""
    done: set[int] = set()
    for start in sorted(after):
        path: list[int] = []
        steps = [iter((start,))]
        while steps:
            node = next(steps[-1], None)
            if node is None:
                steps.pop()
                done.update(path[len(steps) - 1 :] if steps else path)
                del path[max(0, len(steps) - 1) :]
            elif node in path:
                return tuple(path[path.index(node) :])
            elif node not in done:
                path.append(node)
                steps.append(iter(sorted(after.get(node, ()))))
    return ()
