"""A setting of a lossy class's thresholds on networks that are built for it, each followed as a study follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import alpha
from lossless.analysis.simulation.engine.network import SimTrim, SimWred
from lossless.analysis.simulation.question.lossy import most_bytes, with_windows
from lossless.analysis.simulation.study.study import follow
from lossless.analysis.simulation.study.trial import in_turn
from lossless.analysis.simulation.study.verdict import seed_goodput_bps
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork, SimPort, SimQueue
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.analysis.simulation.question.lossy import UecSenders
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.study.loss import LossResult
    from lossless.analysis.simulation.study.measure import SeedResult
    from lossless.analysis.simulation.study.study import Times


class LossyTask(NamedTuple):
    """The input of a worker, as data that can be sent to another process.

    ``stages`` are the networks of seeds 1 and up as configured, ``ends`` all kinds of ports of the fabric: those
    without traffic count too, as the largest queue sets the parameters of Ultra Ethernet senders.
    """

    stages: tuple[ScenarioInstance, ...]
    times: Times
    ends: tuple[SimPort, ...]
    senders: UecSenders | None


class LossTrial(NamedTuple):
    """The results of one setting with one seed, as :mod:`lossless.analysis.simulation.study.measure` defines them."""

    loss: LossResult
    goodput_bps: float
    egress_bytes: int
    marks: int
    events: int


def loss_trials(
    task: LossyTask, settings: Sequence[ThresholdSetting], stopped: Callable[[], bool] | None = None
) -> list[tuple[LossTrial, ...]]:
    """Try settings one after another; return for each a trial per seed.

    Raises:
        StoppedError: ``stopped``, which is called about ten times a second, returns that the results are not needed.
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
    """Return a network whose ports have a setting, and whose senders are configured for it."""
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
    """Return a port whose queue of the requested class has a setting."""
    queue = end.queues[0]._replace(wred=_wred(end.queues[0], setting), trim=_trim(end.queues[0], setting))
    if setting.queue_dynamic_th is not None:
        queue = queue._replace(alpha=alpha(setting.queue_dynamic_th))
    return end._replace(queues=(queue, *end.queues[1:]))


def _wred(queue: SimQueue, setting: ThresholdSetting) -> SimWred | None:
    """Return a marking curve if a part of it is varied, else the configured one."""
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
