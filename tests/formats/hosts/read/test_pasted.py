"""What people paste of a host is read: scripts, and outputs of tools other than those of the collector."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.formats.hosts.read.facts import is_facts, read_facts
from lossless.formats.hosts.read.scripts import is_script
from lossless.formats.hosts.to_model import read_hosts

Said = dict[tuple[str, str], Any]

QOS = """\
IEEE 8021QAZ ETS Configuration TLV:
         PRIO_MAP: 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2
         TC Bandwidth: 50% 50% 0%
         TSA_MAP: 0:ets 1:ets 2:strict
IEEE 8021QAZ PFC TLV:
         PFC enabled: 3
IEEE 8021QAZ APP TLV:
         APP#0:
          Priority: 7
          Sel: 5
          DSCP: 48

         APP#1:
          Priority: 3
          Sel: 5
          DSCP: 26

         APP#2:
          Priority: 3
          Sel: 3
          UDP or DCCP: 4791

TC Rate Limit: 100% 100% 100% 0% 0% 0% 0% 0%
"""
"""What ``niccli get_qos`` prints (outputs in ROCm's tests of its RDMA configuration)."""
LLDPTOOL = """\
Chassis ID TLV
    MAC: 00:1b:21:90:8d:e8
IEEE 8021QAZ ETS Configuration TLV
     Willing: yes
     MAX_TCS: 8
     PRIO_MAP: 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
     TC Bandwidth: 12% 12% 12% 12% 13% 13% 13% 13%
     TSA_MAP: 0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:ets 7:ets
IEEE 8021QAZ PFC TLV
     Willing: yes
     PFC capable traffic classes: 8
     PFC enabled: 1 2 5 7
End of LLDPDU TLV
"""
WINDOWS = """\
Name                       : SLOT 3 Port 1
Enabled                    : True
Capabilities               :                       Hardware     Current
                             NumTCs(Max/ETS/PFC) : 8/8/8        8/8/8

OperationalTrafficClasses  : TC TSA    Bandwidth Priorities
                             0  ETS           40 0-3,5-7
                             1  ETS           60 4

OperationalFlowControl     : Priority 4 Enabled
OperationalClassifications : Not Available
"""
"""What ``Get-NetAdapterQos`` prints (MicrosoftDocs/windows-powershell-docs, example 1)."""


def said(text: str, file: str = "host1/capture.txt", *, script: bool = False) -> tuple[Said, list[str]]:
    facts = read_facts(text, file, is_script=script)
    return {(fact.scope, fact.key): fact.value for fact in facts.said}, [p.message for p in facts.problems]


@pytest.mark.parametrize(("enabled", "paused"), [("3", (3,)), ("none", ()), ("1 3", (1, 3)), ("1,3", (1, 3))])
def test_niccli_has_pfc_shares_and_the_dscp_map(enabled: str, paused: tuple[int, ...]) -> None:
    text = QOS.replace("PFC enabled: 3", f"PFC enabled: {enabled}")
    assert is_facts(text)
    facts, problems = said(text, "host1/get_qos.bnxt0.txt")
    assert (facts["bnxt0", "pfc"], problems) == (paused, [])
    assert facts["bnxt0", "ets"].priority_to_tc == (0, 0, 0, 1, 0, 0, 0, 2)
    mapped = dict(facts["bnxt0", "dscp_to_priority"])
    assert {dscp: priority for dscp, priority in mapped.items() if priority} == {26: 3, 48: 7}


def test_a_port_number_of_the_application_table_is_no_dscp() -> None:
    facts, _ = said(QOS.replace("Sel: 5", "Sel: 3"))
    assert ("", "dscp_to_priority") not in facts


def test_lldptool_is_of_the_host_and_not_of_its_neighbor() -> None:
    facts, problems = said(f"==> lldptool -t -i eth3\n{LLDPTOOL}")
    assert (facts["eth3", "pfc"], problems) == ((1, 2, 5, 7), [])
    for options in ("-t -n -i eth3", "-tni eth3"):
        facts, problems = said(f"==> lldptool {options}\n{LLDPTOOL}")
        assert (facts, [message.rpartition(": ")[2] for message in problems]) == (
            {},
            ["what the neighbor advertises, which is not read"],
        )


@pytest.mark.parametrize(
    ("control", "paused"),
    [
        ("Priority 4 Enabled", (4,)),
        ("Priority 3-4,6 Enabled", (3, 4, 6)),
        ("All Priorities Disabled", ()),
    ],
)
def test_an_adapter_of_windows_has_its_pfc(control: str, paused: tuple[int, ...]) -> None:
    text = WINDOWS.replace("Priority 4 Enabled", control)
    assert is_facts(text)
    assert said(text)[0] == {("SLOT 3 Port 1", "pfc"): paused}


MLNX_QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
"""
ETHTOOL = "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n"
FILES = "/sys/class/net/eth0/mtu = 9000\n"
UNTITLED = {
    "mlnx_qos": MLNX_QOS,
    "niccli": QOS,
    "Get-NetAdapterQos": WINDOWS,
    "ethtool": ETHTOOL,
    "files": FILES,
}


@pytest.mark.parametrize("second", UNTITLED)
@pytest.mark.parametrize("first", UNTITLED)
def test_outputs_without_commands_are_told_apart(first: str, second: str) -> None:
    if first != second:
        both = said(UNTITLED[first] + UNTITLED[second])[0]
        apart = said(UNTITLED[first])[0].items() | said(UNTITLED[second])[0].items()
        assert both.items() >= {item for item in apart if item[0][0] or item[0][1] != "pfc"}


@pytest.mark.parametrize(
    ("title", "text", "earlier", "field", "value"),
    [
        ("mlnx_qos -i eth0", MLNX_QOS, ("0   0   0   1", "0   0   0   0"), "pfc_priorities", (3,)),
        ("niccli -dev 1 get_qos", QOS, ("PFC enabled: 3", "PFC enabled: none"), "pfc_priorities", (3,)),
        ("lldptool -t -i eth3", LLDPTOOL, ("enabled: 1 2 5 7", "enabled: 3"), "pfc_priorities", (1, 2, 5, 7)),
        ("Get-NetAdapterQos", WINDOWS, ("Priority 4", "Priority 3"), "pfc_priorities", (4,)),
        ("cma_roce_tos -d mlx5_0 -p 1", "106\n", ("106", "26"), "cma_tos", 106),
        ("cat /sys/class/net/eth0/mtu", "9000\n", ("9000", "1500"), "mtu_bytes", 9000),
        ("files", FILES, ("9000", "1500"), "mtu_bytes", 9000),
        ("ethtool -a eth0", ETHTOOL, ("off", "on"), "global_pause", False),
        ("", WINDOWS, ("Priority 4", "Priority 3"), "pfc_priorities", (4,)),
        ("", ETHTOOL, ("off", "on"), "global_pause", False),
        ("", FILES, ("9000", "1500"), "mtu_bytes", 9000),
    ],
)
def test_of_two_outputs_of_one_command_the_later_holds_and_both_are_named(
    title: str, text: str, earlier: tuple[str, str], field: str, value: object
) -> None:
    prompt = f"root@host1:~# {title}\n" if title else ""
    pasted = f"{prompt}{text.replace(*earlier)}{prompt}{text}"
    hosts = read_hosts([read_facts(pasted, "host1/capture.txt")], ())
    assert ([getattr(host.qos, field) for host in hosts.hosts], hosts.problems) == ([value], ())
    assert [note.endswith("which holds") for note in hosts.notes] == [True]


def test_two_outputs_that_name_no_interface_contradict_each_other() -> None:
    pasted = MLNX_QOS.replace("dscp", "pcp") + MLNX_QOS
    assert read_hosts([read_facts(pasted, "host1/capture.txt")], ()).problems
    named = read_hosts([read_facts(pasted, "host1/mlnx_qos.eth0.txt")], ())
    assert ([host.qos.trust for host in named.hosts], named.problems) == (["dscp"], ())


class TestScript:
    def test_commands_files_and_variables_are_what_it_sets(self) -> None:
        text = (
            "#!/bin/bash\nIF=eth0\n# mlnx_qos -i eth9 --trust pcp\nmlnx_qos -i $IF --trust dscp\n"
            "sudo mlnx_qos -i ${IF} --pfc=0,0,0,1,0,0,0,0\ncma_roce_tos -d mlx5_0 -t 106\n"
            "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n"
            'export NCCL_IB_TC="106"\nmpirun -x NCCL_IB_GID_INDEX=3 -np 16 ./all_reduce_perf\n'
        )
        assert is_script(text)
        facts, problems = said(text, script=True)
        variables = {key for key in facts if key[1].startswith("variable.")}
        assert problems == []
        assert {key: value for key, value in facts.items() if key not in variables} == {
            ("eth0", "trust"): "dscp",
            ("eth0", "pfc"): (3,),
            ("mlx5_0", "cma_tos"): 106,
            ("mlx5_0", "traffic_class"): 106,
            ("", "nccl.ib_tc"): 106,
            ("", "nccl.ib_gid_index"): 3,
        }

    def test_the_later_line_holds(self) -> None:
        text = "#!/bin/sh\nmlnx_qos -i eth0 --trust pcp\nmlnx_qos -i eth0 --trust dscp\n"
        assert said(text, script=True)[0] == {("eth0", "trust"): "dscp"}

    def test_a_variable_that_another_place_sets_is_said_not_to_be_read(self) -> None:
        text = "#!/bin/bash\nmlnx_qos -i $1 --trust dscp\nexport NCCL_IB_TC=$TC\n"
        facts, problems = said(text, script=True)
        assert (facts, len(problems)) == ({}, 2)

    @pytest.mark.parametrize(
        "text",
        [
            "mlnx_qos -i eth0 --trust dscp\n",
            "#!/usr/bin/env python3\nmlnx_qos -i eth0\n",
            "#!/bin/bash\necho hello\n",
            "#!/bin/bash\n# lossless-roce\nmlnx_qos -i eth0\n",
        ],
    )
    def test_other_texts_are_none(self, text: str) -> None:
        assert not is_script(text)
