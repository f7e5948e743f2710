"""The picture of a fabric as SVG: tiers in rows, groups and planes side by side, parallel links as one line.

Large fabrics are drawn folded: a box with a count stands for many devices. The picture needs only text to draw, and
the same fabric gives the same bytes. Colors, dashes and fonts are those of
:mod:`lossless.output.report.drawing.style`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.output.report.drawing.shapes import markup, px
from lossless.output.report.drawing.style import (
    FONT_FAMILY,
    FRAME_FILL,
    FRAME_LINE,
    INK,
    LINE_PX,
    LINKS,
    PAPER,
    ROLE_FILLS,
    SMALL_PX,
    STATE_FILLS,
    TEXT_PX,
    TITLE_PX,
)
from lossless.output.report.drawing.text_width import shortened, text_width
from lossless.output.report.topology.layout import MARGIN, places
from lossless.output.report.topology.link_labels import link_labels
from lossless.output.report.topology.link_lines import link_lines
from lossless.output.report.topology.words import box_lines, legend, links_of, name_range, totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.topology.picture import Picture, PictureItem
    from lossless.output.report.drawing.style import LinkLook
    from lossless.output.report.topology.layout import GroupFrame
    from lossless.output.report.topology.link_labels import LinkLabel
    from lossless.output.report.topology.link_lines import LinkLine

_LEGEND_LINE, _SWATCH = 18, 30
_STACK = 4
"""Pixels by which the second edge of a box of several devices is behind the first."""
_NARROWEST = 380


def topology_svg(picture: Picture) -> str:
    """Return the picture of a fabric."""
    return "\n".join(_drawing(picture).lines()) + "\n"


def _drawing(picture: Picture) -> _Drawing:
    """Return the picture with numbers on the lines of as many tiers as have room for them, else in boxes."""
    counted = frozenset[str]()
    while True:
        drawing = _Drawing(picture, counted)
        if drawing.labels.unlabelled <= counted:
            return drawing
        counted |= drawing.labels.unlabelled


class _Drawing:
    def __init__(self, picture: Picture, counted: frozenset[str]) -> None:
        self._picture = picture
        self._items = {item.key: item for item in picture.items}
        self._words = {
            key: box_lines(picture, item, counted) for key, item in self._items.items() if self._shown(item)
        }
        self._places = places(picture, self._words)
        self._lines = link_lines(picture, self._places)
        self.labels = link_labels(self._lines, self._places, counted)
        self._legend = [*legend(picture, counted), *(("", text) for text in self.labels.unplaced)]

    def _shown(self, item: PictureItem) -> bool:
        """Return whether an item has a box: hosts of a grid have none."""
        return item.role != "host" or not self._picture.sides

    def lines(self) -> Iterator[str]:
        bottom = self._places.height + 20
        width = self._width()
        height = bottom + _LEGEND_LINE * len(self._legend) + MARGIN / 2
        size = f"width='{px(width)}' height='{px(height)}' viewBox='0 0 {px(width)} {px(height)}'"
        yield (
            f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' font-family='{FONT_FAMILY}' "
            f"font-size='{TEXT_PX}' fill='{INK}'>"
        )
        name = markup(self._picture.fabric)
        yield f"<title>{name}: devices and links</title>"
        yield f"<rect width='{px(width)}' height='{px(height)}' fill='{PAPER}'/>"
        yield f"<text x='{MARGIN}' y='28' font-size='{TITLE_PX}' font-weight='bold'>{name}</text>"
        yield f"<text x='{MARGIN}' y='47'>{totals(self._picture)}</text>"
        yield from map(_frame, self._places.frames)
        for line in self._lines:
            yield from self._link(line)
        yield from map(_frame_title, self._places.frames)
        for label in self.labels.placed:
            yield from _link_label(label)
        yield from self._boxes()
        for number, (look, words) in enumerate(self._legend):
            yield from _legend_line(look, words, bottom + number * _LEGEND_LINE)
        yield "</svg>"

    def _width(self) -> float:
        """Return the width of it all: of boxes, title and legend."""
        title = text_width(self._picture.fabric, TITLE_PX, bold=True)
        words = max((_SWATCH + 8 + text_width(text, TEXT_PX) for _, text in self._legend), default=0.0)
        longest = max(title, text_width(totals(self._picture), TEXT_PX), words)
        return max(self._places.width, _NARROWEST, longest + 2 * MARGIN)

    def _boxes(self) -> Iterator[str]:
        inside = self._inside()
        for key, words in self._words.items():
            item = self._items[key]
            yield f"<g><title>{markup(' '.join([name_range(item), *inside.get(key, ())]))}</title>"
            yield from self._box(key, item)
            area = self._places.boxes[key]
            top = area.top + (area.bottom - area.top - LINE_PX * len(words)) / 2 + LINE_PX - 3
            for number, text in enumerate(words):
                yield _box_text(
                    (area.left + area.right) / 2, top + LINE_PX * number, text, self._places.box_w, number
                )
            yield "</g>"

    def _box(self, key: str, item: PictureItem) -> Iterator[str]:
        """Yield the box of an item, and the edges of a second box behind it if the item is several devices."""
        left, top, right, bottom = self._places.boxes[key]
        if item.devices > 1:
            up, over = f"M{px(left + _STACK)} {px(top)} V{px(top - _STACK)}", f"H{px(right + _STACK)}"
            edge = f"{up} {over} V{px(bottom - _STACK)} H{px(right)}"
            yield f"<path d='{edge}' fill='{PAPER}' stroke='{INK}'/>"
        fill = STATE_FILLS.get(item.state, ROLE_FILLS[item.role])
        size = f"width='{px(right - left)}' height='{px(bottom - top)}'"
        yield f"<rect x='{px(left)}' y='{px(top)}' {size} rx='4' fill='{fill}' stroke='{INK}'/>"

    def _inside(self) -> dict[str, list[str]]:
        """Return, by item, the links between devices that are drawn as one."""
        edges = (edge for edge in self._picture.edges if edge.a == edge.b)
        return grouped((edge.a, f"({links_of(edge)} among them)") for edge in edges)

    def _link(self, line: LinkLine) -> Iterator[str]:
        ends = " to ".join(name_range(self._items[end]) for end in (line.edge.a, line.edge.b))
        look = _look(line.edge.state or line.edge.tier)
        dashed = _dashed("3 3" if line.other_end else look.dash)
        yield f"<g stroke='{look.color}' stroke-width='{px(look.width)}' fill='none'{dashed}>"
        yield f"<title>{markup(f'{ends}: {links_of(line.edge)}')}</title>"
        yield from line.svg
        yield "</g>"


def _look(name: str) -> LinkLook:
    return LINKS[name]


def _dashed(dash: str) -> str:
    return f" stroke-dasharray='{dash}'" if dash else ""


def _frame(frame: GroupFrame) -> str:
    left, top, right, bottom = frame.area
    box = f"x='{px(left)}' y='{px(top)}' width='{px(right - left)}' height='{px(bottom - top)}'"
    return f"<rect {box} rx='8' fill='{FRAME_FILL}' stroke='{FRAME_LINE}'/>"


def _frame_title(frame: GroupFrame) -> str:
    x, y = frame.at
    return f"<text x='{px(x)}' y='{px(y)}'>{markup(frame.title)}</text>"


def _link_label(label: LinkLabel) -> Iterator[str]:
    """Yield a label with the paper behind it, so that its own line does not pass through it."""
    left, top, right, bottom = label.area
    x, y = label.at
    box = f"x='{px(left - 1)}' y='{px(top)}' width='{px(right - left + 2)}' height='{px(bottom - top)}'"
    yield f"<rect {box} fill='{PAPER}'/>"
    where = f"x='{px(x)}' y='{px(y)}' text-anchor='middle' font-size='{SMALL_PX}'"
    yield f"<text {where}>{markup(label.text)}</text>"


def _box_text(x: float, y: float, text: str, box_w: float, number: int) -> str:
    """Return a line in a box, the first of them in bold; a cut line is complete in the tooltip."""
    size = SMALL_PX if number else TEXT_PX
    short = shortened(text, size, box_w - 8, bold=not number)
    look = f"font-size='{SMALL_PX}'" if number else "font-weight='bold'"
    return f"<text x='{px(x)}' y='{px(y)}' text-anchor='middle' {look}>{markup(short)}</text>"


def _legend_line(name: str, words: str, y: float) -> Iterator[str]:
    """Yield a line of the legend; a remark has no swatch."""
    if name:
        look = _look(name)
        line = f"x1='{MARGIN}' y1='{px(y - 4)}' x2='{MARGIN + _SWATCH}' y2='{px(y - 4)}'"
        yield (
            f"<line {line} stroke='{look.color}' stroke-width='{px(max(look.width, 1.8))}'{_dashed(look.dash)}/>"
        )
    yield f"<text x='{MARGIN + (_SWATCH + 8 if name else 0)}' y='{px(y)}'>{markup(words)}</text>"
