"""Reads ``perfquery``: ``PortXmitWait:....................22730501`` below a line that names LID and port.

Each port has a line ``# Port counters:``, ``# Port extended counters:`` or ``# PortRcvErrorDetails counters:``; those
of extended counters have 64 bits. Older versions print the extended error counters of ports that lack them as zeros:
bit 1 of CapMask2 indicates whether they exist. Port 255 stands for all ports. Source: linux-rdma/rdma-core
infiniband-diags/perfquery.c and libibmad/iba_types.h @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibqueryerrors import counter_of, counter_reading
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import counted
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_HEADERS = {
    with_capability: re.compile(
        rf"\s*# (Port[A-Za-z]*(?: extended)?) counters: (.*?) ?port ([0-9]+)\s*+{ends}"
    ).match
    for with_capability, ends in ((True, r"\("), (False, r"\Z"))
}
_LID = re.compile(r"[Ll]id ([0-9]+)")
_MASK = re.compile(r"CapMask2: 0x([0-9A-Fa-f]{1,8})")
_FIELD = re.compile(r"\s*([A-Za-z]\w*+):(?:\.*+\s*+(\S++)|\.++)\s*+")
_NO_COUNTERS = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})
_ALL_PORTS = "255"
_HAS_ERRORS = 2


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is of perfquery: a first line heads a port's counters, or has dots before a count."""
    for line in section.lines[:200]:
        field = _FIELD.fullmatch(line.text)
        if _header(line.text) or (field and ":.." in line.text and counter_of(field[1])):
            return True
    return False


def read(section: PrintedSection) -> StateItems:
    """Yield the counters in an output of perfquery, and, if printed, whether a port has extended error counters."""
    identity: Identity = ()
    is_extended = False
    for line in section.lines:
        header, field = _header(line.text), _FIELD.fullmatch(line.text)
        if header:
            identity, is_extended = _port(header), header[1].endswith("extended")
            yield from _capability(identity, header, section.place(line, "CapMask2"))
        elif field and field[1] not in _NO_COUNTERS:
            word = field[2] or "."
            value = counted(word)
            if value is UNKNOWN:
                yield section.problem(line, f"{field[1]}: expected a count, not {word!r}", word)
            yield counter_reading(
                identity, field[1], value, section.place(line, field[1]), extended=is_extended
            )
        elif not field and line.text.strip() and not line.text.lstrip().startswith("#"):
            yield section.problem(line, f"no counter of perfquery: {line.text.strip()!r}")


def _header(text: str) -> re.Match[str] | None:
    """Return the match of a line that heads a port's counters, None of any other line."""
    bare = text.rstrip()
    return _HEADERS[bare.endswith(")")](bare)


def _port(header: re.Match[str]) -> Identity:
    lid = _LID.search(header[2])
    port = "ALL" if header[3] == _ALL_PORTS else header[3]
    return (("lid", lid[1]), ("port", port)) if lid else (("path", header[2]), ("port", port))


def _capability(identity: Identity, header: re.Match[str], path: Path) -> StateItems:
    mask = _MASK.search(header.string, header.end())
    if mask is None:
        return
    has = int(bool(int(mask[1], 16) & _HAS_ERRORS))
    yield StateReading(identity, "has_extended_errors", has, "", "now", path, "CapMask2")
    if not has:
        where = " ".join(f"{kind} {name}" for kind, name in identity)
        yield f"{where} has no extended error counters: zeros of them are no counts"
