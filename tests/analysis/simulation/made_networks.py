"""Networks in a few words, and looking into a run by the names of nodes.

Hosts are numbered first: those that send from 0, then those that only receive, then the switches.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.network import SimFlow, SimSwitch
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.connected import PLAIN_END, connected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork, SimPort

ENDLESS_BYTES = 1 << 40
AMPLE = SimSwitch(buffer_bytes=1 << 32, pool_bytes=1 << 31)
"""A switch whose memory never fills: only thresholds that do not move are ever passed."""


def star(senders: int, end: SimPort = PLAIN_END, switch: SimSwitch = AMPLE, **how: Any) -> SimNetwork:
    """Return hosts 0 to ``senders`` - 1 that send to host ``senders`` through switch ``senders`` + 1."""
    receiver, hub = senders, senders + 1
    links = [(host, hub) for host in range(hub)]
    return made(links, {hub: switch}, [(one, hub, receiver) for one in range(senders)], end, **how)


def chain(switches: int, end: SimPort = PLAIN_END, switch: SimSwitch = AMPLE, **how: Any) -> SimNetwork:
    """Return host 0 that sends to host 1 through switches 2, 3, ... in a row."""
    row = range(2, 2 + switches)
    path = (0, *row, 1)
    return made(list(pairwise(path)), dict.fromkeys(row, switch), [path], end, **how)


def ring(
    switches: int, hops: int, end: SimPort = PLAIN_END, switch: SimSwitch = AMPLE, **how: Any
) -> SimNetwork:
    """Return switches in a ring with a host each; every host sends to the one that is ``hops`` switches on.

    Host i is at switch ``switches`` + i. Three or more switches, ``hops`` from 1 to ``switches`` - 1.
    """
    row = range(switches, 2 * switches)
    links = [(host, switches + host) for host in range(switches)]
    links += [(one, switches + (one + 1) % switches) for one in row]
    paths = [around(switches, host, hops) for host in range(switches)]
    return made(links, dict.fromkeys(row, switch), paths, end, **how)


def made(
    links: Sequence[tuple[int, int]],
    switches: Mapping[int, SimSwitch],
    paths: Sequence[tuple[int, ...]],
    end: SimPort,
    *,
    flows: Sequence[SimFlow] | None = None,
    size_bytes: int = ENDLESS_BYTES,
    mtu_bytes: int = 4096,
    reaction_ns: float = 0,
    **others: Any,
) -> SimNetwork:
    """Return a network with a flow on each path, or with other flows where they are given.

    ``reaction_ns`` is what every transmitter takes to obey PFC; ``others`` is as for :func:`connected`: the rate and
    length of cables, and any field of a network.
    """
    if flows is None:
        flows = [SimFlow(path, size_bytes, mtu_bytes=mtu_bytes) for path in paths]
    return reacting(connected(links, switches, flows, end, **others), reaction_ns)


def around(switches: int, host: int, hops: int) -> tuple[int, ...]:
    """Return the path from a host of a ring to the one that is ``hops`` switches on."""
    passed = [(host + step) % switches for step in range(hops + 1)]
    return (host, *(switches + one for one in passed), passed[-1])


def reacting(network: SimNetwork, reaction_ns: float) -> SimNetwork:
    """Return the network with all transmitters taking so long to obey PFC."""
    cables = (one._replace(a_reaction_ns=reaction_ns, b_reaction_ns=reaction_ns) for one in network.cables)
    return network._replace(cables=tuple(cables))


def run(network: SimNetwork, until_ns: float, seed: int = 1) -> Simulation:
    """Return a network's simulation after it has run."""
    simulation = Simulation(network, seed)
    simulation.advance(until_ns)
    return simulation


def link_number(simulation: Simulation, sender: int, receiver: int) -> int:
    """Return which link leads from one node to its neighbor."""
    (found,) = simulation.index.wiring.link_of[sender, receiver]
    return found


def queue_number(simulation: Simulation, sender: int, receiver: int, traffic_class: int = 0) -> int:
    """Return which queue stands at ``sender`` toward ``receiver``; which group is its peer at ``receiver``, too."""
    return link_number(simulation, sender, receiver) * simulation.index.classes + traffic_class


def queue(simulation: Simulation, sender: int, receiver: int, traffic_class: int = 0) -> Any:
    """Return the record of the egress queue at ``sender`` toward ``receiver``."""
    return simulation.state.queues[queue_number(simulation, sender, receiver, traffic_class)]


def group(simulation: Simulation, sender: int, receiver: int, traffic_class: int = 0) -> Any:
    """Return the record of the ingress group at ``receiver`` for what comes from ``sender``."""
    return simulation.state.groups[queue_number(simulation, sender, receiver, traffic_class)]


def flow(simulation: Simulation, number: int) -> Any:
    """Return the record of a flow of the network."""
    return simulation.state.flows[simulation.index.flow_at[number]]
