"""The network of one seed of a scenario: its transfers, some random, and one of the equal paths for each flow.

Transfers are those of one step of jobs: senders, receivers, sizes, and the transfers that must be done before. Their
nodes are NIC ports. A *step* is a pattern from start to end, in which ``size_bytes`` is the message of one NIC.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import Hold, Physics, SimCable, SimFlow, SimNetwork, SlowHost
from lossless.analysis.simulation.question.lossy import with_selective_repeat, with_windows
from lossless.analysis.simulation.question.nodes import propagation_ns, reaction_ns
from lossless.analysis.simulation.question.request import choice_at, loads_at, spread_of
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import role_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.analysis.simulation.question.nodes import PortLink
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.model.fabric.cluster import Pattern


SLOW_XOFF_BYTES, SLOW_XON_BYTES = 512 << 10, 256 << 10
"""The bytes in the receive buffer at which a slow receiver pauses and resumes its switch. No source states them of a
NIC; they determine how often it pauses, not for how long in all."""
DEAD_FROM_NS = 100_000
"""When a dead NIC begins to pause its switch: some way into the traffic."""
FOREVER_NS = 1e12


class ScenarioInstance(NamedTuple):
    """The network of a seed, the names and roles of its nodes, the links of its cables, and whether its class is lossy.

    ``target`` is the node that an incast goes to, or that is dead or slow.
    """

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
        return transfers_in_groups(
            question.pattern, scenario.groups, scenario.target, question.size_bytes, rng
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
    return transfers_in_groups("permutation", scenario.groups, scenario.target, size, rng)


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


class Transfer(NamedTuple):
    """One transfer between NIC ports; ``after`` are the indexes of transfers that must be done before it starts."""

    source: int
    target: int
    size_bytes: int
    after: tuple[int, ...] = ()


def transfers_in_groups(
    pattern: Pattern, groups: Iterable[Sequence[int]], target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return one step of a pattern in each group; NIC ports of different groups exchange no traffic."""
    transfers: list[Transfer] = []
    for nics in groups:
        before = len(transfers)
        step = transfers_of(pattern, nics, target, size_bytes, rng)
        transfers += [one._replace(after=tuple(at + before for at in one.after)) for one in step]
    return tuple(transfers)


def transfers_of(
    pattern: Pattern, nics: Sequence[int], target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return one step of a pattern among NICs; ``target`` is the destination of an incast."""
    return _MAKERS[pattern](nics, target, size_bytes, rng)


def _incast(nics: Sequence[int], target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return all NICs but the target sending to it at once."""
    return tuple(Transfer(nic, target, size_bytes) for nic in nics if nic != target)


def _all_to_all(
    nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random
) -> tuple[Transfer, ...]:
    """Return every NIC sending an equal part to every other, each beginning with its neighbor."""
    many = len(nics)
    part = max(1, size_bytes // max(1, many - 1))
    return tuple(
        Transfer(nics[at], nics[(at + far) % many], part) for far in range(1, many) for at in range(many)
    )


def _ring(nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return a ring all-reduce: 2 (N - 1) rounds in which each passes a part on, once it has received the last."""
    many = len(nics)
    part = max(1, size_bytes // many)
    transfers: list[Transfer] = []
    for turn in range(2 * (many - 1)):
        for at in range(many):
            before = ((turn - 1) * many + (at - 1) % many,) if turn else ()
            transfers.append(Transfer(nics[at], nics[(at + 1) % many], part, before))
    return tuple(transfers)


def _tree(nics: Sequence[int], _target: int, size_bytes: int, _rng: random.Random) -> tuple[Transfer, ...]:
    """Return a binary tree all-reduce: up once both children have sent, down once the parent has."""
    many = len(nics)
    up = {child: number for number, child in enumerate(range(many - 1, 0, -1))}
    children = {parent: [c for c in (2 * parent + 1, 2 * parent + 2) if c < many] for parent in range(many)}
    transfers = [
        Transfer(nics[child], nics[(child - 1) // 2], size_bytes, tuple(up[c] for c in children[child]))
        for child in up
    ]
    down: dict[int, int] = {}
    for child in range(1, many):
        parent = (child - 1) // 2
        before = tuple(up[c] for c in children[0]) if parent == 0 else (down[parent],)
        down[child] = len(transfers)
        transfers.append(Transfer(nics[parent], nics[child], size_bytes, before))
    return tuple(transfers)


def _permutation(
    nics: Sequence[int], _target: int, size_bytes: int, rng: random.Random
) -> tuple[Transfer, ...]:
    """Return every NIC sending to one other and receiving from one other, at random."""
    order = list(nics)
    rng.shuffle(order)
    return tuple(Transfer(order[at - 1], order[at], size_bytes) for at in range(len(order)))


_MAKERS: dict[Pattern, Callable[[Sequence[int], int, int, random.Random], tuple[Transfer, ...]]] = {
    "incast": _incast,
    "all-to-all": _all_to_all,
    "ring": _ring,
    "tree": _tree,
    "permutation": _permutation,
}
