"""What figures of a run are made of: lines that can be told apart, limits, moments, units.

Figures are read on paper too: lines differ in dashes and in lightness, not in color alone, and where there are more
than can be told apart most of them are a band from the least to the most.
"""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    Data = Mapping[str, Any]
    """A recording, or a part of one, as plain data, by the names of ``simulation.study.recording``."""
    Values = Sequence[float | None]

MOST_LINES = 6
"""Series of a kind that are lines of their own; of more, some are lines and all a band."""
_LINES: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "ls": "-", "lw": 1.3},
    {"color": "#0072b2", "ls": (0, (1.2, 1.2)), "lw": 1.6},
    {"color": "#d55e00", "ls": (0, (3, 1.2)), "lw": 1.3},
    {"color": "#8c8c8c", "ls": "-", "lw": 1.6},
    {"color": "#7a3d9a", "ls": (0, (6, 1.5, 1.2, 1.5)), "lw": 1.2},
    {"color": "#5fb894", "ls": (0, (5, 1)), "lw": 1.6},
)
_LIMITS: tuple[dict[str, Any], ...] = (
    {"color": "#b00020", "ls": (0, (9, 3)), "lw": 0.9},
    {"color": "#b00020", "ls": (0, (9, 3, 1.5, 3)), "lw": 0.9},
    {"color": "#b00020", "ls": (0, (1, 3)), "lw": 1.3},
)
_BAND: dict[str, Any] = {"color": "#dcdcdc", "lw": 0}
ROW = 0.8
"""Height of a row that is paused all the while; the next begins at 1."""
_LONGEST_NAME = 42
_CLOSE = 0.02
"""Part of a picture's width within which two moments are marked by one text."""


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
"""From how much on a unit is used."""
RATE = AxisUnit(1e9, "Gb/s")


def time_unit(longest_us: float) -> AxisUnit:
    """Return the unit that suits a time in microseconds."""
    return next(unit for least, unit in _TIMES if longest_us >= least)


def size_unit(most_bytes: float) -> AxisUnit:
    """Return the unit that suits a number of bytes."""
    return next(unit for least, unit in _SIZES if most_bytes >= least)


