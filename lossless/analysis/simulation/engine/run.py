"""Running a network: from its description to its outcome, the peaks, times and counts of its nodes and flows.

The kernel is called in slices, so that a person can interrupt it and see how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.check import check
from lossless.analysis.simulation.engine.compiled import MachineCode, is_kept
from lossless.analysis.simulation.engine.kernel.run import DONE, GROW, HORIZON, PAUSED, RARE, attend, run
from lossless.analysis.simulation.engine.network import Hold, SimCable, SimFlow, SimNetwork
from lossless.analysis.simulation.engine.records import PROBE
from lossless.analysis.simulation.engine.state import build, more_frames, plan_recorder, scrambled
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState


class Peak(NamedTuple):
    """The largest queue, ingress group or headroom use in bytes, and where: nodes of a link, and traffic class."""

    bytes: int
    sender: int
    receiver: int
    traffic_class: int


class RunOutcome(NamedTuple):
    """The outcome of a run. Times in nanoseconds since the start, None if the event did not happen.

    ``egress``, ``group`` and ``headroom`` are the largest queue, ingress group and use of headroom;
    ``longest_pause_ns`` is the longest time that a transmitter was paused without a break.
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
    """Return the outcome of a run up to its current time; if a class is given, with the peaks of that class alone."""
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

    return np.maximum(first, second)


def _peak(values: Any, index: ArrayIndex, traffic_class: int | None) -> Peak:
    first, step = (0, 1) if traffic_class is None else (traffic_class, index.classes)
    at = first + step * int(values[first::step].argmax())
    sender, receiver = index.wiring.ends[at // index.classes]
    return Peak(int(values[at]), sender, receiver, at % index.classes)


def _when(at_ps: int) -> float | None:
    return None if at_ps < 0 else int(at_ps) / 1000


SLICE_EVENTS = 1_000_000
"""The events that the kernel runs at a time, before ``go_on`` is called: a few hundredths of a second."""


def compiled_before(*, rare: bool = False) -> bool:
    """Return whether the kernel's machine code is kept from before, with ``rare`` also that of rare events."""
    return all(map(is_kept, (run, attend) if rare else (run,)))


def prepare(*, rare: bool = False) -> None:
    """Compile the kernel, or load it from the cache, by running a small network; with ``rare`` also for rare events."""
    holds = (Hold(0, 1, 0, 1),) if rare else ()
    cable = SimCable(0, 1, 1e9, 0)
    Simulation(SimNetwork(2, {}, (cable,), (SimFlow((0, 1), 1),), holds=holds)).advance(1e6)


def prepare_in(folder: Path, compiling: Callable[[], None]) -> bool:
    """Compile the kernel and rare events into a folder, unless it has them; return whether that was necessary.

    ``compiling`` is called before, as it takes long.
    """
    entries: tuple[Any, ...] = (run, attend)
    for each in entries:
        # Machine code of another folder would be loaded, and not written to this one.
        each._cache = MachineCode(each.py_func, (folder,), folder)
    if compiled_before(rare=True):
        return False
    compiling()
    prepare(rare=True)
    return True


class Simulation:
    """A simulation of a network. :meth:`advance` lets time pass, :meth:`outcome` returns the outcome up to then."""

    def __init__(self, network: SimNetwork, seed: int = 1) -> None:
        """Prepare a network at time zero.

        Raises:
            ScenarioError: the network is invalid.
        """
        check(network)
        self.network = network
        self.state, self.index = build(network, seed)
        self._begin = self.state.copy()
        self.ended = False

    def restart(self, seed: int) -> None:
        """Go back to time zero with a seed; memory is used again."""
        self.state.set_to(self._begin)
        self.state.clock["random"] = scrambled(seed)
        self.state.clock["salt"] = scrambled(seed + (1 << 32))
        self.ended = False

    def advance(self, until_ns: float, go_on: Callable[[], bool] | None = None) -> bool:
        """Let time pass; return whether no further event can happen: all is delivered, or :attr:`stalled`.

        ``go_on`` is called now and then; once it returns false, the run stops at its current time.

        Raises:
            ScenarioError: a network of this size cannot be followed for so long, or a window is too large.
        """
        until_ps = self._until(until_ns)
        while not self.ended:
            self._refuse_lost_news()
            state, index = self.state, self.index
            why = run(*state, index.classes, index.bits, until_ps, SLICE_EVENTS)
            if why == GROW:
                self.state = more_frames(state)
            elif why == DONE:
                self.ended = True
                if self.stalled:
                    state.clock["now"] = until_ps
            elif why == RARE:
                attend(*state, index.classes, index.bits)
            elif why == HORIZON:
                state.clock["now"] = until_ps
                break
            elif why == PAUSED and go_on is not None and not go_on():
                break
        self._refuse_lost_news()
        return self.ended

    def _refuse_lost_news(self) -> None:
        if self.state.clock["lost_news"][0]:
            raise ScenarioError("more is under way to a sender than its window allows; lower window.bdps")

    def record(self, probes: Sequence[tuple[int, int]], every_ns: float, samples: int) -> None:
        """Record probes (kind and index of ``kernel.run``) from time zero on; for use before :meth:`advance`."""
        self.state = self.state._replace(
            probes=np.array(list(probes), PROBE), samples=np.zeros((samples, len(probes)))
        )
        self.state.clock["sample_ps"] = max(1, round(every_ns * 1000))
        plan_recorder(self.state, self.index)

    @property
    def stalled(self) -> bool:
        """Whether a run has ended with undelivered traffic: all of it waits, and no further event is possible."""
        return self.ended and int(self.state.clock["unfinished"][0]) > 0

    def _until(self, until_ns: float) -> int:
        until_ps, longest_ps = round(until_ns * 1000), self.index.horizon_ps
        if until_ps > longest_ps:
            longest_s = longest_ps / 1e12
            raise ScenarioError(
                f"until is {until_ns / 1e9:g} s; a network of this size can be followed for {longest_s:.1f} s"
            )
        return until_ps

    def outcome(self) -> RunOutcome:
        """Return the outcome of the run up to now."""
        return outcome(self.state, self.index)
