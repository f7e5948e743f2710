"""Tables of interfaces outside the QoS model: LAGs, VLANs, router interfaces and types of neighbors.

Rows are read as they are in the file. Values that are not rows of fields are left out: the rules of the schema
report them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port


def raw_rows(device: Device, table: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the rows of a table, sorted by key; none where the table is absent or has no rows of fields."""
    rows = device.tables.data.get(table)
    if not isinstance(rows, dict):
        return
    for key in sorted(rows):
        if isinstance(rows[key], dict):
            yield key, rows[key]


def members(device: Device) -> dict[str, list[str]]:
    """Return the member ports of each LAG by its name."""
    keys = (key.partition("|") for key, _ in raw_rows(device, "PORTCHANNEL_MEMBER"))
    return grouped((lag, port) for lag, _, port in keys)


def untagged_routed(device: Device) -> frozenset[str]:
    """Return the ports that receive no VLAN tags: router interfaces, and members of LAGs that are router interfaces.

    Ports with a sub-interface and ports in a VLAN are left out, because their packets may be tagged.
    """
    lags = members(device)
    routed = {key.partition("|")[0] for key, _ in raw_rows(device, "INTERFACE")}
    for key, _ in raw_rows(device, "PORTCHANNEL_INTERFACE"):
        routed.update(lags.get(key.partition("|")[0], ()))
    tagged = {key.partition("|")[0].partition(".")[0] for key, _ in raw_rows(device, "VLAN_SUB_INTERFACE")}
    for name in tagged & lags.keys():
        tagged.update(lags[name])
    return frozenset(routed - tagged - bridged_ports(device))


def bridged(device: Device) -> dict[str, list[str]]:
    """Return the ports of each VLAN by its name, with the members of a LAG in its place if it has any."""
    lags = members(device)
    keys = (key.partition("|") for key, _ in raw_rows(device, "VLAN_MEMBER"))
    return grouped((vlan, port) for vlan, _, name in keys for port in lags.get(name, [name]))


def bridged_ports(device: Device) -> frozenset[str]:
    """Return the ports that are in any VLAN."""
    return frozenset(port for ports in bridged(device).values() for port in ports)


def neighbor_types(device: Device) -> dict[str, str]:
    """Return the stated types of neighbors by ``DEVICE_NEIGHBOR_METADATA``, in lower case, such as ``torrouter``."""
    return {
        key: kind.lower()
        for key, fields in raw_rows(device, "DEVICE_NEIGHBOR_METADATA")
        if isinstance(kind := fields.get("type"), str)
    }


def facing(device: Device, port: Port, kinds: Mapping[str, str]) -> str | None:
    """Return ``host`` or ``switch``, the kind of device at the other end of a port; None where it is unknown.

    The kind is that of the intent that is checked together with the device, else it follows from the type of the
    neighbor. ``kinds`` are the :func:`neighbor_types`.
    """
    if device.intended is not None:
        declared = next((other.leads_to for other in device.intended.ports if other.name == port.name), None)
        if declared is not None:
            return declared
    kind = kinds.get(port.neighbor[0]) if port.neighbor else None
    if kind is None:
        return None
    if kind == "server":
        return "host"
    return "switch" if kind.endswith(("router", "aggregator")) else None
