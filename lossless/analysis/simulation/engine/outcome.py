"""The outcome of a run: peaks, times and counts, by nodes and flows of its network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState


class Peak(NamedTuple):
    """The largest of its kind, and where: the two nodes of a link, and the traffic class."""

    bytes: int
    sender: int
    receiver: int
    traffic_class: int


class RunOutcome(NamedTuple):
    """The outcome of a run. Times in nanoseconds since the start, None if the event did not happen.

    ``egress``, ``group`` and ``headroom`` are the largest queue, ingress group and use of headroom;
    ``longest_pause_ns`` is how long a transmitter was paused without a break.
    """

    ended_ns: float
    events: int
    egress: Peak
    group: Peak
    headroom: Peak
    first_pause_ns: float | None
    first_mark_ns: float | None
    first_drop_ns: float | None
    first_storm_ns: float | None
    pauses: int
    marks: int
    cnps: int
    drops: int
    storms: int
    stopped: int
    longest_pause_ns: float
    delivered_bytes: int
    size_bytes: int
    flows_done: int
    flows: int
    grew_ns: float


def outcome(state: SimState, index: ArrayIndex, traffic_class: int | None = None) -> RunOutcome:
    """Return the outcome of a run up to now; if a class is given, with the peaks of that class alone."""
    clock = state.clock[0]
    counted = state.flows[state.flows["counts"] == 1]
    return RunOutcome(
        ended_ns=int(clock["now"]) / 1000,
        events=int(clock["events"]),
        egress=_peak(state.queues["max_bytes"], index, traffic_class),
        group=_peak(state.groups["max_bytes"], index, traffic_class),
        headroom=_peak(state.groups["max_headroom"], index, traffic_class),
        first_pause_ns=_when(clock["first_pause_at"]),
        first_mark_ns=_when(clock["first_mark_at"]),
        first_drop_ns=_when(clock["first_drop_at"]),
        first_storm_ns=_when(clock["first_storm_at"]),
        pauses=int(clock["pauses"]),
        marks=int(clock["marks"]),
        cnps=int(clock["cnps"]),
        drops=int(clock["drops"]),
        storms=int(clock["storms"]),
        stopped=int(state.queues["stopped"].sum()),
        longest_pause_ns=float(longest_pauses(state).max(initial=0)) / 1000,
        size_bytes=int(counted["size_bytes"].sum()),
        delivered_bytes=int(counted["expected_psn"].sum()),
        flows_done=int((counted["done_at"] >= 0).sum()),
        flows=len(counted),
        grew_ns=int(clock["grew_at"]) / 1000,
    )


def longest_pauses(state: SimState) -> Any:
    """Return the longest pause of each transmitter and class in ps, including a pause that still lasts."""
    stands = state.queues["paused_since"] >= 0
    open_ps = (state.clock["now"][0] - state.queues["paused_since"]) * stands
    return _larger(state.queues["longest_pause_ps"], open_ps)


def _larger(first: Any, second: Any) -> Any:
    import numpy as np

    return np.maximum(first, second)


def _peak(values: Any, index: ArrayIndex, traffic_class: int | None) -> Peak:
    first, step = (0, 1) if traffic_class is None else (traffic_class, index.classes)
    at = first + step * int(values[first::step].argmax())
    sender, receiver = index.wiring.ends[at // index.classes]
    return Peak(int(values[at]), sender, receiver, at % index.classes)


def _when(at_ps: int) -> float | None:
    return None if at_ps < 0 else int(at_ps) / 1000
