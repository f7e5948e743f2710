"""Pictures of the dashboards in the guide of telemetry: ``python tools/dashboard_pictures.py [--check]``.

Each is drawn from the JSON that Grafana reads: the place, title, kind and unit of each panel. Lines
and numbers in it are sketches, as a dashboard has no data until Grafana asks for them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.formats.inputs.fabrics import intent_at  # noqa: E402
from lossless.formats.telemetry.grafana.build import dashboard_files  # noqa: E402
from lossless.interfaces.api.lint import DEFAULT_OPTIONS  # noqa: E402
from lossless.interfaces.api.render import sound_fabric  # noqa: E402
from lossless.output.report import drawing as style  # noqa: E402
from lossless.output.report.drawing import Area, markup, px, shortened, text_width  # noqa: E402  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Json = Mapping[str, Any]

EXAMPLE = ROOT / "examples" / "roce-256" / "fabric.yaml"
GUIDES = ROOT / "docs" / "guides"
COLUMN_PX, LINE_PX, MARGIN_PX, GAP_PX = 39, 12, 16, 4
"""Width of a column of Grafana's grid and height of one of its lines, in the picture."""
HEAD_PX = 66
WIDTH_PX = 24 * COLUMN_PX + 2 * MARGIN_PX
UNITS = {
    "bool_yes_no": "yes or no",
    "bps": "bit/s",
    "bytes": "bytes",
    "cps": "events/s",
    "none": "",
    "percentunit": "share",
    "pps": "packets/s",
    "s": "seconds",
    "short": "count",
    "string": "",
}
KINDS = {
    "timeseries": "lines",
    "stat": "number",
    "state-timeline": "states over time",
    "table": "table",
    "text": "text",
}
_CURVE = (0.55, 0.5, 0.62, 0.35, 0.4, 0.7, 0.66, 0.3, 0.42, 0.38, 0.6, 0.5)


def pictures() -> dict[Path, str]:
    """Return the pictures of the dashboards of the example, by path."""
    _, fabric = sound_fabric(intent_at(EXAMPLE), DEFAULT_OPTIONS)
    assert fabric is not None
    files = dashboard_files(fabric)
    return {
        GUIDES / f"telemetry-{Path(name).stem.removeprefix('lossless-')}.svg": picture(json.loads(text))
        for name, text in files.items()
        if name.endswith(".json")
    }


def picture(board: Json) -> str:
    """Return the layout of a dashboard as SVG."""
    lines = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    height = HEAD_PX + lines * LINE_PX + MARGIN_PX
    title = markup(f"Layout of the dashboard {board['title']}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{height}" '
            f'viewBox="0 0 {WIDTH_PX} {height}" role="img" font-family="{style.FONT_FAMILY}" '
            f'font-size="{style.TEXT_PX}" fill="{style.INK}">',
            f"  <title>{title}</title>",
            f'  <rect width="{WIDTH_PX}" height="{height}" fill="{style.PAPER}"/>',
            *_head(board),
            *(line for panel in board["panels"] for line in _panel(panel)),
            "</svg>\n",
        ]
    )


def _head(board: Json) -> Iterator[str]:
    yield _text(MARGIN_PX, 26, board["title"], size=style.TITLE_PX, bold=True)
    left = float(MARGIN_PX)
    shown = (variable for variable in board["templating"]["list"] if not variable.get("hide"))
    for variable in shown:
        chosen = variable.get("current", {}).get("value", [])
        value = "all" if chosen == ["$__all"] else ", ".join(chosen)
        words = f"{variable['label']}: {value}" if value else variable["label"]
        width = text_width(words, style.TEXT_PX) + 14
        yield _box(Area(left, 38, left + width, 58), style.FRAME_FILL)
        yield _text(left + 7, 52, words)
        left += width + 8


