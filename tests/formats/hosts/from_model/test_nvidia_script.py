"""The script of NVIDIA hosts, run on hosts with pretended NICs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lossless.ground.basics.records import certain
from lossless.model.fabric.hosts import HostQos
from tests.formats.hosts.from_model.fake_nic import SYSFS_PARAMETERS, TOOLS, FakeHost
from tests.formats.hosts.from_model.made_hosts import dcqcn, host, script
from tests.formats.hosts.from_model.test_nvidia_files import hosts

pytestmark = pytest.mark.tools("scripts")


@pytest.fixture
def fake(tmp_path: Path) -> FakeHost:
    """A host with one NIC, fresh from the factory, under MLNX_OFED."""
    made = FakeHost(tmp_path)
    made.add_nic("eth0", "mlx5_0")
    return made


def test_a_fresh_nic_is_set_in_the_order_that_works(fake: FakeHost) -> None:
    moved = host(dscp_to_priority=((24, 3), (26, 5), (48, 6)), pfc_priorities=(5,))
    done = fake.run(script(moved))
    assert (done.returncode, done.stderr) == (0, "")
    assert fake.changes() == [
        "ethtool -A eth0 rx off tx off",
        "ip link set dev eth0 mtu 9000",
        "mlnx_qos -i eth0 --dcbx os",
        "mlnx_qos -i eth0 --trust dscp",
        "mlnx_qos -i eth0 --dscp2prio set,26,5",
        "mlnx_qos -i eth0 --pfc 0,0,0,0,0,1,0,0 --cable_len 3",
        "ethtool --set-tunable eth0 pfc-prevention-tout 100",
        "cma_roce_mode -d mlx5_0 -p 1 -m 2",
        "cma_roce_tos -d mlx5_0 -p 1 -t 106",
    ]
    nic = fake.state["nics"]["eth0"]
    assert (nic["trust"], nic["pfc"], nic["cable"]) == ("dscp", [0, 0, 0, 0, 0, 1, 0, 0], 3)
    assert fake.tree()["devices/0000:17:00.0/infiniband/mlx5_0/tc/1/traffic_class"] == "106"


def test_dcqcn_runs_on_the_lossless_priority_and_nowhere_else(fake: FakeHost) -> None:
    fake.run(script(host()))
    ecn = fake.ecn("eth0")
    for point in ("roce_np", "roce_rp"):
        assert [ecn[f"{point}/enable/{p}"] for p in range(8)] == list("00010000")
    assert {name: ecn[name] for name in ("roce_np/cnp_dscp", "roce_np/cnp_802p_prio")} == {
        "roce_np/cnp_dscp": "48",
        "roce_np/cnp_802p_prio": "6",
    }
    for name, value in dcqcn().values:
        point = "roce_np" if name == "min_time_between_cnps" else "roce_rp"
        assert ecn[f"{point}/{name}"] == str(value), name


def test_pfc_only_switches_dcqcn_off_on_every_priority(fake: FakeHost) -> None:
    done = fake.run(script(host(dcqcn=dcqcn(enabled=False))))
    assert done.returncode == 0
    ecn = fake.ecn("eth0")
    assert {ecn[f"{point}/enable/{p}"] for point in ("roce_np", "roce_rp") for p in range(8)} == {"0"}
    assert {ecn[name] for name in SYSFS_PARAMETERS} == {"1"}, "parameters of what is off are left alone"


def test_a_second_run_changes_nothing_and_check_agrees(fake: FakeHost) -> None:
    text = script(host())
    fake.run(text)
    before, tree = fake.changes(), fake.tree()
    again = fake.run(text)
    assert (again.returncode, again.stdout) == (0, "lossless-roce: all set, 0 changed\n")
    assert (fake.changes(), fake.tree()) == (before, tree)
    checked = fake.run(text, "--check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "lossless-roce: nothing differs\n", "")
    assert fake.state["nics"]["eth0"]["pfc_changes"] == 1, "every change of PFC takes the link down"


def test_check_says_what_differs_and_changes_nothing(fake: FakeHost) -> None:
    text = script(host())
    fake.run(text)
    (fake.sysfs / "class/net/eth0/mtu").write_text("1500\n")
    (fake.sysfs / "class/net/eth0/ecn/roce_rp/rpg_ai_rate").write_text("7\n")
    (fake.sysfs / "class/infiniband/mlx5_0/tc/1/traffic_class").write_text("Global tclass=26\n")
    before, tree = fake.changes(), fake.tree()
    checked = fake.run(text, "--check")
    assert checked.returncode == 1
    assert checked.stderr.splitlines() == [
        "lossless-roce: eth0: MTU is 1500, must be 9000",
        "lossless-roce: eth0: roce_rp/rpg_ai_rate is 7, must be 5",
        "lossless-roce: mlx5_0: traffic class on port 1 is 26, must be 106",
    ]
    assert (fake.changes(), fake.tree()) == (before, tree)


def test_check_knows_a_fresh_nic(fake: FakeHost) -> None:
    said = fake.run(script(host()), "--check").stderr
    assert "eth0: global pause is rx on tx on, must be rx off tx off" in said
    assert "eth0: DCBX is Firmware controlled, must be OS controlled" in said
    assert "eth0: trust is pcp, must be dscp" in said
    assert "eth0: PFC is 0,0,0,0,0,0,0,0 for 7 m, must be 0,0,0,1,0,0,0,0 for 3 m" in said
    assert "eth0: stall prevention in ms is 8000, must be 100" in said
    assert "mlx5_0: RoCE mode of RDMA-CM on port 1 is IB/RoCE v1, must be RoCE v2" in said
    assert "priority of DSCP" not in said, "trust in DSCP starts from the very map that is declared"


def test_dry_run_prints_what_a_run_would_do(fake: FakeHost) -> None:
    text = script(host(dscp_to_priority=((26, 5),), pfc_priorities=(5,)))
    tree = fake.tree()
    dry = fake.run(text, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert (fake.changes(), fake.tree()) == ([], tree)
    printed = dry.stdout.splitlines()
    assert f"echo 106 > {fake.sysfs}/class/infiniband/mlx5_0/tc/1/traffic_class" in printed
    fake.run(text)
    assert [line for line in printed if not line.startswith("echo ")] == fake.changes()


def test_a_mapping_left_by_an_earlier_configuration_goes(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", trust="dscp", map=[*[d >> 3 for d in range(46)], 3, *[6] * 17])
    assert fake.run(script(host())).returncode == 0
    assert fake.state["nics"]["eth0"]["map"] == [dscp >> 3 for dscp in range(64)]
    assert "mlnx_qos -i eth0 --dscp2prio set,46,5" in fake.changes()


def test_a_changed_cable_leaves_pfc_on(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", pfc=[0, 0, 0, 1, 0, 0, 0, 0], cable=40)
    fake.run(script(host()))
    nic = fake.state["nics"]["eth0"]
    assert (nic["pfc"], nic["cable"], nic["pfc_changes"]) == ([0, 0, 0, 1, 0, 0, 0, 0], 3, 0)


def test_the_kernels_own_driver_is_set_through_debugfs(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", ecn=False, debugfs=True, tc=False)
    done = fake.run(script(host()))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "lossless-roce: note: eth0: this driver leaves it to the firmware where DCQCN runs; "
        "ROCE_CC_PRIO_MASK of this port must be 8 (see: lossless-roce.sh --check --firmware)",
        "lossless-roce: note: mlx5_0: this driver cannot set the traffic class of jobs that do not use "
        "RDMA-CM; they must ask for 106 themselves (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS)",
    ]
    folder = "kernel/debug/mlx5/0000:17:00.0/cc_params/"
    written = {p.removeprefix(folder): v for p, v in fake.tree().items() if p.startswith(folder)}
    expected = {"np_cnp_dscp": "48", "np_cnp_prio": "6", "np_min_time_between_cnps": "4"}
    expected |= {"rp_ai_rate": "5", "rp_clamp_tgt_rate_ati": "1", "rp_dce_tcp_g": "1019"}
    assert {name: written[name] for name in expected} == expected
    assert fake.run(script(host()), "--check").returncode == 0


@pytest.mark.parametrize("mode", [(), ("--check",), ("--dry-run",)])
def test_without_sysfs_and_debugfs_dcqcn_is_not_skipped(tmp_path: Path, mode: tuple[str, ...]) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", ecn=False)
    done = fake.run(script(host()), *mode)
    assert done.returncode == 1
    neither = f"{fake.sysfs}/class/net/eth0/ecn nor {fake.sysfs}/kernel/debug/mlx5/0000:17:00.0/cc_params"
    assert f"lossless-roce: eth0: neither {neither} is there; DCQCN cannot be set\n" in done.stderr


def test_a_parameter_the_driver_lacks_is_reported_and_the_rest_is_set(fake: FakeHost) -> None:
    lacking = fake.sysfs / "class/net/eth0/ecn/roce_rp/rpg_gd"
    lacking.unlink()
    done = fake.run(script(host()))
    assert (done.returncode, lacking.exists()) == (1, False)
    said = f"lossless-roce: eth0: roce_rp/rpg_gd must be 11, and there is no {fake.sysfs}/class/net/eth0/ecn"
    assert done.stderr == f"{said}/roce_rp/rpg_gd\n"
    assert fake.ecn("eth0")["roce_rp/enable/3"] == "1"


def test_a_command_that_fails_is_named(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", tunable_refused=True)
    done = fake.run(script(host()))
    assert done.returncode == 1
    failed = "ethtool --set-tunable eth0 pfc-prevention-tout 100"
    said = f"eth0: stall prevention in ms is 8000, must be 100; this failed: {failed}"
    assert done.stderr.splitlines()[-1] == f"lossless-roce: {said}"
    assert fake.state["devices"]["mlx5_0"] == {"mode": "RoCE v2", "tos": 106}, "what comes later is still set"


def test_a_nic_that_mlnx_qos_cannot_read_is_reported_and_the_rest_is_set(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", qos_refused=True)
    done = fake.run(script(host()))
    assert done.returncode == 1
    said = "eth0: mlnx_qos cannot read it; DCBX, trust, DSCP map and PFC are not set"
    assert done.stderr.splitlines() == [
        "Netlink error: Operation not supported",
        f"lossless-roce: {said}",
    ]
    assert fake.ecn("eth0")["roce_rp/enable/3"] == "1"


def test_two_nics_are_found_and_nothing_else(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", "0000:17:00.0")
    fake.add_nic("eth1", "mlx5_1", "0000:18:00.0")
    fake.add_nic("ib0", "mlx5_2", "0000:19:00.0", link_layer="InfiniBand")
    fake.add_nic("bnxt0", "bnxt_re0", "0000:20:00.0", driver="bnxt_en")
    fake.add_nic("eth0v0", "mlx5_3", "0000:17:00.1", virtual=True)
    fake.add_representor("0000:17:00.0", "eth2")
    assert fake.run(script(host())).returncode == 0
    set_up = {call.split()[2] for call in fake.changes() if call.startswith("mlnx_qos")}
    devices = {call.split()[2] for call in fake.changes() if call.startswith("cma_")}
    assert (set_up, devices) == ({"eth0", "eth1"}, {"mlx5_0", "mlx5_1"})


@pytest.mark.parametrize("mode", [(), ("--check",), ("--dry-run",)])
def test_a_port_that_the_intent_has_a_link_for_and_the_host_has_not_is_reported(
    fake: FakeHost, mode: tuple[str, ...]
) -> None:
    fake.add_nic("eth1", "mlx5_1", "0000:18:00.0")
    assert fake.run(script(host(links=2))).returncode == 0
    few = fake.run(script(host(links=4)), *mode)
    assert few.returncode == 1
    assert few.stderr == (
        "lossless-roce: the intent has 4 links of this host, and mlx5_core has 2 ports: eth0 eth1; "
        "a NIC or a port is missing\n"
    )
    # More links than interfaces, of a NIC that has one for several.
    assert fake.run(script(host(links=4, interfaces=("eth0", "eth1"))), *mode).returncode == 0
    # Storage or management, say, on NICs of the same kind.
    assert fake.run(script(host(links=1)), *mode).returncode == 0


@pytest.mark.parametrize(
    ("interfaces", "devices"),
    [(("eth1",), ()), ((), ("mlx5_1",)), (("eth1",), ("mlx5_1",))],
)
def test_named_nics_are_the_only_ones_set(
    tmp_path: Path, interfaces: tuple[str, ...], devices: tuple[str, ...]
) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", "0000:17:00.0")
    fake.add_nic("eth1", "mlx5_1", "0000:18:00.0")
    text = script(host(interfaces=interfaces, rdma_devices=devices))
    assert fake.run(text).returncode == 0
    touched = {word for call in fake.calls() for word in call.split()}
    assert touched & {"eth0", "eth1", "mlx5_0", "mlx5_1"} == {"eth1", "mlx5_1"}


def test_a_named_nic_that_is_not_there_is_reported_and_the_other_is_set(fake: FakeHost) -> None:
    done = fake.run(script(host(interfaces=("eth9", "eth0"), rdma_devices=("mlx5_9", "mlx5_0"))))
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "lossless-roce: eth9: there is no such interface",
        "lossless-roce: mlx5_9: there is no such RDMA device",
    ]
    assert fake.state["nics"]["eth0"]["trust"] == "dscp"


def test_jobs_that_set_the_traffic_class_themselves_are_left_to_it(fake: FakeHost) -> None:
    done = fake.run(script(host(traffic_class=None)))
    assert (done.returncode, done.stderr) == (0, "")
    assert not [call for call in fake.calls() if call.startswith("cma_roce_tos")]
    assert fake.tree()["devices/0000:17:00.0/infiniband/mlx5_0/tc/1/traffic_class"] == "Global tclass=0"


@pytest.mark.parametrize("missing", ["mlnx_qos", "cma_roce_mode", "cma_roce_tos"])
def test_a_missing_tool_is_named(tmp_path: Path, missing: str) -> None:
    fake = FakeHost(tmp_path, tools=tuple(tool for tool in TOOLS if tool != missing))
    fake.add_nic("eth0", "mlx5_0")
    done = fake.run(script(host()))
    where = "(mlnx_qos and cma_roce_* come with MLNX_OFED, DOCA and mlnx-tools)"
    assert (done.returncode, done.stderr) == (2, f"lossless-roce: {missing} is not installed {where}\n")
    assert fake.changes() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--chekc"], "unknown argument: --chekc (see --help)"),
        (["--check", "--dry-run"], "at most one of --check and --dry-run (see --help)"),
    ],
)
def test_a_wrong_argument_does_nothing(fake: FakeHost, arguments: list[str], message: str) -> None:
    done = fake.run(script(host()), *arguments)
    assert (done.returncode, done.stderr) == (2, f"lossless-roce: {message}\n")
    assert fake.calls() == []


def test_only_root_may(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path, uid=1000)
    done = fake.run(script(host()))
    said = "must run as root, to read the settings as well as to change them"
    assert (done.returncode, done.stderr) == (2, f"lossless-roce: {said}\n")
    assert fake.calls() == ["id -u"]


def test_a_host_without_nics_is_no_success(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    done = fake.run(script(host()))
    said = f"no network interface belongs to an Ethernet port of mlx5_core in {fake.sysfs}/class/infiniband"
    assert (done.returncode, done.stderr) == (2, f"lossless-roce: {said}\n")


def test_help_needs_nothing(tmp_path: Path) -> None:
    done = FakeHost(tmp_path, uid=1000).run(script(host()), "--help")
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "usage: lossless-roce.sh [--check | --dry-run | --help] [--firmware]",
    )


@pytest.mark.tools("laws")
@settings(max_examples=8)
@given(hosts(most_dscps=4))
def test_whatever_is_declared_is_what_the_nic_then_has(drawn: HostQos) -> None:
    qos = drawn._replace(interfaces=())
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeHost(Path(folder))
        fake.add_nic("eth0", "mlx5_0")
        done = fake.run(script(qos))
        assert (done.returncode, done.stderr) == (0, "")
        nic, declared = fake.state["nics"]["eth0"], dict(certain(qos.dscp_to_priority))
        assert nic["map"] == [declared.get(dscp, dscp >> 3) for dscp in range(64)]
        assert [p for p in range(8) if nic["pfc"][p]] == list(certain(qos.pfc_priorities))
        assert nic["cable"] == qos.cable_m
        tos = 0 if qos.traffic_class is None else qos.traffic_class
        assert fake.state["devices"]["mlx5_0"] == {"mode": "RoCE v2", "tos": tos}
        assert not [call for call in fake.calls() if "--trust" in call and "--dscp2prio" in call]
        assert fake.run(script(qos), "--check").returncode == 0


def test_trust_in_vlan_tags_needs_no_map_of_dscps(fake: FakeHost) -> None:
    tagged = host(trust="pcp", dscp_to_priority=((24, 3), (26, 5)))
    assert fake.run(script(tagged)).returncode == 0
    assert fake.state["nics"]["eth0"]["trust"] == "pcp"
    assert not [call for call in fake.calls() if "--dscp2prio" in call]
    assert fake.run(script(tagged), "--check").returncode == 0


def test_dcbx_goes_to_whom_it_is_declared_for(fake: FakeHost) -> None:
    assert fake.run(script(host())).returncode == 0
    assert fake.state["nics"]["eth0"]["dcbx"] == "os"
    assert fake.run(script(host(dcbx="firmware"))).returncode == 0
    assert fake.state["nics"]["eth0"]["dcbx"] == "fw"
    assert fake.run(script(host(dcbx="firmware")), "--check").returncode == 0


def test_global_pause_is_as_declared(fake: FakeHost) -> None:
    assert fake.run(script(host())).returncode == 0
    assert fake.state["nics"]["eth0"]["pause"] == ["off", "off"]
    assert fake.run(script(host(global_pause=True))).returncode == 0
    assert fake.state["nics"]["eth0"]["pause"] == ["on", "on"]


@pytest.mark.parametrize("stall_ms", [0, 80, 8000])
def test_stall_prevention_is_set_as_a_number(fake: FakeHost, stall_ms: int) -> None:
    assert fake.run(script(host(stall_ms=stall_ms))).returncode == 0
    assert fake.state["nics"]["eth0"]["pfc-prevention-tout"] == stall_ms
    assert not [call for call in fake.calls() if call.endswith("auto")]


def test_stall_prevention_that_nothing_is_known_of_is_left_alone(fake: FakeHost) -> None:
    assert fake.run(script(host(stall_ms=None))).returncode == 0
    assert not [call for call in fake.calls() if "tunable" in call]


def test_dcqcn_runs_where_it_is_declared_to(fake: FakeHost) -> None:
    assert fake.run(script(host(dcqcn=dcqcn(priorities=(0, 3))))).returncode == 0
    ecn = fake.ecn("eth0")
    assert [p for p in range(8) if ecn[f"roce_rp/enable/{p}"] == "1"] == [0, 3]
    assert [p for p in range(8) if fake.state["nics"]["eth0"]["pfc"][p]] == [3]


# --- what queue pairs are made with: fields of the register ROCE_ACCL ---


@pytest.mark.parametrize(
    ("mode", "name"),
    [("out_of_order", "adaptive_routing_forced_en"), ("selective_repeat", "selective_repeat_forced_en")],
)
def test_a_mode_of_queue_pairs_is_set_where_it_differs_and_read_back(
    fake: FakeHost, mode: str, name: str
) -> None:
    pci = "0000:17:00.0"
    forms: tuple[dict[str, Any], dict[str, Any]] = ({mode: True}, {mode: False})
    on, off = (script(host(**form)) for form in forms)
    assert fake.run(on, "--check").returncode == 1
    assert f"mlxreg -d {pci} --yes --reg_name ROCE_ACCL --set {name}=1" in fake.run(on, "--dry-run").stdout
    done = fake.run(on)
    assert (done.returncode, done.stderr) == (0, "")
    assert fake.state["registers"][pci][name] == 1
    assert fake.run(on, "--check").returncode == 0
    before = len(fake.changes())
    assert fake.run(on).returncode == 0
    assert len(fake.changes()) == before
    assert f"{name} is 1, must be 0" in fake.run(off, "--check").stderr
    assert fake.run(off).returncode == 0
    assert fake.state["registers"][pci][name] == 0


def test_without_mlxreg_its_other_name_is_taken_and_without_either_the_rest_is_set(tmp_path: Path) -> None:
    """mstflint calls it mstreg (Mellanox/mstflint mlxreg/Makefile.am @b9d9e84)."""
    neither = tuple(tool for tool in TOOLS if tool != "mlxreg")
    for name, tools, status in (("neither", neither, 1), ("other", (*neither, "mstreg"), 0)):
        fake = FakeHost(tmp_path / name, tools)
        fake.add_nic("eth0", "mlx5_0")
        done = fake.run(script(host(out_of_order=True)))
        assert done.returncode == status
        assert ("(of NVIDIA MFT, or mstreg of mstflint) cannot read ROCE_ACCL" in done.stderr) == bool(status)
        assert fake.state["nics"]["eth0"]["pfc"] == [0, 0, 0, 1, 0, 0, 0, 0]
        assert fake.state["nics"]["eth0"]["pfc-prevention-tout"] == 100
        forced = fake.state["registers"]["0000:17:00.0"]["adaptive_routing_forced_en"]
        assert forced == (0 if status else 1)


def test_a_mode_that_nothing_asks_for_is_not_looked_at(fake: FakeHost) -> None:
    assert fake.run(script(host())).returncode == 0
    assert not [call for call in fake.calls() if "ROCE_ACCL" in call]


def test_firmware_without_a_mode_is_named_and_the_rest_is_set(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", accelerates=False)
    done = fake.run(script(host(selective_repeat=True)))
    assert done.returncode == 1
    assert done.stderr == (
        "lossless-roce: eth0: selective_repeat_forced_en must be 1, and its firmware cannot set it in ROCE_ACCL\n"
    )
    assert fake.state["nics"]["eth0"]["trust"] == "dscp"
    assert fake.run(script(host(selective_repeat=False))).returncode == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_a_register_without_the_field_is_no_agreement(fake: FakeHost, wanted: bool) -> None:
    fake.put(fake.state | {"registers": {"0000:17:00.0": {"roce_tx_window_en": 0}}})
    done = fake.run(script(host(out_of_order=wanted)), "--check")
    assert done.returncode == 1
    assert "mlxreg shows no such field in ROCE_ACCL" in done.stderr


def test_a_register_that_cannot_be_read_is_said(fake: FakeHost) -> None:
    fake.put(fake.state | {"registers": {}})
    done = fake.run(script(host(out_of_order=True)))
    assert done.returncode == 1
    assert (
        "eth0: mlxreg (of NVIDIA MFT, or mstreg of mstflint) cannot read ROCE_ACCL of 0000:17:00.0"
        in done.stderr
    )
