"""The picture of a fabric as SVG: tiers in rows, groups and planes side by side, parallel links as one line.

Large fabrics are drawn folded: a box with a count stands for many devices. The picture needs only text to draw, and
the same fabric gives the same bytes. Colors, dashes and fonts are those of
:mod:`lossless.output.report.drawing`.

Lines run between boxes, and have places where a label may be. A label is on its own line, clear of every other line,
box, title and label. Either all lines of several links of a tier have their number or none, except those that close a
ring: if one number has no such place, boxes give the numbers of the tier. Other labels without a place are in the
legend.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.output.report.drawing import (
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
    markup,
    px,
    shortened,
    text_area,
    text_width,
)
from lossless.output.report.topology.layout import MARGIN, arc_height, places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.analysis.topology.summary import Picture, PictureEdge, PictureItem
    from lossless.output.report.drawing import Area, LinkLook, Point
    from lossless.output.report.topology.layout import GroupFrame, PictureLayout


_LEGEND_LINE, _SWATCH = 18, 30
_STACK = 4
"""Pixels by which the second edge of a box of several devices is behind the first."""
_NARROWEST = 380


def topology_svg(picture: Picture) -> str:
    """Return the picture of a fabric as SVG text."""
    return "\n".join(_drawing(picture).lines()) + "\n"


def _drawing(picture: Picture) -> _Drawing:
    """Return the drawing with link counts on lines; for tiers without room for all labels the boxes give them."""
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
        """Return whether an item has a box: hosts of a torus have none."""
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
        """Return the width of the picture, so that boxes, title and legend fit."""
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
        """Return, by the key of an item for several devices, the texts about links among these."""
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
    """Yield a label on a rectangle of background color, so that its own line does not pass through it."""
    left, top, right, bottom = label.area
    x, y = label.at
    box = f"x='{px(left - 1)}' y='{px(top)}' width='{px(right - left + 2)}' height='{px(bottom - top)}'"
    yield f"<rect {box} fill='{PAPER}'/>"
    where = f"x='{px(x)}' y='{px(y)}' text-anchor='middle' font-size='{SMALL_PX}'"
    yield f"<text {where}>{markup(label.text)}</text>"


def _box_text(x: float, y: float, text: str, box_w: float, number: int) -> str:
    """Return a line in a box, the first of them in bold; the tooltip has the whole name."""
    size = SMALL_PX if number else TEXT_PX
    short = shortened(text, size, box_w - 8, bold=not number)
    look = f"font-size='{SMALL_PX}'" if number else "font-weight='bold'"
    return f"<text x='{px(x)}' y='{px(y)}' text-anchor='middle' {look}>{markup(short)}</text>"


def _legend_line(name: str, words: str, y: float) -> Iterator[str]:
    """Yield a line of the legend; a text without a look has no swatch."""
    if name:
        look = _look(name)
        line = f"x1='{MARGIN}' y1='{px(y - 4)}' x2='{MARGIN + _SWATCH}' y2='{px(y - 4)}'"
        yield (
            f"<line {line} stroke='{look.color}' stroke-width='{px(max(look.width, 1.8))}'{_dashed(look.dash)}/>"
        )
    yield f"<text x='{MARGIN + (_SWATCH + 8 if name else 0)}' y='{px(y)}'>{markup(words)}</text>"


_STUB, _BESIDE, _ARC_PARTS = 13, 6, 24
"""Length of the ends of a link that closes a ring and distance of parallel lines, in pixels; parts of an arc."""
_PLACES = (0.3, 0.36, 0.24, 0.42, 0.5, 0.58, 0.66, 0.18, 0.74, 0.8, 0.14, 0.86)
_PLACES_OF_ARC = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Parts of the length of a line at which its label is tried, in this order: lines cross in their middle."""


class LinkLine(NamedTuple):
    """A line between two boxes: the points of its straight parts, and the SVG elements of its shape without color.

    A link that closes a ring is two short ends, the points of the second in ``other_end``.
    """

    edge: PictureEdge
    points: tuple[Point, ...]
    svg: tuple[str, ...]
    other_end: tuple[Point, ...] = ()

    def label_places(self) -> Iterator[Point]:
        """Yield the points at which the middle of the line's label may be, best first."""
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
    """Return the lines of the drawn edges of a picture; those of one pair of boxes are beside each other."""
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
    """Return whether an edge is drawn: between two boxes; between layers of a torus only at their first corner."""
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
    """Return the ends of a straight line between two boxes, at the sides that face each other."""
    if a.top == b.top:
        left, right = sorted((a, b))
        y = (a.top + a.bottom) / 2
        return (left.right, y), (right.left, y)
    down = a.top < b.top
    return (a.middle, a.bottom if down else a.top), (b.middle, b.top if down else b.bottom)


def _ring_ends(edge: PictureEdge, a: Area, b: Area) -> LinkLine:
    """Return both ends of a link that closes a ring of a torus: it leaves on one side and enters at the other."""
    if a.top == b.top:
        y = (a.top + a.bottom) / 2
        first, second = ((a.right, y), (a.right + _STUB, y)), ((b.left - _STUB, y), (b.left, y))
    else:
        x = a.middle
        first, second = ((x, a.bottom), (x, a.bottom + _STUB)), ((x, b.top - _STUB), (x, b.top))
    return LinkLine(edge, first, (_straight(*first), _straight(*second)), second)


