"""The style of all pictures, SVG and PNG: colors, dashes, fonts and sizes; areas and widths of text.

Colors are those of Okabe and Ito, which readers with protanopia, deuteranopia and tritanopia can tell apart (M. Okabe,
K. Ito: Color Universal Design, 2002, https://jfly.uni-koeln.de/color/). No picture relies on color alone: lines
that occur together differ in dash or width as well, and boxes name their type in words.

Areas are rectangles and lines of a picture, in pixels, and may overlap. Widths of text are measured without a font,
by the advance widths of DejaVu Sans, the widest of the fonts that are used. Source: DejaVuSans.ttf and
DejaVuSans-Bold.ttf 2.37 as they come with matplotlib; a test compares the tables with them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, xml
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


BLACK, ORANGE, SKY_BLUE, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILLION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
PALETTE = (BLACK, ORANGE, SKY_BLUE, GREEN, YELLOW, BLUE, VERMILLION, PURPLE)
INK, PAPER = "#1c2430", "#ffffff"
"""The color of text and outlines, and that of the background."""
GREY, FAINT, FRAME_FILL, FRAME_LINE = "#767676", "#e6e6e6", "#f7f8fa", "#9aa3ae"
FONTS = ("DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif")
"""The fonts of pictures, by preference; labels are laid out for the first, which is the widest."""
FONT_FAMILY = ", ".join(FONTS)
"""The fonts as an attribute of an SVG element; a name of two words needs no quotation marks there."""
TITLE_PX, TEXT_PX, SMALL_PX = 16, 11, 10
LINE_PX = 14
"""Height of a line of text in a box."""


class LinkLook(NamedTuple):
    """The look of links: color, dash pattern of SVG (empty: solid), and width in pixels."""

    color: str
    dash: str = ""
    width: float = 1.4


LINKS = {
    "hosts": LinkLook(GREY, "2 2"),
    "uplinks": LinkLook(BLUE),
    "spine_uplinks": LinkLook(VERMILLION, "8 3"),
    "links": LinkLook(BLUE),
    "local_links": LinkLook(BLUE),
    "global_links": LinkLook(VERMILLION, "8 3"),
    "stalled": LinkLook(VERMILLION, "", 2.6),
    "free": LinkLook(GREY, "4 3", 1.2),
}
"""The look of links by tier of the fabric, or by state in a picture of pause propagation."""
ROLE_FILLS = {
    "super-spine": "#f6e4ee",
    "spine": "#ddedf7",
    "leaf": "#dcf2eb",
    "switch": "#dcf2eb",
    "host": "#fcf1d9",
}
"""Fill of boxes by role, tints of the palette; every box also names its role."""
STATE_FILLS = {
    "source": "#eeae80",
    "stalled": "#fae3d2",
    "culprit": "#f3a094",
    "seen here": "#f7d77f",
    "error": "#f6b8ae",
    "unsafe": "#f6b8ae",
    "failed": "#f6b8ae",
    "changes": "#dccdf3",
    "disturbed": "#dccdf3",
    "warning": "#f7d77f",
    "on the edge": "#f7d77f",
    "limiting port": "#f7d77f",
}
"""Fill of boxes by state in a picture of pause propagation, and by mark; others have the fill of their role."""


class LineLook(NamedTuple):
    """The look of a line of a plot: color, dashes as lengths in line widths (empty: solid), and width in points."""

    color: str
    dashes: tuple[float, ...] = ()
    width: float = 1.3


SERIES = (
    LineLook(BLACK),
    LineLook(BLUE, (1.2, 1.2), 1.6),
    LineLook(GREEN, (3, 1.2)),
    LineLook(ORANGE, (), 1.6),
    LineLook(PURPLE, (6, 1.5, 1.2, 1.5)),
    LineLook(SKY_BLUE, (5, 1), 1.6),
)
"""The looks of the curves of a plot, in order."""
LIMITS = (
    LineLook(VERMILLION, (9, 3), 1.1),
    LineLook(VERMILLION, (9, 3, 1.5, 3), 1.1),
    LineLook(VERMILLION, (1, 2), 1.5),
    LineLook(VERMILLION, (4, 2), 1.1),
)
"""The looks of the thresholds and limits of a plot, in order; each is labeled beside the plot too."""
BAND = "#dcdcdc"


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
        """The x coordinate between the left and right edge of the rectangle."""
        return (self.left + self.right) / 2

    def overlaps(self, other: Area, gap: float = 0.0) -> bool:
        """Return whether two rectangles overlap, or are closer than ``gap``; edges that touch do not overlap."""
        apart_x = self.right + gap <= other.left or other.right + gap <= self.left
        return not (apart_x or self.bottom + gap <= other.top or other.bottom + gap <= self.top)

    def is_crossed_by(self, line: Sequence[Point]) -> bool:
        """Return whether a line of straight parts passes through the rectangle."""
        return any(self._is_crossed(a, b) for a, b in pairwise(line))

    def _is_crossed(self, a: Point, b: Point) -> bool:
        """Return whether the line from ``a`` to ``b`` has a part inside, clipped at the edges (Liang and Barsky)."""
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


_FIRST = " "
_PLAIN = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
_BOLD = (
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696, 696,
    696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995,
    837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716,
    678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712,
    365, 712, 838,
)  # fmt: skip
"""Widths of the ASCII characters from the blank on, regular and bold, in thousandths of the font size."""
_OTHER = 1000
"""The width of a character outside ASCII in thousandths of the font size."""


def text_width(text: str, size_px: float, *, bold: bool = False) -> float:
    """Return the width of a text in pixels."""
    table = _BOLD if bold else _PLAIN
    places = (ord(character) - ord(_FIRST) for character in text)
    widths = (table[at] if 0 <= at < len(table) else _OTHER for at in places)
    return sum(widths) * size_px / 1000


def shortened(text: str, size_px: float, most_px: float, *, bold: bool = False) -> str:
    """Return a text that fits a width in pixels; the end of a longer one is cut."""
    if text_width(text, size_px, bold=bold) <= most_px:
        return text
    while text and text_width(f"{text}…", size_px, bold=bold) > most_px:
        text = text[:-1]
    return f"{text}…"
