"""Findings of the packet-level model in the states between steps: one switch of each kind, with its rows there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.report import Report
from lossless.checks.lint.simulation import with_runs
from lossless.checks.plan.states import State
from lossless.formats.sonic.effective.applied import applied_fabric
from lossless.formats.sonic.read.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.model import PlacedStep, Position
    from lossless.checks.plan.search import Search
    from lossless.model.hardware.load import FindHardware

Shown = dict[tuple[str, str], str]
"""Messages of simulations, by rule and switch."""


def unsafe_runs(search: Search, steps: Sequence[PlacedStep], find_hardware: FindHardware) -> Iterator[str]:
    """Yield simulation findings in states between steps that occur neither at the start nor at the target."""
    ends = (search.start(), search.goal())
    allowed = {key for position in ends for key in _shown(search, position, find_hardware)}
    for number, placed in enumerate(steps[:-1], 1):
        for key, message in _shown(search, placed.after, find_hardware).items():
            if key not in allowed:
                yield f"after step {number}: {key[1]}: {message}"


def _shown(search: Search, position: Position, find_hardware: FindHardware) -> Shown:
    dscps = tuple(sorted(search.use_at(position).dscps))
    if not dscps:
        return {}
    tables = [
        Tables(
            f"{kind.devices[0]}/config_db.json", search.states.config(number, State(done)), shown=kind.title
        )
        for number, (kind, done) in enumerate(zip(search.change.kinds, position.done, strict=True))
    ]
    fabric = applied_fabric(tables, find_hardware, [dscps] * len(tables))
    findings = with_runs(Report(), [fabric]).findings
    return {(each.code, each.origin.file.partition("/")[0]): each.message for each in findings}
