"""Thresholds as a chip counts them, in cells: when packets of one cell pause their sender, and when one is dropped.

Where all else is idle and nothing leaves, the first packets take what their group has reserved, further ones are
shared, and then headroom fills. So what a group has reserved comes on top of its share: T(1) + r, as
:func:`lossless.analysis.buffers.ecn_marking.queue_limit_bytes` has it for queues.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.buffers.thresholds import alpha, group_threshold_bytes, static_group_threshold_bytes
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.hardware.model import HeadroomRow


def cells(size_bytes: int, cell_bytes: int) -> int:
    """Return how many cells hold so many bytes."""
    return -(-size_bytes // cell_bytes)


class GroupCells(NamedTuple):
    """One lossless group in cells: what it has reserved for itself, and its headroom."""

    reserved: int
    headroom: int

    @property
    def to_drop(self) -> int:
        """The number of packets from the one that triggers PFC to the one that is dropped."""
        return self.headroom + 1


def group_cells(row: HeadroomRow, cell_bytes: int, *, shared_headroom: bool) -> GroupCells:
    """Return what a row of ``pg_profile_lookup.ini`` gives a group; its headroom in whole cells, as a chip has it.

    Without a shared headroom pool ``size`` holds the headroom too, and the group's own is the rest of it.
    """
    own_bytes = row.reserved_bytes - (0 if shared_headroom else row.headroom_bytes)
    return GroupCells(cells(max(0, own_bytes), cell_bytes), row.headroom_bytes // cell_bytes)


def filling_cells(
    shared: int, reserved: int, dynamic_th: int | None, static_th: int | None = None
) -> int | None:
    """Return how many cells one group or queue holds alone: its own, and its share of what is shared.

    None: it has no threshold.
    """
    if dynamic_th is not None:
        return reserved + math.ceil(group_threshold_bytes(alpha(dynamic_th), shared, 1))
    if static_th is None:
        return None
    return reserved + math.ceil(static_group_threshold_bytes(static_th, shared, 1))
