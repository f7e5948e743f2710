"""Common parts of the debug logs of NCCL and UCX: the prefix with the host, messages over several lines, settings.

A terminal, a mail or a pod's log breaks long lines: a line without the prefix of a process continues the one before it,
with a blank between them or without one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import counted
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItem, StateItems

_PROCESS = re.compile(
    r"(?:^|[\s\]|])([A-Za-z0-9_][\w.-]{0,252}):[0-9]+:[0-9]+ \[-?[0-9]+\]"
    r"|\[((?=[\w.-]*[A-Za-z])[\w.-]{1,253}?)\s*:[0-9]+\s*:[0-9]+(?::[0-9]+)?\]"
)
"""``host:pid:tid [0]`` of NCCL, ``[host:pid:0:tid]`` of UCX; not ``[10:46:33]``."""
_ALONE = re.compile(
    r"\s*(?:\[(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[^\]]*|[0-9]{6,}\.[0-9]+)\]|(?:NCCL|RCCL) version |ib_mlx5_log\.c:|NET/IB)"
)
"""The beginning of a message without the prefix of a process."""
_MOST_LINES = 4
_SET = re.compile(r"\b((?:NCCL|RCCL|UCX)_[A-Z0-9_]+) set (?:by environment )?to (\S.*?)\s*$")
_NAMES = {
    "NCCL_IB_TC": "traffic_class",
    "NCCL_IB_TIMEOUT": "ib_timeout",
    "NCCL_IB_RETRY_CNT": "ib_retry_count",
    "NCCL_IB_QPS_PER_CONNECTION": "qps_per_connection",
    "NCCL_IB_GID_INDEX": "gid_index",
    "NCCL_IB_SL": "service_level",
    "NCCL_IB_HCA": "ib_hca",
    "UCX_IB_TRAFFIC_CLASS": "traffic_class",
    "UCX_IB_GID_INDEX": "gid_index",
    "UCX_IB_SL": "service_level",
    "UCX_NET_DEVICES": "net_devices",
}
"""Settings that mean the same in both libraries; all others have the name of their variable, in small letters."""


class LogMessage(NamedTuple):
    """One message of a log: the host that wrote it, its first line, and the texts of all its lines."""

    host: str
    line: PrintedLine
    texts: tuple[str, ...]

    def joined(self, *, glue: str = " ") -> str:
        """Return the lines of the message joined by ``glue``."""
        return glue.join(text.strip() if glue else text for text in self.texts)

    def reading(
        self, name: str, value: Maybe[int | str], identity: Identity = (), heading: str = ""
    ) -> StateReading:
        """Return a reading of a value in the message."""
        host: Identity = (("host", self.host),) if self.host else ()
        path: Path = ("log", self.line.number, heading or name)
        return StateReading((*host, *identity), name, value, "", "now", path, heading or name)


def messages(section: PrintedSection) -> Iterator[LogMessage]:
    """Yield the messages of a log, each with at most three lines that continue it."""
    hosts = [(line, _PROCESS.search(line.text)) for line in section.lines]
    starts = [
        index
        for index, (line, process) in enumerate(hosts)
        if process or _ALONE.match(line.text) or not index or not _continues(section, index)
    ]
    for start, end in pairwise([*starts, len(hosts)]):
        line, process = hosts[start]
        body = [other.text for other, _ in hosts[start : min(end, start + _MOST_LINES)]]
        yield LogMessage((process[1] or process[2]) if process else "", line, tuple(body))


def _continues(section: PrintedSection, index: int) -> bool:
    """Return whether a line belongs to the one before it: neither is blank."""
    return bool(section.lines[index].text.strip() and section.lines[index - 1].text.strip())


def settings(message: LogMessage) -> StateItems:
    """Yield the variable that a message reports as set, and the DSCP and ECN bits of a traffic class."""
    # What follows may be the output of another program: only a value that is missing is looked for there.
    match = _SET.search(message.texts[0]) or _SET.search(" ".join(message.texts[:2]))
    if match is not None:
        yield from setting(message, match[1], match[2])


def setting(message: LogMessage, variable: str, word: str) -> StateItems:
    """Yield a variable; NCCL prints a full stop after a number."""
    number = counted(word.rstrip("."))
    name = _NAMES.get(variable, variable.partition("_")[2].lower())
    yield message.reading(name, word if number is UNKNOWN else number, (), variable)
    if name == "traffic_class" and number is not UNKNOWN and number < 256:
        # The byte is DSCP and the two bits of ECN (RFC 2474, RFC 3168).
        yield message.reading("dscp", number >> 2, (), variable)
        yield message.reading("ecn_bits", number & 3, (), variable)


def once(items: Iterable[StateItem]) -> StateItems:
    """Yield items; a reading that several processes of one host repeat only the first time."""
    seen = set()
    for item in items:
        if isinstance(item, StateReading):
            key = (item.identity, item.name, item.value)
            if key in seen:
                continue
            seen.add(key)
        yield item
