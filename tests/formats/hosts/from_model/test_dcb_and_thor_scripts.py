"""What the scripts of single families do, in which order, and what stops them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.formats.hosts.from_model.fake_nic import TOOLS, FakeHost
from tests.formats.hosts.from_model.families import SHARED, broadcom, mlx5_by_dcb, other
from tests.formats.hosts.from_model.made_hosts import dcqcn, host, script

if TYPE_CHECKING:
    from pathlib import Path

THOR: dict[str, Any] = {"driver": "bnxt_en", "ecn": False, "tc": False, "most_tc": 2}


@pytest.fixture
def thor(tmp_path: Path) -> FakeHost:
    """A host with a Thor 2 whose firmware has service profiles."""
    made = FakeHost(tmp_path)
    made.add_nic("eth0", "bnxt_re0", **THOR)
    return made


ETS_OF_DCB = (
    "dcb ets set dev eth0 prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2 "
    "tc-tsa 0:ets 1:ets 2:strict 3:strict 4:strict 5:strict 6:strict 7:strict "
    "tc-bw 0:60 1:40 2:0 3:0 4:0 5:0 6:0 7:0"
)
PFC_OF_DCB = "dcb pfc set dev eth0 prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"


def test_a_thor_is_set_by_dcb_in_the_order_that_works(thor: FakeHost) -> None:
    assert thor.run(script(broadcom())).returncode == 0
    assert thor.changes() == [
        "ethtool -A eth0 rx off tx off",
        "ip link set dev eth0 mtu 9000",
        "dcb dcbx set dev eth0 host ieee",
        "dcb app replace dev eth0 dscp-prio 26:3 48:7",
        "dcb app replace dev eth0 dgram-port-prio 4791:3",
        "dcb ets set dev eth0 willing off",
        ETS_OF_DCB,
        PFC_OF_DCB,
    ]
    device = thor.state["devices"]["bnxt_re0"]
    assert (device["mode"], device["tos"]) == ("RoCE v2", 104)
    assert device["cc"] == {
        "ecn_enable": 1,
        "ecn_marking": 1,
        "cc_mode": 1,
        "disable_prio_vlan_tx": 1,
        "roce_prio": 0,
        "roce_dscp": 0,
        "cnp_prio": 0,
        "cnp_dscp": 0,
    }, "firmware with service profiles takes priorities from DCB"
    assert not (thor.sysfs / "kernel/config/bnxt_re").exists() or not [
        *(thor.sysfs / "kernel/config/bnxt_re").iterdir()
    ]


def test_a_thor_without_service_profiles_has_priorities_in_configfs_and_no_tc_for_cnps(
    tmp_path: Path,
) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "bnxt_re0", **(THOR | {"most_tc": 1, "profiles": False}))
    assert fake.run(script(broadcom())).returncode == 0
    cc = fake.state["devices"]["bnxt_re0"]["cc"]
    assert (cc["roce_prio"], cc["roce_dscp"], cc["cnp_prio"], cc["cnp_dscp"]) == (3, 26, 7, 48)
    assert fake.state["nics"]["eth0"]["ets"]["prio-tc"] == [0, 0, 0, 1, 0, 0, 0, 0]


def test_a_thor_is_set_by_niccli_with_its_pci_address(thor: FakeHost) -> None:
    assert thor.run(script(broadcom(tool="niccli"))).returncode == 0
    by = "niccli --dev 0000:17:00.0 qos"
    assert [call for call in thor.changes() if call.startswith(("dcb", "niccli"))] == [
        f"{by} --ets --tsa 0:ets,1:ets,2:strict --up2tc 0:0,1:0,2:0,3:1,4:0,5:0,6:0,7:2 --tcbw 60,40",
        f"{by} --pfc --enable 3",
        f"{by} --apptlv --add --app 3,5,26",
        f"{by} --apptlv --add --app 7,5,48",
        f"{by} --apptlv --add --app 3,3,4791",
    ]


@pytest.mark.parametrize("tool", ["dcb", "niccli"])
def test_what_an_earlier_configuration_mapped_goes(tmp_path: Path, tool: Any) -> None:
    fake = FakeHost(tmp_path)
    stale = [[5, 26, 5], [5, 26, 4], [5, 46, 6], [3, 4791, 3]]
    fake.add_nic("eth0", "bnxt_re0", **THOR, apps=stale)
    text = script(broadcom(tool=tool))
    said = fake.run(text, "--check").stderr
    assert "eth0: priority of DSCP 26 is +, must be 3" in said
    assert "eth0: priority of DSCP 46 is 6, must be none" in said
    assert fake.run(text).returncode == 0
    assert sorted(fake.state["nics"]["eth0"]["apps"]) == [[3, 4791, 3], [5, 26, 3], [5, 48, 7]]


def test_pfc_only_switches_congestion_control_of_a_thor_off(thor: FakeHost) -> None:
    thor.run(script(broadcom()))
    assert thor.run(script(broadcom(dcqcn=dcqcn(enabled=False, values=())))).returncode == 0
    cc = thor.state["devices"]["bnxt_re0"]["cc"]
    assert (cc["ecn_enable"], cc["ecn_marking"]) == (0, 0)


def test_a_driver_without_configfs_is_reported_and_the_rest_is_set(thor: FakeHost) -> None:
    thor.change(configfs=["rdma_cm"])
    done = thor.run(script(broadcom()))
    assert done.returncode == 1
    folder = f"{thor.sysfs}/kernel/config/bnxt_re/bnxt_re0"
    assert f"bnxt_re0: there is no {folder}/ports/1/cc; congestion control is not set\n" in done.stderr
    assert thor.state["devices"]["bnxt_re0"]["mode"] == "RoCE v2"


@pytest.mark.parametrize("tool", ["dcb", "niccli"])
@pytest.mark.parametrize("mode", [(), ("--check",), ("--dry-run",)])
def test_lldpad_and_the_script_exclude_each_other(thor: FakeHost, tool: Any, mode: tuple[str, ...]) -> None:
    thor.change(lldpad=True)
    done = thor.run(script(broadcom(tool=tool)), *mode)
    assert done.returncode == 1
    assert "eth0: lldpad runs and writes over it; " in done.stderr
    assert not [call for call in thor.changes() if call.startswith(("dcb", "niccli"))]


def test_dcb_of_mlx5_maps_every_dscp_and_takes_the_cable_as_the_delay(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "mlx5_0", ecn=False, debugfs=True, tc=False)
    assert fake.run(script(mlx5_by_dcb(cable_m=40))).returncode == 0
    nic = fake.state["nics"]["eth0"]
    assert sorted(nic["apps"]) == [[5, dscp, {26: 3, 48: 7}.get(dscp, 0)] for dscp in range(64)]
    assert (nic["cable"], nic["pfc"], nic["pfc-prevention-tout"]) == (40, [0, 0, 0, 1, 0, 0, 0, 0], 100)


@pytest.mark.parametrize(
    ("version", "order", "then"),
    [((6, 12), ["pcp"], ["dscp"]), ((6, 1), ["pcp"], ["pcp"]), ((6, 12), None, None)],
)
def test_a_trust_order_is_set_where_tool_and_driver_know_one(
    tmp_path: Path, version: tuple[int, int], order: list[str] | None, then: list[str] | None
) -> None:
    fake = FakeHost(tmp_path)
    fake.change(dcb_version=version)
    fake.add_nic("eth0", "rdma0", driver="ice", ecn=False, tc=False, order=order)
    assert fake.run(script(other())).returncode == 0
    assert fake.state["nics"]["eth0"]["order"] == then


def test_trust_in_vlan_tags_maps_no_dscp(thor: FakeHost) -> None:
    thor.run(script(broadcom()))
    assert thor.run(script(broadcom(trust="pcp"))).returncode == 0
    assert thor.state["nics"]["eth0"]["apps"] == [[3, 4791, 3]]
    assert thor.state["devices"]["bnxt_re0"]["cc"]["disable_prio_vlan_tx"] == 0


def test_shares_that_nobody_states_are_left_alone(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "rdma0", driver="ice", ecn=False, tc=False)
    assert fake.run(script(other(ets=None))).returncode == 0
    assert not [call for call in fake.calls() if call.startswith("dcb ets")]


def test_a_nic_that_the_tool_cannot_read_is_reported_and_the_rest_is_set(thor: FakeHost) -> None:
    state = thor.state
    state["nics"]["eth0"]["qos_refused"] = True
    thor.put(state)
    done = thor.run(script(broadcom()))
    assert done.returncode == 1
    assert "eth0: dcb cannot read it; DCBX, trust, DSCP map and PFC are not set" in done.stderr
    assert thor.state["devices"]["bnxt_re0"]["cc"]["ecn_enable"] == 1


@pytest.mark.parametrize(("tool", "whence"), [("dcb", "iproute2"), ("niccli", "Broadcom, with the driver")])
def test_a_missing_tool_is_named(tmp_path: Path, tool: Any, whence: str) -> None:
    fake = FakeHost(tmp_path, tools=tuple(name for name in TOOLS if name != tool))
    fake.add_nic("eth0", "bnxt_re0", **THOR)
    # The machine that runs this may have the real dcb.
    text = script(broadcom(tool=tool)).replace("(awk ethtool ip dcb)", "(awk ethtool ip no-dcb-here)")
    done = fake.run(text)
    assert done.returncode == 2
    assert f"is not installed ({tool} comes " in done.stderr
    assert whence in done.stderr


def test_only_the_ports_of_such_a_nic_are_set(tmp_path: Path) -> None:
    fake = FakeHost(tmp_path)
    fake.add_nic("eth0", "rdma0", "0000:17:00.0", driver="ice", ecn=False, tc=False)
    fake.add_nic("eth1", "mlx5_0", "0000:18:00.0")
    assert fake.run(script(other())).returncode == 0
    assert {word for call in fake.calls() for word in call.split()} & {"eth0", "eth1"} == {"eth0"}


def test_a_thor_that_shares_otherwise_has_other_shares(thor: FakeHost) -> None:
    ets = SHARED._replace(bandwidth_percent=(10, 90, 0, 0, 0, 0, 0, 0))
    assert thor.run(script(broadcom(ets=ets))).returncode == 0
    assert thor.state["nics"]["eth0"]["ets"]["tc-bw"][:2] == [10, 90]


# What only firmware of NVIDIA keeps.


@pytest.fixture
def connectx(tmp_path: Path) -> FakeHost:
    """A host with two ports of one ConnectX, fresh from the factory."""
    made = FakeHost(tmp_path)
    made.add_nic("eth0", "mlx5_0", "0000:17:00.0")
    made.add_nic("eth1", "mlx5_1", "0000:17:00.1")
    return made


def test_firmware_is_set_by_itself_and_waits_for_a_reset(connectx: FakeHost) -> None:
    done = connectx.run(script(host()), "--firmware")
    assert done.returncode == 0
    changes = connectx.changes()
    assert [call.split()[:5] for call in changes] == [
        ["mlxconfig", "-d", "0000:17:00.0", "-y", "set"],
        ["mlxconfig", "-d", "0000:17:00.1", "-y", "set"],
    ], "one call a port, and nothing of what the driver keeps"
    assert {"ROCE_CC_PRIO_MASK_P1=8", "CNP_DSCP_P1=48", "CNP_802P_PRIO_P1=6"} <= {*changes[0].split()}
    assert "ROCE_CC_PRIO_MASK_P2=8" in changes[1].split()
    assert (
        "in force only after a reset of the NIC (mlxfwreset -d 0000:17:00.0 reset), or a reboot"
        in done.stderr
    )
    again = connectx.run(script(host()), "--firmware")
    assert (again.returncode, again.stdout) == (0, "lossless-roce: all set, 0 changed\n")
    assert connectx.changes() == changes
    assert "in force only after a reset" in again.stderr, "it still waits"
    assert connectx.run(script(host()), "--firmware", "--check").returncode == 0


def test_an_ordinary_run_leaves_firmware_alone(connectx: FakeHost) -> None:
    assert connectx.run(script(host())).returncode == 0
    assert not [call for call in connectx.calls() if call.startswith("mlxconfig")]


def test_check_sees_every_firmware_setting_that_is_another(connectx: FakeHost) -> None:
    text = script(host())
    connectx.run(text, "--firmware")
    right = connectx.state
    names = list(right["firmware"]["0000:17:00.0"])
    assert len(names) == 20
    for name in names:
        right["firmware"]["0000:17:00.0"][name][2] ^= 1
    connectx.put(right)
    checked = connectx.run(text, "--check", "--firmware")
    assert checked.returncode == 1
    reported = [line.split()[3] for line in checked.stderr.splitlines() if " must be " in line]
    assert sorted(reported) == sorted(names)


def test_a_dry_run_of_firmware_prints_one_command_a_port(connectx: FakeHost) -> None:
    dry = connectx.run(script(host()), "--dry-run", "--firmware")
    assert (dry.returncode, connectx.changes()) == (0, [])
    connectx.run(script(host()), "--firmware")
    assert dry.stdout.splitlines() == connectx.changes()


def test_firmware_that_lacks_a_setting_is_reported(connectx: FakeHost) -> None:
    state = connectx.state
    del state["firmware"]["0000:17:00.0"]["RPG_GD_P1"]
    connectx.put(state)
    done = connectx.run(script(host()), "--firmware")
    assert done.returncode == 1
    assert "eth0: mlxconfig cannot read 0000:17:00.0; what its firmware keeps is not set" in done.stderr
    assert connectx.state["firmware"]["0000:17:00.1"]["RPG_GD_P2"][2] == 11, "the other port is still set"


def test_other_families_have_no_such_step(thor: FakeHost) -> None:
    done = thor.run(script(broadcom()), "--firmware")
    assert (done.returncode, done.stderr) == (2, "lossless-roce: unknown argument: --firmware (see --help)\n")
