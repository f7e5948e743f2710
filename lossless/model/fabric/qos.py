"""QoS of one port: maps, PFC, watchdog, queues, priority groups, buffers.

Ports with identical configuration share one :class:`PortQos`, so rules check it once for all of them. ``origin``
fields are the places of values; they carry no meaning and are left out of comparisons of meaning
(:func:`lossless.model.fabric.view.bare`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

PRIORITIES = range(8)
"""PFC priorities, traffic classes, priority groups and unicast queues are all numbered 0 to 7 (IEEE 802.1Q)."""
DSCPS = range(64)
WatchdogAction = Literal["drop", "forward", "alert"]
WATCHDOG_ACTIONS: tuple[WatchdogAction, ...] = get_args(WatchdogAction)
UNREADABLE = -1
"""Target of a map entry that cannot be read."""


class IndexMap(NamedTuple):
    """A map from small integers to small integers: DSCP to TC, TC to queue, TC to PG, priority to queue.

    ``targets[i]`` is the target of ``i``, None where the map has no entry, :data:`UNREADABLE` where its entry cannot
    be read (and so is not checked). ``origins`` has one place per entry, or
    is empty where every entry is below ``origin``.
    """

    name: str
    targets: tuple[int | None, ...]
    origin: Origin
    origins: tuple[Origin, ...] = ()

    def entry_origin(self, index: int) -> Origin:
        """Return the place of the map's entry of a DSCP, TC or priority, its ``index``."""
        return self.origins[index] if self.origins else self.origin.at(str(index))

    def sources(self, target: int) -> tuple[int, ...]:
        """Return the indexes that are mapped to ``target``."""
        return tuple(i for i, value in enumerate(self.targets) if value == target)


class DscpRewrite(NamedTuple):
    """The DSCP that an egress port writes for each traffic class; None: the map is missing, or ``refused``: invalid."""

    map_name: str
    dscps: Mapping[int, int] | None
    refused: bool


DscpRewrites = Mapping[tuple[str, str], DscpRewrite]
"""Maps that rewrite DSCPs, by switch and egress port."""


TUNNEL_MAP = "AZURE_TUNNEL"
"""SONiC's name of the maps of tunnels between dual ToRs (sonic-buildimage qos_config.j2 @0791705)."""


class TunnelMaps(NamedTuple):
    """The maps with which a dual ToR classifies traffic into the tunnel to its peer (by TC) and out of it (by DSCP).

    ``tc_to_dscp`` has the outer DSCP (0 to 63), ``tc_to_queue`` the queue on the way in; ``dscp_to_tc`` and
    ``tc_to_pg`` apply where the tunnel ends. None: the device has no such map.
    """

    dscp_to_tc: IndexMap | None
    tc_to_pg: IndexMap | None
    tc_to_queue: IndexMap | None
    tc_to_dscp: IndexMap | None
    origin: Origin


class PriorityMask(NamedTuple):
    """A set of priorities (``pfc_enable``, ``pfcwd_sw_enable``), ascending.

    ``undecided``: the port lets its peer decide whether it pauses, and so the set is not known.
    """

    priorities: tuple[int, ...]
    origin: Origin
    undecided: bool = False


Recovery = Literal["quiet", "fixed", "unknown"]
"""When a watchdog restores a queue: ``quiet``, after a time without received pauses; ``fixed``, after that time whether
pauses are received or not; ``unknown``, where a system or its lines state no rule or no time that a source explains."""


class Watchdog(NamedTuple):
    """The PFC watchdog of one port. ``restoration_ms`` None: never, unless ``recovery`` is unknown."""

    detection_ms: int | None
    restoration_ms: int | None
    action: WatchdogAction | str
    origin: Origin
    recovery: Recovery = "quiet"

    @property
    def triggers_after_ms(self) -> int:
        """How long a queue must be paused before the watchdog triggers, 0 without a configured time."""
        return self.detection_ms or 0

    @property
    def settings(self) -> tuple[int | None, int | None, str]:
        """Detection and restoration time in milliseconds, each None if not set, and the action; without the origin."""
        return self.detection_ms, self.restoration_ms, self.action


DEFAULT_POLL_MS = 100
"""Watchdog poll without a GLOBAL row (sonic-swss orchagent/orchdaemon.cpp @e6b0c5b, PFC_WD_POLL_MSECS)."""
POLL_RANGE_MS = range(100, 1000 + 1)
"""The range of POLL_INTERVAL in SONiC's YANG model (sonic-pfcwd.yang @086b03b)."""
DETECTION_RANGE_MS = range(100, 5000 + 1)
RESTORATION_RANGE_MS = range(100, 60000 + 1)
"""Ranges of the watchdog's detection and restoration times that orchagent accepts; else it drops the port's row.

Source: sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b.
"""


