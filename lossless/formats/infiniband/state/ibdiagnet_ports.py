"""Ports and links in the tables of ``ibdiagnet2.db_csv``: by their nodes' names, with the capability of both ends.

Masks of width and speed are those of PortInfo (InfiniBand Architecture Specification, volume 1, 14.2.5.6), speeds of
LinkSpeedExt in the second byte. A link's possible width and speed are the highest ones enabled at both of its ends, as
ibdiagnet compares them ("enable_speed1", "therefore final speed should be").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibdiagnet_values import guid_of, said
from lossless.ground.documents.printed_values import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import Identity, StateReading

    Cells = Mapping[str, str]

_STATES = {"1": "Down", "2": "Initialize", "3": "Armed", "4": "Active"}
_PHYSICAL = {
    "1": "Sleep",
    "2": "Polling",
    "3": "Disabled",
    "4": "PortConfigurationTraining",
    "5": "LinkUp",
    "6": "LinkErrorRecovery",
    "7": "PhyTest",
}
_WIDTHS = {0: "1X", 4: "2X", 1: "4X", 2: "8X", 3: "12X"}
"""Widths by their bit, the narrowest first."""
_SPEEDS = ("SDR", "DDR", "QDR")
_EXTENDED_SPEEDS = ("FDR", "EDR", "HDR", "NDR", "XDR")
_AGGREGATION = "Mellanox Technologies Aggregation Node"
"""The name of SHARP's part of a switch, whose link is not a cable."""


class FabricPorts:
    """The ports of a fabric, by the GUID of their node and their number."""

    def __init__(self, nodes: Sequence[Cells], ports: Sequence[Cells]) -> None:
        self._names = {guid_of(row.get("NodeGUID", "")): row.get("NodeDesc", "") for row in nodes}
        self._ports = {_place(row, "NodeGuid", "PortNum"): row for row in ports}
        # The LID of a switch is that of its port 0.
        self._lids = {
            guid: row.get("LID", "") for (guid, number), row in self._ports.items() if number == "0"
        }

    def row(self, place: tuple[str, str]) -> Cells:
        """Return the row of a port in PORTS; empty where it has none."""
        return self._ports.get(place, {})

    def of(self, cells: Cells, guid: str, number: str) -> Identity:
        """Return the identity of a row, by its columns with the GUID of the node and the number of the port."""
        return self.identity(_place(cells, guid, number), cells)

    def identity(self, place: tuple[str, str], cells: Cells) -> Identity:
        """Return the identity of a port: its node, the GUID of the port, the LID, its number."""
        node, number = place
        own = self.row(place)
        guid = cells.get("PortGUID") or own.get("PortGuid") or node
        lid = self._lids.get(node) or own.get("LID", "")
        name = self._names.get(node, "")
        return (
            *((("node", name),) if name else ()),
            ("guid", guid_of(guid)),
            *((("lid", lid),) if counted(lid) else ()),
            ("port", number),
        )

    def is_cabled(self, place: tuple[str, str]) -> bool:
        """Return whether a port has a cable, in contrast to the internal ports of SHARP."""
        return _AGGREGATION not in self._names.get(place[0], "")


def port_items(identity: Identity, cells: Cells, path: Path) -> StateItems:
    """Yield the readings of a row of PORTS."""
    state = cells.get("PortState", "")
    yield said(identity, "state", _STATES.get(state, state), (*path, "PortState"))
    physical = cells.get("PortPhyState", "")
    yield said(identity, "phys_state", _PHYSICAL.get(physical, physical), (*path, "PortPhyState"))
    if state == "4" and (speed := _active_speed(cells)) and (width := _active_width(cells)):
        yield said(identity, "width", width, (*path, "LinkWidthActv"))
        yield said(identity, "speed", f"{width} {speed}", (*path, "LinkSpeedActv"))


def link_items(ports: FabricPorts, cells: Cells, path: Path) -> StateItems:
    """Yield the peer of both ends of a link, and its possible width and speed where the actual ones are lower."""
    places = _place(cells, "NodeGuid1", "PortNum1"), _place(cells, "NodeGuid2", "PortNum2")
    for own, other in (places, places[::-1]):
        yield from _peer(ports.identity(own, {}), ports.identity(other, {}), path)
    rows = [ports.row(place) for place in places]
    if all(row.get("PortState") == "4" for row in rows) and all(map(ports.is_cabled, places)):
        could = " ".join(filter(None, (_wider(rows), _faster(rows))))
        if could:
            identity = ports.identity(places[0], {})
            yield said(identity, "slower_than_possible", f"Could be {could}", (*path, "NodeGuid1"))


def _peer(own: Identity, other: Identity, path: Path) -> Iterator[StateReading]:
    parts = dict(other)
    yield said(own, "peer", parts.get("node", parts["guid"]), (*path, "peer"))
    yield said(own, "peer_guid", parts["guid"], (*path, "peer_guid"))
    for kind in ("lid", "port"):
        number = counted(parts.get(kind, ""))
        if isinstance(number, int):
            yield said(own, f"peer_{kind}", number, (*path, f"peer_{kind}"))


def _place(cells: Cells, guid: str, number: str) -> tuple[str, str]:
    return guid_of(cells.get(guid, "")), cells.get(number, "")


def _wider(rows: Sequence[Cells]) -> str:
    """Return the width that is enabled at both ends where the link is narrower, else an empty text."""
    common = [
        width for bit, width in _WIDTHS.items() if all(_mask(row, "LinkWidthEn") >> bit & 1 for row in rows)
    ]
    active = _active_width(rows[0])
    order = list(_WIDTHS.values())
    return common[-1] if active and common and order.index(common[-1]) > order.index(active) else ""


def _faster(rows: Sequence[Cells]) -> str:
    """Return the speed that is enabled at both ends where the link is slower, else an empty text."""
    enabled = [_speeds(_mask(row, "LinkSpeedEn")) for row in rows]
    common = [speed for speed in enabled[0] if speed in enabled[1]]
    active = _active_speed(rows[0])
    order = (*_SPEEDS, *_EXTENDED_SPEEDS)
    return common[-1] if active and common and order.index(common[-1]) > order.index(active) else ""


def _active_width(row: Cells) -> str:
    mask = _mask(row, "LinkWidthActv")
    return next((width for bit, width in _WIDTHS.items() if mask == 1 << bit), "")


def _active_speed(row: Cells) -> str:
    return next(iter(_speeds(_mask(row, "LinkSpeedActv"))[-1:]), "")


def _speeds(mask: int) -> tuple[str, ...]:
    """Return the speeds of a mask, the slowest first."""
    low = tuple(speed for bit, speed in enumerate(_SPEEDS) if mask >> bit & 1)
    return low + tuple(speed for bit, speed in enumerate(_EXTENDED_SPEEDS) if mask >> 8 + bit & 1)


def _mask(row: Cells, name: str) -> int:
    value = counted(row.get(name, ""))
    return value if isinstance(value, int) else 0
