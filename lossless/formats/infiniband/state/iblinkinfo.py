"""Reads ``iblinkinfo``: the links of every CA and switch, below a line with its name.

``CA: n02 HCA-1:`` is printed without a GUID, ``Switch: 0x506b4b0300820910 NAME:`` with it, the lines of a CA's ports
the other way round. With ``--line`` each port has GUID and name on its own line. Source: linux-rdma/rdma-core
infiniband-diags/iblinkinfo.c @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.links import LINK, link_readings

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import Identity

_NODE = re.compile(r"\s*(?:[<>] )?(Switch|CA|Router): (?:(0x[0-9a-fA-F]{1,16}) )?(.*?):\s*")


def is_form(section: PrintedSection) -> bool:
    """Return whether one of the first lines is a link, and none is an error of ibqueryerrors."""
    lines = [line.text for line in section.lines[:300]]
    return any(map(LINK.fullmatch, lines)) and not any(
        text.lstrip().startswith("Link info:") for text in lines
    )


def read(section: PrintedSection) -> StateItems:
    """Yield every link."""
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
