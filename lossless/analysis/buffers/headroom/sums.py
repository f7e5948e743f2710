"""The total headroom of all lossless groups of a switch against its pool, the claim of each port, and reservations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import chip_bytes, reserved_sizes
from lossless.analysis.buffers.headroom.port import (
    computed_headroom,
    is_nvidia,
    lossless_profile,
    shares_headroom,
)
from lossless.analysis.buffers.pools import PRIVATE_HEADROOM_BYTES
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import includes_headroom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool
    from lossless.model.fabric.view import PortSet


class HeadroomSum(NamedTuple):
    """The headroom that all lossless groups of one pool of a switch can claim at once.

    ``headroom_bytes`` is the sum of ``xoff``; ``claimed_bytes`` is its part from the shared headroom pool of
    ``shared_bytes`` (None: every group has its own), on unknown hardware the smallest possible. ``accepted`` is the
    declared ratio, ``cable_origin`` that of the cable whose group has the largest ``xoff``. ``queues_take_all``:
    headroom alone would leave shared bytes, queue reservations leave none.
    """

    switch: Switch
    switches: tuple[str, ...]
    pool: Pool
    groups: int
    headroom_bytes: int
    claimed_bytes: int
    shared_bytes: int | None
    chip_bytes: int | None
    accepted: float | None
    cable_origin: Origin
    queues_take_all: bool = False

    @property
    def ratio(self) -> float | None:
        """The oversubscription ratio of the shared headroom pool, None without such a pool."""
        return self.claimed_bytes / self.shared_bytes if self.shared_bytes else None

    @property
    def fits(self) -> bool:
        """Whether the headroom leaves shared bytes on the chip, as far as is known.

        A computed pool size of 0 fits if headroom alone would leave shared bytes, and reservations of queues take them.
        """
        size = self.pool.size_bytes
        if size == 0:
            return self.queues_take_all
        if self.chip_bytes is None:
            return True
        if self.shared_bytes is None:
            return self.headroom_bytes < self.chip_bytes
        counted_in = size is not None and includes_headroom(size, self.shared_bytes, self.chip_bytes)
        return self.shared_bytes < (size if counted_in and size is not None else self.chip_bytes)


class _Claim(NamedTuple):
    ports: PortSet
    profile: BufferProfile
    pool: Pool


def headroom_sums(sets: Sequence[PortSet]) -> tuple[HeadroomSum, ...] | MissingInput:
    """Return the headroom sums of one switch, one for each pool of its lossless groups, or the first unknown input."""
    claims: dict[str, list[_Claim]] = {}
    for claim in _claims(sets):
        if isinstance(claim, MissingInput):
            return claim
        claims.setdefault(claim.pool.name, []).append(claim)
    return tuple(_sum(of_pool) for of_pool in claims.values())


def _claims(sets: Sequence[PortSet]) -> Iterator[_Claim | MissingInput]:
    for ports in sets:
        for priority in ports.qos.pfc.priorities:
            profile = lossless_profile(ports, priority)
            if isinstance(profile, MissingInput):
                yield profile
            elif profile is not None:
                missing = MissingInput("the pool of the lossless profile is not in the file")
                yield _Claim(ports, profile, profile.pool) if profile.pool else missing


def _sum(claims: Sequence[_Claim]) -> HeadroomSum:
    first = claims[0]
    switch, pool = first.ports.switch, first.pool
    headroom = sum(len(c.ports.ports) * c.profile.xoff_bytes for c in claims)
    return HeadroomSum(
        switch=switch,
        switches=first.ports.switches,
        pool=pool,
        groups=sum(len(c.ports.ports) for c in claims),
        headroom_bytes=headroom,
        claimed_bytes=_nvidia_claim(claims) if is_nvidia(switch) or switch.profile is None else headroom,
        shared_bytes=pool.shared_headroom_bytes or None,
        chip_bytes=chip_bytes(switch),
        accepted=switch.qos.headroom_oversubscription,
        cable_origin=max(claims, key=lambda claim: claim.profile.xoff_bytes).ports.cable.origin,
        queues_take_all=pool.size_bytes == 0 and _queues_take_all(switch),
    )


def _queues_take_all(switch: Switch) -> bool:
    """Return whether groups and queues reserve the whole chip, and groups alone do not."""
    chip, reserved = chip_bytes(switch), reserved_sum(switch)
    if chip is None or reserved is None:
        return False
    return reserved.bytes - reserved.queue_bytes < chip <= reserved.bytes


def _nvidia_claim(claims: Sequence[_Claim]) -> int:
    """Return the claim on NVIDIA chips: xon + xoff beyond ``size``, less the private headroom of each port."""
    beyond = sum(len(c.ports.ports) * _beyond_reserved(c.profile) for c in claims)
    ports = {id(c.ports): len(c.ports.ports) for c in claims}
    return max(0, beyond - PRIVATE_HEADROOM_BYTES * sum(ports.values()))


def _beyond_reserved(profile: BufferProfile) -> int:
    headroom = profile.xoff_bytes
    return min(headroom, max(0, (profile.xon_bytes or 0) + headroom - profile.reserved_bytes))


class PortClaim(NamedTuple):
    """The claim of one port's groups on the shared headroom pool, and the limit of the chip for one port."""

    claimed_bytes: int
    limit_bytes: int


