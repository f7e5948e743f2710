"""Trials of settings one after another: the work of every worker of a sweep, and the verdict over trials.

For a lossless class the arrays are laid out once, and changed for each setting. For a lossy class networks are built
for each setting, and followed as a study follows them. The rules of the verdict are those of
:mod:`lossless.analysis.simulation.study.verdict`.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lossless.analysis.buffers.ecn_marking import alpha
from lossless.analysis.buffers.verdict import HEADROOM_EDGE_FRAMES
from lossless.analysis.simulation.engine.memory_units import memory_units
from lossless.analysis.simulation.engine.network import SimTrim, SimWred
from lossless.analysis.simulation.engine.records import DELAY_STEP_PS
from lossless.analysis.simulation.engine.run import Simulation, longest_pauses
from lossless.analysis.simulation.engine.wiring import dcqcn_params, dcqcn_sets
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS
from lossless.analysis.simulation.question.lossy import most_bytes, with_windows
from lossless.analysis.simulation.question.nodes import has_cycle, with_parameters
from lossless.analysis.simulation.study.grid import PortKind, TrialSetting
from lossless.analysis.simulation.study.measure import cycle
from lossless.analysis.simulation.study.study import follow
from lossless.analysis.simulation.study.verdict import PAUSE_EDGE, detection_ns, seed_goodput_bps
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.engine.network import SimNetwork, SimPort, SimQueue
    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState
    from lossless.analysis.simulation.engine.wiring import Wiring
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.analysis.simulation.question.lossy import UecSenders
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.study.loss import LossResult
    from lossless.analysis.simulation.study.measure import SeedResult
    from lossless.analysis.simulation.study.study import Times


class LossyTask(NamedTuple):
    """The input of a worker that sweeps a lossy class, as data that can be sent to another process.

    ``stages`` are the networks of seeds 1 and up as configured, ``ends`` all kinds of ports of the fabric: those
    without traffic count too, as the largest queue sets the parameters of Ultra Ethernet senders.
    """

    stages: tuple[ScenarioInstance, ...]
    times: Times
    ends: tuple[SimPort, ...]
    senders: UecSenders | None


class LossTrial(NamedTuple):
    """The loss and the figures of one setting of a lossy class with one seed."""

    loss: LossResult
    goodput_bps: float
    egress_bytes: int
    marks: int
    events: int


def loss_trials(
    task: LossyTask, settings: Sequence[ThresholdSetting], stopped: Callable[[], bool] | None = None
) -> list[tuple[LossTrial, ...]]:
    """Try settings of a lossy class one after another; return for each a trial per seed.

    Raises:
        StoppedError: ``stopped``, which is called now and then, returns that the results are not needed.
    """

    def try_one(setting: ThresholdSetting, go_on: Callable[[], bool]) -> tuple[LossTrial, ...]:
        stages = (stage._replace(network=network_with(stage.network, setting, task)) for stage in task.stages)
        return tuple(_trial(follow(stage, seed, task.times, go_on)) for seed, stage in enumerate(stages, 1))

    return in_turn(settings, try_one, stopped)


def _trial(seen: SeedResult) -> LossTrial:
    assert seen.loss is not None
    outcome = seen.outcome
    return LossTrial(seen.loss, seed_goodput_bps(seen), outcome.egress.bytes, outcome.marks, outcome.events)


def network_with(network: SimNetwork, setting: ThresholdSetting, task: LossyTask) -> SimNetwork:
    """Return a network with the thresholds of a setting at switch ports, and sender windows that fit these."""
    kinds: dict[int, SimPort] = {}

    def set_end(end: SimPort | None) -> SimPort | None:
        return None if end is None else kinds.setdefault(id(end), port_with(end, setting))

    cables = tuple(
        cable._replace(a_end=set_end(cable.a_end), b_end=set_end(cable.b_end)) for cable in network.cables
    )
    senders = _senders_with(setting, task)
    return network._replace(cables=cables, flows=with_windows(network.flows, cables, senders))


def _senders_with(setting: ThresholdSetting, task: LossyTask) -> UecSenders | None:
    if task.senders is None:
        return None
    largest = max((most_bytes(port_with(end, setting).queues[0]) for end in task.ends), default=0)
    trims = task.senders.trims if setting.trimming is None else bool(setting.trimming)
    return task.senders._replace(queue_bytes=largest, trims=trims)


def port_with(end: SimPort, setting: ThresholdSetting) -> SimPort:
    """Return a switch port whose queue of the requested class has the thresholds of a setting."""
    queue = end.queues[0]._replace(wred=_wred(end.queues[0], setting), trim=_trim(end.queues[0], setting))
    if setting.queue_dynamic_th is not None:
        queue = queue._replace(alpha=alpha(setting.queue_dynamic_th))
    return end._replace(queues=(queue, *end.queues[1:]))


def _wred(queue: SimQueue, setting: ThresholdSetting) -> SimWred | None:
    """Return a marking curve if a part of it is varied, else the configured one, None without one."""
    kmin, kmax, pmax = setting.kmin_bytes, setting.kmax_bytes, setting.pmax_percent
    if kmin is kmax is pmax is None:
        return queue.wred
    old = queue.wred or SimWred(0, 0, 0)
    return SimWred(
        old.kmin_bytes if kmin is None else kmin,
        old.kmax_bytes if kmax is None else kmax,
        old.pmax if pmax is None else pmax / 100,
    )


def _trim(queue: SimQueue, setting: ThresholdSetting) -> SimTrim | None:
    return None if setting.trimming == 0 else queue.trim


_Setting = TypeVar("_Setting")
_Tried = TypeVar("_Tried")


class SweepTask(NamedTuple):
    """The input of a worker that sweeps a lossless class, as data that can be sent to another process.

    ``key`` is unique to this sweep: a worker keeps its arrays for as long as it works for one sweep. ``stages`` are the
    networks of seeds 1 and up.
    """

    key: str
    stages: tuple[ScenarioInstance, ...]
    horizon_ns: float


class Trial(NamedTuple):
    """The results of one setting with one seed, as :mod:`lossless.analysis.simulation.study.measure` defines them.

    ``drops`` counts lossless frames that a group or a queue did not take; ``longest_watched_ns`` is the longest pause
    of a transmitter in a switch, without ports that a dead NIC pauses. ``margin_bytes`` is the least free part of the
    headroom of groups that used it or dropped, ``pool_margin_bytes`` that of a shared headroom pool smaller than the
    sum of its headrooms; each is None without one. ``cycle``: paused links formed a cycle at the end; ``cut``: traffic
    was still under way then. ``paused_ps`` is the total time in pause of all transmitters that switches paused,
    ``pauses_begun`` counts those pauses: pauses that a slow or dead NIC requests do not count. ``frames`` counts frames
    of transfers that arrived, ``done_ps`` is when the last transfer that arrived whole did, ``pfc_first``: a pause was
    requested before any frame was marked; ``p99_queue_ps`` is the time within which 99 % of all frames of the class
    leave the queue of a switch port again, pauses included.
    """

    drops: int
    pauses: int
    marks: int
    storms: int
    longest_pause_ns: float
    longest_watched_ns: float
    egress_bytes: int
    margin_bytes: int | None
    pool_margin_bytes: int | None
    cycle: bool
    cut: bool
    delivered_bytes: int
    ended_ps: int
    events: int
    paused_ps: int
    frames: int
    done_ps: int
    pfc_first: bool
    p99_queue_ps: int
    pauses_begun: int


class StoppedError(Exception):
    """The end of the work of a worker whose remaining results are no longer needed."""


def trials(
    job: SweepTask, settings: Sequence[ThresholdSetting], stopped: Callable[[], bool] | None = None
) -> list[tuple[Trial, ...]]:
    """Try settings of a lossless class one after another; return for each a trial per seed.

    Raises:
        StoppedError: ``stopped``, which is called now and then, returns that the results are not needed.
    """

    def try_one(setting: ThresholdSetting, go_on: Callable[[], bool]) -> tuple[Trial, ...]:
        tried = TrialSetting(setting)
        return tuple(
            bench.trial(tried, job.horizon_ns, go_on) for bench in benches(job.key, enumerate(job.stages, 1))
        )

    return in_turn(settings, try_one, stopped)


def in_turn(
    settings: Sequence[_Setting],
    try_one: Callable[[_Setting, Callable[[], bool]], _Tried],
    stopped: Callable[[], bool] | None,
) -> list[_Tried]:
    """Return the result of each setting, tried in turn; ``try_one`` gets a function that returns whether to go on.

    Raises:
        StoppedError: ``stopped`` returns that the results are no longer needed.
    """

    def go_on() -> bool:
        return stopped is None or not stopped()

    results = []
    for setting in settings:
        results.append(try_one(setting, go_on))
        if not go_on():
            raise StoppedError
    return results


_worker = threading.local()


def benches(key: str, seeds: Iterable[tuple[int, ScenarioInstance]]) -> tuple[Bench, ...]:
    """Return this thread's benches for the seeds of a task and their networks; those of an earlier task are freed."""
    if getattr(_worker, "key", None) != key:
        _worker.benches = ()
        _worker.benches = tuple(Bench(instance, seed) for seed, instance in seeds)
        _worker.key = key
    kept: tuple[Bench, ...] = _worker.benches
    return kept


