"""Root causes of simulation results: the setting behind a drop, a storm or short headroom at a port, and its origin."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import (
    LinkNeed,
    given_headroom,
    is_nvidia,
    lends_headroom,
    link_need,
)
from lossless.checks.rules.buffers.buf013_egress_limit_below_ingress import UNBOUNDED_TH
from lossless.checks.rules.buffers.headroom import (
    computed_help,
    headroom_origin,
    is_computed,
    row_help,
)
from lossless.checks.rules.locations import below, row_of
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import UNREADABLE
from lossless.model.fabric.view import PortSet, single_port

if TYPE_CHECKING:
    from lossless.analysis.buffers.simulation_facts import HeadroomUse, PortRef, SimulationFacts
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool, Queue, Watchdog
    from lossless.model.fabric.view import View


_PFC_THERE = "name the links of this port in pfc.tiers (PFC017)"


class RootCause(NamedTuple):
    """The origin of the setting that causes a simulation result.

    ``rows`` are the origins of rows behind it: an error in one of them is the same cause. ``profile`` is the buffer
    profile behind it, None for causes outside of profiles. ``vendors_own``: the headroom is the vendor's, or larger.
    ``is_pool``: the setting is the size of a buffer pool. ``is_unpaused``: the intent wants no PFC on such links.
    """

    origin: Origin
    rows: tuple[Origin, ...] = ()
    profile: BufferProfile | None = None
    vendors_own: bool = False
    is_pool: bool = False
    is_unpaused: bool = False


def headroom(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause of short headroom at a port: the setting that gives the simulated class its headroom there.

    That is the buffer profile of its priority group, the row or hardware that the profile has its headroom from, or the
    PFC setting where the intent wants no PFC on such links; the class where the group has no profile.
    """
    ports, profile = _port(run, spot), _profile(run, spot)
    if ports is None or profile is None:
        return the_class(run)
    rows = (
        profile.origin,
        *(group.origin for group in ports.qos.groups if group and group.buffer is profile),
    )
    if ports.ports[0].pfc_unwanted:
        return RootCause(ports.qos.pfc.origin, rows, profile, is_unpaused=True)
    if not profile.lossless:
        return RootCause(profile.origin, rows, profile)
    if _is_vendors_own(ports, profile) and row_of(profile) is None:
        return RootCause(profile.origin, rows, profile, vendors_own=True)
    return RootCause(headroom_origin(ports, profile), rows, profile, _is_vendors_own(ports, profile))


