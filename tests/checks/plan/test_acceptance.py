"""The lines of an acceptance test pass on a healthy lab, and for a planted fault the right ones fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import InputError, LosslessError, Options, acceptance, acceptance_results
from tests.checks.plan.acceptance_runs import LAB, Fault, written
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import AcceptancePlan


def lab(folder: Path, text: str = LAB) -> tuple[str, AcceptancePlan]:
    file = folder / "fabric.yaml"
    file.write_text(text)
    return str(file), acceptance(file)


RIGHT: dict[Fault, set[str]] = {
    "none": set(),
    "slow NIC": {"within-1"},
    "link at half its rate": {"within-2", "within-6"},
    "missing map": {"dscp26-leaf1"},
    "dead member": {"links-leaf1", "links-spine1"},
}


@pytest.mark.parametrize("fault", RIGHT)
def test_the_lines_of_a_fault_fail_and_no_others(fault: Fault, tmp_path: Path) -> None:
    intent, plan = lab(tmp_path)
    written(tmp_path / "results", plan, fault)
    results, problems = acceptance_results(intent, tmp_path / "results")
    assert problems == ()
    outcomes = {line.id: line.outcome for line in results.lines if line.step in ("bandwidth", "dscp")}
    assert {name for name, outcome in outcomes.items() if outcome == "fail"} == RIGHT[fault]
    assert {*outcomes.values()} <= {"pass", "fail"}
    assert len(outcomes) == 10 + 8


def test_no_line_of_an_empty_folder_has_run(tmp_path: Path) -> None:
    intent, plan = lab(tmp_path)
    (tmp_path / "results").mkdir()
    results, problems = acceptance_results(intent, tmp_path / "results")
    assert (results.not_run, len(results.lines), problems) == (len(plan.lines), len(plan.lines), ())
    with pytest.raises(InputError, match="no such folder"):
        acceptance_results(intent, tmp_path / "gone")


def test_a_mark_is_that_of_the_configuration_and_the_mtu(tmp_path: Path) -> None:
    (tmp_path / "lossless.toml").write_text("[bandwidth]\nperftest = 0.5\ncollective = 0.5\n")
    intent, _ = lab(tmp_path)
    plan = acceptance(intent, options=Options(configured=True))
    # 400 Gb/s x 4096 / (4096 + 82 bytes of headers), and half of it
    assert {(pair.expected_gbps, pair.mark_gbps) for pair in plan.pairs} == {(392.1, 196.1)}
    # 0.96 of 50 GB/s, and half of it
    assert plan.collectives is not None
    assert plan.collectives.tests == (("all_reduce", 24.0),)
    written(tmp_path / "results", plan, "slow NIC")
    results, _ = acceptance_results(intent, tmp_path / "results", options=Options(configured=True))
    assert [line.id for line in results.lines if line.outcome == "fail"] == []


def test_a_pair_over_slower_uplinks_loads_them_and_has_no_line(tmp_path: Path) -> None:
    _, plan = lab(tmp_path, LAB.replace("uplinks: 2 x 400G", "uplinks: 8 x 100G"))
    assert {pair.mark_gbps is None for pair in plan.across} == {True}
    assert not [line for line in plan.lines if line.id.startswith("across")]
    assert any(line.startswith("bandwidth of across-1") for line in plan.not_covered)


def test_pings_have_the_size_that_every_host_takes(tmp_path: Path) -> None:
    own = "exceptions: {'leaf1:Ethernet0': {mtu: 1500}}\nnetworks:"
    assert [lab(tmp_path, LAB.replace("networks:", text))[1].mtu_bytes for text in ("networks:", own)] == [
        9000,
        1500,
    ]


def test_rdma_packets_fit_the_smallest_mtu_of_a_host(tmp_path: Path) -> None:
    own = "exceptions: {'leaf2:Ethernet0': {mtu: 1500}}\nnetworks:"
    plan = lab(tmp_path, LAB.replace("networks:", own))[1]
    # 400 Gb/s x 1024 / (1024 + 82 bytes of headers)
    assert {pair.expected_gbps for pair in plan.pairs} == {370.3}


@pytest.mark.parametrize(
    ("stated", "spread"),
    [("adaptive", "packet"), ("{leaf: adaptive}", "flow"), ("{leaf: adaptive, spine: adaptive}", "packet")],
)
def test_tiers_without_a_load_balancing_of_their_own_have_ecmp(
    stated: str, spread: str, tmp_path: Path
) -> None:
    text = LAB.replace("topology:", f"topology:\n  routing: {{load_balancing: {stated}}}")
    assert lab(tmp_path, text)[1].spread == spread


def test_ports_are_found_by_the_names_of_the_intent(tmp_path: Path) -> None:
    text = LAB.replace("networks:", "hosts: {rdma_devices: [mlx5_4]}\nnetworks:")
    _, plan = lab(tmp_path, text)
    assert {pair.source_port for pair in plan.pairs} == {"mlx5_4"}


def test_other_systems_have_no_lines_that_need_sonic() -> None:
    plan = acceptance(ROOT / "examples/roce-256-mixed/fabric.yaml")
    assert {line.step for line in plan.lines} == {"mtu", "bandwidth", "collectives", "counters"}
    assert any("(eos, nvue)" in line and "need SONiC" in line for line in plan.not_covered)
    assert plan.switches == ()


def test_an_infiniband_subnet_has_its_service_level_and_no_dscp() -> None:
    plan = acceptance(ROOT / "examples/infiniband-256-ndr/fabric.yaml")
    assert (plan.transport, plan.service_level, plan.tos, plan.mtu_bytes) == ("infiniband", 0, None, None)
    assert {line.step for line in plan.lines} == {"bandwidth", "collectives", "counters"}
    # Hosts of the managers of the subnet are left out.
    assert not {"sm1", "sm2"} & {*plan.hosts}
    # 400 Gb/s x 4096 / (4096 + 26 bytes of headers)
    assert {pair.expected_gbps for pair in plan.pairs} == {397.5}


@pytest.mark.parametrize(
    ("example", "said"), [("efa-train", "no two hosts"), ("ultra-ethernet-128", "Ultra Ethernet")]
)
def test_a_fabric_that_perftest_cannot_test_is_refused(example: str, said: str) -> None:
    with pytest.raises(LosslessError, match=said):
        acceptance(ROOT / "examples" / example / "fabric.yaml")


def test_an_intent_with_errors_is_refused() -> None:
    with pytest.raises(InputError, match="CLS"):
        acceptance(ROOT / "examples/roce-256-as-published/fabric.yaml")