class Scheduler(NamedTuple):
    """Scheduling of a queue. ``weight`` applies to DWRR and WRR only.

    ``cir`` is the guaranteed rate, ``pir`` the maximum rate, in bytes (``meter``:
    ``packets``) per second; None and 0 set no limit (opencomputeproject/SAI inc/saischeduler.h @0051fac).
    """

    name: str
    kind: Literal["DWRR", "WRR", "STRICT"] | str
    weight: int | None
    origin: Origin
    cir: int | None = None
    pir: int | None = None
    meter: Literal["bytes", "packets"] | str = "bytes"


class Curve(NamedTuple):
    """One WRED curve: marks or drops linearly from ``min_bytes`` to ``max_bytes``, above that always.

    ``probability_percent`` is reached at ``max_bytes``. ``enabled`` is SONiC's ``wred_<colour>_enable``.
    """

    enabled: bool
    marks: bool
    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None

    @property
    def thresholds(self) -> tuple[int | None, int | None, int | None]:
        """Kmin and Kmax in bytes, and Pmax in percent, each None if not set."""
        return self.min_bytes, self.max_bytes, self.probability_percent


COLOURS = ("green", "yellow", "red")
"""The colors that a WRED profile has curves for."""


class Wred(NamedTuple):
    """A WRED profile: one curve a color. RDMA packets are green unless a device recolors them.

    Source: sonic-wred-profile.yang @086b03b; sonic-swss orchagent/qosorch.cpp @e6b0c5b.
    """

    name: str
    green: Curve
    yellow: Curve
    red: Curve
    origin: Origin

    @property
    def marks(self) -> bool:
        """Whether ECN-capable green packets are marked."""
        return self.green.enabled and self.green.marks

    @property
    def drops(self) -> bool:
        """Whether ECN-capable green packets are dropped: the curve is on, marking is not."""
        return self.green.enabled and not self.green.marks


class Pool(NamedTuple):
    """A buffer pool. ``size_bytes`` None: the device computes it (dynamic model), or it is missing.

    ``percent`` is the share of a computed pool in the buffer that headroom and reservations leave of the chip; None: an
    equal share.
    """

    name: str
    kind: Literal["ingress", "egress", "both"] | str
    mode: Literal["dynamic", "static"] | str
    size_bytes: int | None
    shared_headroom_bytes: int | None
    origin: Origin
    percent: int | None = None

    @property
    def total_bytes(self) -> int:
        """The sum of its size and its shared headroom, as far as they are known."""
        return (self.size_bytes or 0) + (self.shared_headroom_bytes or 0)


class DynamicBuffers(NamedTuple):
    """Inputs of the dynamic buffer model, from which the switch computes headroom and pools.

    ``default_dynamic_th`` is the exponent of alpha of every generated profile. ``oversubscription`` sizes the shared
    headroom pool: the headroom of all groups, divided by it; None and 0: each group has its own.
    ``small_packet_percent`` is the share of packets of 64 bytes. None is absent on the device.
    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua and buffer_headroom_mellanox.lua @e6b0c5b.
    """

    default_dynamic_th: int | None
    oversubscription: int | None
    lossless_mtu_bytes: int | None
    small_packet_percent: int | None
    origin: Origin


def includes_headroom(size_bytes: int, shared_headroom_bytes: int, chip_bytes: int) -> bool:
    """Return whether a pool's size includes its shared headroom: it must where both do not fit the chip."""
    return size_bytes + shared_headroom_bytes > chip_bytes


_SMALLEST_TH = -8
"""The smallest exponent of a dynamic threshold."""


class BufferProfile(NamedTuple):
    """A buffer profile. In SONiC ``xoff`` is headroom bytes, not the pause trigger; ``size`` is the reserved buffer.

    ``headroom_bytes`` None: not lossless. Exactly one of the thresholds is set on a sound profile. ``trims``: packets
    that find no room are cut instead of dropped, and continue according to :class:`TrimSettings`.
    """

    name: str
    pool: Pool | None
    reserved_bytes: int
    headroom_bytes: int | None
    xon_bytes: int | None
    xon_offset_bytes: int | None
    dynamic_th: int | None
    static_th_bytes: int | None
    origin: Origin
    trims: bool = False

    @property
    def lossless(self) -> bool:
        """Whether the profile has headroom, SONiC's criterion for lossless (orchagent/bufferorch.cpp @e6b0c5b)."""
        return self.headroom_bytes is not None

    @property
    def xoff_bytes(self) -> int:
        """The headroom in bytes, 0 without one."""
        return self.headroom_bytes or 0

    @property
    def is_zero(self) -> bool:
        """Whether it holds nothing, as the profiles that SONiC gives ports out of use.

        Nothing is reserved, and the pool is empty or the threshold the smallest, which NVIDIA's driver takes for 0.
        Sources: sonic-net/SONiC doc/qos/reclaim-reserved-buffer.md @c85c585, Mellanox/SAI-Implementation
        mlnx_sai/src/mlnx_sai_buffer.c @07a104b.
        """
        if self.reserved_bytes or self.headroom_bytes:
            return False
        smallest = self.dynamic_th is not None and self.dynamic_th <= _SMALLEST_TH
        return smallest or (self.pool is not None and self.pool.size_bytes == 0)


