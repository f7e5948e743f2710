"""Labels on the lines of a picture: each on its own line, clear of every other line, box, title and label.

Either all lines of a tier are labeled or none: if one label has no such place, the boxes at the lower end of the
tier give their number of links.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing.shapes import text_area
from lossless.output.report.drawing.style import SMALL_PX

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lossless.output.report.drawing.shapes import Area, Point
    from lossless.output.report.topology.layout import PictureLayout
    from lossless.output.report.topology.link_lines import LinkLine

_MOST_LABELS, _MOST_UP = 40, 3
"""Labels of one tier, and lines up from one box of those that have labels: with more, a reader finds none."""
_CLEAR, _APART = 2, 6
"""Pixels between a label and a line that is not its own, and between two labels."""


class LinkLabel(NamedTuple):
    """A text, the middle of its base line at ``at``, and the rectangle that it covers."""

    at: Point
    text: str
    area: Area


class LinkLabels(NamedTuple):
    """The labels that have a place; the tiers of counts that have none; and words that have none."""

    placed: tuple[LinkLabel, ...]
    unlabelled: frozenset[str]
    unplaced: tuple[str, ...]


def link_labels(lines: Sequence[LinkLine], places: PictureLayout, counted: Collection[str]) -> LinkLabels:
    """Return the labels of lines, without those of tiers whose numbers are ``counted`` in boxes."""
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
    """Return the label of each line, None for one without a place."""
    if len(of_tier) > _MOST_LABELS or _is_mesh(of_tier, lines):
        return [None]
    labels: list[LinkLabel | None] = []
    for line in of_tier:
        others = [
            points for other in lines if other is not line for points in (other.points, other.other_end)
        ]
        areas = [*taken, *(label.area for label in labels if label is not None)]
        labels.append(_label(line, others, areas))
        if labels[-1] is None and not line.edge.label:
            break
    return labels


def _is_mesh(of_tier: Sequence[LinkLine], lines: Sequence[LinkLine]) -> bool:
    """Return whether more lines lead up from one box than can be labeled one by one."""
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
