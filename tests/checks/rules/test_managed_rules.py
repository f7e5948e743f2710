"""Rules of fabrics that a cloud runs."""

from __future__ import annotations

import pytest

from lossless.api import Report, lint_documents
from lossless.checks.rules.registry import codes_for
from lossless.ground.documents import load_text


def checked(transport: str, environment: str, machine: str = "") -> Report:
    text = f"lossless: v1\nfabric: f\ntransport: {transport}\n{machine}hosts: {{environment: {{{environment}}}}}\n"
    report = lint_documents([load_text(text, "fabric.yaml")])
    assert report.errors == ()
    return report


def codes(transport: str, environment: str, machine: str = "") -> set[str]:
    return {finding.code for finding in checked(transport, environment, machine).findings} - {"MGD001"}


ULTRA = "machine: a3-ultragpu-8g\n"
MEGA = "machine: a3-megagpu-8g\n"
HIGH = "machine: a3-highgpu-8g\n"
CASES = {
    "NCCL's InfiniBand settings on EFA": ("efa", "NCCL_IB_TIMEOUT: 22", "", {"MGD002"}),
    "and on TCPXO": ("gcp", "NCCL_IB_HCA: '=mlx5_0'", MEGA, {"MGD002"}),
    "but not where verbs are": ("gcp", "NCCL_IB_TIMEOUT: 22", ULTRA, set()),
    "nor on InfiniBand": ("azure", "NCCL_IB_TIMEOUT: 22", "", set()),
    "a ToS byte on InfiniBand": ("azure", "NCCL_IB_TC: 106", "", {"MGD002"}),
    "a service level on InfiniBand": ("azure", "NCCL_IB_SL: 1", "", set()),
    "EFA's settings elsewhere": ("azure", "FI_EFA_USE_HUGE_PAGE: 0", "", {"MGD002"}),
    "EFA's settings on EFA": ("efa", "FI_EFA_USE_HUGE_PAGE: 0", "", set()),
    "those that EFA decides": ("efa", "FI_EFA_FORK_SAFE: 1", "", {"MGD003"}),
    "all of rdma-core's": ("efa", "RDMAV_HUGEPAGES_SAFE: 1", "", {"MGD003"}),
    "a plugin's settings on another machine": ("gcp", "NCCL_FASTRAK_NUM_FLOWS: 2", ULTRA, {"MGD002"}),
    "what Google's profile sets": ("gcp", "NCCL_FASTRAK_NUM_FLOWS: 4", MEGA, {"MGD003"}),
    "a ToS byte for Google's switches": ("gcp", "NCCL_IB_TC: 106", ULTRA, {"MGD003"}),
    "NCCL's InfiniBand transport off on InfiniBand": ("azure", "NCCL_IB_DISABLE: 1", "", {"MGD002"}),
    "and left on": ("azure", "NCCL_IB_DISABLE: 0", "", set()),
    "sockets": ("azure", "NCCL_NET: Socket", "", {"MGD002"}),
    "another provider on EFA": ("efa", "FI_PROVIDER: tcp", "", {"MGD002"}),
    "EFA's own provider": ("efa", "FI_PROVIDER: efa", "", set()),
    "no plugin on EFA": ("efa", "NCCL_NET_PLUGIN: none", "", {"MGD002"}),
    "EFA's own provider left out": ("efa", "FI_PROVIDER: ^efa", "", {"MGD002"}),
    "another one left out": ("efa", "FI_PROVIDER: ^tcp", "", set()),
    "no plugin on TCPXO": ("gcp", "NCCL_NET_PLUGIN: none", MEGA, {"MGD002"}),
    "no plugin where NCCL has the transport itself": ("azure", "NCCL_NET_PLUGIN: none", "", set()),
    "NCCL's InfiniBand transport on EFA": ("efa", "NCCL_NET: IB", "", {"MGD002"}),
    "and on InfiniBand": ("azure", "NCCL_NET: IB", "", set()),
    "reductions in switches on EFA": ("efa", "NCCL_COLLNET_ENABLE: 1", "", {"MGD002"}),
    "and on Google's Ethernet": ("gcp", "NCCL_ALGO: CollNetDirect", ULTRA, {"MGD002"}),
    "reductions on InfiniBand": ("azure", "NCCL_COLLNET_ENABLE: 1", "", set()),
    "no reductions on EFA": ("efa", "NCCL_COLLNET_ENABLE: 0", "", set()),
    "its plugin": ("efa", "NCCL_NET_PLUGIN: ofi", "", set()),
    "more retries than a queue pair can count": ("azure", "NCCL_IB_RETRY_CNT: 8", "", {"MGD002"}),
    "as many as it can": ("azure", "NCCL_IB_RETRY_CNT: 7", "", set()),
    "a timeout of six bits": ("gcp", "NCCL_IB_TIMEOUT: 40", ULTRA, {"MGD002"}),
    "TCPX's settings on TCPX": ("gcp", "NCCL_GPUDIRECTTCPX_CTRL_DEV: eth0", HIGH, set()),
    "and elsewhere": ("gcp", "NCCL_GPUDIRECTTCPX_CTRL_DEV: eth0", MEGA, {"MGD002"}),
    "NCCL's InfiniBand settings on TCPX": ("gcp", "NCCL_IB_HCA: '=mlx5_0'", HIGH, {"MGD002"}),
    "what nobody else has a say in": ("efa", "NCCL_DEBUG: WARN", "", set()),
}


