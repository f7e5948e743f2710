"""Counters of NICs: what all drivers count has one name, and rings and priorities are kept apart."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.records import UNKNOWN
from tests.formats.readings import host_captures, of, problems, value

WHOLE_MLX5 = "rx_packets: 9\nrx_vport_unicast_packets: 9\n" + "".join(
    f"rx_prio{priority}_packets: {priority}\n" for priority in range(8)
)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("rx_prio3_pause", "pfc_rx"),
        ("tx_prio3_pause", "pfc_tx"),
        ("rx_prio3_pause_duration", "pfc_rx_us"),
        ("tx_pause_prio_3", "pfc_tx"),
        ("rx_pause_duration_prio_3", "pfc_rx_us"),
        ("rx_pfc_ena_frames_pri3", "pfc_rx"),
        ("pfc_pri3_rx_duration_us", "pfc_rx_us"),
        ("pfc_pri3_tx_transitions", "pfc_tx_transitions"),
        ("port.rx_priority_3_xoff", "pfc_rx"),
        ("rx_priority_3_xon.nic", "pfc_rx_xon"),
        ("tx_pb_3_pxoff", "pfc_tx"),
        ("mac.rx_pause_frames_class3", "pfc_rx"),
        ("mac_tx_pfc_pri3_pkt_num", "pfc_tx"),
        ("rx_pripause_3_1us_count", "pfc_rx_us"),
        ("rx_prio3_discards", "priority_rx_discards"),
        ("rx_prio3_buf_discard", "priority_rx_buffer_discards"),
    ],
)
def test_a_counter_of_a_priority_has_one_name_whatever_the_driver(printed: str, name: str) -> None:
    captures = host_captures(f"NIC statistics:\n     {printed}: 14\n     rx_packets: 20\n")
    assert value(captures, name, priority=3) == value(captures, printed) == 14


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("[0]: rx_discards", "[1]: rx_discards", "ring_rx_discards"),
        ("rx0_packets", "rx1_packets", "ring_rx_packets"),
        ("tx_0_pkts", "tx_1_pkts", "ring_tx_pkts"),
        ("tx-0.tx_packets", "tx-1.tx_packets", "ring_tx_packets"),
        ("rx-0.bytes", "rx-1.bytes", "ring_rx_bytes"),
        ("rx_queue_0_drops", "rx_queue_1_drops", "ring_rx_drops"),
        ("queue_0_rx_cnt", "queue_1_rx_cnt", "ring_rx_cnt"),
        ("rxq0: rx_bytes", "rxq1: rx_bytes", "ring_rx_bytes"),
        ("rvec_0_rx_pkts", "rvec_1_rx_pkts", "ring_rx_pkts"),
    ],
)
def test_the_rings_of_a_nic_are_kept_apart(first: str, second: str, name: str) -> None:
    captures = host_captures(f"rx_packets: 3\n{first}: 1\n{second}: 2\n")
    assert [value(captures, name, ring=ring) for ring in (0, 1)] == [1, 2]


def test_rings_below_a_heading_of_vmxnet3_are_kept_apart() -> None:
    text = "NIC statistics:\n  Tx Queue#: 0\n    ucast pkts tx: 5\n  Tx Queue#: 1\n    ucast pkts tx: 6\n"
    captures = host_captures(text)
    assert [value(captures, "ucast pkts tx", ring=ring) for ring in (0, 1)] == [5, 6]
    assert problems(captures) == []


@pytest.mark.parametrize(
    "size", ["tx_1024_to_1522_byte_packets", "rx_64_bytes_phy", "rx_65_to_127_bytes_phy"]
)
def test_the_size_of_a_frame_is_no_ring(size: str) -> None:
    captures = host_captures(f"rx_packets: 3\n{size}: 7\n")
    assert of(captures, size)[0].identity == ()


def test_an_mlx5_has_no_counter_of_pauses_where_pfc_is_off() -> None:
    captures = host_captures(f"{WHOLE_MLX5}rx_prio3_pause: 0\ntx_prio3_pause: 4\n")
    assert [value(captures, "pfc_rx", priority=priority) for priority in range(5)] == [
        None,
        None,
        None,
        0,
        None,
    ]


def test_a_filtered_output_says_nothing_of_pauses_that_it_does_not_show() -> None:
    captures = host_captures("     rx_prio0_bytes: 12\n     rx_prio0_packets: 3\n     rx_prio0_discards: 0\n")
    assert of(captures, "pfc_rx") == []


def test_pauses_of_the_whole_port_are_not_those_of_a_priority() -> None:
    captures = host_captures(
        "     rx_global_pause: 0\n     tx_global_pause: 12\n     tx_global_pause_duration: 90\n"
    )
    assert value(captures, "global_pause_tx") == 12
    assert [reading.unit for reading in of(captures, "global_pause_tx_us")] == ["us"]
    assert of(captures, "pfc_tx") == []


def test_names_that_are_not_known_are_kept_with_those_that_only_look_equal() -> None:
    captures = host_captures(
        "NIC statistics:\n     duplicate metric: 1\n     duplicate_metric: 2\n     rx_new: 3\n"
    )
    assert [value(captures, name) for name in ("duplicate metric", "duplicate_metric", "rx_new")] == [1, 2, 3]


def test_a_value_that_is_cut_off_is_a_problem_at_its_line() -> None:
    captures = host_captures("NIC statistics:\n" + "     rx_packets: 3\n" * 20 + "     rx_byt")
    assert problems(captures) == ["22:6: expected a counter and its value as in rx_packets: 12, not 'rx_byt'"]


def test_the_interface_is_that_of_the_command() -> None:
    captures = host_captures("# ethtool -S eth5\nNIC statistics:\n     rx_packets: 3\n")
    assert value(captures, "rx_packets", device="eth5") == 3


NAMES = st.from_regex(r"(rx|tx)_[a-z]{3,12}_(packets|bytes|errors)", fullmatch=True)
COUNTERS = st.dictionaries(NAMES, st.integers(0, 2**64 - 1), min_size=1, max_size=30)


@given(COUNTERS, st.booleans(), st.sampled_from(["", "     "]), st.sampled_from(["\n", "\r\n"]), st.randoms())
def test_what_is_printed_is_read_in_any_order_and_layout(
    counters: dict[str, int], titled: bool, indent: str, end: str, random: object
) -> None:
    lines = [f"{indent}{name}: {number}" for name, number in counters.items()]
    random.shuffle(lines)  # type: ignore[attr-defined]
    captures = host_captures(end.join([*(["NIC statistics:"] if titled else []), *lines]) + end)
    assert {reading.name: reading.value for reading in captures[0].readings} == counters
    assert UNKNOWN not in [reading.value for reading in captures[0].readings]
