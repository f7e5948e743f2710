"""Buffer pool sizes computed from the needs of the ports that are up.

The size of ``ingress_lossless_pool`` depends on headroom and is not copied across topologies. The usable size of a chip
is that of its ``egress_lossless_pool``, if it has one, which on SONiC spans the whole buffer (sonic-swss
cfgmgr/buffer_pool_mellanox.lua @1469e8d takes it for ``mmu_size`` where the SDK names none).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import Pool, includes_headroom
from lossless.model.hardware.buffers import EGRESS_LOSSLESS_POOL, INGRESS_LOSSLESS_POOL
from lossless.model.hardware.model import HeadroomRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.hardware.model import Asic, BufferDefaults, PortSpec

_KIB = 1024
PRIVATE_HEADROOM_BYTES = 10 * _KIB
"""The private headroom of each port with lossless groups beside a shared headroom pool, on NVIDIA chips: sonic-swss
cfgmgr/buffer_pool_mellanox.lua @1469e8d.
"""
_MIRROR_HEADROOM_BYTES = 10 * _KIB
_MANAGEMENT_POOL_BYTES = 256 * _KIB
_LEAST_SHARED_HEADROOM_BYTES = 640 * _KIB


class PortLoad(NamedTuple):
    """The buffer load of one port.

    ``row`` is the headroom row of each of the ``lossless_groups`` priority groups; ``stated`` are the rows of further
    lossless groups. ``other_reserved_bytes`` is the total size of all profiles other than those of lossless groups.
    """

    row: HeadroomRow
    lanes: int
    lossless_groups: int
    lossy_groups: int
    other_reserved_bytes: int
    stated: tuple[HeadroomRow, ...] = ()

    @property
    def lossless_rows(self) -> tuple[HeadroomRow, ...]:
        """The headroom row of each lossless priority group of the port."""
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
"""The headroom row of a port without lossless groups; its sizes are zero."""


def idle_load(spec: PortSpec) -> PortLoad:
    """Return the buffer load of a port that is up and has no buffer rows of its own.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (admin_up_port).
    """
    return PortLoad(NO_HEADROOM, len(spec.lanes), lossless_groups=0, lossy_groups=0, other_reserved_bytes=0)


class SharedHeadroom(NamedTuple):
    """The requested shared headroom pool: its size, or the ratio by which all claims are divided; None: not stated.

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
    """Return the buffer pools; ingress_lossless_pool takes its part of the bytes that the ports that are up leave.

    ``wanted`` counts for a HWSKU with a shared headroom pool. The default ratio is 1.0, up to a pool of half the chip,
    or of the vendor's size if that is larger.

    Raises:
        ProfileError: the pipeline latency of an NVIDIA chip is unknown.
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
    """Return the bytes of the chip that pools can use: the size of egress_lossless_pool, else of the largest pool."""
    egress = defaults.pool(EGRESS_LOSSLESS_POOL)
    return max(pool.size_bytes for pool in defaults.pools) if egress is None else egress.size_bytes


def _shared_headroom(
    asic: Asic, defaults: BufferDefaults, loads: tuple[PortLoad, ...], wanted: SharedHeadroom
) -> int:
    """Return the size of the shared headroom pool, 0 where each group has its own headroom."""
    if not defaults.uses_shared_headroom:
        return 0
    if wanted.size_bytes is not None:
        return wanted.size_bytes
    whole = lent_headroom(asic, loads, wanted.ratio or 1.0)
    if wanted.ratio is not None:
        return whole
    shipped = sum(pool.shared_headroom_bytes or 0 for pool in defaults.pools)
    return min(whole, max(shipped, chip_bytes(defaults) // 2))


def lent_headroom(asic: Asic, loads: tuple[PortLoad, ...], oversubscription: float) -> int:
    """Return the size of a shared headroom pool: the claims of all groups divided by the oversubscription ratio.

    Without claims it is 640 KiB on NVIDIA chips, else 0.
    """
    shared = math.ceil(_claimed_headroom(asic, loads) / oversubscription)
    return shared or (_LEAST_SHARED_HEADROOM_BYTES if asic.formula == "mellanox" else 0)


def _claimed_headroom(asic: Asic, loads: tuple[PortLoad, ...]) -> int:
    """Return the most shared headroom that all groups together can claim at once."""
    total = sum(_beyond_reserved(asic, row) for load in loads for row in load.lossless_rows)
    private = sum(map(_private_headroom, loads)) if asic.formula == "mellanox" else 0
    return max(0, total - private)


def _beyond_reserved(asic: Asic, row: HeadroomRow) -> int:
    """Return the headroom of a group outside its ``size``: xon + xoff less ``size`` on NVIDIA chips, else xoff."""
    if asic.formula == "mellanox":
        return max(0, row.xon_bytes + row.headroom_bytes - row.reserved_bytes)
    return row.headroom_bytes


def _room(defaults: BufferDefaults, loads: tuple[PortLoad, ...], shared: int) -> int:
    """Return the bytes that remain for ingress_lossless_pool on chips other than NVIDIA's."""
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
    """Return the bytes of ingress_lossless_pool and its headroom: the total that the vendor ships for both.

    It is the whole chip for a pool without shared headroom. A vendor's pool size includes its headroom where the two
    together would exceed the chip.
    """
    chip, pool = chip_bytes(defaults), defaults.pool(INGRESS_LOSSLESS_POOL)
    if pool is None or not pool.shared_headroom_bytes:
        return chip
    return min(chip, pool.size_bytes + pool.shared_headroom_bytes)


