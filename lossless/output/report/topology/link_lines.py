"""The lines between the boxes of a picture: where they run, and the places along them where a label may be."""

from __future__ import annotations

from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing.shapes import px
from lossless.output.report.topology.layout import arc_height

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.topology.picture import Picture, PictureEdge, PictureItem
    from lossless.output.report.drawing.shapes import Area, Point
    from lossless.output.report.topology.layout import PictureLayout

_STUB, _BESIDE, _ARC_PARTS = 13, 6, 24
"""Length of the ends of a link that closes a ring, pixels between parallel lines, and straight parts of an arc."""
_PLACES = (0.3, 0.36, 0.24, 0.42, 0.5, 0.58, 0.66, 0.18, 0.74, 0.8, 0.14, 0.86)
_PLACES_OF_ARC = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Parts of the length of a line at which its label is tried, in this order: lines cross in their middle."""


class LinkLine(NamedTuple):
    """A line between two boxes as the points of its straight parts, and the SVG of its shape without looks.

    One that closes a ring is two short ends, the points of the second in ``other_end``.
    """

    edge: PictureEdge
    points: tuple[Point, ...]
    svg: tuple[str, ...]
    other_end: tuple[Point, ...] = ()

    def label_places(self) -> Iterator[Point]:
        """Yield the points at which the middle of a label may be, best first."""
        lengths = [hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(self.points)]
        for part in _PLACES_OF_ARC if len(self.points) > 2 else _PLACES:
            yield _point(self.points, lengths, part * sum(lengths))


def _point(points: Sequence[Point], lengths: Sequence[float], along: float) -> Point:
    """Return the point at a distance along a line."""
    for (a, b), length in zip(pairwise(points), lengths, strict=True):
        if along <= length and length > 0:
            part = along / length
            return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part
        along -= length
    return points[-1]


def link_lines(picture: Picture, places: PictureLayout) -> list[LinkLine]:
    """Return the lines of a picture; those of one pair of boxes are beside each other."""
    items = {item.key: item for item in picture.items}
    edges = [edge for edge in picture.edges if _is_drawn(edge, items, places)]
    parallel: dict[tuple[str, str], int] = {}
    for edge in edges:
        pair = (edge.a, edge.b)
        parallel[pair] = parallel.get(pair, 0) + 1
    lines, seen = [], dict.fromkeys(parallel, 0)
    for edge in edges:
        pair = (edge.a, edge.b)
        beside = _BESIDE * (seen[pair] - (parallel[pair] - 1) / 2)
        seen[pair] += 1
        lines.append(_line(edge, items, places, beside))
    return lines


def _is_drawn(edge: PictureEdge, items: Mapping[str, PictureItem], places: PictureLayout) -> bool:
    """Return whether a link is drawn: of those between the layers of a grid, only at its first corner."""
    if edge.a == edge.b or not {edge.a, edge.b} <= places.boxes.keys():
        return False
    a, b = (items[end].place for end in (edge.a, edge.b))
    return len(a) < 3 or a[0] == b[0] or (not any(a[1:]) and not edge.around)


def _line(
    edge: PictureEdge, items: Mapping[str, PictureItem], places: PictureLayout, beside: float
) -> LinkLine:
    a, b = places.boxes[edge.a], places.boxes[edge.b]
    layers = {items[end].place[:-2] for end in (edge.a, edge.b)}
    in_grid = bool(items[edge.a].place)
    if in_grid and edge.around:
        return _ring_ends(edge, a, b)
    if a.top == b.top and (not in_grid or len(layers) > 1):
        return _arc(edge, a, b, beside)
    start, end = _ends(a, b)
    moved = [(x + beside, y) for x, y in (start, end)]
    return LinkLine(edge, tuple(moved), (_straight(*moved),))


def _arc(edge: PictureEdge, a: Area, b: Area, beside: float) -> LinkLine:
    """Return a curve that joins the upper edges of two boxes of one row."""
    left, right = sorted((a.middle, b.middle))
    rise = 2 * arc_height(right - left) + beside
    y, middle = a.top, (left + right) / 2
    parts = [at / _ARC_PARTS for at in range(_ARC_PARTS + 1)]
    points = tuple((left + (right - left) * part, y - 2 * part * (1 - part) * rise) for part in parts)
    shape = f"<path d='M{px(left)} {px(y)} Q{px(middle)} {px(y - rise)} {px(right)} {px(y)}'/>"
    return LinkLine(edge, points, (shape,))


def _ends(a: Area, b: Area) -> tuple[Point, Point]:
    """Return where a straight line leaves one box and meets another: at the sides that face each other."""
    if a.top == b.top:
        left, right = sorted((a, b))
        y = (a.top + a.bottom) / 2
        return (left.right, y), (right.left, y)
    down = a.top < b.top
    return (a.middle, a.bottom if down else a.top), (b.middle, b.top if down else b.bottom)


def _ring_ends(edge: PictureEdge, a: Area, b: Area) -> LinkLine:
    """Return both ends of a link that closes a ring of a grid: it leaves on one side and enters at the other."""
    if a.top == b.top:
        y = (a.top + a.bottom) / 2
        first, second = ((a.right, y), (a.right + _STUB, y)), ((b.left - _STUB, y), (b.left, y))
    else:
        x = a.middle
        first, second = ((x, a.bottom), (x, a.bottom + _STUB)), ((x, b.top - _STUB), (x, b.top))
    return LinkLine(edge, first, (_straight(*first), _straight(*second)), second)


def _straight(a: Point, b: Point) -> str:
    return f"<line x1='{px(a[0])}' y1='{px(a[1])}' x2='{px(b[0])}' y2='{px(b[1])}'/>"
