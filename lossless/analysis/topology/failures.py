"""Remaining bandwidth above a switch when links or switches fail: the worst case, by its own links.

Elements out of service are removed first; where identical switches have lost different links, the worst of them counts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.model.fabric.model import Capacity, Uplinks


def left_without_links(capacity: Capacity, failed: int) -> int:
    """Return the least uplink bandwidth in b/s that remains after the loss of any ``failed`` uplinks of one switch."""
    return min(sum(_links(uplinks)[failed:]) for uplinks in _in_service(capacity))


def left_without_switches(capacity: Capacity, failed: int) -> int:
    """Return the least uplink bandwidth in b/s that remains after the loss of any ``failed`` switches above one."""
    return min(sum(_switches(uplinks)[failed:]) for uplinks in _in_service(capacity))


def _in_service(capacity: Capacity) -> tuple[tuple[Uplinks, ...], ...]:
    return capacity.in_service or (capacity.uplinks,)


def _links(uplinks: Iterable[Uplinks]) -> list[int]:
    """Return the speed of each link, the fastest first."""
    return sorted((up.speed_bps for up in uplinks for _ in range(up.links)), reverse=True)


def _switches(uplinks: Iterable[Uplinks]) -> list[int]:
    """Return the bandwidth to each switch above, the highest first."""
    above: dict[str, int] = {}
    for up in uplinks:
        above[up.above] = above.get(up.above, 0) + up.links * up.speed_bps
    return sorted(above.values(), reverse=True)


def ratio(down_bps: int, up_bps: int) -> float:
    """Return the oversubscription ratio of a switch; infinite without uplink bandwidth."""
    return down_bps / up_bps if up_bps else math.inf
