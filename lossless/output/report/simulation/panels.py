"""Parts of the figures of a run: distinguishable lines, limits, moments, units.

Figures are read on paper too: lines differ in dashes and in lightness, not in color alone; of many series only some
are lines, and a band shows the range of all. Colors and dashes are those of
:mod:`lossless.output.report.drawing`.
"""

from __future__ import annotations

from math import floor, log10
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.drawing import BAND, FAINT, INK, LIMITS, SERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from lossless.analysis.simulation.study.recording import Limit, Moment, Series
    from lossless.output.report.drawing import LineLook

    Values = Sequence[float | None]

MOST_LINES = 6
"""The most series of a kind that are all drawn as lines; of more, some are lines, and a band shows the range of all."""
_FAR, _FLAT = 0.08, 0.15
"""Parts of the height of a linear panel below which a threshold, and below which a curve, is not legible."""
_DECADES_LINEAR = 0.7
"""Height of the linear part of a logarithmic scale, which has zero in it, in decades."""
_LABEL_X, _LABEL_PT, _KEY_ROW_PT = 1.035, 7.5, 11.5
"""Left edge of the labels of limits in widths of the panel; in points: size of small letters, height of a key's row."""
LIMIT = "limit"
"""The matplotlib id of lines that have a label beside the panel."""
ROW = 0.8
"""The height of the row of a link that is always paused; the next row begins at 1."""
_LONGEST_NAME = 42
_CLOSE = 0.02
"""The part of the time axis within which two moments share one mark."""


class AxisUnit(NamedTuple):
    """A unit of an axis: how much of the base unit it is, and its name."""

    size: float
    name: str

    def of(self, values: Values) -> list[float]:
        """Return values in this unit; an unknown value interrupts its line."""
        return [float("nan") if value is None else value / self.size for value in values]

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value / self.size:.4g} {self.name}"


_TIMES = ((2e6, AxisUnit(1e6, "s")), (2e4, AxisUnit(1e3, "ms")), (0.0, AxisUnit(1.0, "us")))
_SIZES = ((2e9, AxisUnit(1e9, "GB")), (2e6, AxisUnit(1e6, "MB")), (0.0, AxisUnit(1e3, "kB")))
"""Units of sizes, each with the least number of bytes from which it is used."""
RATE = AxisUnit(1e9, "Gb/s")


def time_unit(longest_us: float) -> AxisUnit:
    """Return the unit for an axis up to a time in microseconds: us, ms or s."""
    return next(unit for least, unit in _TIMES if longest_us >= least)


def size_unit(most_bytes: float) -> AxisUnit:
    """Return the unit for an axis up to a number of bytes: ``kB``, ``MB`` or ``GB``."""
    return next(unit for least, unit in _SIZES if most_bytes >= least)


