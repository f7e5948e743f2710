"""What tools of InfiniBand print of ports: counters that stop, ports that are all ports, links and their peers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from lossless.formats.inputs.capture_forms import read_capture
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.state import PORT_COUNTERS
from tests.formats.readings import of, problems, subnet_captures, value


def printed(form: str, lid: int, port: int, counters: dict[str, int], mask: str = "") -> str:
    """Print counters as perfquery does."""
    lines = [f"{f'{name}:':.<33}{number}\n" for name, number in counters.items()]
    return f"# {form} counters: Lid {lid} port {port} (CapMask: 0x5A00{mask})\n{''.join(lines)}"


def test_a_counter_of_32_bits_stops_at_its_last_value() -> None:
    captures = subnet_captures(
        printed("Port", 4, 1, {"PortXmitWait": 2**32 - 1, "SymbolErrorCounter": 65534})
    )
    assert [reading.is_saturated for reading in captures[0].readings] == [True, False]


def test_a_counter_of_64_bits_does_not_stop_there() -> None:
    text = printed("Port extended", 4, 1, {"PortXmitWait": 2**32 - 1}, " CapMask2: 0x0000002")
    reading = of(subnet_captures(text), "port_xmit_wait")[0]
    assert (reading.is_saturated, reading.ceiling) == (False, 2**64 - 1)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("LinkDownedCounter", 8),
        ("SymbolErrorCounter", 16),
        ("ExcessiveBufferOverrunErrors", 4),
        ("PortXmitWait", 32),
    ],
)
def test_each_counter_stops_at_its_own_width(name: str, bits: int) -> None:
    reading = of(subnet_captures(printed("Port", 1, 1, {name: 2**bits - 1})), name)[0]
    assert reading.is_saturated


def test_zeros_of_counters_that_a_port_does_not_have_are_said_to_be_none() -> None:
    captures = subnet_captures(printed("Port extended", 4, 1, {"PortXmitWait": 0}, " CapMask2: 0x0000000"))
    assert value(captures, "has_extended_errors", lid=4, port=1) == 0
    assert captures[0].notes == ("lid 4 port 1 has no extended error counters: zeros of them are no counts",)


def test_two_ports_of_one_file_are_kept_apart() -> None:
    text = printed("Port", 9, 1, {"PortXmitWait": 5}) + "\n" + printed("Port", 9, 2, {"PortXmitWait": 6})
    captures = subnet_captures(text)
    assert [value(captures, "PortXmitWait", lid=9, port=port) for port in (1, 2)] == [5, 6]


def test_port_255_stands_for_all_ports() -> None:
    assert (
        value(subnet_captures(printed("Port", 9, 255, {"PortXmitWait": 5})), "PortXmitWait", port="ALL") == 5
    )


MAD_NAMES = st.sampled_from([counter.mad_name for counter in PORT_COUNTERS] + ["PortNewCounter"])
COUNTERS = st.dictionaries(MAD_NAMES, st.integers(0, 2**64 - 1), min_size=1)


@given(
    st.dictionaries(st.tuples(st.integers(1, 48000), st.integers(1, 64)), COUNTERS, min_size=1, max_size=4)
)
def test_perfquery_is_read_back(ports: dict[tuple[int, int], dict[str, int]]) -> None:
    captures = subnet_captures(
        "\n".join(printed("Port extended", *port, counters) for port, counters in ports.items())
    )
    read = {
        port: {r.heading: r.value for r in captures[0].readings if r.identity == _port(*port)}
        for port in ports
    }
    assert read == ports
    assert problems(captures) == []


def _port(lid: int, port: int) -> tuple[tuple[str, str], ...]:
    return (("lid", str(lid)), ("port", str(port)))


ERRORS = """Errors for "node-a mlx4_0"
   GUID 0x7cfe900300179b31 port 1: [VL15Dropped == 14] [PortXmitWait == 4294967295]
Errors for 0x2c903006e29b0 "MF0;switch-a:SX6036/U1"
   GUID 0x2c903006e29b0 port ALL: [PortXmitDiscards == 15854]
   GUID 0x2c903006e29b0 port 6: [PortXmitDiscards == 14176] [PortXmitWait == 4294967295 (4.000G)]

