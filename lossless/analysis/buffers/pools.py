"""Buffer pools computed for the ports that are up, so that they leave what those ports need.

Pool sizes depend on headroom and are never copied across topologies. What a chip can give is the size of its
``egress_lossless_pool``, which on SONiC spans the whole buffer (sonic-swss cfgmgr/buffer_pool_mellanox.lua
@1469e8d takes it for ``mmu_size`` where the SDK names none).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import Pool, includes_headroom
from lossless.model.hardware.buffer_names import EGRESS_LOSSLESS_POOL, INGRESS_LOSSLESS_POOL
from lossless.model.hardware.model import HeadroomRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.hardware.model import Asic, BufferDefaults, PortSpec

_KIB = 1024
PRIVATE_HEADROOM_BYTES = 10 * _KIB
"""What each port with lossless groups holds of its own beside a shared headroom pool, on NVIDIA chips: sonic-swss
cfgmgr/buffer_pool_mellanox.lua @1469e8d."""
_MIRROR_HEADROOM_BYTES = 10 * _KIB
_MANAGEMENT_POOL_BYTES = 256 * _KIB
_LEAST_SHARED_HEADROOM_BYTES = 640 * _KIB


class PortLoad(NamedTuple):
    """What one port takes from the buffer.

    ``row`` is what each of ``lossless_groups`` has, ``stated`` what further groups have of their own.
    ``other_reserved_bytes`` are the sizes of all profiles that are not those of lossless groups.
    """

    row: HeadroomRow
    lanes: int
    lossless_groups: int
    lossy_groups: int
    other_reserved_bytes: int
    stated: tuple[HeadroomRow, ...] = ()

    @property
    def lossless_rows(self) -> tuple[HeadroomRow, ...]:
        """What each of its lossless groups has."""
        return (self.row,) * self.lossless_groups + self.stated


NO_HEADROOM = HeadroomRow(
    speed_bps=0,
    cable_m=0,
    reserved_bytes=0,
    xon_bytes=0,
    headroom_bytes=0,
    threshold=0,
    xon_offset_bytes=None,
)
"""The row of a port without lossless groups."""


def idle_load(spec: PortSpec) -> PortLoad:
    """Return what a port takes that is up and has no rows of its own.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (admin_up_port).
    """
    return PortLoad(NO_HEADROOM, len(spec.lanes), lossless_groups=0, lossy_groups=0, other_reserved_bytes=0)


class SharedHeadroom(NamedTuple):
    """How large the pool shall be that lends headroom: its size, or what its size is divided by; None: not stated.

    A ratio of 1.0 holds the headroom of all groups at once.
    """

    ratio: float | None = None
    size_bytes: int | None = None


def plan_pools(
    asic: Asic,
    defaults: BufferDefaults,
    loads: tuple[PortLoad, ...],
    wanted: SharedHeadroom,
    origin: Origin,
) -> tuple[Pool, ...]:
    """Return the pools that remain once every port that is up has what it takes.

    ``wanted`` counts where the HWSKU has a shared headroom pool. Where nothing is stated the ratio is 1.0, unless that
    took more than half of the chip; then the pool is no larger than the vendor ships it.
    """
    shared = _shared_headroom(asic, defaults, loads, wanted)
    if asic.formula == "mellanox":
        lends = defaults.uses_shared_headroom
        room = nvidia_room(asic, chip_bytes(defaults), loads, shared, lends=lends)
        sizes = _nvidia_sizes(defaults, room)
    else:
        room = _room(defaults, loads, shared)
        sizes = _other_sizes(defaults, room, shared)
    return tuple(
        Pool(
            name=pool.name,
            kind=pool.type,
            mode=pool.mode,
            size_bytes=sizes[pool.name],
            shared_headroom_bytes=shared if pool.shared_headroom_bytes else None,
            origin=origin,
        )
        for pool in defaults.pools
    )


def chip_bytes(defaults: BufferDefaults) -> int:
    """Return what the chip can give to pools, in bytes."""
    egress = defaults.pool(EGRESS_LOSSLESS_POOL)
    return max(pool.size_bytes for pool in defaults.pools) if egress is None else egress.size_bytes


def _shared_headroom(
    asic: Asic, defaults: BufferDefaults, loads: tuple[PortLoad, ...], wanted: SharedHeadroom
) -> int:
    """Return the size of the pool that lends headroom to all groups, 0 where each has its own."""
    if not defaults.uses_shared_headroom:
        return 0
    if wanted.size_bytes is not None:
        return wanted.size_bytes
    claimed = _claimed_headroom(asic, loads)
    if wanted.ratio is None and claimed > chip_bytes(defaults) // 2:
        return min(claimed, sum(pool.shared_headroom_bytes or 0 for pool in defaults.pools))
    return lent_headroom(asic, loads, wanted.ratio or 1.0)


def lent_headroom(asic: Asic, loads: tuple[PortLoad, ...], oversubscription: float) -> int:
    """Return the size of a shared headroom pool that is so many times smaller than what groups can claim of it."""
    shared = math.ceil(_claimed_headroom(asic, loads) / oversubscription)
    return shared or (_LEAST_SHARED_HEADROOM_BYTES if asic.formula == "mellanox" else 0)


def _claimed_headroom(asic: Asic, loads: tuple[PortLoad, ...]) -> int:
    """Return what all groups together can claim of the shared headroom at once."""
    total = sum(_beyond_reserved(asic, row) for load in loads for row in load.lossless_rows)
    private = sum(map(_private_headroom, loads)) if asic.formula == "mellanox" else 0
    return max(0, total - private)


def _beyond_reserved(asic: Asic, row: HeadroomRow) -> int:
    """On NVIDIA chips ``size`` holds part of xon + xoff; elsewhere xoff lies wholly in the shared pool."""
    if asic.formula == "mellanox":
        return max(0, row.xon_bytes + row.headroom_bytes - row.reserved_bytes)
    return row.headroom_bytes


def _room(defaults: BufferDefaults, loads: tuple[PortLoad, ...], shared: int) -> int:
    """Return what is left to share on chips without a formula of their own."""
    private = (
        0
        if defaults.uses_shared_headroom
        else sum(row.reserved_bytes for load in loads for row in load.lossless_rows)
    )
    others = sum(
        p.size_bytes for p in defaults.pools if p.type == "ingress" and p.name != INGRESS_LOSSLESS_POOL
    )
    return _usable(defaults) - others - private - shared


def _usable(defaults: BufferDefaults) -> int:
    """Return what the lossless pool and its headroom share: what the vendor gives to both together.

    A vendor's pool size includes its headroom where the two together would exceed the chip.
    """
    chip, pool = chip_bytes(defaults), defaults.pool(INGRESS_LOSSLESS_POOL)
    if pool is None or not pool.shared_headroom_bytes:
        return chip
    return min(chip, pool.size_bytes + pool.shared_headroom_bytes)


def nvidia_room(asic: Asic, chip: int, loads: tuple[PortLoad, ...], shared: int, *, lends: bool) -> int:
    """Return what is left to share on NVIDIA chips; ``lends``: there is a shared headroom pool, of ``shared`` bytes."""
    return chip - math.ceil(sum(_nvidia_reserved(asic, loads, lends=lends))) - shared


def _nvidia_reserved(asic: Asic, loads: tuple[PortLoad, ...], *, lends: bool) -> Iterator[float]:
    """Yield what is reserved, term by term, as buffer_pool_mellanox.lua @1469e8d adds it up."""
    yield _MANAGEMENT_POOL_BYTES
    for load in loads:
        lossy = _lossy_group_bytes(asic, load.lanes)
        yield sum(row.reserved_bytes for row in load.lossless_rows)
        yield lossy * load.lossy_groups
        yield lossy + _MIRROR_HEADROOM_BYTES
        yield load.other_reserved_bytes
        yield _private_headroom(load) if lends else 0


def _private_headroom(load: PortLoad) -> int:
    """Only ports with lossless groups have some."""
    return PRIVATE_HEADROOM_BYTES if load.lossless_rows else 0


def _lossy_group_bytes(asic: Asic, lanes: int) -> float:
    latency = asic.pipeline_latency_bytes
    if latency is None:
        raise ProfileError(f"{asic.name}: the profile must give pipeline_latency_bytes with formula mellanox")
    return 2 * latency - _KIB if lanes == 8 else latency


def _nvidia_sizes(defaults: BufferDefaults, room: int) -> dict[str, int]:
    """Ingress pools share what is left evenly, lossy egress fills as much; lossless egress is no limit."""
    ingress = sum(pool.type == "ingress" for pool in defaults.pools)
    share = max(0, room // ingress)
    return {p.name: p.size_bytes if p.name == EGRESS_LOSSLESS_POOL else share for p in defaults.pools}


def _other_sizes(defaults: BufferDefaults, room: int, shared: int) -> dict[str, int]:
    """Only the lossless pool depends on headroom; the others stay as the vendor ships them."""
    sizes = {pool.name: pool.size_bytes for pool in defaults.pools}
    pool = defaults.pool(INGRESS_LOSSLESS_POOL)
    if pool is not None:
        vendor_headroom = pool.shared_headroom_bytes or 0
        counted_in = includes_headroom(pool.size_bytes, vendor_headroom, chip_bytes(defaults))
        sizes[pool.name] = max(0, room + shared if counted_in else room)
    return sizes