def _panel(panel: Json) -> Iterator[str]:
    place = panel["gridPos"]
    area = Area(
        MARGIN_PX + place["x"] * COLUMN_PX,
        HEAD_PX + place["y"] * LINE_PX,
        MARGIN_PX + (place["x"] + place["w"]) * COLUMN_PX - GAP_PX,
        HEAD_PX + (place["y"] + place["h"]) * LINE_PX - GAP_PX,
    )
    if panel["type"] == "row":
        yield _text(area.left, area.bottom - 1, panel["title"], bold=True)
        return
    yield _box(area, style.FRAME_FILL)
    yield from _SKETCHES[panel["type"]](area, panel)
    room = area.right - area.left - 14
    title = shortened(panel["title"], style.TEXT_PX, room, bold=True)
    yield _text(area.left + 7, area.top + 14, title, bold=True)
    unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]] if panel.get("targets") else ""
    said = shortened(", ".join(filter(None, (KINDS[panel["type"]], unit))), style.SMALL_PX, room)
    yield _text(area.left + 7, area.top + 27, said, size=style.SMALL_PX, color=style.GREY)


def _lines(area: Area, panel: Json) -> Iterator[str]:
    """Yield a curve for a query, at most three, and the limits of the intent as a dashed line."""
    top, bottom = area.top + 32, area.bottom - 6
    looks = style.SERIES[1:4]
    for number, look in enumerate(looks[: len(panel["targets"])]):
        turned = _CURVE[3 * number :] + _CURVE[: 3 * number]
        step = (area.right - area.left - 14) / (len(turned) - 1)
        points = " ".join(
            f"{px(area.left + 7 + step * at)},{px(bottom - (bottom - top) * share)}"
            for at, share in enumerate(turned)
        )
        yield f'  <polyline points="{points}" fill="none" stroke="{look.color}" stroke-opacity="0.7"/>'
    if panel["fieldConfig"]["defaults"].get("custom", {}).get("thresholdsStyle", {}).get("mode") == "dashed":
        yield (
            f'  <line x1="{px(area.left + 7)}" x2="{px(area.right - 7)}" y1="{px(top + 2)}" y2="{px(top + 2)}" '
            f'stroke="{style.VERMILLION}" stroke-dasharray="6 4"/>'
        )


def _number(area: Area, panel: Json) -> Iterator[str]:  # noqa: ARG001
    yield _text(area.right - 22, area.bottom - 7, "n", size=15, color=style.GREEN, bold=True)


def _states(area: Area, panel: Json) -> Iterator[str]:  # noqa: ARG001
    left, width = area.left + 7, area.right - area.left - 14
    for line in range(2):
        top = area.top + 38 + 22 * line
        bad = 0.45 + 0.2 * line
        for start, end, fill in (
            (0, bad, style.GREEN),
            (bad, 0.75, style.VERMILLION),
            (0.75, 1, style.GREEN),
        ):
            yield (
                f'  <rect x="{px(left + width * start)}" y="{px(top)}" width="{px(width * (end - start))}" '
                f'height="14" fill="{fill}" fill-opacity="0.55"/>'
            )


def _table(area: Area, panel: Json) -> Iterator[str]:  # noqa: ARG001
    for line in range(4):
        y = area.top + 36 + 13 * line
        ends = f'x1="{px(area.left + 7)}" x2="{px(area.right - 7)}" y1="{px(y)}" y2="{px(y)}"'
        yield f'  <line {ends} stroke="{style.GREY}"/>'


def _words(area: Area, panel: Json) -> Iterator[str]:
    """Yield the beginning of each line of a text, as far as it fits."""
    for number, line in enumerate(panel["options"]["content"].splitlines()):
        y = area.top + 40 + 11 * number
        if y < area.bottom - 3:
            text = shortened(line.replace("**", "").replace("`", ""), 9, area.right - area.left - 14)
            yield _text(area.left + 7, y, text, size=9)


_SKETCHES: dict[str, Callable[[Area, Json], Iterator[str]]] = {
    "timeseries": _lines,
    "stat": _number,
    "state-timeline": _states,
    "table": _table,
    "text": _words,
}


def _box(area: Area, fill: str) -> str:
    return (
        f'  <rect x="{px(area.left)}" y="{px(area.top)}" width="{px(area.right - area.left)}" '
        f'height="{px(area.bottom - area.top)}" rx="3" fill="{fill}" stroke="{style.FRAME_LINE}"/>'
    )


def _text(
    x: float, y: float, text: str, *, size: int = style.TEXT_PX, color: str = style.INK, bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'  <text x="{px(x)}" y="{px(y)}" font-size="{size}" fill="{color}"{weight}>{markup(text)}</text>'


def main(arguments: Sequence[str]) -> int:
    """Write them, or with ``--check`` report what is stale."""
    return write_or_check(pictures(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
