"""Findings that a change removes and leaves, and simulations before and after: the part below the added findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_bytes
from lossless.output.report.columns import table
from lossless.output.report.lint.locations import shown_file
from lossless.output.report.lint.text import findings_text
from lossless.output.report.quantities import LABELS
from lossless.output.report.text_style import TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.report import Change, MarginChange, RemainingFinding


MARGINS = (
    "fabric",
    LABELS["verdict"],
    "seeds with drops",
    LABELS["headroom_margin_bytes"],
    LABELS["longest_pause_us"],
    "traffic",
)
"""What is said of runs, in this order."""


def change_text(change: Change, style: TextStyle) -> Iterator[str]:
    """Yield removed findings, remaining findings by rule, and simulation margins, as blocks of lines."""
    gone = [*findings_text(change.removed, style.showing(source=False, brief=True))]
    if gone:
        yield "\n".join([f"gone since {visible(change.revision)}:", *(f"  {line}" for line in gone)])
    if change.left:
        yield "\n".join(["left:", *(f"  {line}" for line in left_by_rule(change.left))])
    if change.margins:
        yield table([MARGINS, *map(margin_row, change.margins)], style)
    for file in change.unread:
        yield unread_note(change, file)


def counts_text(change: Change, added: int) -> str:
    """Return the counts on one line."""
    since = f"since {visible(change.revision)}"
    return f"{added} added, {len(change.removed.findings)} gone, {len(change.left)} left {since}"


def unread_note(change: Change, file: str) -> str:
    """Return the note on a file that could not be read at the earlier revision."""
    name = visible(shown_file(file))
    return f"{name} could not be read at {visible(change.revision)}: all that is found in it counts as added"


def left_by_rule(left: Sequence[RemainingFinding]) -> Iterator[str]:
    """Yield the number of remaining findings of each rule, and the growth of their places."""
    rules = grouped(((pair[0].code, pair[0].name, pair[0].severity), pair) for pair in left)
    for (code, name, severity), of_rule in sorted(rules.items()):
        yield f"{len(of_rule)} x {code} {name} [{severity}]{_growth(of_rule)}"


def _growth(left: Sequence[RemainingFinding]) -> str:
    """Return the note on findings that affect more places than before, empty if none does."""
    before = sum(places for _, places in left)
    now = sum(finding.places for finding, _ in left)
    return f": on {now} places, before on {before}" if now > before else ""


def margin_row(margin: MarginChange) -> tuple[str, ...]:
    """Return the simulation results of one part, each before and after if they differ."""
    both = [margin.before, margin.after]
    return (
        visible(shown_file(margin.part)),
        _differing([run.verdict if run else None for run in both]),
        _differing([f"{run.drops.seeds} of {run.drops.of}" if run else None for run in both]),
        _differing([_headroom(run) for run in both]),
        _differing([f"{run.longest_pause_us / 1000:.2f} ms" if run else None for run in both]),
        _differing([visible(run.scenario) if run else None for run in both]),
    )


def _headroom(run: RunVerdict | None) -> str | None:
    if run is None:
        return None
    left_bytes = run.headroom_margin_bytes
    return "none was used" if left_bytes is None else format_bytes(left_bytes)


def _differing(both: list[str | None]) -> str:
    before, after = (value or "not run" for value in both)
    return after if before == after else f"{before} -> {after}"