def size_text(size_bytes: float) -> str:
    """Return bytes in the unit that suits them: ``819.2 kB``."""
    return size_unit(size_bytes).text(size_bytes)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name that fits beside a picture, its middle left out where it is too long.

    matplotlib leaves out of a key what begins with an underscore.
    """
    text = visible(name)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest // 2) + 1 :]}"
    return f" {text}" if text.startswith("_") else text


def known(values: Iterable[float | None]) -> list[float]:
    """Return the values that there are."""
    return [value for value in values if value is not None]


def most(series: Iterable[Data]) -> float:
    """Return the largest value of several series, their peaks between the times included."""
    return max((max([*known(row["values"]), row["peak"] or 0.0]) for row in series), default=0.0)


# --- drawing ---


class SeriesNames(NamedTuple):
    """What the series of a panel are called that are drawn where there are many: that with the most, the least."""

    most: str
    least: str | None = None


def draw_series(
    axes: Axes, times: Sequence[float], series: Sequence[Data], unit: AxisUnit, words: SeriesNames
) -> None:
    """Draw each series; of many the one with the most, the middle of all, and a band from the least to the most."""
    chosen = [(label(row), row["values"]) for row in series]
    if len(series) > MOST_LINES:
        across = [known(values) for values in zip(*(row["values"] for row in series), strict=True)]
        low, high = [min(now, default=None) for now in across], [max(now, default=None) for now in across]
        axes.fill_between(
            times, unit.of(low), unit.of(high), **_BAND, label=f"from least to most of {len(series)}"
        )
        chosen = [
            *_extremes(series, words),
            ("median of all", [median(now) if now else None for now in across]),
        ]
    for style, (text, values) in zip(_LINES, chosen, strict=False):
        axes.plot(times, unit.of(values), **style, label=text)


def _extremes(series: Sequence[Data], words: SeriesNames) -> Iterator[tuple[str, Values]]:
    """Yield the series with the largest peak, or mean where peaks are not known, and the one with the least."""
    ranked = sorted(series, key=lambda row: -(mean(row) if row["peak"] is None else row["peak"]))
    yield f"{words.most}: {label(ranked[0])}", ranked[0]["values"]
    if words.least is not None:
        yield f"{words.least}: {label(ranked[-1])}", ranked[-1]["values"]


def label(series: Data) -> str:
    """Return what a series is called in a key, and its peak where that is known."""
    return short(series["name"]) + (
        f"\npeak {size_text(series['peak'])}" if series["peak"] is not None else ""
    )


def mean(series: Data) -> float:
    """Return the mean of a series over the times at which it has a value."""
    return fmean(known(series["values"]) or [0.0])


def draw_limits(
    axes: Axes, limits: Sequence[Data], unit: AxisUnit, reach: float, text: Callable[[float], str]
) -> None:
    """Draw the lines that do not move, each with its name and value in the key; beyond reach only there."""
    for number, limit in enumerate(limits):
        name = f"{short(limit['name'])}: {text(limit['value'])}"
        if limit["value"] <= reach:
            axes.axhline(limit["value"] / unit.size, **_LIMITS[number % len(_LIMITS)], label=name)
        else:
            axes.plot([], [], " ", label=f"{name} (beyond)")


def draw_moving(axes: Axes, times: Sequence[float], series: Sequence[Data], unit: AxisUnit) -> None:
    """Draw thresholds that move."""
    for style, row in zip(_LIMITS, series, strict=False):
        axes.plot(times, unit.of(row["values"]), **style, label=short(row["name"]))


def top(highest: float, limits: Iterable[Data], moving: Iterable[Data], reach: float) -> float:
    """Return how high a panel must be: over all that was held, the limits within reach, and as much of moving ones."""
    drawn: list[float] = [limit["value"] for limit in limits if limit["value"] <= reach]
    return 1.1 * max([highest, *drawn, *(min(most([row]), reach) for row in moving)])


def head(axes: Axes, text: str) -> None:
    """Say above a panel what it shows."""
    axes.set_title(visible(text), loc="left", fontsize=8.5)


def key(axes: Axes) -> None:
    """Explain the lines of a panel beside it."""
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.005, 1.03),
        frameon=False,
        fontsize=7.5,
        handlelength=3.2,
        labelspacing=0.45,
    )


def draw_row(axes: Axes, times: Sequence[float], parts: Sequence[float], base: float) -> None:
    """Draw parts of the time, each from the time before to its own, as heights above a base line."""
    corners = [(times[0], base)]
    for at in range(1, len(parts)):
        if corners[-1][1] == base + ROW * parts[at]:
            corners[-1] = (times[at], corners[-1][1])
            continue
        corners += [(times[at - 1], base + ROW * parts[at]), (times[at], base + ROW * parts[at])]
    corners.append((times[-1], base))
    axes.axhline(base, color="#b0b0b0", lw=0.5, zorder=0)
    axes.fill([x for x, _ in corners], [y for _, y in corners], color="#1a1a1a", lw=0)


def mark_moments(panels: Sequence[Axes], moments: Iterable[Data], unit: AxisUnit, longest: float) -> None:
    """Mark with a line through all panels when something first happened, with its first letter above it."""
    marks: list[tuple[float, str]] = []
    for moment in sorted(
        (moment for moment in moments if moment["at_us"] is not None), key=lambda moment: moment["at_us"]
    ):
        at = moment["at_us"] / unit.size
        for axes in panels:
            axes.axvline(at, color="#5a5a5a", ls=(0, (1, 2)), lw=0.8)
        if marks and at - marks[-1][0] < _CLOSE * longest:
            marks[-1] = (marks[-1][0], marks[-1][1] + letter(moment))
        else:
            marks.append((at, letter(moment)))
    for at, text in marks:
        panels[0].annotate(
            text, (at, 1), xycoords=("data", "axes fraction"), xytext=(2, -9), textcoords="offset points",
            fontsize=8, fontweight="bold", bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
        )  # fmt: skip


def letter(moment: Data) -> str:
    """Return the letter that marks a moment: that of its last word, P of a first PAUSE."""
    return str(moment["name"]).removeprefix("first ")[0].upper()
