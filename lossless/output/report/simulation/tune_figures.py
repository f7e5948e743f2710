"""Two figures of a tuning result: the Pareto front, and the effect of small changes of the chosen setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from lossless.ground.basics.foreign_text import visible
from lossless.output.report.drawing.style import BLUE, FAINT, GREY, INK, ORANGE, VERMILLION
from lossless.output.report.quantities import LABELS, headed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from lossless.analysis.simulation.tune.kpis import Kpis
    from lossless.analysis.simulation.tune.tune import Choice, Tuned

_FRONT_IN, _WIDTH_IN, _ROW_IN = 4.6, 10.0, 0.25
_MEASURES = (
    ("pause_share", LABELS["pause_share"]),
    ("jct_ratio", LABELS["jct_ratio"]),
    ("queue_us", headed("queue_us", "us")),
)
"""What is drawn of a small change, and what it is called."""
_NO_PAUSE = 0.005
"""Share of ports in pause that counts as none: compared hundredths round to 0 below it."""


def front(tuned: Tuned) -> Figure:
    """Return all safe settings by JCT Ratio and queueing delay, the front, the chosen one and the presets."""
    figure = Figure(figsize=(_WIDTH_IN, _FRONT_IN), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05))
    axes = figure.add_subplot()
    safe = [row.kpis for row in tuned.rows if row.kpis.verdict == "safe"]
    silent = [row for row in safe if row.pause_share < _NO_PAUSE]
    pausing = [row for row in safe if row.pause_share >= _NO_PAUSE]
    _points(axes, pausing, "^", ORANGE, 16, "safe, with PFC")
    _points(axes, silent, "o", BLUE, 16, "safe, PFC silent")
    best = [row.kpis for row in tuned.front if row.kpis.pause_share < _NO_PAUSE]
    best.sort(key=lambda row: row.jct_ratio)
    axes.plot(*_places(best), color=BLUE, lw=1.2, label="Pareto front of those with PFC silent", zorder=1)
    for name, row in _named(tuned):
        axes.plot(
            *_places([row]),
            "*" if name == "chosen" else "D",
            color=VERMILLION,
            ms=12 if name == "chosen" else 6,
        )
        axes.annotate(
            name, (row.jct_ratio, row.queue_us), xytext=(7, 5), textcoords="offset points", color=INK
        )
    axes.set(xlabel=LABELS["jct_ratio"], ylabel=headed("queue_us", "us"))
    axes.set_title(
        f"{len(tuned.rows):,} settings of class {visible(tuned.class_name)}: lower left is better", loc="left"
    )
    axes.grid(color=FAINT)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _named(tuned: Tuned) -> Iterable[tuple[str, Kpis]]:
    """Yield the named settings: the presets and the configured one as the search measured them, and the chosen one."""
    for each in tuned.standings:
        yield visible(each.name), each.searched
    if tuned.chosen is not None:
        yield "chosen", tuned.chosen.row.kpis


def _points(axes: Axes, rows: Sequence[Kpis], marker: str, color: str, size: float, label: str) -> None:
    if rows:
        axes.scatter(*_places(rows), s=size, marker=marker, color=color, alpha=0.45, lw=0, label=label)


def _places(rows: Sequence[Kpis]) -> tuple[list[float], list[float]]:
    return [row.jct_ratio for row in rows], [row.queue_us for row in rows]


def margins(chosen: Choice) -> Figure:
    """Return the measures of the chosen setting after each small change, beside those without a change."""
    near = chosen.near
    high = 1.3 + _ROW_IN * len(near)
    figure = Figure(figsize=(_WIDTH_IN, high), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05))
    panels = figure.subplots(1, len(_MEASURES), sharey=True)
    for axes, (name, label) in zip(panels, _MEASURES, strict=True):
        before: float = getattr(chosen.row.kpis, name)
        axes.axvline(before, color=GREY, ls="--", lw=1)
        for at, each in enumerate(near):
            _change(axes, at, before, getattr(each.kpis, name), safe=each.kpis.verdict == "safe")
        axes.set_xlabel(label)
        axes.margins(x=0.15)
        axes.grid(axis="x", color=FAINT)
        axes.set_axisbelow(True)
    panels[0].set_yticks(range(len(near)), [each.change for each in near])
    panels[0].invert_yaxis()
    figure.suptitle(
        "the chosen setting (dashed) and what a small change does; a cross is not safe",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    return figure


def _change(axes: Axes, at: int, before: float, after: float, *, safe: bool) -> None:
    color = BLUE if safe else VERMILLION
    axes.plot([before, after], [at, at], color=color, lw=1.6)
    axes.plot([after], [at], "o" if safe else "X", color=color, ms=6)
