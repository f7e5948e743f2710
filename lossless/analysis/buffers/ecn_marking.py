"""The start of PFC against ECN marking on one switch, in closed form; the watchdog of its ports; published ECN curves.

ECN uses the depth of an egress queue, XOFF that of an ingress priority group, so the two compare only under a stated
fan-in or fan-out. Throughout, ``pool_bytes`` is the shared pool B without headroom and without the reservations of
groups; ``groups`` is the number of equally loaded priority groups. A group pauses its peer above T = alpha (B - Q), Q
being the shared bytes in use (Choudhury and Hahne 1998, dynamic queue length thresholds). All of these are bounds for
a synchronous burst. Marks before PFC are a necessary condition of a quiet fabric, never a sufficient one, so this
module has no verdict.

SAI defines a pool's shared size as its size less all reservations (opencomputeproject/SAI inc/saibuffer.h,
SAI_BUFFER_POOL_ATTR_SHARED_SIZE). Broadcom's chips confirm it: a pool whose size contains its shared headroom contains
the reservations too, and groups share the rest; where a pool leaves room in the chip for both, groups share all of it
(docs/validation.md has the recorded packet counts). Pools of NVIDIA chips are sized without the reservations, by the
switch itself.

Where a chip divides its buffer into parts, each part has its share of every pool and counts by itself, and a group
fills from one part. All ports that send may share one part, so T is that of one part. Where the number of parts is
unknown, T is a range over :data:`POSSIBLE_PARTS`, and :class:`Trigger` has the smallest.

The watchdog has its priorities from ``pfcwd_sw_enable`` and its timers from the port's PFC_WD row, and does not work
while the PFCWD counters are off (sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeVar

from lossless.analysis.buffers.headroom.port import lossless_profile
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import UNREADABLE, includes_headroom
from lossless.model.hardware.buffers import EGRESS_LOSSLESS_POOL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool, Wred
    from lossless.model.fabric.view import PortSet, View


DYNAMIC_TH = range(-8, 8)
"""The exponents of alpha that the switch accepts (sonic-buffer-profile.yang @086b03b)."""
LARGEST_THRESHOLD = 2**31 - 1
"""Largest WRED threshold in bytes: it is read as an int (sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""


POSSIBLE_PARTS = (1, 2, 4)
"""The numbers of parts that public sources state of any chip's buffer (profiles/switches); a chip of which none states
it may have any of them."""


PARTS_UNKNOWN = "into how many parts the chip divides its buffer is unknown, and XOFF depends on it"


class Trigger(NamedTuple):
    """The PFC trigger of a priority group: its pool without headroom, and alpha or a static threshold.

    The reserved bytes of the group are ignored: they are kilobytes against megabytes, and the result is on the safe
    side. ``pool_bytes`` is the pool of the whole buffer, ``parts`` the numbers of parts that the buffer may have.
    Thresholds are those of one part, for the largest number: the smallest XOFF.
    """

    pool_bytes: int
    alpha: float | None
    static_bytes: int | None
    parts: tuple[int, ...] = (1,)

    @property
    def part_bytes(self) -> int:
        """The share of the pool of one part, for the largest number of parts."""
        return self.pool_bytes // max(self.parts)

    @property
    def per_number(self) -> tuple[Trigger, ...]:
        """The trigger for each number of parts that the buffer may have, the largest number first."""
        return tuple(self._replace(parts=(number,)) for number in sorted(self.parts, reverse=True))

    @property
    def undivided(self) -> Trigger:
        """The trigger in a buffer of the same size that is not divided."""
        return self._replace(parts=(1,))

    def threshold_bytes(self, groups: int) -> float:
        """Return T(m), the bytes at which each of m equally loaded groups pauses."""
        if self.alpha is not None:
            return group_threshold_bytes(self.alpha, self.part_bytes, groups)
        return static_group_threshold_bytes(self.static_bytes or 0, self.part_bytes, groups)

    def egress_bytes(self, fan_in: int) -> float:
        """Return N T(N), the depth of an egress queue when the N groups that feed it first pause.

        It does not fall as N grows, although T(N) can. Kmin and Kmax therefore compare with this value and not with
        T(N), and the tightest incast that congests at all has two senders. All senders come in by ports of one part.
        """
        return fan_in * self.threshold_bytes(fan_in)

    def most_egress_bytes(self, fan_in: int) -> float:
        """Return the largest depth of an egress queue when one of the N groups that feed it first pauses.

        The senders are spread evenly over the parts, so that the fewest groups share each.
        """
        return max(fan_in * one.threshold_bytes(max(1, fan_in // one.parts[0])) for one in self.per_number)


_T = TypeVar("_T")


def whatever_the_parts(trigger: Trigger, found: Callable[[Trigger], _T | None]) -> _T | MissingInput | None:
    """Return the result of ``found`` for a trigger, if every possible number of parts of the buffer has one.

    It is the result for the fewest parts. None: no number has a result. A missing input: only some numbers have one.
    """
    each = [found(one) for one in trigger.per_number]
    if all(one is not None for one in each):
        return each[-1]
    return MissingInput(PARTS_UNKNOWN) if any(one is not None for one in each) else None


class EcnMarking(NamedTuple):
    """The ECN curve of an egress queue, the PFC trigger, and the fan-in and fan-out of the switch.

    ``fan_in`` is the number of ports that can send to the queue, ``fan_out`` the number of egress ports that one port
    can feed.
    """

    wred: Wred
    kmin_bytes: int
    kmax_bytes: int
    trigger: Trigger
    fan_in: int
    fan_out: int


def by_switch(view: View) -> tuple[tuple[PortSet, ...], ...]:
    """Return the port sets with PFC of each kind of switch; ports that are not placed on a switch are left out."""
    by_kind: dict[int, list[PortSet]] = {}
    for ports in view.lossless_sets:
        placed = tuple(port for port in ports.ports if port.placed)
        if placed:
            by_kind.setdefault(id(ports.switch), []).append(ports._replace(ports=placed))
    return tuple(map(tuple, by_kind.values()))


def chip_bytes(switch: Switch) -> int | None:
    """Return the buffer size of a switch's chip: that of its profile, else of its egress_lossless_pool, else None.

    SONiC uses the size of that pool where the SDK has none. Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b
    (mmu_size).
    """
    return (switch.profile.asic.buffer_bytes if switch.profile else None) or _egress_bytes(switch)


def _egress_bytes(switch: Switch) -> int | None:
    pools = (pool.size_bytes for pool in switch.qos.pools if pool.name == EGRESS_LOSSLESS_POOL)
    return next(pools, None)


def shared_pool_bytes(switch: Switch, pool: Pool) -> int | MissingInput:
    """Return B, the bytes that the priority groups of a pool share, or the unknown input."""
    if pool.size_bytes is None:
        return MissingInput(f"the size of {pool.name} is unknown")
    headroom = pool.shared_headroom_bytes or 0
    chip = chip_bytes(switch)
    if chip is None and headroom:
        return MissingInput(f"whether the size of {pool.name} counts its shared headroom in is unknown")
    if chip is None:
        return pool.size_bytes
    reserved_bytes = reserved_of(switch, pool).total_bytes(most_parts(switch))
    if not headroom:
        # Pools are sized within what the chip leaves them, which is less than its buffer: the lossless egress pool.
        chip = min(chip, _egress_bytes(switch) or chip)
    return shared_bytes(pool.size_bytes, headroom, chip, reserved_bytes)


def trigger(switch: Switch, profile: BufferProfile) -> Trigger | MissingInput:
    """Return the PFC trigger of a priority group with a buffer profile, or the unknown input."""
    if profile.pool is None:
        return MissingInput("the pool of the lossless profile is not in the file")
    pool_bytes = shared_pool_bytes(switch, profile.pool)
    if isinstance(pool_bytes, MissingInput):
        return pool_bytes
    if profile.dynamic_th is not None:
        if profile.dynamic_th not in DYNAMIC_TH:
            return MissingInput("dynamic_th of the lossless profile is not -8 to 7")
        return Trigger(pool_bytes, alpha(profile.dynamic_th), None, buffer_parts(switch))
    if profile.static_th_bytes is None:
        return MissingInput("the lossless profile has no threshold")
    return Trigger(pool_bytes, None, profile.static_th_bytes, buffer_parts(switch))


def queue_limit_bytes(profile: BufferProfile) -> float | MissingInput | None:
    """Return the most bytes that one queue with a buffer profile can hold in an otherwise empty buffer.

    None: the profile sets no threshold, two, an impossible one, or not of the kind its pool has, or it is a zero
    profile. A missing input: the threshold is dynamic, and the size of the pool is unknown. A static threshold counts
    in full, even beyond the size of its pool.
    """
    if profile.is_zero or (profile.dynamic_th is not None and profile.static_th_bytes is not None):
        return None
    if profile.pool is not None and profile.pool.mode == (
        "static" if profile.dynamic_th is not None else "dynamic"
    ):
        return None
    if profile.static_th_bytes:
        return profile.reserved_bytes + profile.static_th_bytes
    if profile.dynamic_th is None or profile.dynamic_th not in DYNAMIC_TH:
        return None
    if profile.pool is None or profile.pool.size_bytes is None:
        return MissingInput("the size of the pool of the lossless queue is unknown")
    return profile.reserved_bytes + group_threshold_bytes(
        alpha(profile.dynamic_th), profile.pool.size_bytes, 1
    )


def holds_half_of_its_pool(profile: BufferProfile) -> bool:
    """Return whether a queue with a static threshold may hold at least half of its pool.

    On chips whose buffer has two halves, groups then pause earlier than in a model of one buffer, and the queue does
    not fill.
    """
    if profile.pool is None or not profile.pool.size_bytes or not profile.static_th_bytes:
        return False
    return 2 * (profile.reserved_bytes + profile.static_th_bytes) >= profile.pool.size_bytes


def ports_with_pfc(sets: Sequence[PortSet]) -> int:
    """Return the number of ports of one switch with PFC."""
    return sum(len(ports.ports) for ports in sets)


class EcnMarkings:
    """The ECN markings of the queues of one switch; the input that all of its ports share is computed once."""

    def __init__(self, sets: Sequence[PortSet]) -> None:
        self._sets = sets
        self._ports = ports_with_pfc(sets)
        self._hosts = sum(port.leads_to == "host" for ports in sets for port in ports.ports)
        self._tightest: dict[int, Trigger | MissingInput | None] = {}

    def of(self, egress: PortSet, priority: int) -> EcnMarking | MissingInput | None:
        """Return the ECN marking of a priority's queue on ``egress``, one of the port sets of the switch.

        The trigger is the tightest one of the priority groups that can feed the queue. None: the queue does not mark,
        no group of the priority is lossless, or fewer than two ports have PFC. A missing input has the reason why it
        cannot be computed.
        """
        number = egress.qos.queue_of(priority)
        if number == UNREADABLE:
            return MissingInput("the queue of the priority cannot be read")
        queue = egress.qos.queues[number]
        wred = queue.wred if queue else None
        if wred is None or not wred.marks or self._ports < 2:
            return None
        tightest = self._tightest_trigger(priority)
        if tightest is None or isinstance(tightest, MissingInput):
            return tightest
        kmin, kmax = wred.green.min_bytes, wred.green.max_bytes
        if kmin is None or kmax is None:
            return MissingInput("the WRED profile does not give both thresholds")
        if max(kmin, kmax) > LARGEST_THRESHOLD:
            return MissingInput("a WRED threshold is larger than orchagent can read")
        if not tightest.pool_bytes:
            return MissingInput("the pool has nothing left to share")
        return EcnMarking(wred, kmin, kmax, tightest, self.worst_fan_in(egress), self._ports - 1)

    def worst_fan_in(self, egress: PortSet) -> int:
        """Return the number of ports of the same switch that can send to one port of ``egress``, at least 1.

        These are all other ports with PFC, except that up-down routing has no traffic between two uplinks of a leaf. On
        a spine the number is an upper bound: parallel links from one leaf do not send back to it.
        """
        if self._hosts and all(port.leads_to == "switch" for port in egress.ports):
            return self._hosts
        return max(1, self._ports - 1)

    def _tightest_trigger(self, priority: int) -> Trigger | MissingInput | None:
        """Return the tightest trigger of the groups of a priority, the first unknown one, None without a group."""
        if priority not in self._tightest:
            triggers = list(self._triggers(priority))
            usable = [candidate for candidate in triggers if isinstance(candidate, Trigger)]
            missing = next((candidate for candidate in triggers if isinstance(candidate, MissingInput)), None)
            # One whose pool has nothing left to share comes first: a static threshold says nothing of that.
            tightest = min(usable, key=lambda one: (one.pool_bytes > 0, one.threshold_bytes(1)), default=None)
            self._tightest[priority] = tightest if missing is None else missing
        return self._tightest[priority]

    def _triggers(self, priority: int) -> Iterator[Trigger | MissingInput]:
        known: dict[int, Trigger | MissingInput] = {}
        for ports in self._sets:
            if priority in ports.qos.pfc.priorities:
                profile = lossless_profile(ports, priority)
                if isinstance(profile, MissingInput):
                    yield profile
                elif profile is not None:
                    if id(profile) not in known:
                        known[id(profile)] = trigger(ports.switch, profile)
                    yield known[id(profile)]


class Reserved(NamedTuple):
    """The bytes that priority groups and egress queues of a switch's ports reserve in one pool."""

    groups_bytes: int = 0
    queues_bytes: int = 0

    def total_bytes(self, parts: int) -> int:
        """Return the reserved bytes of the whole buffer: those of a queue count in every part.

        A group fills from the part of its own port, a queue from all. On Tomahawk 5, for each of two parts, in cells:
        the pool's limit, half of the headroom pool, and the minima of its groups and of all queues leave the same 1,036
        cells in three configurations with 64, 96 and 128 ports (sonic-buildimage device/arista/
        x86_64-arista_7060x6_64pe_b/Arista-7060X6-64PE-B-{P64,P32O64,O128}/th5-a7060x6-64pe.config.bcm @086b03b).
        """
        return self.groups_bytes + parts * self.queues_bytes


def shared_bytes(size_bytes: int, headroom_bytes: int, chip_bytes: int, reserved_bytes: int = 0) -> int:
    """Return the shared bytes of a pool: its size, less the headroom and the reservations that this size contains.

    If there are reservations, a pool whose size contains no headroom shares at most the rest of the chip.
    """
    if headroom_bytes and includes_headroom(size_bytes, headroom_bytes, chip_bytes):
        return max(0, size_bytes - headroom_bytes - reserved_bytes)
    left = max(chip_bytes, size_bytes) - headroom_bytes - reserved_bytes if reserved_bytes else size_bytes
    return max(0, min(size_bytes, left))


def buffer_parts(switch: Switch) -> tuple[int, ...]:
    """Return the number of parts of a switch's buffer, or all that are possible where it is unknown."""
    known = switch.profile.asic.buffer_parts if switch.profile else None
    return POSSIBLE_PARTS if known is None else (known,)


def most_parts(switch: Switch) -> int:
    """Return the largest number of parts that a switch's buffer may have, with which XOFF is smallest."""
    return max(buffer_parts(switch))


def reserved_of(switch: Switch, pool: Pool) -> Reserved:
    """Return the bytes that ports reserve of an ingress pool; 0 where :func:`reserves` is False.

    Ports that are down are left out. Queues count where their egress pool is the same memory (:func:`_is_whole`).
    """
    if not reserves(switch):
        return Reserved()
    groups, queues = reserved_sizes(switch, "groups"), reserved_sizes(switch, "queues")
    return Reserved(
        sum(size for profile, size in groups if profile.pool and profile.pool.name == pool.name),
        sum(size for profile, size in queues if profile.pool and _is_whole(profile.pool, pool)),
    )


def _is_whole(egress: Pool, ingress: Pool) -> bool:
    """Return whether an egress pool is the same memory as an ingress pool.

    On Tomahawk 3 the lossless egress pool, which lossy queues draw on too, has the size of the memory that is left to
    share, and reservations of these queues are taken from it; on Trident 3 those of a separate lossy pool are not
    (docs/validation.md).
    """
    return egress.size_bytes == ingress.size_bytes or egress.name == EGRESS_LOSSLESS_POOL


def reserves(switch: Switch) -> bool:
    """Return whether ``size`` of buffer profiles on a switch is a reservation in addition to the shared part of a pool.

    False for an unknown chip and one with a headroom formula: on NVIDIA chips the ``size`` of a lossless profile
    contains its headroom, and pools are sized without it.
    """
    return switch.profile is not None and switch.profile.asic.formula is None


def reserved_sizes(switch: Switch, what: Literal["groups", "queues"]) -> list[tuple[BufferProfile, int]]:
    """Return the buffer profile of each group or queue of each kind of port, and the bytes reserved on all its ports.

    Ports that are administratively down, and profiles that reserve nothing, are left out.
    """
    ports = Counter(id(port.qos) for port in switch.ports if port.qos and port.admin_up is not False)
    shared = {id(port.qos): port.qos for port in switch.ports if port.qos}
    return [
        (slot.buffer, times * slot.buffer.reserved_bytes)
        for key, times in ports.items()
        for slot in getattr(shared[key], what)
        if slot is not None and slot.buffer is not None and slot.buffer.reserved_bytes > 0
    ]


Protection = Literal["running", "missing", "mask empty", "counters off", "unknown"]
_BACK_FILLED_BEFORE = (3, 0, 5)
"""A missing mask of a database before this version is filled in on upgrade: sonic-utilities scripts/db_migrator.py
@691b1bb.
"""


def protection(ports: PortSet) -> Protection:
    """Return the PFC watchdog state of a port set: running, the obstacle, or unknown.

    A mask (``pfcwd_sw_enable``) without some of the priorities is legal where tunnels are remapped, and counts as
    running. A missing mask of an old database is filled in on upgrade and counts as running, and so does one of systems
    other than SONiC, which watch the priorities that a port pauses; any other missing mask counts as empty, also in a
    file without a version. The state of a fragment without any rows of the watchdog is unknown.
    """
    if ports.qos.watchdog is None:
        return "unknown" if watchdog_elsewhere(ports.switch) else "missing"
    if ("PFCWD", False) in ports.switch.qos.counters:
        return "counters off"
    mask = ports.qos.watchdog_mask
    if mask is not None:
        return "running" if mask.priorities else "mask empty"
    return _without_mask(ports.switch)


WATCHDOG_ELSEWHERE = "a fragment without PORT rows: the watchdog may stand elsewhere"


def watchdog_elsewhere(switch: Switch) -> bool:
    """Return whether a switch comes from a fragment without watchdog rows, as a qos.json: other files may have them."""
    return switch.is_fragment and not any(port.qos and port.qos.watchdog for port in switch.ports)


def _without_mask(switch: Switch) -> Protection:
    if not switch.runs_sonic:
        return "running"
    match = re.fullmatch(r"version_([0-9]+)_([0-9]+)_([0-9]+)", switch.qos.database_version or "")
    old = match is not None and tuple(map(int, match.groups())) < _BACK_FILLED_BEFORE
    return "running" if old else "mask empty"


def alpha(dynamic_th: int) -> float:
    """Return 2 to the power of SONiC's ``dynamic_th``, exactly: -3 is 1/8."""
    return 2.0**dynamic_th


def group_threshold_bytes(alpha: float, pool_bytes: int, groups: int, reserved_bytes: int = 0) -> float:
    """Return T(m) = alpha (B + m r) / (1 + alpha m), the bytes at which m equally loaded groups all pause.

    ``reserved_bytes`` is r, the reservation of each group outside the pool; with r = 0 this is the fixed point
    alpha B / (1 + alpha m) of Choudhury and Hahne 1998.

    Raises:
        QuantityError: no group, or an alpha that is not positive.
    """
    _require_groups(groups)
    if alpha <= 0:
        raise QuantityError(f"alpha is a power of two, never {alpha}")
    # Each of m groups shares T - r, so that T = alpha (B - m (T - r)): solved for T.
    return alpha * (pool_bytes + groups * reserved_bytes) / (1 + alpha * groups)


def static_group_threshold_bytes(static_th_bytes: int, pool_bytes: int, groups: int) -> float:
    """Return the bytes at which m equal groups pause under ``static_th``: this, or their share of the pool if less.

    Raises:
        QuantityError: no group.
    """
    _require_groups(groups)
    return min(float(static_th_bytes), pool_bytes / groups)


def stalled_egress_bytes(threshold_bytes: float, headroom_bytes: float, senders: int) -> float:
    """Return the bytes that N lossless groups hold for one stalled egress: N (T + h).

    Each fills to T, sends XOFF, and then fills the headroom h while its peer stops. An egress queue with a lower limit
    drops before PFC can protect it. Derived from the threshold above; the rule that lossless traffic must have no limit
    at egress is from Bai et al., NSDI 2023.

    Raises:
        QuantityError: no sender.
    """
    _require_groups(senders)
    return senders * (threshold_bytes + headroom_bytes)


def _require_groups(groups: int) -> None:
    if groups < 1:
        raise QuantityError(f"a threshold is shared by at least one group, not {groups}")


class PublishedCurve(NamedTuple):
    """ECN thresholds in bytes and Pmax in percent as published, None where it is not stated.

    With ``per_gbps`` thresholds are those for each Gb/s of the link.
    """

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int | None
    per_gbps: bool
    source: str


PUBLISHED_CURVES = (
    PublishedCurve(
        104_000, 312_000, None, False,
        "sonic-net/sonic-buildimage device/inventec/x86_64-inventec_d6332-r0/INVENTEC-D6332/qos.json.j2 @086b03b",
    ),
    # Its Kmax is printed as 1.43 MiB; a table of the page says 1,501,500 bytes.
    PublishedCurve(
        150_000, 1_500_000, 100, False,
        "CumulusNetworks/docs cumulus-linux-514, RDMA over Converged Ethernet - RoCE, @1ffba62",
    ),
    PublishedCurve(
        1_048_576, 2_097_152, 5, False,
        "sonic-net/sonic-buildimage files/build_templates/qos_config.j2 @086b03b",
    ),
    PublishedCurve(
        2_000_000, 10_000_000, 5, False,
        "sonic-net/sonic-buildimage device/arista/x86_64-arista_7280r4_32qf_32df/Arista-7280R4-32QF-32DF-64O/"
        "qos.json.j2 @086b03b",
    ),
    PublishedCurve(
        4_000, 16_000, 20, True,
        "alibaba-edu/High-Precision-Congestion-Control simulation/run.py @c9e1885",
    ),
)  # fmt: skip
"""Curves that vendors ship or recommend for lossless classes, and one that grows with the speed of the link."""


class PublishedRange(NamedTuple):
    """The range of each value of the published curves at one link speed, the least and the most."""

    kmin_bytes: tuple[int, int]
    kmax_bytes: tuple[int, int]
    pmax_percent: tuple[int, int]


def published_range(rate_bps: float) -> PublishedRange:
    """Return the range that the published curves span at a link speed; those stated per Gb/s are scaled to it."""
    scaled = [
        tuple(
            round(size * rate_bps / 1e9) if curve.per_gbps else size
            for size in (curve.kmin_bytes, curve.kmax_bytes)
        )
        for curve in PUBLISHED_CURVES
    ]
    kmins, kmaxes = zip(*scaled, strict=True)
    pmaxes = [curve.pmax_percent for curve in PUBLISHED_CURVES if curve.pmax_percent is not None]
    return PublishedRange((min(kmins), max(kmins)), (min(kmaxes), max(kmaxes)), (min(pmaxes), max(pmaxes)))
