"""The geometry of an SVG: rectangles of texts and boxes, and lines, read back from its text."""

from __future__ import annotations

import re
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

from lossless.output.report.drawing import Area, text_width

SVG = "{http://www.w3.org/2000/svg}"
BOX, FRAME = "4", "8"
"""The rounded corners of boxes and of frames."""


class Written(NamedTuple):
    """A text, the rectangle that it covers, and whether it is a label on a line."""

    text: str
    area: Area
    on_line: bool


class Drawn(NamedTuple):
    """A picture read back. ``lines`` are the points of each line between boxes."""

    size: Area
    texts: list[Written]
    boxes: list[Area]
    frames: list[Area]
    lines: list[list[tuple[float, float]]]


def read_svg(svg: str) -> Drawn:
    """Return the geometry of a picture of a fabric."""
    root = ElementTree.fromstring(svg)
    size = Area(0, 0, float(root.attrib["width"]), float(root.attrib["height"]))
    rectangles = [(one.attrib.get("rx"), _rectangle(one)) for one in root.iter(f"{SVG}rect")]
    groups = [group for group in root.iter(f"{SVG}g") if "stroke" in group.attrib]
    return Drawn(
        size=size,
        texts=[_written(one) for one in root.iter(f"{SVG}text")],
        boxes=[area for corner, area in rectangles if corner == BOX],
        frames=[area for corner, area in rectangles if corner == FRAME],
        lines=[points for group in groups for points in _points(group)],
    )


def _rectangle(element: ElementTree.Element) -> Area:
    left, top = (float(element.attrib.get(name, "0")) for name in "xy")
    return Area(left, top, left + float(element.attrib["width"]), top + float(element.attrib["height"]))


def _written(element: ElementTree.Element) -> Written:
    size = float(element.attrib.get("font-size", "11"))
    text = element.text or ""
    middle = element.attrib.get("text-anchor") == "middle"
    width = text_width(text, size, bold="font-weight" in element.attrib)
    left = float(element.attrib["x"]) - (width / 2 if middle else 0)
    y = float(element.attrib["y"])
    # Capitals and digits are 0.73 of the size high, and what is below the base line is 0.2 of it.
    area = Area(left, y - 0.75 * size, left + width, y + 0.2 * size)
    return Written(text, area, middle and size < 11 and bool(re.fullmatch(r"[\d,]+", text)))


def _points(group: ElementTree.Element) -> list[list[tuple[float, float]]]:
    found = []
    for line in group.iter(f"{SVG}line"):
        x1, y1, x2, y2 = (float(line.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
        found.append([(x1, y1), (x2, y2)])
    for path in group.iter(f"{SVG}path"):
        left, y, middle, peak, right, _ = map(float, re.findall(r"[-\d.]+", path.attrib["d"]))
        parts = [at / 40 for at in range(41)]
        assert middle - left - (right - left) / 2 < 1
        found.append([(left + (right - left) * t, y + 2 * t * (1 - t) * (peak - y)) for t in parts])
    return found


def overlapping(areas: list[Area]) -> list[tuple[Area, Area]]:
    """Return every two rectangles that have a point in common."""
    return [(a, b) for a, b in combinations(areas, 2) if a.overlaps(b)]


def contains(outer: Area, inner: Area) -> bool:
    """Return whether one rectangle is inside another; a pixel of rounding is allowed."""
    return (
        outer.left - 1 <= inner.left
        and outer.top - 1 <= inner.top
        and inner.right <= outer.right + 1
        and inner.bottom <= outer.bottom + 1
    )
