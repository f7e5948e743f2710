"""Texts of switches for tests, and what is read of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.formats.inputs.capture_forms import read_capture

if TYPE_CHECKING:
    from lossless.model.fabric.state import StateCapture, StateReading

PFC = """\
  Port Rx    PFC0    PFC3
---------  ------  ------
Ethernet0     N/A   1,200

  Port Tx    PFC0    PFC3
---------  ------  ------
Ethernet0       0       7
"""
PG = """\
     Port    PG0    PG3
---------  -----  -----
Ethernet0    100    103
"""
SHARED = "Ingress shared pool occupancy per PG:\n" + PG
HEADROOM = "Ingress headroom per PG:\n" + PG

COUNTERS = {
    "COUNTERS_PORT_NAME_MAP": {"Ethernet4": "oid:0x1000000000012"},
    "COUNTERS_QUEUE_NAME_MAP": {"Ethernet4:3": "oid:0x15000000000357"},
    "COUNTERS_QUEUE_TYPE_MAP": {"oid:0x15000000000357": "SAI_QUEUE_TYPE_UNICAST"},
    "COUNTERS:oid:0x15000000000357": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "9", "PFC_WD_STATUS": "stormed"},
    "USER_WATERMARKS:oid:0x15000000000357": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "4096"},
    "COUNTERS:oid:0x1000000000012": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "203"},
}


def captures(text: str) -> tuple[StateCapture, ...]:
    """Return what a text says, which is one of a switch."""
    read = read_capture(text, "capture", ["SONiC"])
    assert read is not None
    return read


def readings(text: str) -> list[StateReading]:
    """Return all readings of a text."""
    return [reading for capture in captures(text) for reading in capture.readings]


def value(text: str, name: str, **identity: str) -> object:
    """Return the one value of a text that has this name and is of this."""
    return one(text, name, **identity).value


def one(text: str, name: str, **identity: str) -> StateReading:
    """Return the one reading of a text that has this name and is of this."""
    chosen = [
        reading
        for reading in readings(text)
        if reading.name == name and identity.items() <= dict(reading.identity).items()
    ]
    assert len(chosen) == 1, chosen
    return chosen[0]


def dump(data: object) -> str:
    """Return a document as JSON."""
    return json.dumps(data)
