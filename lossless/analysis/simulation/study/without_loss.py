"""The same network without loss: a reference for the time of transfers of a lossy class.

Senders, paths, marks and links stay. Queues and pools have no limit, no timer runs out, and receivers of packets that
come by several paths take them in any order. Transfers that are slow then have other causes: DCQCN that recovers, or
links that several flows share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import UNBOUNDED, SimGroup, SimPort

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import (
        SimCable,
        SimFlow,
        SimNetwork,
        SimQueue,
        SimSwitch,
    )

_ROOMY = SimGroup(alpha=None, headroom_bytes=None, static_bytes=UNBOUNDED)


def without_loss(network: SimNetwork) -> SimNetwork:
    """Return a network in which no packet of it is dropped, trimmed or sent again."""
    roomy: dict[int, SimPort] = {}
    return network._replace(
        cables=tuple(_cable(cable, roomy) for cable in network.cables),
        switches={node: _switch(switch) for node, switch in network.switches.items()},
        flows=tuple(map(_flow, network.flows)),
    )


def _cable(cable: SimCable, roomy: dict[int, SimPort]) -> SimCable:
    return cable._replace(a_end=_end(cable.a_end, roomy), b_end=_end(cable.b_end, roomy))


def _end(end: SimPort | None, roomy: dict[int, SimPort]) -> SimPort | None:
    """Return an end without limits; those that are one object stay one, and are laid out once."""
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
