"""What is drawn of a fabric: boxes, the links between them, and the frames around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.model import LinkTier


class PictureItem(NamedTuple):
    """A device, or several that are drawn as one. ``place`` is its row and column in a grid, and the layer.

    ``columns`` are the first and last column that it is centered over, None where that is the whole picture. ``labels``
    say which rail, plane or group it is: ``rail 2``. ``apart``: devices between the first and the
    last name are in other items. ``state`` chooses the fill, empty: by the role. ``words`` are the lines in the box,
    empty: its names, labels and numbers.
    """

    key: str
    names: tuple[str, str]
    devices: int
    role: str
    columns: tuple[int, int] | None = None
    place: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    apart: bool = False
    state: str = ""
    words: tuple[str, ...] = ()


class PictureFrame(NamedTuple):
    """A frame around items that belong together: a pod, unit, group or plane, or several of one kind."""

    title: str
    items: tuple[str, ...]


class PictureEdge(NamedTuple):
    """All links between two items of one tier, speed and length. ``around``: they close a ring.

    ``state`` chooses the look of the line, empty: by the tier. ``label`` is its text, empty: the number of links.
    """

    a: str
    b: str
    tier: LinkTier
    links: int
    speed_bps: int
    cable_m: int
    around: bool = False
    state: str = ""
    label: str = ""


class Picture(NamedTuple):
    """What is drawn. ``sides`` are those of the grid that switches stand in, empty where they stand in rows.

    ``legend`` has the looks of lines and their meaning, an empty look for a remark; empty: links by tier.
    """

    fabric: str
    frames: tuple[PictureFrame, ...]
    items: tuple[PictureItem, ...]
    edges: tuple[PictureEdge, ...]
    sides: tuple[int, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
