"""Ports of a switch in the model's terms: queues, groups and memory of the classes that are simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import (
    DYNAMIC_TH,
    alpha,
    chip_bytes,
    most_parts,
    protection,
    queue_limit_bytes,
    reserves,
    shared_pool_bytes,
)
from lossless.analysis.buffers.headroom.port import given_headroom, group_profile, is_nvidia, link_need
from lossless.analysis.simulation.engine.network import (
    UNBOUNDED,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWatchdog,
    SimWred,
)
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DEFAULT_POLL_MS, UNREADABLE, WATCHDOG_ACTIONS, WatchdogAction
from lossless.model.fabric.view import PortSet, single_port

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.model.fabric import model, qos

ACTIONS: dict[str, WatchdogAction] = {action: action for action in WATCHDOG_ACTIONS}
"""The watchdog actions of orchagent; it rejects any other word."""


class SimClass(NamedTuple):
    """A simulated traffic class: its name, its priority, and whether it is lossless."""

    name: str
    priority: int
    lossless: bool


class _MemoryPools(NamedTuple):
    """The buffer pools of the simulated classes in a switch: names and shared sizes, lossless classes first."""

    pools: tuple[str, ...]
    sizes: tuple[int, ...]


def sim_switch(switch: model.Switch, classes: Sequence[SimClass]) -> SimSwitch | MissingInput:
    """Return the memory of a switch, or the input that is missing for it."""
    pools = _pools(switch, classes)
    if isinstance(pools, MissingInput):
        return pools
    chip = chip_bytes(switch)
    shared = next((p.shared_headroom_bytes for p in switch.qos.pools if p.name == pools.pools[0]), None)
    cell, parts = switch.profile.asic.cell_bytes if switch.profile else None, most_parts(switch)
    return SimSwitch(
        buffer_bytes=UNBOUNDED if chip is None else chip,
        pool_bytes=pools.sizes[0],
        headroom_pool_bytes=shared or None,
        cell_bytes=cell or 1,
        watchdog=_watchdog(switch, classes),
        other_pools=pools.sizes[1:],
        reserved_apart=True,
        parts=parts,
        ports_per_part=0 if parts == 1 else -(-(len(switch.ports) + len(switch.unused)) // parts),
    )


def sim_port(switch: model.Switch, port: model.Port, classes: Sequence[SimClass]) -> SimPort | MissingInput:
    """Return the queues and groups of one port for the classes, and its own watchdog, or the missing input."""
    pools = _pools(switch, classes)
    if isinstance(pools, MissingInput):
        return pools
    queues, groups = [], []
    # Where all classes are lossy, what their groups hold is what their egress pool holds.
    shares_pool = not any(sim_class.lossless for sim_class in classes)
    for sim_class in classes:
        queue, group = (
            _queue(switch, port, sim_class, shares_pool=shares_pool),
            _group(switch, port, sim_class, pools),
        )
        if isinstance(queue, MissingInput):
            return queue
        if isinstance(group, MissingInput):
            return group
        queues.append(queue)
        groups.append(group)
    return SimPort(tuple(queues), tuple(groups), _own_watchdog(switch, port, classes))


def _pools(switch: model.Switch, classes: Sequence[SimClass]) -> _MemoryPools | MissingInput:
    """Return the pools of the classes, those of lossless ones first, or the input that is missing for them."""
    pools: dict[str, qos.Pool] = {}
    for sim_class in sorted(classes, key=lambda sim_class: not sim_class.lossless):
        # Where PFC is on some ports only, the class is lossy on the others, and rides in their pool there.
        for port in sorted(switch.ports, key=lambda port: not _pauses(port, sim_class)):
            profile = profile_of(switch, port, sim_class) if port.qos is not None else None
            if isinstance(profile, MissingInput):
                return profile
            if profile is not None and profile.pool is not None:
                pools.setdefault(profile.pool.name, profile.pool)
    if not pools:
        return MissingInput(f"{switch.name} has no buffer pool for the classes that are simulated")
    sizes = [shared_pool_bytes(switch, pool) for pool in pools.values()]
    missing = next((size for size in sizes if isinstance(size, MissingInput)), None)
    known = tuple(size for size in sizes if not isinstance(size, MissingInput))
    return missing if missing is not None else _MemoryPools(tuple(pools), known)


def _pauses(port: model.Port, sim_class: SimClass) -> bool:
    return port.qos is not None and sim_class.priority in port.qos.pfc.priorities


def profile_of(
    switch: model.Switch, port: model.Port, sim_class: SimClass
) -> qos.BufferProfile | MissingInput | None:
    """Return the buffer profile of the priority group of a class at a port, None without one, or the unknown input."""
    if port.qos is None:
        return None
    number = port.qos.group_of(sim_class.priority)
    if number == UNREADABLE:
        return MissingInput(f"the priority group of class {sim_class.name} cannot be read")
    group = port.qos.groups[number]
    if sim_class.lossless and sim_class.priority in port.qos.pfc.priorities:
        ports = _alone(switch, port)
        lossless = group_profile(ports, number) if ports is not None else None
        if lossless is not None:
            return lossless
    return group.buffer if group is not None else None


def _group(
    switch: model.Switch, port: model.Port, sim_class: SimClass, pools: _MemoryPools
) -> SimGroup | MissingInput:
    profile = profile_of(switch, port, sim_class)
    if isinstance(profile, MissingInput):
        return profile
    if profile is None or profile.pool is None:
        return MissingInput(f"{switch.name}:{port.name} has no buffer profile for class {sim_class.name}")
    if profile.dynamic_th is None and profile.static_th_bytes is None:
        return MissingInput(f"{profile.name} has no threshold")
    dynamic = profile.dynamic_th is not None
    pauses = port.qos is not None and sim_class.priority in port.qos.pfc.priorities and profile.lossless
    return SimGroup(
        alpha=alpha(profile.dynamic_th) if profile.dynamic_th is not None else None,
        headroom_bytes=given_headroom(switch, profile) if pauses else None,
        xon_bytes=profile.xon_bytes or 0,
        xon_offset_bytes=profile.xon_offset_bytes or 0,
        reserved_bytes=max(0, profile.reserved_bytes) if reserves(switch) else 0,
        static_bytes=None if dynamic else profile.static_th_bytes,
        pool=pools.pools.index(profile.pool.name),
    )


def queue_buffer(port: model.Port, sim_class: SimClass) -> qos.BufferProfile | None:
    """Return the buffer profile of the queue that a class leaves a port by, None where there is none."""
    number = port.qos.queue_of(sim_class.priority) if port.qos is not None else UNREADABLE
    queue = port.qos.queues[number] if port.qos is not None and number != UNREADABLE else None
    return queue.buffer if queue is not None else None


def _queue(
    switch: model.Switch, port: model.Port, sim_class: SimClass, *, shares_pool: bool
) -> SimQueue | MissingInput:
    number = port.qos.queue_of(sim_class.priority) if port.qos else UNREADABLE
    if port.qos is None or number == UNREADABLE:
        return MissingInput(f"the queue of class {sim_class.name} on {port.name} cannot be read")
    queue = port.qos.queues[number]
    if queue is None:
        return SimQueue()
    strict = queue.scheduler is not None and queue.scheduler.kind == "STRICT"
    weight = queue.scheduler.weight if queue.scheduler and queue.scheduler.weight else 1
    served = SimQueue(_wred(queue.wred), strict, weight)
    if shares_pool:
        return _with_share(switch, queue.buffer, served)
    return served if queue.buffer is None else _limited(served, queue.buffer)


def _limited(served: SimQueue, buffer: qos.BufferProfile) -> SimQueue:
    """Return a queue limited to the bytes that it can have if all other queues are empty, where these are known."""
    limit = queue_limit_bytes(buffer)
    if limit is None or isinstance(limit, MissingInput):
        return served
    return served._replace(limit_bytes=int(limit))


def _with_share(
    switch: model.Switch, buffer: qos.BufferProfile | None, served: SimQueue
) -> SimQueue | MissingInput:
    """Return a queue with the share of the egress pool, or else the limit, of its profile; or the missing input."""
    if buffer is None:
        return served
    if buffer.pool is None or buffer.dynamic_th is None or buffer.dynamic_th not in DYNAMIC_TH[1:]:
        return _limited(served, buffer)
    pool_bytes = shared_pool_bytes(switch, buffer.pool)
    if isinstance(pool_bytes, MissingInput):
        return pool_bytes
    return served._replace(
        limit_bytes=max(0, buffer.reserved_bytes), alpha=alpha(buffer.dynamic_th), pool_bytes=pool_bytes
    )


def need_of(switch: model.Switch, port: model.Port) -> HeadroomNeed | None:
    """Return the best known headroom of a port: its floor where no row or formula is known, None where nothing is."""
    ports = _alone(switch, port)
    link = link_need(ports) if ports is not None and port.speed_bps is not None else None
    return None if link is None or isinstance(link, MissingInput) else link.need


def _alone(switch: model.Switch, port: model.Port) -> PortSet | None:
    return None if port.qos is None else single_port(switch, port, port.qos)


def _wred(wred: qos.Wred | None) -> SimWred | None:
    """Return the WRED curve of green packets, None where it is off, or its thresholds are unknown or reversed."""
    if wred is None or not wred.green.enabled:
        return None
    curve = wred.green
    if curve.min_bytes is None or curve.max_bytes is None or curve.min_bytes > curve.max_bytes:
        return None
    return SimWred(
        curve.min_bytes, curve.max_bytes, (curve.probability_percent or 0) / 100, marks=curve.marks
    )


def _watchdog(switch: model.Switch, classes: Sequence[SimClass]) -> SimWatchdog | None:
    """Return the PFC watchdog of a switch, that of its ports with the shortest detection time; None: none is known."""
    kinds = {id(port.qos): port for port in switch.ports if port.qos is not None}
    running = [dog for port in kinds.values() if (dog := _watchdog_at(switch, port, classes)) is not None]
    return min(running, key=lambda dog: dog.detection_ms, default=None)


def _own_watchdog(switch: model.Switch, port: model.Port, classes: Sequence[SimClass]) -> SimWatchdog | None:
    """Return the watchdog of a port, None where it is that of the switch.

    Where no watchdog runs at the port, return one that watches no class.
    """
    usual = _watchdog(switch, classes)
    if usual is None:
        return None
    own = _watchdog_at(switch, port, classes) or usual._replace(classes=())
    return own if own != usual else None


def _watchdog_at(switch: model.Switch, port: model.Port, classes: Sequence[SimClass]) -> SimWatchdog | None:
    """Return the PFC watchdog that runs at a port; None: none does, or its detection time or action is unknown."""
    ports = _alone(switch, port)
    if ports is None or protection(ports) != "running":
        return None
    watchdog, mask = ports.qos.watchdog, ports.qos.watchdog_mask
    if watchdog is None or not watchdog.detection_ms or watchdog.action not in ACTIONS:
        return None
    watched = range(8) if mask is None else mask.priorities
    return SimWatchdog(
        poll_ms=switch.qos.poll.poll_ms or DEFAULT_POLL_MS,
        detection_ms=watchdog.detection_ms,
        restoration_ms=watchdog.restoration_ms,
        action=ACTIONS[watchdog.action],
        vendor="mellanox" if is_nvidia(switch) else "broadcom",
        classes=tuple(number for number, of in enumerate(classes) if of.priority in watched),
        fixed=watchdog.recovery == "fixed",
    )
