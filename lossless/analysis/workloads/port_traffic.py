"""Traffic between NIC ports, all at once: the input of the packet-level model."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.analysis.workloads.collectives import domain_edges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.workloads.collectives import Demand

PortTraffic = dict[tuple[str, str], Fraction]
"""Bytes from each NIC port to each other."""


def port_traffic(demand: Demand, ports: Sequence[Sequence[str]], domain: int) -> PortTraffic:
    """Return the bytes that NIC ports send to each other; ``ports`` are those of each GPU.

    A GPU sends evenly over its ports, to the port of the other at the same index. Traffic between two GPUs that share a
    port stays off the wire. Traffic from outside the cluster, or for a switch, is left out.
    """
    traffic: PortTraffic = {}
    for source, target, size in _pairs(demand, len(ports), domain):
        near, far = ports[source], ports[target]
        for at, port in enumerate(near):
            pair = port, far[at % len(far)]
            traffic[pair] = traffic.get(pair, Fraction(0)) + size / len(near)
    return {pair: size for pair, size in traffic.items() if pair[0] != pair[1]}


def scaled(
    traffic: Mapping[tuple[str, str], Fraction], most_bytes: int
) -> tuple[dict[tuple[str, str], int], float]:
    """Return whole bytes of which no port sends more than about ``most_bytes``, and their part of all bytes."""
    by_port: dict[str, Fraction] = {}
    for (source, _), size in traffic.items():
        by_port[source] = by_port.get(source, Fraction(0)) + size
    part = min(Fraction(1), Fraction(most_bytes) / max(by_port.values(), default=Fraction(1)))
    return {pair: max(1, round(size * part)) for pair, size in traffic.items()}, float(part)


def _pairs(demand: Demand, gpus: int, domain: int) -> Iterator[tuple[int, int, Fraction]]:
    """Yield source GPU, destination GPU, and bytes."""
    if demand.peers == "all":
        each = demand.fabric_bytes / (gpus - domain)
        pairs = _everyone(gpus)
        yield from ((a, b, each) for a, b in pairs if a // domain != b // domain)
        return
    for source, target, size in _by_domain(demand, gpus // domain):
        for rank in range(domain):
            yield source * domain + rank, target * domain + rank, size


def _by_domain(demand: Demand, domains: int) -> Iterator[tuple[int, int, Fraction]]:
    if demand.peers == "rank":
        each = demand.fabric_bytes / (domains - 1)
        yield from ((a, b, each) for a, b in _everyone(domains))
    elif demand.peers in ("next", "chain", "tree"):
        yield from domain_edges(demand, domains)


def _everyone(many: int) -> Iterator[tuple[int, int]]:
    """Yield all pairs, first those of neighbors, so that the first destinations are all different."""
    return ((at, (at + far) % many) for far in range(1, many) for at in range(many))
