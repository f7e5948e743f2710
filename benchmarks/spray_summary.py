"""How near the model is to the simulator of spraying and lossy fabrics, by the kind of comparison that is meaningful.

1. exact, within one packet time: calibration, and the longest flow of lossless incasts;
2. within 10 %: goodput and longest flow of incasts that PFC or credit governs, capped queues, ingress counts, and first
   events where there is no choice of paths;
3. within a factor of 1.5 of the median, or inside the seeds' range: trims, retransmissions, marks, pauses, longest flow
   and queues where windows and hashes decide;
4. the verdict alone - always, sometimes or never - for trims, drops and pauses.

Of rows that the reference calls knife edges, and of single-path permutations, it holds the verdict alone to be
meaningful. What would be of class 2 there is counted apart, as ``knife_edge``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.spray_cases import Case

KNIFE_EDGE = "knife_edge"
KINDS = ("class_1", "class_2", "class_3", "class_4", KNIFE_EDGE)
_EVENTS = ("trims", "drops", "pauses")
_WINDOWED = ("trims", "retransmitted", "marks", "fct_max_us")
_LOSSLESS = ("pauses", "max_queue_bytes")


class Comparison:
    """One figure of one row: whether it agrees, in its class."""

    def __init__(self, kind: str, row: str, name: str, agrees: bool) -> None:
        self.kind = kind
        self.row = row
        self.name = name
        self.agrees = agrees


def summary(found: Case, recorded: Case, topologies: Case) -> Case:
    """Return what agrees in each class, what does not, and the times of both."""
    compared = [c for row in _rows(found, recorded, topologies) for c in row]
    kinds = {}
    for kind in KINDS:
        own = [c for c in compared if c.kind == kind]
        wrong = sorted(f"{c.row} {c.name}" for c in own if not c.agrees)
        kinds[kind] = {"figures": len(own), "agree": len(own) - len(wrong), "wrong": wrong}
    model_s = sum(run["model_s"][0] for runs in found.values() for run in runs.values())
    wall_s = sum(recorded[n]["runs"][m]["figures"]["wall_s"][0] for n, runs in found.items() for m in runs)
    return {**kinds, "model_s": model_s, "reference_s": wall_s, "ratio": wall_s / model_s}


def _rows(found: Case, recorded: Case, topologies: Case) -> Iterator[Iterator[Comparison]]:
    for number, runs in found.items():
        for mode, have in runs.items():
            yield _row(recorded[number], mode, have, topologies[recorded[number]["topology"]])


def _row(case: Case, mode: str, have: Case, topology: Case) -> Iterator[Comparison]:
    run = case["runs"][mode]
    want, row = run["figures"], f"{case['id']} {mode}"
    packet_us = case["wire_bytes_full_packet"] * 8e6 / topology["rate_bps"]
    incast = "incast" in case["tags"] and "victims" not in case["tags"]
    if "calibration" in case["tags"] or (incast and mode.startswith("roce")):
        for name in ("fct_p50_us", "fct_max_us") if "calibration" in case["tags"] else ("fct_max_us",):
            yield Comparison("class_1", row, name, abs(have[name][0] - want[name][0]) <= packet_us)
    kind = KNIFE_EDGE if run["knife_edge"] else "class_2"
    for name in _within_a_tenth(case, mode, want, incast):
        yield Comparison(kind, row, name, _near(have.get(name), want[name], 1.1))
    hashed = mode.endswith("ecmp") and "permutation" in case["tags"]
    if not run["knife_edge"] and not hashed:
        for name in _within_half(mode, topology):
            if name in want:
                yield Comparison("class_3", row, name, _inside(have[name], want[name]))
        for name in (name for name in _EVENTS if name in want):
            yield Comparison("class_4", row, name, _verdict(have[name]) == _verdict(want[name]))


def _within_a_tenth(case: Case, mode: str, want: Case, incast: bool) -> Iterator[str]:
    governed = mode.startswith(("roce", "rccc"))
    if incast and governed:
        yield from ("goodput_gbps", "fct_max_us")
    capped = (
        not mode.startswith("roce") and want["max_queue_bytes"][0] == case["switch"]["uec"]["queue_bytes"]
    )
    if capped or "no-path-choice" in case["tags"]:
        yield "max_queue_bytes"
    if mode.startswith("roce") and want["pauses"][1] > 0:
        yield "max_ingress_bytes"
    if "no-path-choice" in case["tags"]:
        yield from (name for name in ("first_pause_us", "first_trim_us") if name in want)


def _within_half(mode: str, topology: Case) -> Iterator[str]:
    if mode.startswith("nscc"):
        yield from _WINDOWED
    if mode.startswith("roce"):
        single_path = mode == "roce-ecmp" and topology["tiers"] == 3
        yield from (name for name in _LOSSLESS if not (single_path and name == "pauses"))
    if mode in ("nscc-spray", "nscc-ar", "nscc-rr", "nscc-reps"):
        yield "max_queue_bytes"


def _near(have: Any, want: Any, factor: float) -> bool:
    if have is None:
        return False
    return bool(want[0] / factor <= have[0] <= want[0] * factor)


def _inside(have: Any, want: Any) -> bool:
    return bool(want[1] <= have[0] <= want[2]) or _near(have, want, 1.5)


def _verdict(figure: Any) -> str:
    return "never" if figure[2] == 0 else "always" if figure[1] > 0 else "sometimes"
