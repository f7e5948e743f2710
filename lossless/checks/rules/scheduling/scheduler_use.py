"""Shared by the scheduling rules: the queues that each scheduler serves, and the rates and weights on a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.ecn.wred_profiles import lossless_queues
from lossless.checks.rules.locations import distinct
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lossless.model.fabric.qos import PortQos, Scheduler
    from lossless.model.fabric.view import PortSet, View

STRICT = "STRICT"
WEIGHTED = ("DWRR", "WRR")
METERS = ("bytes", "packets")
DEFAULT_WEIGHT = 1
"""Weight of a queue without one (sonic-scheduler.yang @086b03b; SAI inc/saischeduler.h @0051fac)."""
WEIGHTS = range(1, 101)
"""Weights that SONiC's schema takes (sonic-scheduler.yang @086b03b). SAI had this range, and has 1 to 255 since
inc/saischeduler.h @b925fc0."""


class SchedulerUse(NamedTuple):
    """One scheduler and the queues that it serves, each as a port set and a queue number."""

    scheduler: Scheduler
    queues: tuple[tuple[PortSet, int], ...]

    @property
    def sets(self) -> tuple[PortSet, ...]:
        """The port sets whose queues the scheduler serves, each once."""
        return distinct(ports for ports, _ in self.queues)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the queues that the scheduler serves, ascending."""
        return tuple(sorted({number for _, number in self.queues}))


def scheduler_uses(view: View) -> Iterator[SchedulerUse]:
    """Yield each scheduler that orchagent accepts and that serves queues, with all its queues."""
    yield from _by_scheduler(
        (queue.scheduler, ports, queue.number)
        for ports in view.port_sets
        for queue in ports.qos.queues
        if queue is not None and queue.scheduler is not None
    )


def lossless_scheduler_uses(view: View) -> Iterator[SchedulerUse]:
    """Yield each scheduler that orchagent accepts and that serves lossless queues, with these queues alone."""
    yield from _by_scheduler(
        (lossless.queue.scheduler, lossless.ports, lossless.number)
        for lossless in lossless_queues(view)
        if lossless.queue is not None and lossless.queue.scheduler is not None
    )


def _by_scheduler(queues: Iterator[tuple[Scheduler, PortSet, int]]) -> Iterator[SchedulerUse]:
    # orchagent refuses the other rows; SWS004 reports them.
    accepted = (
        (scheduler, ports, number)
        for scheduler, ports, number in queues
        if (scheduler.kind == STRICT or scheduler.kind in WEIGHTED) and scheduler.meter in METERS
    )
    # Rows are read once, so one row is one object; comparing by value would walk every origin.
    for same in grouped((id(queue[0]), queue) for queue in accepted).values():
        distinct = {(id(ports.ports), number): (ports, number) for _, ports, number in same}
        yield SchedulerUse(same[0][0], tuple(distinct.values()))


def scheduler_of(qos: PortQos, number: int) -> Scheduler | None:
    """Return the scheduler of a queue, None where no row binds one."""
    queue = qos.queues[number]
    return queue.scheduler if queue else None


def weights(qos: PortQos) -> Mapping[int, int]:
    """Return the weight of each queue that shares by weight."""
    return {
        queue.number: DEFAULT_WEIGHT if queue.scheduler.weight is None else queue.scheduler.weight
        for queue in qos.queues
        if queue is not None and queue.scheduler is not None and queue.scheduler.kind in WEIGHTED
    }


def limit_bps(scheduler: Scheduler) -> int | None:
    """Return the rate in bit/s that a scheduler never exceeds; None without one (or 0), or where it counts packets."""
    return scheduler.pir * 8 if scheduler.pir and scheduler.meter == "bytes" else None


def unbounded(scheduler: Scheduler, speed_bps: int | None) -> bool:
    """Return whether a scheduler may fill a whole port; False where its limit cannot be compared with the speed."""
    if not scheduler.pir:
        return True
    limit = limit_bps(scheduler)
    return limit is not None and speed_bps is not None and limit >= speed_bps


def waiting_for(qos: PortQos, number: int) -> Iterator[int]:
    """Yield the queues of a port that wait for a strict one: those not strict, and strict ones of a lower number."""
    for queue in filter(None, qos.queues):
        kind = queue.scheduler.kind if queue.scheduler else None
        if queue.number != number and (kind != STRICT or queue.number < number):
            yield queue.number


def queue_names(numbers: tuple[int, ...]) -> str:
    """Return queues as a sentence names them: ``queue 3``, ``queues 3, 4``."""
    return f"queue{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def below_half_share(weights: Mapping[int, int], own: Collection[int]) -> bool:
    """Return whether the queues ``own`` have less than half of an equal share of a link, by the weights of all."""
    return 2 * len(weights) * sum(weights[number] for number in own) < len(own) * sum(weights.values())
