"""Reads ``ibqueryerrors``: ports with counters above a threshold; a counter that is missing is below it, not 0.

``GUID 0x2c903006e29b0 port 6: [LinkDownedCounter == 9] [PortXmitDiscards == 14176]``, where ``port ALL`` is the sum of
a switch. A value with its size after it, ``[PortXmitWait == 5000 (4.883K)]``, comes from 64-bit counters. Source:
linux-rdma/rdma-core infiniband-diags/ibqueryerrors.c @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.counter_names import counter_reading
from lossless.formats.infiniband.state.links import LINK, link_readings
from lossless.ground.documents.printed_values import counted
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import Identity

_NODE = re.compile(r"\s*(?:Errors|Data Counters) for (?:(0x[0-9a-fA-F]{1,16}) )?\"(.*)\"\s*")
_PORT = re.compile(r"\s*GUID (0x[0-9a-fA-F]{1,16}) port (ALL|[0-9]+):(.*)")
_COUNTER = re.compile(r"\[(\w+) == ([0-9]+)(?:\s*\(([^)\]]*)\))?\]")
_SUMMARY = (
    ("nodes_checked", re.compile(r"##.*?\b([0-9]+) nodes checked")),
    ("nodes_with_errors", re.compile(r"##.*?\b([0-9]+) bad nodes found")),
    ("ports_checked", re.compile(r"##.*?\b([0-9]+) ports checked")),
    ("ports_with_errors", re.compile(r"##.*?\b([0-9]+) ports have errors")),
    ("query_failures", re.compile(r"##.*?\b([0-9]+) PMA query failures")),
)
_THRESHOLDS = re.compile(r"## Thresholds:\s*(\S.*)")


def is_form(section: PrintedSection) -> bool:
    """Return whether a line has counters of a port by its GUID, or is the summary."""
    return any(_PORT.match(line.text) or line.text.startswith("## Summary: ") for line in section.lines[:300])


def read(section: PrintedSection) -> StateItems:
    """Yield the counters of every port in the output, and the summary."""
    node: Identity = ()
    for line in section.lines:
        if match := _NODE.fullmatch(line.text):
            node = (("node", match[2].strip()),)
        elif match := _PORT.fullmatch(line.text):
            yield from _counters(section, line, (*node, ("guid", match[1]), ("port", match[2])), match[3])
        elif match := LINK.fullmatch(line.text):
            yield from link_readings(match, node, section.place(line))
        elif line.text.lstrip().startswith("##"):
            yield from _summary(section, line)
        elif line.text.strip() and not line.text.lstrip().startswith("#"):
            yield section.problem(line, f"no line of ibqueryerrors: {line.text.strip()!r}")


def _counters(section: PrintedSection, line: PrintedLine, port: Identity, text: str) -> StateItems:
    for name, word, size in _COUNTER.findall(text):
        yield counter_reading(port, name, counted(word), section.place(line, name), extended=bool(size))
    rest = _COUNTER.sub("", text).strip()
    if rest:
        yield section.problem(line, f"the counters of a port are cut: {rest!r}", rest)


def _summary(section: PrintedSection, line: PrintedLine) -> StateItems:
    for name, pattern in _SUMMARY:
        if match := pattern.match(line.text):
            path = section.place(line, name)
            yield StateReading((), name, counted(match[1]), "", "now", path, name)
    if match := _THRESHOLDS.match(line.text):
        yield f"counters up to a threshold are not printed: {match[1].strip()}"
