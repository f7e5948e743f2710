"""The picture of a fabric as SVG: tiers in rows, groups side by side, parallel links as one line with their number.

Large fabrics come folded: what is many is one box that says how many. Nothing but text is needed to draw it, and the
same fabric gives the same bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, xml
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_rate
from lossless.output.report.topology.labels import CHARACTER, LinkLabels, px
from lossless.output.report.topology.layout import FRAME_TITLE, MARGIN, arc_height, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.output.report.topology.layout import Data, GroupFrame, PictureLayout

_FILLS = {
    "super-spine": "#e6e0f5",
    "spine": "#dce8f7",
    "leaf": "#dff0e2",
    "switch": "#dff0e2",
    "host": "#f4efe4",
}
_STROKES = {
    "hosts": "#8a7a55",
    "uplinks": "#2f6f3e",
    "spine_uplinks": "#5b3f9e",
    "links": "#2f6f3e",
    "local_links": "#2f6f3e",
    "global_links": "#b0462f",
}
_DASHES = {"global_links": "7 3"}
"""Beside the color, for those who do not see it."""
_TITLES = {
    "hosts": "links to hosts",
    "uplinks": "uplinks of leaves",
    "spine_uplinks": "uplinks of spines",
    "links": "links between switches",
    "local_links": "links within groups",
    "global_links": "links between groups",
}
_MOST_NUMBERS = 64
"""Lines up to which each shows its number of links; with more lines only the tooltips show it."""
_NAMES = re.compile(r"(\D+)(.*)")
_LEGEND_LINE = 18
_FONT = "font-family='Helvetica, Arial, sans-serif'"
_NARROWEST = 460


def topology_svg(data: Data) -> str:
    """Return the picture of a fabric; ``data`` is that of :mod:`lossless.analysis.topology.folding`."""
    return "\n".join(_Drawing(data).lines()) + "\n"


class _Drawing:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._places: PictureLayout = places(data)
        self._numbers = LinkLabels()
        self._items = {item["key"]: item for item in data["items"]}
        self._legend = list(_legend(data))

    def lines(self) -> Iterator[str]:
        width = max(self._places.width, _NARROWEST)
        bottom = self._places.height + 16
        height = bottom + _LEGEND_LINE * len(self._legend) + MARGIN / 2
        size = f"width='{px(width)}' height='{px(height)}' viewBox='0 0 {px(width)} {px(height)}'"
        yield f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' {_FONT} font-size='11' fill='#1c2430'>"
        name = _text(self._data["fabric"])
        yield f"<title>{name}: devices and links</title>"
        yield f"<rect width='{px(width)}' height='{px(height)}' fill='#ffffff'/>"
        yield f"<text x='{MARGIN}' y='28' font-size='16' font-weight='bold'>{name}</text>"
        yield from map(_frame, self._places.frames)
        yield from self._drawn_links()
        yield from map(_frame_title, self._places.frames)
        yield from self._numbers.lines()
        yield from self._boxes()
        for number, (tier, words) in enumerate(self._legend):
            yield from _legend_line(tier, words, bottom + number * _LEGEND_LINE)
        yield "</svg>"

    def _boxes(self) -> Iterator[str]:
        inside = self._inside()
        w, h = self._places.box_w, self._places.box_h
        for key, (x, y) in self._places.corners.items():
            item = self._items[key]
            title, *details = item.get("words") or _words(item)
            details = [self._hosts_at(key)] if self._data["sides"] else details
            written = [text for text in details if text]
            top = y + (h - 14 * len(written)) / 2 + 4
            folded = " stroke-dasharray='4 2'" if item["devices"] > 1 else ""
            yield f"<g><title>{_text(' '.join([_range(item), *inside.get(key, ())]))}</title>"
            yield (
                f"<rect x='{px(x)}' y='{px(y)}' width='{px(w)}' height='{px(h)}' rx='4' "
                f"fill='{item.get('fill') or _FILLS[item['role']]}' stroke='#1c2430'{folded}/>"
            )
            yield _label(x + w / 2, top, title, "font-weight='bold'", w)
            for number, text in enumerate(written, 1):
                yield _label(x + w / 2, top + 14 * number, text, "font-size='10'", w)
            yield "</g>"

    def _inside(self) -> dict[str, list[str]]:
        """Return, by item, the links between devices that are drawn as one."""
        edges = (edge for edge in self._data["edges"] if edge["a"] == edge["b"])
        return grouped((edge["a"], f"({_of(edge)} among them)") for edge in edges)

    def _hosts_at(self, key: str) -> str:
        ends = (edge["b"] for edge in self._data["edges"] if edge["a"] == key and edge["tier"] == "hosts")
        hosts = sum(self._items[end]["devices"] for end in ends)
        return f"{hosts:,} host{'' if hosts == 1 else 's'}" if hosts else ""

    def _drawn_links(self) -> Iterator[str]:
        corners = self._places.corners
        edges = [e for e in self._data["edges"] if e["a"] != e["b"] and {e["a"], e["b"]} <= corners.keys()]
        drawn = [edge for edge in edges if self._is_drawn(edge)]
        for edge in drawn:
            ends = " to ".join(_range(self._items[edge[end]]) for end in ("a", "b"))
            stroke = edge.get("stroke") or _STROKES[edge["tier"]]
            dashed = _dashed(edge.get("dash") or _DASHES.get(edge["tier"], ""))
            yield f"<g stroke='{stroke}' fill='none'{dashed}><title>{_text(f'{ends}: {_of(edge)}')}</title>"
            yield from self._line(edge, numbered=len(drawn) <= _MOST_NUMBERS)
            yield "</g>"

    def _is_drawn(self, edge: Data) -> bool:
        """Return whether a link is drawn: of those between the layers of a grid, only at its first corner."""
        a, b = (self._items[edge[end]]["place"] for end in ("a", "b"))
        return len(a) < 3 or a[0] == b[0] or (not any(a[1:]) and not edge["around"])

    def _line(self, edge: Data, *, numbered: bool) -> Iterator[str]:
        (ax, ay), (bx, by) = (self._places.corners[edge[end]] for end in ("a", "b"))
        box_w, box_h = self._places.box_w, self._places.box_h
        width = edge.get("width") or ("1.7" if edge["links"] > 1 else "1")
        if edge["around"] and self._data["sides"]:
            yield from _stubs((ax, ay), (bx, by), box_w, box_h)
            return
        layers = {tuple(self._items[edge[end]]["place"][:-2]) for end in ("a", "b")}
        if ay == by and (not self._data["sides"] or len(layers) > 1):
            left, right = sorted((ax + box_w / 2, bx + box_w / 2))
            rise = 2 * arc_height(right - left)
            middle = (left + right) / 2
            yield (
                f"<path d='M{px(left)} {px(ay)} Q{px(middle)} {px(ay - rise)} {px(right)} {px(ay)}' "
                f"stroke-width='{width}'/>"
            )
            places_of = [_arched(left, right, ay, rise, part) for part in (0.5, 0.42, 0.58, 0.34, 0.66)]
        else:
            (x1, y1), (x2, y2) = _ends((ax, ay), (bx, by), box_w, box_h)
            yield (f"<line x1='{px(x1)}' y1='{px(y1)}' x2='{px(x2)}' y2='{px(y2)}' stroke-width='{width}'/>")
            # Words are longer than numbers, and lines are apart at their lower ends.
            parts = (0.72, 0.5, 0.3, 0.86) if edge.get("label") else (0.3, 0.5, 0.7, 0.4, 0.6, 0.2)
            places_of = [(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part + 3) for part in parts]
        if edge.get("label"):
            self._numbers.add(places_of, _text(edge["label"]), always=True)
        elif numbered and edge["links"] > 1:
            self._numbers.add(places_of, f"{edge['links']:,}", always=False)


def _arched(left: float, right: float, y: float, rise: float, part: float) -> tuple[float, float]:
    """Return a point on the curve that joins two boxes of one row, a little above it."""
    return left + (right - left) * part, y - 2 * part * (1 - part) * rise - 3


def _ends(
    a: tuple[float, float], b: tuple[float, float], box_w: float, box_h: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where a straight line leaves one box and meets another: at the sides that face each other."""
    (ax, ay), (bx, by) = a, b
    if ay == by:
        left, right = (a, b) if ax < bx else (b, a)
        return (left[0] + box_w, ay + box_h / 2), (right[0], by + box_h / 2)
    down = ay < by
    return (ax + box_w / 2, ay + (box_h if down else 0)), (bx + box_w / 2, by + (0 if down else box_h))


