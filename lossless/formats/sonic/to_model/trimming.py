"""Settings of a switch for trimmed packets, to the fabric model.

A queue trims by its profile; one row of the switch sets the marks and the queue of trimmed packets. Words count in any
case, as orchagent takes them (sonic-swss orchagent/switch/trimming/helper.cpp @e6b0c5b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from lossless.formats.sonic.read.tables import whole_number
from lossless.model.fabric.qos import TrimSettings

if TYPE_CHECKING:
    from lossless.formats.sonic.read.tables import Tables

TRIM_TABLE, TRIM_ROW = "SWITCH_TRIMMING", "GLOBAL"
TRIM_FIELDS = ("size", "dscp_value", "tc_value", "queue_index")
DISCARD_ACTION, TRIM = "packet_discard_action", "trim"
FROM_TC: Literal["from-tc"] = "from-tc"
DYNAMIC: Literal["dynamic"] = "dynamic"
_Word = TypeVar("_Word", bound=str)


def trim_settings(tables: Tables) -> TrimSettings | None:
    """Return the settings of a device for trimmed packets, None if it has none."""
    row = tables.row(TRIM_TABLE, TRIM_ROW)
    if row is None:
        return None
    size, dscp, traffic_class, queue = (row.fields.get(field, "") for field in TRIM_FIELDS)
    return TrimSettings(
        size_bytes=whole_number(size),
        dscp=_number_or(FROM_TC, dscp),
        traffic_class=whole_number(traffic_class),
        queue=_number_or(DYNAMIC, queue),
        origin=tables.origin(TRIM_TABLE, row),
    )


def _number_or(word: _Word, text: str) -> int | _Word | None:
    return word if text.lower() == word else whole_number(text)
