"""The layout of the picture of a fabric: tiers in rows, groups and planes side by side; or the grid of a torus.

All boxes of a picture have one width, for the longest of their lines up to a limit; frames are as wide as their title
at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing import LINE_PX, SMALL_PX, TEXT_PX, Area, text_area, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.topology.summary import Picture, PictureItem

GAP, GROUP_GAP = 14, 36
MARGIN, TOP, ROW_GAP = 24, 74, 100
_NARROWEST_BOX, _WIDEST_BOX, _LOWEST_BOX, _BOX_PADDING = 84, 190, 34, 14
_FRAME_PADDING, _FRAME_TITLE = 12, 22
_CELL_GAP = 34
_ARC, _LOWEST_ARC, _HIGHEST_ARC = 0.16, 16, 96
_ROWS = {"super-spine": 0, "spine": 1, "leaf": 2, "switch": 2, "host": 3}


class GroupFrame(NamedTuple):
    """A box around a group of switches, its title, and the start of the title's base line."""

    area: Area
    title: str
    at: tuple[float, float]

    @property
    def title_area(self) -> Area:
        """The rectangle of the title of the frame."""
        return text_area(*self.at, self.title)


class PictureLayout(NamedTuple):
    """The boxes of items by key, the frames of groups, the size of the picture, and the width of all boxes.

    Hosts of a torus have no boxes.
    """

    boxes: dict[str, Area]
    frames: tuple[GroupFrame, ...]
    width: float
    height: float
    box_w: float


def places(picture: Picture, lines: Mapping[str, Sequence[str]]) -> PictureLayout:
    """Return the layout of a picture, in pixels; ``lines`` are those in each box, by the key of its item."""
    box_w = _box_width(lines.values())
    return _grid(picture, box_w, lines) if picture.sides else _Rows(picture, box_w, lines).layout()


def _box_width(boxes: Iterable[Sequence[str]]) -> float:
    """Return the width of boxes for the longest line in them, up to a limit; the first line of each is in bold."""
    widths = [0.0]
    for lines in boxes:
        widths += [
            text_width(lines[0], TEXT_PX, bold=True),
            *(text_width(line, SMALL_PX) for line in lines[1:]),
        ]
    return float(round(min(max(_NARROWEST_BOX, max(widths) + _BOX_PADDING), _WIDEST_BOX)))


def _box_height(boxes: Iterable[Sequence[str]]) -> float:
    """Return the height of a box that fits the lines of every given box."""
    return float(max(_LOWEST_BOX, LINE_PX * max((len(lines) for lines in boxes), default=1) + 12))


def arc_height(dx: float) -> float:
    """Return the height of the arc of a link between two boxes of one row, ``dx`` apart, in pixels."""
    return min(max(_LOWEST_ARC, _ARC * dx), _HIGHEST_ARC)


