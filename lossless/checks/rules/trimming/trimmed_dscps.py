"""The DSCPs with which trimmed packets leave a switch for another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.interface_tables import facing, neighbor_types
from lossless.checks.rules.trimming.trimmed_packets import (
    TABLE,
    is_by_class,
    map_name,
    settings_row,
    trimming_queues,
)
from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.checks.rules.trimming.trimmed_packets import TrimmingQueue
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Origin


class TrimmedDscp(NamedTuple):
    """A DSCP of trimmed packets, the origin of that number, and the ports by which they leave with it."""

    dscp: int
    origin: Origin
    ports: tuple[str, ...]


def trimmed_dscps(
    device: Device, row: ConfigRow, queues: tuple[TrimmingQueue, ...]
) -> tuple[TrimmedDscp, ...]:
    """Return the DSCPs with which trimmed packets leave by ports that may lead to another switch.

    A DSCP that is set as a number counts for all ports but those that are known to lead to hosts. A map is bound to a
    port on purpose, so only maps of ports that are known to lead to a switch count.
    """
    kinds = neighbor_types(device)
    ports = {port.name: facing(device, port, kinds) for queue in queues for port in queue.ports.ports}
    if is_by_class(row):
        towards = [name for name, kind in ports.items() if kind == "switch"]
        return tuple(_mapped(device, towards, row.fields.get("tc_value", "")))
    outside = tuple(name for name, kind in ports.items() if kind != "host")
    dscp = whole_number(row.fields.get("dscp_value", ""))
    if dscp is None or dscp not in DSCPS or not outside:
        return ()
    return (TrimmedDscp(dscp, device.tables.origin(TABLE, row, "dscp_value"), outside),)


def trimmed_by_port(device: Device) -> dict[str, tuple[tuple[int, Origin], ...]]:
    """Return, by port, the DSCPs of trimmed packets that may reach another switch, each with its origin."""
    row = settings_row(device)
    queues = trimming_queues(device) if row is not None else ()
    leaving = trimmed_dscps(device, row, queues) if row is not None and queues else ()
    by_port = grouped((port, (each.dscp, each.origin)) for each in leaving for port in each.ports)
    return {port: tuple(dscps) for port, dscps in by_port.items()}


def _mapped(device: Device, ports: list[str], traffic_class: str) -> Iterator[TrimmedDscp]:
    for name in dict.fromkeys(map_name(device, port) for port in ports):
        entries = device.tables.row("TC_TO_DSCP_MAP", name)
        dscp = whole_number(entries.fields.get(traffic_class, "")) if entries else None
        if entries and dscp is not None and dscp in DSCPS:
            origin = device.tables.origin("TC_TO_DSCP_MAP", entries, traffic_class)
            yield TrimmedDscp(dscp, origin, tuple(p for p in ports if map_name(device, p) == name))
