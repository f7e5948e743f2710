"""Pictures of one run: occupancy against thresholds, pauses per link, sender rates; as PNG and SVG.

The same recording draws the same bytes.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Data = Mapping[str, Any]
    """A recording as plain data, by the names of :mod:`lossless.simulation.recording`."""

MISSING = "matplotlib is not installed: pip install 'lossless[plots]' adds pictures"
_SIZE = (9.0, 4.8)
_MB = 1e6
_STYLES = ("-", "--", "-.", ":")
_TIMES = ((1e6, 1e6, "s"), (1e4, 1e3, "ms"), (0.0, 1.0, "us"))
"""From so many microseconds on: how many of them a unit has, and its name."""


def require_matplotlib() -> None:
    """See to it that pictures can be drawn, before anything is run for them.

    Raises:
        LosslessError: matplotlib is not installed.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise LosslessError(MISSING)


def write_pictures(recording: Data, folder: str, stem: str) -> tuple[str, ...]:
    """Draw a recording into a folder, and return the files: ``<stem>-occupancy.png`` and so on.

    Raises:
        LosslessError: matplotlib is not installed, or the folder cannot be written.
    """
    require_matplotlib()
    return tuple(_files(recording, Path(folder), stem))


def _files(recording: Data, folder: Path, stem: str) -> Iterator[str]:
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "lossless", "font.size": 9, "savefig.dpi": 130}):
        for name, draw in _PICTURES.items():
            figure = draw(recording)
            if figure is None:
                continue
            for kind in ("png", "svg"):
                yield _save(figure, folder, f"{stem}-{name}.{kind}", kind)


def _save(figure: Figure, folder: Path, name: str, kind: str) -> str:
    """Write to a temporary neighbour, then rename: a picture is there whole or not at all."""
    path, part = folder / name, folder / f".{name}.part"
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(part, format=kind, metadata=metadata)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise LosslessError(f"{path} cannot be written: {error.strerror}") from error
    return str(path)


def occupancy(recording: Data) -> Figure | None:
    """Return what queue, groups and memory held over time, against the thresholds."""
    figure, axes, scale = _canvas(recording, "MB")
    times = _times(recording, scale)
    for series in _of(recording, "egress", "memory"):
        style = "-" if series["kind"] == "egress" else "--"
        axes.plot(times, _scaled(series, _MB), style, color="black", lw=1.4, label=series["name"])
    groups = list(_of(recording, "group"))
    for number, series in enumerate(groups):
        axes.plot(times, _scaled(series, _MB), _STYLES[number % 4], lw=0.9, label=series["name"])
    for series in _of(recording, "threshold"):
        axes.plot(times, _scaled(series, _MB), color="tab:red", lw=1.2, label=series["name"])
    for number, limit in enumerate(recording["limits"]):
        axes.axhline(
            limit["bytes"] / _MB, color="tab:green", ls=_STYLES[number % 4], lw=1, label=limit["name"]
        )
    return _finished(figure, axes, recording, "Occupancy")


def pauses(recording: Data) -> Figure | None:
    """Return which transmitters were paused when, a row each; None where none was."""
    rows = list(_of(recording, "paused"))
    if not rows:
        return None
    figure, axes, scale = _canvas(recording, "transmitter")
    times = _times(recording, scale)
    image = axes.imshow(
        [row["values"] for row in rows],
        aspect="auto", interpolation="nearest", cmap="Greys", vmin=0, vmax=1,
        extent=(times[0], times[-1], len(rows) - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=7)
    figure.colorbar(image, ax=axes, label="part of the time paused")
    return _finished(figure, axes, recording, "Pauses", legend=False)


def rates(recording: Data) -> Figure | None:
    """Return what DCQCN let senders send over time; None where none runs."""
    flows = list(_of(recording, "rate"))
    if not flows:
        return None
    figure, axes, scale = _canvas(recording, "Gb/s")
    times = _times(recording, scale)
    for number, series in enumerate(flows):
        axes.plot(times, _scaled(series, 1e9), _STYLES[number % 4], lw=1, label=series["name"])
    axes.set_yscale("log")
    return _finished(figure, axes, recording, "Sender rates")


_PICTURES: dict[str, Callable[[Data], Figure | None]] = {
    "occupancy": occupancy,
    "pauses": pauses,
    "rates": rates,
}


def _canvas(recording: Data, unit: str) -> tuple[Figure, Axes, float]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    last = recording["times_us"][-1] if recording["times_us"] else 0.0
    _, scale, name = next(entry for entry in _TIMES if last >= entry[0])
    axes.set_xlabel(name)
    axes.set_ylabel(unit)
    return figure, axes, scale


def _times(recording: Data, scale: float) -> list[float]:
    return [time / scale for time in recording["times_us"]]


def _of(recording: Data, *kinds: str) -> Iterator[Data]:
    return (series for series in recording["series"] if series["kind"] in kinds)


def _scaled(series: Data, unit: float) -> Sequence[float]:
    return [value / unit for value in series["values"]]


def _finished(figure: Figure, axes: Axes, recording: Data, what: str, *, legend: bool = True) -> Figure:
    axes.set_title(f"{what}: {recording['title']}; seed {recording['seed']}", fontsize=9, loc="left")
    if legend:
        if axes.get_yscale() == "linear":
            axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper", fontsize=7, frameon=False)
    return figure