## Summary: 4 nodes checked, 4 bad nodes found
##          43 ports checked, 14 ports have errors beyond threshold
## Thresholds: [SymbolErrorCounter = 10]
"""


def test_the_sum_of_a_switch_is_no_port_of_it() -> None:
    captures = subnet_captures(ERRORS)
    assert value(captures, "PortXmitDiscards", guid="0x2c903006e29b0", port="ALL") == 15854
    assert value(captures, "port_xmit_discards", guid="0x2c903006e29b0", port=6) == 14176


def test_a_size_after_a_value_is_that_of_a_wide_counter() -> None:
    waits = of(subnet_captures(ERRORS), "port_xmit_wait")
    assert [(dict(reading.identity)["port"], reading.is_saturated) for reading in waits] == [
        ("1", True),
        ("6", False),
    ]


def test_what_is_below_a_threshold_is_not_printed_and_not_0() -> None:
    captures = subnet_captures(ERRORS)
    assert of(captures, "symbol_error") == []
    assert captures[0].notes == ("counters up to a threshold are not printed: [SymbolErrorCounter = 10]",)
    assert (value(captures, "nodes_checked"), value(captures, "ports_with_errors")) == (4, 14)


def test_a_line_of_counters_that_is_cut_is_a_problem_and_the_rest_counts() -> None:
    captures = subnet_captures("   GUID 0x2c9 port 6: [LinkDownedCounter == 9] [PortXmitDis")
    assert value(captures, "link_downed", port=6) == 9
    assert problems(captures) == ["1:48: the counters of a port are cut: '[PortXmitDis'"]


LINKS = """CA: n02 HCA-1:
      0xec0d9a03003d62be      4    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       2   17[  ] "MF0;sw/U1" ( )
Switch: 0x506b4b0300820910 MF0;sw/U1:
           2    1[  ] ==(                Down/ Polling)==>             [  ] "" ( )
           2   17[  ] ==( 4X      10.0 Gbps Active/  LinkUp)==>       4    1[  ] "n02 HCA-1" ( Could be 25.78125 Gbps)
