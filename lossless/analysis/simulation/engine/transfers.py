"""The arrays of flows: transfers, the ACKs that answer them, and DCQCN at both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import records
from lossless.analysis.simulation.engine.wiring import acks_apart
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.engine.network import SimDcqcn, SimNetwork
    from lossless.analysis.simulation.engine.wiring import Wiring

PS_PER_BYTE = 8e12
"""Picoseconds a byte takes at 1 b/s."""
_COPIED = (
    "g", "initial_alpha", "alpha_to_rate", "min_decrease", "min_rate_bps", "ai_bps", "hai_bps", "first_rate_bps",
    "release_bps",
    "byte_reset", "threshold", "clamp", "clamp_after_increase", "pacing_lock",
)  # fmt: skip
_TIMERS = (
    ("alpha_ps", "alpha_us"),
    ("decrease_ps", "decrease_us"),
    ("increase_ps", "increase_us"),
    ("cnp_gate_ps", "cnp_gate_us"),
)


class Transfers(NamedTuple):
    """Arrays of flows, and ``place``: the index in them of flow i of the network."""

    flows: Any
    points: Any
    params: Any
    cnps: Any
    paths: Any
    place: tuple[int, ...]


def transfers(network: SimNetwork, wiring: Wiring, links: Any) -> Transfers:
    """Return the arrays of all flows; those of one NIC are adjacent, ACKs that travel apart first."""
    many = len(network.flows)
    routes = [*wiring.routes, *(wiring.returns[number] for number in wiring.acked)]
    apart = [False] * many + [acks_apart(network, number) for number in wiring.acked]
    order = sorted(range(len(routes)), key=lambda i: (routes[i][0], not apart[i], i))
    place = {number: at for at, number in enumerate(order)}
    flows, points = np.zeros(len(routes), records.FLOW), np.zeros(len(routes), records.POINT)
    _set_paths(flows, [routes[number] for number in order])
    data = np.array([place[number] for number in range(many)], np.int64)
    acks = np.array([place[many + number] for number in range(len(wiring.acked))], np.int64)
    for name in ("done_at", "nacked_psn", "acks", "told", "dcqcn"):
        flows[name] = -1
    flows["rewind_at"] = records.NEVER
    flows["nack_ps"] = round(network.physics.nack_interval_us * 1e6)
    flows["ack_every"] = network.physics.ack_every
    _set_data(flows, points, data, network, wiring, links)
    _set_acks(flows, acks, data[list(wiring.acked)], network, wiring)
    sets = dcqcn_sets(network)
    flows["dcqcn"][data] = [-1 if flow.dcqcn is None else sets.index(flow.dcqcn) for flow in network.flows]
    paths = [link for number in order for link in routes[number]]
    paths += _set_followers(flows, network, place, len(paths))
    first_links, starts, counts = np.unique(flows["first_link"], return_index=True, return_counts=True)
    links["first_flow"][first_links], links["flows"][first_links] = starts, counts
    np.add.at(links["ack_flows"], flows["first_link"][flows["apart"] == 1], 1)
    depth = _cnp_depth(network, flows) if sets else 1
    return Transfers(
        flows=flows,
        points=points,
        params=dcqcn_params(sets),
        cnps=np.zeros((len(flows), depth), np.int64),
        paths=np.array(paths, np.int32),
        place=tuple(place[number] for number in range(many)),
    )


def _set_paths(flows: Any, routes: Sequence[Sequence[int]]) -> None:
    hops = np.array([len(route) for route in routes], np.int32)
    flows["first_hop"] = np.cumsum(hops) - hops
    flows["first_link"] = [route[0] for route in routes]


def _set_data(flows: Any, points: Any, data: Any, network: SimNetwork, wiring: Wiring, links: Any) -> None:
    physics = network.physics
    starts = [records.NEVER if flow.after else round(flow.start_ns * 1000) for flow in network.flows]
    flows["next_at"][data] = flows["started_at"][data] = starts
    flows["size_bytes"][data] = [flow.size_bytes for flow in network.flows]
    flows["mtu_bytes"][data] = [flow.mtu_bytes for flow in network.flows]
    flows["priority"][data] = [flow.traffic_class for flow in network.flows]
    flows["overhead_bytes"][data] = physics.overhead_bytes
    flows["timeout_ps"][data] = 0 if physics.timeout_ms is None else round(physics.timeout_ms * 1e9)
    flows["counts"][data] = 1
    flows["taken"][data] = records.IN_ORDER
    flows["cnp_rides_ack"][data] = physics.cnp_rides_ack
    size = physics.ack_frame_bytes + physics.gap_bytes
    one_way = links["propagation_ps"] + np.rint(size * links["ps_per_byte"]).astype(np.int64)
    flows["feedback_ps"][data] = [int(one_way[list(back)].sum()) for back in wiring.returns]
    line_bps = PS_PER_BYTE / links["ps_per_byte"][flows["first_link"]]
    for name in ("line_bps", "rate_bps", "target_bps"):
        points[name] = line_bps
    points["next_increase_at"] = records.NEVER


def _set_acks(flows: Any, acks: Any, answered: Any, network: SimNetwork, wiring: Wiring) -> None:
    """An ACK counts as one byte of payload in a frame of its size."""
    flows["acks"][answered] = acks
    flows["taken"][acks] = records.ACKS
    flows["mtu_bytes"][acks] = 1
    flows["overhead_bytes"][acks] = network.physics.ack_frame_bytes - 1
    apart = np.array([acks_apart(network, number) for number in wiring.acked], bool)
    flows["apart"][acks] = apart
    flows["priority"][acks] = np.where(apart, wiring.classes - 1, flows["priority"][answered])


def _set_followers(flows: Any, network: SimNetwork, place: dict[int, int], first: int) -> list[int]:
    """Set how many flows each waits for, and return the numbers of those that wait, to stand from ``first`` on."""
    waiting: dict[int, list[int]] = {}
    for number, flow in enumerate(network.flows):
        flows["waits_for"][place[number]] = len(flow.after)
        for before in flow.after:
            waiting.setdefault(place[before], []).append(place[number])
    listed: list[int] = []
    for number, followers in waiting.items():
        flows["first_follower"][number], flows["followers"][number] = first + len(listed), len(followers)
        listed += followers
    return listed


def dcqcn_sets(network: SimNetwork) -> list[SimDcqcn]:
    """Return the sets of DCQCN parameters that flows have, in the order of their numbers."""
    return sorted({flow.dcqcn for flow in network.flows if flow.dcqcn is not None})


def dcqcn_params(sets: Sequence[SimDcqcn]) -> Any:
    """Return the records of sets of DCQCN parameters."""
    params = np.zeros(len(sets), records.DCQCN)
    for record, dcqcn in zip(params, sets, strict=True):
        for name in _COPIED:
            record[name] = getattr(dcqcn, name)
        for name, timer in _TIMERS:
            record[name] = round(getattr(dcqcn, timer) * 1e6)
    return params


def _cnp_depth(network: SimNetwork, flows: Any) -> int:
    """Return how many CNPs of one flow can be under way: the frames that its last link carries in the feedback time."""
    fastest = max(cable.rate_bps for cable in network.cables)
    smallest = min(flow.mtu_bytes for flow in network.flows) + network.physics.overhead_bytes
    frame_ps = smallest * PS_PER_BYTE / fastest
    longest = int(flows["feedback_ps"].max()) + 1000 * max(cable.propagation_ns for cable in network.cables)
    return 8 + int(longest / frame_ps)
