"""The report of an import besides the intent: how much renders the same again, and the differences by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import visible
from lossless.output.report.columns import PLAIN, ROWS, TextStyle, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.importing.differences import Figures, ImportDifference
    from lossless.formats.sonic.changes.meaning import Cell


def figures_text(figures: Figures) -> str:
    """Return the figures in one sentence."""
    share = f"{100 * figures.fields_same / figures.fields:.1f} %" if figures.fields else "none"
    return (
        f"rendered again: {figures.fields_same:,} of {figures.fields:,} fields the same ({share}), "
        f"{figures.rows_same:,} of {figures.rows:,} rows, {figures.tables_same} of {figures.tables} tables; "
        f"{figures.added:,} fields are added"
    )


def differences_text(
    differences: Sequence[ImportDifference], reasons: Mapping[str, str], style: TextStyle = PLAIN
) -> str:
    """Return a table of differences: how many fields on how many devices, and the reason; then one of each kind."""
    kinds = grouped((difference.kind, difference) for difference in differences)
    ranked = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [("fields", "devices", "kind", "why")]
    rows += [
        (f"{len(of_kind):,}", _devices(of_kind), kind, reasons.get(kind, "")) for kind, of_kind in ranked
    ]
    shown = ranked if style.verbose else ranked[:ROWS]
    examples = [
        wrapped(f"{kind}: {visible(_shown(of_kind[0].cell))}", style, "  ") for kind, of_kind in shown
    ]
    return "\n".join([table(rows, style, "  "), "one of each kind:", *examples])


def _devices(differences: Sequence[ImportDifference]) -> str:
    return str(len({difference.device for difference in differences}))


def _shown(cell: Cell) -> str:
    """Return a field as ``QUEUE|Ethernet0|3|scheduler: a, rendered b``."""
    was = "absent" if cell.deployed is None else cell.deployed or "empty"
    now = "left out" if cell.rendered is None else f"rendered {cell.rendered}"
    return f"{cell.table}|{cell.key}|{cell.field}: {was}, {now}"
