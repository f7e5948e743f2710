"""How wide text is in pixels, without a font: the advance widths of DejaVu Sans, the widest of the fonts that are used.

Source: DejaVuSans.ttf and DejaVuSans-Bold.ttf 2.37 as they come with matplotlib; a test compares the tables with them.
"""

from __future__ import annotations

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
"""By character from the blank on: thousandths of the font size."""
_OTHER = 1000
"""Letters outside ASCII: as wide as the font is high."""


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
