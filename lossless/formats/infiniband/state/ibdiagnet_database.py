"""``ibdiagnet2.db_csv``: tables between ``START_PORTS`` and ``END_PORTS``, each with its headings in its first line.

The tables NODES, PORTS, LINKS and PM_INFO are read, whose columns public sources show: Mellanox/ufm_sdk_3.0
plugins/UFM_NDT_Plugin/ufm_sim_web_service/topo_diff/topo_diff.py @3e96418 (NODES, LINKS),
NCAR/ops_tracking_toolkit opstt/ib_diagnostics.py @188d6e3 (PORTS), HyungKwang/My-Programing
check_ib_link_status_v45.py @c7c8a97 (PM_INFO). The other tables are skipped, and listed in a note.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.counter_names import counter_of, counter_reading, is_extended
from lossless.formats.infiniband.state.ibdiagnet_ports import FabricPorts, link_items, port_items
from lossless.formats.infiniband.state.ibdiagnet_values import count_of
from lossless.ground.basics.known import UNKNOWN
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import Identity

_EDGE = re.compile(r"(START|END)_([A-Z][A-Z0-9_]*)\s*")
_READ = ("NODES", "PORTS", "LINKS", "PM_INFO")
_NAMES = frozenset({"NodeGUID", "PortGUID", "PortNumber"})


class _Row(NamedTuple):
    """A row of a table by its headings, and its line."""

    line: PrintedLine
    cells: Mapping[str, str]


def is_form(section: PrintedSection) -> bool:
    """Return whether one of the first lines starts a table."""
    edges = (_EDGE.fullmatch(line.text) for line in section.lines[:300])
    return any(edge is not None and edge[1] == "START" for edge in edges)


def read(section: PrintedSection) -> StateItems:
    """Yield readings of ports, links and counters, identified by the names of their nodes."""
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
    """Yield each table with its lines, and whether its end is present."""
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
    """Yield the counters of a port; those of 64 bits come last, so that they override the others."""
    for name, word in sorted(row.cells.items(), key=lambda cell: is_extended(cell[0])):
        value = count_of(word)
        if name in _NAMES or (value is None and counter_of(name) is None):
            continue
        if value is None:
            yield section.problem(row.line, f"{name}: expected a count, not {word!r}", word)
            value = UNKNOWN
        path = section.place(row.line, name)
        yield counter_reading(identity, name, value, path, extended=is_extended(name))
