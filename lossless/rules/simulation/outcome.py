"""From a run to a hit: the same for what is unsafe and for what is on the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Hit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.rules.runs import Run


def hits(runs: Iterable[Run], verdict: str) -> Iterator[Hit]:
    """Yield a hit for each run with a verdict; the first reason is its message."""
    for run in runs:
        if run.verdict == verdict:
            yield Hit(
                origin=run.origin,
                message=run.reasons[0],
                note="; ".join((run.scenario, *run.reasons[1:])),
                help=run.changes[0] if run.changes else "ask lossless simulate for the whole picture",
                elements=(run.element,) if run.element else (),
                data=run.data,
            )