"""


def test_a_link_has_its_state_speed_and_peer() -> None:
    captures = subnet_captures(LINKS)
    assert value(captures, "speed", lid=4, port=1, guid="0xec0d9a03003d62be") == "4X 25.78125 Gbps"
    assert (value(captures, "peer", lid=2, port=17), value(captures, "peer_lid", lid=2, port=17)) == (
        "n02 HCA-1",
        4,
    )
    assert value(captures, "peer_port", lid=4, port=1) == 17
    assert value(captures, "slower_than_possible", lid=2, port=17) == "Could be 25.78125 Gbps"


def test_a_link_of_fdr10_is_named_behind_its_speed() -> None:
    line = '  223   33[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>  145    1[  ] "gpfs HCA-1" ( )'
    captures = subnet_captures(f"{line}\n")
    assert value(captures, "speed", lid=223, port=33) == "4X 10.0 Gbps (FDR10)"
    assert value(captures, "peer", lid=223, port=33) == "gpfs HCA-1"
    assert value(captures, "state", lid=223, port=33) == "Active"


def test_a_port_that_is_down_has_neither_speed_nor_peer() -> None:
    captures = subnet_captures(LINKS)
    assert value(captures, "state", lid=2, port=1, guid="0x506b4b0300820910") == "Down"
    assert of(captures, "speed", port=1, lid=2) + of(captures, "peer", port=1, lid=2) == []


PORTS = """CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'o1 HCA-1' - ' leaf IB01 ' )
SW  2052 37 0x506b4b03005c2740 4x ???                                    'leaf 4'
SW   479 22 0x0002c9020040f161 4x QDR                                   Infiniscale-IV Technologies
"""
TOPOLOGY = """=~=~=~=~= PuTTY log 2021.06.15 12:06:05 =~=~=~=~=
# Topology file: generated on Tue Jun 15 19:06:08 2021
vendid=0x2c9
switchguid=0x7cfe9003009ce5b0(7cfe9003009ce5b0)
Switch\t41 "S-7cfe9003009ce5b0"\t\t# "leaf IB01" enhanced port 0 lid 1719 lmc 0
[10]\t"H-7cfe9003003b4bdd"[1](7cfe9003003b4bde) \t\t# "o1 HCA-1" lid 134 4xEDR
[11]\t"H-7cfe90
"""


def test_ports_of_ibnetdiscover_have_peers_where_they_have_some() -> None:
    captures = subnet_captures(PORTS)
    assert (value(captures, "peer", lid=134, port=1), value(captures, "speed", lid=134)) == (
        "leaf IB01",
        "4x EDR",
    )
    assert (value(captures, "peer", lid=2052), value(captures, "speed", lid=2052)) == (None, UNKNOWN)
    assert value(captures, "peer", node="Infiniscale-IV Technologies") is None


@pytest.mark.parametrize("tabs", ["\t", "", " "])
def test_a_topology_file_says_the_same_without_its_tabs(tabs: str) -> None:
    captures = subnet_captures(TOPOLOGY.replace("\t", tabs))
    assert value(captures, "peer", guid="0x7cfe9003009ce5b0", port=10, lid=1719) == "o1 HCA-1"
    assert (value(captures, "speed", port=10), value(captures, "peer_lid", port=10)) == ("4x EDR", 134)
    assert [problem[:24] for problem in problems(captures)] == ["7:1: the output is cut h"]


def test_a_sensor_that_says_nothing_or_foo_is_unknown() -> None:
    rows = ["part number | X", "PSID | MT_1", "GUID | 0x1c3", "uptime (d-h:m:s) | 1d-00:00:02"]
    rows += [
        "PSU0 status | OK",
        "     power (W) | foo",
        "PSU1 status | ",
        "     power (W) | 71",
        "fan#1 (rpm) |",
    ]
    captures = subnet_captures("\n".join(rows))
    assert [value(captures, "power", psu=psu) for psu in (0, 1)] == [UNKNOWN, 71]
    assert (value(captures, "speed", fan=1), value(captures, "uptime", guid="0x1c3")) == (UNKNOWN, 86402)
    assert problems(captures) == ["6:18: power (W): expected a number, not 'foo'"]


LOG = "".join(
    f"Mar 11 19:3{minute}:26 717944 [EC430700] 0x01 -> {text}\n"
    for minute, text in enumerate(
        [
            "log_send_error: ERR 5411: DR SMP Send completed with error (IB_TIMEOUT) -- dropping\n"
            "                        Method 0x1, Attr 0x20, TID 0x11f51",
            "Received SMP on a 2 hop path: Initial path = 0,1,3, Return path  = 0,0,0",
            "sm_mad_ctrl_send_err_cb: ERR 3120: Timeout while getting attribute 0x20 (SMInfo); Possible mis-set mkey?",
            "log_send_error: ERR 5411: DR SMP Send completed with error (IB_TIMEOUT) -- dropping",
        ]
    )
)


def test_errors_of_opensm_are_counted_with_the_first_and_the_last() -> None:
    captures = subnet_captures(LOG)
    assert [value(captures, "count", error=error) for error in ("5411", "3120")] == [2, 1]
    assert value(captures, "first_logged", error="5411") == "Mar 11 19:30:26.717944"
    assert value(captures, "last_logged", error="5411") == "Mar 11 19:33:26.717944"
    assert value(captures, "messages_of_path", path="0,1,3") == 1
    assert value(captures, "errors_of_attribute", attribute="3120 SMInfo") == 1


@pytest.mark.parametrize("time", ["Feb 30 19:31:26", "Mrz 11 19:31:26", "Mar 11 38:34:56", "Mar 11 19:60:26"])
def test_a_line_of_opensm_at_a_time_that_does_not_exist_is_not_counted(time: str) -> None:
    odd = LOG.replace("Mar 11 19:33:26", time)
    assert odd != LOG
    captures = subnet_captures(odd)
    assert value(captures, "count", error="5411") == 1
    assert value(captures, "last_logged", error="5411") == "Mar 11 19:30:26.717944"


def test_counters_of_ufm_have_the_names_of_all_others() -> None:
    row = {
        "port_guid": "0x1",
        "node_guid": "0x1",
        "port_num": 23,
        "Infiniband_XmitWait_u_Ticks": 7,
        "hist0_u_count": 2,
    }
    captures = subnet_captures(json.dumps({"type": "full", "values": [row]}))
    assert value(captures, "port_xmit_wait", guid="0x1", port=23) == 7
    assert (value(captures, "hist0_u_count"), of(captures, "port_xmit_wait")[0].ceiling) == (2, None)


def test_a_partition_that_is_defined_twice_has_its_first_definition_by_its_name() -> None:
    captures = subnet_captures("Default=0x7fff, rate=7, mtu=4 : ALL=full;\nDefault=0x7fff, rate=3 : ALL;\n")
    assert (value(captures, "rate", partition="Default"), value(captures, "rate", partition="Default#2")) == (
        7,
        3,
    )


FORMS = (printed("Port", 1, 1, {"PortXmitWait": 3}), ERRORS, LINKS, PORTS, TOPOLOGY, LOG)


@given(st.sampled_from(FORMS), st.integers(0, 900), st.text(max_size=30))
def test_a_capture_that_is_cut_and_goes_on_with_anything_is_no_error(text: str, at: int, rest: str) -> None:
    for capture in read_capture(text[:at] + rest, "capture", ["InfiniBand"]) or ():
        assert all(problem.line and problem.column for problem in capture.problems)


@pytest.mark.parametrize("text", FORMS)
@given(random=st.randoms())
def test_lines_in_another_order_are_no_error(text: str, random: object) -> None:
    lines = text.splitlines()
    random.shuffle(lines)  # type: ignore[attr-defined]
    read_capture("\n".join(lines), "capture", ["InfiniBand"])


def test_other_texts_are_not_ours() -> None:
    assert (
        read_capture("WRED Total Dropped Packets..................... 101\n", "perfquery.txt", ["InfiniBand"])
        is None
    )
