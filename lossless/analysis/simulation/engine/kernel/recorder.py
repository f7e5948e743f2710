"""Samples of probes at intervals of a run: the data of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.compiled import kernel
from lossless.analysis.simulation.engine.kernel.memory import xoff
from lossless.analysis.simulation.engine.kernel.pfc import paused_ps

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.memory import World

QUEUE_BYTES, GROUP_BYTES, GROUP_THRESHOLD, GROUP_HEADROOM, UNIT_BYTES, RATE, PAUSED_PS, DELIVERED_BYTES = (
    range(8)
)
"""Kinds of probes; a probe's index is that of a queue, a group, a unit or a flow."""


@kernel
def sample(w: World) -> None:
    """Record the current value of every probe."""
    for column in range(len(w.probes)):
        w.samples[w.clock.samples, column] = seen(w, w.probes[column].kind, w.probes[column].index)
    w.clock.samples += 1


@kernel
def seen(w: World, kind: int, index: int) -> float:
    """Return the value of a probe: bytes, bits per second, or the total time for which a transmitter has been paused.

    A rate is that of the flow's last frame: DCQCN's timers are applied when the next one starts.
    """
    if kind == QUEUE_BYTES:
        return float(w.queues[index].bytes)
    if kind == GROUP_BYTES:
        return float(w.groups[index].bytes)
    if kind == GROUP_THRESHOLD:
        return xoff(w.units[w.groups[index].unit], w.groups[index])
    if kind == GROUP_HEADROOM:
        return float(w.groups[index].headroom_used)
    if kind == UNIT_BYTES:
        return float(w.units[index].used)
    if kind == RATE:
        return w.points[index].rate_bps
    if kind == DELIVERED_BYTES:
        return float(w.flows[index].expected_psn)
    return float(paused_ps(w.queues[index], w.clock.now))
