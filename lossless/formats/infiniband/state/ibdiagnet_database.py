"""``ibdiagnet2.db_csv``: tables with headings between ``START_PORTS`` and ``END_PORTS``, as ports, links and counters.

The headings are the first line of a table. The tables NODES, PORTS, LINKS and PM_INFO are read, whose columns public
sources show: Mellanox/ufm_sdk_3.0 plugins/UFM_NDT_Plugin/ufm_sim_web_service/topo_diff/topo_diff.py @3e96418 (NODES,
LINKS), NCAR/ops_tracking_toolkit opstt/ib_diagnostics.py @188d6e3 (PORTS), HyungKwang/My-Programing
check_ib_link_status_v45.py @c7c8a97 (PM_INFO). The other tables are skipped, and listed in a note.

Ports have their nodes' names where these are known. Masks of width and speed are those of
PortInfo (InfiniBand Architecture Specification, volume 1, 14.2.5.6), speeds of LinkSpeedExt in the second byte. A
link's possible width and speed are the highest ones enabled at both of its ends, as ibdiagnet compares them
("enable_speed1", "therefore final speed should be").
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibdiagnet_lines import count_of, guid_of, said
from lossless.formats.infiniband.state.ibqueryerrors import counter_of, counter_reading, is_extended
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems, StateReading


_EDGE = re.compile(r"(START|END)_([A-Z][A-Z0-9_]*)\s*")
_READ = ("NODES", "PORTS", "LINKS", "PM_INFO")
_NAMES = frozenset({"NodeGUID", "PortGUID", "PortNumber"})


class _Row(NamedTuple):
    """A row of a table of ibdiagnet2.db_csv, by its headings, and its line."""

    line: PrintedLine
    cells: Mapping[str, str]


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is an ibdiagnet2.db_csv: one of the first lines starts a table (``START_PORTS``)."""
    edges = (_EDGE.fullmatch(line.text) for line in section.lines[:300])
    return any(edge is not None and edge[1] == "START" for edge in edges)


def read(section: PrintedSection) -> StateItems:
    """Yield readings of ports, links and counters of an ibdiagnet2.db_csv, by node, and a note on tables not read."""
    tables: dict[str, list[_Row]] = {name: [] for name in _READ}
    left: list[str] = []
    for name, lines, whole in _tables(section):
        if name not in tables:
            left.append(name)
            continue
        yield from _rows(section, name, lines, tables[name])
        if not whole and lines:
            yield section.problem(lines[-1], f"the table {name} is cut off here: it has no END_{name}")
    ports = FabricPorts(*([row.cells for row in tables[name]] for name in ("NODES", "PORTS")))
    for row in tables["PORTS"]:
        identity = ports.of(row.cells, "NodeGuid", "PortNum")
        yield from port_items(identity, row.cells, section.place(row.line))
    for row in tables["LINKS"]:
        yield from link_items(ports, row.cells, section.place(row.line))
    for row in tables["PM_INFO"]:
        yield from _counters(section, ports.of(row.cells, "NodeGUID", "PortNumber"), row)
    if left:
        what = "table is" if len(left) == 1 else "tables are"
        yield f"{len(left)} {what} not read: {', '.join(left)}"


def _tables(section: PrintedSection) -> Iterator[tuple[str, list[PrintedLine], bool]]:
    """Yield the name of each table, its lines, and whether its end is present."""
    name = ""
    lines: list[PrintedLine] = []
    for line in section.lines:
        edge = _EDGE.fullmatch(line.text)
        if edge is None:
            if name and line.text.strip():
                lines.append(line)
            continue
        if name:
            yield name, lines, edge[1] == "END"
        name, lines = (edge[2], []) if edge[1] == "START" else ("", [])
    if name:
        yield name, lines, False


def _rows(
    section: PrintedSection, name: str, lines: list[PrintedLine], rows: list[_Row]
) -> Iterator[Problem]:
    """Add the rows of a table, and yield a problem for each that has not as many cells as there are headings."""
    headings = _cells(lines[0].text) if lines else []
    for line in lines[1:]:
        cells = _cells(line.text)
        if len(cells) == len(headings):
            rows.append(_Row(line, dict(zip(headings, cells, strict=True))))
        else:
            yield section.problem(
                line, f"a row of {name} has {len(cells)} cells, and {len(headings)} headings"
            )


