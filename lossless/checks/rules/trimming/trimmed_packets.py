"""Shared by the trimming rules: the queues that trim, and the settings of a switch for trimmed packets.

A queue trims by its buffer profile (``packet_discard_action`` trim), a switch treats trimmed packets by
``SWITCH_TRIMMING|GLOBAL`` (sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import whole_number
from lossless.formats.sonic.to_model.trimming import (
    DISCARD_ACTION,
    DYNAMIC,
    FROM_TC,
    TRIM,
    TRIM_ROW,
    TRIM_TABLE,
)
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.qos import BufferProfile, PortQos, Queue
    from lossless.model.fabric.view import PortSet

TABLE, ACTION = TRIM_TABLE, DISCARD_ACTION


class TrimmingQueue(NamedTuple):
    """A queue whose profile trims packets that do not fit, on identically configured ports."""

    ports: PortSet
    queue: Queue
    profile: BufferProfile

    @property
    def action_origin(self) -> Origin:
        """The origin of ``packet_discard_action`` in the profile."""
        return self.profile.origin.at(ACTION)


def trimming_profiles(device: Device) -> frozenset[str]:
    """Return the names of the buffer profiles that trim."""
    rows = device.tables.table("BUFFER_PROFILE").items()
    return frozenset(name for name, row in rows if row.fields.get(ACTION) == TRIM)


def trimming_queues(device: Device) -> tuple[TrimmingQueue, ...]:
    """Return the queues whose profile trims, per set of ports that have it."""
    names = trimming_profiles(device)
    return tuple(_queues(device, names)) if names else ()


def _queues(device: Device, names: frozenset[str]) -> Iterator[TrimmingQueue]:
    for ports in device.view.port_sets:
        for queue in ports.qos.queues:
            if queue is not None and queue.buffer is not None and queue.buffer.name in names:
                yield TrimmingQueue(ports, queue, queue.buffer)


def settings_row(device: Device) -> ConfigRow | None:
    """Return the row with the settings for trimmed packets, None where there is none."""
    return device.tables.row(TABLE, TRIM_ROW)


def trimming(device: Device) -> str:
    """Return the device's trimming for packets of full queues, as text: the DSCP that it trims with, or ``off``."""
    names, row = trimming_profiles(device), settings_row(device)
    rows = device.tables.table("BUFFER_QUEUE").values() if names and row is not None else ()
    if row is None or not any(queue.reference("profile") in names for queue in rows):
        return "off"
    return f"on with DSCP {row.fields.get('dscp_value', 'unset')}"


def is_by_class(row: ConfigRow) -> bool:
    """Return whether trimmed packets get their DSCP by a traffic class and the map of the port they leave by.

    orchagent takes the word in any case (sonic-swss orchagent/switch/trimming/helper.cpp @e6b0c5b).
    """
    return row.fields.get("dscp_value", "").lower() == FROM_TC


def static_queue(row: ConfigRow) -> int | None:
    """Return the queue of trimmed packets, None where it follows from their DSCP or is not set."""
    return whole_number(row.fields.get("queue_index", ""))


def queue_on(row: ConfigRow, qos: PortQos) -> int | None:
    """Return the queue of trimmed packets on a port, None where it is not set, not from 0 to 7, or not known.

    With ``dynamic`` it follows from a DSCP of one number, by the maps of the port (SAI inc/saiswitch.h @91e6b86). With
    ``from-tc``, or without a readable map, it is not known.
    """
    number = static_queue(row)
    dscp = whole_number(row.fields.get("dscp_value", ""))
    dynamic = row.fields.get("queue_index", "").lower() == DYNAMIC
    if dynamic and dscp is not None and dscp in DSCPS and qos.dscp_to_tc is not None:
        traffic_class = qos.traffic_class(dscp)
        number = None if traffic_class == UNREADABLE else qos.queue_of(traffic_class)
    return number if number is not None and 0 <= number < len(qos.queues) else None


def map_name(device: Device, port: str) -> str:
    """Return the name of the TC-to-DSCP map of a port; empty where it binds none."""
    row = device.tables.row("PORT_QOS_MAP", port)
    return row.reference("tc_to_dscp_map") if row else ""
