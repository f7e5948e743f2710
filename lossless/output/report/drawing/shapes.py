"""Rectangles and lines of a picture, and whether they overlap; all lengths are pixels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, xml
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing.style import TEXT_PX
from lossless.output.report.drawing.text_width import text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]
_ASCENT, _DESCENT = 0.8, 0.22
"""How far letters rise above their base line and fall below it, as parts of the font size."""


class Area(NamedTuple):
    """A rectangle by its left, upper, right and lower edge."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """The middle between its left and right edge."""
        return (self.left + self.right) / 2

    def overlaps(self, other: Area, gap: float = 0.0) -> bool:
        """Return whether two rectangles have a point in common, or are closer than ``gap``."""
        apart_x = self.right + gap <= other.left or other.right + gap <= self.left
        return not (apart_x or self.bottom + gap <= other.top or other.bottom + gap <= self.top)

    def is_crossed_by(self, line: Sequence[Point]) -> bool:
        """Return whether a line of straight parts passes through the rectangle."""
        return any(self._is_crossed(a, b) for a, b in pairwise(line))

    def _is_crossed(self, a: Point, b: Point) -> bool:
        """Clip the line from ``a`` to ``b`` at each edge in turn (Liang and Barsky): is anything left of it?"""
        first, last = 0.0, 1.0
        dx, dy = b[0] - a[0], b[1] - a[1]
        edges = (
            (-dx, a[0] - self.left),
            (dx, self.right - a[0]),
            (-dy, a[1] - self.top),
            (dy, self.bottom - a[1]),
        )
        for towards, room in edges:
            if towards == 0 and room < 0:
                return False
            if towards < 0:
                first = max(first, room / towards)
            elif towards > 0:
                last = min(last, room / towards)
        return first < last


def text_area(x: float, y: float, text: str, size_px: float = TEXT_PX, *, anchor: str = "start") -> Area:
    """Return the rectangle of a text with its base line at ``y``, which begins or is centered at ``x``."""
    width = text_width(text, size_px)
    left = x - width / 2 if anchor == "middle" else x
    return Area(left, y - _ASCENT * size_px, left + width, y + _DESCENT * size_px)


def px(number: float) -> str:
    """Return a coordinate as text, with one decimal unless it is whole."""
    return f"{number:.1f}".removesuffix(".0")


def markup(text: str) -> str:
    """Return a text escaped for SVG; control characters are made visible."""
    return xml(visible(text))