def _cells(text: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        return []


def _counters(section: PrintedSection, identity: Identity, row: _Row) -> StateItems:
    """Yield the counters of a port in PM_INFO; those of 64 bits come last, so that they override the others."""
    for name, word in sorted(row.cells.items(), key=lambda cell: is_extended(cell[0])):
        value = count_of(word)
        if name in _NAMES or (value is None and counter_of(name) is None):
            continue
        if value is None:
            yield section.problem(row.line, f"{name}: expected a count, not {word!r}", word)
            value = UNKNOWN
        path = section.place(row.line, name)
        yield counter_reading(identity, name, value, path, extended=is_extended(name))


if TYPE_CHECKING:
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
"""Link widths by their bit in masks, the narrowest first."""
_SPEEDS = ("SDR", "DDR", "QDR")
_EXTENDED_SPEEDS = ("FDR", "EDR", "HDR", "NDR", "XDR")
_AGGREGATION = "Mellanox Technologies Aggregation Node"
"""The name of SHARP's part of a switch, whose link is not a cable."""


class FabricPorts:
    """The ports of a subnet in ibdiagnet2.db_csv, by the GUID of their node and their number."""

    def __init__(self, nodes: Sequence[Cells], ports: Sequence[Cells]) -> None:
        self._names = {guid_of(row.get("NodeGUID", "")): row.get("NodeDesc", "") for row in nodes}
        self._ports = {_place(row, "NodeGuid", "PortNum"): row for row in ports}
        # The LID of a switch is that of its port 0.
        self._lids = {
            guid: row.get("LID", "") for (guid, number), row in self._ports.items() if number == "0"
        }

    def row(self, place: tuple[str, str]) -> Cells:
        """Return the row of a port in the table PORTS; empty where it has none."""
        return self._ports.get(place, {})

    def of(self, cells: Cells, guid: str, number: str) -> Identity:
        """Return the identity of the port of a row, by its columns for the node's GUID and the port's number."""
        return self.identity(_place(cells, guid, number), cells)

    def identity(self, place: tuple[str, str], cells: Cells) -> Identity:
        """Return the identity of a port: node name and LID where known, its GUID or the node's, and its number.

        LID 0 stands for none.
        """
        node, number = place
        own = self.row(place)
        guid = cells.get("PortGUID") or own.get("PortGuid") or node
        lid = self._lids.get(node) or own.get("LID", "")
        name = self._names.get(node, "")
        return (
            *((("node", name),) if name else ()),
            ("guid", guid_of(guid)),
            *((("lid", lid),) if counted(lid) not in (UNKNOWN, 0) else ()),
            ("port", number),
        )

    def is_cabled(self, place: tuple[str, str]) -> bool:
        """Return whether a port can have a cable, unlike the internal ports of SHARP."""
        return _AGGREGATION not in self._names.get(place[0], "")


def port_items(identity: Identity, cells: Cells, path: Path) -> StateItems:
    """Yield the states of a port in PORTS, and its width and speed if it is active and both are known."""
    state = cells.get("PortState", "")
    yield said(identity, "state", _STATES.get(state, state), (*path, "PortState"))
    physical = cells.get("PortPhyState", "")
    yield said(identity, "phys_state", _PHYSICAL.get(physical, physical), (*path, "PortPhyState"))
    if state == "4" and (speed := _active_speed(cells)) and (width := _active_width(cells)):
        yield said(identity, "width", width, (*path, "LinkWidthActv"))
        yield said(identity, "speed", f"{width} {speed}", (*path, "LinkSpeedActv"))


def link_items(ports: FabricPorts, cells: Cells, path: Path) -> StateItems:
    """Yield the peers in a row of LINKS; for an active cable also a possible width or speed above that in use."""
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
    """Return the widest width enabled at both ends where the link is narrower, else an empty text."""
    common = [
        width for bit, width in _WIDTHS.items() if all(_mask(row, "LinkWidthEn") >> bit & 1 for row in rows)
    ]
    active = _active_width(rows[0])
    order = list(_WIDTHS.values())
    return common[-1] if active and common and order.index(common[-1]) > order.index(active) else ""


def _faster(rows: Sequence[Cells]) -> str:
    """Return the fastest speed enabled at both ends where the link is slower, else an empty text."""
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
    """Return the names of the link speeds in a mask, the slowest first."""
    low = tuple(speed for bit, speed in enumerate(_SPEEDS) if mask >> bit & 1)
    return low + tuple(speed for bit, speed in enumerate(_EXTENDED_SPEEDS) if mask >> 8 + bit & 1)


def _mask(row: Cells, name: str) -> int:
    value = counted(row.get(name, ""))
    return value if isinstance(value, int) else 0
