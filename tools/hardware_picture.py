"""The picture of docs/validation.md: predicted packet counts beside those that tests on switches expect.

hardware_picture.py FILE...     FILE is a table of ``benchmarks/hardware.py``; draws docs/hardware-margins.svg
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import NullLocator

from benchmarks.hardware import compared
from benchmarks.hardware_records import read
from lossless.output.report.drawing import BLUE, FAINT, VERMILLION
from lossless.output.report.simulation.pictures import draw_figures

PICTURE = Path(__file__).parent.parent / "docs" / "hardware-margins.svg"
_LINEAR = 10
"""Packets up to which the axis is linear."""
_TICKS = (-10_000, -1000, -100, -10, 0, 10, 100, 1000, 10_000)


def main() -> None:
    """Draw it."""
    counts = [one for file in sys.argv[1:] for one in read(Path(file))]
    rows = [row for row in compared(counts)["rows"] if row["verdict"] != "not compared" and not row["apart"]]
    PICTURE.write_bytes(draw_figures({"margins": lambda: margins(rows)})["margins.svg"])


def margins(rows: list[dict[str, Any]]) -> Figure:
    """Return the differences in packets, a line for each count of each ASIC."""
    kinds = sorted({(row["asic"], row["what"]) for row in rows})
    figure = Figure(
        figsize=(10, 0.8 + 0.32 * len(kinds)), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05)
    )
    axes = figure.add_subplot()
    for verdict, marker, color in (("agrees", "o", BLUE), ("differs", "^", VERMILLION)):
        own = [row for row in rows if row["verdict"] == verdict]
        places = [kinds.index((row["asic"], row["what"])) for row in own]
        axes.scatter([_difference(row) for row in own], places, s=18, marker=marker, color=color, alpha=0.5, lw=0,
                     label=f"{len(own)} {_WORDS[verdict]}")  # fmt: skip
    axes.axvline(0, color=FAINT, zorder=0)
    axes.set_xscale("symlog", linthresh=_LINEAR)
    axes.set_xticks(_TICKS, [f"{tick:,}" for tick in _TICKS])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(kinds)), [f"{asic} {what}" for asic, what in kinds])
    axes.invert_yaxis()
    axes.set_xlabel(f"predicted less recorded, packets (linear up to {_LINEAR})")
    axes.grid(axis="x", color=FAINT)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


_WORDS = {
    "agrees": "within the margin of the test",
    "differs": "differ",
}


def _difference(row: dict[str, Any]) -> int:
    """Return the prediction, of several HWSKUs the nearest, less the record."""
    return int(row["predicted"]) - int(row["recorded"])


if __name__ == "__main__":
    main()
