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
    "its plugin": ("efa", "NCCL_NET_PLUGIN: ofi", "", set()),
    "more retries than a queue pair can count": ("azure", "NCCL_IB_RETRY_CNT: 8", "", {"MGD002"}),
    "as many as it can": ("azure", "NCCL_IB_RETRY_CNT: 7", "", set()),
    "a timeout of six bits": ("gcp", "NCCL_IB_TIMEOUT: 40", ULTRA, {"MGD002"}),
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


def test_no_rule_of_ones_own_fabric_is_given_such_an_intent() -> None:
    assert not codes_for("cloud") & (codes_for("fabric") | codes_for("intent"))
