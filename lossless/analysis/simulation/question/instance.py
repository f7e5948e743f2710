"""The network of one seed: who sends to whom where that is chance, and which of equal paths each flow takes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import Cable, Flow, Hold, Network, Physics, SlowHost
from lossless.analysis.simulation.question.nodes import propagation_ns, reaction_ns
from lossless.analysis.simulation.question.workloads import Transfer, transfers_of
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import known_tier

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.nodes import Wire
    from lossless.analysis.simulation.question.scenario import Scenario

SLOW_XOFF_BYTES, SLOW_XON_BYTES = 512 << 10, 256 << 10
"""Where a slow receiver pauses and resumes its switch. No source states it of a NIC; it sets how often it pauses,
not for how long in all."""
DEAD_FROM_NS = 100_000
"""When a dead NIC begins to pause its switch: some way into the traffic."""
FOREVER_NS = 1e12


class Stage(NamedTuple):
    """A network, the names and roles of its nodes, and the fabric's links behind its cables."""

    network: Network
    names: tuple[str, ...]
    wires: tuple[Wire, ...]
    target: int
    roles: tuple[str, ...] = ()


def stage(found: Scenario, seed: int) -> Stage:
    """Return a scenario as the network of one seed."""
    rng = random.Random(seed)
    job = _job(found, rng)
    storage = _storage(found, rng)
    moved = (*job, *storage)
    paths = [found.routes.path(one.source, one.target, rng) for one in moved]
    used = sorted({node for path in paths for node in path})
    number = {node: at for at, node in enumerate(used)}
    wires = tuple(found.plant.wires[at] for at in found.routes.wires(paths))
    flows = tuple(
        _flow(found, one, tuple(number[node] for node in path), rng, at >= len(job))
        for at, (one, path) in enumerate(zip(moved, paths, strict=True))
    )
    network = Network(
        nodes=len(used),
        switches={number[node]: found.switch(node) for node in used if node in found.plant.switch_of},
        cables=tuple(_cable(found, wire, number) for wire in wires),
        flows=flows,
        classes=len(found.classes),
        holds=_holds(found, number),
        slow_hosts=_slow_hosts(found, number),
        physics=Physics(timeout_ms=found.timeout_ms),
    )
    names = tuple(found.plant.names[node] for node in used)
    return Stage(network, names, wires, number[found.target], tuple(_role(found, node) for node in used))


def _job(found: Scenario, rng: random.Random) -> tuple[Transfer, ...]:
    """Return what the question says moves, else one step of its pattern."""
    question = found.question
    if not question.moves:
        return transfers_of(question.pattern, found.nics, found.target, question.size_bytes, rng)
    node_of = {found.plant.names[nic]: nic for nic in found.nics}
    return tuple(Transfer(node_of[one.source], node_of[one.target], one.size_bytes) for one in question.moves)


def _role(found: Scenario, node: int) -> str:
    """Return what a node is: a switch by the word for its tier, where it is known, or a host."""
    switch = found.plant.switch_of.get(node)
    if switch is None:
        return "host"
    tier = known_tier(switch.tier)
    return tier.word if tier else "switch"


def _storage(found: Scenario, rng: random.Random) -> tuple[Transfer, ...]:
    """Return what NICs send as storage: each to one other, by chance."""
    share = found.question.storage
    if not share:
        return ()
    size = max(1, round(found.question.size_bytes * share / (1 - share)))
    return transfers_of("permutation", found.nics, found.target, size, rng)


def _flow(
    found: Scenario, one: Transfer, path: tuple[int, ...], rng: random.Random, is_storage: bool
) -> Flow:
    return Flow(
        path=path,
        size_bytes=one.size_bytes,
        traffic_class=int(is_storage),
        dcqcn=None if is_storage else found.dcqcn_of.get(one.source),
        mtu_bytes=found.mtu_bytes,
        after=one.after,
        lanes=tuple(rng.randrange(1 << 30) for _ in path[1:]),
    )


def _cable(found: Scenario, wire: Wire, number: dict[int, int]) -> Cable:
    reaction = found.reaction * reaction_ns(wire.rate_bps)
    return Cable(
        a=number[wire.a],
        b=number[wire.b],
        rate_bps=wire.rate_bps,
        propagation_ns=propagation_ns(wire.cable_m),
        a_end=found.end(wire.a, wire.a_port),
        b_end=found.end(wire.b, wire.b_port),
        a_reaction_ns=reaction,
        b_reaction_ns=reaction,
    )


def _holds(found: Scenario, number: dict[int, int]) -> tuple[Hold, ...]:
    if not found.question.dead_nic:
        return ()
    switch = found.plant.wires[found.plant.wires_of[found.target][0]].a
    return (Hold(number[switch], number[found.target], DEAD_FROM_NS, FOREVER_NS),)


def _slow_hosts(found: Scenario, number: dict[int, int]) -> tuple[SlowHost, ...]:
    drain_bps = found.question.slow_nic_bps
    if drain_bps is None:
        return ()
    return (SlowHost(number[found.target], drain_bps, SLOW_XOFF_BYTES, SLOW_XON_BYTES),)
