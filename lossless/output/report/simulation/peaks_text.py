"""Measured watermarks beside the model, as tables: one for each kind of port, a row for each peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_rate
from lossless.output.report.columns import table, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.study.measure import PeakComparison
    from lossless.output.report.text_style import TextStyle

_HEADS = ("measured (B)", "simulated (B)", "closed form (B)", "at", "since")
_PEAKS = {"shared_bytes": "PG, shared", "headroom_bytes": "PG, headroom", "queue_bytes": "queue"}
_NONE = "-"
_READ = (
    "simulated: the most of all seeds, in the traffic that was run; what was measured may come of other traffic. "
    "lossless verify checks headroom against what is needed"
)


def peaks_text(peaks: Sequence[PeakComparison], style: TextStyle) -> str:
    """Return peaks that were measured beside those of the model, one table for each kind of port."""
    tables = [
        table([(kind, *_HEADS), *map(_row, same)], style, "  ")
        for kind, same in grouped((_kind(peak), peak) for peak in peaks).items()
    ]
    return "\n".join(["measured peaks", *tables, wrapped(_READ, style, "  ", "")])


def _kind(peak: PeakComparison) -> str:
    speed = "" if peak.speed_bps is None else f", {format_rate(peak.speed_bps)}"
    return f"{peak.switch} to {peak.peer}{speed}"


def _row(peak: PeakComparison) -> tuple[str, ...]:
    form = f"{peak.closed_form} {peak.closed_form_bytes:,}" if peak.closed_form else _NONE
    return (
        _PEAKS[peak.peak],
        _number(peak.measured_bytes, "not captured"),
        _number(peak.simulated_bytes, _NONE),
        form,
        peak.at or _NONE,
        peak.since or _NONE,
    )


def _number(size_bytes: int | None, without: str) -> str:
    return without if size_bytes is None else f"{size_bytes:,}"
