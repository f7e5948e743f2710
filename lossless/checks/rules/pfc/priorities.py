"""Shared by rules: priorities and classes that ports pause or have lossless buffers for, and ports in service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, PortQos
    from lossless.model.fabric.view import PortSet

REMAPPED = frozenset({2, 6})
"""The priorities that tunnel QoS remapping adds to ``pfc_enable`` of some ports, not to the watchdog's mask.

By design: sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md.
"""


def remapped(qos: PortQos) -> frozenset[int]:
    """Return those of priorities 2 and 6 that are in ``pfc_enable`` and not in a watchdog's mask; none without a mask.

    Tunnel remapping adds them.

    Source: sonic-buildimage files/build_templates/qos_config.j2 @086b03b, which writes both masks so.
    """
    watched = qos.watchdog_mask.priorities if qos.watchdog_mask else ()
    return REMAPPED.intersection(qos.pfc.priorities).difference(watched) if watched else frozenset()


def used_classes(qos: PortQos) -> frozenset[int]:
    """Return the traffic classes that some DSCP or trusted 802.1p priority leads to.

    All of them where the map of 802.1p priorities is missing; a value without an entry goes to TC 0
    (opencomputeproject/SAI inc/saiqosmap.h @1d330f5).
    """
    if qos.trust_dot1p and qos.dot1p_to_tc is None:
        return frozenset(PRIORITIES)
    by_priority = qos.dot1p_to_tc.targets if qos.dot1p_to_tc else ()
    return frozenset({*map(qos.traffic_class, DSCPS), *(target or 0 for target in by_priority)})


def paused_priority(qos: PortQos, traffic_class: int) -> int | None:
    """Return the priority on the wire that a port pauses when a TC fills its group, None for none or several."""
    group, groups = qos.group_of(traffic_class), qos.pfc_to_pg
    paused = [p for p in qos.pfc.priorities if (groups.targets[p] if groups else p) == group]
    return paused[0] if len(paused) == 1 else None


def sent_priority(qos: PortQos, traffic_class: int) -> int | None:
    """Return the priority on the wire whose pause stops a TC's queue, None for none or several."""
    queue, queues = qos.queue_of(traffic_class), qos.pfc_to_queue
    stopping = [p for p in qos.pfc.priorities if (queues.targets[p] if queues else p) == queue]
    return stopping[0] if len(stopping) == 1 else None


def paused_class(qos: PortQos, priority: int) -> int:
    """Return the traffic class that a priority pauses: the one of its number.

    Without a map from traffic classes to groups, as on systems other than SONiC, it has the number of the
    group that sends the pauses.
    """
    return priority if qos.tc_to_pg is not None else qos.pausing_group(priority)


def paused_classes(qos: PortQos) -> frozenset[int]:
    """Return the traffic classes that the priorities of a port pause."""
    return frozenset(paused_class(qos, priority) for priority in qos.pfc.priorities)


def is_lossy(profile: BufferProfile | None) -> bool:
    """Return whether an egress profile is for lossy queues, which drop at their tail.

    The name decides, its own or its pool's: every buffer template of SONiC uses such names
    (device/**/buffers_defaults_*.j2 @086b03b). Pools and thresholds do not decide it: some chips put all queues on one
    pool.
    """
    names = (profile.name, profile.pool.name if profile.pool else "") if profile else ()
    return any("lossy" in name for name in names)


def by_switch(sets: Iterable[PortSet]) -> Iterator[tuple[Switch, list[PortSet]]]:
    """Yield each switch with those of the port sets that are its own."""
    by_identity = grouped((id(ports.switch), ports) for ports in sets)
    return ((of_switch[0].switch, of_switch) for of_switch in by_identity.values())


def pausing(device: Iterable[PortSet]) -> dict[int, Origin]:
    """Return the priorities that ports of a switch pause, each with the origin of the first PFC mask that has it."""
    masks: dict[int, Origin] = {}
    for ports in device:
        masks |= {p: ports.qos.pfc.origin for p in ports.qos.pfc.priorities if p not in masks}
    return masks


def uncovered(elsewhere: Iterable[int], ports: PortSet) -> tuple[int, ...]:
    """Return the priorities that a port leaves without PFC, unlike other ports of the switch (``elsewhere``).

    Other ports pause them, traffic here maps to them, and this port's own buffers are lossless for them; where DSCPs
    are named or declared and the port has some PFC, its buffers need not be.
    """
    qos, classes = ports.qos, ports.switch.classes
    used = used_classes(qos)
    if classes.knowledge != "inferred":
        used &= {qos.traffic_class(dscp) for cls in classes.lossless for dscp in cls.dscps}
    open_ = sorted(used.intersection(elsewhere).difference(qos.pfc.priorities))
    if classes.knowledge != "inferred" and qos.pfc.priorities:
        return tuple(open_)
    return tuple(p for p in open_ if _has_lossless_buffers(qos, p))


def in_service(ports: PortSet) -> PortSet | None:
    """Return those of the ports that carry traffic, None where none does.

    A port without ``admin_status`` is down (sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b); where the switch names
    its neighbors, so is one without.
    """
    wired = ports.switch.names_neighbors
    serving = tuple(p for p in ports.ports if p.admin_up is not None and (p.neighbor or not wired))
    return ports._replace(ports=serving) if serving else None


def _has_lossless_buffers(qos: PortQos, priority: int) -> bool:
    group, queue = qos.groups[priority], qos.queue_row(priority)
    if group is not None and (group.generated or group.buffer is not None):
        return group.lossless
    # Templates give service ports lossless queues too, but neither a PFC map nor a watchdog's mask.
    watched = qos.watchdog_mask is not None and priority in qos.watchdog_mask.priorities
    if not watched and qos.pfc_to_queue is None:
        return False
    if queue is None or queue.buffer is None or is_lossy(queue.buffer):
        return False
    return any(is_lossy(other.buffer) for other in qos.queues if other is not None)


def leads_to_lossless(qos: PortQos | None) -> bool:
    """Return whether some DSCP or trusted 802.1p priority leads to a queue of a port that pauses stop."""
    return qos is not None and any(sent_priority(qos, tc) is not None for tc in used_classes(qos))