class TrimSettings(NamedTuple):
    """The handling of packets that a queue trims: their size, their DSCP and their queue.

    ``dscp`` is a number, or ``from-tc``: the value that the map of the egress port has for ``traffic_class``. ``queue``
    is a number, or ``dynamic``: the value that the maps have for the DSCP. None: not configured. Source:
    sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f.
    """

    size_bytes: int | None
    dscp: int | Literal["from-tc"] | None
    traffic_class: int | None
    queue: int | Literal["dynamic"] | None
    origin: Origin


class Queue(NamedTuple):
    """One egress queue: its scheduler, WRED profile and buffer profile, each None where the device binds none.

    ``buffer_origin`` is the place that binds its buffer profile, None without such a row; ``wred_origin`` the place at
    which an intent declares its WRED profile, or that it has none.
    """

    number: int
    scheduler: Scheduler | None
    wred: Wred | None
    buffer: BufferProfile | None
    origin: Origin
    buffer_origin: Origin | None = None
    wred_origin: Origin | None = None


class PriorityGroup(NamedTuple):
    """One ingress priority group. ``generated``: the device computes its profile from speed, cable and PFC.

    ``override`` is the profile that a group names for its threshold alone, with ``headroom_type`` dynamic: the
    headroom is still computed. None: the default threshold.
    """

    number: int
    buffer: BufferProfile | None
    generated: bool
    origin: Origin
    override: BufferProfile | None = None

    @property
    def named(self) -> BufferProfile | None:
        """The profile that is bound to the group or supplies its threshold, None where it has neither."""
        return self.buffer or self.override

    @property
    def lossless(self) -> bool:
        """Whether it has headroom: that of its profile, or that computed by the switch."""
        return self.generated if self.buffer is None else self.buffer.lossless


class PortQos(NamedTuple):
    """All QoS settings of a port; a map that it does not bind is None, as are queues and groups without a row.

    ``profile_lists`` are the port-wide profiles, ingress and egress. ``trust_dot1p`` with ``dot1p_to_tc`` None: the
    map that the port names is missing.
    """

    dscp_to_tc: IndexMap | None
    tc_to_queue: IndexMap | None
    tc_to_pg: IndexMap | None
    pfc_to_queue: IndexMap | None
    pfc_to_pg: IndexMap | None
    trust_dot1p: bool
    pfc: PriorityMask
    watchdog_mask: PriorityMask | None
    watchdog: Watchdog | None
    queues: tuple[Queue | None, ...]
    groups: tuple[PriorityGroup | None, ...]
    profile_lists: tuple[tuple[BufferProfile, ...], tuple[BufferProfile, ...]]
    origin: Origin
    dot1p_to_tc: IndexMap | None = None

    def traffic_class(self, dscp: int) -> int:
        """Return the TC of a DSCP, or UNREADABLE; without an entry it is TC 0 (SAI default, sonic-dscp-tc-map.yang)."""
        target = self.dscp_to_tc.targets[dscp] if self.dscp_to_tc else None
        return 0 if target is None else target

    def group_of(self, traffic_class: int) -> int:
        """Return the PG a TC is counted in, or UNREADABLE: without a map that of its number, without an entry 0."""
        return _target(self.tc_to_pg, traffic_class)

    def pausing_group(self, priority: int) -> int:
        """Return the PG that pauses a PFC priority; without a readable entry in a map, the PG of the same number."""
        target = self.pfc_to_pg.targets[priority] if self.pfc_to_pg else None
        return priority if target is None or target == UNREADABLE else target

    def queue_of(self, traffic_class: int) -> int:
        """Return the egress queue of a TC, or UNREADABLE: without a map that of its number, without an entry 0."""
        return _target(self.tc_to_queue, traffic_class)

    def queue_row(self, traffic_class: int) -> Queue | None:
        """Return the egress queue of a TC; None if it has no row, or its number is UNREADABLE."""
        number = self.queue_of(traffic_class)
        return None if number == UNREADABLE else self.queues[number]

    def is_lossless(self, dscp: int) -> bool:
        """Return whether a DSCP is counted in a lossless group, and a priority with PFC pauses that and stops its
        queue.
        """
        traffic_class = self.traffic_class(dscp)
        number, queue = self.group_of(traffic_class), self.queue_of(traffic_class)
        group = self.groups[number] if number != UNREADABLE else None
        return bool(group and group.lossless) and any(
            self.pausing_group(priority) == number and _target(self.pfc_to_queue, priority) == queue
            for priority in self.pfc.priorities
        )


def _target(index_map: IndexMap | None, index: int) -> int:
    if index_map is None or index == UNREADABLE:
        return index
    target = index_map.targets[index]
    return 0 if target is None else target
