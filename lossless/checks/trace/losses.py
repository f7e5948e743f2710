"""Stages of a hop that can drop a packet of a lossless class: facts of the hop itself, independent of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.trace.model import TraceLoss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.trace.model import TraceHop, TraceStages


def losses_at(hop: TraceHop) -> tuple[TraceLoss, ...]:
    """Return why a packet of a lossless class does not pass a hop, or can be dropped there."""
    down = (
        TraceLoss("ports", f"{port.port} is down") for port in (hop.ingress, hop.egress) if port.up is False
    )
    return (*down, *losses_of(hop.stages))


def losses_of(stages: TraceStages) -> tuple[TraceLoss, ...]:
    """Return why a packet of a lossless class can be dropped at a hop; an unknown setting is no reason."""
    return tuple(_losses(stages))


def _losses(stages: TraceStages) -> Iterator[TraceLoss]:
    group, pfc = stages.priority_group, stages.pfc
    if group.lossless is False:
        yield TraceLoss("priority_group", f"PG {group.lookup.target} is lossy")
    if pfc.ingress.on is False:
        yield TraceLoss("pfc", f"{pfc.ingress.port} sends no pauses of priority {pfc.ingress.priority}")
    if pfc.egress.on is False:
        yield TraceLoss("pfc", f"{pfc.egress.port} obeys no pauses of priority {pfc.egress.priority}")
