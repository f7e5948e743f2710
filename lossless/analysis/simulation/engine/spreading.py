"""The links that lead toward each switch at the same cost, for flows whose links are chosen switch by switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import window_records
from lossless.analysis.simulation.engine.equal_paths import EqualPaths
from lossless.analysis.simulation.engine.network import SimSpread
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.wiring import Wiring

CHOICES = {"hash": 1, "in turn": 2, "adaptive": 3, "flowlets": 4, "flow hash": 5}
"""As :mod:`.kernel.paths` numbers them."""


class Spreading(NamedTuple):
    """``routes[unit, edge]`` is the fan of a switch toward another, -1 at that one itself; ``links`` are in fans."""

    routes: Any
    fans: Any
    flowlets: Any
    links: tuple[int, ...]


def spread(network: SimNetwork, wiring: Wiring, flows: Any, place: Sequence[int], first: int) -> Spreading:
    """Return the fans of a network, and set the fields of its flows that depend on them; links start at ``first``."""
    kinds = [
        (n, flow.path[-2], flow.spread) for n, flow in enumerate(network.flows) if flow.spread is not None
    ]
    leaves = {node for n, *_ in kinds for node in (network.flows[n].path[1], network.flows[n].path[-2])}
    edges = {node: number for number, node in enumerate(sorted(leaves))}
    fans: dict[tuple[int, ...], int] = {}
    routes = np.full((len(network.switches) if edges else 0, len(edges)), -1, np.int32)
    paths = EqualPaths(network, wiring.link_of)
    for edge, column in edges.items():
        for node, links in paths.toward(edge).items():
            routes[wiring.unit_of[node], column] = fans.setdefault(links, len(fans))
    for number, edge, kind in kinds:
        own = flows[place[number]]
        _set_flow(own, kind, edges[edge], wiring.routes[number][-1])
        if own["acks"] >= 0:
            # Switches hash what is short, whatever they do with data (uet-htsim @40ccb05).
            back = SimSpread("hash", kind.entropies if kind.choice == "hash" else 1)
            near = network.flows[number].path[1]
            _set_flow(flows[own["acks"]], back, edges[near], wiring.returns[number][-1])
    return Spreading(
        routes, _fans(fans, first), _flowlets(network, flows), tuple(at for of in fans for at in of)
    )


def _set_flow(record: Any, kind: SimSpread, edge: int, last_link: int) -> None:
    record["stamped"], record["spread"], record["entropies"] = True, CHOICES[kind.choice], kind.entropies
    record["edge"], record["last_link"] = edge, last_link


def _fans(fans: Mapping[tuple[int, ...], int], first: int) -> Any:
    records = np.zeros(len(fans), window_records.FAN)
    for record, links in zip(records, fans, strict=True):
        record["first"], record["links"] = first, len(links)
        first += len(links)
    return records


def _flowlets(network: SimNetwork, flows: Any) -> Any:
    """Return the memory that switches have of flows, empty if no flow is moved between gaps."""
    moved = bool((flows["spread"] == CHOICES["flowlets"]).any())
    moved = moved or any(switch.choice == "flowlets" for switch in network.switches.values())
    kept = np.zeros((len(network.switches) if moved else 0, len(flows)), window_records.FLOWLET)
    kept["link"] = -1
    return kept
