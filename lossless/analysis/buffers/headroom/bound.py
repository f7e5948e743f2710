"""The most headroom that a link can ever need: a measured peak above it is about the link, not about traffic."""

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
    """What the headroom of a link is known to need, and the most that it can.

    ``known`` is the largest of all methods that say anything of the link: row, formula, floor. ``most_bytes`` is no
    less than that, nor than the floor with every packet as wasteful of cells as a packet can be: the floor grants the
    peer all the time that IEEE 802.3 does, and counts packets by their bytes. It is None where the cell size of the
    chip is not known.
    """

    link: LinkNeed
    known: HeadroomNeed
    most_bytes: int | None

    @property
    def explained_bytes(self) -> int | None:
        """What traffic is known to take on a link as declared; None where only the floor is known, and no cell size.

        Rows and formulas count the cells that packets waste, the floor does not.
        """
        return self.most_bytes if self.known.method == "floor" else self.known.headroom_bytes


def headroom_bound(ports: PortSet) -> HeadroomBound | MissingInput:
    """Return the most headroom that a lossless group of these ports can need, by the real cable where it is known."""
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