def _straight(a: Point, b: Point) -> str:
    return f"<line x1='{px(a[0])}' y1='{px(a[1])}' x2='{px(b[0])}' y2='{px(b[1])}'/>"


_MOST_LABELS, _MOST_UP = 40, 3
"""The most labels of one tier, and the most labeled lines up from one box: more would not be readable."""
_CLEAR, _APART = 2, 6
"""Pixels between a label and a line that is not its own, and between two labels."""


class LinkLabel(NamedTuple):
    """The label of a line: its text, the middle of its base line ``at``, and the rectangle that it covers."""

    at: Point
    text: str
    area: Area


class LinkLabels(NamedTuple):
    """The labels with a place; the tiers whose link counts have no place; and other label texts without a place."""

    placed: tuple[LinkLabel, ...]
    unlabelled: frozenset[str]
    unplaced: tuple[str, ...]


def link_labels(lines: Sequence[LinkLine], places: PictureLayout, counted: Collection[str]) -> LinkLabels:
    """Return the labels of lines, without those of tiers whose link counts are ``counted`` in boxes."""
    taken = [*places.boxes.values()] + [frame.title_area for frame in places.frames]
    placed: list[LinkLabel] = []
    unlabelled, unplaced = set[str](), []
    for tier, of_tier in _by_tier(lines, counted).items():
        labels = _placed(of_tier, lines, [*taken, *(label.area for label in placed)])
        if any(label is None for label in labels) and not of_tier[0].edge.label:
            unlabelled.add(tier)
            continue
        placed += [label for label in labels if label is not None]
        unplaced += [
            f"{line.edge.a} to {line.edge.b}: {_text(line)}"
            for line, label in zip(of_tier, labels, strict=True)
            if label is None
        ]
    return LinkLabels(tuple(placed), frozenset(unlabelled), tuple(unplaced))


def _by_tier(lines: Sequence[LinkLine], counted: Collection[str]) -> dict[str, list[LinkLine]]:
    """Return the lines that need a label, by tier."""
    of_tiers: dict[str, list[LinkLine]] = {}
    for line in lines:
        if line.edge.tier not in counted and not line.other_end and _text(line):
            of_tiers.setdefault(line.edge.tier, []).append(line)
    return of_tiers


def _text(line: LinkLine) -> str:
    """Return the label of a line: its own words, or its number of links if it has several."""
    links = line.edge.links
    return line.edge.label or (f"{links:,}" if links > 1 else "")


def _placed(
    of_tier: Sequence[LinkLine], lines: Sequence[LinkLine], taken: Sequence[Area]
) -> list[LinkLabel | None]:
    """Return the label of each line of a tier; None for a line without a place, and for all lines of too many.

    After a line whose link count has no place the others have None too: boxes then give the counts of the tier.
    """
    if len(of_tier) > _MOST_LABELS or _is_mesh(of_tier, lines):
        return [None] * len(of_tier)
    labels: list[LinkLabel | None] = []
    for line in of_tier:
        others = [
            points for other in lines if other is not line for points in (other.points, other.other_end)
        ]
        areas = [*taken, *(label.area for label in labels if label is not None)]
        labels.append(_label(line, others, areas))
        if labels[-1] is None and not line.edge.label:
            break
    return [*labels, *[None] * (len(of_tier) - len(labels))]


def _is_mesh(of_tier: Sequence[LinkLine], lines: Sequence[LinkLine]) -> bool:
    """Return whether lines of a tier are uplinks without a label of their own, and too many to label leave one box."""
    first = of_tier[0].edge
    if first.label or first.tier not in ("uplinks", "spine_uplinks"):
        return False
    up = Counter(line.edge.a for line in lines if line.edge.tier == first.tier)
    return max(up.values()) > _MOST_UP


def _label(line: LinkLine, others: Sequence[Sequence[Point]], taken: Sequence[Area]) -> LinkLabel | None:
    text = _text(line)
    for x, middle in line.label_places():
        y = middle + 0.35 * SMALL_PX
        area = text_area(x, y, text, SMALL_PX, anchor="middle")
        clear = area._replace(
            left=area.left - _CLEAR, right=area.right + _CLEAR, top=area.top - 1, bottom=area.bottom + 1
        )
        if not any(area.overlaps(other, _APART) for other in taken) and not any(
            map(clear.is_crossed_by, others)
        ):
            return LinkLabel((x, y), text, area)
    return None


TIERS = {
    "hosts": ("links to hosts", "link"),
    "uplinks": ("uplinks of leaves", "uplink"),
    "spine_uplinks": ("uplinks of spines", "uplink"),
    "links": ("links between switches", "link"),
    "local_links": ("links within groups", "local link"),
    "global_links": ("links between groups", "global link"),
}
"""The noun of the links of a tier in the legend, and that of one link in a box, by tier."""
_BETWEEN_PEERS = ("links", "local_links", "global_links")
_MANY = {"leaf": "leaves", "switch": "switches"}
_NAMES = re.compile(r"(\D++)(.*)")


