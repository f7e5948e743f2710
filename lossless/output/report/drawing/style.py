"""One style for every picture, SVG and PNG: colors, dashes, fonts and sizes.

Colors are those of Okabe and Ito, which readers with protanopia, deuteranopia and tritanopia can tell apart (M. Okabe,
K. Ito: Color Universal Design, 2002, https://jfly.uni-koeln.de/color/). No picture relies on color alone: lines
that occur together differ in dash or width as well, and boxes name their type in words.
"""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple

BLACK, ORANGE, SKY_BLUE, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILLION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
PALETTE = (BLACK, ORANGE, SKY_BLUE, GREEN, YELLOW, BLUE, VERMILLION, PURPLE)
INK, PAPER = "#1c2430", "#ffffff"
"""Text and outlines, and the background."""
GREY, FAINT, FRAME_FILL, FRAME_LINE = "#767676", "#e6e6e6", "#f7f8fa", "#9aa3ae"
FONTS = ("DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif")
"""Labels are laid out for the widest of these, which is the first."""
FONT_FAMILY = ", ".join(FONTS)
"""As the attribute of an SVG element; a name of two words needs no quotation marks there."""
TITLE_PX, TEXT_PX, SMALL_PX = 16, 11, 10
LINE_PX = 14
"""Height of a line of text in a box."""


class LinkLook(NamedTuple):
    """How links are drawn: color, dash pattern of SVG (empty: solid), and width in pixels."""

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
"""By tier of the fabric, and the two states of the links in a picture of pause propagation."""
ROLE_FILLS = {
    "super-spine": "#f6e4ee",
    "spine": "#ddedf7",
    "leaf": "#dcf2eb",
    "switch": "#dcf2eb",
    "host": "#fcf1d9",
}
"""Tints of the palette; every box says its role in words."""
STATE_FILLS = {"source": "#eeae80", "stalled": "#fae3d2"}
"""Boxes in a picture of pause propagation; others have the fill of their role."""


class LineLook(NamedTuple):
    """How a line of a plot is drawn: color, dashes as lengths in line widths (empty: solid), and width in points."""

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
"""Lines of a plot that change over time, in order."""
LIMITS = (
    LineLook(VERMILLION, (9, 3), 1.1),
    LineLook(VERMILLION, (9, 3, 1.5, 3), 1.1),
    LineLook(VERMILLION, (1, 2), 1.5),
    LineLook(VERMILLION, (4, 2), 1.1),
)
"""Thresholds and limits, in order; each is labeled beside the plot too."""
BAND = "#dcdcdc"
