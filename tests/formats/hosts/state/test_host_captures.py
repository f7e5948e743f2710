"""A capture of a host is told by what is in it: never by its name, wherever it is cut, and no text is an error."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.formats.hosts.forms import FORMS
from lossless.formats.inputs.capture_forms import read_capture
from tests.formats.readings import host_captures, problems, value

TEXTS = {
    "ethtool -S": "NIC statistics:\n     rx_packets: 3\n",
    "sysfs": "board_id=MT_1\nports/1/counters/link_downed=0\n",
    "dcb": "pfc-cap 8 macsec-bypass off delay 0\n",
    "mlnx_qos": "DCBX mode: OS controlled\nPriority trust state: pcp\n",
    "rdma link": "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0\n",
    "show_gids": "DEV PORT INDEX GID  IPv4 VER DEV\n--- ---\nmlx5_0 1 3 fe80::1 192.0.2.1 v2 eth0\n",
    "ibstat": "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
    "ibstatus": "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 4: ACTIVE\n\trate:\t\t 400 Gb/sec (4X NDR)\n",
    "ibdev2netdev": "mlx5_0 port 1 ==> eth0 (Up)\n",
    "rdma statistic": "link mana_0/1\n    requester_timeout 45\n",
    "node_exporter": 'node_infiniband_state_id{device="a",port="1"} 4\n',
    "nicctl": '\n{\n    "nic": [\n    ]\n}\n',
    "NCCL log": "h:1:2 [0] NCCL INFO Using network IB\n",
    "traffic test": "# nThread 1 nGpus 1 minBytes 8\n#  size  count  type  redop  root  time  algbw  busbw #wrong\n",
    "systemctl status": "● sharp_am.service - SHARP\n     Loaded: loaded\n     Active: active (running) since Mon\n",
    "nvidia-smi topo": "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPIX\t0-31\t0\n",
    "UCX log": "[1.5] [h:1:0] ucp.c:1 UCX  WARN  no memory\n",
    "ip link show": "22: eth0: <UP> mtu 1500 qdisc mq state UP mode DEFAULT\n",
    "RCCL RAS status": '{"nccl_version": "2.28.9", "communicators_count": 1}',
}


def test_every_form_has_a_text_here() -> None:
    forms = {form.name for form in FORMS if form.unit == "section"}
    assert forms - TEXTS.keys() == set(), "not in TEXTS of tests/formats/hosts/state/test_host_captures.py"
    assert TEXTS.keys() - forms == set(), "not in FORMS of lossless/formats/hosts/forms.py"


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("file", ["capture.txt", "config_db.json", "perfquery", "opensm.log"])
def test_the_name_of_a_file_does_not_say_what_it_is(form: str, file: str) -> None:
    assert [capture.form for capture in host_captures(TEXTS[form], file)] == [form]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "hello\n",
        '{"PORT": {"Ethernet0": {"mtu": "9100"}}}',
        "key: value\nname: 3\n",
        "a=b\n",
        "[]",
        "1: 2",
    ],
)
def test_other_texts_are_not_ours(text: str) -> None:
    assert read_capture(text, "capture", ["hosts"]) is None


def test_a_transcript_has_a_capture_for_each_command_of_its_host() -> None:
    prompts = ["[root@node7 ~]# ", "root@node7:~$ sudo ", "root@node7:/tmp# "]
    commands = ["ethtool -S eth2", "uptime", "dcb pfc show dev eth3"]
    outputs = [TEXTS["ethtool -S"], " 10:00 up 3 days\n", TEXTS["dcb"]]
    text = "".join(
        f"{prompt}{command}\n{output}"
        for prompt, command, output in zip(prompts, commands, outputs, strict=True)
    )
    captures = host_captures(text)
    assert [(capture.form, capture.device) for capture in captures] == [
        ("ethtool -S", "node7"),
        ("dcb", "node7"),
    ]
    assert (value(captures, "rx_packets", device="eth2"), value(captures, "pfc_cap", device="eth3")) == (3, 8)


def test_a_snapshot_of_the_collector_names_the_host() -> None:
    text = '# lossless host facts 1\n# host node1\n==> dcb -j pfc show dev eth2\n{"pfc_cap": 4}\n==> end\n'
    captures = host_captures(text)
    assert (captures[0].device, value(captures, "pfc_cap", device="eth2")) == ("node1", 4)


def test_the_status_of_rccl_is_refused_with_the_reason() -> None:
    captures = host_captures("RCCL version 2.28.3\nHIP runtime version 7\n\nJob summary\n===========\n")
    assert captures[0].readings == ()
    assert problems(captures) == [
        "1:1: the RAS status of RCCL says which ranks answer and nothing of NICs or the network: not read"
    ]


WHOLE = "".join(TEXTS.values())


@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 200), st.text(max_size=30))
def test_a_capture_that_is_cut_and_goes_on_with_anything_is_no_error(form: str, at: int, rest: str) -> None:
    for capture in read_capture(TEXTS[form][:at] + rest, "capture", ["hosts"]) or ():
        for problem in capture.problems:
            assert problem.line is not None
            assert problem.column is not None


@given(st.text(alphabet=st.sampled_from(sorted(set(WHOLE + "\r\0\u2028٣"))), max_size=120))
def test_no_text_is_an_error(text: str) -> None:
    read_capture(text, "capture", ["hosts"])


def test_a_number_that_is_too_long_is_unknown_and_no_error() -> None:
    read_capture(f"NIC statistics:\n     rx_packets: {'9' * 6000}\n", "capture", ["hosts"])
    read_capture('{"nic": [{"id": ' + "9" * 6000 + "}]}", "capture", ["hosts"])


JOINED = {
    "ethtool -S": "NIC statistics:\n     rx_prio0_packets: 3\n",
    "sysfs": "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:5\n",
    "mlnx_qos": "DCBX mode: OS controlled\nPriority trust state: dscp\ntc: 0 ratelimit: unlimited\n\t priority:  0\n",
    "dcb": "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off\n",
    "ibstat": "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
    "ibstatus": "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 4: ACTIVE\n\trate:\t\t 400 Gb/sec (4X NDR)\n",
    "ibdev2netdev": "mlx5_0 port 1 ==> eth0 (Up)\n",
    "rdma link": TEXTS["rdma link"],
    "show_gids": TEXTS["show_gids"],
    "traffic test": TEXTS["traffic test"],
    "nvidia-smi topo": TEXTS["nvidia-smi topo"],
    "systemctl status": TEXTS["systemctl status"],
    "rdma statistic": "link mana_0/1\n    requester_timeout 45\n",
}


@pytest.mark.parametrize("second", JOINED)
@pytest.mark.parametrize("first", JOINED)
def test_outputs_that_follow_each_other_in_a_file_are_told_apart(first: str, second: str) -> None:
    if first != second:
        forms = [capture.form for capture in host_captures(JOINED[first] + JOINED[second])]
        assert forms == [first, second]


def test_a_second_output_without_an_interface_is_not_taken_for_the_first() -> None:
    captures = host_captures(JOINED["ethtool -S"] + JOINED["ethtool -S"].replace("3", "9"))
    assert value(captures, "priority_rx_packets", priority="0") == 3
    assert [(problem.line, problem.column) for capture in captures for problem in capture.problems] == [
        (3, 1)
    ]


TWICE = {
    "ibstat": ("ibstat", JOINED["ibstat"], ("State: Active", "State: Down"), "State of device mlx5_0 port 1"),
    "ibstatus": ("ibstatus", JOINED["ibstatus"], ("4: ACTIVE", "1: DOWN"), "state of device mlx5_0 port 1"),
    "ibdev2netdev": (
        "ibdev2netdev",
        JOINED["ibdev2netdev"],
        ("(Up)", "(Down)"),
        "netdev_state of device mlx5_0",
    ),
    "rdma link": ("rdma link", JOINED["rdma link"], ("state ACTIVE", "state DOWN"), "state of device mlx5_0"),
    "show_gids": ("show_gids", JOINED["show_gids"], ("v2", "v1"), "version of device mlx5_0 port 1 index 3"),
    "nvidia-smi topo": (
        "nvidia-smi topo -m",
        JOINED["nvidia-smi topo"],
        ("PIX", "SYS"),
        "NIC0 of gpu 0 device NIC0",
    ),
    "mlnx_qos": (
        "mlnx_qos -i eth0",
        JOINED["mlnx_qos"],
        ("state: dscp", "state: pcp"),
        "trust of device eth0",
    ),
}


@pytest.mark.parametrize("form", TWICE)
@pytest.mark.parametrize("titled", [True, False])
def test_of_two_outputs_of_one_command_the_later_holds_and_both_are_named(form: str, titled: bool) -> None:
    command, text, (now, then), what = TWICE[form]
    if not titled and form == "mlnx_qos":
        return  # Without a command nothing names its interface: the second one is refused.
    title = f"root@node7:~# {command}\n" if titled else ""
    earlier = f"{title}{text.replace(now, then)}"
    captures = host_captures(f"{earlier}{title}{text}")
    changed = next(at for at, line in enumerate(text.splitlines(), start=1) if now in line)
    lines = (changed + titled, changed + titled + earlier.count("\n"))
    (note,) = [note for capture in captures for note in capture.outdated]
    assert note.startswith(what)
    assert f"of line {lines[0]}" in note
    assert f"printed it again in line {lines[1]}, which holds" in note
    assert [
        note for capture in host_captures(f"{title}{text}{title}{text}") for note in capture.outdated
    ] == []


def test_interfaces_that_are_named_are_both_read() -> None:
    text = "".join(f"==> ethtool -S {name}\n{JOINED['ethtool -S']}" for name in ("eth0", "eth1"))
    captures = host_captures(text)
    assert [capture.problems for capture in captures] == [(), ()]
    assert {value(captures, "priority_rx_packets", device=name) for name in ("eth0", "eth1")} == {3}


def test_a_job_log_is_one_whatever_it_prints_between() -> None:
    log = TEXTS["NCCL log"]
    assert [capture.form for capture in host_captures(f"{log}step_time: 3\nlr 12\n{log}")] == ["NCCL log"]


def test_gids_have_a_version_an_address_and_an_interface_where_they_are_printed() -> None:
    text = TEXTS["show_gids"] + "mlx5_1  1  0  fe80:0000:0000:0000:0000:0000:0000:0002  v1\nn_gids_found=2\n"
    captures = host_captures(text)
    assert value(captures, "version", device="mlx5_0", index="3") == "v2"
    assert value(captures, "netdev", device="mlx5_0", index="3") == "eth0"
    assert value(captures, "version", device="mlx5_1", index="0") == "v1"
    assert value(captures, "n_gids_found") == 2
    assert len([r for capture in captures for r in capture.readings if r.name == "netdev"]) == 1


@pytest.mark.parametrize("prefix", ["link ", "0/1: "])
def test_a_port_of_rdma_link_has_its_states(prefix: str) -> None:
    text = TEXTS["rdma link"].replace("link ", prefix).replace("/1 ", "/1: " if prefix == "0/1: " else "/1 ")
    captures = host_captures(text)
    assert value(captures, "phys_state", device="mlx5_0", port="1") == "LINK_UP"
    assert value(captures, "netdev", device="mlx5_0", port="1") == "eth0"


SCRIPT = """\
    ======== show configuration for device eth0 / mlx5_0========
    Priority trust state: dscp
    PFC configuration:
            priority    0   1   2   3   4   5   6   7
            enabled     0   0   0   0   0   1   0   0
    ECN Enabled for priority 5: /sys/class/net/eth0/ecn/roce_np/enable/5 = 1
    ECN Enabled for priority 5: /sys/class/net/eth0/ecn/roce_rp/enable/5 = 0
