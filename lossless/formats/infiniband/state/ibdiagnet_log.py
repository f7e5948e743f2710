"""``ibdiagnet2.log``, or the output of ``ibdiagnet``: findings of each check, slow links, counters that increased.

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

from lossless.formats.infiniband.state.ibdiagnet_counters import said
from lossless.formats.infiniband.state.ibqueryerrors import counter_of, counter_reading, is_extended
from lossless.ground.documents.printed_lines import measured
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_LINE = re.compile(r"\s*-([IWE])- (.*)")
_LINK = re.compile(r"(?>Link: (.+?)<-->)(.+?) - Unexpected actual link speed ([0-9.]{1,9})\b")
_SHOULD = re.compile(r"speed should be ([0-9.]{1,9})\)\Z")
_INCREASE = re.compile(r"(\S+) - \"(\w+)\" increased during the run \(difference value=([0-9]{1,20})\b.*")
_STAGE = re.compile(r"(\S++(?:\s++\S++)*?)\s\s++([0-9]{1,9})\s++([0-9]{1,9})(?:\s\s|\Z)")
_CHECKED = re.compile(r"lid=(0x[0-9a-fA-F]{1,4}) dev=[0-9]+ (\S+/P([0-9]{1,3}))")
_COUNTED = re.compile(r"\s*(\w+)\s*: ([0-9]{1,20})(?: \(overflow\))?\s*")
_LEVELS = {"W": "warnings", "E": "errors"}


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is a log of ibdiagnet: one of the first lines begins with a level (``-E-``)."""
    return any(_LINE.match(line.text) for line in section.lines[:300])


def read(section: PrintedSection) -> StateItems:
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