class _Ports(NamedTuple):
    """The indexes of the queues and groups of ports in the arrays of a simulation."""

    queues: Any
    groups: Any


class Bench:
    """The arrays of one seed's network, run again and again from time zero with other thresholds."""

    def __init__(self, instance: ScenarioInstance, seed: int) -> None:
        """Lay out the arrays, and find the thresholds of the first class in them."""
        self._staged, self._seed = instance, seed
        self._simulation = Simulation(instance.network, seed)
        state, index = self._simulation.state, self._simulation.index
        self._class = slice(0, None, index.classes)
        self._ports = _ports(state, index)
        self._kinds: dict[PortKind, _Ports] = {}
        self._given_pools = _given_pools(instance.network)
        self._held = _held(state, index)
        self._by_nics = np.union1d(self._held, _slow(state, index))
        self._by_switch = np.repeat(state.links["sender_unit"] >= 0, index.classes)
        self._counted = np.flatnonzero(state.flows["counts"])
        self._may_close_cycle = _may_close_cycle(index.wiring)

    def trial(
        self, setting: TrialSetting, horizon_ns: float, go_on: Callable[[], bool] | None = None
    ) -> Trial:
        """Return the results of the network under a setting, run to its end, the horizon or a false ``go_on``."""
        self._simulation.restart(self._seed)
        self._set(setting)
        self._simulation.advance(horizon_ns, go_on)
        return self._read()

    def _set(self, setting: TrialSetting) -> None:
        self._set_ports(setting.everywhere, self._ports)
        for kind, thresholds in setting.by_kind:
            self._set_ports(thresholds, self._of_kind(kind))
        if setting.dcqcn:
            sets = [with_parameters(each, dict(setting.dcqcn)) for each in dcqcn_sets(self._staged.network)]
            self._simulation.state.params[:] = dcqcn_params(sets)
        stated = (setting.everywhere, *(thresholds for _, thresholds in setting.by_kind))
        if any(thresholds.headroom_bytes is not None for thresholds in stated):
            self._sum_headroom()

    def _set_ports(self, setting: ThresholdSetting, ports: _Ports) -> None:
        queues, groups = self._simulation.state.queues, self._simulation.state.groups
        pmax = None if setting.pmax_percent is None else setting.pmax_percent / 100
        for name, value in (("kmin", setting.kmin_bytes), ("kmax", setting.kmax_bytes), ("pmax", pmax)):
            if value is not None:
                queues[name][ports.queues] = value
                queues["wred"][ports.queues] = 1
        if setting.dynamic_th is not None:
            groups["alpha"][ports.groups] = alpha(setting.dynamic_th)
        if setting.headroom_bytes is not None:
            groups["headroom_bytes"][ports.groups] = setting.headroom_bytes

    def _of_kind(self, kind: PortKind) -> _Ports:
        """Return the indexes of ports of a kind: queues that they send from, groups that they receive into."""
        if kind not in self._kinds:
            index, roles = self._simulation.index, self._staged.roles
            links = [
                (PortKind(roles[a], cable.rate_bps) == kind, PortKind(roles[b], cable.rate_bps) == kind)
                for (a, b), (cable, _) in zip(index.wiring.ends, index.wiring.cables, strict=True)
            ]
            sends, receives = (np.flatnonzero(each) * index.classes for each in zip(*links, strict=True))
            self._kinds[kind] = _Ports(
                np.intersect1d(self._ports.queues, sends), np.intersect1d(self._ports.groups, receives)
            )
        return self._kinds[kind]

    def _sum_headroom(self) -> None:
        """Set the headroom of units without a configured headroom pool to the sum of their groups' headrooms."""
        pools = self._simulation.state.units["headroom_pool_bytes"]
        sums = _promised(self._simulation.state)
        sums[self._given_pools] = pools[self._given_pools]
        pools[:] = sums

    def _read(self) -> Trial:
        state = self._simulation.state
        clock, queues, groups = state.clock[0], state.queues[self._class], state.groups[self._class]
        longest = longest_pauses(state)
        longest[self._held] = 0
        return Trial(
            drops=int(groups["drops"].sum()) + int(queues["drops"].sum()) + self._dropped_beside(),
            pauses=int(clock["pauses"]),
            marks=int(clock["marks"]),
            storms=int(clock["storms"]),
            longest_pause_ns=int(longest.max(initial=0)) / 1000,
            longest_watched_ns=int((longest * self._by_switch).max(initial=0)) / 1000,
            egress_bytes=int(state.queues["max_bytes"].max()),
            margin_bytes=_margin(groups),
            pool_margin_bytes=self._pool_margin(),
            cycle=self._may_close_cycle and bool(cycle(state, self._simulation.index, self._staged)),
            cut=not self._simulation.ended,
            delivered_bytes=int(state.flows["expected_psn"][self._counted].sum()),
            ended_ps=int(clock["now"]),
            events=int(clock["events"]),
            paused_ps=self._paused_ps(),
            frames=self._frames(),
            done_ps=int(state.flows["done_at"][self._counted].max(initial=0)),
            pfc_first=_before(int(clock["first_pause_at"]), int(clock["first_mark_at"])),
            pauses_begun=self._pauses_begun(),
            p99_queue_ps=_percentile_ps(state.delays, 0.99),
        )

    def _dropped_beside(self) -> int:
        """Return the number of frames of other lossless classes that a group or a queue did not take."""
        state, index = self._simulation.state, self._simulation.index
        own = (slice(number, None, index.classes) for number in range(1, index.classes))
        return sum(
            int(state.groups["drops"][each].sum()) + int(state.queues["drops"][each].sum())
            for each in own
            if state.groups["lossless"][each].any()
        )

    def _paused_ps(self) -> int:
        """Return how long transmitters of the class were paused in all, without pauses by dead or slow NICs."""
        state = self._simulation.state
        queues, now = state.queues, int(state.clock["now"][0])
        paused = queues["paused_ps"] + np.where(queues["paused_since"] >= 0, now - queues["paused_since"], 0)
        paused[self._by_nics] = 0
        return int(paused[self._class].sum())

    def _pauses_begun(self) -> int:
        begun = self._simulation.state.queues["pauses"].copy()
        begun[self._by_nics] = 0
        return int(begun[self._class].sum())

    def _frames(self) -> int:
        flows = self._simulation.state.flows[self._counted]
        return int((-(-flows["expected_psn"] // flows["mtu_bytes"])).sum())

    def _pool_margin(self) -> int | None:
        """Return the least free part of the headroom pools that are smaller than the headrooms of their groups.

        None if no configured pool is smaller.
        """
        if not len(self._given_pools):
            return None
        units = self._simulation.state.units
        over = _promised(self._simulation.state) > units["headroom_pool_bytes"]
        left = (units["headroom_pool_bytes"] - units["max_headroom"])[over]
        return int(left.min()) if len(left) else None


def _percentile_ps(delays: Any, part: float) -> int:
    """Return the delay that a part of the frames (0 to 1) does not exceed: the upper end of its histogram bin."""
    below = delays.cumsum()
    return 0 if below[-1] == 0 else (int(np.searchsorted(below, part * below[-1])) + 1) * DELAY_STEP_PS


def _before(first_at: int, second_at: int) -> bool:
    """Return whether the first event happened before the second, or without it; -1 is never."""
    return first_at >= 0 and (second_at < 0 or first_at < second_at)


def _ports(state: SimState, index: ArrayIndex) -> _Ports:
    """Return the indexes of the queues in switches and of the lossless groups, both of the first class."""
    return _Ports(
        np.flatnonzero(state.links["sender_unit"] >= 0) * index.classes,
        np.flatnonzero(state.groups["lossless"][:: index.classes]) * index.classes,
    )


def _margin(groups: Any) -> int | None:
    used = (groups["max_headroom"] > 0) | (groups["drops"] > 0)
    left = (groups["headroom_bytes"] - groups["max_headroom"])[used]
    return int(left.min()) if len(left) else None


def _promised(state: SimState) -> Any:
    """Return the sum of the groups' headrooms of each memory unit, in bytes; groups in hosts have none."""
    units = np.maximum(state.groups["unit"], 0)
    return np.bincount(units, state.groups["headroom_bytes"], len(state.units)).astype(np.int64)


def _given_pools(network: SimNetwork) -> Any:
    """Return the numbers of the memory units whose headroom pool is configured."""
    units = enumerate(memory_units(network))
    given = (
        number
        for number, (node, pool, _) in units
        if pool == 0 and network.switches[node].headroom_pool_bytes is not None
    )
    return np.array(list(given), np.intp)


def _held(state: SimState, index: ArrayIndex) -> Any:
    """Return the indexes of the queues whose link a dead NIC holds paused: the traffic does not cause that pause."""
    links = np.unique(state.holds["link"]).astype(np.intp)
    return (links[:, None] * index.classes + np.arange(index.classes)).ravel()


def _slow(state: SimState, index: ArrayIndex) -> Any:
    """Return the indexes of the queues whose link leads to a slow NIC, which pauses it."""
    links = np.flatnonzero(state.links["receiver"] >= 0)
    return (links[:, None] * index.classes + np.arange(index.classes)).ravel()


def _may_close_cycle(wiring: Wiring) -> bool:
    """Return whether the paths of flows and their ACKs have a CBD; without one no PFC deadlock can happen.

    A frame waits on one link for the next of its path (Dally and Seitz 1987).
    """
    after: dict[int, set[int]] = {}
    back = (wiring.all_returns[number] for number in wiring.acked)
    for route in {route for routes in (*wiring.all_routes, *back) for route in routes}:
        for link, following in pairwise(route):
            after.setdefault(link, set()).add(following)
    return has_cycle(after)


class TrialLimits(NamedTuple):
    """The limits by which the verdict on a setting follows from its trials.

    A setting is on the edge below ``edge_bytes`` of headroom left, and from ``pause_edge_ns`` of pause on.
    """

    edge_bytes: int
    pause_edge_ns: float
    dead_nic: bool
    ends_storms: bool

    @property
    def detection_ns(self) -> float:
        """The shortest detection time of a watchdog that observes pauses by congestion; infinite if none does."""
        return self.pause_edge_ns / PAUSE_EDGE

    @classmethod
    def of(cls, scenario: Scenario) -> TrialLimits:
        """Return the limits for the trials of a scenario."""
        allowed = detection_ns(scenario)
        edge_ns = float("inf") if allowed is None or scenario.question.dead_nic else PAUSE_EDGE * allowed
        return cls(
            HEADROOM_EDGE_FRAMES * scenario.frame_bytes,
            edge_ns,
            scenario.question.dead_nic,
            scenario.ends_storms,
        )

    def verdict(self, seeds: Sequence[Trial]) -> BufferVerdict:
        """Return the verdict on a setting over the trials of all seeds."""
        if any(trial.drops or trial.cycle or self._stormy(trial) for trial in seeds):
            return "unsafe"
        left = [n for trial in seeds for n in (trial.margin_bytes, trial.pool_margin_bytes) if n is not None]
        held_long = any(trial.longest_watched_ns >= self.pause_edge_ns for trial in seeds)
        near = held_long or min(left, default=self.edge_bytes) < self.edge_bytes
        return "on the edge" if near else "safe"

    def _stormy(self, trial: Trial) -> bool:
        """Return whether a dead NIC's storm goes on, or whether the watchdog triggers although no NIC is dead."""
        if not self.dead_nic:
            return trial.storms > 0
        ended = trial.storms > 0 and self.ends_storms
        return not ended and trial.ended_ps > DEAD_FROM_NS * 1000