class _Rows:
    """The layout of tiers in rows: an item is in a column, or centered over several columns or all."""

    def __init__(self, picture: Picture, box_w: float, lines: Mapping[str, Sequence[str]]) -> None:
        self._items = picture.items
        self._picture, self._box_w, self._step = picture, box_w, box_w + GAP
        self._frame_of = {key: at for at, frame in enumerate(picture.frames) for key in frame.items}
        self._row_of = {item.key: _ROWS[item.role] for item in self._items}
        rows = grouped((row, lines[key]) for key, row in self._row_of.items())
        self._heights = {row: _box_height(boxes) for row, boxes in rows.items()}
        self._title_w = [text_width(frame.title, TEXT_PX) for frame in picture.frames]
        spans = self._spans()
        free = [self._free_width(row) for row in self._of_all().values()] + [self._hosts_width()]
        self._width = max([*free, spans[-1][1] - MARGIN if spans else box_w])
        shift = (self._width - (spans[-1][1] - MARGIN)) / 2 if spans else 0.0
        self._columns = [(left + shift, right + shift) for left, right in spans]

    def layout(self) -> PictureLayout:
        tops, height = self._tops()
        left_of = {item.key: x for item, x in self._across()}
        left_of |= dict(self._hosts(left_of))
        boxes = {
            key: self._box_at(x, tops[self._row_of[key]], self._row_of[key]) for key, x in left_of.items()
        }
        right = max([MARGIN + self._width, *(box.right for box in boxes.values())])
        return PictureLayout(boxes, tuple(self._frames(boxes)), right + MARGIN, height, self._box_w)

    def _box_at(self, x: float, y: float, row: int) -> Area:
        return Area(x, y, x + self._box_w, y + self._heights[row])

    # --- columns ---

    def _spans(self) -> list[tuple[float, float]]:
        """Return the left and right edge of each column, with room for its rows, its frame titles and wider rows."""
        counts: dict[tuple[int, int], dict[int, int]] = {}
        for item in self._items:
            if item.columns is not None:
                row = counts.setdefault(item.columns, {})
                row[_ROWS[item.role]] = row.get(_ROWS[item.role], 0) + 1
        number = max((last + 1 for _, last in counts), default=0)
        widths = [max(counts.get((at, at), {0: 1}).values()) * self._step - GAP for at in range(number)]
        widths = [max(width, self._title_of_column(at)) for at, width in enumerate(widths)]
        for (first, last), rows in counts.items():
            needed = max(rows.values()) * self._step - GAP
            widths[last] += max(0.0, needed - sum(widths[first : last + 1]) - GROUP_GAP * (last - first))
        return _side_by_side(widths)

    def _title_of_column(self, at: int) -> float:
        """Return the width of the widest frame title in one column."""
        inside = (item for item in self._items if item.columns == (at, at))
        frames = {self._frame_of[item.key] for item in inside if item.key in self._frame_of}
        return max((self._title_w[frame] for frame in frames), default=0.0)

    def _of_all(self) -> dict[int, dict[int, list[PictureItem]]]:
        """Return the switches that belong to no column, by row and by frame; -1 is no frame."""
        free = [item for item in self._items if item.columns is None and item.role != "host"]
        rows = grouped((_ROWS[item.role], item) for item in free)
        return {
            row: grouped((self._frame_of.get(item.key, -1), item) for item in items)
            for row, items in rows.items()
        }

    def _hosts_width(self) -> float:
        """Return the width of the row of hosts; 0 if each host belongs to a single column."""
        hosts = [item for item in self._items if item.role == "host"]
        single = all(item.columns and item.columns[0] == item.columns[1] for item in hosts)
        return 0.0 if single else len(hosts) * self._step - GAP

    def _free_width(self, clusters: Mapping[int, Sequence[PictureItem]]) -> float:
        widths = [self._cluster_width(frame, items) for frame, items in clusters.items()]
        return sum(widths) + GROUP_GAP * (len(widths) - 1)

    def _cluster_width(self, frame: int, items: Sequence[PictureItem]) -> float:
        return max(len(items) * self._step - GAP, self._title_w[frame] if frame >= 0 else 0.0)

    # --- places ---

    def _across(self) -> Iterator[tuple[PictureItem, float]]:
        """Yield each switch with its left edge: centered over its columns, or in the whole picture."""
        switches = [
            ((_ROWS[item.role], *item.columns), item)
            for item in self._items
            if item.role != "host" and item.columns is not None
        ]
        for (_, first, last), items in grouped(switches).items():
            yield from self._centred(items, self._columns[first][0], self._columns[last][1])
        for clusters in self._of_all().values():
            left = MARGIN + (self._width - self._free_width(clusters)) / 2
            for frame, items in clusters.items():
                right = left + self._cluster_width(frame, items)
                yield from self._centred(items, left, right)
                left = right + GROUP_GAP

    def _centred(
        self, items: Sequence[PictureItem], left: float, right: float
    ) -> Iterator[tuple[PictureItem, float]]:
        x = (left + right - len(items) * self._step + GAP) / 2
        yield from ((item, x + at * self._step) for at, item in enumerate(items))

    def _hosts(self, left_of: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """Yield each host's key with its left edge: near the middle below its switches, side by side."""
        edges = (edge for edge in self._picture.edges if edge.tier == "hosts")
        above = grouped((edge.b, left_of[edge.a]) for edge in edges)
        hosts = [item for item in self._items if item.role == "host"]
        whole = len(self._columns) - 1
        spans = [item.columns or (0, whole) for item in hosts]
        if any(first != last for first, last in spans):
            spans = [(0, whole)] * len(hosts)
        for (first, last), some in grouped(zip(spans, hosts, strict=True)).items():
            left = self._columns[first][0] if self._columns else float(MARGIN)
            right = self._columns[last][1] if self._columns else MARGIN + self._width
            wanted = {item.key: sum(xs) / len(xs) if (xs := above.get(item.key)) else left for item in some}
            yield from self._packed(wanted, left, right)

    def _packed(self, wanted: Mapping[str, float], left: float, right: float) -> Iterator[tuple[str, float]]:
        """Yield each key with the left edge of its box, near the wanted one without overlaps, from left to right."""
        order = sorted(wanted, key=lambda key: wanted[key])
        most = right - self._box_w
        latest = {key: most - self._step * (len(order) - 1 - at) for at, key in enumerate(order)}
        for key in order:
            x = max(left, min(wanted[key], latest[key]))
            yield key, x
            left = x + self._step

    # --- rows ---

    def _tops(self) -> tuple[dict[int, float], float]:
        """Return the top of each row, and the height of the picture; links within a row need room above it."""
        arched = {
            self._row_of[edge.a]
            for edge in self._picture.edges
            if edge.a != edge.b and self._row_of[edge.a] == self._row_of[edge.b]
        }
        highest = min(self._row_of.values(), default=0)
        titled = any(self._row_of[key] == highest for key in self._frame_of)
        y, tops = float(TOP + (_FRAME_TITLE if titled else 0)), {}
        for row in sorted(set(self._row_of.values())):
            y += _HIGHEST_ARC + GAP if row in arched else 0
            tops[row] = y
            y += self._heights[row] + ROW_GAP
        return tops, y - ROW_GAP + GAP + (_FRAME_TITLE if self._picture.frames else 0)

    def _frames(self, boxes: Mapping[str, Area]) -> Iterator[GroupFrame]:
        """Yield the frames; the title of one around items of the lowest row is below them, of others above."""
        lowest = max(self._row_of.values(), default=0)
        for frame, title_w in zip(self._picture.frames, self._title_w, strict=True):
            inside = [boxes[key] for key in frame.items]
            left = min(box.left for box in inside) - _FRAME_PADDING
            right = max(box.right for box in inside) + _FRAME_PADDING
            wider = max(0.0, title_w + 2 * _FRAME_PADDING - (right - left)) / 2
            left, right = left - wider, right + wider
            top = min(box.top for box in inside) - _FRAME_PADDING
            bottom = max(box.bottom for box in inside) + _FRAME_PADDING
            below = any(self._row_of[key] == lowest for key in frame.items)
            top, bottom = (top, bottom + _FRAME_TITLE - 6) if below else (top - _FRAME_TITLE + 6, bottom)
            at = left + _FRAME_PADDING, bottom - 8 if below else top + 16
            yield GroupFrame(Area(left, top, right, bottom), frame.title, at)


def _side_by_side(widths: Sequence[float]) -> list[tuple[float, float]]:
    spans, x = [], float(MARGIN)
    for width in widths:
        spans.append((x, x + width))
        x += width + GROUP_GAP
    return spans


def _grid(picture: Picture, box_w: float, lines: Mapping[str, Sequence[str]]) -> PictureLayout:
    """Return the layout of the switches of a torus, layer beside layer; hosts have no boxes."""
    switches = [item for item in picture.items if item.role != "host"]
    box_h = _box_height(lines.values())
    step_x, step_y = box_w + _CELL_GAP, box_h + _CELL_GAP
    columns = max(item.place[-1] for item in switches) + 1
    layer_w = columns * step_x + GROUP_GAP
    arcs = _HIGHEST_ARC + GAP if len(picture.sides) > 2 else _CELL_GAP / 2
    boxes = {}
    for item in switches:
        *layer, row, column = item.place
        x = MARGIN + _CELL_GAP / 2 + column * step_x + (layer[0] * layer_w if layer else 0)
        y = TOP + arcs + row * step_y
        boxes[item.key] = Area(x, y, x + box_w, y + box_h)
    width = max(box.right for box in boxes.values()) + _CELL_GAP / 2 + MARGIN
    height = max(box.bottom for box in boxes.values()) + _CELL_GAP / 2 + GAP
    return PictureLayout(boxes, (), width, height, box_w)
