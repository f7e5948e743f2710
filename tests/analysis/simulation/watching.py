"""Looking at a simulation after each single event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from lossless.analysis.simulation.engine import run as engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.run import Simulation


def steps(
    simulation: Simulation, until_ns: float, value: Callable[[Any], Any]
) -> Iterator[tuple[float, Any]]:
    """Yield when some value of the state changed, in nanoseconds, and what it then was."""
    seen: list[tuple[float, Any]] = [(0.0, value(simulation.state))]

    def look() -> bool:
        now = value(simulation.state)
        if now != seen[-1][1]:
            seen.append((int(simulation.state.clock["now"][0]) / 1000, now))
        return True

    with patch.object(engine, "SLICE_EVENTS", 1):
        simulation.advance(until_ns, look)
    yield from seen[1:]


def every_start_an_event(simulation: Simulation) -> None:
    """Let each NIC look before it sends: one that knows its next frame notes what it sent when that is looked at."""
    simulation.state.links["foreseen"] = 0


def known_and_looked_at(network: SimNetwork, until_ns: float) -> list[tuple[Any, list[int]]]:
    """Return what is seen where NICs know their next frame, and where each looks before it sends."""
    seen = []
    for prepared in (None, every_start_an_event):
        simulation = engine.Simulation(network)
        if prepared is not None:
            prepared(simulation)
        simulation.advance(until_ns)
        seen.append((simulation.outcome()._replace(events=0), simulation.state.flows["done_at"].tolist()))
    return seen


def frame_starts(simulation: Simulation, flow: int, until_ns: float) -> list[float]:
    """Return when each frame of a flow started to be sent."""
    place = simulation.index.flow_at[flow]
    every_start_an_event(simulation)
    return [at for at, _ in steps(simulation, until_ns, lambda state: int(state.flows[place]["sent_bytes"]))]
