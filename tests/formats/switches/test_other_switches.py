"""Outputs of EOS and NX-OS switches are read with what they leave open as unknown."""

from __future__ import annotations

import json

from lossless.formats.inputs.capture_forms import read_capture
from lossless.ground.basics.records import UNKNOWN

NXOS = """\
Port         Mode  Oper   RxPPP      TxPPP
ii1/1/1      On    On(8)  9,286,478  100
ii1/1/3      On    On(8)  11,707,050 52
"""


def _values(text: str) -> dict[tuple[str, ...], object]:
    read = read_capture(text, "capture", ["EOS, NX-OS"])
    assert read is not None
    return {
        (*(name for _, name in reading.identity), reading.name): reading.value
        for capture in read
        for reading in capture.readings
    }


def test_a_queue_of_eos_without_the_counter_is_unknown() -> None:
    text = json.dumps({"intfQueueCounters": {"Ethernet1/1": {"queueCounters": {"0": "-", "1": "7"}}}})
    assert _values(text) == {
        ("Ethernet1/1", "0", "ecn_marked_packets"): UNKNOWN,
        ("Ethernet1/1", "1", "ecn_marked_packets"): 7,
    }


def test_traffic_classes_of_eos_may_be_a_range_and_have_two_sides() -> None:
    sides = {
        "ingressVoqCounters": {"countersSum": {"droppedPackets": 1}},
        "egressQueueCounters": {"countersSum": {"droppedPackets": 2}},
    }
    text = json.dumps({"interfaces": {"Ethernet48": {"trafficClasses": {"TC0-5": sides}}}})
    assert _values(text) == {
        ("Ethernet48", "0-5", "ingressVoqCounters", "dropped_packets"): 1,
        ("Ethernet48", "0-5", "egressQueueCounters", "dropped_packets"): 2,
    }


def test_pfc_frames_of_eos_are_of_a_port() -> None:
    text = json.dumps({"interfaceCounters": {"Ethernet3/1/1": {"rxFrames": 1, "txFrames": 0}}})
    assert _values(text) == {("Ethernet3/1/1", "pfc_rx"): 1, ("Ethernet3/1/1", "pfc_tx"): 0}


def test_a_table_of_nxos_has_no_ruler_and_cells_one_blank_apart() -> None:
    values = _values(NXOS)
    assert values["ii1/1/3", "pfc_rx"] == 11707050
    assert values["ii1/1/3", "pfc_tx"] == 52
    assert values["ii1/1/1", "oper_bitmap"] == 8


def test_flow_control_of_nxos_is_configured_and_runs() -> None:
    values = _values(
        "Port      Send FC  Receive FC  RxPause  TxPause\nEth1/1/1  on/off   off/off     3        0\n"
    )
    assert values["Eth1/1/1", "send_fc_admin"] == "on"
    assert values["Eth1/1/1", "send_fc_oper"] == "off"
    assert values["Eth1/1/1", "pause_rx"] == 3


def test_other_texts_are_not_ours() -> None:
    assert read_capture('{"a": {"b": 1}}', "x", ["EOS, NX-OS"]) is None
    assert read_capture("Port Mode\n", "x", ["EOS, NX-OS"]) is None
