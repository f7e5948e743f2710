"""Pool settings that an intent declares for a switch kind: sizes, shares of the rest, shared headroom.

buffermgrd of the traditional model passes pools on as configured. That of the dynamic model keeps a configured size,
computes the others, and gives a pool with ``percentage`` that part of the buffer left to share; ``xoff`` of the
lossless pool overrides any ratio. Sources: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (handleBufferPoolTable,
refreshSharedHeadroomPool) and buffer_pool_mellanox.lua @e6b0c5b; sonic-buffer-pool.yang @086b03b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.pools import chip_bytes
from lossless.formats.intent.policy import statements
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.hardware.buffers import (
    EGRESS_LOSSLESS_POOL,
    EGRESS_LOSSY_POOL,
    INGRESS_LOSSLESS_POOL,
    INGRESS_LOSSY_POOL,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.document import SwitchBuffers
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.unused_ports import SwitchKind
    from lossless.ground.basics.findings import Origin, Path
    from lossless.model.fabric.qos import Pool
    from lossless.model.hardware.model import BufferDefaults

RATIO: Path = ("headroom_oversubscription",)
"""The path of the oversubscription of shared headroom, below the rank of ``buffers`` that declares it."""
_XOFF: Path = ("pool_sizes", INGRESS_LOSSLESS_POOL, "xoff")
_POOLS = (INGRESS_LOSSLESS_POOL, INGRESS_LOSSY_POOL, EGRESS_LOSSLESS_POOL, EGRESS_LOSSY_POOL)
_RIVALS: tuple[tuple[Path, ...], ...] = (
    (RATIO, _XOFF),
    *((("pool_sizes", pool, "size"), ("pool_sizes", pool, "percentage")) for pool in _POOLS),
)
"""Paths of pool settings in groups that exclude each other: the highest rank that declares one of a group decides it.
"""


class StatedPools(NamedTuple):
    """Declared pool settings of a switch with their origins, by their path below the rank that declares them."""

    values: Mapping[Path, tuple[float, Origin]]

    @property
    def ratio(self) -> float | None:
        """The declared ratio of the headroom of all priority groups to the shared headroom pool, None without one."""
        return self._value(RATIO)

    @property
    def shared_headroom_bytes(self) -> int | None:
        """The declared size of the shared headroom pool in bytes, None where there is none."""
        return self._whole(_XOFF)

    def lends(self) -> bool:
        """Return whether a shared headroom pool is declared, by its size or by a ratio."""
        return any(path in self.values for path in (RATIO, _XOFF))

    def in_place(self, pool: Pool) -> Pool:
        """Return a buffer pool with its declared size, percentage and xoff in place of the defaults."""
        size_bytes = self._whole(("pool_sizes", pool.name, "size"))
        percent = self._whole(("pool_sizes", pool.name, "percentage"))
        shared_bytes = self._whole(("pool_sizes", pool.name, "xoff"))
        if size_bytes is None and percent is None and shared_bytes is None:
            return pool
        where = next(at for path, (_, at) in self.values.items() if path[1:2] == (pool.name,))
        return pool._replace(
            size_bytes=pool.size_bytes if size_bytes is None else size_bytes,
            percent=percent,
            shared_headroom_bytes=pool.shared_headroom_bytes if shared_bytes is None else shared_bytes,
            origin=where,
        )

    def _value(self, path: Path) -> float | None:
        return self.values[path][0] if path in self.values else None

    def _whole(self, path: Path) -> int | None:
        value = self._value(path)
        return None if value is None else int(value)


def stated_pools(loaded: LoadedIntent, kind: SwitchKind) -> StatedPools:
    """Return the declared pool settings of a switch kind, each key from the highest rank that declares it."""
    policy = loaded.intent.buffers
    ranks = [*statements(policy, kind.place(0))]
    values: dict[Path, tuple[float, Origin]] = {}
    for paths in _RIVALS:
        stated = (
            (path, value, loaded.origin("buffers", *below, *path))
            for rank, below in ranks
            for path in paths
            if (value := _at(rank, path)) is not None
        )
        for path, value, origin in [*stated][:1]:
            values[path] = value, origin
    return StatedPools(values)


def _at(rank: SwitchBuffers, path: Path) -> float | None:
    """Return the pool setting at a path below a rank of ``buffers``, None where it is not declared."""
    value: object = rank
    for key in path:
        value = getattr(value, str(key), None)
    return value if isinstance(value, int | float) else None


def require_held(
    loaded: LoadedIntent, kind: SwitchKind, stated: StatedPools, shipped: BufferDefaults
) -> None:
    """Refuse pool settings that the pools of a switch kind, or its buffer model, do not support.

    Raises:
        InputError: each such value, at its origin.
    """
    problems = [*_refused(loaded, kind, stated, shipped)]
    if problems:
        dotted = ((at, ".".join(map(str, at.path)), why) for at, why in problems)
        raise InputError([loaded.problem(at, f"{path}: {why}") for at, path, why in dotted])


def _refused(
    loaded: LoadedIntent, kind: SwitchKind, stated: StatedPools, shipped: BufferDefaults
) -> Iterator[tuple[Origin, str]]:
    if not shipped.pools:
        for _, origin in stated.values.values():
            yield origin, f"cannot be set on {kind.profile.name}: its system computes buffers; leave it out"
        return
    dynamic = loaded.intent.buffers.model.get(kind.role) == "dynamic"
    names = [pool.name for pool in shipped.pools]
    most_bytes = max(chip_bytes(shipped), kind.profile.asic.buffer_bytes or 0)
    for path, (value, origin) in stated.values.items():
        if path == RATIO:
            continue
        if path[1] not in names:
            yield origin, f"{kind.called} has no {path[1]}; its pools are {', '.join(names)}"
        elif path[2] != "percentage" and value > most_bytes:
            chip = f"{kind.called} has {format_bytes(most_bytes)} of buffer in all"
            yield origin, f"{format_bytes(int(value))} is more than there is: {chip}"
        elif path[2] == "percentage" and not dynamic:
            yield (
                origin,
                f"counts in the dynamic buffer model alone, and {kind.called} has the traditional one; state size",
            )
        elif path[2] != "size" and dynamic and kind.profile.asic.formula == "barefoot":
            yield origin, f"on {kind.profile.name} the dynamic buffer model takes no {path[2]}; leave it out"
        elif path == _XOFF and not dynamic and not shipped.uses_shared_headroom:
            yield (
                origin,
                f"the headroom rows of {kind.called} hold all of it, so that no pool lends any; leave it out",
            )
