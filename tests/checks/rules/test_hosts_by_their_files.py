"""Hosts that were read: against the port they are attached to, on a switch of any system, and against themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.api import Report, lint
from lossless.ground.basics.findings import Finding
from tests.paths import RULE_BASES

MAP = "".join(
    f"        prio:{p} dscp:{','.join(f'{p * 8 + n:02d}' for n in reversed(range(8)))},\n" for p in range(8)
)
SWITCHES = {
    "eos": ("leaf1.cfg", "switch-leaf.txt", "Ethernet1"),
    "nvue": ("leaf1.nv", "switch-nvue.txt", "swp1"),
    "nxos": ("leaf1.cfg", "switch-nxos.txt", "Ethernet1/1"),
}


def qos(pfc: tuple[int, ...] = (3,), trust: str = "dscp") -> str:
    """Return what mlnx_qos prints of an interface."""
    flags = "".join(f"   {int(p in pfc)}" for p in range(8))
    mapped = f"dscp2prio mapping:\n{MAP}" if trust == "dscp" else "default priority:\n"
    return (
        f"DCBX mode: OS controlled\nPriority trust state: {trust}\n{mapped}Cable len: 7\n"
        f"PFC configuration:\n        priority    0   1   2   3   4   5   6   7\n        enabled  {flags}\n"
    )


def linted(root: Path, files: dict[str, str], system: str = "") -> Report:
    """Return what lint says of a host's files, beside a switch that LLDP joins it with where a system is named."""
    if system:
        name, base, port = SWITCHES[system]
        (root / name).write_text((RULE_BASES / base).read_text())
        joined = f"lldp.eth4.chassis.name=leaf1\nlldp.eth4.port.ifname={port}\n"
        files = files | {"lldp.txt": joined}
    (root / "node1").mkdir()
    for name, text in files.items():
        (root / "node1" / name).write_text(text)
    return lint([root])


def of(code: str, report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.code == code]


@pytest.mark.parametrize("system", SWITCHES)
def test_pfc_off_on_a_host_with_rdma_of_the_class_is_an_error_on_any_system(
    system: str, tmp_path: Path
) -> None:
    files = {"mlnx_qos.eth4.txt": qos(pfc=()), "nccl.env": "NCCL_IB_TC=106\n"}
    (found,) = of("PFC003", linted(tmp_path, files, system))
    assert found.severity == "error"
    assert found.data == {"one_end": [3], "other_end": []}
    assert found.origin.file.endswith("mlnx_qos.eth4.txt")
    assert [Path(place.origin.file).name for place in found.related] == [
        SWITCHES[system][0],
        "nccl.env",
    ]


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        # Another class than that of priority 3 is no evidence, and neither is trust alone.
        ({"mlnx_qos.eth4.txt": qos(pfc=()), "nccl.env": "NCCL_IB_TC=192\n"}, "warning"),
        ({"mlnx_qos.eth4.txt": qos(pfc=())}, "warning"),
        ({"mlnx_qos.eth4.txt": qos(pfc=(), trust="pcp")}, "info"),
    ],
)
def test_how_sure_it_is_goes_by_what_the_files_of_the_host_show(
    files: dict[str, str], severity: str, tmp_path: Path
) -> None:
    (found,) = of("PFC003", linted(tmp_path, files, "eos"))
    assert found.severity == severity


@pytest.mark.parametrize("system", SWITCHES)
def test_a_host_that_pauses_as_its_port_does_is_silent(system: str, tmp_path: Path) -> None:
    files = {"mlnx_qos.eth4.txt": qos(), "nccl.env": "NCCL_IB_TC=106\n"}
    report = linted(tmp_path, files, system)
    assert [finding for finding in report.findings if "node1" in finding.origin.file] == []


def test_a_host_on_another_port_is_not_compared(tmp_path: Path) -> None:
    files = {
        "mlnx_qos.eth4.txt": qos(pfc=()),
        "lldp.eth4.txt": "lldp.eth4.chassis.name=leaf9\nlldp.eth4.port.ifname=Ethernet1\n",
    }
    (tmp_path / "leaf1.cfg").write_text((RULE_BASES / "switch-leaf.txt").read_text())
    assert of("PFC003", linted(tmp_path, files)) == []


# --- against itself ---


@pytest.mark.parametrize(
    ("tos", "found"),
    [(128, True), (0, True), (106, False), (96, False)],
)
def test_a_job_marks_what_the_nic_of_its_host_pauses(tos: int, found: bool, tmp_path: Path) -> None:
    files = {"mlnx_qos.eth4.txt": qos(), "nccl.env": f"NCCL_IB_TC={tos}\n"}
    marked = of("HST001", linted(tmp_path, files))
    assert [(each.severity, each.data["dscps"]) for each in marked] == ([("warning", [tos >> 2])] * found)


def test_nvmes_variable_is_a_tos_byte(tmp_path: Path) -> None:
    files = {"mlnx_qos.eth4.txt": qos(), "nvme.env": "NVME_TRANSPORT_TOS=26\nNCCL_IB_TC=106\n"}
    report = linted(tmp_path, files)
    assert [(each.code, each.data.get("tos")) for each in report.findings] == [("CLS006", 26)]


@pytest.mark.parametrize(("tos", "found"), [(0, True), (104, False)])
def test_an_operators_template_names_the_tos_byte_of_what_it_pauses(
    tos: int, found: bool, tmp_path: Path
) -> None:
    template = f"""apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata: {{name: rail-a}}
spec:
  template:
    roceOptimized: {{enabled: true, qos: {{trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: {tos}}}}}
"""
    report = linted(tmp_path, {"nics.yaml": template})
    assert [each.code for each in report.findings if each.code in ("HST001", "HST007")] == ["HST007"] * found


@pytest.mark.parametrize(
    ("environment", "found"),
    [("NCCL_IB_TC=106\n", True), ("NCCL_IB_TC=0\n", False), ("NCCL_IB_GID_INDEX=3\n", False)],
)
def test_a_nic_that_trusts_tags_is_wrong_where_a_job_sets_a_dscp(
    environment: str, found: bool, tmp_path: Path
) -> None:
    files = {"mlnx_qos.eth4.txt": qos(trust="pcp"), "nccl.env": environment}
    report = linted(tmp_path, files)
    assert [each.severity for each in of("NIC009", report)] == ["error"] * found
    unchecked = [each.reason for each in report.not_checked if each.code == "NIC009"]
    assert unchecked == ["no file of the host says whether RDMA carries VLAN tags"] * (not found)
