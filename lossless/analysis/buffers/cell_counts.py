"""Thresholds in the cells of a chip: the number of one-cell packets that trigger PFC, and that cause a drop.

In an otherwise idle switch where no packet leaves, the first packets take the reserved bytes of their group, further
packets take shared bytes, and then headroom. The reserved bytes therefore come on top of the share: T(1) + r, as in
:func:`lossless.analysis.buffers.ecn_marking.queue_limit_bytes` for queues.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.buffers.thresholds import alpha, group_threshold_bytes, static_group_threshold_bytes
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.hardware.model import HeadroomRow


def cells(size_bytes: int, cell_bytes: int) -> int:
    """Return the number of cells that hold a number of bytes."""
    return -(-size_bytes // cell_bytes)


class GroupCells(NamedTuple):
    """One lossless group in cells: its own reservation and its headroom."""

    reserved: int
    headroom: int

    @property
    def to_drop(self) -> int:
        """The number of packets from the one that triggers PFC to the one that is dropped."""
        return self.headroom + 1


def group_cells(row: HeadroomRow, cell_bytes: int, *, shared_headroom: bool) -> GroupCells:
    """Return the cells of a group by its row of ``pg_profile_lookup.ini``; headroom in whole cells, as on a chip.

    Without a shared headroom pool ``size`` contains the headroom, and the remainder is the group's own reservation.
    """
    own_bytes = row.reserved_bytes - (0 if shared_headroom else row.headroom_bytes)
    return GroupCells(cells(max(0, own_bytes), cell_bytes), row.headroom_bytes // cell_bytes)


def filling_cells(
    shared: int, reserved: int, dynamic_th: int | None, static_th: int | None = None
) -> int | None:
    """Return the most cells that one group or queue can hold alone: its reservation and its share of the pool.

    None: it has no threshold.
    """
    if dynamic_th is not None:
        return reserved + math.ceil(group_threshold_bytes(alpha(dynamic_th), shared, 1))
    if static_th is None:
        return None
    return reserved + math.ceil(static_group_threshold_bytes(static_th, shared, 1))
