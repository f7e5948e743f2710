"""The packet-level model against a packet-level simulator: accuracy and speed, case by case.

    packet_sim.py [--summary] FILE...

Each FILE holds cases of the simulator. One JSON object goes to stdout: ``cases`` by name, medians over 12 seeds
where the file gives seeds, and ``summary``, for which alone the results in the files are read.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.packet_cases import network, read
from lossless.analysis.simulation.engine.run import Simulation, prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.packet_cases import Case

SEEDS = 12
TIMES = ("first_pfc_ns", "first_mark_ns", "first_drop_ns")
SAME_TIME_NS = 1000
WIRE_OVERHEAD_BYTES = 48
MEASURED = ("max_egress_B", "max_pg_B", *TIMES, "drops", "longest_pause_us")


def main() -> None:
    """Run every case of the files named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--summary", action="store_true", help="print the summary alone")
    given = parser.parse_args()
    prepare(rare=True)
    found: dict[str, Case] = {}
    recorded: dict[str, Case] = {}
    for file in given.files:
        cases, cc_sets = read(file)
        for case in cases:
            name = case["scenario"]["name"]
            found[name] = measure(case, cc_sets)
            recorded[name] = case
    summed = summary(found, recorded)
    json.dump(summed if given.summary else {"cases": found, "summary": summed}, sys.stdout, indent=1)
    sys.stdout.write("\n")


def measure(case: Case, cc_sets: dict[str, Any]) -> Case:
    """Return what the model says of one case: once, or medians over seeds with the list of each."""
    stop_ns = case["scenario"]["stop_ms"] * 1e6
    seeds = range(1, SEEDS + 1) if case.get("seeds") else [case["scenario"]["seed"]]
    simulation = Simulation(network(case["scenario"], cc_sets))
    runs = [once(simulation, stop_ns, seed) for seed in seeds]
    medians: Case = {name: median(run[name] for run in runs) for name in (*MEASURED, "model_s")}
    margins = [run["headroom_margin_B"] for run in runs if run["headroom_margin_B"] is not None]
    medians["headroom_margin_B"] = min(margins, default=None)
    if len(runs) > 1:
        medians["seeds"] = {name: [run[name] for run in runs] for name in (*MEASURED, "model_s")}
    return medians


def once(simulation: Simulation, stop_ns: float, seed: int) -> Case:
    """Return one run. ``model_s`` is what the simulator's own ``sim_run_s`` is: the run without its set-up."""
    started = time.perf_counter()
    simulation.restart(seed)
    simulation.advance(stop_ns)
    model_s = time.perf_counter() - started
    seen = simulation.outcome()
    return {
        "max_egress_B": seen.egress.bytes,
        "max_pg_B": seen.group.bytes,
        "first_pfc_ns": _ns(seen.first_pause_ns),
        "first_mark_ns": _ns(seen.first_mark_ns),
        "first_drop_ns": _ns(seen.first_drop_ns),
        "drops": seen.drops,
        "longest_pause_us": round(seen.longest_pause_ns / 1000, 3),
        "headroom_margin_B": _margin(simulation),
        "model_s": model_s,
    }


def _margin(simulation: Simulation) -> int | None:
    """Return the least that any headroom had left, of those that were used."""
    groups = simulation.state.groups
    used = groups[groups["max_headroom"] > 0]
    return int((used["headroom_bytes"] - used["max_headroom"]).min()) if len(used) else None


def _ns(when_ns: float | None) -> int:
    return -1 if when_ns is None else int(when_ns)


def median(values: Iterable[float]) -> float:
    """Return the median; of an even number the mean of the middle two.

    What never happened (-1) comes last: half of the runs without an event make it never.
    """
    ordered = sorted(values, key=lambda value: (value < 0, value))
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return -1 if min(middle) < 0 else statistics.median(middle)


def summary(found: dict[str, Case], recorded: dict[str, Case]) -> Case:
    """Return accuracy and speed over all cases."""
    theirs = {name: reference(case) for name, case in recorded.items()}
    wrong = {name: parts for name in found if (parts := wrong_parts(found[name], theirs[name]))}
    off_edges = [
        name
        for name, parts in wrong.items()
        if not all(knife_edge(part, found[name], theirs[name], recorded[name]) for part in parts)
    ]
    pfc_only = [
        n for n, case in recorded.items() if case["scenario"]["cc"] == "off" and not theirs[n]["drops"]
    ]
    dcqcn = [name for name, case in recorded.items() if case.get("seeds")]
    model_s = sum(case["model_s"] for case in found.values())
    reference_s = sum(case["model_s"] for case in theirs.values())
    return {
        "wrong_verdicts": len(wrong),
        "wrong": wrong,
        "wrong_off_knife_edges": off_edges,
        "pfc_only": errors(pfc_only, found, theirs),
        "dcqcn": errors(dcqcn, found, theirs),
        "model_s": model_s,
        "reference_s": reference_s,
        "ratio": reference_s / model_s,
    }


