"""Logs of UCX: completions with an error, transports and devices of endpoints, settings; parts common with NCCL's logs.

``Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)``, then on a line of its own the
request with its peer: ``[rqpn 0xa66 rlid 703]``, or with ``dgid`` and ``tc`` on RoCE. Before UCX 1.6 it was ``Error on
mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry count exceeded (synd 0x15 vend 0x81)``. Sources: openucx/ucx
src/uct/ib/mlx5/ib_mlx5_log.c (@05aee2d for the older form), public logs (openucx/ucx#2973, #5199, #6000, #9590);
syndromes linux-rdma/rdma-core providers/mlx5/cq.c mlx5_handle_error_cqe and mlx5dv.h @691953d.

Common parts are the prefix with the host, messages over several lines, and settings. A terminal, a mail or a pod's
log breaks long lines: a line without the prefix of a process continues the one before it, with a blank between them
or without one.
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
"""The prefix of a process in a log: ``host:pid:tid [0]`` of NCCL, ``[host:pid:0:tid]`` of UCX; not ``[10:46:33]``."""
_ALONE = re.compile(
    r"\s*(?:\[(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[^\]]*|[0-9]{6,}\.[0-9]+)\]|(?:NCCL|RCCL) version |ib_mlx5_log\.c:|NET/IB)"
)
"""The beginning of a message without the prefix of a process."""
_MOST_LINES = 4
_SET = re.compile(r"\b((?:NCCL|RCCL|UCX)_[A-Z0-9_]+) set (?:by environment )?to (\S.*)")
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
"""Names of settings of NCCL and UCX; others are named after their variable, in lower case, without prefix."""


class LogMessage(NamedTuple):
    """One message of a log: the host that wrote it, its first line, and the texts of its lines."""

    host: str
    line: PrintedLine
    texts: tuple[str, ...]

    def joined(self, *, glue: str = " ") -> str:
        """Return the lines of the message joined by ``glue``."""
        return glue.join(text.strip() if glue else text for text in self.texts)

    def reading(
        self, name: str, value: Maybe[int | str], identity: Identity = (), heading: str = ""
    ) -> StateReading:
        """Return a reading of a value in the message, identified by ``identity`` and, if known, the writing host."""
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
        yield from setting(message, match[1], match[2].rstrip())


def setting(message: LogMessage, variable: str, word: str) -> StateItems:
    """Yield the value of an environment variable, of a traffic class also DSCP and ECN bits.

    NCCL prints a full stop after a number.
    """
    number = counted(word.rstrip("."))
    name = _NAMES.get(variable, variable.partition("_")[2].lower())
    yield message.reading(name, word if number is UNKNOWN else number, (), variable)
    if name == "traffic_class" and number is not UNKNOWN and number < 256:
        # The byte is DSCP and the two bits of ECN (RFC 2474, RFC 3168).
        yield message.reading("dscp", number >> 2, (), variable)
        yield message.reading("ecn_bits", number & 3, (), variable)


def once(items: Iterable[StateItem]) -> StateItems:
    """Yield the items of a log; a reading that processes of one host repeat is yielded only the first time."""
    seen = set()
    for item in items:
        if isinstance(item, StateReading):
            key = (item.identity, item.name, item.value)
            if key in seen:
                continue
            seen.add(key)
        yield item


_SIGN = re.compile(
    r"\bUCX {1,4}(?:ERROR|WARN|INFO|DIAG|DEBUG|TRACE)\b|\bib_mlx5_log\.c:[0-9]+|\(synd 0x[0-9a-f]+ vend 0x"
)
_ERROR = re.compile(r"\(synd 0x([0-9A-Fa-f]{1,8}) vend 0x([0-9A-Fa-f]{1,8})")
_ON = re.compile(r"\bon ([A-Za-z]\w*):([0-9]+)(?:/(IB|RoCE)\b)?")
_PEER = re.compile(r"\b(rlid|dlid|dgid|tc|traffic_class|sl|sgix|rqpn)[ =]([0-9A-Za-z:.]+)")
_PEER_NAMES = {
    "dlid": "rlid",
    "dgid": "remote_gid",
    "tc": "traffic_class",
    "sgix": "gid_index",
    "rqpn": "remote_qp",
}
_REQUEST = re.compile(r"\b(?:RC|DCI|UD|SRD) QP 0x[0-9a-f]+ wqe\[")
_LANE = re.compile(r"\b((?:rc|dc|ud)(?:_mlx5|_verbs|_x|x)?)/([A-Za-z]\w*):([0-9]+)")
_ENVIRONMENT = re.compile(r"\bUCX_\* env variables?: (.+)")
_ASSIGNED = re.compile(r"\b(UCX_[A-Z0-9_]+)=(\S+)")
_STATUS = {
    0x01: 1,
    0x02: 2,
    0x04: 4,
    0x05: 5,
    0x06: 6,
    0x10: 7,
    0x11: 8,
    0x12: 9,
    0x13: 10,
    0x14: 11,
    0x15: 12,
    0x16: 13,
    0x22: 16,
}
"""The status of a completion (enum ibv_wc_status) by the syndrome of an mlx5."""


def is_form(section: PrintedSection) -> bool:
    """Return whether a text has a line of UCX's log."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield errors with their peers, devices and settings; equal devices and settings of a host are yielded once."""
    yield from once(_all(section))


def _all(section: PrintedSection) -> Iterator[StateItem]:
    events, failed = 0, {}
    for message in messages(section):
        text = message.joined()
        error = _ERROR.search(text)
        if error:
            events += 1
            failed[message.host] = str(events)
            yield from _completion(message, text, error, str(events))
        if _REQUEST.search(text) and (not error or "[" in text[error.end() :]):
            # The request of an error that was logged on a line of its own.
            yield from _peer(message, text[error.end() :] if error else text, failed.get(message.host, "0"))
        for transport, device, port in dict.fromkeys(_LANE.findall(text)):
            yield message.reading("transport", transport, (("device", device), ("port", port)))
        yield from settings(message)
        environment = _ENVIRONMENT.search(text)
        for variable, word in _ASSIGNED.findall(environment[1]) if environment else ():
            yield from setting(message, variable, word)


def _completion(message: LogMessage, text: str, error: re.Match[str], event: str) -> StateItems:
    syndrome, vendor = int(error[1], 16), int(error[2], 16)
    where: Identity = (("event", event),)
    device = _ON.search(text)
    if device:
        where = (*where, ("device", device[1]), ("port", device[2]))
        if device[3]:
            yield message.reading("link_layer", device[3], where[1:])
    yield message.reading("wc_status", _STATUS.get(syndrome, UNKNOWN), where, "synd")
    yield message.reading("vendor_err", vendor, where, "vend")


def _peer(message: LogMessage, text: str, event: str) -> StateItems:
    for name, word in _PEER.findall(text):
        number = int(word) if word.isascii() and word.isdecimal() and len(word) < 12 else word
        yield message.reading(_PEER_NAMES.get(name, name), number, (("event", event),), name)
