"""The upper bound of a link's headroom need: a measured peak above it points to the link, not to traffic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.formulas import HeadroomNeed, cell_waste
from lossless.analysis.buffers.headroom.port import LinkNeed, formula_need, link_need
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.view import PortSet


class HeadroomBound(NamedTuple):
    """The known headroom need of a link and its upper bound.

    ``known`` is the largest result of all methods with one for this link: row, formula, floor. ``most_bytes`` is at
    least that, and at least the floor with the worst cell waste for every packet: the floor includes the full response
    time of IEEE 802.3, and counts packets by their bytes. It is None where the cell size of the chip is unknown.
    """

    link: LinkNeed
    known: HeadroomNeed
    most_bytes: int | None

    @property
    def explained_bytes(self) -> int | None:
        """The headroom that traffic can fill on the declared link; None with the floor alone and an unknown cell size.

        Rows and formulas include cell waste, the floor does not.
        """
        return self.most_bytes if self.known.method == "floor" else self.known.headroom_bytes


def headroom_bound(ports: PortSet) -> HeadroomBound | MissingInput:
    """Return the headroom bound of a lossless group of these ports, for the real cable length where it is known."""
    link = link_need(ports)
    if isinstance(link, MissingInput):
        return link
    methods = [need for need in (link.need, formula_need(ports), link.floor) if need is not None]
    if link.floor is None:
        return MissingInput(f"how long a peer may take to stop is not known at {ports.rate}")
    known = max(methods, key=lambda need: need.headroom_bytes)
    cell_bytes = ports.switch.profile.asic.cell_bytes if ports.switch.profile else None
    if cell_bytes is None:
        return HeadroomBound(link, known, None)
    wasteful_bytes = math.ceil(link.floor.headroom_bytes * cell_waste(cell_bytes))
    return HeadroomBound(link, known, max(known.headroom_bytes, wasteful_bytes))
