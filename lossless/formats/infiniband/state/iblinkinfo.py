"""Reads ``iblinkinfo``: the links of every CA and switch, and the lines of links that ``ibqueryerrors -r`` prints too.

``CA: n02 HCA-1:`` is printed without a GUID, ``Switch: 0x506b4b0300820910 NAME:`` with it, the lines of a CA's ports
the other way round. With ``--line`` each port has GUID and name on its own line. Source: linux-rdma/rdma-core
infiniband-diags/iblinkinfo.c @691953d.

``2 17[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 4 1[ ] "n02 HCA-1" ( Could be 50 Gbps)``; for a down port
the tools print no width, speed or peer, since its values are invalid (C14-24.2.1), and FDR10 follows its speed,
``4X 10.0 Gbps (FDR10)``. Source: linux-rdma/rdma-core infiniband-diags/iblinkinfo.c and
ibqueryerrors.c print_port_config @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems


_NODE = re.compile(r"\s*(?:[<>] )?(Switch|CA|Router): (?:(0x[0-9a-fA-F]{1,16}) )?(.*?):\s*")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is of iblinkinfo: one of the first lines is a link, and none has ``Link info:``."""
    lines = [line.text for line in section.lines[:300]]
    return any(map(LINK.fullmatch, lines)) and not any(
        text.lstrip().startswith("Link info:") for text in lines
    )


def read(section: PrintedSection) -> StateItems:
    """Yield state, width, speed and peer of every port in an output of iblinkinfo."""
    node: Identity = ()
    for line in section.lines:
        if match := _NODE.fullmatch(line.text):
            guid = (("guid", match[2]),) if match[2] else ()
            node = (("node", match[3].strip()), *guid)
        elif match := LINK.fullmatch(line.text):
            named: Identity = (("node", match[2].strip()),) if match[2] else node
            yield from link_readings(match, named, section.place(line))
        elif line.text.strip() and not line.text.lstrip().startswith("#"):
            yield section.problem(line, f"no link of iblinkinfo: {line.text.strip()!r}")


LINK = re.compile(
    r"\s*(?:Link info:\s*+)?(?:(0x[0-9a-fA-F]{1,16})\s+)?(?:\"([^\"]*)\"\s+)?([0-9]+)\s+([0-9]+)\[[\s0-9]*\]\s*"
    r"==\(\s*+([^()]*+(?:\(FDR10\)[^()]*+)?)\)(?:\s*+\([^)]*+\))*==>\s*+(.*)"
)
"""A link in iblinkinfo and ibqueryerrors -r; groups: port GUID, name of its node, LID, port, link state, peer."""
_STATE = re.compile(r"(?:([0-9]+X)\s(.*\s))?([A-Za-z?()0-9]+)/\s*([A-Za-z?()0-9]+)")
_PEER = re.compile(r"(?:(0x[0-9a-fA-F]{1,16})\s+)?([0-9]+)\s+([0-9]+)\[[\s0-9]*\]\s*\"(.*)\"\s*\(")


def link_readings(match: re.Match[str], node: Identity, path: Path) -> StateItems:
    """Yield state, width, speed and peer of a port of ``node`` by a match of :data:`LINK`."""
    guid = (("guid", match[1]),) if match[1] else ()
    identity: Identity = (*node, *guid, ("lid", match[3]), ("port", match[4]))
    for name, value, unit in (*_state(match[5].rstrip()), *_peer(match[6].rstrip())):
        yield StateReading(identity, name, value, unit, "now", (*path, name), name)


def _state(text: str) -> list[tuple[str, int | str, str]]:
    match = _STATE.fullmatch(text)
    if match is None:
        return []
    said: list[tuple[str, int | str, str]] = [("state", match[3], ""), ("phys_state", match[4], "")]
    if match[1]:
        speed = " ".join(match[2].split())
        said += [("width", match[1], ""), ("speed", f"{match[1]} {speed}", "")]
    return said


def _peer(text: str) -> list[tuple[str, int | str, str]]:
    match = _PEER.match(text) if text.endswith(")") else None
    if match is None:
        return []
    said: list[tuple[str, int | str, str]] = [
        ("peer", match[4].strip(), ""),
        ("peer_lid", int(match[2][:9]), ""),
        ("peer_port", int(match[3][:9]), ""),
    ]
    if match[1]:
        said.append(("peer_guid", match[1], ""))
    if slower := text[match.end() : -1].strip():
        said.append(("slower_than_possible", slower, ""))
    return said
