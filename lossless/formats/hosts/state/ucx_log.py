"""Logs of UCX: completions with an error, the transports and devices of endpoints, settings.

``Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)``, then on a line of its own the
request with its peer: ``[rqpn 0xa66 rlid 703]``, or with ``dgid`` and ``tc`` on RoCE. Before UCX 1.6 it was ``Error on
mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry count exceeded (synd 0x15 vend 0x81)``. Sources: openucx/ucx
src/uct/ib/mlx5/ib_mlx5_log.c (@05aee2d for the older form), public logs (openucx/ucx#2973, #5199, #6000, #9590);
syndromes linux-rdma/rdma-core providers/mlx5/cq.c mlx5_handle_error_cqe and mlx5dv.h @691953d.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.state.job_log import messages, once, setting, settings
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.hosts.state.job_log import LogMessage
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItem, StateItems

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
    """Return whether a text has a line of UCX."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield errors with their peers, devices and settings; repetitions by several processes of a host are dropped."""
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
        number = int(word) if word.isdecimal() and len(word) < 12 else word
        yield message.reading(_PEER_NAMES.get(name, name), number, (("event", event),), name)