"""


def test_an_indented_mlnx_qos_of_a_script_has_its_device_and_the_switches_of_ecn() -> None:
    captures = host_captures(SCRIPT)
    assert value(captures, "pfc_enabled", device="eth0", priority="5") == 1
    assert value(captures, "ecn_np", device="eth0", priority="5") == 1
    assert value(captures, "ecn_rp", device="eth0", priority="5") == 0
    assert value(captures, "trust", device="eth0") == "dscp"


class TestTopology:
    """Matrices of public reports: NVIDIA/nccl#1453 (eight H100) and #820 (columns by device)."""

    def test_nics_are_named_by_the_legend(self) -> None:
        nics = [f"NIC{number}" for number in range(9)]
        near = {0: 8, 1: 7, 2: 6, 3: 5, 4: 4, 5: 3, 6: 2, 7: 1}
        lines = ["\t".join(["", *(f"\x1b[4mGPU{gpu}\x1b[0m" for gpu in range(8)), *nics, "CPU Affinity"])]
        for gpu in range(8):
            side = range(5, 9) if gpu < 4 else range(1, 5)
            paths = ["PIX" if near[gpu] == nic else "NODE" if nic in side else "SYS" for nic in range(9)]
            lines.append("\t".join([f"GPU{gpu}", *(["NV18"] * 8), *paths, "0-79", "0", "", "N/A"]))
        legend = ["", "NIC Legend:", "", *(f"  {nic}: mlx5_{number}" for number, nic in enumerate(nics))]
        captures = host_captures("\n".join([*lines, *legend, ""]))
        assert [value(captures, "gpu_path", gpu=str(gpu), device=f"mlx5_{near[gpu]}") for gpu in near] == [
            "PIX"
        ] * 8
        assert value(captures, "gpu_path", gpu="3", device="mlx5_4") == "SYS"
        assert value(captures, "gpu_path", gpu="3", device="mlx5_8") == "NODE"

    def test_columns_may_be_devices_and_a_row_with_joined_columns_is_not_read(self) -> None:
        text = (
            "        GPU0    GPU1    mlx5_0  mlx5_1  mlx5_2  CPU Affinity    NUMA Affinity\n"
            "GPU0     X      NV12    PXB     PXB     NODE    0-31,64-95      0\n"
            "GPU1    NV12     X      PXB     NODENODE        0-31,64-95      0\n"
        )
        captures = host_captures(text)
        assert value(captures, "gpu_path", gpu="0", device="mlx5_2") == "NODE"
        assert [problem.line for capture in captures for problem in capture.problems] == [3]
