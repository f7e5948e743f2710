"""The objects of rows of CONFIG_DB, APPL_DB, STATE_DB and ASIC_DB, and the meaning of their fields.

A row of a port, a buffer or a profile is identified by that as well as by its table and key, so that it is compared
with the output of commands. Times of the watchdog and of polling are in milliseconds there (sonic-buildimage
src/sonic-yang-models/yang-models/sonic-pfcwd.yang and sonic-flex_counter.yang @086b03b).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.names import CounterName

if TYPE_CHECKING:
    from lossless.model.fabric.state.readings import Identity

_KINDS = {
    "BUFFER_POOL": "pool",
    "BUFFER_PROFILE": "profile",
    "WRED_PROFILE": "profile",
    "DEBUG_COUNTER": "object",
}
_PORTS = frozenset({"PORT", "PORT_QOS_MAP", "PFC_WD", "CABLE_LENGTH", "PORT_OPERR"})
_MEMBERS = {"BUFFER_PG": "pg", "BUFFER_QUEUE": "queue", "QUEUE": "queue"}
_MEMBER = re.compile(r"(.+)[|:]([0-9]{1,3}(?:-[0-9]{1,3})?)")
_BYTES = frozenset({"size", "xon", "xoff", "xon_offset", "static_th", "mmu_size", "max_headroom_size"})
_WATCHDOG = {
    "detection_time": CounterName("pfcwd_detection_time", "ms"),
    "restoration_time": CounterName("pfcwd_restoration_time", "ms"),
    "action": CounterName("pfcwd_action", ""),
    "POLL_INTERVAL": CounterName("pfcwd_poll_interval", "ms"),
    "pfc_stat_history": CounterName("pfcwd_history", ""),
}


def row_identity(table: str, key: str) -> Identity:
    """Return the port, queue or other object of a row, beside its table and key; empty if it has none."""
    kind = table.removesuffix("_TABLE")
    if kind in _KINDS:
        return ((_KINDS[kind], key),)
    if kind in _MEMBERS and (match := _MEMBER.fullmatch(key)):
        return ("port", match[1]), (_MEMBERS[kind], match[2])
    is_port = kind in _PORTS or kind.startswith("TRANSCEIVER_")
    return (("port", key),) if is_port and key not in ("", "GLOBAL") else ()


def row_field(table: str, field: str) -> CounterName:
    """Return name and unit of a field of a row."""
    kind = table.removesuffix("_TABLE")
    if kind == "PFC_WD" and field in _WATCHDOG:
        return _WATCHDOG[field]
    if kind == "PORT_QOS_MAP" and field == "pfc_enable":
        return CounterName("lossless_priorities", "")
    if kind == "FLEX_COUNTER" and field == "POLL_INTERVAL":
        return CounterName("poll_interval", "ms")
    if kind.startswith("BUFFER_"):
        return CounterName(field, "bytes" if field in _BYTES else "")
    if kind == "WRED_PROFILE":
        return CounterName(field, profile_unit(field))
    return CounterName(field, "")


def profile_unit(field: str) -> str:
    """Return the unit of a field of a WRED profile."""
    if field.endswith("_threshold"):
        return "bytes"
    return "%" if field.endswith("_probability") else ""
