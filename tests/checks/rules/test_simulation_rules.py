"""Findings of runs: what is unsafe, what is on the edge, what another rule has said already, what cannot be run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from lossless import api
from lossless.analysis.buffers.simulation_facts import (
    CauseKind,
    LongestPause,
    PortRef,
    SimulationCause,
    SimulationFacts,
)
from lossless.analysis.simulation.question.request import Limits, SimulationRequest
from lossless.analysis.simulation.study import answer as survey
from lossless.analysis.simulation.study.answer import answer
from lossless.checks.lint import intents as traffic
from lossless.checks.lint.cache import fixed_documents
from lossless.checks.rules.base import Violation
from lossless.checks.rules.simulation import (
    run_violations as outcome,
    sim001_simulated_unsafe,
    sim002_simulated_edge,
)
from lossless.checks.rules.subjects import SimulationRun
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import (
    HOST_PORTS,
    HOST_PROFILE,
    PFC_ONLY,
    PORTS,
    UPLINK_PROFILE,
    Patch,
    declared,
    deployed,
    headroom,
    of_every_port,
)
from tests.checks.rules.checking import patched
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

LOW: Patch = {
    "BUFFER_PROFILE": {
        "pg_lossless_400000_5m_profile": {"size": "19456", "dynamic_th": "-5"},
        "pg_lossless_800000_40m_profile": {"size": "38912", "dynamic_th": "-5"},
    },
    "WRED_PROFILE": {"AZURE_LOSSLESS": {f"{c}_max_threshold": "2000000" for c in ("green", "yellow", "red")}},
}


def pool(shared_headroom_bytes: int) -> Patch:
    """Return a small leaf with a headroom pool of some size, and with thresholds at which it is needed."""
    return {**LOW, "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": str(shared_headroom_bytes)}}}


def linted(*documents: Document, simulate: bool = True) -> api.Report:
    report = api.lint_documents(documents, api.Options(simulate=simulate))
    assert report.errors == ()
    return report


def small(patch: Patch, *, simulate: bool = True) -> api.Report:
    """Return what is said of the leaf of three ports."""
    return linted(patched("leaf.json", patch, "leaf1.json"), simulate=simulate)


def leaf(patch: Patch) -> api.Report:
    """Return what is said of the leaf of twelve ports, into one of which an incast of all others goes."""
    return linted(patched("rendered-leaf.json", patch, "leaf1.json"))


def intent(patch: Patch) -> api.Report:
    return linted(patched("leaf-spine.yaml", patch))


def drawn(report: api.Report) -> list[tuple[str, str]]:
    return [(f.code, f.severity) for f in report.findings if f.code.startswith("SIM")]


def above_info(report: api.Report) -> list[tuple[str, str, str]]:
    return [(f.code, f.severity, f.object) for f in report.findings if f.severity != "info"]


def only(report: api.Report, code: str) -> Finding:
    (finding,) = (f for f in report.findings if f.code == code)
    return finding


def unchecked(report: api.Report) -> list[tuple[str, int]]:
    return [(rule.reason, rule.times) for rule in report.not_checked if rule.code.startswith("SIM")]


# --- a pool of headroom ---


def test_a_pool_of_headroom_that_runs_out_is_an_error_at_its_size() -> None:
    finding = only(small(pool(30_000)), "SIM001")
    assert finding.severity == "error"
    assert finding.origin.path == ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert finding.data["pool_left_bytes"] == 432
    assert finding.data["seeds_with_drops"] == finding.data["seeds"] == 1


def test_with_less_than_a_frame_left_it_is_a_warning_and_with_more_nothing() -> None:
    assert drawn(small(pool(125_000))) == [("SIM002", "warning")]
    assert drawn(small(pool(800_000))) == []


def test_nothing_is_run_unless_it_is_asked_for() -> None:
    assert drawn(small(pool(30_000), simulate=False)) == []


def test_it_takes_the_place_of_information_on_the_same_pool() -> None:
    """That three groups may claim more than there is (BUF007) is what the run shows to happen."""
    before = only(small(pool(30_000), simulate=False), "BUF007")
    after = small(pool(30_000))
    assert only(after, "SIM001").origin == before.origin
    assert "BUF007" not in {finding.code for finding in after.findings}


# --- headroom of groups ---


def test_headroom_that_runs_out_is_an_error_with_what_was_needed() -> None:
    """The sound leaf uses 63,360 B of headroom, and one frame more is enough."""
    finding = only(leaf(headroom(20_480)), "SIM001")
    assert finding.object == f"BUFFER_PROFILE|{HOST_PROFILE}|xoff"
    assert (finding.data["given_bytes"], finding.data["need_bytes"]) == (20_480, 63_360 + 4158)
    assert set(finding.elements) <= {f"leaf1:{port}" for port in HOST_PORTS}
    assert len(finding.elements) == finding.places > 1


def test_a_drop_that_is_shown_takes_the_place_of_a_warning_that_it_may_happen() -> None:
    """Otherwise a run that drops frames would end with exit code 0, as BUF002 only warns."""
    assert above_info(linted(patched("rendered-leaf.json", headroom(20_480)), simulate=False)) == [
        ("BUF002", "warning", f"BUFFER_PROFILE|{HOST_PROFILE}|xoff")
    ]
    assert above_info(leaf(headroom(20_480))) == [("SIM001", "error", f"BUFFER_PROFILE|{HOST_PROFILE}|xoff")]


def test_a_warning_says_no_more_than_one_that_is_there_already() -> None:
    """1,640 B are left, and BUF002 warns of the same headroom."""
    assert above_info(leaf(headroom(65_000))) == [
        ("BUF002", "warning", f"BUFFER_PROFILE|{HOST_PROFILE}|xoff")
    ]


def test_each_profile_that_runs_out_is_blamed_by_itself() -> None:
    """Both at a threshold that all senders reach."""
    each = {HOST_PROFILE: headroom(20_480), UPLINK_PROFILE: headroom(52_000, UPLINK_PROFILE)}
    profiles = {name: {**patch["BUFFER_PROFILE"][name], "dynamic_th": "-6"} for name, patch in each.items()}
    report = leaf({"BUFFER_PROFILE": profiles})
    found = {f.object: f for f in report.findings if f.code == "SIM001"}
    assert set(found) == {f"BUFFER_PROFILE|{name}|xoff" for name in (HOST_PROFILE, UPLINK_PROFILE)}
    of_uplinks = found[f"BUFFER_PROFILE|{UPLINK_PROFILE}|xoff"]
    assert of_uplinks.data["given_bytes"] == 52_000
    assert not set(of_uplinks.elements) & {f"leaf1:{port}" for port in HOST_PORTS}


def test_an_error_of_another_rule_on_the_same_profile_is_enough() -> None:
    """20,480 B do not hold the cable of an 800G uplink alone, 40,405 B."""
    profiles = {UPLINK_PROFILE: {"xoff": "20480", "size": "59392", "dynamic_th": "-6"}}
    report = leaf({"BUFFER_PROFILE": profiles})
    assert ("BUF001", "error", f"BUFFER_PROFILE|{UPLINK_PROFILE}|xoff") in above_info(report)
    assert UPLINK_PROFILE not in {f.origin.path[1] for f in report.findings if f.code.startswith("SIM")}


def test_headroom_that_size_does_not_hold_is_blamed_on_size() -> None:
    report = leaf({"BUFFER_PROFILE": {HOST_PROFILE: {"xoff": "231424", "size": "40960"}}})
    assert only(report, "SIM001").object == f"BUFFER_PROFILE|{HOST_PROFILE}|size"


# --- headroom that is the vendor's own ---

SN4700: Patch = {
    **PFC_ONLY,
    "hardware": {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"},
    "topology": {"leaf_spine": {"host_links": "1 x 400G", "hosts_per_leaf": 10, "uplinks": "4 x 400G"}},
}


STOCK = {
    "nvidia-sn5600": ("connectx-7", "1 x 400G", "2 x 800G"),
    "nvidia-sn4700": ("connectx-7", "1 x 400G", "4 x 400G"),
    "nvidia-sn3700": ("connectx-6-dx", "1 x 100G", "4 x 100G"),
    "dell-z9664f": ("connectx-7", "1 x 400G", "4 x 400G"),
    "arista-7060x6-64pe": ("connectx-7", "1 x 400G", "4 x 400G"),
    "arista-7060x6-64pe-b": ("connectx-7", "1 x 400G", "4 x 400G"),
    "arista-7260cx3": ("connectx-6-dx", "1 x 100G", "4 x 100G"),
    "accton-as9516": ("connectx-6-dx", "1 x 100G", "4 x 100G"),
}


@pytest.mark.tools("runs")
@pytest.mark.parametrize("switch", STOCK)
def test_a_sound_fabric_of_any_hardware_draws_nothing_above_information(switch: str) -> None:
    nic, host_links, uplinks = STOCK[switch]
    shape = {"hosts_per_leaf": 8, "host_links": host_links, "uplinks": uplinks}
    hardware = {"leaf": switch, "spine": switch, "nic": nic}
    assert above_info(intent({"hardware": hardware, "topology": {"leaf_spine": shape}})) == []


def test_a_divided_buffer_is_simulated_in_its_parts() -> None:
    """Queues bounded at half of the pool refuse nothing: a group's part fills, and XOFF comes, before."""
    hardware = {"leaf": "arista-7060x6-64pe-b", "spine": "arista-7060x6-64pe-b"}
    shape = {"hosts_per_leaf": 8, "leaves": 4, "host_links": "1 x 400G", "uplinks": "4 x 400G"}
    report = intent({"hardware": hardware, "topology": {"leaf_spine": shape}})
    assert drawn(report) == []
    assert unchecked(report) == []


