"""``ibdiagnet2.net_dump`` and ``.net_dump_ext``: the ports of every switch as tables, their columns divided by colons.

In net_dump a line ``"MF0;leaf1:MQM8700/U1", Mellanox, 0x1070fd03001adeb4, LID 24328`` is above each table, and a down
port has ``N/A`` or blanks. In net_dump_ext one table has all ports, with error rates. LSA is the speed of one lane in
Gb/s, LWA the width. Columns are identified by their headings. Source: Mellanox/ufm_sdk_3.0
plugins/UFM_NDT_Plugin/ufm_sim_web_service/topo_diff/topo_diff.py @3e96418 shows a net_dump, HyungKwang/My-Programing
check_ib_link_status_v45.py @c7c8a97 the columns that later versions omit between two switches, and net_dump_ext.

``ibdiagnet2.sharp_an_info``: capabilities and settings of SHARP's aggregation node in each switch,
``SW_GUID=0xfc6a1c0300f86080`` and, below it, ``name = value``. Source: suhrobdomoiZ/yadro-test-2026 internal/parser and
other public readers of such files. The trees of SHARP (ibdiagnet2.sharp) and its counters (ibdiagnet2.sharp_pm) are in
no public file, and are not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibdiagnet_lines import guid_of, said
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import counted, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_SWITCH = re.compile(r"\"(.{1,255}?)\", [^,]*, (0x[0-9a-fA-F]{1,16}), LID ([0-9]{1,9})\s*")
_HEADINGS = re.compile(r"(?:Ty\s*:\s*)?#\s*:\s*(?:IB#|#IB)\s*:.*")
_STATES = {"ACT": "Active", "DOWN": "Down", "INIT": "Initialize", "ARM": "Armed"}
_TEXTS = {"FEC mode": "fec_mode", "Neighbor Guid": "peer_guid", "Neighbor Description": "peer"}
_MANTISSA = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?e[+-]?[0-9]{1,3}", re.IGNORECASE)
_RATES = {"Raw BER": "raw_ber", "Effective BER": "effective_ber", "Symbol BER": "symbol_ber"}


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is an ibdiagnet2.net_dump or .net_dump_ext: one of the first lines has the headings."""
    return any(_HEADINGS.fullmatch(line.text.strip()) for line in section.lines[:300])


def read(section: PrintedSection) -> StateItems:
    """Yield state, width, speed, peer and error rates of every port in net_dump or net_dump_ext."""
    switch: Identity = ()
    headings: list[str] = []
    for line in section.lines:
        text = line.text.strip()
        if match := _SWITCH.fullmatch(text):
            switch = (("node", match[1]), ("guid", guid_of(match[2])), ("lid", match[3]))
        elif _HEADINGS.fullmatch(text):
            headings = _cells(text)
        elif headings and text and not text.startswith("#"):
            cells = _cells(text)
            if len(cells) == len(headings):
                yield from _port(switch, dict(zip(headings, cells, strict=True)), section.place(line))
            else:
                yield section.problem(line, f"a row has {len(cells)} cells, and {len(headings)} headings")


def _cells(text: str) -> list[str]:
    """Return the cells of a line, divided by colons outside quotes, as names of nodes have colons."""
    parts = text.split('"')
    # Of an odd number of quotes the first opens nothing. A line has no line feed: it stands for a colon inside.
    for at in range(len(parts) % 2, len(parts), 2):
        parts[at] = parts[at].replace(":", "\n")
    return [cell.replace("\n", ":").strip() for cell in '"'.join(parts).split(":")]


def _port(switch: Identity, cells: Mapping[str, str], path: Path) -> StateItems:
    number = cells.get("IB#") or cells.get("#IB") or ""
    identity: Identity = (*(switch or _own(cells)), ("port", number.strip()))
    state = cells.get("Sta", "")
    yield said(identity, "state", _STATES.get(state, state or UNKNOWN), (*path, "Sta"))
    yield said(identity, "phys_state", cells.get("PhysSta", "").title().replace(" ", ""), (*path, "PhysSta"))
    width, lane = cells.get("LWA", "").upper(), cells.get("LSA", "")
    if value_of(width) is not UNKNOWN and value_of(lane) is not UNKNOWN:
        yield said(identity, "width", width, (*path, "LWA"))
        speed = f"{width} {lane} Gbps" if isinstance(counted(lane), int) else f"{width} {lane}"
        yield said(identity, "speed", speed, (*path, "LSA"))
    yield from _rest(identity, cells, path)


def _own(cells: Mapping[str, str]) -> Identity:
    """Return the identity of the node in a row of net_dump_ext, whose LID is printed twice: ``10 (0xa)``."""
    parts = (
        ("node", cells.get("Node Desc", "").strip('"')),
        ("guid", guid_of(cells.get("GUID", ""))),
        ("lid", cells.get("LID", "").partition(" ")[0]),
    )
    return tuple((kind, name) for kind, name in parts if name)


def _rest(identity: Identity, cells: Mapping[str, str], path: Path) -> StateItems:
    for heading, name in _TEXTS.items():
        word = cells.get(heading, "").strip('"')
        if value_of(word) is not UNKNOWN:
            yield said(identity, name, guid_of(word) if name == "peer_guid" else word, (*path, heading))
    for heading, name in _RATES.items():
        if heading in cells:
            yield said(identity, name, _rate(cells[heading]), (*path, heading))
    lid = counted(cells.get("NLID", ""))
    if isinstance(lid, int):
        yield said(identity, "peer_lid", lid, (*path, "NLID"))


def _rate(word: str) -> Maybe[int | float | str]:
    """Return a bit error rate; ibdiagnet prints ``15e-255`` for no rate."""
    return float(word) if _MANTISSA.fullmatch(word) else value_of(word)


_SHARP_SWITCH = re.compile(r"SW_GUID\s*=\s*(\S+)")
_SHARP_SETTING = re.compile(r"([A-Za-z][\w\[\]]*)\s*=\s*+(.*)")


def is_sharp_nodes(section: PrintedSection) -> bool:
    """Return whether a text is an ibdiagnet2.sharp_an_info: one of the first lines is a ``SW_GUID``."""
    return any(_SHARP_SWITCH.fullmatch(line.text.strip()) for line in section.lines[:300])


def read_sharp_nodes(section: PrintedSection) -> StateItems:
    """Yield the capabilities and settings of the SHARP aggregation node in each switch."""
    identity: Identity = ()
    for line in section.lines:
        text = line.text.strip()
        if switch := _SHARP_SWITCH.fullmatch(text):
            identity = (("guid", guid_of(switch[1])),)
        elif (setting := _SHARP_SETTING.fullmatch(text)) and identity:
            yield said(identity, f"sharp_{setting[1]}", value_of(setting[2]), section.place(line, setting[1]))
        elif text.strip("-") and not text.startswith("#"):
            yield section.problem(line, f"no setting of an aggregation node: {text!r}")