@pytest.mark.parametrize("case", CASES)
def test_variables_are_checked_by_the_network_they_are_for(case: str) -> None:
    transport, environment, machine, expected = CASES[case]
    assert codes(transport, environment, machine) == expected


def test_where_nothing_says_which_network_it_is_nothing_is_said_of_variables() -> None:
    report = checked("gcp", "NCCL_IB_TC: 106")
    assert [finding.code for finding in report.findings] == ["MGD001"]
    assert [rule.code for rule in report.not_checked] == ["MGD002"]


def test_of_the_rules_of_ones_own_fabric_only_that_of_the_cluster_is_given_such_an_intent() -> None:
    assert codes_for("cloud") & (codes_for("fabric") | codes_for("intent")) == {"TOP014"}


G = 10**9
P5 = ("efa", "p5.48xlarge")
CLUSTERS: dict[str, tuple[tuple[str, str], str, list[tuple[str, dict[str, object]]]]] = {
    "3,200 Gb/s": (P5, "gpus_per_host: 8, gpus: 256, bandwidth_per_gpu: 400G, nics_per_host: 32", []),
    "more than that": (
        P5,
        "gpus_per_host: 8, bandwidth_per_gpu: 401G",
        [("bandwidth_per_gpu", {"per_gpu_bps": 400 * G, "stated_bps": 401 * G})],
    ),
    "400 Gb/s a GPU of machines that have 400 for eight": (
        ("efa", "p4d.24xlarge"),
        "gpus_per_host: 8, bandwidth_per_gpu: 400G",
        [("bandwidth_per_gpu", {"per_gpu_bps": 50 * G, "stated_bps": 400 * G})],
    ),
    "fewer GPUs": (P5, "gpus_per_host: 4", [("gpus_per_host", {"has": 8})]),
    "a part of a machine": (
        P5,
        "gpus_per_host: 8, gpus: 260",
        [("gpus", {"has": 8})],
    ),
    "fewer NICs": (
        P5,
        "gpus_per_host: 8, nics_per_host: 8",
        [("nics_per_host", {"has": 32})],
    ),
    "another generation": (
        P5,
        "gpus_per_host: 8, nvlink: {generation: 5, domain: 8}",
        [("nvlink", {"has": "NVLink 4"})],
    ),
    "a rack of machines that are one": (
        ("gcp", "a4x-highgpu-4g"),
        "gpus_per_host: 4, nvlink: {generation: 5, domain: 72}",
        [],
    ),
    "half a rack": (
        ("efa", "p6e-gb200.36xlarge"),
        "gpus_per_host: 4, nvlink: {generation: 5, domain: 36}",
        [],
    ),
    "a rack of machines that are not": (
        ("gcp", "a4-highgpu-8g"),
        "gpus_per_host: 8, nvlink: {generation: 5, domain: 72}",
        [("nvlink", {"has": 8})],
    ),
    "NVLink of GPUs that have none": (
        ("azure", "Standard_ND96isr_MI300X_v5"),
        "gpus_per_host: 8, nvlink: {generation: 4, domain: 8}",
        [("nvlink", {"has": None})],
    ),
}


@pytest.mark.parametrize("case", CLUSTERS)
def test_a_cluster_is_compared_with_what_is_published_of_its_machines(case: str) -> None:
    (transport, machine), cluster, expected = CLUSTERS[case]
    text = f"lossless: v1\nfabric: f\ntransport: {transport}\nmachine: {machine}\ncluster: {{{cluster}}}\n"
    report = lint_documents([load_text(text, "fabric.yaml")])
    assert report.errors == ()
    found = [finding for finding in report.findings if finding.code != "MGD001"]
    assert [(finding.origin.path[1], finding.data) for finding in found] == expected
    assert {finding.code for finding in found} <= {"TOP014"}


def test_without_a_machine_a_cluster_is_not_checked() -> None:
    text = "lossless: v1\nfabric: f\ntransport: efa\ncluster: {gpus_per_host: 8}\n"
    report = lint_documents([load_text(text, "fabric.yaml")])
    assert [finding.code for finding in report.findings] == ["MGD001"]
    assert [rule.code for rule in report.not_checked] == ["TOP014"]
