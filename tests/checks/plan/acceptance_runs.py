"""Acceptance tests run by the packet model: results as perftest and ``show`` print them, of a healthy or a faulty lab.

Two leaves with four hosts each and two spines, two cables from each leaf to each spine, all of 400 Gb/s. Each round of
a plan is one run of the packet model. No code that evaluates results is used here.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

from lossless.analysis.simulation.engine.network import (
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SlowHost,
)
from tests.analysis.simulation.made_networks import flow, made, run
from tests.checks.verify.test_traffic_tests import perftest
from tests.formats.intent.intent_texts import SHAPE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lossless.api import AcceptancePlan
    from lossless.checks.plan.acceptance import TestPair

Fault = Literal["none", "slow NIC", "link at half its rate", "missing map", "dead member"]
LAB = SHAPE.replace("2 x 400G", "1 x 400G").replace("2 x 800G", "2 x 400G")
RATE_BPS = 400e9
SLOW, HALF = "host3", "host2"
"""The host whose NIC takes in half of its rate, and the one whose link has half of it."""
_SPINES = (10, 11)
_UPLINK_PORTS = ("Ethernet16", "Ethernet20", "Ethernet24", "Ethernet28")
"""The ports of a leaf to the first and the second spine, two each; those of a spine are Ethernet0 to 12."""
_FLOWS = 8
_BYTES = 8_000_000
_UNTIL_NS = 2_000_000
_SCALE = 1000
"""The model runs a thousandth of the time of perftest or less."""


def written(folder: Path, plan: AcceptancePlan, fault: Fault = "none") -> None:
    """Write the results of the bandwidth and the DSCP step of a plan for the lab."""
    counts: dict[tuple[str, str], int] = {}
    for _, group in groupby(plan.pairs, key=lambda pair: pair.round):
        pairs = [*group]
        rates, sent = _round(pairs, fault)
        for pair, rate in zip(pairs, rates, strict=True):
            place = folder / "bandwidth" / pair.source
            place.mkdir(parents=True, exist_ok=True)
            text = perftest(rate, qps=pair.queue_pairs, link="Ethernet", size=1048576)
            (place / f"{pair.id}.txt").write_text(text)
        if pairs[0].id.startswith("across"):
            counts = sent
    for time in ("before", "after"):
        for switch in plan.switches:
            place = folder / "dscp" / "26" / time / switch
            place.mkdir(parents=True, exist_ok=True)
            ports = {port: count for (name, port), count in counts.items() if name == switch}
            queue = 0 if fault == "missing map" and switch == "leaf1" else 3
            text = queue_counters(ports, queue, later=time == "after")
            (place / "queues.txt").write_text(text)


def queue_counters(ports: dict[str, int], queue: int, *, later: bool) -> str:
    """Return what ``show queue counters`` prints: packets since boot, and of the test in one queue."""
    lines = ["==> show queue counters", "For namespace :"]
    lines += ["     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes"]
    lines += ["---------  -----  --------------  ---------------  -----------  ------------"]
    for port, count in ports.items():
        for number in (0, 3, 6):
            packets = 1000 * number + (200 if later else 0) + (count if later and number == queue else 0)
            lines.append(
                f"{port:>9}    UC{number} {packets:15,} {packets * 4200:16,}            0           N/A"
            )
    return "\n".join(lines) + "\n"


def _round(pairs: Sequence[TestPair], fault: Fault) -> tuple[list[float], dict[tuple[str, str], int]]:
    """Return the rate of each pair in Gb/s of payload, and the packets that left each port between switches."""
    end = SimPort((SimQueue(),), (SimGroup(None, 400_000, static_bytes=300_000),))
    switch = SimSwitch(buffer_bytes=64_000_000, pool_bytes=32_000_000)
    links = [(host, 8 + host // 4) for host in range(8)]
    links += [(leaf, spine) for leaf in (8, 9) for spine in _SPINES] * 2
    flows: list[SimFlow] = []
    for number, pair in enumerate(pairs):
        source, target = _node(pair.source), _node(pair.target)
        near, far = 8 + source // 4, 8 + target // 4
        for each in range(1 if near == far else _FLOWS):
            # A hash spreads the flows; a member that is dead in the forwarding of leaf1 gets none.
            choices = [(spine, lane) for spine in _SPINES for lane in (0, 1)]
            if fault == "dead member" and near == 8:
                choices = choices[1:]
            spine, lane = choices[(each + number) % len(choices)]
            path = (source, near, target) if near == far else (source, near, spine, far, target)
            # Acknowledgments go back on the same cables.
            back = 1 if fault == "dead member" and spine == _SPINES[0] else each // 4 % 2
            lanes = (0, 0) if near == far else (0, lane, back, 0)
            size = _BYTES if near == far else _BYTES // _FLOWS
            flows.append(SimFlow(path, size, mtu_bytes=4096, lanes=lanes))
    network = made(links, dict.fromkeys((8, 9, *_SPINES), switch), [], end, flows=flows, rate_bps=RATE_BPS)
    if fault == "slow NIC":
        slow = SlowHost(_node(SLOW), RATE_BPS / 2, 120_000, 60_000)
        network = network._replace(slow_hosts=(slow,))
    if fault == "link at half its rate":
        cables = [
            cable._replace(rate_bps=RATE_BPS / 2) if cable.a == _node(HALF) else cable
            for cable in network.cables
        ]
        network = network._replace(cables=tuple(cables))
    simulation = run(network, _UNTIL_NS)
    rates, first = [], 0
    for pair in pairs:
        own = [each for each in range(first, len(flows)) if flows[each].path[0] == _node(pair.source)]
        done_ps = max(int(flow(simulation, each)["done_at"]) for each in own)
        rates.append(sum(flows[each].size_bytes for each in own) * 8e3 / done_ps)
    sent = {}
    for leaf, name in ((8, "leaf1"), (9, "leaf2")):
        for place, (spine, lane) in enumerate((spine, lane) for spine in _SPINES for lane in (0, 1)):
            up, down = (
                simulation.index.wiring.link_of[ends][lane] for ends in ((leaf, spine), (spine, leaf))
            )
            frames = (int(simulation.state.queues[link]["sent_frames"]) * _SCALE for link in (up, down))
            (
                sent[name, _UPLINK_PORTS[place]],
                sent[f"spine{spine - 9}", f"Ethernet{4 * (2 * (leaf - 8) + lane)}"],
            ) = frames
    return rates, sent


def _node(host: str) -> int:
    return int(host.removeprefix("host")) - 1
