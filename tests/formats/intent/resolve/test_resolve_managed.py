"""Intents of fabrics that a cloud runs: what has no meaning there is refused at its place, and why."""

from __future__ import annotations

import pytest

from lossless.api import Options, lint_documents, load_fabrics, simulate, trace
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text

HEAD = "lossless: v1\nfabric: train\ntransport: efa\n"
SRD = "SRD delivers every packet itself, by many paths and in any order, and AWS runs the switches"


def said_of(text: str) -> list[str]:
    problems = load_fabrics([load_text(text, "fabric.yaml")]).errors
    return [str(problem).removeprefix("fabric.yaml:") for problem in problems]


REFUSED: dict[str, tuple[str, list[str]]] = {
    "pfc": ("pfc: off\n", [f"4:1: pfc: nothing to state with transport: efa: {SRD}"]),
    "sections": (
        "classes: {rdma: {dscp: 26}}\ncongestion_control: dcqcn\n",
        [
            f"4:1: classes: nothing to state with transport: efa: {SRD}",
            f"5:1: congestion_control: nothing to state with transport: efa: {SRD}",
        ],
    ),
    "traffic-class": (
        "hosts: {traffic_class: 106}\n",
        [f"4:9: hosts.traffic_class: nothing to state with transport: efa: {SRD}"],
    ),
    "nccl": (
        "hosts: {nccl: {ib_tc: 106}}\n",
        [f"4:16: hosts.nccl.ib_tc: nothing to state with transport: efa: {SRD}"],
    ),
    "key": ("host: {}\n", ["4:1: unknown key 'host'; did you mean hosts? (others: cluster, machine)"]),
    "key-below": (
        "hosts: {enviroment: {X: 1}}\n",
        ["4:9: unknown key 'enviroment'; did you mean environment? (others: nccl)"],
    ),
    "machine": (
        "machine: p3dn.24xlarge\n",
        [
            "4:10: machine: it is not known what the network of 'p3dn.24xlarge' wants; known are p4d.24xlarge, "
            "p4de.24xlarge, p5.48xlarge, p5e.48xlarge, p5en.48xlarge, p6-b200.48xlarge, p6-b300.48xlarge, "
            "p6e-gb200.36xlarge; leave it out for another one"
        ],
    ),
    "own-key": (
        "hosts: {environment: {NCCL_SOCKET_IFNAME: eth0}}\n",
        ["4:23: hosts.environment: NCCL_SOCKET_IFNAME is set by hosts.nccl.socket_interfaces"],
    ),
    "interface": (
        "hosts: {nccl: {socket_interfaces: [../../x]}}\n",
        [
            "4:35: hosts.nccl.socket_interfaces: '../../x' is not an interface name; expected at most 15 "
            "letters, digits, '.', '_' and '-', beginning with a letter or digit"
        ],
    ),
    "hosts": ("hosts: 5\n", ["4:8: hosts: expected a mapping, found 5"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_on_efa_is_refused_at_its_place(case: str) -> None:
    text, said = REFUSED[case]
    assert said_of(HEAD + text) == said


def test_a_machine_of_which_nothing_is_known_is_not_guessed() -> None:
    azure = HEAD.replace("efa", "azure")
    assert said_of(f"{azure}machine: Standard_ND96isr_H100_v6\n") == [
        "4:10: machine: it is not known what the network of 'Standard_ND96isr_H100_v6' wants; known are "
        "Standard_ND96asr_v4, Standard_ND96amsr_A100_v4, Standard_ND96isr_H100_v5, Standard_ND96isr_H200_v5, "
        "Standard_ND96isr_MI300X_v5, Standard_ND128isr_GB300_v6, Standard_ND128isr_NDR_GB200_v6; leave it out for "
        "another one"
    ]


def test_a_transport_that_nobody_knows_is_answered_with_all_of_them() -> None:
    assert "3:12: transport: 'aws' is not one of rocev2, uec, infiniband, efa, gcp or azure" in said_of(
        HEAD.replace("efa", "aws")
    )


def test_only_rules_of_this_family_check_such_an_intent() -> None:
    report = lint_documents([load_text(HEAD, "fabric.yaml")])
    assert report.errors == ()
    assert [(finding.code, finding.severity) for finding in report.findings] == [("MGD001", "info")]
    (finding,) = report.findings
    assert finding.data["transport"] == "efa"
    assert finding.object == "transport"


def test_traffic_is_not_run_through_switches_of_others() -> None:
    report = lint_documents([load_text(HEAD, "fabric.yaml")], Options(simulate=True))
    assert [finding.code for finding in report.findings] == ["MGD001"]


def test_what_needs_switches_says_that_there_are_none(tmp_path: object) -> None:
    path = f"{tmp_path}/fabric.yaml"
    with open(path, "w") as file:  # noqa: PTH123
        file.write(HEAD)
    (result,) = simulate(path)
    assert result.overall == "not checked"
    assert result.not_run is not None
    assert "its switches are run by the cloud" in result.not_run
    with pytest.raises(InputError, match="its switches are run by the cloud"):
        trace(path, "a", "b", 26)
