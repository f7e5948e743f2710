"""The cases of a packet-level simulator as networks: ns-3.39, inet-tub/ns3-datacenter @6ddb4a4.

What the simulator lacks is switched off: cells, preamble and gap, byte counter, the least factor of a cut, watchdog,
ACKs that compete with data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWred,
)

if TYPE_CHECKING:
    from pathlib import Path

Case = dict[str, Any]

_OVERHEAD_BYTES = 48
_PFC_BYTES = 43
_ACK_BYTES = 60


def read(file: Path) -> tuple[list[Case], dict[str, Any]]:
    """Return the cases of a file and its sets of DCQCN parameters."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return found["cases"], found["cc_sets"]


def network(scenario: Case, cc_sets: dict[str, Any]) -> SimNetwork:
    """Return one case as a network."""
    peers = _peers(scenario["links"])
    switches = {switch["id"]: switch for switch in scenario["switches"]}
    headroom = {(port["sw"], port["nbr"]): port["headroom"] for port in scenario["ports"]}
    dcqcn = _dcqcn(cc_sets[scenario["cc"]])
    return SimNetwork(
        nodes=scenario["n_nodes"],
        switches={number: _switch(one) for number, one in switches.items()},
        cables=tuple(_cable(link, scenario, switches, headroom) for link in scenario["links"]),
        flows=tuple(
            SimFlow(path(peers, set(switches), source, target), size, start, 0, dcqcn, scenario["mtu"])
            for source, target, size, start in scenario["flows"]
        ),
        holds=tuple(
            Hold(node, peer, begin, end, period, duty)
            for node, peer, begin, end, period, duty in scenario["force"]
        ),
        physics=Physics(_OVERHEAD_BYTES, 0, _PFC_BYTES, _ACK_BYTES, acks="apart", cnp_rides_ack=True),
    )


def _peers(links: list[Case]) -> dict[int, list[int]]:
    peers: dict[int, list[int]] = {}
    for link in links:
        peers.setdefault(link["a"], []).append(link["b"])
        peers.setdefault(link["b"], []).append(link["a"])
    return peers


def path(peers: dict[int, list[int]], switches: set[int], source: int, target: int) -> tuple[int, ...]:
    """Return the path of the simulator: among sorted next hops of shortest paths, number ``target`` modulo many."""
    far = {target: 0}
    reached = [target]
    for node in reached:
        for peer in peers[node] if node == target or node in switches else ():
            if peer not in far:
                far[peer] = far[node] + 1
                reached.append(peer)
    found = [source]
    while found[-1] != target:
        near = sorted(p for p in peers[found[-1]] if far.get(p) == far[found[-1]] - 1)
        found.append(near[target % len(near)])
    return tuple(found)


def _switch(one: Case) -> SimSwitch:
    pool = None if one["xoff_total"] < 0 else one["xoff_total"]
    return SimSwitch(one["total_bytes"], one["pool_bytes"], pool)


def _cable(
    link: Case, scenario: Case, switches: dict[int, Case], headroom: dict[tuple[int, int], int]
) -> SimCable:
    ecn = scenario["ecn"]
    wred = SimWred(ecn["kmin"], ecn["kmax"], ecn["pmax"]) if ecn["enabled"] else None

    def end(node: int, peer: int) -> SimPort | None:
        if node not in switches:
            return None
        one = switches[node]
        group = SimGroup(one["alpha"], headroom[node, peer], one["xon"], one["xon_offset"], one["reserved"])
        return SimPort((SimQueue(wred),), (group,))

    a, b, reaction = link["a"], link["b"], scenario["pfc_resp_ns"]
    ends = end(a, b), end(b, a)
    return SimCable(a, b, link["gbps"] * 1e9, link["delay_us"] * 1000, *ends, reaction, reaction)


def _dcqcn(one: Case) -> SimDcqcn | None:
    if not one["dcqcn"]:
        return None
    return SimDcqcn(
        g=one["g"],
        alpha_us=one["alpha_us"],
        decrease_us=one["dec_us"],
        increase_us=one["timer_us"],
        threshold=one["F"],
        ai_bps=one["rai"] * 1e6,
        hai_bps=one["rhai"] * 1e6,
        min_rate_bps=one["minrate"] * 1e6,
        cnp_gate_us=one["cnp_us"],
        clamp=bool(one["clamp"]),
    )
