"""Reads ``ibnetdiscover``: a topology file, or with ``-p`` one line for each port.

``SW  1719 10 0x7cfe9003009ce5b0 4x EDR - CA   134  1 0x7cfe9003003b4bde ( 'leaf' - 'o0001 HCA-1' )``; without a peer
only the name is printed, with or without quotes, and width and speed are those that the down port reports. In a
topology file a switch or CA is a line with its GUID, then one for each link; terminals lose the tabs between its words.
Source: linux-rdma/rdma-core infiniband-diags/ibnetdiscover.c @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_PORT = re.compile(
    r"\s*(CA|SW|RT|\?\?)\s+([0-9]+)\s+([0-9]+)\s+(0x[0-9a-fA-F]{1,16})\s+([0-9?]+x|\?\?\?)\s+(\S++)(.*)"
)
_LINKED = re.compile(
    r"\s+-\s+(CA|SW|RT|\?\?)\s+([0-9]+)\s+([0-9]+)\s+(0x[0-9a-fA-F]{1,16})\s+\(\s*'(.*)'\s*\)\s*"
)
_NODE = re.compile(r"(Switch|Ca|Rt)\s*([0-9]+)\s*\"[SHR?]-([0-9a-f]{16})\"\s*#\s*\"(.*)\"(.*)")
_LINK = re.compile(
    r"\[([0-9]+)\](?:\[[^\]]*\])?(?:\(([0-9a-f]+)\))?\s*"
    r"\"([SHR?])-([0-9a-f]{16})\"\[([0-9]+)\](?:\[[^\]]*\])?(?:\s*\(([0-9a-f]+)\))?\s*#\s*(.*)"
)
_COMMENT = re.compile(r"(?:lid ([0-9]+) lmc [0-9]+ )?\"(.*)\" lid ([0-9]+) (\S+)")
_LID = re.compile(r"\blid ([0-9]+)")
_BESIDE = re.compile(
    r"\s*(?:#|=~=~|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|Chassis |Spine |Line |Non-Chassis|$)"
)
_WIDTH = re.compile(r"([0-9]+x)(\S+)")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is of ibnetdiscover: among its first lines is a port of ``-p`` or a node."""
    lines = [line.text for line in section.lines[:200]]
    return any(_PORT.match(text) or _NODE.match(text) for text in lines)


def read(section: PrintedSection) -> StateItems:
    """Yield speed and peer of every port in an output of ibnetdiscover."""
    node: Identity = ()
    for line in section.lines:
        if match := _PORT.match(line.text):
            yield from _port(match, section.place(line))
        elif match := _NODE.match(line.text):
            lid = _LID.search(match[5])
            node = (("guid", f"0x{match[3]}"), ("node", match[4]), *((("lid", lid[1]),) if lid else ()))
        elif match := _LINK.match(line.text):
            yield from _link(section, match, node, line)
        elif not _BESIDE.match(line.text):
            is_last = line.number == section.lines[-1].number
            says = "the output is cut here" if is_last else "no port or node of ibnetdiscover"
            yield section.problem(line, f"{says}: {line.text.strip()!r}")


def _port(match: re.Match[str], path: Path) -> StateItems:
    """Yield speed and peer of the port in a line of ``ibnetdiscover -p``."""
    rest = _LINKED.fullmatch(match[7])
    name, between, peer = rest[5].rpartition("' - '") if rest else ("", "", "")
    if not between:
        rest = None
    name = name if rest else match[7].strip().removeprefix("'").removesuffix("'")
    place: Identity = (("guid", match[4]), ("lid", match[2]), ("port", match[3]), ("node", name.strip()))
    unknown = "?" in match[5] or "?" in match[6]
    yield _reading(place, "speed", UNKNOWN if unknown else f"{match[5]} {match[6]}", path)
    yield _reading(place, "peer", peer.strip() if rest else None, path)
    if rest:
        yield _reading(place, "peer_lid", int(rest[2][:9]), path)
        yield _reading(place, "peer_port", int(rest[3][:9]), path)
        yield _reading(place, "peer_guid", rest[4], path)


def _link(section: PrintedSection, match: re.Match[str], node: Identity, line: PrintedLine) -> StateItems:
    """Yield peer and speed of the port in a link line of a topology file."""
    comment = _COMMENT.match(match[7])
    own: Identity = (("lid", comment[1]),) if comment and comment[1] else ()
    path = section.place(line)
    place: Identity = (*node, ("port", match[1]), *own)
    yield _reading(place, "peer_guid", f"0x{match[4]}", path)
    yield _reading(place, "peer_port", int(match[5][:9]), path)
    if comment is None:
        yield section.problem(line, f"the link is cut: {line.text.strip()!r}")
        return
    yield _reading(place, "peer", comment[2].strip(), path)
    yield _reading(place, "peer_lid", int(comment[3][:9]), path)
    speed = _WIDTH.fullmatch(comment[4])
    yield _reading(
        place, "speed", f"{speed[1]} {speed[2]}" if speed and "?" not in comment[4] else UNKNOWN, path
    )


def _reading(place: Identity, name: str, value: Maybe[int | str], path: Path) -> StateReading:
    return StateReading(place, name, value, "", "now", (*path, name), name)