def _stubs(a: tuple[float, float], b: tuple[float, float], box_w: float, box_h: float) -> Iterator[str]:
    """Yield both ends of a link that closes a ring of a grid: it leaves on one side and comes in on the other."""
    (ax, ay), (bx, by) = a, b
    dash = "stroke-width='1.6' stroke-dasharray='3 3'"
    if ay == by:
        y = px(ay + box_h / 2)
        yield f"<line x1='{px(ax + box_w)}' y1='{y}' x2='{px(ax + box_w + 22)}' y2='{y}' {dash}/>"
        yield f"<line x1='{px(bx - 22)}' y1='{y}' x2='{px(bx)}' y2='{y}' {dash}/>"
    else:
        x = px(ax + box_w / 2)
        yield f"<line x1='{x}' y1='{px(ay + box_h)}' x2='{x}' y2='{px(ay + box_h + 22)}' {dash}/>"
        yield f"<line x1='{x}' y1='{px(by - 22)}' x2='{x}' y2='{px(by)}' {dash}/>"


def _frame(frame: GroupFrame) -> str:
    box = f"x='{px(frame.x)}' y='{px(frame.y)}' width='{px(frame.w)}' height='{px(frame.h)}'"
    return f"<rect {box} rx='8' fill='#f7f8fa' stroke='#b8c0ca'/>"


