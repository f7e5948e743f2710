"""Renumbers the classes of other systems: an intent has one number for class, queue and PFC priority, they have three.

Ports are renumbered before they vote: a class with PFC has the number of its priority, any other
that of its queue. Deviations of a switch are lost, and listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.wording import listed
from lossless.model.fabric.qos import DSCPS, PRIORITIES, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import PortQos, Queue


def unsaid_dscps(port: Port) -> str | None:
    """Return the DSCPs without a class in a configuration, as text; None where all have one."""
    targets = port.qos.dscp_to_tc.targets if port.qos and port.qos.dscp_to_tc else ()
    unsaid = [str(dscp) for dscp, target in enumerate(targets) if target == UNREADABLE]
    if len(unsaid) == len(DSCPS):
        return "DSCPs go"
    return f"DSCP {listed(unsaid)} goes" if unsaid else None


def as_classes(port: Port) -> Port:
    """Return a port whose classes have the number of their priority, else of their queue."""
    return port if port.qos is None else port._replace(qos=_as_classes(port.qos))


def _as_classes(qos: PortQos) -> PortQos:
    paused = _paused(qos)
    number_of = {tc: _number(qos, tc, paused) for tc in PRIORITIES}
    targets = tuple(number_of.get(qos.traffic_class(dscp), 0) for dscp in DSCPS)
    mapped = qos.dscp_to_tc and qos.dscp_to_tc._replace(targets=targets, origins=())
    reached = {*targets} if mapped else set(PRIORITIES)
    pfc = qos.pfc._replace(priorities=tuple(sorted(paused)))
    return qos._replace(
        dscp_to_tc=mapped,
        tc_to_queue=None,
        tc_to_pg=None,
        pfc_to_queue=None,
        pfc_to_pg=None,
        pfc=pfc,
        watchdog_mask=pfc if qos.watchdog else None,
        queues=tuple(_queue(qos, number, paused, reached) for number in PRIORITIES),
    )


def _paused(qos: PortQos) -> dict[int, int]:
    """Return the class that each priority pauses, including those with headroom for which DCBX decides."""
    groups = {priority: qos.pausing_group(priority) for priority in PRIORITIES}
    held = {p: group for p, group in groups.items() if p in qos.pfc.priorities}
    for group in filter(None, qos.groups if not held else ()):
        held |= dict(
            [next(((p, g) for p, g in groups.items() if g == group.number), (group.number, group.number))]
        )
    return {p: next((tc for tc in PRIORITIES if qos.group_of(tc) == group), p) for p, group in held.items()}


def _number(qos: PortQos, tc: int, paused: Mapping[int, int]) -> int:
    own = next((priority for priority, of in paused.items() if of == tc), None)
    if own is not None:
        return own
    # What may drop is kept apart from what pauses, whatever queue they share.
    free = (n for n in (qos.queue_of(tc), tc, *PRIORITIES) if n not in paused)
    return next(free, tc)


def _queue(qos: PortQos, number: int, paused: Mapping[int, int], reached: Collection[int]) -> Queue | None:
    queue = qos.queues[qos.queue_of(paused[number]) if number in paused else number]
    if queue is None:
        return None
    scheduler, wred = queue.scheduler, queue.wred
    # A queue that nothing leads to, and that has no share, is none that an intent has a class for.
    idle = number not in reached and number not in paused
    if idle and scheduler is not None and scheduler.kind != "STRICT" and not scheduler.weight:
        scheduler = None
    if wred is not None:
        wred = wred._replace(yellow=wred.green, red=wred.green)
    return queue._replace(number=number, scheduler=scheduler, wred=wred)
