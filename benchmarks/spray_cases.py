"""Scenarios of a simulator of spraying and lossy fabrics as networks: uet-htsim @40ccb05, by mode.

What the simulator lacks is switched off: cells, preamble and gap, a shared buffer, latency of switches. A port's queue
counts the packet being sent there (``until_sent``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
    SimWindow,
    SimWred,
)

if TYPE_CHECKING:
    from pathlib import Path

Case = dict[str, Any]

HEADER_BYTES = 64
SHORT_BYTES = 64
"""An ACK, a NACK, credit, and a trimmed packet."""
_CREDIT_BYTES = 16_384
_LEVELS = (0.05, 0.1, 0.2)
_SAMPLE_NS, _FLOWLET_US, _AHEAD = 100, 10, 64
_SPREADS = {
    "ecmp": SimSpread("hash"),
    "spray": SimSpread("hash", entropies=64),
    "notrim": SimSpread("hash", entropies=64),
    "reps": SimSpread("hash", entropies=256, recycles=True),
    "ar": SimSpread("adaptive"),
    "rr": SimSpread("in turn"),
    "inorder": SimSpread("in turn"),
    "flowlet": SimSpread("flowlets"),
    "rccc": SimSpread("hash", entropies=64),
}


def read(file: Path) -> tuple[list[Case], dict[str, Case]]:
    """Return the cases of a file and its topologies."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return found["cases"], found["topologies"]


def node_kinds(topology: Case) -> dict[int, str]:
    """Return the kind of each node by its number."""
    return {number: node["kind"] for number, node in enumerate(topology["nodes"])}


def network(case: Case, topology: Case, mode: str) -> SimNetwork:
    """Return a scenario under a mode as a network."""
    numbers = {node["id"]: number for number, node in enumerate(topology["nodes"])}
    kinds = {node["id"]: node["kind"] for node in topology["nodes"]}
    rates: dict[frozenset[str], float] = {
        frozenset(o["link"].split("-")): o["rate_bps"] for o in case["link_rate_overrides"]
    }
    gone = {frozenset(link.split("-")) for link in case["failed_links"]}
    links = [(a, b) for a, b in topology["links"] if frozenset((a, b)) not in gone]
    lossless = mode.startswith("roce")
    to_host, beyond = (
        _lossless_end(case) if lossless else _lossy_end(case, mode, to_host=near) for near in (True, False)
    )
    cables = tuple(
        SimCable(
            numbers[a],
            numbers[b],
            rates.get(frozenset((a, b)), float(topology["rate_bps"])),
            float(topology["delay_ns"]),
            None if kinds[a] == "host" else (to_host if kinds[b] == "host" else beyond),
            None if kinds[b] == "host" else (to_host if kinds[a] == "host" else beyond),
        )
        for a, b in links
    )
    switch = SimSwitch(UNBOUNDED, UNBOUNDED, loads=_loads(case, lossless))
    paths = _Paths(links, numbers)
    window = None if lossless else _window(case, topology, mode)
    ahead = _AHEAD if mode in ("roce-ar", "roce-rr", "roce-flowlet") else None
    key = mode.replace("+", "-").split("-")[-1]
    flows = tuple(
        SimFlow(
            paths.of(numbers[f"h{source}"], numbers[f"h{target}"]),
            size,
            start_ns,
            mtu_bytes=case["payload_bytes"],
            spread=_SPREADS[key],
            ahead_frames=ahead,
            window=window,
        )
        for source, target, size, start_ns in case["flows"]
    )
    return SimNetwork(
        nodes=len(numbers),
        switches={numbers[name]: switch for name, kind in kinds.items() if kind != "host"},
        cables=cables,
        flows=flows,
        classes=1 if lossless else 2,
        physics=Physics(HEADER_BYTES, 0, 1, SHORT_BYTES, acks="data"),
    )


def _loads(case: Case, lossless: bool) -> SimLoads:
    switch = case["switch"]
    reference = switch["roce"]["ar_reference_bytes"] if lossless else switch["uec"]["queue_bytes"]
    low, middle, high = (round(part * reference) for part in _LEVELS)
    return SimLoads((low, middle, high), _SAMPLE_NS, _FLOWLET_US)


def _lossless_end(case: Case) -> SimPort:
    roce = case["switch"]["roce"]
    xon, xoff = roce["pfc_xon_bytes"], roce["pfc_xoff_bytes"]
    group = SimGroup(None, 1 << 40, xon, xoff - xon, 0, xoff)
    return SimPort((SimQueue(until_sent=True),), (group,))


def _lossy_end(case: Case, mode: str, *, to_host: bool) -> SimPort:
    uec = case["switch"]["uec"]
    wred = SimWred(uec["ecn_kmin_bytes"], uec["ecn_kmax_bytes"], 1.0)
    trim = None if "notrim" in mode else SimTrim(SHORT_BYTES, 1)
    short = SimQueue(strict=True, limit_bytes=2 * uec["queue_bytes"])
    groups = (SimGroup(None, None, static_bytes=UNBOUNDED),) * 2
    marks = None if to_host and "rccc" in mode else wred
    data = SimQueue(marks, limit_bytes=uec["queue_bytes"], trim=trim, until_sent=True)
    return SimPort((data, short), groups)


def _window(case: Case, topology: Case, mode: str) -> SimWindow:
    hops = 2 * topology["tiers"]
    wire_bytes, rate_bps = case["wire_bytes_full_packet"], topology["rate_bps"]
    serial_us = (wire_bytes + SHORT_BYTES) * 8e6 / rate_bps
    trims = "notrim" not in mode
    queue_us = case["switch"]["uec"]["queue_bytes"] * 8e6 / rate_bps
    return SimWindow(
        base_rtt_us=hops * (serial_us + 2 * topology["delay_ns"] / 1000),
        control="nscc" if "nscc" in mode else "none",
        target_rtts=0.75 if trims else 1.0,
        timeout_us=15 + 6 * queue_us,
        credit_bytes=_CREDIT_BYTES if "rccc" in mode else 0,
    )


class _Paths:
    """A shortest path between any two hosts."""

    def __init__(self, links: list[tuple[str, str]], numbers: dict[str, int]) -> None:
        self._peers: dict[int, list[int]] = {}
        for a, b in links:
            self._peers.setdefault(numbers[a], []).append(numbers[b])
            self._peers.setdefault(numbers[b], []).append(numbers[a])
        self._from: dict[int, dict[int, int]] = {}

    def of(self, source: int, target: int) -> tuple[int, ...]:
        before = self._from.setdefault(source, self._tree(source))
        found = [target]
        while found[-1] != source:
            found.append(before[found[-1]])
        return tuple(reversed(found))

    def _tree(self, source: int) -> dict[int, int]:
        before = {source: source}
        reached = [source]
        for node in reached:
            for peer in self._peers[node]:
                if peer not in before:
                    before[peer] = node
                    reached.append(peer)
        return before