_MOST_LENT_CELLS, _RESERVED_CELLS = 8192, 20
"""The cells of shared headroom that a Spectrum chip lends one port, and those that it reserves for one, twice as many
with 8 lanes: ``port_max_shp`` and ``port_reserved_shp`` of sonic-buildimage platform/mellanox/asic_table.j2 @086b03b.
"""


def claim_beyond_limit(ports: PortSet) -> PortClaim | None:
    """Return the shared headroom claim of each port of a port set if the dynamic model refuses it, else None.

    Source: sonic-swss cfgmgr/buffer_check_headroom_mellanox.lua @e6b0c5b.
    """
    switch = ports.switch
    cell_bytes = switch.profile.asic.cell_bytes if switch.profile and is_nvidia(switch) else None
    if cell_bytes is None or switch.qos.buffer_model != "dynamic" or not shares_headroom(switch):
        return None
    lanes = max((port.lanes or 1 for port in ports.ports), default=1)
    reserved_cells = _RESERVED_CELLS * (2 if lanes == 8 else 1)
    claim = PortClaim(sum(_group_claims(ports)), (_MOST_LENT_CELLS + reserved_cells) * cell_bytes)
    return claim if claim.claimed_bytes > claim.limit_bytes else None


def _group_claims(ports: PortSet) -> Iterator[int]:
    for group in filter(None, ports.qos.groups):
        given = group.buffer or (computed_headroom(ports) if group.generated else None)
        if given is not None and not isinstance(given, MissingInput):
            held = (given.xon_bytes or 0) + (given.headroom_bytes or 0) - (given.reserved_bytes or 0)
            yield max(0, held)


class ReservedSum(NamedTuple):
    """The reserved bytes of a switch outside the shared part: ``size`` of groups and queues of ports that are not down.

    ``largest`` is the profile with the largest total, ``largest_bytes``; ``queue_bytes`` is the part of queues.
    """

    bytes: int
    largest: BufferProfile
    largest_bytes: int
    queue_bytes: int


def reserved_sum(switch: Switch) -> ReservedSum | None:
    """Return the reserved bytes of groups and queues of ports that are not down, None if it is 0."""
    groups, queues = reserved_sizes(switch, "groups"), reserved_sizes(switch, "queues")
    profiles = {id(profile): profile for profile, _ in (*groups, *queues)}
    taken: dict[int, int] = {}
    for profile, size_bytes in (*groups, *queues):
        taken[id(profile)] = taken.get(id(profile), 0) + size_bytes
    if not taken:
        return None
    largest = max(taken, key=lambda key: (taken[key], profiles[key].name))
    queue_bytes = sum(size_bytes for _, size_bytes in queues)
    return ReservedSum(sum(taken.values()), profiles[largest], taken[largest], queue_bytes)
