"""The order of a plan as a picture: a lane for each group of devices and one for jobs, a column for each step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing import style
from lossless.output.report.drawing.shapes import markup, px
from lossless.output.report.drawing.text_width import text_width
from lossless.output.report.plan_text import in_use, shown, spoken, taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.plan import Plan, PlanStep

_COLUMN_PX, _GAP_PX, _MARGIN_PX = 214, 14, 16
_INSIDE_PX = _COLUMN_PX - 16
_MOST_LINES = 7
_PEOPLE = "by hand"


class _Lane(NamedTuple):
    """A lane: the name of its group, and the lines of text of each step."""

    name: str
    fill: str
    cells: tuple[tuple[str, ...], ...]

    @property
    def height_px(self) -> int:
        """Its height, by the box with most lines."""
        return max(1, *(len(lines) for lines in self.cells)) * style.LINE_PX + 16


def plan_picture(plan: Plan) -> str:
    """Return the picture of a plan as SVG."""
    plan = shown(plan._replace(rollback=()))
    lanes = [lane for lane in _lanes(plan) if any(lane.cells)]
    left = _MARGIN_PX + max(text_width(lane.name, style.TEXT_PX) for lane in lanes) + _GAP_PX if lanes else 0
    width = left + len(plan.steps) * (_COLUMN_PX + _GAP_PX) + _MARGIN_PX
    height = _HEAD_PX + sum(lane.height_px + _GAP_PX for lane in lanes) + _MARGIN_PX
    body = "\n".join([*_heads(plan, left), *_drawn(lanes, left, width)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {px(width)} {px(height)}" width="{px(width)}" '
        f'height="{px(height)}" font-family="{style.FONT_FAMILY}" font-size="{style.TEXT_PX}" fill="{style.INK}">\n'
        f'<rect width="100%" height="100%" fill="{style.PAPER}"/>\n{body}\n</svg>\n'
    )


_HEAD_PX = 58


def _heads(plan: Plan, left: float) -> Iterator[str]:
    for number, step in enumerate(plan.steps):
        x = left + number * (_COLUMN_PX + _GAP_PX)
        yield _text(x + 2, 24, f"step {step.number}", bold=True)
        yield _text(x + 2, 42, in_use(step, plan, short=True), color=style.GREY)


def _drawn(lanes: Sequence[_Lane], left: float, width: float) -> Iterator[str]:
    y = float(_HEAD_PX)
    for lane in lanes:
        yield _text(_MARGIN_PX, y + lane.height_px / 2 + 4, lane.name, bold=True)
        yield (
            f'<line x1="{px(left)}" x2="{px(width - _MARGIN_PX)}" y1="{px(y + lane.height_px / 2)}" '
            f'y2="{px(y + lane.height_px / 2)}" stroke="{style.FAINT}"/>'
        )
        for number, lines in enumerate(lane.cells):
            if lines:
                yield from _box(left + number * (_COLUMN_PX + _GAP_PX), y, lane, lines)
        y += lane.height_px + _GAP_PX


def _box(x: float, y: float, lane: _Lane, lines: Sequence[str]) -> Iterator[str]:
    yield (
        f'<rect x="{px(x)}" y="{px(y)}" width="{_COLUMN_PX}" height="{lane.height_px}" rx="4" fill="{lane.fill}" '
        f'stroke="{style.FRAME_LINE}"/>'
    )
    for number, line in enumerate(lines):
        yield _text(x + 8, y + 19 + number * style.LINE_PX, line)


def _text(x: float, y: float, text: str, *, bold: bool = False, color: str = style.INK) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{px(x)}" y="{px(y)}" fill="{color}"{weight}>{markup(text)}</text>'


def _lanes(plan: Plan) -> Iterator[_Lane]:
    for name in dict.fromkeys(group.name for step in plan.steps for group in step.switches):
        fill = style.ROLE_FILLS.get(name.rstrip("-0123456789"), style.FRAME_FILL)
        cells = tuple(_folded(_of_switches(step, name)) for step in plan.steps)
        yield _Lane(f"{name} ({len(plan.groups[name]):,})", fill, cells)
    hosts = {group.name: len(group.hosts) for step in plan.steps for group in step.hosts}
    for name, size in hosts.items():
        cells = tuple(_folded(_of_hosts(step, name)) for step in plan.steps)
        yield _Lane(f"{name} ({size:,})", style.ROLE_FILLS["host"], cells)
    given = {group.name: len(group.devices) for step in plan.steps for group in step.files}
    for name, size in given.items():
        cells = tuple(_folded(_of_files(step, name)) for step in plan.steps)
        yield _Lane(f"{name} ({size:,})", style.ROLE_FILLS["host"], cells)
    by_hand = tuple(_folded(_by_hand(step)) for step in plan.steps)
    yield _Lane(_PEOPLE, style.STATE_FILLS["stalled"], by_hand)


def _of_switches(step: PlanStep, name: str) -> str:
    groups = [group for group in step.switches if group.name == name]
    return "; then ".join(spoken(batch.titles) for group in groups for batch in group.batches)


def _of_hosts(step: PlanStep, name: str) -> str:
    return "; ".join(group.title for group in step.hosts if group.name == name)


def _of_files(step: PlanStep, name: str) -> str:
    return "; ".join(taken(group) for group in step.files if group.name == name)


def _by_hand(step: PlanStep) -> str:
    if step.kind != "change":
        return step.title
    drained = "drain" if any(group.drained for group in step.switches) else ""
    brought_in = {batch.how for group in step.switches for batch in group.batches}
    done = [
        "upgrade or replace" if "by hand" in brought_in else "",
        "run sessions" if "session" in brought_in else "",
    ]
    return ", ".join(filter(None, [drained, *done]))


def _folded(text: str) -> tuple[str, ...]:
    """Return a text in lines that fit a box; excess lines are cut."""
    lines = [""]
    for word in text.split():
        if _fits(f"{lines[-1]} {word}"):
            lines[-1] = f"{lines[-1]} {word}".strip()
        else:
            lines += _broken(word)
    lines = [line for line in lines if line]
    return tuple(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "..."])


def _broken(word: str) -> list[str]:
    """Return a word in lines, broken after underscores and bars where a box is too narrow for it."""
    lines = [""]
    for piece in [word] if _fits(word) else re.split(r"(?<=[_|])", word):
        if _fits(lines[-1] + piece):
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


def _fits(line: str) -> bool:
    return text_width(line.strip(), style.TEXT_PX) <= _INSIDE_PX
