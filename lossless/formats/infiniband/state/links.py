"""Reads the line of a link, as ``iblinkinfo`` and ``ibqueryerrors -r`` print it.

``2 17[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 4 1[ ] "n02 HCA-1" ( Could be 50 Gbps)``; for a down port
the tools print no width, speed or peer, since its values are invalid (C14-24.2.1), and FDR10 follows its speed,
``4X 10.0 Gbps (FDR10)``. Source: linux-rdma/rdma-core infiniband-diags/iblinkinfo.c and
ibqueryerrors.c print_port_config @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import Identity

LINK = re.compile(
    r"\s*(?:Link info:)?\s*(?:(0x[0-9a-fA-F]{1,16})\s+)?(?:\"([^\"]*)\"\s+)?([0-9]+)\s+([0-9]+)\[[\s0-9]*\]\s*"
    r"==\(\s*([^()]*?(?:\(FDR10\)[^()]*?)?)\s*\)(?:\s*\([^)]*\))*==>\s*(.*?)\s*"
)
"""Groups: GUID of the port, name of its node, LID, port, state of the link, peer."""
_STATE = re.compile(r"(?:([0-9]+X)\s+(.*?)\s+)?([A-Za-z?()0-9]+)/\s*([A-Za-z?()0-9]+)")
_PEER = re.compile(
    r"(?:(0x[0-9a-fA-F]{1,16})\s+)?([0-9]+)\s+([0-9]+)\[[\s0-9]*\]\s*\"(.*)\"\s*\(\s*(.*?)\s*\)"
)


def link_readings(match: re.Match[str], node: Identity, path: Path) -> StateItems:
    """Yield state, width, speed and peer of a port; ``node`` is the identity from the lines above."""
    guid = (("guid", match[1]),) if match[1] else ()
    identity: Identity = (*node, *guid, ("lid", match[3]), ("port", match[4]))
    for name, value, unit in (*_state(match[5]), *_peer(match[6])):
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
    match = _PEER.fullmatch(text)
    if match is None:
        return []
    said: list[tuple[str, int | str, str]] = [
        ("peer", match[4].strip(), ""),
        ("peer_lid", int(match[2][:9]), ""),
        ("peer_port", int(match[3][:9]), ""),
    ]
    if match[1]:
        said.append(("peer_guid", match[1], ""))
    if match[5]:
        said.append(("slower_than_possible", match[5], ""))
    return said
