"""Figures of one run and of a tuning result.

Of a run: occupancy against thresholds, pauses per link, sender rates. Of a tuning: the Pareto front, and the effect
of small changes of the chosen setting.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, NullFormatter

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing import BLUE, FAINT, GREY, INK, ORANGE, VERMILLION
from lossless.output.report.quantities import LABELS, headed, over_time
from lossless.output.report.simulation import panels as parts
from lossless.output.report.simulation.panels import SeriesNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from lossless.analysis.simulation.study.recording import Limit, Recording, Series
    from lossless.analysis.simulation.tune.choose import Choice
    from lossless.analysis.simulation.tune.kpis import Kpis
    from lossless.analysis.simulation.tune.tune import Tuned


_WIDTH_IN, _OCCUPANCY_IN, _RATES_IN = 10.0, 2.3, 2.5
"""Width of a figure, and heights of its largest panels."""
_TITLE_COLUMNS, _EDGE_IN = 110, 0.25
"""Characters in a line of the title, and space at the edges: a viewer of SVG may write letters a little wider."""
_ROW_IN = 0.24
_MEANS = 80
"""Number of intervals into which a run is divided to average deliveries: shorter ones would show single frames."""
_LOG_FROM = 20
"""The ratio of largest to smallest allowed rate above which their scale is logarithmic."""


class _Panel(NamedTuple):
    """A panel of occupancy: its title, its height, and the labels of the drawn series among many.

    On a linear scale, a threshold that moves is drawn up to ``reach`` times the peak.
    """

    title: str
    height: float
    words: SeriesNames
    reach: float


_PANELS = {
    "egress": _Panel(f"{over_time('egress_bytes')} of {{name}}", 1.0, SeriesNames("peak"), 2.0),
    "group": _Panel(
        f"{over_time('group_bytes')} of the groups that feed it: {{many}}", 1.0, SeriesNames("peak"), 1.6
    ),
    "headroom": _Panel(f"{LABELS['headroom_bytes']} used by these groups", 0.6, SeriesNames("most"), 4.0),
    "memory": _Panel("memory in use in {name}", 0.6, SeriesNames("most"), 2.0),
}
"""The panels of the figure of occupancy, from top to bottom."""
_RATES = SeriesNames("fastest", "slowest")


def occupancy(recording: Recording) -> Figure:
    """Return the figure of the occupancy of queue, PGs, headroom and memory, if used, each against its limits."""
    shown = {kind: panel for kind, panel in _PANELS.items() if parts.most(_of(recording, kind)) > 0}
    figure, panels = _canvas(
        recording, "Occupancy", [panel.height for panel in shown.values()], _OCCUPANCY_IN
    )
    for (kind, panel), axes in zip(shown.items(), panels, strict=True):
        series = _of(recording, kind)
        logarithmic = _draw_bytes(axes, recording, series, panel)
        many = _many(len(series), recording.counts["groups"])
        unused = (
            f"; no {LABELS['headroom_bytes']} is used" if kind == "group" and "headroom" not in shown else ""
        )
        scale = "; logarithmic scale" if logarithmic else ""
        parts.head(axes, panel.title.format(name=series[0].name, many=many) + unused + scale)
    return figure


def pauses(recording: Recording) -> Figure:
    """Return the figure of pauses over time: a row for each recorded link that is paused, with its share of time."""
    rows = [row for row in _of(recording, "paused") if row.pauses]
    figure, (axes,) = _canvas(recording, "Pauses", [max(0.6, _ROW_IN * (len(rows) + 1))], 1.0)
    for base, row in enumerate(reversed(rows)):
        times, _ = _times(recording)
        every_us = recording.times_us[1] - recording.times_us[0]
        paused = parts.known(row.values)
        parts.draw_row(axes, times, [min(1.0, value / every_us) for value in paused], base)
        paused_us = sum(paused)
        name = LABELS["pauses"]
        many = f"{row.pauses:,} {name if row.pauses != 1 else name.removesuffix('s')}"
        text = f"{many}, {parts.time_unit(paused_us).text(paused_us)}"
        where = axes.get_yaxis_transform()
        axes.text(1.008, base + parts.ROW / 2, text, transform=where, fontsize=7.5, va="center")
    middles = [base + parts.ROW / 2 for base in range(len(rows))]
    axes.set_yticks(middles, [parts.short(row.name) for row in reversed(rows)], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.3, len(rows) + 0.7)
    axes.grid(axis="y", visible=False)
    parts.head(axes, _how_many_paused(recording, len(rows)))
    return figure


def rates(recording: Recording) -> Figure:
    """Return the figure of the rates of the recorded flows: those that DCQCN allows, if it runs, and of delivery."""
    shown = {kind: series for kind in ("rate", "delivered") if (series := _of(recording, kind))}
    figure, panels = _canvas(recording, "Sender rates", [1.0] * len(shown), _RATES_IN)
    times, unit = _times(recording)
    for (kind, series), axes in zip(shown.items(), panels, strict=True):
        there_are = recording.counts["flows"]
        flows = f"{_many(len(series), there_are)} flow{'s' if there_are > 1 else ''}"
        if kind == "rate":
            _draw_rates(axes, times, series, _limits(recording, kind))
            parts.head(axes, f"what DCQCN lets senders send, as of their last frame: {flows}")
        else:
            centers, means, each = _means(times, series)
            _draw_rates(axes, centers, means, _limits(recording, kind))
            parts.head(
                axes, f"{LABELS['goodput_bps']} of each flow, means over {each:.3g} {unit.name}: {flows}"
            )
    return figure


# --- panels ---


def _canvas(
    recording: Recording, what: str, heights: Sequence[float], inches: float
) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels one below the other with a common time axis, on which first events are marked."""
    title = textwrap.wrap(f"{what}: {visible(recording.title)}; seed {recording.seed}", _TITLE_COLUMNS)
    high = inches * sum(heights) + 0.6 * len(heights) + 0.6 + 0.2 * len(title)
    figure = Figure(figsize=(_WIDTH_IN, high), layout=ConstrainedLayoutEngine(w_pad=_EDGE_IN, h_pad=0.04))
    figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=10, fontweight="bold")
    grid = figure.subplots(len(heights), sharex=True, squeeze=False, height_ratios=heights)
    panels: list[Axes] = list(grid[:, 0])
    for axes in panels:
        axes.grid(color=FAINT, lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    times, unit = _times(recording)
    panels[-1].set_xlim(times[0], times[-1] or 1.0)
    panels[-1].set_xlabel(f"time since the start ({unit.name})\n{'; '.join(_moments(recording))}")
    figure.align_ylabels(panels)
    parts.mark_moments(panels, recording.moments, unit, times[-1])
    return figure, panels


def _moments(recording: Recording) -> Iterator[str]:
    """Yield the time of each first event, with the letter that marks it, and ``no drop`` where no frame was dropped."""
    for moment in recording.moments:
        if moment.at_us is not None:
            at = parts.time_unit(moment.at_us).text(moment.at_us)
            yield f"{parts.letter(moment)}: {moment.name} at {at}"
        elif moment.name == "first drop":
            yield "no drop"


def _draw_bytes(axes: Axes, recording: Recording, series: Sequence[Series], panel: _Panel) -> bool:
    """Draw the series and thresholds of one panel of occupancy; return whether the scale is logarithmic."""
    kind = series[0].kind
    moving = _of(recording, "threshold") if kind == "group" else []
    limits, highest = _limits(recording, kind), parts.most(series)
    unit = parts.size_unit(highest)
    times, _ = _times(recording)
    parts.draw_series(axes, times, series, unit, panel.words)
    parts.draw_moving(axes, times, moving, unit)
    parts.draw_limits(axes, limits, unit, parts.size_text)
    logarithmic = parts.scale_bytes(axes, highest, limits, moving, panel.reach * highest, unit)
    axes.set_ylabel(f"{unit.name} (log)" if logarithmic else unit.name)
    parts.label_limits(axes, _OCCUPANCY_IN * panel.height)
    return logarithmic


def _draw_rates(
    axes: Axes, times: Sequence[float], series: Sequence[Series], limits: Sequence[Limit]
) -> None:
    seen = [rate for flow in series for rate in parts.known(flow.values) if rate > 0]
    parts.draw_series(axes, times, series, parts.RATE, _RATES)
    parts.draw_limits(axes, limits, parts.RATE, parts.RATE.text)
    axes.set_ylabel(parts.RATE.name)
    if series[0].kind == "rate" and seen and max(seen) > _LOG_FROM * min(seen):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    parts.label_limits(axes, _RATES_IN)


def _how_many_paused(recording: Recording, shown: int) -> str:
    paused, links = recording.counts["paused"], recording.counts["links"]
    if not paused:
        return f"none of {links} links that carry traffic is paused"
    rest = f", these {shown} for longest" if paused > shown else ""
    return f"{paused} of {links} links that carry traffic are paused at times{rest}; height: {LABELS['time_in_pause']}"


# --- recordings ---


def _of(recording: Recording, kind: str) -> list[Series]:
    return [series for series in recording.series if series.kind == kind]


def _limits(recording: Recording, kind: str) -> list[Limit]:
    return [limit for limit in recording.limits if limit.kind == kind]


def _times(recording: Recording) -> tuple[list[float], parts.AxisUnit]:
    unit = parts.time_unit(recording.times_us[-1])
    return unit.of(recording.times_us), unit


def _many(shown: int, there_are: int) -> str:
    return f"{shown} of {there_are}" if shown < there_are else f"{there_are}"


def _means(times: Sequence[float], series: Sequence[Series]) -> tuple[list[float], list[Series], float]:
    """Return series averaged over wider intervals: the middles of these, the averaged series, and the width of one."""
    wide = max(1, len(times) // _MEANS)
    starts = range(0, len(times) - wide, wide)
    centers = [(times[at] + times[at + wide]) / 2 for at in starts]
    means = [
        flow._replace(values=tuple(_mean(flow.values[at + 1 : at + wide + 1]) for at in starts))
        for flow in series
    ]
    return centers, means, times[wide] - times[0]


def _mean(values: parts.Values) -> float | None:
    numbers = parts.known(values)
    return sum(numbers) / len(numbers) if numbers else None


_FRONT_IN, _TUNE_WIDTH_IN, _TUNE_ROW_IN = 4.6, 10.0, 0.25
_MEASURES = (
    ("pause_share", LABELS["pause_share"]),
    ("jct_ratio", LABELS["jct_ratio"]),
    ("queue_us", headed("queue_us", "us")),
)
"""The measures that are drawn for a small change of a setting, each with its label."""
_NO_PAUSE = 0.005
"""Share of ports in pause that counts as none: compared hundredths round to 0 below it."""


def front(tuned: Tuned) -> Figure:
    """Return the figure of safe settings by JCT Ratio and queueing delay.

    It has the Pareto front of those in which PFC is silent, the chosen setting, and the presets, safe or not.
    """
    figure = Figure(
        figsize=(_TUNE_WIDTH_IN, _FRONT_IN), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05)
    )
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
    """Return the figure of the chosen setting's measures after each small change, beside those without a change."""
    near = chosen.near
    high = 1.3 + _TUNE_ROW_IN * len(near)
    figure = Figure(figsize=(_TUNE_WIDTH_IN, high), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05))
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
