"""``ibdiagnet2.pm``: the counters of every port, one a line, below a line that names the port; ibdiagnet's values.

``Port=2 Lid=0x0599 GUID=0x0011223344550001 Device=54000 Port Name=leaf1/U1/P2`` between two lines of dashes, then
``symbol_error_counter=0x0004``; ``NA`` where the device does not have the counter. Those with ``_extended`` have 64
bits. Source: facebookresearch/gcm gcm/health_checks/checks/check_ib_port_errors.py @1b7bde9 and the samples of its
tests.

GUIDs have one length in all files of ibdiagnet. A counter that a device does not have is ``NA`` or ``N/A``; in a
table it is also -1 or -2 in 64 bits, as decimal or as hexadecimal (HyungKwang/My-Programing
check_ib_link_status_v45.py @c7c8a97: ``0xfffffffffffffffe`` of devices with FDR, ``-1`` by ibdiagnet 2.8.1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibqueryerrors import counter_reading, is_extended
from lossless.ground.basics.records import UNKNOWN, Unknown
from lossless.ground.documents.printed_lines import value_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems


_PORT = re.compile(
    r"Port=([0-9]{1,5}) Lid=(0x[0-9a-fA-F]{1,8}|[0-9]{1,9}) GUID=(0x[0-9a-fA-F]{1,16})(?: .*?)? Port Name=(.*)"
)
_COUNTER = re.compile(r"([A-Za-z][\w\[\]]*)\s*=\s*(\S+)")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is an ibdiagnet2.pm: one of the first lines names a port, and a counter is soon below."""
    lines = [line.text.strip() for line in section.lines[:300]]
    ports = [at for at, text in enumerate(lines) if _PORT.match(text)]
    return any(_COUNTER.fullmatch(text) for at in ports for text in lines[at + 1 : at + 4])


def read(section: PrintedSection) -> StateItems:
    """Yield the counters of every port of an ibdiagnet2.pm, and the port's name in ibdiagnet."""
    identity: Identity = ()
    for line in section.lines:
        text = line.text.strip()
        if port := _PORT.match(text):
            identity = (("guid", guid_of(port[3])), ("lid", str(int(port[2], 0))), ("port", port[1]))
            yield said(identity, "port_name", port[4].strip(), section.place(line, "Port Name"))
        elif (counter := _COUNTER.fullmatch(text)) and identity:
            yield from _counter(section, line, identity, counter)
        elif text.strip("-") and not text.startswith("#"):
            yield section.problem(line, f"no counter of ibdiagnet2.pm: {text!r}")


def _counter(
    section: PrintedSection, line: PrintedLine, identity: Identity, counter: re.Match[str]
) -> StateItems:
    name, word = counter[1], counter[2]
    value = count_of(word)
    if value is None:
        yield section.problem(line, f"{name}: expected a count, not {word!r}", word)
        value = UNKNOWN
    yield counter_reading(identity, name, value, section.place(line, name), extended=is_extended(name))


_NOT_THERE = 2**64 - 2
_GUID_DIGITS = 18


def guid_of(word: str) -> str:
    """Return a GUID as ``0x`` and 16 digits, however many are printed; any other text without blanks around it."""
    digits = word.strip().lower().removeprefix("0x")
    is_number = 0 < len(digits) <= _GUID_DIGITS - 2 and all(digit in "0123456789abcdef" for digit in digits)
    return f"{int(digits, 16):#0{_GUID_DIGITS}x}" if is_number else word.strip()


def count_of(word: str) -> int | Unknown | None:
    """Return the count of a counter, UNKNOWN where the device does not have it, None where the word is no count."""
    value = value_of(word)
    if isinstance(value, Unknown):
        return UNKNOWN
    if not isinstance(value, int):
        return None
    return value if 0 <= value < _NOT_THERE else UNKNOWN


def said(identity: Identity, name: str, value: Maybe[int | float | str], path: Path) -> StateReading:
    """Return a reading of a current value without a unit, whose last part of the path is the printed name."""
    return StateReading(identity, name, value, "", "now", path, str(path[-1]))
