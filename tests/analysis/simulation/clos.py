"""Leaf-spine networks whose switches choose the links, and what was sent over each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lossless.analysis.simulation.engine.network import (
    UNBOUNDED,
    Physics,
    SimCable,
    SimFlow,
    SimGroup,
    SimLoads,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSpread,
    SimSwitch,
    SimTrim,
    SimWred,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import Choice, SimWindow
    from lossless.analysis.simulation.engine.run import Simulation

RATE_BPS, DELAY_NS = 100e9, 500.0
HEADER_BYTES = 64
MTU_BYTES = 4096
FRAME_BYTES = MTU_BYTES + HEADER_BYTES
BASE_RTT_US = 4 * (2 * DELAY_NS / 1000 + (FRAME_BYTES + 64) * 8e6 / RATE_BPS)
"""Between two leaves, without queues: a full frame there, an ACK back."""
LOSSLESS = SimPort((SimQueue(),), (SimGroup(None, 1 << 40, 80_000, 20_000, 0, 100_000),))


class Clos(NamedTuple):
    """Hosts from 0 on, then leaves, then spines; all leaves have as many hosts, and a cable to each spine."""

    leaves: int
    hosts: int
    spines: int

    def leaf_of(self, host: int) -> int:
        """Return the leaf of a host."""
        return self.leaves * self.hosts + host // self.hosts

    def spine(self, number: int) -> int:
        """Return the n-th spine."""
        return self.leaves * self.hosts + self.leaves + number

    def path(self, source: int, target: int) -> tuple[int, ...]:
        """Return a path between two hosts."""
        near, far = self.leaf_of(source), self.leaf_of(target)
        return (source, near, target) if near == far else (source, near, self.spine(0), far, target)

    def links(self) -> list[tuple[int, int]]:
        """Return the cables: of hosts first."""
        hosts = range(self.leaves * self.hosts)
        leaves = [self.leaf_of(leaf * self.hosts) for leaf in range(self.leaves)]
        own = [(host, self.leaf_of(host)) for host in hosts]
        return own + [(leaf, self.spine(number)) for leaf in leaves for number in range(self.spines)]

    def hops(self, source: int, target: int) -> int:
        """Return how many links a path has."""
        return len(self.path(source, target)) - 1


def lossy(limit_bytes: int, *, trims: bool, wred: SimWred | None = None) -> SimPort:
    """Return a port that trims, or drops, what its queue has no room for; class 1 is what was trimmed."""
    trim = SimTrim(64, 1) if trims else None
    queues = (SimQueue(wred, limit_bytes=limit_bytes, trim=trim), SimQueue(strict=True))
    return SimPort(queues, (SimGroup(None, None, static_bytes=UNBOUNDED),) * 2)


def clos_network(
    clos: Clos,
    pairs: Sequence[tuple[int, int]],
    spread: SimSpread,
    size_bytes: int,
    *,
    end: SimPort = LOSSLESS,
    ahead_frames: int | None = None,
    window: SimWindow | None = None,
    without: Iterable[tuple[int, int]] = (),
    slow_bps: dict[tuple[int, int], float] | None = None,
    loads: SimLoads | None = None,
    choices: Mapping[int, Choice] | None = None,
) -> SimNetwork:
    """Return a flow for each pair of hosts; cables may be missing or slow, and switches choose in their own way."""
    links = [link for link in clos.links() if link not in set(without)]
    hosts = clos.leaves * clos.hosts
    rates = slow_bps or {}
    cables = [
        SimCable(a, b, rates.get((a, b), RATE_BPS), DELAY_NS, None if a < hosts else end, end)
        for a, b in links
    ]
    levels = loads or SimLoads((20_000, 40_000, 80_000), 100, 10)
    switch = SimSwitch(UNBOUNDED, UNBOUNDED, loads=levels)
    flows = [
        SimFlow(clos.path(*pair), size_bytes, spread=spread, ahead_frames=ahead_frames, window=window)
        for pair in pairs
    ]
    return SimNetwork(
        nodes=clos.spine(clos.spines),
        switches={
            node: switch._replace(choice=(choices or {}).get(node))
            for node in range(hosts, clos.spine(clos.spines))
        },
        cables=tuple(cables),
        flows=tuple(flows),
        classes=len(end.queues),
        physics=Physics(HEADER_BYTES, 0, 1, 64, acks="apart"),
    )


def sent_frames(simulation: Simulation, sender: int, receiver: int) -> int:
    """Return how many data frames a node has sent to another."""
    at = simulation.index.wiring.ends.index((sender, receiver))
    return int(simulation.state.queues[at * simulation.index.classes]["sent_frames"])


def frame_us(bytes_: int = FRAME_BYTES) -> float:
    """Return how long a frame takes on a cable."""
    return bytes_ * 8e6 / RATE_BPS