def headroom_pool(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause in the pool behind a port's headroom: the origin of its ``xoff``, or of the pool.

    Without a buffer profile or pool it is that of the port's headroom.
    """
    profile = _profile(run, spot)
    if profile is None or profile.pool is None:
        return headroom(run, spot)
    origin = profile.pool.origin
    return RootCause(origin.at("xoff") if origin.path[:1] == ("BUFFER_POOL",) else origin, (origin,), profile)


def pool(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause in the pool of a port's priority group: the origin of its ``size``, or of the pool.

    Without a buffer profile or pool it is the simulated class.
    """
    profile = _profile(run, spot)
    return the_class(run) if profile is None or profile.pool is None else _of_pool(profile, profile.pool)


def _of_pool(profile: BufferProfile, its_pool: Pool) -> RootCause:
    origin = its_pool.origin
    at = origin.at("size") if origin.path[:1] == ("BUFFER_POOL",) else origin
    return RootCause(at, (origin,), profile, is_pool=True)


def queue(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause that limits the class's queue at a port: a dropping WRED profile, else its buffer profile.

    In place of an unbounded profile it is the pool, of a missing profile the queue's row, of a missing row the class.
    """
    row = _queue(run, spot)
    if row is None:
        return the_class(run)
    if row.wred is not None and row.wred.drops:
        return RootCause(below(row.wred.origin, "ecn"), (row.wred.origin, row.origin))
    if row.buffer is None:
        return RootCause(row.origin)
    if row.buffer.dynamic_th == UNBOUNDED_TH and row.buffer.pool is not None:
        return _of_pool(row.buffer, row.buffer.pool)
    declared = view_of(run).fabric.declared
    field = "dynamic_th" if row.buffer.dynamic_th is not None else "static_th"
    origin = row.buffer.origin if declared else below(row.buffer.origin, field)
    bound = (row.buffer_origin,) if row.buffer_origin is not None else ()
    return RootCause(origin, (row.buffer.origin, *bound), row.buffer)


def watchdog(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause in a watchdog: the origin of the detection time at a port, else at the first port with one.

    Without a watchdog on the switch it is the simulated class.
    """
    ports = _port(run, spot)
    if ports is None:
        return the_class(run)
    of_switch = (port.qos.watchdog for port in ports.switch.ports if port.qos is not None)
    row = next(filter(None, (ports.qos.watchdog, *of_switch)), None)
    return the_class(run) if row is None else _detection(run, ports.switch, row)


def quickest_watchdog(run: SimulationFacts) -> RootCause:
    """Return the root cause in the watchdog of a fabric that triggers first: the origin of its detection time.

    Without a watchdog at a lossless port it is the simulated class.
    """
    sets = view_of(run).lossless_sets
    timed = [(row, ports.switch) for ports in sets if (row := ports.qos.watchdog) is not None]
    if not timed:
        return the_class(run)
    row, switch = min(timed, key=lambda pair: pair[0].triggers_after_ms)
    return _detection(run, switch, row)


def _detection(run: SimulationFacts, switch: Switch, row: Watchdog) -> RootCause:
    origin = below(row.origin, "detection" if view_of(run).fabric.declared else "detection_time")
    return RootCause(origin, (row.origin, switch.qos.poll.origin))


def link(run: SimulationFacts, spot: PortRef) -> RootCause:
    """Return the root cause of a port's link: the port's origin; the simulated class where the view lacks the port."""
    port = view_of(run).port(*spot)
    return RootCause(port.origin, (port.origin,)) if port is not None else the_class(run)


def the_class(run: SimulationFacts) -> RootCause:
    """Return the root cause in the simulated class: its origin, else the first lossless port's PFC, or a switch."""
    view = view_of(run)
    classes = (cls.origin for cls in view.fabric.classes.lossless if cls.priority == run.priority)
    ports = (port_set.qos.pfc.origin for port_set in view.lossless_sets)
    return RootCause(next(chain(classes, ports), view.fabric.switches[0].origin))


def view_of(run: SimulationFacts) -> View:
    """Return the view of the simulated fabric; a run without one raises ValueError."""
    if run.view is None:
        raise ValueError("a run without a fabric has nothing to blame")
    return run.view


def more_headroom(run: SimulationFacts, short: HeadroomUse) -> str:
    """Return the help for too little headroom, such as the vendor's value or that of the run; empty where unknown."""
    ports, profile = _port(run, short.spot), _profile(run, short.spot)
    if ports is None or profile is None or short.needed_bytes is None:
        return ""
    if ports.ports[0].pfc_unwanted:
        return _PFC_THERE
    if is_computed(ports, profile):
        return computed_help(ports, short.needed_bytes)
    if row_of(profile) is None:
        needed = f"this traffic needs {format_bytes(short.needed_bytes)}, one frame included"
        return f"{needed}: use a shorter cable, or hardware whose rows give that headroom"
    demand = link_need(ports)
    need = demand.need if isinstance(demand, LinkNeed) else None
    if need is not None and need.method != "floor" and need.headroom_bytes >= short.needed_bytes:
        return row_help(ports, profile, need) or f"set xoff to {need.headroom_bytes}"
    size = (profile.xon_bytes or 0) + short.needed_bytes
    holds = is_nvidia(ports.switch) and not (profile.pool and lends_headroom(ports.switch, profile.pool))
    also = f", and size to {size}" if holds and profile.reserved_bytes < size else ""
    return f"set xoff to at least {short.needed_bytes}{also}"


def _port(run: SimulationFacts, spot: PortRef) -> PortSet | None:
    view = view_of(run)
    port = view.port(*spot)
    if port is None or port.qos is None:
        return None
    return single_port(view.switch_by_name[spot.switch], port, port.qos)


def _profile(run: SimulationFacts, spot: PortRef) -> BufferProfile | None:
    """Return the profile of the simulated class's priority group, a lossy one too; None without one."""
    ports = _port(run, spot)
    number = ports.qos.group_of(run.priority) if ports else UNREADABLE
    if ports is None or number == UNREADABLE:
        return None
    group = ports.qos.groups[number]
    return group.buffer if group is not None else None


def _queue(run: SimulationFacts, spot: PortRef) -> Queue | None:
    ports = _port(run, spot)
    return None if ports is None else ports.qos.queue_row(run.priority)


def _is_vendors_own(ports: PortSet, profile: BufferProfile) -> bool:
    demand = link_need(ports)
    if isinstance(demand, MissingInput) or demand.need is None or demand.need.method == "floor":
        return False
    return given_headroom(ports.switch, profile) >= demand.need.headroom_bytes