def box_lines(picture: Picture, item: PictureItem, counted: Collection[str]) -> list[str]:
    """Return the lines in the box of an item, its title first; boxes give the link counts of the ``counted`` tiers."""
    if item.words:
        return [line for line in item.words if line]
    lines = [_title(item), *item.labels, *_counts(picture, item.key, counted)]
    if item.devices > 1:
        lines.insert(1, ("of " if item.apart else "") + from_to(*item.names))
    if picture.sides:
        lines.append(_hosts_at(picture, item.key))
    return [line for line in lines if line]


def _title(item: PictureItem) -> str:
    """Return the name of an item's device, or the number of its devices with their role."""
    return item.names[0] if item.devices == 1 else many(item.devices, item.role)


def many(number: int, role: str) -> str:
    """Return a number of devices of a role: ``1 leaf``, ``60 leaves``."""
    return f"{number:,} {role if number == 1 else _MANY.get(role, f'{role}s')}"


def _counts(picture: Picture, key: str, counted: Collection[str]) -> Iterator[str]:
    """Yield the number of an item's links to each ``counted`` tier, without those that another box counts."""
    for tier in TIERS:
        ends = [edge for edge in picture.edges if edge.tier == tier and key in _counted_ends(edge)]
        links = sum(edge.links for edge in ends)
        if tier in counted and links:
            yield f"{links:,} {TIERS[tier][1]}{'' if links == 1 else 's'}"


def _counted_ends(edge: PictureEdge) -> tuple[str, ...]:
    """Return the keys of the boxes that give the number of an edge's links: the lower one, or both between peers."""
    if edge.tier in _BETWEEN_PEERS:
        return edge.a, edge.b
    return (edge.b,) if edge.tier == "hosts" else (edge.a,)


def _hosts_at(picture: Picture, key: str) -> str:
    """Return how many hosts are attached to a switch of a torus, whose hosts have no boxes; empty for none."""
    items = {item.key: item for item in picture.items}
    ends = (edge.b for edge in picture.edges if edge.a == key and edge.tier == "hosts")
    hosts = sum(items[end].devices for end in ends)
    return many(hosts, "host") if hosts else ""


def totals(picture: Picture) -> str:
    """Return the number of devices of each role in a picture, as one line."""
    numbers: dict[str, int] = {}
    for item in picture.items:
        numbers[item.role] = numbers.get(item.role, 0) + item.devices
    return ", ".join(many(number, role) for role, number in numbers.items())


def legend(picture: Picture, counted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the looks of lines and their meaning, with the number of links; an empty look has no line.

    ``counted`` are tiers whose lines have no numbers.
    """
    if picture.legend:
        yield from picture.legend
        return
    links_by_kind: dict[tuple[str, int, int], int] = {}
    for edge in picture.edges:
        kind = (edge.tier, edge.speed_bps, edge.cable_m)
        links_by_kind[kind] = links_by_kind.get(kind, 0) + edge.links
    for (tier, speed_bps, cable_m), links in sorted(
        links_by_kind.items(), key=lambda kind: _order(kind[0][0])
    ):
        length = f", {cable_m:,} m" if cable_m else ""
        look = "" if picture.sides and tier == "hosts" else tier
        yield look, f"{TIERS[tier][0]}: {links:,} x {format_rate(speed_bps)}{length}"
    yield from (("", remark) for remark in _remarks(picture, counted))


def _order(tier: str) -> int:
    return [*TIERS].index(tier)


def _remarks(picture: Picture, counted: Collection[str]) -> Iterator[str]:
    drawn = (edge for edge in picture.edges if edge.a != edge.b and not edge.around)
    if any(edge.links == 1 and edge.tier not in counted for edge in drawn):
        yield "a line without a number is one link"
    if any(edge.around for edge in picture.edges):
        yield "short dashed ends: links that close a ring, leaving at one side and entering at the other"
    if len(picture.sides) > 2:
        yield "layers are side by side; each switch links to the same position in the next layer, drawn once"
    shown = [item for item in picture.items if item.role != "host" or not picture.sides]
    if any(item.devices > 1 for item in shown):
        yield "a stacked box is several devices; a line to it is all of their links"


def from_to(first: str, last: str) -> str:
    """Return the first and last of several names; what both have before the first digit once: ``host105 .. 112``."""
    first_parts, last_parts = _NAMES.fullmatch(first), _NAMES.fullmatch(last)
    if first_parts is None or last_parts is None or first_parts[1] != last_parts[1]:
        return f"{first} .. {last}"
    return f"{first} .. {last_parts[2] or last}"


def name_range(item: PictureItem) -> str:
    """Return the name of an item's device, or the first and last name of several, in full."""
    first, last = item.names
    return str(first) if first == last else f"{first} .. {last}"


def links_of(edge: PictureEdge) -> str:
    """Return the number, speed and cable length of an edge's links; no length if unknown."""
    links = f"{edge.links:,} x {format_rate(edge.speed_bps)}"
    return f"{links}, {edge.cable_m:,} m" if edge.cable_m else links
