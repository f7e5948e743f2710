"""The layout of the picture of a fabric: tiers in rows, groups side by side; or the grid of a torus."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A picture as plain data, by the names of :mod:`lossless.analysis.topology.folding`."""

_BOX = 104, 40
"""Width and height of a box, where a picture states none."""
GAP, GROUP_GAP = 14, 34
MARGIN, TOP, ROW_GAP = 24, 62, 112
FRAME_TITLE = 24
"""Room below the lowest boxes of a group for its title: links enter at the top, and fewer leave at the bottom."""
_CELL_GAP = 56
_ARC, _LOWEST_ARC, _HIGHEST_ARC = 0.16, 16, 96
_ROWS = {"super-spine": 0, "spine": 1, "leaf": 2, "switch": 2, "host": 3}


class GroupFrame(NamedTuple):
    """A box around a group, and what it is called."""

    x: float
    y: float
    w: float
    h: float
    title: str


class PictureLayout(NamedTuple):
    """The left upper corner of every item by its key, frames of groups, and the size of it all, and of one box."""

    corners: dict[str, tuple[float, float]]
    frames: tuple[GroupFrame, ...]
    width: float
    height: float
    box_w: float
    box_h: float


def places(data: Data) -> PictureLayout:
    """Return the layout of a picture, in pixels."""
    return _grid(data) if data["sides"] else _rows(data)


def _box(data: Data) -> tuple[float, float]:
    w, h = data.get("box", _BOX)
    return w, h


def arc_height(dx: float) -> float:
    """Return how far a link between two items of one row rises over them."""
    return min(max(_LOWEST_ARC, _ARC * dx), _HIGHEST_ARC)


def _rows(data: Data) -> PictureLayout:
    rows = sorted({_ROWS[item["role"]] for item in data["items"]})
    tops, height = _tops(data, rows)
    spans = list(_spans(data))
    width = max([end for _, end in spans] + [_free_width(data)]) + MARGIN
    corners: dict[str, tuple[float, float]] = {}
    for item, x in _across(data, spans, width):
        corners[item["key"]] = (x, tops[_ROWS[item["role"]]])
    for item, x in _hosts(data, corners):
        corners[item["key"]] = (x, tops[_ROWS["host"]])
    width = max([width, *(x + _box(data)[0] + MARGIN for x, _ in corners.values())])
    return PictureLayout(corners, tuple(_frames(data, spans, corners)), width, height, *_box(data))


def _tops(data: Data, rows: Sequence[int]) -> tuple[dict[int, float], float]:
    """Return where rows begin, and where the last ends; links within a row need room above it."""
    row_of = {item["key"]: _ROWS[item["role"]] for item in data["items"]}
    arched = {row_of[e["a"]] for e in data["edges"] if e["a"] != e["b"] and row_of[e["a"]] == row_of[e["b"]]}
    y, tops = float(TOP), {}
    for row in rows:
        y += _HIGHEST_ARC + GAP if row in arched else 0
        tops[row] = y
        y += _box(data)[1] + ROW_GAP
    return tops, y - ROW_GAP + GAP


def _spans(data: Data) -> Iterator[tuple[float, float]]:
    """Yield left and right of each group: as wide as its widest row."""
    x = float(MARGIN)
    for number, _ in enumerate(data["groups"]):
        w = _width(data, [item for item in data["items"] if item["group"] == number], least=1)
        yield x, x + w
        x += w + GROUP_GAP


def _free_width(data: Data) -> float:
    """Return how wide the widest row of items without a group is."""
    return MARGIN + _width(data, [item for item in data["items"] if item["group"] < 0], least=0)


def _width(data: Data, items: Iterable[Data], *, least: int) -> float:
    """Return how wide the widest row of some items is."""
    counts = Counter(item["role"] for item in items)
    return max(counts.values(), default=least) * (_box(data)[0] + GAP) - GAP


def _across(data: Data, spans: Sequence[tuple[float, float]], width: float) -> Iterator[tuple[Data, float]]:
    """Yield the switches with where they begin: centered in their group, or in the whole picture."""
    switches = (item for item in data["items"] if item["role"] != "host")
    for (_, group), items in grouped(((item["role"], item["group"]), item) for item in switches).items():
        left, right = spans[group] if group >= 0 else (MARGIN, width - MARGIN)
        step = _box(data)[0] + GAP
        x = (left + right - len(items) * step + GAP) / 2
        for number, item in enumerate(items):
            yield item, x + number * step


def _hosts(data: Data, corners: Mapping[str, tuple[float, float]]) -> Iterator[tuple[Data, float]]:
    """Yield the hosts with where they begin: below the middle of their switches, side by side."""
    edges = (edge for edge in data["edges"] if edge["tier"] == "hosts")
    above = grouped((edge["b"], corners[edge["a"]][0]) for edge in edges)
    hosts = [item for item in data["items"] if item["role"] == "host"]
    wanted = [(sum(xs) / len(xs) if (xs := above.get(item["key"])) else float(MARGIN)) for item in hosts]
    least = float(MARGIN)
    for x, number in sorted(zip(wanted, range(len(hosts)), strict=True)):
        least = max(x, least)
        yield hosts[number], least
        least += _box(data)[0] + GAP


def _frames(
    data: Data, spans: Sequence[tuple[float, float]], corners: Mapping[str, tuple[float, float]]
) -> Iterator[GroupFrame]:
    for number, (group, (left, right)) in enumerate(zip(data["groups"], spans, strict=True)):
        tops = [corners[item["key"]][1] for item in data["items"] if item["group"] == number]
        if tops:
            y, pad = min(tops) - 10, GROUP_GAP / 2 - 5
            bottom = max(tops) + _box(data)[1] + FRAME_TITLE
            yield GroupFrame(left - pad, y, right - left + 2 * pad, bottom - y, _title(data, group))


def _title(data: Data, group: Data) -> str:
    what, first, last = data["grouped"], group["first"], group["first"] + group["groups"] - 1
    return f"{what} {first}" if group["groups"] == 1 else f"{group['groups']:,} {what}s, {first} to {last}"


def _grid(data: Data) -> PictureLayout:
    """Return the switches of a torus, layer beside layer; hosts have no boxes of their own."""
    switches = [item for item in data["items"] if item["role"] != "host"]
    box_w, box_h = _box(data)
    step_x, step_y = box_w + _CELL_GAP, box_h + _CELL_GAP
    columns = max(item["place"][-1] for item in switches) + 1
    layer_w = columns * step_x + GROUP_GAP
    corners = {}
    for item in switches:
        *layer, row, column = item["place"]
        x = MARGIN + _CELL_GAP / 2 + column * step_x + (layer[0] * layer_w if layer else 0)
        corners[item["key"]] = (x, TOP + _HIGHEST_ARC / 2 + row * step_y)
    width = max(x for x, _ in corners.values()) + box_w + _CELL_GAP / 2 + MARGIN
    height = max(y for _, y in corners.values()) + box_h + _CELL_GAP / 2 + GAP
    return PictureLayout(corners, (), width, height, box_w, box_h)