# --- the egress ---


def test_wred_that_drops_is_blamed_once() -> None:
    report = leaf({"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}})
    assert above_info(report) == [("ECN001", "error", "WRED_PROFILE|AZURE_LOSSLESS|ecn")]


def test_a_lossy_profile_on_a_lossless_queue_is_blamed_once() -> None:
    report = leaf({"BUFFER_QUEUE": {f"{port}|3": {"profile": "q_lossy_profile"} for port in PORTS}})
    assert {code for code, _, _ in above_info(report)} == {"PFC005"}


def test_a_queue_limit_below_the_groups_is_blamed_once() -> None:
    report = leaf({"BUFFER_PROFILE": {"egress_lossless_profile": {"dynamic_th": "-3"}}})
    assert {code for code, _, _ in above_info(report)} == {"BUF013"}


def test_an_egress_pool_too_small_for_what_ingress_holds_is_blamed_by_its_size() -> None:
    finding = only(leaf({"BUFFER_POOL": {"egress_lossless_pool": {"size": "40000000"}}}), "SIM001")
    assert finding.object == "BUFFER_POOL|egress_lossless_pool|size"
    assert finding.elements == ("leaf1:Ethernet0",)


# --- cycles ---


def ring(leaves: int, between: str = "1 x 10G") -> Patch:
    """Return leaves in a ring with a host of four ports at each, without congestion control."""
    numbers = range(1, leaves + 1)
    devices = {f"l{n}": {"role": "leaf"} for n in numbers} | {f"h{n}": {"role": "host"} for n in numbers}
    links = [{"a": f"l{n}", "b": f"h{n}", "links": "4 x 100G", "cable": "3m"} for n in numbers]
    links += [{"a": f"l{n}", "b": f"l{n % leaves + 1}", "links": between, "cable": "30m"} for n in numbers]
    return {
        **PFC_ONLY,
        "hardware": {"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700", "nic": "connectx-6-dx"},
        "topology": {"leaf_spine": None, "devices": devices, "links": links},
    }


def test_a_ring_in_deadlock_is_an_error_at_one_of_its_links() -> None:
    """No incast shows it: all paths of one lead to the same port."""
    finding = only(intent(ring(5)), "SIM001")
    assert finding.object == "topology.links.5.links"
    assert finding.data["seeds_with_cycles"] == finding.data["seeds"] == 12
    assert [element.partition(":")[0] for element in finding.elements] == ["l1", "l2", "l3", "l4", "l5"]
    assert finding.data["links"] == 5


def test_what_two_runs_of_a_fabric_show_is_said_once() -> None:
    """Incast and all-to-all both leave 384 B of the vendor's own headroom."""
    assert only(intent(ring(5)), "SIM002").object == "hardware.leaf"


def test_a_ring_of_three_leaves_has_no_path_to_wait_for_another() -> None:
    assert "SIM001" not in {finding.code for finding in intent(ring(3)).findings}


# --- what traffic alone hardly shows ---


def violations(view: View, **fields: Any) -> list[Violation]:
    """Return what both rules say of a run that is made up."""
    ran = SimulationRun(SimulationFacts(view, "made up", priority=3, seeds=2, **fields))
    checks = sim001_simulated_unsafe.check, sim002_simulated_edge.check
    found = [violation for check in checks for violation in check(ran)]
    assert all(isinstance(violation, Violation) for violation in found)
    return [violation for violation in found if isinstance(violation, Violation)]


def test_a_storm_is_blamed_on_the_detection_time_of_the_port() -> None:
    """Ports with the same configuration share the row of the first."""
    storm = (SimulationCause("storm", "unsafe", "the watchdog triggers", 1),)
    stopped = (PortRef("leaf1", "Ethernet4"), PortRef("leaf1", "Ethernet12"))
    unlike = deployed({"PFC_WD": {"Ethernet12": {"detection_time": "900"}}})
    rows = {
        violation.elements: violation.origin.path
        for violation in violations(unlike, causes=storm, stopped=stopped)
    }
    assert rows == {
        ("leaf1:Ethernet4",): ("PFC_WD", "Ethernet0", "detection_time"),
        ("leaf1:Ethernet12",): ("PFC_WD", "Ethernet12", "detection_time"),
    }
    (of_intent,) = violations(declared(), causes=storm, stopped=stopped)
    assert of_intent.origin.path == ("pfc", "watchdog", "detection")
    assert of_intent.elements == ("leaf1:Ethernet4", "leaf1:Ethernet12")


def test_a_long_pause_is_blamed_on_the_quickest_watchdog() -> None:
    quick = deployed({"PFC_WD": {"Ethernet8": {"detection_time": "600"}}})
    cause = (SimulationCause("pause", "on the edge", "a pause lasted", 1),)
    (violation,) = violations(quick, causes=cause, pause=LongestPause(350.0, 600.0))
    assert violation.origin.path == ("PFC_WD", "Ethernet8", "detection_time")
    assert violation.data["longest_pause_ms"] == 350.0


def test_every_kind_of_cause_has_a_finding() -> None:
    assert set(outcome.EVIDENCE_OF) == set(get_args(CauseKind))


CASES: dict[str, Patch] = {
    "sound": {},
    "headroom": headroom(20_480),
    "edge": headroom(65_000),
    "wred": {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}},
    "egress": {"BUFFER_PROFILE": {"egress_lossless_profile": {"dynamic_th": "-3"}}},
}


@pytest.mark.parametrize("case", CASES)
def test_findings_and_the_verdict_agree(case: str) -> None:
    (run,) = survey.survey([deployed(CASES[case])], SimulationRequest())
    (verdict,) = answer(deployed(CASES[case]), SimulationRequest()).runs
    worst = next(iter([found.verdict for found in outcome._all(run)]), "safe")
    assert worst == verdict.verdict


# --- what cannot be run ---


def test_what_cannot_be_run_is_not_checked_and_says_why() -> None:
    report = small({"CABLE_LENGTH": None})
    assert unchecked(report) == [("the length of the cable at leaf1:Ethernet0 is unknown", 1)]


def test_without_numba_that_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "why_not", lambda: "numba is not installed")
    fabrics = [patched("leaf.json", pool(30_000), "leaf1.json"), patched("leaf-spine.yaml", {})]
    before = sum(rule.times for rule in linted(*fabrics, simulate=False).not_checked)
    report = linted(*fabrics)
    assert drawn(report) == []
    assert unchecked(report) == [("numba is not installed", 1)]
    assert sum(rule.times for rule in report.not_checked) == before + 1


