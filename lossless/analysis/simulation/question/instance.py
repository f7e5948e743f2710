"""The network of one seed: random transfers, and the choice of one of equal paths for each flow."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import Hold, Physics, SimCable, SimFlow, SimNetwork, SlowHost
from lossless.analysis.simulation.question.load_balancing import choice_at, loads_at, spread_of
from lossless.analysis.simulation.question.lossy import with_selective_repeat, with_windows
from lossless.analysis.simulation.question.nodes import propagation_ns, reaction_ns
from lossless.analysis.simulation.question.workloads import Transfer, transfers_in_planes
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import role_word

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.nodes import PortLink
    from lossless.analysis.simulation.question.scenario import Scenario

SLOW_XOFF_BYTES, SLOW_XON_BYTES = 512 << 10, 256 << 10
"""Where a slow receiver pauses and resumes its switch. No source states it of a NIC; it sets how often it pauses,
not for how long in all."""
DEAD_FROM_NS = 100_000
"""When a dead NIC begins to pause its switch: some way into the traffic."""
FOREVER_NS = 1e12


class ScenarioInstance(NamedTuple):
    """A network, the names and roles of its nodes, the links behind its cables, and whether its class is lossy."""

    network: SimNetwork
    names: tuple[str, ...]
    wires: tuple[PortLink, ...]
    target: int
    roles: tuple[str, ...] = ()
    lossy: bool = False


def instantiate(scenario: Scenario, seed: int) -> ScenarioInstance:
    """Return a scenario as the network of one seed."""
    rng = random.Random(seed)
    job = _job(scenario, rng)
    storage = _storage(scenario, rng)
    transfers = (*job, *storage)
    paths = [scenario.routes.path(transfer.source, transfer.target, rng) for transfer in transfers]
    pairs = scenario.routes.pairs(paths, equal=spread_of(scenario.question) is not None)
    used = sorted({node for pair in pairs for node in pair})
    number = {node: at for at, node in enumerate(used)}
    wires = tuple(scenario.topology.wires[at] for at in scenario.routes.wires(pairs))
    flows = tuple(
        _flow(scenario, transfer, tuple(number[node] for node in path), rng, at >= len(job))
        for at, (transfer, path) in enumerate(zip(transfers, paths, strict=True))
    )
    cables = tuple(_cable(scenario, wire, number) for wire in wires)
    if scenario.selective:
        flows = with_selective_repeat(flows, cables, scenario.timeout_ms)
    network = SimNetwork(
        nodes=len(used),
        switches={
            number[node]: scenario.switch(node)._replace(
                loads=loads_at(scenario.question, scenario.topology, node),
                choice=choice_at(scenario.question, scenario.topology.switch_of[node]),
            )
            for node in used
            if node in scenario.topology.switch_of
        },
        cables=cables,
        flows=with_windows(flows, cables, scenario.senders),
        classes=len(scenario.classes),
        holds=_holds(scenario, number),
        slow_hosts=_slow_hosts(scenario, number),
        physics=Physics(timeout_ms=scenario.timeout_ms),
    )
    names = tuple(scenario.topology.names[node] for node in used)
    roles = tuple(_role(scenario, node) for node in used)
    return ScenarioInstance(network, names, wires, number[scenario.target], roles, scenario.is_lossy)


def _job(scenario: Scenario, rng: random.Random) -> tuple[Transfer, ...]:
    """Return the transfers that the question lists, else one step of its pattern."""
    question = scenario.question
    if not question.moves:
        return transfers_in_planes(
            question.pattern, scenario.planes, scenario.target, question.size_bytes, rng
        )
    node_of = {scenario.topology.names[nic]: nic for nic in scenario.nics}
    return tuple(
        Transfer(node_of[move.source], node_of[move.target], move.size_bytes) for move in question.moves
    )


def _role(scenario: Scenario, node: int) -> str:
    switch = scenario.topology.switch_of.get(node)
    return "host" if switch is None else role_word(switch.device_type, switch.tier)


def _storage(scenario: Scenario, rng: random.Random) -> tuple[Transfer, ...]:
    """Return the storage transfers: each NIC sends to one other, at random."""
    share = scenario.question.storage
    if not share:
        return ()
    size = max(1, round(scenario.question.size_bytes * share / (1 - share)))
    return transfers_in_planes("permutation", scenario.planes, scenario.target, size, rng)


def _flow(
    scenario: Scenario, transfer: Transfer, path: tuple[int, ...], rng: random.Random, is_storage: bool
) -> SimFlow:
    return SimFlow(
        path=path,
        size_bytes=transfer.size_bytes,
        traffic_class=int(is_storage),
        dcqcn=None if is_storage else scenario.dcqcn_of.get(transfer.source),
        mtu_bytes=scenario.mtu_bytes,
        after=transfer.after,
        lanes=tuple(rng.randrange(1 << 30) for _ in path[1:]),
        spread=spread_of(scenario.question),
        ahead_frames=scenario.question.ahead_frames,
    )


def _cable(scenario: Scenario, wire: PortLink, number: dict[int, int]) -> SimCable:
    reaction = scenario.reaction * reaction_ns(wire.rate_bps)
    return SimCable(
        a=number[wire.a],
        b=number[wire.b],
        rate_bps=wire.rate_bps,
        propagation_ns=propagation_ns(wire.cable_m),
        a_end=scenario.end(wire.a, wire.a_port),
        b_end=scenario.end(wire.b, wire.b_port),
        a_reaction_ns=reaction,
        b_reaction_ns=reaction,
    )


def _holds(scenario: Scenario, number: dict[int, int]) -> tuple[Hold, ...]:
    if not scenario.question.dead_nic:
        return ()
    switch = scenario.topology.wires[scenario.topology.wires_of[scenario.target][0]].a
    return (Hold(number[switch], number[scenario.target], DEAD_FROM_NS, FOREVER_NS),)


def _slow_hosts(scenario: Scenario, number: dict[int, int]) -> tuple[SlowHost, ...]:
    drain_bps = scenario.question.slow_nic_bps
    if drain_bps is None:
        return ()
    return (SlowHost(number[scenario.target], drain_bps, SLOW_XOFF_BYTES, SLOW_XON_BYTES),)
