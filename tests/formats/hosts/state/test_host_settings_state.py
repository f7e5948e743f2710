"""Settings and counters of hosts: PFC, buffers, sysfs, rdma statistic, node_exporter, nicctl."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from lossless.formats.hosts.state.dcb import tc_size_bytes
from lossless.ground.basics.records import UNKNOWN
from tests.formats.readings import host_captures, of, problems, value

QOS = """DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
        prio:3 dscp:26,25,24,
Receive buffer size (bytes): 19872,220896,0,0,0,0,0,0,max_buffer_size=4151520
Cable len: 7
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
        buffer      0   0   0   1   0   0   0   0
tc: 3 ratelimit: unlimited, tsa: ets, bw: 80%
         priority:  3
tc: 5 ratelimit: unlimited, tsa: strict
         priority:  5
"""


def test_mlnx_qos_says_pfc_buffers_and_shares() -> None:
    captures = host_captures(QOS)
    assert [value(captures, "pfc_enabled", priority=priority) for priority in (2, 3)] == [0, 1]
    assert value(captures, "priority", dscp=26) == 3
    assert [value(captures, "size", buffer=buffer) for buffer in (0, 1)] == [19872, 220896]
    assert (value(captures, "max_buffer_size"), value(captures, "cable_len")) == (4151520, 7)
    assert (value(captures, "bw", tc=3), value(captures, "tsa", tc=5)) == (80, "strict")
    assert (value(captures, "buffer", priority=3), value(captures, "tc", priority=5)) == (1, 5)
    assert of(captures, "bw", tc=5) == []


@pytest.mark.parametrize("lines", range(1, 9))
def test_an_output_that_ends_before_pfc_leaves_it_unknown_and_not_off(lines: int) -> None:
    captures = host_captures("\n".join(QOS.splitlines()[: lines if lines < 8 else 7]))
    assert {reading.value for reading in of(captures, "pfc_enabled")} == {UNKNOWN}
    assert "the output ends before its PFC configuration" in problems(captures)[0]


PFC_TEXT = """pfc-cap 8 macsec-bypass on delay 0
prio-pfc 0:off 1:on 2:off 3:off 4:off 5:off 6:off 7:on
requests 0:0 1:217 2:0 3:0 4:0 5:0 6:0 7:28
indications 0:0 1:179 2:0 3:0 4:0 5:0 6:0 7:18
"""
PFC_JSON = {
    "pfc_cap": 8,
    "macsec_bypass": True,
    "delay": 0,
    "prio_pfc": [False, True, False, False, False, False, False, True],
    "requests": [0, 217, 0, 0, 0, 0, 0, 28],
    "indications": [0, 179, 0, 0, 0, 0, 0, 18],
}


def test_requests_are_pauses_that_were_sent_and_indications_those_received() -> None:
    captures = host_captures(PFC_TEXT)
    assert (value(captures, "pfc_tx", priority=1), value(captures, "pfc_rx", priority=1)) == (217, 179)
    assert (value(captures, "pfc_enabled", priority=1), value(captures, "pfc_enabled", priority=2)) == (1, 0)


@pytest.mark.parametrize(
    "text", [PFC_TEXT.replace("prio-pfc", "pg-pfc"), PFC_TEXT.replace(" ", "   "), json.dumps(PFC_JSON)]
)
def test_dcb_says_the_same_in_all_its_forms(text: str) -> None:
    said = [
        sorted((reading.name, reading.identity, reading.value) for reading in capture.readings)
        for capture in (*host_captures(PFC_TEXT), *host_captures(text))
    ]
    assert said[0] == said[1]


def test_sizes_of_buffers_are_in_units_of_1024_bytes() -> None:
    captures = host_captures("prio-buffer 0:0 1:1\nbuffer-size 0:10Kb 1:1Mb 2:700b\ntotal-size 1222Kb\n")
    assert [value(captures, "size", buffer=buffer) for buffer in range(3)] == [10240, 2**20, 700]
    assert value(captures, "total_size") == 1222 * 1024
    assert tc_size_bytes("ten") is UNKNOWN


SYSFS = """ports/1/counters/port_xmit_wait=3599
ports/1/counters/link_downed=255
ports/2/counters/port_xmit_wait=4294967295
ports/2/counters/symbol_error=N/A (no PMA)
ports/2/counters/port_xmit_data=26540356890
ports/2/hw_counters/lifespan=10
"""


def test_two_ports_have_one_name_of_a_counter() -> None:
    captures = host_captures(SYSFS)
    assert [value(captures, "port_xmit_wait", port=port) for port in (1, 2)] == [3599, 2**32 - 1]


def test_a_counter_at_its_last_value_is_saturated() -> None:
    captures = host_captures(SYSFS)
    full = [reading.identity[-1][1] for reading in captures[0].readings if reading.is_saturated]
    assert full == ["ports/1/counters/link_downed", "ports/2/counters/port_xmit_wait"]


def test_a_counter_that_the_device_does_not_have_is_unknown() -> None:
    assert value(host_captures(SYSFS), "symbol_error") is UNKNOWN


def test_data_are_in_words_in_sysfs_and_in_bytes_in_node_exporter() -> None:
    metrics = 'node_infiniband_port_data_transmitted_bytes_total{device="mlx4_0",port="2"} 1.06e+11\n'
    readings = [*of(host_captures(SYSFS), "port_xmit_data"), *of(host_captures(metrics), "port_xmit_data")]
    assert [reading.unit for reading in readings] == ["4-byte words", "bytes"]
    assert readings[1].value == 106 * 10**9


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("captures/mlx4_0.txt", "ports/1/counters/port_xmit_wait=7"),
        ("anything", "/sys/class/infiniband/mlx4_0/ports/1/counters/port_xmit_wait = 7"),
        ("anything", "/sys/class/infiniband/mlx4_0/ports/1/counters/port_xmit_wait:7"),
    ],
)
def test_the_device_is_that_of_the_path_or_of_the_file(file: str, line: str) -> None:
    assert value(host_captures(line, file), "port_xmit_wait", device="mlx4_0", port=1) == 7


def test_the_name_of_a_file_that_is_no_device_names_none() -> None:
    reading = of(host_captures(SYSFS, "monday.txt"), "lifespan")[0]
    assert "device" not in dict(reading.identity)
    assert (reading.since, reading.unit) == ("now", "ms")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}", fullmatch=True), st.integers(0, 2**64 - 1), min_size=1
    )
)
def test_rdma_statistic_says_the_same_on_one_line_pretty_and_as_json(counters: dict[str, int]) -> None:
    pairs = [f"{name} {number}" for name, number in counters.items()]
    row = {"ifindex": 0, "ifname": "mlx5_0", "port": 1, **counters}
    texts = [
        f"link mlx5_0/1 {' '.join(pairs)}\n",
        "link mlx5_0/1\n" + "".join(f"    {pair}\n" for pair in pairs),
        json.dumps([row]),
    ]
    for text in texts:
        readings = host_captures(text)[0].readings
        assert {reading.name: reading.value for reading in readings} == counters
        assert {reading.identity for reading in readings} == {(("device", "mlx5_0"), ("port", "1"))}


_QPS = ("cntn 4 qp-type RC pid 123 comm ib_write_bw", "cntn 5 type RC")
_QPS_PRETTY = "".join(
    f"link mlx5_0/1 {qps}\n    cnp_sent {7 + at}\n    LQPN: <178,179>\n" for at, qps in enumerate(_QPS)
)
_QPS_JSON = [
    {
        "ifindex": 0,
        "ifname": "mlx5_0",
        "port": 1,
        "cntn": 4 + at,
        "qp-type": "RC",
        "cnp_sent": 7 + at,
        "lqpn": [178],
    }
    for at in range(2)
]


@pytest.mark.parametrize(
    "text",
    [_QPS_PRETTY, _QPS_PRETTY.replace("\n    cnp", " cnp"), json.dumps(_QPS_JSON)],
    ids=["pretty", "one line", "JSON"],
)
def test_counters_of_queue_pairs_are_told_apart_by_their_number(text: str) -> None:
    captures = host_captures(text)
    assert [value(captures, "cnp_sent", port=1, qp_counter=number) for number in (4, 5)] == [7, 8]
    assert problems(captures) == []


def test_a_metric_keeps_the_whole_text_of_its_series() -> None:
    series = 'node_infiniband_port_transmit_wait_total{device="mlx4_0",port="1"}'
    reading = of(host_captures(f"# TYPE x counter\n{series} 4.294967295e+09\n"), series)[0]
    assert (reading.name, reading.value, reading.is_saturated) == ("port_xmit_wait", 2**32 - 1, True)
    assert reading.identity == (("device", "mlx4_0"), ("port", "1"))


NICCTL = """
{"nic": [{"id": "n1", "lif": [
  {"spec": {"id": "a"}, "queue_pair": "", "statistics": {"rx_unicast_packets": "7"},
   "spec": {"id": "b"},
   "queue_pair": [{"spec": {"id": "1"}, "statistics": {"send_queue": {"dcqcn_stats": {"num_cnp_rcvd": "3"}}}}]}
]}]}
"""


def test_two_lifs_printed_as_one_object_are_read_as_two() -> None:
    captures = host_captures(NICCTL)
    assert value(captures, "rx_unicast_packets", nic="n1", device="a") == 7
    assert value(captures, "dcqcn_stats.num_cnp_rcvd", nic="n1", device="b", qp=1) == 3
    assert problems(captures) == ["4:4: two elements in one object: the key spec stands twice"]


def test_rates_of_a_nic_have_one_unit() -> None:
    rates = {"spec": {"id": "p"}, "statistics": {"tx_pps": "3.83 Mpps", "rx_bps": "1.02 Kbps"}}
    captures = host_captures(json.dumps({"nic": [{"id": "n", "port": [rates]}]}))
    assert (value(captures, "tx_pps", port="p"), value(captures, "rx_bps", port="p")) == (3_830_000, 1020)
    assert [reading.unit for reading in of(captures, "tx_pps")] == ["packets/s"]


def test_json_that_is_cut_is_a_problem_where_it_ends() -> None:
    assert problems(host_captures('{"nic": [\n{"id": "n1",')) == ["2:13: the JSON ends before it is complete"]
