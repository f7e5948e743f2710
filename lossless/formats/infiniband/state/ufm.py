"""Telemetry of UFM as JSON: a list of ports, each with counters whose names have their unit after ``_u_``.

``Infiniband_XmitWait_u_Ticks``, ``Infiniband_CBW_f_u_Gbps``; the width of UFM's counters is not documented, so none of
them is known to saturate. Form read from Mellanox/ufm_sdk_3.0
plugins/fluentd_telemetry_plugin/tests/message_samples @3e96418.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.infiniband.state.ibqueryerrors import counter_of
from lossless.ground.basics.errors import Problem
from lossless.ground.documents.printed_lines import json_of, value_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import CountedSince, Identity, StateItems

_SIGN = re.compile(r'"(?:node_guid|port_guid|Node_GUID|source_id)"\s*:')
_COUNTER = re.compile(r'"(?=Infiniband_\w|Port(?:Xmit|Rcv)\w|\w+?_u_\w)\w++"\s*:')
_NAME = re.compile(r"(?>(?:Infiniband_)?(.+?)(?:_f)?_u_)(\w+)")
_IDENTITY = {"port_guid": "guid", "node_guid": "node_guid", "port_num": "port", "source_id": "source"}
_UNITS = {
    "Ticks": "ticks",
    "Packets": "packets",
    "Errors": "errors",
    "Drops": "packets",
    "Percent": "percent",
}


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is telemetry of UFM: JSON with ports by GUID, and counters as UFM names them."""
    head = section.head
    return head.lstrip().startswith(("{", "[")) and bool(_SIGN.search(head) and _COUNTER.search(head))


def read(section: PrintedSection) -> StateItems:
    """Yield the counters and other single values of the ports in the telemetry of UFM."""
    data = json_of(section)
    if isinstance(data, Problem):
        yield data
        return
    for path, row in _rows(data, ()):
        identity = tuple((kind, str(row[key])) for key, kind in _IDENTITY.items() if key in row)
        for key, value in row.items():
            if key not in _IDENTITY and not isinstance(value, (list, dict)):
                yield _reading(identity, key, value, (*path, key))


def _rows(data: Any, path: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the objects that name a port, each with its path, in lists and objects at most three levels down."""
    if isinstance(data, dict) and _IDENTITY.keys() & data.keys() and "port_num" in data:
        return [(path, data)]
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [row for key, child in children if len(path) < 3 for row in _rows(child, (*path, key))]


def _reading(identity: Identity, key: str, value: Any, path: Path) -> StateReading:
    match = _NAME.fullmatch(key)
    printed, unit = (match[1], match[2]) if match else (key, "")
    counter = counter_of(printed)
    name = counter.name if counter else printed
    # Numbers of JSON that no counter has, NaN and Infinity, are words here, and unknown.
    said = value if isinstance(value, int) else value_of(str(value))
    since: CountedSince = "unknown" if counter else "now"
    unit = counter.unit if counter else _UNITS.get(unit, unit)
    return StateReading(identity, name, said, unit, since, path, key)
