"""Outputs of which little is read, or nothing: ``ip link show``, and the RAS status of RCCL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.documents.printed_values import value_of
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state.collected import StateItems

_LINK = re.compile(r"[0-9]+: ([^:@\s]+)(?:@\S+)?: <([A-Z0-9_,-]*)> (.*)")
_RAS_TEXT = re.compile(r"^(?:NCCL|RCCL) version [^\n]*\n(?:[^\n]*\n){0,12}?Job summary\s*$", re.MULTILINE)
_RAS_JSON = re.compile(r'\s*\{\s*"nccl_version"\s*:(?:.|\n){0,600}?"communicators(?:_count)?"\s*:')
_NOT_READ = "the RAS status of RCCL says which ranks answer and nothing of NICs or the network: not read"


def is_ip_link(section: PrintedSection) -> bool:
    """Return whether the first line is that of an interface."""
    return any(_LINK.match(line.text) for line in section.lines[:2])


def read_ip_link(section: PrintedSection) -> StateItems:
    """Yield the MTU and the state of each interface."""
    for line in section.lines:
        match = _LINK.match(line.text)
        words = match[3].split() if match else []
        for name, word in zip(words[::2], words[1::2], strict=False):
            if match and name in ("mtu", "state"):
                path = section.place(line, name)
                unit = "bytes" if name == "mtu" else ""
                yield StateReading((("device", match[1]),), name, value_of(word), unit, "now", path, name)


def is_ras(section: PrintedSection) -> bool:
    """Return whether a text is a status of RCCL's service for reliability."""
    head = section.head
    return bool(_RAS_TEXT.search(head) or _RAS_JSON.match(head))


def read_ras(section: PrintedSection) -> StateItems:
    """Yield why nothing of it is read."""
    yield section.problem(section.lines[0], _NOT_READ)
