"""The packet-level model of spraying and lossy fabrics against a simulator of them: accuracy and speed, case by case.

    spray_sim.py [--summary] FILE...

Each FILE holds scenarios, and what the simulator recorded under some modes. One JSON object goes to stdout: ``cases``
by id and mode, each figure as median, least and most over the file's seeds, and ``summary``, for which alone the
results in the files are read.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.spray_cases import network, node_kinds, read
from benchmarks.spray_summary import summary
from lossless.analysis.simulation.engine.run import Simulation, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.spray_cases import Case

STOP_NS = 20e6
"""The simulator's own end: 20 ms."""


def main() -> None:
    """Run every scenario of the files named on the command line, under every mode that was recorded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", help="run only scenarios whose ids contain this")
    parser.add_argument("--summary", action="store_true", help="print the summary alone")
    given = parser.parse_args()
    prepare(rare=True)
    found: dict[str, Case] = {}
    recorded: dict[str, Case] = {}
    known: dict[str, Case] = {}
    for file in given.files:
        cases, topologies = read(file)
        known |= topologies
        for case in cases:
            if given.only in case["id"]:
                topology = topologies[case["topology"]]
                recorded[case["id"]] = case
                found[case["id"]] = {
                    m: measure(case, topology, m, case["runs"][m]["seeds"]) for m in case["runs"]
                }
    summed = summary(found, recorded, known)
    json.dump(summed if given.summary else {"cases": found, "summary": summed}, sys.stdout, indent=1)
    sys.stdout.write("\n")


def measure(case: Case, topology: Case, mode: str, seeds: Sequence[int]) -> Case:
    """Return the figures of one scenario under a mode: median, least and most over seeds."""
    simulation = Simulation(network(case, topology, mode))
    runs = [once(simulation, case, topology, seed) for seed in seeds]
    return {
        name: [statistics.median(values), min(values), max(values)]
        for name in runs[0]
        if (values := [run[name] for run in runs if run[name] is not None])
    }


def once(simulation: Simulation, case: Case, topology: Case, seed: int) -> Case:
    """Return the figures of one run."""
    started = time.perf_counter()
    simulation.restart(seed)
    simulation.advance(STOP_NS)
    model_s = time.perf_counter() - started
    return {**figures(simulation, case, topology), "model_s": model_s}


def figures(simulation: Simulation, case: Case, topology: Case) -> Case:
    """Return what the simulator's figures are called, in its units."""
    state, classes = simulation.state, simulation.index.classes
    clock, kinds = state.clock[0], node_kinds(topology)
    queues = state.queues.reshape(-1, classes)[:, 0]
    tiers = [_tier(kinds[a], kinds[b]) for a, b in simulation.index.wiring.ends]
    deepest: dict[str, int] = {}
    for tier, queue in zip(tiers, queues, strict=True):
        if tier:
            deepest[tier] = max(deepest.get(tier, 0), int(queue["max_bytes"]))
    data = state.flows[state.flows["counts"] == 1]
    times = sorted(((data["done_at"] - data["started_at"])[data["done_at"] >= 0] / 1e6).tolist())
    ended_us = int(data["done_at"].max()) / 1e6
    payload = sum(size for *_, size, _ in case["flows"])
    groups = state.groups.reshape(-1, classes)[:, 0]
    return {
        "max_queue_bytes": max(deepest.values()),
        **{f"maxq.{tier}": held for tier, held in deepest.items()},
        "max_ingress_bytes": int(groups["max_bytes"].max()),
        "marks": int(clock["marks"]),
        "trims": int(clock["trims"]),
        "drops": int(clock["drops"]),
        "pauses": int(clock["pauses"]),
        "first_pause_us": _us(clock["first_pause_at"]),
        "first_mark_us": _us(clock["first_mark_at"]),
        "first_trim_us": _us(clock["first_trim_at"]),
        "first_drop_us": _us(clock["first_drop_at"]),
        "retransmitted": int(clock["resent"]),
        "fct_p50_us": _percentile(times, 50),
        "fct_p99_us": _percentile(times, 99),
        "fct_max_us": times[-1] if times else None,
        "goodput_gbps": payload * 8 / ended_us / 1000 if ended_us > 0 else None,
        "unfinished": len(data) - len(times),
        "lost_news": int(clock["lost_news"]),
        "events": int(clock["events"]),
    }


def _tier(sender: str, receiver: str) -> str | None:
    names = {
        ("tor", "host"): "tor_down",
        ("tor", "spine"): "tor_up",
        ("tor", "agg"): "tor_up",
        ("spine", "tor"): "spine_or_agg_down",
        ("agg", "tor"): "spine_or_agg_down",
        ("agg", "core"): "agg_up",
        ("core", "agg"): "core_down",
    }
    return names.get((sender, receiver))


def _us(at_ps: Any) -> float | None:
    return None if at_ps < 0 else int(at_ps) / 1e6


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    """Return the nearest-rank percentile."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else None


if __name__ == "__main__":
    main()