def reference(case: Case) -> Case:
    """Return the simulator's own results in the form of :func:`measure`."""
    runs = case.get("seeds") or [case["result"]]
    medians: Case = {name: median(run[name] for run in runs) for name in MEASURED}
    medians["model_s"] = median(run["sim_run_s"] for run in runs)
    medians["seeds"] = {name: [run[name] for run in runs] for name in MEASURED}
    return medians


def verdict(case: Case) -> dict[str, object]:
    """Return what a case decides: does PFC fire, does anything drop, which comes first, a mark or PFC."""
    pfc, mark = case["first_pfc_ns"], case["first_mark_ns"]
    first = None if pfc < 0 or mark < 0 else ("mark" if mark < pfc else "pfc")
    return {"pfc": pfc >= 0, "drop": case["first_drop_ns"] >= 0, "first": first}


def wrong_parts(ours: Case, theirs: Case) -> list[str]:
    """Return which parts of the verdict differ."""
    mine, other = verdict(ours), verdict(theirs)
    return [name for name in mine if mine[name] != other[name]]


def knife_edge(part: str, ours: Case, theirs: Case, case: Case) -> bool:
    """Return whether a part of a verdict turns on less than the facts of the field resolve.

    PFC or drops in 5 to 95 % of seeds; a headroom margin below one frame, of the side that drops nothing; a mark
    and PFC within 1 us.
    """
    if part == "first":
        return any(_race(one) for one in (ours, theirs))
    name = "first_pfc_ns" if part == "pfc" else "first_drop_ns"
    if any(_by_seed(one["seeds"][name]) for one in (ours, theirs) if "seeds" in one):
        return True
    if part == "pfc":
        return False
    margin = ours["headroom_margin_B"] if theirs["drops"] else theirs_margin(case)
    return margin is not None and bool(0 <= margin < case["scenario"]["mtu"] + WIRE_OVERHEAD_BYTES)


def _by_seed(when_ns: Sequence[float]) -> bool:
    return 0.05 <= sum(when >= 0 for when in when_ns) / len(when_ns) <= 0.95


def _race(one: Case) -> bool:
    pfc, mark = one["first_pfc_ns"], one["first_mark_ns"]
    return bool(pfc >= 0 and mark >= 0 and abs(pfc - mark) < SAME_TIME_NS)


def theirs_margin(case: Case) -> int | None:
    """Return the least headroom that was left in the simulator; None where the file does not have it."""
    headroom = {(port["sw"], port["nbr"]): port["headroom"] for port in case["scenario"]["ports"]}
    if case.get("per_port"):
        switches = case["per_port"]["switches"]
        used = {(sw["id"], port["nbr"]): port["max_hdrm"] for sw in switches for port in sw["ports"]}
        return min((headroom[place] - used[place] for place in headroom if used[place]), default=None)
    if len(set(headroom.values())) > 1:
        return None
    most = max(run["max_hdrm_B"] for run in case.get("seeds") or [case["result"]])
    return int(next(iter(headroom.values())) - most) if most else None


def errors(names: Sequence[str], found: dict[str, Case], theirs: dict[str, Case]) -> Case:
    """Return the errors of the peaks over some cases, as fractions."""
    out: Case = {"cases": len(names)}
    for short, name in (("egress", "max_egress_B"), ("pg", "max_pg_B")):
        off = sorted(_error(found[n][name], theirs[n][name]) for n in names)
        out[f"{short}_error_p50"], out[f"{short}_error_p90"] = quantile(off, 0.5), quantile(off, 0.9)
    return out


def _error(ours: float, theirs: float) -> float:
    return abs(ours - theirs) / max(ours, theirs, 1) if theirs == 0 else abs(ours / theirs - 1)


def quantile(ordered: Sequence[float], part: float) -> float | None:
    """Return a quantile of sorted values, linear between them; None of none."""
    if not ordered:
        return None
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


if __name__ == "__main__":
    main()
