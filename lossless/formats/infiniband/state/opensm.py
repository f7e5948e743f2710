"""Files of opensm beside captures: its log and a partitions.conf, with the definition of each partition as readings.

Of the log: how often it contains each error, when first and last, and on which paths.

``Mar 11 19:32:26 717944 [EC430700] 0x01 -> log_send_error: ERR 5411: DR SMP Send completed with error``: the year is
not logged; lines that are indented continue the one before. A line whose day or time does not exist is not read as one.
Source: linux-rdma/opensm osm_log.c (osm_log).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.read.partitions import looks_like_partitions, read_partitions
from lossless.ground.basics.limits import DIGITS
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_DAY = (
    r"(?:(?:Jan|Mar|May|Jul|Aug|Oct|Dec) (?:[ 0][1-9]|[12][0-9]|3[01])"
    r"|(?:Apr|Jun|Sep|Nov) (?:[ 0][1-9]|[12][0-9]|30)|Feb (?:[ 0][1-9]|[12][0-9]))"
)
_LINE = re.compile(
    rf"\s*({_DAY} (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]) ([0-9]{{6}}) "
    r"\[[0-9A-Fa-f]{1,16}\] 0x[0-9A-Fa-f]{2} -> (.*)"
)
_ERROR = re.compile(r"(\w+): ERR ([0-9A-F]{4}): (.*)")
_PATH = re.compile(r"Initial path = ([0-9]+(?:,[0-9]+)*)")
_ATTRIBUTE = re.compile(r"\b(?:Timeout while getting attribute 0x[0-9A-Fa-f]+ \(|SubnGet\(|SubnSet\()(\w+)\)")
_COUNTS = {"error": "count", "path": "messages_of_path", "attribute": "errors_of_attribute"}


class ErrorTally(NamedTuple):
    """The count of an error, path or attribute in a log of opensm; first and last time, place and text of the first."""

    times: int
    path: Path
    message: str
    first: str
    last: str


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is a log of opensm: one of the first lines has time, thread and level as it writes them."""
    return any(map(_LINE.fullmatch, (line.text for line in section.lines[:50])))


def read(section: PrintedSection) -> StateItems:
    """Yield how often, first and last opensm logged each error, path (``Initial path``) and attribute of an error."""
    tallies: dict[tuple[str, str], ErrorTally] = {}
    for line in section.lines:
        match = _LINE.fullmatch(line.text)
        if match is None:
            continue
        time, text = f"{match[1]}.{match[2]}", match[3]
        error, path, attribute = _ERROR.match(text), _PATH.search(text), _ATTRIBUTE.search(text)
        if error:
            _add(tallies, ("error", error[2]), section.place(line), error[3], time)
        if path:
            _add(tallies, ("path", path[1]), section.place(line), text, time)
        if error and attribute:
            _add(tallies, ("attribute", f"{error[2]} {attribute[1]}"), section.place(line), text, time)
    for part, tally in tallies.items():
        yield from _readings((part,), _COUNTS[part[0]], tally)


def _add(
    tallies: dict[tuple[str, str], ErrorTally], key: tuple[str, str], path: Path, message: str, time: str
) -> None:
    tally = tallies.get(key, ErrorTally(0, path, message, time, time))
    tallies[key] = tally._replace(times=tally.times + 1, last=time)


def _readings(identity: Identity, name: str, tally: ErrorTally) -> StateItems:
    path = (*tally.path, identity[0][1])
    yield StateReading(identity, name, tally.times, "messages", "unknown", path, tally.message)
    yield StateReading(identity, "first_logged", tally.first, "", "now", path, tally.message)
    yield StateReading(identity, "last_logged", tally.last, "", "now", path, tally.message)


_READ = ("pkey", "rate", "mtu", "sl", "scope", "default")
_LONG = re.compile(rf"(?<![0-9])[0-9]{{{DIGITS + 1}}}")


def is_partitions(section: PrintedSection) -> bool:
    """Return whether the beginning of a text is a partitions.conf, without a number that is too long."""
    return not _LONG.search(section.head) and looks_like_partitions(section.head)


def read_definitions(section: PrintedSection) -> StateItems:
    """Yield P_Key, rate, MTU, SL, scope and default membership of each partition; a repeated name has ``#2`` behind."""
    for line in section.lines:
        if _LONG.search(line.text):
            yield section.problem(line, f"a number of more than {DIGITS} digits, the most that is read")
            return
    document, _ = read_partitions(section.text, section.file)
    for name, stated in document.data.items():
        for key in _READ:
            if key in stated:
                yield StateReading((("partition", name),), key, stated[key], "", "now", (name, key), key)
