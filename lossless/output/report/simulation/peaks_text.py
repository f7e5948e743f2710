"""What switches measured beside the model, as a table: one row for each peak at each kind of port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.units import format_rate
from lossless.output.report.columns import table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.output.report.text_style import TextStyle

    Data = Mapping[str, Any]

_HEADS = ("measured peaks", "of", "measured (B)", "at", "since", "simulated (B)", "closed form (B)")
_PEAKS = {"shared_bytes": "PG, shared", "headroom_bytes": "PG, headroom", "queue_bytes": "queue"}
_NONE = "-"
_READ = (
    "simulated: the most of all seeds, in the traffic that was run; what was measured may come of other traffic. "
    "lossless verify checks headroom against what is needed"
)


def peaks_text(peaks: Sequence[Data], style: TextStyle) -> str:
    """Return peaks that were measured beside those of the model."""
    rows = [_HEADS, *(_row(peak, shown=at % len(_PEAKS) == 0) for at, peak in enumerate(peaks))]
    return "\n".join([table(rows, style, whole=True), wrapped(_READ, style, hanging="")])


def _row(peak: Data, *, shown: bool) -> tuple[str, ...]:
    """Return one row; the kind of port is ``shown`` in the first of its rows."""
    speed = "" if peak["speed_bps"] is None else f", {format_rate(peak['speed_bps'])}"
    form = f"{peak['closed_form']} {peak['closed_form_bytes']:,}" if peak["closed_form"] else _NONE
    return (
        f"{peak['switch']} to {peak['peer']}{speed}" if shown else "",
        _PEAKS[peak["peak"]],
        _number(peak["measured_bytes"], "not captured"),
        peak["at"] or _NONE,
        peak["since"] or _NONE,
        _number(peak["simulated_bytes"], _NONE),
        form,
    )


def _number(size_bytes: int | None, without: str) -> str:
    return without if size_bytes is None else f"{size_bytes:,}"
