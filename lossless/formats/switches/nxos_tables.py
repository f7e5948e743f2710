"""NX-OS: the tables of ``show interface priority-flow-control`` and ``show interface flowcontrol``.

Their cells begin below the headings, and no ruler divides them. ``On(8)`` is a state and a bitmap, 8 for priority 3;
``off/off`` is the configured and the running state. No known source documents the base in which a bitmap of more than
one digit is printed: it stays a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.documents.printed_lines import printed_value
from lossless.ground.documents.printed_tables import cells_of, spans_of
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.state import CountedSince

_PFC = re.compile(r"\s*Port\s+Mode\s+Oper(?:\s?\(\S.*\))?\s+RxPPP\s+TxPPP\s*")
_FLOW_CONTROL = re.compile(r"\s*Port\s+Send FC\s+Receive FC\s+RxPause\s+TxPause\s*")
_PORT = re.compile(r"[A-Za-z]+[0-9][\w/.-]*")
_BITMAP = re.compile(r"(\w+)\s*\(([0-9a-fA-F]+)\)")
_NAMES = {
    "Mode": "pfc_mode",
    "RxPPP": "pfc_rx",
    "TxPPP": "pfc_tx",
    "RxPause": "pause_rx",
    "TxPause": "pause_tx",
    "Send FC": "send_fc",
    "Receive FC": "receive_fc",
}


def read_nxos(text: str, file: str) -> Iterator[StateCapture]:
    """Yield the capture of the tables in a text."""
    lines = text.splitlines()
    readings: list[StateReading] = []
    form = ""
    for at, line in enumerate(lines):
        if _PFC.fullmatch(line) or _FLOW_CONTROL.fullmatch(line):
            form = "show interface " + ("priority-flow-control" if "PPP" in line else "flowcontrol")
            readings += _rows(lines, at, form)
    if form:
        yield StateCapture(file, f"NX-OS {form}", tuple(readings))


def _rows(lines: Sequence[str], at: int, form: str) -> Iterator[StateReading]:
    spans = spans_of(lines[at])
    headings = cells_of(lines[at], spans)
    for index, line in enumerate(lines[at + 1 :], at + 2):
        cells = cells_of(line, spans)
        if not line.strip() or set(line.strip()) <= set("-="):
            continue
        if not _PORT.fullmatch(cells[0]):
            break
        for heading, cell in zip(headings[1:], cells[1:], strict=True):
            for name, value in _values(heading, cell):
                yield _reading(cells[0], name, value, (form, index, heading))


def _values(heading: str, cell: str) -> Iterator[tuple[str, Maybe[int | float | str]]]:
    """Yield the values of a cell: some hold two."""
    name = _NAMES.get(heading, heading)
    if heading.startswith("Oper"):
        match = _BITMAP.fullmatch(cell)
        yield "pfc_oper", printed_value(match[1] if match else cell)
        if match:
            yield "oper_bitmap", int(match[2], 16) if len(match[2]) == 1 else match[2]
    elif name in ("send_fc", "receive_fc"):
        admin, _, oper = cell.partition("/")
        yield f"{name}_admin", printed_value(admin)
        yield f"{name}_oper", printed_value(oper)
    else:
        yield name, printed_value(cell)


def _reading(
    port: str, name: str, value: Maybe[int | float | str], path: tuple[str | int, ...]
) -> StateReading:
    counts = name.startswith(("pfc_rx", "pfc_tx", "pause_"))
    since: CountedSince = "unknown" if counts else "now"
    return StateReading(
        (("port", port),), name, value, "packets" if counts else "", since, path, str(path[-1])
    )
