"""The packet-level model against a packet-level simulation (ns-3.39, inet-tub/ns3-datacenter @6ddb4a4)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.packet_cases import Case, network, path, read
from benchmarks.packet_sim import MEASURED, SEEDS, measure, median, quantile, summary, verdict
from tests.paths import ROOT

pytestmark = [pytest.mark.tools("records"), pytest.mark.xdist_group("packet model")]

SCRIPT = ROOT / "benchmarks" / "packet_sim.py"
FILES = ("designed.json", "random.json")


class Measured(NamedTuple):
    """Every case of both files as recorded, what the model says of it, and the summary of all."""

    recorded: dict[str, Case]
    found: dict[str, Case]
    summary: Case


@pytest.fixture(scope="module")
def folder(reference: Path) -> Path:
    return reference / "reference" / "packet-sim"


@pytest.fixture(scope="module")
def measured(folder: Path) -> Measured:
    recorded: dict[str, Case] = {}
    found: dict[str, Case] = {}
    for name in FILES:
        cases, cc_sets = read(folder / name)
        recorded |= {case["scenario"]["name"]: case for case in cases}
        found |= {case["scenario"]["name"]: measure(case, cc_sets) for case in cases}
    return Measured(recorded, found, summary(found, recorded))


def runs(case: Case) -> list[Case]:
    """Return the recorded runs of a case: one, or one for each seed."""
    return list(case.get("seeds") or [case["result"]])


def untimed(part: Any) -> Any:
    """Return a result without what differs between two runs of the same: the time they took."""
    if isinstance(part, dict):
        return {name: untimed(one) for name, one in part.items() if name not in ("model_s", "ratio")}
    return part


# --- accuracy ---


def test_all_cases_of_both_files_are_checked(measured: Measured) -> None:
    assert len(measured.found) == len(measured.recorded) == 33 + 160


def test_marks_that_come_first_do_not_keep_pfc_silent(measured: Measured) -> None:
    """The counts of docs/guides/simulate.md, of the first seed of each recorded case."""
    marked = [case["result"] for case in measured.recorded.values() if case["result"]["first_mark_ns"] >= 0]
    firing = [run for run in marked if run["first_pfc_ns"] >= 0]
    later = [run for run in firing if run["first_pfc_ns"] <= run["first_mark_ns"]]
    assert (len(marked), len(marked) - len(later), len(firing)) == (134, 133, 63)


def test_no_verdict_is_wrong_off_the_knife_edges(measured: Measured) -> None:
    assert measured.summary["wrong_off_knife_edges"] == []


def test_at_most_one_verdict_in_a_hundred_is_wrong_on_knife_edges_too(measured: Measured) -> None:
    assert measured.summary["wrong_verdicts"] <= len(measured.found) / 100


@pytest.mark.parametrize(("part", "when"), [("pfc", "first_pfc_ns"), ("drop", "first_drop_ns")])
def test_pfc_and_drops_are_checked_right_wherever_the_seeds_agree(
    measured: Measured, part: str, when: str
) -> None:
    """Stricter than the knife edges: a full headroom, which every drop has, excuses nothing here."""
    agreed = {
        name: seen.pop()
        for name, case in measured.recorded.items()
        if len(seen := {run[when] >= 0 for run in runs(case)}) == 1
    }
    assert len(agreed) > 180
    assert {name: verdict(measured.found[name])[part] for name in agreed} == agreed


def test_peaks_without_congestion_control_are_those_of_the_simulator(measured: Measured) -> None:
    errors = measured.summary["pfc_only"]
    assert errors["cases"] == 29
    assert errors["egress_error_p90"] <= 0.01
    assert errors["pg_error_p90"] <= 0.03


def test_median_peaks_under_dcqcn_are_those_of_the_simulator(measured: Measured) -> None:
    errors = measured.summary["dcqcn"]
    assert errors["cases"] == 149
    assert errors["egress_error_p90"] <= 0.03
    assert errors["pg_error_p90"] <= 0.05


def test_pfc_without_congestion_control_starts_to_the_nanosecond_where_the_simulators_does(
    measured: Measured,
) -> None:
    """Up to the first pause nothing is random but the order of what comes at one instant."""
    single = {
        name: case["result"]["first_pfc_ns"]
        for name, case in measured.recorded.items()
        if case["scenario"]["cc"] == "off" and case["scenario"]["topo"] == "single"
    }
    assert len(single) > 20
    assert {name: measured.found[name]["first_pfc_ns"] for name in single} == single


# --- how errors are counted ---


def test_a_loss_of_many_frames_that_is_missed_is_on_no_knife_edge(folder: Path, measured: Measured) -> None:
    """The simulator drops 257,780 frames of D01; given ten times its headroom the model drops none."""
    cases, cc_sets = read(folder / "designed.json")
    name = "D01_hdrm_0.3"
    scenario = next(case["scenario"] for case in cases if case["scenario"]["name"] == name)
    roomy = [{**port, "headroom": 10 * port["headroom"]} for port in scenario["ports"]]
    lossless = measure({"scenario": {**scenario, "ports": roomy}}, cc_sets)
    assert lossless["drops"] == 0
    counted = summary({**measured.found, name: lossless}, measured.recorded)
    assert counted["wrong"][name] == ["drop"]
    assert name in counted["wrong_off_knife_edges"]


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([3, 1, 2], 2),
        ([4, 1, 2, 3], 2.5),
        ([-1, -1, 5, 7], -1),
        ([-1, 5, 6, 7], 6.5),
        ([-1, -1], -1),
        ([8], 8),
    ],
)
def test_a_median_never_averages_a_time_with_never(values: list[float], middle: float) -> None:
    assert median(values) == middle


@pytest.mark.parametrize(("part", "value"), [(0, 0), (0.5, 20), (0.9, 36), (1, 40)])
def test_a_quantile_lies_between_its_neighbors(part: float, value: float) -> None:
    assert quantile([0, 10, 20, 30, 40], part) == pytest.approx(value)
    assert quantile([7], part) == 7


# --- what is measured, and from what ---


def test_medians_are_taken_over_twelve_seeds_where_the_file_has_seeds(measured: Measured) -> None:
    for name, case in measured.recorded.items():
        lists = measured.found[name].get("seeds")
        assert (lists is not None) == bool(case.get("seeds"))
        assert lists is None or {len(lists[one]) for one in MEASURED} == {SEEDS}


def test_a_summary_needs_nothing_but_the_cases(measured: Measured) -> None:
    written = json.loads(json.dumps(measured.found))
    assert summary(written, measured.recorded) == measured.summary


def test_recorded_results_do_not_change_what_is_measured(folder: Path, measured: Measured) -> None:
    cases, cc_sets = read(folder / "designed.json")
    for case in cases[::4]:
        blind = {"scenario": case["scenario"], "seeds": case.get("seeds") and [{}] * SEEDS}
        assert untimed(measure(blind, cc_sets)) == untimed(measured.found[case["scenario"]["name"]])


def test_the_script_prints_one_object_of_the_cases_it_is_given(
    folder: Path, tmp_path: Path, measured: Measured
) -> None:
    whole = json.loads((folder / "designed.json").read_text(encoding="utf-8"))
    few = [
        next(case for case in whole["cases"] if bool(case.get("seeds")) is seeded) for seeded in (True, False)
    ]
    file = tmp_path / "two.json"
    file.write_text(json.dumps({**whole, "cases": few}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(file)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    printed = json.loads(done.stdout)
    names = [case["scenario"]["name"] for case in few]
    assert done.stderr == ""
    assert list(printed) == ["cases", "summary"]
    assert untimed(printed["cases"]) == {name: untimed(measured.found[name]) for name in names}
    assert summary(printed["cases"], {name: measured.recorded[name] for name in names}) == printed["summary"]


# --- cases as networks ---


def test_a_case_takes_over_every_number_of_its_scenario(folder: Path) -> None:
    cases, cc_sets = read(folder / "designed.json")
    case = next(one for one in cases if one["scenario"]["name"].startswith("F") and one["seeds"])["scenario"]
    made = network(case, cc_sets)
    assert [(c.a, c.b, c.rate_bps / 1e9, c.propagation_ns / 1e3) for c in made.cables] == [
        (link["a"], link["b"], link["gbps"], link["delay_us"]) for link in case["links"]
    ]
    ends = {(c.a, c.b): c.a_end for c in made.cables} | {(c.b, c.a): c.b_end for c in made.cables}
    for port in case["ports"]:
        end = ends[port["sw"], port["nbr"]]
        assert end is not None
        assert end.groups[0].headroom_bytes == port["headroom"]
        assert end.queues[0].wred is not None
        assert end.queues[0].wred.kmin_bytes == case["ecn"]["kmin"]
    flows = [(flow.path[0], flow.path[-1], flow.size_bytes, flow.start_ns) for flow in made.flows]
    assert flows == [tuple(flow) for flow in case["flows"]]


def test_a_path_takes_the_next_hop_that_the_number_of_its_target_picks() -> None:
    """Two hosts at each of two leaves 4 and 5, joined by two spines 6 and 7: the simulator's routing."""
    peers = {0: [4], 1: [4], 2: [5], 3: [5], 4: [0, 1, 7, 6], 5: [2, 3, 6, 7], 6: [4, 5], 7: [4, 5]}
    switches = {4, 5, 6, 7}
    assert path(peers, switches, 0, 2) == (0, 4, 6, 5, 2)
    assert path(peers, switches, 0, 3) == (0, 4, 7, 5, 3)
    assert path(peers, switches, 0, 1) == (0, 4, 1)