def nvidia_room(asic: Asic, chip: int, loads: tuple[PortLoad, ...], shared: int, *, lends: bool) -> int:
    """Return the bytes that remain to share on NVIDIA chips; ``lends``: a shared headroom pool of ``shared`` exists.

    Raises:
        ProfileError: the pipeline latency of the chip is unknown.
    """
    return chip - math.ceil(sum(_nvidia_reserved(asic, loads, lends=lends))) - shared


def _nvidia_reserved(asic: Asic, loads: tuple[PortLoad, ...], *, lends: bool) -> Iterator[float]:
    """Yield the reserved bytes of an NVIDIA chip, term by term, in the order of buffer_pool_mellanox.lua @1469e8d.

    Raises:
        ProfileError: the pipeline latency of the chip is unknown.
    """
    yield _MANAGEMENT_POOL_BYTES
    for load in loads:
        latency = asic.pipeline_latency_bytes
        if latency is None:
            raise ProfileError(
                f"{asic.name}: the profile must give pipeline_latency_bytes with formula mellanox"
            )
        lossy = 2 * latency - _KIB if load.lanes == 8 else latency
        yield sum(row.reserved_bytes for row in load.lossless_rows)
        yield lossy * load.lossy_groups
        yield lossy + _MIRROR_HEADROOM_BYTES
        yield load.other_reserved_bytes
        yield _private_headroom(load) if lends else 0


def _private_headroom(load: PortLoad) -> int:
    """Return the private headroom of a port, 0 for one without lossless groups."""
    return PRIVATE_HEADROOM_BYTES if load.lossless_rows else 0


def _nvidia_sizes(defaults: BufferDefaults, room: int) -> dict[str, int]:
    """Return the pool sizes on NVIDIA chips: ``room`` over the number of ingress pools; egress_lossless_pool stays."""
    ingress = sum(pool.type == "ingress" for pool in defaults.pools)
    share = max(0, room // ingress)
    return {p.name: p.size_bytes if p.name == EGRESS_LOSSLESS_POOL else share for p in defaults.pools}


def _other_sizes(defaults: BufferDefaults, room: int, shared: int) -> dict[str, int]:
    """Return the pool sizes on other chips: a computed ingress_lossless_pool, all others as the vendor ships them."""
    sizes = {pool.name: pool.size_bytes for pool in defaults.pools}
    pool = defaults.pool(INGRESS_LOSSLESS_POOL)
    if pool is not None:
        vendor_headroom = pool.shared_headroom_bytes or 0
        counted_in = includes_headroom(pool.size_bytes, vendor_headroom, chip_bytes(defaults))
        sizes[pool.name] = max(0, room + shared if counted_in else room)
    return sizes
