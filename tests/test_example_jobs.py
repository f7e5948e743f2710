"""The examples whose hosts are nodes of a cluster, or whose fabric a cloud runs."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

from lossless.api import lint, render
from tests.conftest import ROOT
from tests.formats.hosts.from_model.nic_configuration_template import (
    refused_by_controller,
    refused_by_server,
    settings_of,
)
from tests.formats.hosts.from_model.test_job_files import read_by_nccl

CLUSTER = ROOT / "examples" / "roce-256-kubernetes"
EFA = ROOT / "examples" / "efa-train"


def test_the_example_of_a_cluster_is_clean_and_its_resource_is_taken(tmp_path: Path) -> None:
    report = lint([CLUSTER])
    assert (report.findings, report.errors) == ((), ())
    render(CLUSTER, tmp_path)
    (path,) = (tmp_path / "kubernetes").iterdir()
    resource = YAML(typ="safe", pure=True).load(path)
    assert refused_by_server(resource) == []
    assert refused_by_controller(resource) == []
    assert settings_of(resource, 1)["CNP_DSCP_P1"] == "48"
    conf = read_by_nccl((tmp_path / "host1" / "nccl.conf").read_text())
    assert int(conf["NCCL_IB_TC"]) == resource["spec"]["template"]["roceOptimized"]["qos"]["tos"]


def test_the_example_on_efa_says_what_does_not_apply_and_renders_the_environment_alone(
    tmp_path: Path,
) -> None:
    report = lint([EFA])
    assert report.errors == ()
    assert [(finding.code, finding.severity) for finding in report.findings] == [("MGD001", "info")]
    assert render(EFA, tmp_path).files == ("machines/nccl.conf", "machines/jobs.env", "manifest.json")
    conf = read_by_nccl((tmp_path / "machines" / "nccl.conf").read_text())
    assert conf == {"NCCL_SOCKET_IFNAME": "=ens32", "NCCL_NET": "OFI"}
