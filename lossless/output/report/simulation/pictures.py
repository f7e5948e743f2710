"""Pictures of a run and of a tuning result as PNG and SVG files.

Of a run: occupancy against thresholds, pauses per link, sender rates. Of a tuning: Pareto front and margins.

With one version of matplotlib the same recording draws the same bytes.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.programs import install_command
from lossless.ground.documents.atomic import write_all
from lossless.output.report.drawing import FONTS, INK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from lossless.analysis.simulation.study.recording import Recording
    from lossless.analysis.simulation.tune.tune import Tuned

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": list(FONTS),
    "font.size": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "path.simplify_threshold": 0.4,
    "savefig.dpi": 130,
    "svg.fonttype": "none",
    "svg.hashsalt": "lossless",
    "text.parse_math": False,
}
"""The settings of matplotlib for all pictures: its own font, and no formula for a dollar sign in a name."""
_METADATA: dict[str, dict[str, str | None]] = {"png": {"Software": None}, "svg": {"Date": None}}
"""Metadata of figures, without values that differ between days and versions."""


def require_matplotlib() -> None:
    """Check that pictures can be drawn, before simulations run for them.

    Raises:
        LosslessError: matplotlib is not installed.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise LosslessError(f"matplotlib is not installed: {install_command('plots')} adds pictures")


def write_pictures(recording: Recording, folder: str, stem: str) -> tuple[str, ...]:
    """Draw a recording into a folder, and return the files: ``<stem>-occupancy.png`` and so on.

    All are drawn before the first is written.

    Raises:
        LosslessError: matplotlib is not installed, ``stem`` is not a plain name, or the folder cannot be written.
    """
    require_matplotlib()
    if not stem or Path(stem).name != stem or stem.startswith("."):
        raise LosslessError(f"{stem!r} is not a name that files can begin with")
    return _written(draw(recording), folder, stem)


def draw(recording: Recording) -> dict[str, bytes]:
    """Return the pictures of a recording as file contents by name: ``occupancy.svg``. matplotlib must be installed."""
    from lossless.output.report.simulation import figures

    return draw_figures(
        {
            "occupancy": lambda: figures.occupancy(recording),
            "pauses": lambda: figures.pauses(recording),
            "rates": lambda: figures.rates(recording),
        }
    )


def write_tune_pictures(tuned: Tuned, folder: str) -> tuple[str, ...]:
    """Draw the result of tuning into a folder, and return the files: ``tune-front.png`` and so on.

    Raises:
        LosslessError: matplotlib is not installed, or the folder cannot be written.
    """
    require_matplotlib()
    return _written(draw_tuned(tuned), folder, "tune")


def draw_tuned(tuned: Tuned) -> dict[str, bytes]:
    """Return the pictures of a tuning result as file contents by name: ``front.svg``. matplotlib must be installed."""
    from lossless.output.report.simulation import figures

    wanted = {"front": lambda: figures.front(tuned)}
    chosen = tuned.chosen
    if chosen is not None:
        wanted["margins"] = lambda: figures.margins(chosen)
    return draw_figures(wanted)


def _written(pictures: Mapping[str, bytes], folder: str, stem: str) -> tuple[str, ...]:
    files = {str(Path(folder, f"{stem}-{name}")): content for name, content in pictures.items()}
    write_all(files, make_folders=True, within=folder)
    return tuple(files)


def draw_figures(wanted: Mapping[str, Callable[[], Figure]]) -> dict[str, bytes]:
    """Draw each wanted figure; return its PNG and SVG by name: ``front.svg``. matplotlib must be installed."""
    from matplotlib import style

    with style.context(["default", _STYLE]), warnings.catch_warnings():
        # A name in letters that the font lacks is drawn as boxes; that is nothing to warn of.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figures = {name: _laid_out(figure()) for name, figure in wanted.items()}
        return {
            f"{name}.{kind}": _bytes(figure, kind) for name, figure in figures.items() for kind in _METADATA
        }


def _laid_out(figure: Figure) -> Figure:
    """Lay a figure out once, and round its positions: the layout engine returns other last digits at every call."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(part, 5) for part in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
    return figure


def _bytes(figure: Figure, kind: str) -> bytes:
    held = io.BytesIO()
    figure.savefig(held, format=kind, metadata=_METADATA[kind])
    return held.getvalue()
