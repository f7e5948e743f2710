"""What is left of the bandwidth above a switch when links or switches fail: the worst case, by its own links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.fabric.model import Capacity


def left_without_links(capacity: Capacity, failed: int) -> int:
    """Return the uplink bandwidth in b/s that the loss of any ``failed`` uplinks of one switch leaves at least."""
    speeds = sorted((up.speed_bps for up in capacity.uplinks for _ in range(up.links)), reverse=True)
    return sum(speeds[failed:])


def left_without_switches(capacity: Capacity, failed: int) -> int:
    """Return the uplink bandwidth in b/s that the loss of any ``failed`` switches above one leaves at least."""
    above: dict[str, int] = {}
    for up in capacity.uplinks:
        above[up.above] = above.get(up.above, 0) + up.links * up.speed_bps
    return sum(sorted(above.values(), reverse=True)[failed:])


def ratio(down_bps: int, up_bps: int) -> float:
    """Return the oversubscription; infinite where nothing is left above."""
    return down_bps / up_bps if up_bps else math.inf
