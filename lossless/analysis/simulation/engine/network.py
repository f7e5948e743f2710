"""The network that is simulated, in the field's own terms: switches, cables, flows. Plain frozen data, no arrays.

Nodes are numbers; a node with an entry in ``SimNetwork.switches`` is a switch, any other a host. Traffic classes are
numbered from 0 in the order of the tuples of :class:`SimPort`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import WatchdogAction

UNBOUNDED = 1 << 60
"""The value in bytes of a limit that does not apply."""


class SimWred(NamedTuple):
    """ECN or WRED of one egress queue: from Kmin to Kmax with a probability up to Pmax, above always."""

    kmin_bytes: float
    kmax_bytes: float
    pmax: float
    marks: bool = True


class SimTrim(NamedTuple):
    """Trimming of one egress queue: a frame it has no room for is cut to a size, and goes on in another class."""

    size_bytes: int
    traffic_class: int


class SimQueue(NamedTuple):
    """One egress queue. ``weight`` counts if it is not strict; a limit drops, or trims, frames that would exceed it.

    A frame counts in it until the port begins to send it, and is marked then, by the bytes that remain; with
    ``until_sent`` both happen when its last bit has gone. That is for queues that PFC never pauses: a paused port has
    no event then.

    With ``alpha`` the queue may hold, beyond its limit, alpha times the free part of ``pool_bytes``, the egress pool of
    its switch, which the lossy classes of a network share: all bytes in their groups count as used.
    """

    wred: SimWred | None = None
    strict: bool = False
    weight: int = 1
    limit_bytes: int = UNBOUNDED
    trim: SimTrim | None = None
    alpha: float = 0.0
    pool_bytes: int = 0
    until_sent: bool = False


class SimGroup(NamedTuple):
    """One priority group. Exactly one of ``alpha`` and ``static_bytes`` is set; no headroom: lossy.

    ``pool`` 0 is ``SimSwitch.pool_bytes``, 1 and up count ``SimSwitch.other_pools``.
    """

    alpha: float | None
    headroom_bytes: int | None
    xon_bytes: int = 0
    xon_offset_bytes: int = 0
    reserved_bytes: int = 0
    static_bytes: int | None = None
    pool: int = 0


class SimPort(NamedTuple):
    """One end of a cable in a switch: the queues that it sends from and the groups that it receives into, by class.

    ``watchdog`` has times, action and classes of its own, None where those of its switch apply. Both are polled
    at one interval.
    """

    queues: tuple[SimQueue, ...]
    groups: tuple[SimGroup, ...]
    watchdog: SimWatchdog | None = None


class SimCable(NamedTuple):
    """A cable, both directions. An end in a host is None.

    ``a_reaction_ns`` is how long the transmitter at ``a`` takes to obey PFC once it has received it.
    """

    a: int
    b: int
    rate_bps: float
    propagation_ns: float
    a_end: SimPort | None = None
    b_end: SimPort | None = None
    a_reaction_ns: float = 0
    b_reaction_ns: float = 0


class SimWatchdog(NamedTuple):
    """The PFC watchdog of a switch for some classes; with ``restoration_ms`` None a stopped queue is never restored.

    Restoration is a time without pauses: one that comes resets it. ``fixed``: it ends whether pauses come or not.
    """

    poll_ms: float
    detection_ms: float
    restoration_ms: float | None
    action: WatchdogAction
    vendor: Literal["mellanox", "broadcom"]
    classes: tuple[int, ...]
    fixed: bool = False


Choice = Literal["hash", "in turn", "adaptive", "flowlets", "flow hash"]
"""How a switch chooses among links: by a hash of flow and entropy value, round robin, the least loaded, a less
loaded one by lot after a gap in a flow (flowlets), or by a hash of the flow alone."""


class SimLoads(NamedTuple):
    """The input of adaptive routing: the bytes in a port's queues, in levels, sampled at an interval.

    ``flowlet_us`` is the gap after which a flow may take another link, if the choice is by flowlets.
    """

    levels_bytes: tuple[int, int, int]
    sample_ns: float = 0
    flowlet_us: float = 0


class SimSwitch(NamedTuple):
    """The memory of a switch. With ``headroom_pool_bytes`` None each group has its full headroom.

    ``pool_bytes`` is shared by the ingress groups, and includes their reserved bytes unless ``reserved_apart``;
    ``other_pools`` are further pools that some groups use instead. If a chip divides its buffer into several ``parts``,
    each has an equal part of chip and pools, for up to ``ports_per_part`` ports; the ports on which traffic arrives
    share as few parts as possible, which is the worst case. A ``choice`` of its own applies to the data of all flows
    that leave their links to switches.
    """

    buffer_bytes: int
    pool_bytes: int
    headroom_pool_bytes: int | None = None
    cell_bytes: int = 1
    watchdog: SimWatchdog | None = None
    other_pools: tuple[int, ...] = ()
    reserved_apart: bool = False
    parts: int = 1
    ports_per_part: int = 0
    loads: SimLoads | None = None
    choice: Choice | None = None


class SimDcqcn(NamedTuple):
    """DCQCN parameters by their meaning; :mod:`lossless.analysis.simulation.question.nodes` has ConnectX names.

    ``byte_reset`` 0 and ``cnp_gate_us`` 0: off. A cut takes the part ``alpha_to_rate`` times alpha of the rate away. At
    ``release_bps`` (0: line rate) the rate is no longer limited. A cut after an increase by the byte counter lowers the
    target to the rate; ``clamp_after_increase``: one after an increase by the timer too (mstflint
    mlxconfig/mlxconfig_dbs/mlxconfig_host.db @b9d9e84, CLAMP_TGT_RATE_AFTER_TIME_INC); ``clamp``: every cut.
    ``pacing_lock``: a frame's rate sets when the next may start, even if the rate changes meanwhile.
    """

    g: float
    alpha_us: float
    decrease_us: float
    increase_us: float
    threshold: int
    ai_bps: float
    hai_bps: float
    min_rate_bps: float
    cnp_gate_us: float = 0
    byte_reset: int = 0
    initial_alpha: float = 1.0
    alpha_to_rate: float = 0.5
    min_decrease: float = 0.0
    first_rate_bps: float = 0
    release_bps: float = 0
    clamp: bool = False
    clamp_after_increase: bool = True
    pacing_lock: bool = True


class SimSpread(NamedTuple):
    """The packet spreading of a flow: how switches choose its links, of all that lead on at the same cost.

    ``entropies``: how many entropy values the packets of a flow have, a power of two; with 1, and a choice by hash, the
    flow keeps its path. ``recycles``: those of unmarked ACKs are used again (REPS).
    """

    choice: Choice
    entropies: int = 1
    recycles: bool = False


class SimWindow(NamedTuple):
    """A sender's congestion window, and the behavior of its receiver.

    ``bdps`` is the window at the start, and its maximum, in round trips at line rate. ``control`` "nscc" adapts it to
    delay and marks, with ``target_rtts`` as the target queueing delay; "none" keeps it, or sets no limit where there is
    credit. ``credit_bytes`` (0: none) is the credit that a receiver gives at a time, at ``credit_part`` of its link's
    rate. Without ``timeout_us`` a sender resends only trimmed packets, and those that ``nacks`` report: a receiver that
    gets a packet requests the missing ones that were sent before it. That is meaningful if all packets of a flow take
    one path.
    """

    base_rtt_us: float
    bdps: float = 1.5
    control: Literal["none", "nscc"] = "nscc"
    target_rtts: float = 0.75
    ack_bytes: int = 16_384
    timeout_us: float | None = None
    credit_bytes: int = 0
    credit_part: float = 0.99
    nacks: bool = False


class SimFlow(NamedTuple):
    """One queue pair's transfer. ``path`` lists the nodes from source to destination, both included.

    With ``spread`` switches choose the links, and the path only gives the hosts and switches at its ends.
    ``ahead_frames``: how many frames its receiver takes ahead of the one that is due, 0 any number; None: it takes them
    in order. A flow with a ``window`` is received in any order.

    ``after``: numbers of flows that must be done before it starts; ``start_ns`` then does not count. ``lanes`` give the
    parallel cable that it takes at each hop; empty: the flow's own number selects it.
    """

    path: tuple[int, ...]
    size_bytes: int
    start_ns: float = 0
    traffic_class: int = 0
    dcqcn: SimDcqcn | None = None
    mtu_bytes: int = 4096
    after: tuple[int, ...] = ()
    lanes: tuple[int, ...] = ()
    spread: SimSpread | None = None
    ahead_frames: int | None = None
    window: SimWindow | None = None


class Hold(NamedTuple):
    """A NIC that pauses: the transmitter of ``node`` toward ``peer`` is held from ``start_ns`` to ``end_ns``.

    With a period it is held for ``duty`` of each.
    """

    node: int
    peer: int
    start_ns: float
    end_ns: float
    period_ns: float = 0
    duty: float = 1.0
    classes: tuple[int, ...] = (0,)


class SlowHost(NamedTuple):
    """A host that takes in less than its link brings: it pauses the switch above XOFF, until XON."""

    node: int
    drain_bps: float
    xoff_bytes: int
    xon_bytes: int


class Physics(NamedTuple):
    """Properties of the frames of a network. The defaults are those of RoCEv2 on Ethernet.

    ``overhead_bytes`` is the part of a frame beside its payload: Ethernet 14, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4.
    ``gap_bytes``: preamble 8 and inter-frame gap 12, which take time on the wire and no memory (IEEE 802.3). ``acks``:
    "data" has them ride the data's own class, "apart" travel at strict priority and outside the memory of switches, as
    those to a sender with a window always do; without a window one for each ``ack_every`` frames. They are simulated
    only where their path back carries data: elsewhere they delay nothing. ``cnp_rides_ack``: a marked frame that earns
    neither ACK nor NACK earns no CNP either. ``timeout_ms``: the time after which a sender repeats by itself; None:
    never.
    """

    overhead_bytes: int = 62
    gap_bytes: int = 20
    pfc_frame_bytes: int = 64
    ack_frame_bytes: int = 66
    acks: Literal["apart", "data"] = "data"
    ack_every: int = 1
    nack_interval_us: float = 500
    timeout_ms: float | None = None
    cnp_rides_ack: bool = False


class SimNetwork(NamedTuple):
    """The simulated network; ``classes`` is the number of traffic classes that each switch end of a cable has."""

    nodes: int
    switches: Mapping[int, SimSwitch]
    cables: tuple[SimCable, ...]
    flows: tuple[SimFlow, ...]
    classes: int = 1
    holds: tuple[Hold, ...] = ()
    slow_hosts: tuple[SlowHost, ...] = ()
    physics: Physics = Physics()
