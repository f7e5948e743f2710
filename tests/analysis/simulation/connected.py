"""Networks of cables that are all identical."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.network import SimCable, SimGroup, SimNetwork, SimPort, SimQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimFlow, SimSwitch

PLAIN_END = SimPort((SimQueue(),), (SimGroup(1.0, 100_000),))
"""Every egress one plain queue; a group pauses at half of what is free, with room for 100 kB after that."""


def connected(
    links: Iterable[tuple[int, int]],
    switches: Mapping[int, SimSwitch],
    flows: Sequence[SimFlow],
    end: SimPort = PLAIN_END,
    rate_bps: float = 100e9,
    propagation_ns: float = 500,
    **others: Any,
) -> SimNetwork:
    """Return a network in which every cable is of one rate and length, and every switch port is ``end``."""

    def at(node: int) -> SimPort | None:
        return end if node in switches else None

    cables = tuple(SimCable(a, b, rate_bps, propagation_ns, at(a), at(b)) for a, b in links)
    nodes = 1 + max(max(cable.a, cable.b) for cable in cables)
    return SimNetwork(nodes, switches, cables, tuple(flows), **others)
