"""What NVIDIA hosts get: the files themselves, and what they refuse."""

from __future__ import annotations

import configparser
import re
import subprocess
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.device_files.base_merge import HOST_FILES
from lossless.formats.device_files.environment import environment, render_template
from lossless.formats.device_files.hosts import files_of_host
from lossless.formats.hosts.from_model.scripts import context, host_files
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import certain
from lossless.model.fabric.hosts import HostQos
from tests.formats.hosts.from_model.fake_nic import DEBUGFS_PARAMETERS, SYSFS_PARAMETERS
from tests.formats.hosts.from_model.families import KINDS
from tests.formats.hosts.from_model.made_hosts import dcqcn, host, rendered, script


@pytest.mark.parametrize("who", ["other", "hand"])
def test_there_is_neither_unit_nor_rule_of_udev_where_something_else_runs_the_script(who: Any) -> None:
    assert [file.path for file in host_files(host(applied_by=who))] == [
        "lossless-roce.sh",
        "lossless-roce.json",
    ]


def test_dcqcn_without_pfc_runs_where_it_is_declared_to() -> None:
    lossy = host(pfc_priorities=(), dcqcn=dcqcn(priorities=(3,)))
    assert (context(lossy)["dcqcn_prio_mask"], context(lossy)["pfc_mask"]) == (8, "0,0,0,0,0,0,0,0")


def _unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys are case-sensitive
    parser.read_string(rendered(host())["lossless-roce.service"])
    return parser


@pytest.mark.parametrize(
    ("kind", "device"),
    [
        ("plain", ['DRIVERS=="mlx5_core"']),
        ("thor-dcb", ['DRIVERS=="bnxt_en"']),
        ("other-dcb", ['ATTRS{vendor}=="0x8086"', 'ATTRS{device}=="0x1592"']),
    ],
)
def test_udev_has_the_unit_set_everything_again_where_a_device_of_the_nic_appears(
    kind: str, device: list[str]
) -> None:
    text = rendered(KINDS[kind])["lossless-roce.rules"]
    (rule,) = re.sub(r"^#.*\n|\\\n *", "", text, flags=re.MULTILINE).splitlines()
    assert rule.split(", ") == [
        'ACTION=="add"',
        'SUBSYSTEM=="infiniband"',
        *device,
        'TEST!="device/physfn"',
        'RUN+="/usr/bin/systemctl --no-block restart lossless-roce.service"',
    ]
    assert f" {HOST_FILES['lossless-roce.rules'].target}\n" in text


def test_the_unit_sets_everything_again_at_every_boot() -> None:
    unit = _unit()
    assert {name: dict(unit[name]) for name in unit.sections()} == {
        "Unit": {
            "Description": "RoCE settings of this host's NICs (PFC, DSCP, DCQCN)",
            "Wants": "network-online.target",
            "After": "network-pre.target network-online.target openibd.service rdma-hw.target",
            "Before": "slurmd.service kubelet.service",
            "PartOf": "openibd.service",
            # More ports may appear again than the five starts in ten seconds that systemd allows by default.
            "StartLimitIntervalSec": "0",
        },
        "Service": {
            "Type": "oneshot",
            "RemainAfterExit": "yes",
            "ExecStart": "/usr/local/sbin/lossless-roce.sh",
            "TimeoutStartSec": "630",
            "TimeoutStopSec": "10",
        },
        "Install": {"WantedBy": "multi-user.target"},
    }


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"tool": "niccli"}, "connectx-7: niccli cannot set this NIC; expected mlnx_qos or dcb"),
    (
        {"nic": "broadcom-thor-2", "tool": "mlnx_qos"},
        "broadcom-thor-2: mlnx_qos cannot set this NIC; expected dcb or niccli",
    ),
    ({"cable_m": 1000}, "connectx-7: a cable of 1000 m; mlx5 takes 1 to 999 m and ignores the rest"),
    ({"cable_m": 0}, "connectx-7: a cable of 0 m; mlx5 takes 1 to 999 m and ignores the rest"),
    (
        {"pfc_priorities": ()},
        "connectx-7: DCQCN is on, yet it would run on no priority: none is lossless, "
        "and congestion_control.dcqcn.priorities names none",
    ),
    (
        {"dcqcn": dcqcn(cnp_dscp=None)},
        "connectx-7: DCQCN is on, yet nothing says which DSCP and priority CNPs have",
    ),
    (
        {"dcqcn": dcqcn(values=(("rpg_magic", 1),))},
        "connectx-7: mlx5 has no DCQCN parameter rpg_magic",
    ),
    ({"interfaces": ("eth0; reboot",)}, "'eth0; reboot' cannot be the name of a network interface"),
    ({"interfaces": ("..",)}, "'..' cannot be the name of a network interface"),
    ({"interfaces": ("-a",)}, "'-a' cannot be the name of a network interface"),
    ({"interfaces": ("a" * 16,)}, f"'{'a' * 16}' cannot be the name of a network interface"),
    ({"rdma_devices": ("mlx5_0\n",)}, "'mlx5_0\\n' cannot be the name of an RDMA device"),
]


