"""Running a network: from its description to its outcome.

The kernel is called in slices, so that a person can interrupt it and see how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lossless.analysis.simulation.engine.check import check
from lossless.analysis.simulation.engine.compiled import cache_folder
from lossless.analysis.simulation.engine.kernel.rare import attend
from lossless.analysis.simulation.engine.kernel.run import DONE, GROW, HORIZON, PAUSED, RARE, run
from lossless.analysis.simulation.engine.network import Hold, SimCable, SimFlow, SimNetwork
from lossless.analysis.simulation.engine.outcome import RunOutcome, outcome
from lossless.analysis.simulation.engine.records import PROBE
from lossless.analysis.simulation.engine.state import build, more_frames, plan_recorder, scrambled
from lossless.ground.basics.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SLICE_EVENTS = 1_000_000
"""Events between two looks at the world outside: a few hundredths of a second."""


def compiled_before(*, rare: bool = False) -> bool:
    """Return whether an earlier run cached the kernel's machine code, with ``rare`` also that of rare events."""
    folder = cache_folder()
    kept = {path.name.partition(".")[0] for path in folder.rglob("*.nbi")} if folder is not None else set()
    return {"run", "rare"} <= kept if rare else "run" in kept


def prepare(*, rare: bool = False) -> None:
    """Compile the kernel, or load it from the cache, by running the smallest possible network."""
    holds = (Hold(0, 1, 0, 1),) if rare else ()
    cable = SimCable(0, 1, 1e9, 0)
    Simulation(SimNetwork(2, {}, (cable,), (SimFlow((0, 1), 1),), holds=holds)).advance(1e6)


class Simulation:
    """A network at some time. :meth:`advance` lets time pass, :meth:`outcome` returns the outcome up to now."""

    def __init__(self, network: SimNetwork, seed: int = 1) -> None:
        """Prepare a network at time zero.

        Raises:
            ScenarioError: the network is invalid or too large.
        """
        check(network)
        self.network = network
        self.state, self.index = build(network, seed)
        self._begin = self.state.copy()
        self.ended = False

    def restart(self, seed: int) -> None:
        """Go back to time zero with another seed; memory is used again."""
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
        """Record the values of probes from now on (kind and index of ``kernel.recorder``)."""
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