def size_text(size_bytes: float) -> str:
    """Return bytes in the unit that an axis up to them has: ``819.2 kB``."""
    return size_unit(size_bytes).text(size_bytes)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name that fits beside a picture; the middle of a longer one is cut.

    matplotlib leaves out labels with a leading underscore, so they get a space.
    """
    text = visible(name)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest // 2) + 1 :]}"
    return f" {text}" if text.startswith("_") else text


def known(values: Iterable[float | None]) -> list[float]:
    """Return the values that are not None."""
    return [value for value in values if value is not None]


def most(series: Iterable[Series]) -> float:
    """Return the largest value of several series, including peaks between sampled times; 0 without series."""
    return max((max([*known(row.values), row.peak or 0.0]) for row in series), default=0.0)


# --- drawing ---


class SeriesNames(NamedTuple):
    """The labels of series drawn out of many: that with the largest values, and that with the smallest.

    ``least`` None: the series with the smallest values is not drawn.
    """

    most: str
    least: str | None = None


def draw_series(
    axes: Axes, times: Sequence[float], series: Sequence[Series], unit: AxisUnit, words: SeriesNames
) -> None:
    """Draw each series; of more than MOST_LINES those that ``words`` label, the median, and a band of the range."""
    chosen: list[tuple[str, Values]] = [(label(row), row.values) for row in series]
    if len(series) > MOST_LINES:
        across = [known(values) for values in zip(*(row.values for row in series), strict=True)]
        low, high = [min(now, default=None) for now in across], [max(now, default=None) for now in across]
        axes.fill_between(
            times, unit.of(low), unit.of(high), color=BAND, lw=0, label=f"from least to most of {len(series)}"
        )
        chosen = [
            *_extremes(series, words),
            ("median of all", [median(now) if now else None for now in across]),
        ]
    for look, (text, values) in zip(SERIES, chosen, strict=False):
        axes.plot(times, unit.of(values), **drawn_as(look), label=text)


def drawn_as(look: LineLook) -> dict[str, Any]:
    """Return the look of a line as keyword arguments of matplotlib."""
    return {"color": look.color, "ls": (0, look.dashes) if look.dashes else "-", "lw": look.width}


def _extremes(series: Sequence[Series], words: SeriesNames) -> Iterator[tuple[str, Values]]:
    """Yield the series with the largest peak, or mean where peaks are not known; that with the least too, if named."""
    ranked = sorted(series, key=lambda row: -(mean(row) if row.peak is None else row.peak))
    yield f"{words.most}: {label(ranked[0])}", ranked[0].values
    if words.least is not None:
        yield f"{words.least}: {label(ranked[-1])}", ranked[-1].values


def label(series: Series) -> str:
    """Return the label of a series in a key, and its peak if known."""
    return short(series.name) + (f", peak {size_text(series.peak)}" if series.peak is not None else "")


def mean(series: Series) -> float:
    """Return the mean of a series over the times at which it has a value; 0 without such a time."""
    return fmean(known(series.values) or [0.0])


def draw_limits(axes: Axes, limits: Sequence[Limit], unit: AxisUnit, text: Callable[[float], str]) -> None:
    """Draw constant limits as horizontal lines, each named with its value."""
    for number, limit in enumerate(limits):
        name = f"{short(limit.name)}: {text(limit.value)}"
        look = drawn_as(LIMITS[number % len(LIMITS)])
        axes.axhline(limit.value / unit.size, **look, label=name, gid=LIMIT)


def label_limits(axes: Axes, inches: float) -> None:
    """Label the limits beside a panel, each joined with its line; labels that would overlap move apart.

    ``inches`` is the height of the panel. Its scale and its ends must be set.
    """
    lines: list[Any] = [line for line in axes.get_lines() if line.get_gid() == LIMIT]
    heights = [_height(axes, line.get_ydata()[0]) for line in lines]
    apart = 1.6 * _LABEL_PT / 72 / inches
    for line, at, label_at in zip(lines, heights, spread(heights, apart), strict=True):
        axes.annotate(
            str(line.get_label()), (1, at), (_LABEL_X, label_at), "axes fraction", "axes fraction", va="center",
            fontsize=_LABEL_PT, color=INK, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "lw": 0.7, "color": line.get_color(), "shrinkA": 1, "shrinkB": 0},
        )  # fmt: skip


def _height(axes: Axes, value: float) -> float:
    """Return the height at which a panel shows a value, as a fraction of the panel's height."""
    _, y = axes.transLimits.transform(axes.transScale.transform((1.0, value)))
    return float(y)


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Return heights moved apart so that labels do not overlap: at least ``apart``, and near the given ones.

    The order stays. Heights are between 0 and 1 if there is room for all of them.
    """
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    placed: dict[int, float] = {}
    least = 0.0
    for number, at in enumerate(order):
        room = 1.0 - apart * (len(order) - 1 - number)
        placed[at] = max(least, min(heights[at], room))
        least = placed[at] + apart
    return [placed[at] for at in range(len(heights))]


def draw_moving(axes: Axes, times: Sequence[float], series: Sequence[Series], unit: AxisUnit) -> None:
    """Draw thresholds that change over time, such as dynamic ones; at most as many as LIMITS has looks."""
    for look, row in zip(LIMITS, series, strict=False):
        axes.plot(times, unit.of(row.values), **drawn_as(look), label=short(row.name))


def scale_bytes(
    axes: Axes,
    highest: float,
    limits: Iterable[Limit],
    moving: Sequence[Series],
    reach: float,
    unit: AxisUnit,
) -> bool:
    """Set the scale of a panel so that curve and thresholds are legible; return whether it is logarithmic.

    ``highest`` is the peak of the curve in bytes. On a linear scale, moving thresholds are drawn up to ``reach``.
    """
    fixed: list[float] = [limit.value for limit in limits]
    moved = [value for row in moving for value in known(row.values)]
    top = 1.1 * max([highest, *fixed, *(min(value, reach) for value in moved)])
    positive = [value for value in (*fixed, *moved) if value > 0]
    if highest >= _FLAT * top and min(positive, default=top) >= _FAR * top:
        axes.set_ylim(0, top / unit.size)
        return False
    lowest = min([highest, *(value for value in positive if value >= 1.0)])
    _set_logarithmic(axes, 10 ** floor(log10(lowest / unit.size)), 1.5 * max([top, *moved]) / unit.size)
    return True


def _set_logarithmic(axes: Axes, linear_to: float, top: float) -> None:
    """Set a scale that is linear from zero to a power of ten, and logarithmic above."""
    axes.set_yscale("symlog", linthresh=linear_to, linscale=_DECADES_LINEAR)
    axes.set_ylim(0, top)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def head(axes: Axes, text: str) -> None:
    """Write the title of a panel above it, and the key of its lines below the title; limits have their own labels."""
    handles = [handle for handle in axes.get_legend_handles_labels()[0] if handle.get_gid() != LIMIT]
    columns = 2
    rows = -(-len(handles) // columns)
    axes.set_title(visible(text), loc="left", fontsize=8.5, pad=6 + _KEY_ROW_PT * rows)
    if handles:
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, frameon=False,
            fontsize=_LABEL_PT, handlelength=3.2, labelspacing=0.3, borderaxespad=0.2, borderpad=0.1,
        )  # fmt: skip


def draw_row(axes: Axes, times: Sequence[float], parts: Sequence[float], base: float) -> None:
    """Draw the share of each interval that a link was paused as a height above a base line."""
    corners = [(times[0], base)]
    for at in range(1, len(parts)):
        if corners[-1][1] == base + ROW * parts[at]:
            corners[-1] = (times[at], corners[-1][1])
            continue
        corners += [(times[at - 1], base + ROW * parts[at]), (times[at], base + ROW * parts[at])]
    corners.append((times[-1], base))
    axes.axhline(base, color=FAINT, lw=0.5, zorder=0)
    axes.fill([x for x, _ in corners], [y for _, y in corners], color=INK, lw=0)


def mark_moments(panels: Sequence[Axes], moments: Iterable[Moment], unit: AxisUnit, longest: float) -> None:
    """Mark the time of each first event by a vertical line through all panels, with its letter in the top one."""
    marks: list[tuple[float, str]] = []
    times = ((moment.at_us, moment) for moment in moments if moment.at_us is not None)
    for at_us, moment in sorted(times, key=lambda timed: timed[0]):
        at = at_us / unit.size
        for axes in panels:
            axes.axvline(at, color=INK, ls=(0, (1, 2)), lw=0.8)
        if marks and at - marks[-1][0] < _CLOSE * longest:
            marks[-1] = (marks[-1][0], marks[-1][1] + letter(moment))
        else:
            marks.append((at, letter(moment)))
    for at, text in marks:
        panels[0].annotate(
            text, (at, 1), xycoords=("data", "axes fraction"), xytext=(2, -9), textcoords="offset points",
            fontsize=8, fontweight="bold", bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
        )  # fmt: skip


def letter(moment: Moment) -> str:
    """Return the letter that marks a first event: the first of its name without ``first``, as P of a first PAUSE."""
    return moment.name.removeprefix("first ")[0].upper()