@pytest.mark.parametrize(("changes", "message"), ERRORS)
def test_what_cannot_be_rendered_is_refused_in_words(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RenderError) as caught:
        context(host(**changes))
    assert str(caught.value) == message


def test_a_nic_without_a_profile_is_refused() -> None:
    with pytest.raises(RenderError, match=r"^other: no profile says which driver this NIC has"):
        context(host()._replace(nic=None, nic_name="other"))


def test_a_host_whose_files_cannot_be_rendered_is_named() -> None:
    with pytest.raises(RenderError, match=r"^host7: its NIC is unknown; no host files for it$"):
        list(files_of_host("host7", host()._replace(nic=None, nic_name="")))


def test_rdma_devices_of_multi_domain_machines_have_long_names() -> None:
    assert context(host(rdma_devices=("rocep2p193s0f0np0",)))["rdma_devices"] == ("rocep2p193s0f0np0",)


def test_a_template_that_asks_for_too_much_is_refused() -> None:
    with pytest.raises(RenderError, match=r"lossless-roce\.service\.j2: 'script_path' is undefined"):
        render_template("hosts/lossless-roce.service.j2", {})
    with pytest.raises(RenderError, match=r"template hosts/nothing\.j2: "):
        render_template("hosts/nothing.j2", {})


def test_shell_words_are_quoted() -> None:
    assert environment().from_string("{{ word | shell }}").render(word="a b;$(c)") == "'a b;$(c)'"


def test_every_dcqcn_parameter_has_its_name_in_both_drivers() -> None:
    parameters = context(host())["dcqcn_parameters"]
    assert isinstance(parameters, tuple)
    assert sorted(p.sysfs for p in parameters) == sorted(SYSFS_PARAMETERS)
    # np_cnp_prio_mode is no parameter of its own: the driver clears it with np_cnp_prio.
    assert {p.debugfs for p in parameters} == {*DEBUGFS_PARAMETERS} - {"np_cnp_prio_mode"}


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,13}", fullmatch=True)
PRIORITIES = st.integers(0, 7)


@st.composite
def hosts(draw: st.DrawFn, most_dscps: int = 64) -> HostQos:
    """Draw any host that mlx5 can be, whether or not it makes sense."""
    names = [name for name, _ in dcqcn().values]
    values = tuple((name, draw(st.integers(0, 2**32 - 1))) for name in names)
    mapped = draw(st.dictionaries(st.integers(0, 63), PRIORITIES, max_size=most_dscps))
    return host(
        interfaces=tuple(draw(st.lists(NAMES, max_size=3, unique=True))),
        mtu_bytes=draw(st.integers(1500, 9978)),
        cable_m=draw(st.integers(1, 999)),
        dscp_to_priority=tuple(sorted(mapped.items())),
        pfc_priorities=tuple(sorted(draw(st.sets(PRIORITIES, min_size=1)))),
        traffic_class=draw(st.none() | st.integers(0, 255)),
        dcqcn=dcqcn(
            enabled=draw(st.booleans()),
            values=values,
            cnp_dscp=draw(st.integers(0, 63)),
            cnp_priority=draw(PRIORITIES),
        ),
    )


def _run(*command: str, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@given(hosts())
def test_whatever_the_host_the_script_is_bash_and_the_same_twice(qos: HostQos) -> None:
    text = script(qos)
    assert text == script(qos)
    said = _run("bash", "-n", text=text)
    assert (said.returncode, said.stderr) == (0, "")


@given(hosts())
def test_the_masks_are_the_priorities(qos: HostQos) -> None:
    text = script(qos)
    assigned = dict(re.findall(r"^readonly (\w+)=(\S+)$", text, re.MULTILINE))
    on = [int(flag) for flag in assigned["PFC"].split(",")]
    assert [p for p in range(8) if on[p]] == list(certain(qos.pfc_priorities))
    running = [p for p, flag in enumerate(assigned["DCQCN_PRIORITIES"]) if flag == "1"]
    assert running == (list(certain(qos.pfc_priorities)) if qos.dcqcn.enabled else [])
    assert int(assigned["DCQCN_PRIO_MASK"]) == sum(2**p for p in running)
    declared = dict(certain(qos.dscp_to_priority))
    mapped = [int(digit) for digit in assigned["DSCP_PRIORITIES"]]
    assert mapped == [declared.get(dscp, dscp // 8) for dscp in range(64)]
