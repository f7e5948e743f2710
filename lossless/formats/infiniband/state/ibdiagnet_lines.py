"""``ibdiagnet2.pm`` and ``ibdiagnet2.log``: the counters of every port, findings of each check; ibdiagnet's values.

``ibdiagnet2.pm`` has a counter a line, below a line that names the port: ``Port=2 Lid=0x0599
GUID=0x0011223344550001 Device=54000 Port Name=leaf1/U1/P2`` between two lines of dashes, then
``symbol_error_counter=0x0004``; ``NA`` where the device does not have the counter. Those with ``_extended`` have 64
bits. Source: facebookresearch/gcm gcm/health_checks/checks/check_ib_port_errors.py @1b7bde9 and the samples of its
tests.

GUIDs have one length in all files of ibdiagnet. A counter that a device does not have is ``NA`` or ``N/A``; in a
table it is also -1 or -2 in 64 bits, as decimal or as hexadecimal (HyungKwang/My-Programing
check_ib_link_status_v45.py @c7c8a97: ``0xfffffffffffffffe`` of devices with FDR, ``-1`` by ibdiagnet 2.8.1).

The log, or the output of ``ibdiagnet``, has findings of each check, slow links, counters that increased:
``-E- Link: A<-->B - Unexpected actual link speed 2.5 (enable_speed1="2.5 or 5 or 10", ... therefore final speed
should be 10)``, ``-E- A - "port_rcv_errors" increased during the run (difference value=117,...)``; in the summary a
line for each stage has its warnings and errors: ``-I- Speed / Width checks 0 1``. A check of counters has the port
and below it a table: ``-E- lid=0x0008 dev=51000 S.../N.../P27``, ``port_xmit_discard : 65535 (overflow)``. Ports
keep their names of ibdiagnet, ``S<GUID of the system>/N<GUID of the node>/P20``. Sources: NCAR/ops_tracking_toolkit
opstt/ib_diagnostics.py @188d6e3, and a log of a fabric in public notes. All warnings and errors are counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibqueryerrors import counter_of, counter_reading, is_extended
from lossless.ground.basics.records import UNKNOWN, Unknown
from lossless.ground.documents.printed_lines import measured, value_of
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


_LINE = re.compile(r"\s*-([IWE])- (.*)")
_LINK = re.compile(r"(?>Link: (.+?)<-->)(.+?) - Unexpected actual link speed ([0-9.]{1,9})\b")
_SHOULD = re.compile(r"speed should be ([0-9.]{1,9})\)\Z")
_INCREASE = re.compile(r"(\S+) - \"(\w+)\" increased during the run \(difference value=([0-9]{1,20})\b.*")
_STAGE = re.compile(r"(\S++(?:\s++\S++)*?)\s\s++([0-9]{1,9})\s++([0-9]{1,9})(?:\s\s|\Z)")
_CHECKED = re.compile(r"lid=(0x[0-9a-fA-F]{1,4}) dev=[0-9]+ (\S+/P([0-9]{1,3}))")
_COUNTED = re.compile(r"\s*(\w+)\s*: ([0-9]{1,20})(?: \(overflow\))?\s*")
_LEVELS = {"W": "warnings", "E": "errors"}


def is_log(section: PrintedSection) -> bool:
    """Return whether a text is a log of ibdiagnet: one of the first lines begins with a level (``-E-``)."""
    return any(_LINE.match(line.text) for line in section.lines[:300])


def read_log(section: PrintedSection) -> StateItems:
    """Yield readings of links, counters and stages in a log of ibdiagnet, and its numbers of warnings and errors."""
    first: dict[str, PrintedLine] = {}
    times: dict[str, int] = {}
    port: Identity = ()
    for line in section.lines:
        match = _LINE.match(line.text)
        if match is None:
            counted = _COUNTED.fullmatch(line.text) if port else None
            if counted is not None:
                value, place = int(counted[2]), section.place(line)
                yield counter_reading(port, counted[1], value, place, extended=is_extended(counted[1]))
            continue
        text = match[2].rstrip()
        checked = _CHECKED.fullmatch(text)
        port = (("lid", str(int(checked[1], 16))), ("port", checked[3])) if checked else ()
        path = section.place(line)
        if match[1] in _LEVELS:
            first.setdefault(match[1], line)
            times[match[1]] = times.get(match[1], 0) + 1
            yield from _message(text, path)
        elif stage := _STAGE.match(text):
            for name, count in zip(_LEVELS.values(), stage.groups()[1:], strict=True):
                yield said((("stage", stage[1]),), name, int(count), (*path, name))
    for level, name in _LEVELS.items():
        if level in times:
            yield said((("source", "ibdiagnet"),), name, times[level], section.place(first[level], name))


def _message(text: str, path: Path) -> StateItems:
    if link := _LINK.match(text):
        identity = (("link", f"{link[1]}<-->{link[2]}"),)
        yield said(identity, "speed", measured(link[3]), (*path, "speed"))
        rate = _SHOULD.search(text, link.end())
        should = f"should be {rate[1]}" if rate else "slower than both ends can be"
        yield said(identity, "slower_than_possible", should, (*path, "should be"))
    elif increase := _INCREASE.fullmatch(text):
        counter = counter_of(increase[2])
        name = f"{counter.name if counter else increase[2]}_in_run"
        unit = counter.unit if counter else ""
        port = (("object", increase[1]),)
        yield StateReading(port, name, int(increase[3]), unit, "period", (*path, increase[2]), increase[2])