def test_a_fabric_without_anything_lossless_has_nothing_to_run() -> None:
    assert unchecked(intent({"pfc": "off", "classes": {"rdma": {"lossless": False}}})) == []


def test_a_value_that_the_model_refuses_stops_nothing_else() -> None:
    """Of a row that orchagent drops WD003 has said enough."""
    report = leaf({"PFC_WD": of_every_port({"restoration_time": "0"})})
    assert {code for code, _, _ in above_info(report)} == {"WD003"}
    assert all(times == 1 for _, times in unchecked(report))


def test_more_events_than_allowed_are_refused_with_where_to_allow_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traffic, "SimulationRequest", lambda: SimulationRequest(limits=Limits(events=1000)))
    ((reason, _),) = unchecked(small(pool(30_000)))
    assert reason.startswith("this would take about ")
    assert reason.endswith("allow more with --max-events (options of lossless simulate)")


# --- which fabrics are run ---


def test_the_example_is_clean_with_traffic_too() -> None:
    example = ROOT / "examples" / "roce-256" / "fabric.yaml"
    assert api.lint([example], api.Options(simulate=True)).findings == ()


def test_devices_that_are_linked_are_run_together_and_those_apart_by_themselves() -> None:
    apart: Patch = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf9"}}, "DEVICE_NEIGHBOR": None}
    report = linted(
        patched("rendered-leaf.json", {}, "leaf1.json"),
        patched("rendered-spine.json", {}, "spine1.json"),
        patched("rendered-leaf.json", {**apart, **headroom(20_480)}, "leaf9.json"),
    )
    finding = only(report, "SIM001")
    assert finding.origin.file == "leaf9.json"
    assert {element.partition(":")[0] for element in finding.elements} == {"leaf9"}


