"""The files of ibdiagnet say the same of a port, by its GUID: counters by the kernel's names, links, what is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.formats.inputs.capture_forms import read_capture
from lossless.formats.inputs.captures import gather_captures
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.state import PORT_COUNTERS
from tests.formats.infiniband.state.ibdiagnet_files import (
    DATABASE_HEAD,
    EDR,
    HDR,
    HOST_PORT,
    LOG,
    NET_DUMP,
    NET_DUMP_EXT,
    SHARP,
    SLOW,
    SWITCH,
    counters_file,
    database,
    table,
)
from tests.formats.readings import of, problems, subnet_captures, value

_KERNEL = {
    "link_down_counter": "link_downed",
    "symbol_error_counter_extended": "symbol_error",
    "excessive_buffer_errors": "excessive_buffer_overrun_errors",
    "port_xmit_discard": "port_xmit_discards",
    "port_sw_hoq_lifetime_limit_discards": "port_switch_hoq_lifetime_limit_discards",
    "vl15_dropped_extended": "VL15_dropped",
    "LinkDownedCounterExt": "link_downed",
    "PortMultiCastRcvPkts": "multicast_rcv_packets",
    "PortXmitDataExtended": "port_xmit_data",
    "PortXmitWaitExt": "port_xmit_wait",
}


@pytest.mark.parametrize(("printed", "kernel"), _KERNEL.items())
def test_a_counter_has_the_name_of_the_kernel(printed: str, kernel: str) -> None:
    of_table, of_file = database({printed: 9}), counters_file({printed: "0x9"})
    for text in (of_table, of_file):
        (reading,) = of(subnet_captures(text), printed, guid=SWITCH, port=1)
        assert (reading.name, reading.value) == (kernel, 9)


COUNTS = st.dictionaries(
    st.sampled_from([counter.mad_name for counter in PORT_COUNTERS]),
    st.integers(0, 2**64 - 3),
    min_size=1,
)


@given(COUNTS, st.sampled_from(["{}", "{:#x}", "{:#018x}"]))
def test_counters_of_the_table_are_read_back_in_either_base(counts: dict[str, int], form: str) -> None:
    captures = subnet_captures(database({name: form.format(count) for name, count in counts.items()}))
    assert {r.heading: r.value for r in captures[0].readings if r.heading in counts} == counts
    assert problems(captures) == []


@pytest.mark.parametrize("word", ["N/A", "NA", "-1", "0xfffffffffffffffe", str(2**64 - 1)])
def test_a_counter_that_a_device_does_not_have_is_unknown(word: str) -> None:
    captures = subnet_captures(database({"PortXmitWaitExt": word}))
    assert value(captures, "port_xmit_wait", port=1) is UNKNOWN
    assert problems(captures) == []


def test_the_counter_of_64_bits_does_not_stop_where_that_of_16_bits_does() -> None:
    captures = subnet_captures(database({"SymbolErrorCounterExt": 70000, "SymbolErrorCounter": 65535}))
    readings = of(captures, "symbol_error")
    assert [(reading.value, reading.is_saturated) for reading in readings] == [(65535, True), (70000, False)]


def test_a_port_is_called_by_its_node_and_the_lid_of_its_switch() -> None:
    captures = subnet_captures(database({"PortXmitWait": 3}))
    (wait,) = of(captures, "port_xmit_wait")
    assert wait.identity == (
        ("node", "MF0;leaf1:MQM8700/U1"),
        ("guid", SWITCH),
        ("lid", "24328"),
        ("port", "1"),
    )
    assert value(captures, "peer", guid=HOST_PORT) == "MF0;leaf1:MQM8700/U1"
    assert value(captures, "peer_lid", guid=SWITCH, port=1) == 17
    assert captures[0].notes == ("1 table is not read: AR_INFO",)


@pytest.mark.parametrize("lid", ["", "N/A", "0", "0x0"])
def test_a_port_without_a_lid_has_none_in_its_identity(lid: str) -> None:
    captures = subnet_captures(database({"PortXmitWait": 3}).replace(",24328,", f",{lid},"))
    (wait,) = of(captures, "port_xmit_wait")
    assert [kind for kind, _ in wait.identity] == ["node", "guid", "port"]


@pytest.mark.parametrize(
    ("text", "could"),
    [
        (database(), "Could be HDR"),
        (database(active=HDR, enabled=HDR), None),
        (database(active=0x200, enabled=EDR), None),
        (database(width=1), "Could be 4X HDR"),
        (database(nodes=('"leaf1"', '"Mellanox Technologies Aggregation Node"')), None),
    ],
)
def test_a_link_could_be_what_both_ends_have_enabled(text: str, could: str | None) -> None:
    said = [reading.value for reading in of(subnet_captures(text), "slower_than_possible")]
    assert said == ([could] if could else [])


def test_net_dump_says_the_same_of_a_port_as_the_table() -> None:
    captures = subnet_captures(NET_DUMP)
    assert {r.identity for r in of(captures, "state", guid=SWITCH, port=1)} == {
        r.identity for r in of(subnet_captures(database()), "state", guid=SWITCH, port=1)
    }
    assert value(captures, "speed", guid=SWITCH) == "4X 25 Gbps"
    assert value(captures, "peer", guid=SWITCH) == "gpu1, rack: 7 mlx5_0"
    assert [reading.value for reading in of(captures, "state")] == ["Active", "Down", "Active"]
    assert value(captures, "speed", guid="0xfc6a1c0300f86080") == "4X FDR10"
    assert problems(captures) == []


def test_error_rates_are_numbers_however_small() -> None:
    captures = subnet_captures(NET_DUMP_EXT)
    rates = [value(captures, name, guid=SWITCH, lid=24328) for name in ("raw_ber", "effective_ber")]
    assert rates == [1e-12, 15e-255]
    assert value(captures, "symbol_ber") is UNKNOWN


def test_a_log_has_slow_links_counters_that_moved_and_what_each_stage_found() -> None:
    captures = subnet_captures(LOG)
    assert (value(captures, "speed", link=SLOW), value(captures, "slower_than_possible", link=SLOW)) == (
        25,
        "should be 50",
    )
    assert value(captures, "port_rcv_errors_in_run", object="gpu1/U1/P1") == 117
    assert value(captures, "errors", stage="Speed / Width checks") == 1
    assert (
        value(captures, "warnings", source="ibdiagnet"),
        value(captures, "errors", source="ibdiagnet"),
    ) == (1, 2)


def test_an_aggregation_node_has_its_settings() -> None:
    captures = subnet_captures(SHARP)
    assert value(captures, "sharp_reproducibility_disable", guid=SWITCH) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (database({"PortXmitWait": 1}).replace("END_PM_INFO\n", ""), "has no END_PM_INFO"),
        (
            database({"PortXmitWait": 1, "PortRcvData": 2}).replace(",1,1,2\n", ",1,1\n"),
            "4 cells, and 5 headings",
        ),
        (database({"PortXmitWait": "12x"}), "expected a count, not '12x'"),
        (counters_file({"port_xmit_wait": "0xZ"}), "expected a count, not '0xZ'"),
        (counters_file({"port_xmit_wait": "0x1"}) + "port_rcv", "no counter of ibdiagnet2.pm: 'port_rcv'"),
        (NET_DUMP.replace(" : 17 ", " "), "12 cells, and 13 headings"),
    ],
)
def test_what_is_cut_or_damaged_is_located_and_the_rest_counts(text: str, says: str) -> None:
    captures = subnet_captures(text)
    (problem,) = problems(captures)
    assert says in problem
    assert captures[0].readings


def test_quotes_that_do_not_end_hold_no_other_line() -> None:
    text = DATABASE_HEAD + table("NODES", ("NodeDesc", "NodeGUID"), ('"leaf1', SWITCH), ('"leaf2"', "0x2"))
    assert len(problems(subnet_captures(text))) == 1


@pytest.mark.parametrize(
    "text", [database(), counters_file({"port_xmit_wait": "0x1"}), NET_DUMP, NET_DUMP_EXT, LOG, SHARP]
)
def test_no_other_reader_takes_them(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "anything").write_text(text)
    (device,) = gather_captures([folder]).devices
    assert device.captures == read_capture(text, str(folder / "anything"))


def test_counters_below_a_check_are_those_of_its_port() -> None:
    text = (
        "-E- Ports counters value Check finished with errors\n-E- lid=0x0008 dev=51000 Sa/Nb/P27\n"
        "Performance Monitor counter         : Value\nport_xmit_discard                   : 65535 (overflow)\n"
        "-E- lid=0x0009 dev=51000 Sa/Nb/P3\nlink_down_counter : 4\n-E- FW Check finished with errors\nother : 3\n"
    )
    captures = subnet_captures(text)
    (stopped,) = of(captures, "port_xmit_discard", lid=8, port=27)
    assert (stopped.name, stopped.value, stopped.is_saturated) == ("port_xmit_discards", 65535, True)
    assert value(captures, "link_downed", lid=9, port=3) == 4
    assert "other" not in {reading.name for capture in captures for reading in capture.readings}
