"""The columns of the tables that SONiC's commands print: which identify the object of a row, and which have values.

pfcwd prints 0 for a counter that is not there, and without ``-e`` no queue whose counters are all 0; its status is
``N/A`` where the watchdog does not run (sonic-utilities pfcwd/main.py @015521a). dropstat prints 0 for a counter that
is not there (scripts/dropstat @4fca816), watermarkstat for a queue that one port has and another does not
(scripts/watermarkstat @2a5c132).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.names import BY_HEADING, CounterName, is_setting
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.sonic.state.commands import SwitchCommand
    from lossless.model.fabric.state.readings import CountedSince, Identity

_KEYS = {
    "port": "port",
    "iface": "port",
    "interface": "port",
    "port rx": "port",
    "port tx": "port",
    "pool": "pool",
    "device": "device",
}
"""Headings of columns that identify the object of a row, at any position."""
_FIRST_KEYS = {
    "profile": "profile",
    "counter": "object",
    "counter type": "object",
    "type": "object",
    "configuration": "object",
}
"""Those that do so as the first only: other tables have columns of values that are called so."""
_TITLES = {
    "ingress shared pool occupancy per pg": CounterName("shared_watermark_bytes", "bytes"),
    "ingress headroom per pg": CounterName("xoff_room_watermark_bytes", "bytes"),
    "ingress pg dropped packets": CounterName("dropped_packets", "packets"),
    "egress shared pool occupancy per": CounterName("shared_watermark_bytes", "bytes"),
    "shared pool maximum occupancy": CounterName("watermark_bytes", "bytes"),
    "headroom pool maximum occupancy": CounterName("xoff_room_watermark_bytes", "bytes"),
}
"""The counter of a table whose headings are only numbers of queues, priority groups and pools, by the table's title."""
_PAIRED = {
    "STORM DETECTED/RESTORED": (
        CounterName("pfcwd_detected", "storms"),
        CounterName("pfcwd_restored", "storms"),
    ),
    "TX OK/DROP": (CounterName("pfcwd_tx_ok", "packets"), CounterName("pfcwd_tx_drop", "packets")),
    "RX OK/DROP": (CounterName("pfcwd_rx_ok", "packets"), CounterName("pfcwd_rx_drop", "packets")),
    "TX LAST OK/DROP": (
        CounterName("pfcwd_tx_last_ok", "packets"),
        CounterName("pfcwd_tx_last_drop", "packets"),
    ),
    "RX LAST OK/DROP": (
        CounterName("pfcwd_rx_last_ok", "packets"),
        CounterName("pfcwd_rx_last_drop", "packets"),
    ),
}
_SETTINGS = {
    "STATUS": CounterName("pfcwd_status", ""),
    "ACTION": CounterName("pfcwd_action", ""),
    "DETECTION TIME": CounterName("pfcwd_detection_time", "ms"),
    "RESTORATION TIME": CounterName("pfcwd_restoration_time", "ms"),
    "HISTORY": CounterName("pfcwd_history", ""),
    "STATE": CounterName("port_state", ""),
    "Lossless priorities": CounterName("lossless_priorities", ""),
    "Asymmetric": CounterName("pfc_asym", ""),
    # Debug counters: the fields of DEBUG_COUNTER
    "Alias": CounterName("alias", ""),
    "Group": CounterName("group", ""),
    "Type": CounterName("type", ""),
    "Description": CounterName("desc", ""),
    "Drop Monitor": CounterName("drop_monitor_status", ""),
    "Window": CounterName("window", ""),
    "Drop Count Threshold": CounterName("drop_count_threshold", ""),
    "Incident Count Threshold": CounterName("incident_count_threshold", ""),
    "Interval (in ms)": CounterName("poll_interval", "ms"),
    "Status": CounterName("poll_status", ""),
}
_LAST_POLL = frozenset({"bytes/s", "packets/s", "%"})
_ELEMENTS = ("TxQ", "Voq", "Priority")
_ELEMENT = re.compile(r"(PG|UC|MC|ALL|VOQ|PFC)([0-9]{1,3})")
_MEMBER = re.compile(r"(.+):([0-9]{1,3})")


class ValueColumn(NamedTuple):
    """The values of one column: the element of a row that has them, and the counters (two for cells like ``1/0``)."""

    element: Identity
    counters: tuple[CounterName, ...]


def title_counter(title: str) -> CounterName | None:
    """Return the counter that the title of a table names."""
    lowered = title.lower()
    return next((counter for start, counter in _TITLES.items() if lowered.startswith(start)), None)


def row_keys(headings: Sequence[str]) -> dict[int, str]:
    """Return the columns that identify the object of a row, with the kind of each; those of its port come first."""
    keys = {index: kind for index, heading in enumerate(headings) if (kind := _KEYS.get(heading.lower()))}
    if "QUEUE" in headings and "STATUS" in headings:
        keys[headings.index("QUEUE")] = "member"
    if not keys and headings[0].lower() in _FIRST_KEYS:
        keys[0] = _FIRST_KEYS[headings[0].lower()]
    if "port" in keys.values():
        keys |= {index: "element" for index, heading in enumerate(headings) if heading in _ELEMENTS}
    return keys


def named_by(kind: str, cell: str) -> Identity:
    """Return the identity that a cell of such a column gives its row."""
    if kind == "element":
        return element_of(cell) or (("object", cell),)
    match = _MEMBER.fullmatch(cell) if kind == "member" else None
    if match:
        return ("port", match[1]), ("queue", match[2])
    return (("port" if kind == "member" else kind, cell),)


def element_of(heading: str) -> Identity:
    """Return the element that a heading or cell names: ``UC3`` is queue 3 of kind UC; empty for any other text."""
    match = _ELEMENT.fullmatch(heading)
    if match is None:
        return ()
    if match[1] in ("PG", "PFC"):
        return (("pg" if match[1] == "PG" else "priority", match[2]),)
    return ("queue", match[2]), ("queue_kind", match[1])


def value_column(heading: str, first: str, title: CounterName | None, command: SwitchCommand) -> ValueColumn:
    """Return the values of a column, by its heading, the table's first heading, its title and the command."""
    if heading in _PAIRED:
        return ValueColumn((), _PAIRED[heading])
    if element := element_of(heading):
        return ValueColumn(
            element, (title or _untitled(element[0][0], first, command) or CounterName(heading, ""),)
        )
    if heading == "Bytes" and first == "Pool":
        name = title.name if title else command.watermark or "pool_watermark_bytes"
        return ValueColumn((), (CounterName(name, "bytes"),))
    return ValueColumn((), (_SETTINGS.get(heading) or BY_HEADING.get(heading) or CounterName(heading, ""),))


def _untitled(kind: str, first: str, command: SwitchCommand) -> CounterName | None:
    """Return the counter in the columns of queues, priority groups or priorities of a table without a title."""
    if kind == "priority":
        names = {"Port Rx": "pfc_rx", "Port Tx": "pfc_tx"}
        return CounterName(names[first], "packets") if first in names else None
    if kind == "queue":
        return CounterName("shared_watermark_bytes", "bytes")
    if "drop" in command.text:
        return CounterName("dropped_packets", "packets")
    return CounterName(command.watermark or "pg_watermark_bytes", "bytes")


def since_printed(counter: CounterName, cleared: CountedSince, window: CountedSince) -> CountedSince:
    """Return since when a printed value counts: scripts subtract the values at the last clear, and print its time."""
    if counter in _SETTINGS.values() or is_setting(counter.name):
        return "now"
    if "watermark" in counter.name:
        return window
    return "last poll" if counter.unit in _LAST_POLL or "_ber" in counter.name else cleared