@pytest.mark.tools("runs")
def test_every_device_is_run(tmp_path: Path) -> None:
    """Forty of them are checked in several processes, and run one after the other."""
    for number in range(1, 41):
        patch = {"DEVICE_METADATA": {"localhost": {"hostname": f"leaf{number}"}}, **pool(30_000)}
        (tmp_path / f"leaf{number}").mkdir()
        document = patched("leaf.json", patch)
        (tmp_path / f"leaf{number}" / "config_db.json").write_text(json.dumps(document.data, indent=1))
    report = api.lint([tmp_path], api.Options(simulate=True))
    assert drawn(report) == [("SIM001", "error")] * 40
    assert len({finding.origin.file for finding in report.findings if finding.code == "SIM001"}) == 40


# --- links without PFC ---


def pods(**more: Any) -> Document:
    """Return two pods under super-spines, without congestion control."""
    shape = {"pods": 2, "leaves_per_pod": 2, "spines_per_pod": 2, "super_spines": 2, "hosts_per_leaf": 4,
             "host_links": "2 x 400G", "uplinks": "2 x 800G", "spine_uplinks": "2 x 800G",
             "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "300m"}}  # fmt: skip
    hardware = {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "super-spine": "nvidia-sn5600"}
    topology = {"leaf_spine": None, "three_tier": shape}
    return patched("leaf-spine.yaml", {**PFC_ONLY, "hardware": hardware, "topology": topology, **more})


@pytest.mark.tools("runs")
@pytest.mark.parametrize("code", ["PFC008", "PFC017"])
def test_what_the_rules_on_tiers_advise_draws_no_new_finding_and_drops_nothing(code: str) -> None:
    document = pods() if code == "PFC008" else pods(pfc={"tiers": ["hosts", "uplinks"]})
    before = linted(document)
    advised = fixed_documents([document], lambda edited: linted(*edited).findings, unsafe=True)
    assert [finding.code for finding in advised.findings] == [code]
    after = linted(*advised.documents)
    assert {f.code for f in after.findings} <= {f.code for f in before.findings} - {code, "SIM001"}


def test_the_advice_of_a_run_names_the_tiers_where_links_without_pfc_drop() -> None:
    view = View(api.load_fabrics([pods(pfc={"tiers": ["hosts", "uplinks"]})]).fabrics[0])
    (verdict,) = answer(view, SimulationRequest()).runs
    assert verdict.changes[0].startswith("name the links that drop in pfc.tiers")


def test_a_switch_that_computes_its_buffers_is_run_as_any_other() -> None:
    report = intent({"buffers": {"model": "dynamic"}})
    assert unchecked(report) == []
    assert drawn(report) == []