def _frame_title(frame: GroupFrame) -> str:
    halo = "stroke='#f7f8fa' stroke-width='4' paint-order='stroke'"
    y = frame.y + frame.h - FRAME_TITLE / 3
    return f"<text x='{px(frame.x + 8)}' y='{px(y)}' {halo}>{_text(frame.title)}</text>"


def _label(x: float, y: float, text: str, look: str, box_w: float) -> str:
    short = _short(text, int(box_w / CHARACTER))
    return f"<text x='{px(x)}' y='{px(y)}' text-anchor='middle' {look}>{_text(short)}</text>"


def _dashed(dash: str) -> str:
    return f" stroke-dasharray='{dash}'" if dash else ""


def _legend(data: Data) -> Iterator[tuple[str, str]]:
    """Yield, for each tier, speed and length, how many links there are; or the legend of the picture itself."""
    if "legend" in data:
        yield from data["legend"]
        return
    links_by_kind: dict[tuple[str, int, int], int] = {}
    for edge in data["edges"]:
        key = (edge["tier"], edge["speed_bps"], edge["cable_m"])
        links_by_kind[key] = links_by_kind.get(key, 0) + edge["links"]
    for (tier, speed_bps, cable_m), links in sorted(
        links_by_kind.items(), key=lambda kind: [*_STROKES].index(kind[0][0])
    ):
        length = f", {cable_m:,} m" if cable_m else ""
        yield tier, f"{_TITLES[tier]}: {links:,} x {format_rate(speed_bps)}{length}"
    if any(edge["around"] for edge in data["edges"]):
        yield "", "dashed lines: links that close a ring, leaving at one side and entering at the other"
    if len(data["sides"]) > 2:
        yield (
            "",
            "layers are side by side; each switch links to the same position in the next layer, drawn once",
        )
    shown = [item for item in data["items"] if item["role"] != "host" or not data["sides"]]
    if any(item["devices"] > 1 for item in shown):
        yield "", "a box with a dashed border is several devices"


def _legend_line(tier: str, words: str, y: float) -> Iterator[str]:
    """Yield a line of the legend; a color of no tier may have its dashes behind it."""
    tier, _, dash = tier.partition(" ")
    if tier:
        line = f"x1='{MARGIN}' y1='{px(y - 4)}' x2='{MARGIN + 26}' y2='{px(y - 4)}'"
        dashed = _dashed(_DASHES.get(tier, dash))
        yield f"<line {line} stroke='{_STROKES.get(tier, tier)}' stroke-width='2.5'{dashed}/>"
    yield f"<text x='{MARGIN + 34}' y='{px(y)}'>{_text(words)}</text>"


def _words(item: Data) -> tuple[str, str]:
    """Return the two lines in the box of an item."""
    if item["devices"] == 1:
        return item["names"][0], ""
    many = (
        "leaves" if item["role"] == "leaf" else "switches" if item["role"] == "switch" else f"{item['role']}s"
    )
    return f"{item['devices']:,} {many}", from_to(*item["names"])


def from_to(first: str, last: str) -> str:
    """Return the first and last of several names, what both begin with said once: ``host105 .. 112``."""
    first_parts, last_parts = _NAMES.fullmatch(first), _NAMES.fullmatch(last)
    if first_parts is None or last_parts is None or first_parts[1] != last_parts[1]:
        return f"{first} .. {last}"
    return f"{first} .. {last_parts[2] or last}"


def _range(item: Data) -> str:
    first, last = item["names"]
    return str(first) if first == last else f"{first} .. {last}"


def _of(edge: Data) -> str:
    links = f"{edge['links']:,} x {format_rate(edge['speed_bps'])}"
    return f"{links}, {edge['cable_m']:,} m" if edge["cable_m"] else links


def _short(text: str, most: int) -> str:
    """Return text that fits a box; the whole of it is what a pointer shows."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(text: str) -> str:
    return xml(visible(text))
