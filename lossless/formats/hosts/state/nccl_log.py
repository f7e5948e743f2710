"""Debug logs of NCCL and RCCL: the NICs of each host, settings, and completions with an error.

``NET/IB : Using [0]mlx5_0:1/RoCE [1]={[1] mlx5_1:1/IB, ...} [RO]; OOB eth0:...``: "NET/IB" is also printed for RoCE. A
line without OOB is cut, and the number of NICs is then unknown. ``mlx5_1:1/IB/SHARP`` is a NIC with SHARP, and a
channel ``via NET/IB/0/GDRDMA`` goes to the GPU's memory directly, as do all where ``GDR 1`` follows the rings. ``Got
completion from peer ADDRESS<PORT> with error 12`` became ``status=12`` and ``status=IBV_WC_RETRY_EXC_ERR(12)``; GIDs
follow on RoCE alone. Sources: NVIDIA/nccl src/transport/net_ib/{init,p2p,common}.cc and src/misc/param.cc @5067397;
older forms are those of public logs (NVIDIA/nccl#1405, #1814, #2397; nccl-tests#373).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.state.traffic_tests import results
from lossless.formats.hosts.state.ucx_log import messages, once, settings
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.hosts.state.ucx_log import LogMessage
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItem, StateItems, StateReading

_SIGN = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE|ERROR)\b|NET/IB[^\n]{0,80}?(?:Using \[|[Gg]ot completion)"
)
_USING = re.compile(r"NET/IB\w* ?: Using ?(.*)")
_NIC = re.compile(r"\[[0-9]+\]\s*([A-Za-z_][\w.-]*):([0-9]+)(?::[0-9]*)*/(IB|RoCE)\b(/SHARP)?")
_RINGS = re.compile(r"(?>.*?Connected all (?:rings|trees)).*\bGDR ([01])\b")
_CHANNEL = re.compile(
    r"Channel [0-9]+(?:/[0-9]+)? : \S+ -> \S+ \[(?:send|receive)\] via NET/IB\w*/[0-9]+(/GDRDMA)?"
)
_OOB = re.compile(r"\bOOB\b")
_NONE = re.compile(r"NET/IB\w* ?: No device found")
_NETWORK = re.compile(r"Using network (\S+)")
_VERSION = re.compile(r"\b(NCCL|RCCL) version ([0-9][\w.+-]*)")
_ASYNC = re.compile(
    r"NET/IB\w* ?: (?:(\S+?):([0-9]+) )?(?:Got (?:non-fatal )?)?async (?:fatal )?event[^:]*+: (.+)"
)
_COMPLETION = re.compile(r"[Gg]ot completion from peer (\S+)")
_FIELDS = (
    ("wc_status", re.compile(r"with (?:error ?|status=(?:\w+\()?)([0-9]+)")),
    ("opcode", re.compile(r"\bopcode[ =](?:\w+\()?([0-9]+)")),
    ("vendor_err", re.compile(r"\bvendor[_ ]err[= ] ?([0-9]+)")),
    ("request", re.compile(r"(?:\b(?:err|req_type)[= ][0-9]* ?\(?)(Send|Recv|Unused|Flush)\b")),
    ("local_gid", re.compile(r"\blocalGid ?([0-9A-Fa-f:.]+)")),
    ("remote_gid", re.compile(r"\bremoteGids? ?([0-9A-Fa-f:.]+)")),
    ("device", re.compile(r"\bhca ([A-Za-z]\S*)")),
)
_NUMBERS = frozenset({"wc_status", "opcode", "vendor_err"})


def is_form(section: PrintedSection) -> bool:
    """Return whether the head of a section has a line of NCCL's or RCCL's log, or a message of theirs on verbs."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield NICs, settings and errors of the hosts in a log, and results of traffic tests between its lines.

    Equal NICs and settings of one host are yielded once.
    """
    yield from once(_all(section))
    yield from results(section)


def _all(section: PrintedSection) -> Iterator[StateItem]:
    events = 0
    for message in messages(section):
        text = message.joined()
        if match := _USING.search(text):
            yield from _nics(section, message, match[1])
        elif _NONE.search(text):
            yield message.reading("devices", 0)
        elif _COMPLETION.search(text):
            events += 1
            yield from _completion(section, message, events)
        elif match := _ASYNC.search(text):
            events += 1
            part: Identity = (("device", match[1]), ("port", match[2])) if match[1] else ()
            yield message.reading("async_event", match[3].strip(), (*part, ("event", str(events))))
        else:
            yield from _plain(message, text)


def _plain(message: LogMessage, text: str) -> StateItems:
    yield from settings(message)
    if match := _NETWORK.search(text):
        yield message.reading("network", match[1])
    if match := _CHANNEL.search(text):
        yield message.reading("gdrdma", bool(match[1]), (), "via NET/IB")
    elif match := _RINGS.match(text):
        yield message.reading("gdrdma", match[1] == "1", (), "GDR")
    if match := _VERSION.search(text):
        yield message.reading("version", match[2], (), f"{match[1]} version")


def _nics(section: PrintedSection, message: LogMessage, listed: str) -> StateItems:
    nics = dict.fromkeys(_NIC.findall(listed))
    for device, port, layer, sharp in nics:
        place: Identity = (("device", device), ("port", port))
        yield message.reading("link_layer", layer, place, "Using")
        if sharp:
            yield message.reading("sharp", True, place, "Using")
    whole = bool(_OOB.search(listed))
    yield message.reading("devices", len({nic[:2] for nic in nics}) if whole else UNKNOWN)
    if not whole:
        yield section.problem(message.line, "the list of NICs is cut: there may be more of them", "Using")


def _completion(section: PrintedSection, message: LogMessage, event: int) -> StateItems:
    """Yield the fields of a completion with an error; its lines are joined with or without blanks, for most fields."""
    joined = (message.joined(), message.joined(glue=""))
    said = max(map(_fields, joined), key=len)
    peer = _COMPLETION.search(joined[0])
    where: Identity = (("event", str(event)), *((("peer", peer[1]),) if peer else ()))
    if "device" in said:
        where = (*where, ("device", said["device"]))
    for name, word in said.items():
        yield _field(message, where, name, word)
    missing = [name for name in ("wc_status", "vendor_err") if name not in said]
    for name in missing:
        yield message.reading(name, UNKNOWN, where)
    if missing:
        yield section.problem(
            message.line, f"the completion is cut before its {' and '.join(missing)}", peer[0] if peer else ""
        )


def _fields(text: str) -> dict[str, str]:
    start = _COMPLETION.search(text)
    rest = text[start.start() :] if start else ""
    return {name: match[1] for name, pattern in _FIELDS if (match := pattern.search(rest))}


def _field(message: LogMessage, where: Identity, name: str, word: str) -> StateReading:
    if name in _NUMBERS:
        return message.reading(name, int(word) if len(word) < 20 else UNKNOWN, where)
    return message.reading("hca" if name == "device" else name, word.rstrip(".,") or UNKNOWN, where)
