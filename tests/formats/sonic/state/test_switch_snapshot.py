"""A snapshot of a switch is read as the databases that it has, up to where it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lossless.formats.inputs.captures import gather_captures
from tests.formats.sonic.state.switch_collecting import captures_of

TEXT = """\
# lossless switch state 1
# switch sonic
# taken 1758000000 UTC
==> sonic-db-cli -n asic1 COUNTERS_DB HGETALL 'COUNTERS_PORT_NAME_MAP'
1) "Ethernet0"
2) "oid:0x1000000000012"
==> sonic-db-cli -n asic1 COUNTERS_DB HGETALL 'COUNTERS:oid:0x1000000000012'
1) "SAI_PORT_STAT_PFC_3_RX_PKTS"
2) "203"
3) "SAI_PORT_STAT_PFC_4_RX_PKTS"
4) "17"
==> sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' hostname
"leaf1"
==> sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' hwsku
"ACS-MSN4700"
==> sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' subtype
(nil)
==> sonic-db-cli CONFIG_DB HGETALL 'PFC_WD|Ethernet0'
{'action': 'drop', 'detection_time': '400'}
==> sonic-db-cli CONFIG_DB HGETALL 'PFC_WD|Ethernet4'
(empty array)
==> sonic-db-cli APPL_DB HGETALL 'PORT_TABLE:Ethernet0'
1) "mtu"
2) "9100"
==> not read
STATE_DB: gave no answer in 20 s
==> end
"""
CUT = "the snapshot ends before its last line, '==> end': it was cut short; all before it is read"
_VALUES = {
    ("oid", "oid:0x1000000000012"),
    ("pfc_rx", 203),
    ("pfc_rx", 17),
    ("hostname", "leaf1"),
    ("hwsku", "ACS-MSN4700"),
    ("pfcwd_action", "drop"),
    ("pfcwd_detection_time", 400),
    ("mtu", 9100),
}


def values(text: str) -> set[tuple[str, object]]:
    """Return names and values of what a snapshot says."""
    return {(reading.name, reading.value) for capture in captures_of(text) for reading in capture.readings}


def test_databases_and_namespaces_are_captures_of_one_device_at_one_time() -> None:
    captures = captures_of(TEXT)
    assert [capture.form for capture in captures] == ["switch state", "COUNTERS_DB", "CONFIG_DB", "APPL_DB"]
    assert {(capture.device, capture.taken_at) for capture in captures} == {("leaf1", 1758000000)}
    assert captures[0].notes == ("not read: STATE_DB: gave no answer in 20 s",)
    counter = captures[1].readings[1]
    assert counter.identity == (("namespace", "asic1"), ("port", "Ethernet0"), ("priority", "3"))
    assert values(TEXT) == _VALUES


def test_the_switch_is_named_by_the_snapshot_where_no_database_names_it() -> None:
    text = TEXT.replace("hostname\n", "region\n")
    assert {capture.device for capture in captures_of(text)} == {"sonic"}


def test_a_value_is_placed_on_its_line() -> None:
    lines = TEXT.splitlines()
    for capture in captures_of(TEXT):
        for reading in capture.readings:
            shown = lines[int(reading.path[1]) - 1]
            assert str(reading.value) in shown


@given(st.integers(len("# lossless switch state 1\n"), len(TEXT) - 2))
def test_a_snapshot_that_is_cut_is_read_up_to_there_and_invents_nothing(length: int) -> None:
    text = TEXT[:length]
    assert values(text) <= _VALUES
    captures = captures_of(text)
    assert {(capture.device, capture.taken_at) for capture in captures} <= {
        *((None, None), ("sonic", None), ("sonic", 1758000000), ("leaf1", 1758000000))
    }
    problems = [problem for capture in captures for problem in capture.problems]
    assert [problem.message for problem in problems] == [CUT]
    assert problems[0].line == len(text.rstrip("\n").split("\n"))


def test_of_a_snapshot_that_is_cut_all_that_is_whole_is_read() -> None:
    assert values(TEXT[: TEXT.index('"17"')]) == {("oid", "oid:0x1000000000012"), ("pfc_rx", 203)}


def test_a_snapshot_of_another_version_is_read_and_named() -> None:
    captures = captures_of(TEXT.replace("state 1\n", "state 2\n"))
    assert [problem.message for problem in captures[0].problems] == [
        "a snapshot of version 2; this program reads 1"
    ]
    assert values(TEXT) == _VALUES


def test_bytes_that_are_no_letters_are_read_as_they_are_stored() -> None:
    text = TEXT.replace('"9100"', r'"caf\xc3\xa9 \"a\" \\x41\n"')
    assert ("mtu", 'café "a" \\x41\n') in values(text)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("PFC_WD", "Ethernet0", "action"), "==> sonic-db-cli CONFIG_DB HGETALL 'PFC_WD|Ethernet0'"),
        (
            ("DEVICE_METADATA", "localhost", "hwsku"),
            "==> sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' hwsku",
        ),
    ],
)
def test_its_configuration_is_checked_and_placed_where_it_is_in_the_text(
    path: tuple[str, ...], line: str, tmp_path: Path
) -> None:
    file = tmp_path / "leaf1.txt"
    file.write_text(TEXT)
    inputs = gather_captures([file])
    (device,) = inputs.devices
    assert device.configuration is not None
    assert device.configuration.data == {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "ACS-MSN4700"}},
        "PFC_WD": {"Ethernet0": {"action": "drop", "detection_time": "400"}},
    }
    span = inputs.documents[str(file)].locate_many([path])[path]
    assert span.line == TEXT.splitlines().index(line) + 2


def test_each_asic_has_its_own_configuration(tmp_path: Path) -> None:
    file = tmp_path / "leaf1.txt"
    file.write_text(
        TEXT.replace("cli CONFIG_DB HGETALL 'PFC_WD|Eth", "cli -n asic0 CONFIG_DB HGETALL 'PFC_WD|Eth")
    )
    (device,) = gather_captures([file]).devices
    assert device.configuration is None
    assert {namespace: [*own.data] for namespace, own in device.configurations.items()} == {
        None: ["DEVICE_METADATA"],
        "asic0": ["PFC_WD"],
    }
