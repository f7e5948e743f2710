"""Running a network: from its description to what was seen.

The kernel is called in slices, so that a person can interrupt it and see how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.simulation.check import check
from lossless.simulation.compiled import cache_folder
from lossless.simulation.kernel.run import DONE, GROW, HORIZON, PAUSED, run
from lossless.simulation.network import Cable, Flow, Network
from lossless.simulation.outcome import Outcome, outcome
from lossless.simulation.state import build, more_frames, scrambled

if TYPE_CHECKING:
    from collections.abc import Callable

SLICE_EVENTS = 4_000_000
"""Events between two looks at the world outside: about a tenth of a second."""


def compiled_before() -> bool:
    """Return whether the kernel's machine code was kept by an earlier run."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*.nbi"))


def prepare() -> None:
    """Compile the kernel, or load what an earlier run kept, on the smallest network there is."""
    cable = Cable(0, 1, 1e9, 0)
    Simulation(Network(2, {}, (cable,), (Flow((0, 1), 1),))).advance(1e6)


class Simulation:
    """A network at some time. :meth:`advance` lets time pass, :meth:`outcome` says what was seen so far."""

    def __init__(self, network: Network, seed: int = 1) -> None:
        """Prepare a network at time zero.

        Raises:
            ScenarioError: the network cannot be, or is too large.
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
        self.ended = False

    def advance(self, until_ns: float, look: Callable[[Any], None] | None = None) -> bool:
        """Let time pass; return whether everything that was to be sent has been delivered, or stands still.

        ``look`` is called now and then with the clock record.
        """
        until_ps = min(round(until_ns * 1000), self.index.horizon_ps)
        while not self.ended:
            state, index = self.state, self.index
            why = run(*state, index.classes, index.bits, until_ps, SLICE_EVENTS)
            if why == GROW:
                self.state = more_frames(state)
            elif why == PAUSED:
                if look is not None:
                    look(state.clock[0])
            elif why == DONE:
                self.ended = True
            elif why == HORIZON:
                break
        if not self.ended:
            self.state.clock["now"][0] = until_ps
        return self.ended

    def outcome(self) -> Outcome:
        """Return what was seen so far."""
        return outcome(self.state, self.index)
