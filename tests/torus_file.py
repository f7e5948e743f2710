"""The file that torus-2QoS needs, by hand: lengths of sides, and the links that show which way each dimension runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import Subnet

NAME = "torus-2QoS.conf"
AXES = "xyz"


def torus_lines(subnet: Subnet) -> list[str]:
    """Return the lines of the file; none where the subnet is no torus of up to three dimensions.

    GUIDs are those of the subnet, derived where nobody states one.
    """
    named = with_derived_guids(subnet)
    if isinstance(named.shape, Unknown) or isinstance(named.switches, Unknown) or named.shape.kind != "torus":
        return []
    sides, guids = named.shape.sides, {one.coordinates: one.guid for one in named.switches}
    if not 0 < len(sides) <= len(AXES):
        return []
    padded = (*sides, 1, 1)[: len(AXES)]
    return [f"torus {' '.join(map(str, padded))}", *_seed(sides, guids)]


def _seed(sides: tuple[int, ...], guids: dict[tuple[int, ...], int | None]) -> Iterator[str]:
    origin = (0,) * len(sides)
    for axis, side in enumerate(sides):
        ends = {"p": 1} | ({"m": side - 1} if side == 4 else {})
        for sign, coordinate in ends.items() if side > 1 else ():
            place = (*origin[:axis], coordinate, *origin[axis + 1 :])
            near, far = guids.get(origin), guids.get(place)
            if near is not None and far is not None:
                yield f"{AXES[axis]}{sign}_link {near:#018x} {far:#018x}"
