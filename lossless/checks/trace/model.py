"""A packet's path as plain values: two ends, hops, the stages of each, the findings of rules there, and losses.

Stages state facts, no verdicts. A finding is in :class:`TraceFinding` at the stage it concerns. The lossless chain
breaks at each finding of severity error, and for a packet of a lossless class at each hop that is not lossless.

A loss is a stage of a hop that can drop a packet of a lossless class: a fact of the hop itself, independent of rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.findings import Finding
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.buffers.headroom.formulas import Method
    from lossless.ground.basics.findings import Origin, UncheckedRule
    from lossless.model.fabric.state import CountedSince


StageName = Literal[
    "ports",
    "classification",
    "priority_group",
    "pfc",
    "watchdog",
    "queue",
    "ecn",
    "egress_buffer",
    "egress_dscp",
    "host",
]
StatedTarget = Literal["entry", "no entry", "no map", "unreadable", "802.1p"]
"""How the target of a lookup is known; ``802.1p``: the port classifies by VLAN tag, and does not look at DSCP."""


class TraceFinding(NamedTuple):
    """A finding that concerns a packet at one stage of a hop, or at a host."""

    stage: StageName
    finding: Finding


class TraceCounter(NamedTuple):
    """A counter that a trace shows at one hop or host.

    ``name`` is that of :class:`lossless.model.fabric.state.StateReading`. It is of a ``kind`` (``pg``, ``queue``,
    ``priority``; empty for a whole device) with a ``number``, of a ``port`` of a switch, or of a NIC, empty if the
    capture does not name it. ``value`` is None if it is unknown, which ``unknown`` explains. ``since`` is the start of
    its count or peak; ``earlier capture``: the value is the difference from that capture.
    """

    stage: StageName
    name: str
    port: str
    kind: str
    number: int | None
    value: int | float | str | None = None
    unit: str = ""
    since: CountedSince | Literal["earlier capture"] | None = None
    unknown: str | None = None
    origin: Origin | None = None


class TraceLoss(NamedTuple):
    """The reason why a packet of a lossless class can be dropped at a hop: a stage, and its fault."""

    stage: StageName
    why: str


class TraceLookup(NamedTuple):
    """One lookup in a QoS map: the map, how its target is known, and the target.

    ``origin`` is that of the entry, or of the map if it has none; without a map that of the port, or None. ``target``
    is None if unknown.
    A DSCP without an entry goes to TC 0, and without a bound map groups and queues have the number of the
    traffic class, see :class:`lossless.model.fabric.qos.PortQos`.
    """

    map_name: str | None
    stated: StatedTarget
    target: int | None
    origin: Origin | None


class TracePort(NamedTuple):
    """One port of a hop as it is configured. ``peer`` is the device at its other end, with its port if known.

    ``cable_m`` is the real length, else the configured one; ``up`` None: unknown. ``outside``: the port carries no RDMA
    by lossless.toml.
    """

    port: str
    speed_bps: int | None
    cable_m: int | None
    configured_m: int | None
    mtu_bytes: int | None
    up: bool | None
    placed: bool
    peer: str | None
    outside: bool = False


class TraceClassification(NamedTuple):
    """DSCP to traffic class, by the map of the ingress port or of the whole switch."""

    dscp: int
    lookup: TraceLookup


class TracePriorityGroup(NamedTuple):
    """Traffic class to ingress priority group, and its buffer profile.

    ``headroom_bytes`` None: the group is not lossless, or its headroom is unknown, which ``unknown`` explains.
    ``need_bytes`` None: the group is not lossless, or the required headroom of the link is unknown.
    """

    lookup: TraceLookup
    profile: str | None = None
    pool: str | None = None
    generated: bool = False
    lossless: bool | None = None
    headroom_bytes: int | None = None
    need_bytes: int | None = None
    need_method: Method | None = None
    reserved_bytes: int | None = None
    unknown: str | None = None


class TracePfcPort(NamedTuple):
    """PFC of one priority on one port: the ingress sends pauses, the egress obeys them.

    ``priority`` is the one of the packet's group or queue, None where that is unknown; ``on`` is None then too, and
    where the port lets its peer decide. ``enabled`` are the priorities with PFC.
    """

    port: str
    priority: int | None
    on: bool | None
    enabled: tuple[int, ...]


class TracePfc(NamedTuple):
    """PFC of a hop: toward the sender at the ingress port, and from the receiver at the egress port."""

    ingress: TracePfcPort
    egress: TracePfcPort


class TraceWatchdog(NamedTuple):
    """The PFC watchdog of the egress queue. ``state`` None: no PFC to watch; ``watched`` is None then or if unknown."""

    state: str | None = None
    watched: bool | None = None
    detection_ms: int | None = None
    restoration_ms: int | None = None
    action: str | None = None
    poll_ms: int | None = None


class TraceQueue(NamedTuple):
    """Traffic class to egress queue, and its scheduler; ``weight`` is relative to the other queues of the port."""

    lookup: TraceLookup
    scheduler: str | None
    kind: str | None
    weight: int | None


class TraceEcn(NamedTuple):
    """The WRED curve of the egress queue for green packets. ``wred`` None: no WRED profile is bound."""

    wred: str | None = None
    marks: bool = False
    drops: bool = False
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    probability_percent: int | None = None
    origin: Origin | None = None


class TraceEgressBuffer(NamedTuple):
    """The buffer profile of the egress queue; a valid profile has one of the two thresholds."""

    profile: str | None = None
    pool: str | None = None
    reserved_bytes: int | None = None
    dynamic_th: int | None = None
    static_th_bytes: int | None = None
    origin: Origin | None = None


class TraceEgressDscp(NamedTuple):
    """The DSCP with which a packet leaves: as it came, unless a map of the egress port has one for its class."""

    dscp: int
    rewritten_by: str | None
    stated: Literal["unchanged", "rewritten", "no entry", "refused", "no such map"]


class TraceStages(NamedTuple):
    """The stages of a hop, in the order a packet meets them."""

    classification: TraceClassification
    priority_group: TracePriorityGroup
    pfc: TracePfc
    watchdog: TraceWatchdog
    queue: TraceQueue
    ecn: TraceEcn
    egress_buffer: TraceEgressBuffer
    egress_dscp: TraceEgressDscp

    @property
    def numbers(self) -> tuple[int, ...]:
        """The traffic class, group, queue and priorities that the packet meets, as far as they are known."""
        passed = (
            self.classification.lookup.target,
            self.priority_group.lookup.target,
            self.queue.lookup.target,
            self.pfc.ingress.priority,
            self.pfc.egress.priority,
        )
        return tuple(number for number in passed if number is not None)


class TraceHop(NamedTuple):
    """One switch: in at one port, out at another. ``losses`` are those of a packet of a lossless class.

    ``counters`` are empty where no captures are named; ``format`` is the system that the switch runs.
    """

    switch: str
    ingress: TracePort
    egress: TracePort
    stages: TraceStages
    marks: tuple[TraceFinding, ...] = ()
    losses: tuple[TraceLoss, ...] = ()
    counters: tuple[TraceCounter, ...] = ()
    format: str = "sonic"


class TraceHost(NamedTuple):
    """The NIC at one end and its treatment of the DSCP; its settings are known from an intent alone.

    ``sends_dscp`` is the DSCP of RDMA packets by its ToS byte, ``nccl_dscp`` the one by NCCL_IB_TC; each None
    if it is not set. ``trust`` pcp: the NIC classifies by the VLAN tag, so ``priority`` does not follow from the DSCP
    and is unknown. ``nic`` None: the device at the end is known by name only.
    """

    host: str
    port: str | None
    nic: str | None = None
    traffic_class: int | None = None
    sends_dscp: int | None = None
    nccl_tc: int | None = None
    nccl_dscp: int | None = None
    trust: str | None = None
    priority: int | None = None
    pfc: bool | None = None
    pfc_priorities: tuple[int, ...] = ()
    marks: tuple[TraceFinding, ...] = ()
    counters: tuple[TraceCounter, ...] = ()


class TraceDifference(NamedTuple):
    """A switch on another path of the same length, if it differs from the hop of this path.

    ``stages`` are the differing stages; ``breaks`` are the codes of errors there that this hop does not have, and
    ``losses`` why a packet of a lossless class can be dropped there although this hop is lossless.
    """

    switch: str
    ingress: str
    egress: str
    stages: tuple[str, ...]
    breaks: tuple[str, ...]
    losses: tuple[str, ...] = ()


class TracePathChoice(NamedTuple):
    """Paths of the same length between the first switch and the last, counted by their links.

    ``up_down`` False: no path goes up and then down, this one is the shortest of any kind. ``detour``: the
    path was chosen to lead through a switch that no shortest path meets; ``equal`` then counts the shortest through it.
    """

    equal: int
    differences: tuple[TraceDifference, ...]
    up_down: bool
    detour: bool


class Trace(NamedTuple):
    """A packet from one end of a fabric to the other.

    ``class_name`` is the declared class of its DSCP. ``lossless`` is whether a class of the DSCP is lossless, or PFC is
    on for it anywhere on the path. ``elsewhere`` counts findings of severity error that do not concern this packet.
    ``not_checked`` lists facts about the classification of packets that no file contains.
    """

    source: str
    target: str
    dscp: int
    class_name: str | None
    lossless: bool
    choice: TracePathChoice
    sender: TraceHost | None
    hops: tuple[TraceHop, ...]
    receiver: TraceHost | None
    elsewhere: int
    not_checked: tuple[UncheckedRule, ...] = ()

    @property
    def marks(self) -> tuple[tuple[str, TraceFinding], ...]:
        """All findings on the path, with the host or switch of each."""
        return tuple(_marks(self))

    @property
    def breaks(self) -> tuple[Finding, ...]:
        """The findings of severity error on the path, which break the lossless chain, each once."""
        errors = (mark.finding for _, mark in self.marks if mark.finding.severity == "error")
        return tuple({id(finding): finding for finding in errors}.values())

    @property
    def broken(self) -> bool:
        """Whether the lossless chain breaks on the path: at a finding of severity error, or at a hop with a loss."""
        return bool(self.breaks) or any(hop.losses for hop in self.hops)


def _marks(trace: Trace) -> Iterator[tuple[str, TraceFinding]]:
    if trace.sender:
        yield from ((trace.sender.host, mark) for mark in trace.sender.marks)
    for hop in trace.hops:
        yield from ((hop.switch, mark) for mark in hop.marks)
    if trace.receiver:
        yield from ((trace.receiver.host, mark) for mark in trace.receiver.marks)


def losses_at(hop: TraceHop) -> tuple[TraceLoss, ...]:
    """Return why a packet of a lossless class does not pass a hop, or can be dropped there."""
    down = (
        TraceLoss("ports", f"{port.port} is down") for port in (hop.ingress, hop.egress) if port.up is False
    )
    return (*down, *losses_of(hop.stages))


def losses_of(stages: TraceStages) -> tuple[TraceLoss, ...]:
    """Return why a packet of a lossless class can be dropped at a hop; an unknown setting is no reason."""
    return tuple(_losses(stages))


def _losses(stages: TraceStages) -> Iterator[TraceLoss]:
    group, pfc = stages.priority_group, stages.pfc
    if group.lossless is False:
        yield TraceLoss("priority_group", f"PG {group.lookup.target} is lossy")
    if pfc.ingress.on is False:
        yield TraceLoss("pfc", f"{pfc.ingress.port} sends no pauses of priority {pfc.ingress.priority}")
    if pfc.egress.on is False:
        yield TraceLoss("pfc", f"{pfc.egress.port} obeys no pauses of priority {pfc.egress.priority}")
