"""XOFF against Kmin and Kmax on one switch: the ports that compete, and the pool that they share.

ECN uses the depth of an egress queue, XOFF that of an ingress group; the geometry is in
:mod:`lossless.analysis.buffers.thresholds`. Marks before PFC are a necessary condition of a quiet fabric and no
sufficient one, so this module has no verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import lossless_profile
from lossless.analysis.buffers.shared_memory import buffer_parts, reserved_of, shared_bytes
from lossless.analysis.buffers.thresholds import alpha, group_threshold_bytes, static_group_threshold_bytes
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import UNREADABLE
from lossless.model.hardware.buffer_names import EGRESS_LOSSLESS_POOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool, Wred
    from lossless.model.fabric.view import PortSet, View

DYNAMIC_TH = range(-8, 8)
"""The exponents of alpha that the switch accepts (sonic-buffer-profile.yang @086b03b)."""
LARGEST_THRESHOLD = 2**31 - 1
"""Largest WRED threshold in bytes: it is read as an int (sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""


class Trigger(NamedTuple):
    """The PFC trigger of a group: its pool without headroom, and alpha or a static threshold.

    The reserved bytes of the group are ignored: they are kilobytes against megabytes, and the result is on the safe
    side. The pool is that of the whole buffer: where a chip divides it (``Asic.buffer_parts``), PFC may start at one
    part of it.
    """

    pool_bytes: int
    alpha: float | None
    static_bytes: int | None

    def threshold_bytes(self, groups: int) -> float:
        """Return T(m), the bytes at which each of m equally loaded groups pauses."""
        if self.alpha is not None:
            return group_threshold_bytes(self.alpha, self.pool_bytes, groups)
        return static_group_threshold_bytes(self.static_bytes or 0, self.pool_bytes, groups)

    def egress_bytes(self, fan_in: int) -> float:
        """Return N T(N), the depth of an egress queue when the N groups that feed it first pause.

        It grows with N although T(N) falls. Kmin and Kmax therefore compare with this value and not with T(N), and the
        tightest incast that congests at all has two senders.
        """
        return fan_in * self.threshold_bytes(fan_in)


class EcnMarking(NamedTuple):
    """The ECN curve of an egress queue, the PFC trigger, and the fan-in and fan-out of the switch.

    ``fan_in`` is the number of ports that can send to it, ``fan_out`` the number of egress ports that one port can
    feed.
    """

    wred: Wred
    kmin_bytes: int
    kmax_bytes: int
    trigger: Trigger
    fan_in: int
    fan_out: int


def by_switch(view: View) -> tuple[tuple[PortSet, ...], ...]:
    """Return the port sets with PFC of each kind of switch, without ports that no switch of that kind has."""
    by_kind: dict[int, list[PortSet]] = {}
    for ports in view.lossless_sets:
        placed = tuple(port for port in ports.ports if port.placed)
        if placed:
            by_kind.setdefault(id(ports.switch), []).append(ports._replace(ports=placed))
    return tuple(map(tuple, by_kind.values()))


def chip_bytes(switch: Switch) -> int | None:
    """Return the buffer size of a switch's chip: that of its profile, else its lossless egress pool, else None.

    SONiC uses the size of that pool where the SDK has none. Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b
    (mmu_size).
    """
    pools = (pool.size_bytes for pool in switch.qos.pools if pool.name == EGRESS_LOSSLESS_POOL)
    return (switch.profile.asic.buffer_bytes if switch.profile else None) or next(pools, None)


def shared_pool_bytes(switch: Switch, pool: Pool) -> int | MissingInput:
    """Return B, the bytes that the groups of a pool share: its size less headroom and reservations."""
    if pool.size_bytes is None:
        return MissingInput(f"the size of {pool.name} is unknown")
    headroom = pool.shared_headroom_bytes or 0
    chip = chip_bytes(switch)
    if chip is None and headroom:
        return MissingInput(f"whether the size of {pool.name} counts its shared headroom in is unknown")
    if chip is None:
        return pool.size_bytes
    reserved_bytes = reserved_of(switch, pool).total_bytes(buffer_parts(switch))
    return shared_bytes(pool.size_bytes, headroom, chip, reserved_bytes)


def trigger(switch: Switch, profile: BufferProfile) -> Trigger | MissingInput:
    """Return the PFC trigger of a group with this profile."""
    if profile.pool is None:
        return MissingInput("the pool of the lossless profile is not in the file")
    pool_bytes = shared_pool_bytes(switch, profile.pool)
    if isinstance(pool_bytes, MissingInput):
        return pool_bytes
    if profile.dynamic_th is not None:
        if profile.dynamic_th not in DYNAMIC_TH:
            return MissingInput("dynamic_th of the lossless profile is not -8 to 7")
        return Trigger(pool_bytes, alpha(profile.dynamic_th), None)
    if profile.static_th_bytes is None:
        return MissingInput("the lossless profile has no threshold")
    return Trigger(pool_bytes, None, profile.static_th_bytes)


def queue_limit_bytes(profile: BufferProfile) -> float | MissingInput | None:
    """Return the most bytes that one queue with this profile can hold in an otherwise empty buffer.

    None: the profile sets no threshold, two, or not of the kind its pool has, or it is a zero profile.
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
    """Return whether the static threshold of a queue is at least half of its pool.

    On chips whose buffer has two halves, groups then pause earlier than in a model of one buffer, and the queue does
    not fill.
    """
    if profile.pool is None or not profile.pool.size_bytes or not profile.static_th_bytes:
        return False
    return 2 * (profile.reserved_bytes + profile.static_th_bytes) >= profile.pool.size_bytes


def ports_with_pfc(sets: Sequence[PortSet]) -> int:
    """Return the number of ports of one switch with PFC."""
    return sum(len(ports.ports) for ports in sets)


def worst_fan_in(sets: Sequence[PortSet], egress: PortSet) -> int:
    """Return the number of ports of the same switch that can send to one port of ``egress``, at least 1.

    These are all other ports with PFC, except that up-down routing has no traffic between two uplinks of a leaf. On a
    spine the number is an upper bound: parallel links from one leaf do not send back to it.
    """
    far_ends = [port.leads_to for ports in sets for port in ports.ports]
    hosts = far_ends.count("host")
    if hosts and all(port.leads_to == "switch" for port in egress.ports):
        return hosts
    return max(1, len(far_ends) - 1)


def ecn_marking(sets: Sequence[PortSet], egress: PortSet, priority: int) -> EcnMarking | MissingInput | None:
    """Return the ECN marking of a priority's queue on ``egress``, one of the ``sets`` of a switch.

    The trigger is the tightest of the groups that can feed it. None: the queue does not mark, no group of that priority
    is lossless, or a single port has PFC.
    """
    number = egress.qos.queue_of(priority)
    if number == UNREADABLE:
        return MissingInput("the queue of the priority cannot be read")
    queue = egress.qos.queues[number]
    wred = queue.wred if queue else None
    if wred is None or not wred.marks or ports_with_pfc(sets) < 2:
        return None
    triggers = list(_triggers(sets, priority))
    missing = next((candidate for candidate in triggers if isinstance(candidate, MissingInput)), None)
    usable = [candidate for candidate in triggers if isinstance(candidate, Trigger)]
    if missing is not None or not usable:
        return missing
    kmin, kmax = wred.green.min_bytes, wred.green.max_bytes
    if kmin is None or kmax is None:
        return MissingInput("the WRED profile does not give both thresholds")
    if max(kmin, kmax) > LARGEST_THRESHOLD:
        return MissingInput("a WRED threshold is larger than orchagent can read")
    if not all(candidate.pool_bytes for candidate in usable):
        return MissingInput("the pool has nothing left to share")
    tightest = min(usable, key=lambda candidate: candidate.threshold_bytes(1))
    fan_out = ports_with_pfc(sets) - 1
    return EcnMarking(wred, kmin, kmax, tightest, worst_fan_in(sets, egress), fan_out)


def _triggers(sets: Sequence[PortSet], priority: int) -> Iterator[Trigger | MissingInput]:
    for ports in sets:
        if priority in ports.qos.pfc.priorities:
            profile = lossless_profile(ports, priority)
            if profile is not None:
                yield profile if isinstance(profile, MissingInput) else trigger(ports.switch, profile)
