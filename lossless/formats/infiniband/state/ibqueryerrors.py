"""Reads ``ibqueryerrors`` and ``perfquery``: counters of ports, in the kernel's names of these counters.

``ibqueryerrors`` prints ports with counters above a threshold. A counter that is missing is not above the threshold.
``GUID 0x2c903006e29b0 port 6: [LinkDownedCounter == 9] [PortXmitDiscards == 14176]``, where ``port ALL`` is the sum of
a switch. A value with its size after it, ``[PortXmitWait == 5000 (4.883K)]``, comes from 64-bit counters. Source:
linux-rdma/rdma-core infiniband-diags/ibqueryerrors.c @691953d.

``perfquery`` prints ``PortXmitWait:....................22730501`` below a line that names LID and port. Each port has a
line ``# Port counters:``, ``# Port extended counters:`` or ``# PortRcvErrorDetails counters:``; those of extended
counters have 64 bits. Older versions print the extended error counters of ports that lack them as zeros: bit 1 of
CapMask2 indicates whether they exist. Port 255 stands for all ports. Source: linux-rdma/rdma-core
infiniband-diags/perfquery.c and libibmad/iba_types.h @691953d.

Names in MADs, older tools, UFM and ibdiagnet are mapped to those of the kernel. Sources: names of MADs
linux-rdma/rdma-core libibmad/fields.c @691953d; short names libibmad before its names were those of the
specification, which UFM's telemetry still has (Mellanox/ufm_sdk_3.0
plugins/fluentd_telemetry_plugin/tests/message_samples @3e96418); those of ibdiagnet2.pm facebookresearch/gcm
gcm/health_checks/checks/check_ib_port_errors.py @1b7bde9. A name that ends in ``Ext`` or ``Extended`` is that of the
same counter in PortCountersExtended.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.iblinkinfo import LINK, link_readings
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import counted
from lossless.model.fabric.state import BY_MAD_NAME, BY_NAME, StateReading, ceiling

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Unknown
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, PortCounter, StateItems


_SHORT = {
    "SymbolErrors": "symbol_error",
    "LinkRecovers": "link_error_recovery",
    "LinkDowned": "link_downed",
    "RcvErrors": "port_rcv_errors",
    "RcvRemotePhysErrors": "port_rcv_remote_physical_errors",
    "RcvSwRelayErrors": "port_rcv_switch_relay_errors",
    "XmtDiscards": "port_xmit_discards",
    "XmtConstraintErrors": "port_xmit_constraint_errors",
    "RcvConstraintErrors": "port_rcv_constraint_errors",
    "LinkIntegrityErrors": "local_link_integrity_errors",
    "ExcBufOverrunErrors": "excessive_buffer_overrun_errors",
    "XmtData": "port_xmit_data",
    "RcvData": "port_rcv_data",
    "XmtPkts": "port_xmit_packets",
    "RcvPkts": "port_rcv_packets",
    "XmtWait": "port_xmit_wait",
    "XmitWait": "port_xmit_wait",
    "PckOut": "port_xmit_packets",
    "PckIn": "port_rcv_packets",
}
_IBDIAGNET = {
    "link_down_counter": "link_downed",
    "link_downed_counter": "link_downed",
    "link_error_recovery_counter": "link_error_recovery",
    "symbol_error_counter": "symbol_error",
    "port_xmit_discard": "port_xmit_discards",
    "excessive_buffer_errors": "excessive_buffer_overrun_errors",
    "vl15_dropped": "VL15_dropped",
    "port_xmit_pkts": "port_xmit_packets",
    "port_rcv_pkts": "port_rcv_packets",
    "port_unicast_xmit_pkts": "unicast_xmit_packets",
    "port_unicast_rcv_pkts": "unicast_rcv_packets",
    "port_multicast_xmit_pkts": "multicast_xmit_packets",
    "port_multicast_rcv_pkts": "multicast_rcv_packets",
    "port_sw_lifetime_limit_discards": "port_switch_lifetime_limit_discards",
    "port_sw_hoq_lifetime_limit_discards": "port_switch_hoq_lifetime_limit_discards",
    "PortUniCastXmitPkts": "unicast_xmit_packets",
    "PortUniCastRcvPkts": "unicast_rcv_packets",
    "PortMultiCastXmitPkts": "multicast_xmit_packets",
    "PortMultiCastRcvPkts": "multicast_rcv_packets",
}
_NAMES = {**{name: name for name in BY_NAME}, **_SHORT, **_IBDIAGNET}
_EXTENDED = re.compile(r"(?:_extended|Extended|Ext)$")
_VL = re.compile(r"(PortVLXmitWait|SWPortVLCongestion|PortVLXmitDiscards)([0-9]{1,2})")


def counter_of(printed: str) -> PortCounter | None:
    """Return the port counter that a tool prints by this name, None for a name that is not known here."""
    plain = _EXTENDED.sub("", printed)
    name = _NAMES.get(plain)
    return BY_NAME[name] if name else BY_MAD_NAME.get(plain)


def is_extended(printed: str) -> bool:
    """Return whether a printed name ends as those of 64-bit counters do: ``_extended``, ``Extended`` or ``Ext``."""
    return _EXTENDED.search(printed) is not None


def counter_reading(
    identity: Identity, printed: str, value: int | Unknown, path: Path, *, extended: bool
) -> StateReading:
    """Return a reading of a counter; a known one saturates at 64 bits if ``extended``, else at its width."""
    counter = counter_of(printed)
    if counter is not None:
        stops = ceiling(counter, extended=extended)
        return StateReading(identity, counter.name, value, counter.unit, "unknown", path, printed, stops)
    vl = _VL.fullmatch(printed)
    if vl:
        return StateReading(
            (*identity, ("vl", vl[2])),
            vl[1],
            value,
            "ticks" if "Wait" in printed else "",
            "unknown",
            path,
            printed,
        )
    return StateReading(identity, printed, value, "", "unknown", path, printed)


_NODE = re.compile(r"\s*(?:Errors|Data Counters) for (?:(0x[0-9a-fA-F]{1,16}) )?\"(.*)\"\s*")
_PORT = re.compile(r"\s*GUID (0x[0-9a-fA-F]{1,16}) port (ALL|[0-9]+):(.*)")
_COUNTER = re.compile(r"\[(\w+) == ([0-9]+)(?:\s*\(([^)\[\]]*)\))?\]")
_SUMMARY = (
    ("nodes_checked", re.compile(r"##.*?\b([0-9]+) nodes checked").match),
    ("nodes_with_errors", re.compile(r"##.*?\b([0-9]+) bad nodes found").match),
    ("ports_checked", re.compile(r"##.*?\b([0-9]+) ports checked").match),
    ("ports_with_errors", re.compile(r"##.*?\b([0-9]+) ports have errors").match),
    ("query_failures", re.compile(r"##.*?\b([0-9]+) PMA query failures").match),
)
_THRESHOLDS = re.compile(r"## Thresholds:\s*(\S.*)")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is of ibqueryerrors: one of its first lines has counters of a port, or is the summary."""
    return any(_PORT.match(line.text) or line.text.startswith("## Summary: ") for line in section.lines[:300])


def read(section: PrintedSection) -> StateItems:
    """Yield counters and links of every port in an output of ibqueryerrors, and its summary."""
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
    for name, of_line in _SUMMARY:
        if match := of_line(line.text):
            path = section.place(line, name)
            yield StateReading((), name, counted(match[1]), "", "now", path, name)
    if match := _THRESHOLDS.match(line.text):
        yield f"counters up to a threshold are not printed: {match[1].strip()}"


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


def is_perfquery(section: PrintedSection) -> bool:
    """Return whether a text is of perfquery: an early line heads a port's counters, or has dots before a count."""
    for line in section.lines[:200]:
        field = _FIELD.fullmatch(line.text)
        if _header(line.text) or (field and ":.." in line.text and counter_of(field[1])):
            return True
    return False


def read_perfquery(section: PrintedSection) -> StateItems:
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
