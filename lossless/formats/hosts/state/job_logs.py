"""Logs of jobs: NCCL, RCCL, UCX, and libfabric by way of aws-ofi-nccl: NICs, settings, and failures.

A job prints the lines of several libraries into one log, so one reader reads all of them. A message begins with the
prefix of a process, with its host. A terminal, a mail or a pod's log breaks long lines: a line without such a prefix
continues the one before it, with a blank between them or without one. Events of a log are numbered in its order.

NCCL prints ``NET/IB : Using [0]mlx5_0:1/RoCE [1]={[1] mlx5_1:1/IB, ...} [RO]; OOB eth0:...``, "NET/IB" also for RoCE.
A line without OOB is cut, and the number of NICs is then unknown. ``mlx5_1:1/IB/SHARP`` is a NIC with SHARP, and a
channel ``via NET/IB/0/GDRDMA`` goes to the GPU's memory directly, as do all where ``GDR 1`` follows the rings. ``Got
completion from peer ADDRESS<PORT> with error 12`` became ``status=12`` and ``status=IBV_WC_RETRY_EXC_ERR(12)``; GIDs
follow on RoCE alone. ``Call to ibv_modify_qp failed`` is followed by ``with error Connection timed out``, later by
``errno 110`` too, and since by ``with 110 Connection timed out, on dev mlx5_4:1``, states and GIDs. A failed call
that is tried again is no failure yet. Sources: NVIDIA/nccl src/transport/net_ib/{init,p2p,common}.cc,
src/misc/{param,ibvwrap}.cc, src/os/linux.cc and src/transport.cc @5067397; Mellanox/nccl-rdma-sharp-plugins
src/sharp_plugin.c @2f5ac02; aws/aws-ofi-nccl include/nccl_ofi_platform.h and src/nccl_ofi_net.cpp @2daf7d3; older
forms are those of public logs (NVIDIA/nccl#230, #799, #1405, #1814, #2013, #2397; nccl-tests#185, #373;
aws-ofi-nccl#24, #161, #346).

UCX prints ``Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)``, then on a line of
its own the request with its peer: ``[rqpn 0xa66 rlid 703]``, or with ``dgid`` and ``tc`` on RoCE. Before UCX 1.6 it
was ``Error on mlx5_3:1 QP 0xe6d7 wqe[7821]: Transport retry count exceeded (synd 0x15 vend 0x81)``. Sources:
openucx/ucx src/uct/ib/mlx5/ib_mlx5_log.c (@05aee2d for the older form), src/uct/ib/base/ib_device.c,
src/uct/ib/ud/base/ud_ep.c, src/uct/ib/mlx5/dc/dc_mlx5.c and src/ucs/sys/sock.c @9466d10, public logs
(openucx/ucx#2501, #2973, #5159, #5199, #6000, #7613, #9468, #9590); syndromes linux-rdma/rdma-core
providers/mlx5/cq.c mlx5_handle_error_cqe and mlx5dv.h @691953d, types of events its libibverbs/verbs.h (enum
ibv_event_type).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.formats.hosts.state.traffic_tests import MPI_TAG, results
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
    r"|\[((?=[\w.-]*[A-Za-z])[\w.-]{1,253}?)\s*:[0-9]+\s*:[0-9]+(?::[0-9]+)?"
    r"(?: - [a-z_]+\.c:[0-9]+| unique id [0-9]+)?\]"
)
"""The prefix of a process in a log: ``host:pid:tid [0]`` of NCCL, ``[host:pid:0:tid]`` of UCX, ``[host:0:pid -
context.c:702]`` of SHARP; not ``[10:46:33]``."""
_ALONE = re.compile(
    r"\s*(?:\[(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[^\]]*|[0-9]{6,}\.[0-9]+)\]|(?:NCCL|RCCL) version |ib_mlx5_log\.c:|NET/IB"
    r"|libfabric:[0-9]+:)"
)
"""The beginning of a message without the prefix of a process."""
_LEVEL = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE|ERROR)\b|\bUCX {1,4}(?:ERROR|WARN|INFO|DIAG|DEBUG|TRACE)\b"
    r"|\bWatchdog caught collective"
)
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
    texts = [MPI_TAG.sub(" ", line.text) if "<std" in line.text else line.text for line in section.lines]
    processes = [_PROCESS.search(text) for text in texts]
    starts = [
        index
        for index, text in enumerate(texts)
        if processes[index]
        or _ALONE.match(text)
        or _LEVEL.search(text)
        or not index
        or not (text.strip() and texts[index - 1].strip())
    ]
    for start, end in pairwise([*starts, len(texts)]):
        process = processes[start]
        body = texts[start : min(end, start + _MOST_LINES)]
        host = (process[1] or process[2]) if process else ""
        yield LogMessage(host, section.lines[start], tuple(body))


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


_NCCL_SIGN = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE|ERROR)\b|NET/IB[^\n]{0,80}?(?:Using \[|[Gg]ot completion)"
    r"|^libfabric:[0-9]+:|Watchdog caught collective operation timeout: WorkNCCL\(",
    re.MULTILINE,
)
_UCX_SIGN = re.compile(
    r"\bUCX {1,4}(?:ERROR|WARN|INFO|DIAG|DEBUG|TRACE)\b|\bib_mlx5_log\.c:[0-9]+|\(synd 0x[0-9a-f]+ vend 0x"
    r"|\bIB Async event on \S|: unhandled timeout error$|transport error: Endpoint timeout",
    re.MULTILINE,
)


def is_nccl_log(section: PrintedSection) -> bool:
    """Return whether the head of a section has a line of NCCL's or RCCL's log, or one of libfabric or PyTorch on it."""
    return bool(_NCCL_SIGN.search(section.head))


def is_ucx_log(section: PrintedSection) -> bool:
    """Return whether the head of a section has a line of UCX's log."""
    return bool(_UCX_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield NICs, settings and failures of the hosts in a log, and results of traffic tests between its lines.

    Equal NICs and settings of one host are yielded once. Readings of an event are identified by its number: of a
    failed completion ``wc_status`` and the other fields; of a failed call or connection ``failed_call``, ``errno``
    (the number, else the text), and, if known, ``next_state``, ``local_gid_index``, ``local_gid``,
    ``remote_gid``; ``async_event``, the text of an event of the NIC; ``collnet_failed``, why SHARP is not used;
    ``sharp_error``, the error that its library reports; ``peer_closed``, the peer that closed a connection;
    ``collective_timeout``, the milliseconds after which PyTorch gave a collective up.
    """
    yield from once(_all(section))
    yield from results(section)


def _all(section: PrintedSection) -> Iterator[StateItem]:
    number, failed = 0, {}
    for message in messages(section):
        text = message.joined()
        event = number + 1
        found = [
            *_completion(section, message, text, event),
            *_ucx_completion(message, text, event),
            *_failed_call(message, text, event),
            *_async_event(message, text, event),
            *_collective_network(message, text, event),
        ]
        if found:
            number = event
            failed[message.host] = event
        yield from found
        yield from _ucx_plain(message, text, failed.get(message.host, 0))
        yield from _plain(section, message, text)


_USING = re.compile(r"NET/IB\w* ?: Using ?(.*)")
_NIC = re.compile(r"\[[0-9]+\]\s*([A-Za-z_][\w.-]*):([0-9]+)(?::[0-9]*)*/(IB|RoCE)\b(/SHARP)?")
_RINGS = re.compile(r"(?>.*?Connected all (?:rings|trees)).*\bGDR ([01])\b")
_CHANNEL = re.compile(
    r"Channel [0-9]+(?:/[0-9]+)? : \S+ -> \S+ \[(?:send|receive)\] via NET/IB\w*/[0-9]+(/GDRDMA)?"
)
_OOB = re.compile(r"\bOOB\b")
_NONE = re.compile(r"NET/IB\w* ?: No device found")
_NETWORK = re.compile(
    r"Using (?:internal )?[Nn]etwork (\S+)|(?:\bvia NET/|\bNET/)(Socket)(?:/[0-9]| : Using \[)"
)
_PROVIDER = re.compile(r"NET/OFI Selected [Pp]rovider is ([\w;.-]+)")
_NO_PROVIDER = re.compile(
    r"NET/OFI No eligible providers were found|fi_getinfo: provider \w+ output empty list"
)
_NO_LIBRARY = re.compile(r"Failed to open libibverbs\.so")
_VERSION = re.compile(r"\b(NCCL|RCCL) version ([0-9][\w.+-]*)")
_ADDRESS = re.compile(
    r"\b(?:Bootstrap ?: Using|OOB) (?:\[0\])?[\w.@-]+:([0-9A-Fa-f:.]+)(?:%[^\s<]+)?<[0-9]+>"
)


def _plain(section: PrintedSection, message: LogMessage, text: str) -> StateItems:
    """Yield the NICs, network, settings, address and version that a message reports, without failures."""
    if match := _USING.search(text):
        yield from _nics(section, message, match[1])
    elif _NONE.search(text):
        yield message.reading("devices", 0, (), "No device found")
    elif _NO_PROVIDER.search(text):
        yield message.reading("providers", 0, (), "provider")
    yield from settings(message)
    if _NO_LIBRARY.search(text):
        yield message.reading("verbs_library", 0, (), "libibverbs")
    if match := _NETWORK.search(text):
        yield message.reading("network", match[1] or match[2], (), match[1] or match[2])
    if match := _PROVIDER.search(text):
        yield message.reading("provider", match[1], (), match[1])
    if match := _ADDRESS.search(text):
        yield message.reading("address", match[1], (), match[1])
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
    yield message.reading("devices", len({nic[:2] for nic in nics}) if whole else UNKNOWN, (), "Using")
    if not whole:
        yield section.problem(message.line, "the list of NICs is cut: there may be more of them", "Using")


_COMPLETION = re.compile(r"[Gg]ot completion (?:from peer (\S+)|with (?=error |status=))")
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


def _completion(section: PrintedSection, message: LogMessage, text: str, event: int) -> Iterator[StateItem]:
    """Yield the fields of a completion with an error; broken lines are joined so that most fields are found."""
    peer = _COMPLETION.search(text)
    if peer is None:
        return
    said = max(map(_fields, (text, message.joined(glue=""))), key=len)
    where: Identity = (("event", str(event)), *((("peer", peer[1]),) if peer[1] else ()))
    if "device" in said:
        where = (*where, ("device", said["device"]))
    for name, word in said.items():
        yield _field(message, where, name, word)
    missing = [name for name in ("wc_status", "vendor_err") if name not in said]
    for name in missing:
        yield message.reading(name, UNKNOWN, where)
    if missing:
        yield section.problem(
            message.line, f"the completion is cut before its {' and '.join(missing)}", peer[0]
        )


def _fields(text: str) -> dict[str, str]:
    start = _COMPLETION.search(text)
    rest = text[start.start() :] if start else ""
    return {name: match[1] for name, pattern in _FIELDS if (match := pattern.search(rest))}


def _field(message: LogMessage, where: Identity, name: str, word: str) -> StateReading:
    if name in _NUMBERS:
        return message.reading(name, int(word) if len(word) < 20 else UNKNOWN, where)
    return message.reading("hca" if name == "device" else name, word.rstrip(".,") or UNKNOWN, where)


ERRNO = {
    "Operation not permitted": 1,
    "Input/output error": 5,
    "Resource temporarily unavailable": 11,
    "Cannot allocate memory": 12,
    "Permission denied": 13,
    "Bad address": 14,
    "No such device": 19,
    "Invalid argument": 22,
    "No data available": 61,
    "Operation not supported": 95,
    "Cannot assign requested address": 99,
    "Network is unreachable": 101,
    "Software caused connection abort": 103,
    "Connection reset by peer": 104,
    "Connection timed out": 110,
    "Connection refused": 111,
    "Host is down": 112,
    "No route to host": 113,
    "Remote I/O error": 121,
}
"""The number of an error by its text (Linux include/uapi/asm-generic/errno.h, texts of glibc)."""
_CALL = re.compile(r"\bCall to ((?:ibv|mlx5dv)_\w+) failed(?: with(?: error)?)? ?(.*)")
_ON_DEVICE = re.compile(r"\bon dev ([A-Za-z][\w.-]*):([0-9]+)")
_QP_DETAILS = (
    ("next_state", re.compile(r"\bnext state ([A-Z]+)")),
    ("local_gid_index", re.compile(r"(?:\blocal GID index |\bsgid_index=)([0-9]+)")),
    ("local_gid", re.compile(r"\blocal GID ([0-9A-Fa-f:.]+)")),
    ("remote_gid", re.compile(r"(?:\bremote GID |\bdgid=)([0-9A-Fa-f:.]+)")),
)
_SOCKET = re.compile(r"[Cc]onnect to (\S+) (?:failed(?: with error)?|returned)[ :]*+(.*)")
_MODIFY = re.compile(
    r"(?:\bibv_modify_qp\(\w{1,8}, (INIT|RTR|RTS)\) failed|\b[Ff]ailed to modify \w+ QP to (INIT|RTR|RTS)(?: on (\w+))?"
    r"|\berror modifying QP to (INIT|RTR|RTS)) ?: (.*)"
)
_UCX_CONNECT = re.compile(r"\bconnect\(fd=[0-9]+, dest_addr=([^)\s]+)\) failed: (.*)")
_ENDPOINT = re.compile(
    r"\bUD endpoint \w+(?: to (\S+))?: unhandled timeout error|transport error: Endpoint timeout"
)
_OFI_REQUEST = re.compile(
    r"NET/OFI Request \S+ (?:\(\w+\) )?completed with error[:.] (?:RC|err): ([0-9]{1,5})\b"
)
_OFI_CALL = re.compile(r"NET/OFI (?:Couldn't|Unable to) ([^./]{1,80})\. RC: -?([0-9]{1,5})\b")
_OPEN = re.compile(r"NET/IB\w* ?: Unable to open device ([\w.-]+)")
_CREATE_AH = re.compile(r"\bibv_create_ah\([^()]{1,400}\) for [\w ]{1,40} on ([\w.-]+) failed: (.*)")
_LIBFABRIC = re.compile(r"<warn> err: ([0-9]{1,5}), message: ")
_NO_FAILURE = re.compile(r"\b(?:NCCL|RCCL) (?:INFO|TRACE)\b|\bUCX {1,4}(?:INFO|DIAG|DEBUG|TRACE)\b")
_PEER_ID = re.compile(r"\bPeer host id: (\S+)")
_CLOSED = re.compile(r"Connection closed by remote peer (\S+)")
_WATCHDOG = re.compile(r"\[Rank ([0-9]{1,9})\] Watchdog caught collective operation timeout: WorkNCCL\(")
_OPERATION = re.compile(r"\bOpType=(\w+)")
_RAN = re.compile(r"\bran for ([0-9]{1,12}) milliseconds")


_FAILURE_WORDS = ("failed", "returned", "imeout", "NET/OFI", "libfabric", "Unable", "modify", "error")


def _failed_call(message: LogMessage, text: str, event: int) -> StateItems:
    """Yield a call or connection that failed with its error, a closed connection, and a collective that timed out."""
    where: Identity = (("event", str(event)),)
    if any(word in text for word in _FAILURE_WORDS):
        found = _failure(text)
        if found is not None:
            yield from _of_failure(message, text, where, found)
            return
    if match := _CLOSED.search(text):
        yield message.reading("peer_closed", _bare(match[1]), where, "closed")
    elif match := _WATCHDOG.search(text):
        operation, ran = _OPERATION.search(text), _RAN.search(text)
        part: Identity = (("rank", match[1]), *((("collective", operation[1]),) if operation else ()))
        value = int(ran[1]) if ran else UNKNOWN
        yield message.reading("collective_timeout", value, (*where, *part), "Watchdog")


class _Failure(NamedTuple):
    """A call that failed, the text or number of its error, and its peer, device and QP state if named."""

    call: str
    error: str | int
    peer: str = ""
    device: str = ""
    state: str = ""


def _failure(text: str) -> _Failure | None:
    """Return the call or connection that a message reports as failed; None where it reports none, or tries again."""
    if "retrying" in text or _NO_FAILURE.search(text):
        return None
    if match := _CALL.search(text):
        return _Failure(match[1], match[2])
    if match := _MODIFY.search(text):
        state = match[1] or match[2] or match[4] or ""
        return _Failure("ibv_modify_qp", match[5], device=match[3] or "", state=state)
    if match := _ENDPOINT.search(text):
        return _Failure("UD endpoint", 110, _bare(match[1] or ""))
    if match := _CREATE_AH.search(text):
        return _Failure("ibv_create_ah", match[2], device=match[1])
    if match := _OPEN.search(text):
        return _Failure("ibv_open_device", "", device=match[1])
    if match := _OFI_REQUEST.search(text):
        return _Failure("libfabric", int(match[1]))
    if match := _OFI_CALL.search(text):
        return _Failure(match[1], int(match[2]))
    if "libfabric:" in text and (match := _LIBFABRIC.search(text)):
        peer = _PEER_ID.search(text)
        return _Failure("libfabric", int(match[1]), peer[1] if peer else "")
    match = _UCX_CONNECT.search(text) or _SOCKET.search(text)
    return _Failure("connect", match[2], _bare(match[1])) if match else None


def _of_failure(message: LogMessage, text: str, where: Identity, found: _Failure) -> StateItems:
    named = _ON_DEVICE.search(text)
    if named or found.device:
        where = (*where, ("device", named[1] if named else found.device))
        where = (*where, ("port", named[2])) if named else where
    if found.peer:
        where = (*where, ("peer", found.peer))
    heading = found.call if found.call in text else "failed"
    yield message.reading("failed_call", found.call, where, heading)
    yield message.reading("errno", _errno(found.error), where, heading)
    if found.state:
        yield message.reading("next_state", found.state, where, heading)
    for name, pattern in _QP_DETAILS:
        if match := pattern.search(text):
            value = (
                int(match[1]) if name == "local_gid_index" and len(match[1]) < 10 else match[1].rstrip(".")
            )
            yield message.reading(name, value, where, heading)


_NUMBERED = re.compile(r"^\(?([0-9]{1,5})\b|\berrno ([0-9]{1,5})\b")


def _errno(said: str | int) -> Maybe[int | str]:
    """Return the number of the error that a text begins with; else its words, UNKNOWN without any."""
    if isinstance(said, int):
        return said
    if match := _NUMBERED.search(said):
        return int(match[1] or match[2])
    known = next((number for words, number in ERRNO.items() if said.startswith(words)), None)
    return known if known is not None else said.partition(",")[0].strip(" :.")[:60] or UNKNOWN


def _bare(peer: str) -> str:
    """Return a peer without its port number: ``10.0.0.2<45763>``."""
    return peer.partition("<")[0].rstrip(",")


_ASYNC = re.compile(
    r"NET/IB\w* ?: (?:(\S+?):([0-9]+) )?(?:(?:Got (?:non-fatal )?)?async (?:fatal )?event[^:]*+: (.+)"
    r"|(GID table change|unknown event type \([0-9]+\)))"
)
_UCX_ASYNC = re.compile(r"\bIB Async event on ([\w.-]+): (.{1,80})")
_EVENT_NUMBER = re.compile(r" ?\(([0-9]+)\)$")
_GID_CHANGE = "GID table change"


def _async_event(message: LogMessage, text: str, event: int) -> StateItems:
    """Yield an event that a NIC reported to NCCL or UCX, with its device and port where they are named."""
    match = _ASYNC.search(text) if "NET/IB" in text else None
    ucx = _UCX_ASYNC.search(text) if match is None else None
    if match is not None:
        device, port, said = match[1], match[2], match[3] or match[4]
    elif ucx is not None:
        said, _, place = ucx[2].partition(" on ")
        device, port = ucx[1], place.removeprefix("port ") if place.startswith("port ") else ""
    else:
        return
    number = _EVENT_NUMBER.search(said)
    # Number 18 is IBV_EVENT_GID_CHANGE; NCCL 2.23 to 2.27 did not know its name.
    if said.startswith(_GID_CHANGE) or (said.startswith("unknown") and number and number[1] == "18"):
        said = _GID_CHANGE
    part: Identity = (("device", device),) if device else ()
    part = (*part, ("port", port.strip())) if port else part
    value = _EVENT_NUMBER.sub("", said).strip()
    yield message.reading("async_event", value, (*part, ("event", str(event))), "event")


_SHARP = re.compile(r"\bNCCL WARN (?:NET/IB ?: )?SHARP ?:? ?((?:coll init error|group create): .{1,120})")
_COLLNET = re.compile(r"Cannot initialize CollNet, using point-to-point network instead")


def _collective_network(message: LogMessage, text: str, event: int) -> StateItems:
    """Yield why SHARP, or another network that reduces, is not used although a job asked for it; errors of SHARP."""
    where: Identity = (("event", str(event)),)
    if match := _SHARP.search(text):
        yield message.reading("collnet_failed", match[1].strip(), where, "SHARP")
    elif match := _COLLNET.search(text):
        yield message.reading("collnet_failed", match[0], where, "CollNet")
    else:
        # SHARP's library writes the place of a message, or the job's number, in brackets before its level.
        place, _, error = text.partition("] ERROR ")
        if error and (".c:" in place or " unique id " in place):
            yield message.reading("sharp_error", error[:160].strip(), where, "ERROR")


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


def _ucx_plain(message: LogMessage, text: str, event: int) -> StateItems:
    """Yield the peer of a request, and the transports, devices and settings that a message of UCX names.

    ``event`` is the number of the host's last failure.
    """
    error = _ERROR.search(text)
    if _REQUEST.search(text) and (not error or "[" in text[error.end() :]):
        # The request of an error that was logged on a line of its own.
        yield from _peer(message, text[error.end() :] if error else text, str(event))
    for transport, device, port in dict.fromkeys(_LANE.findall(text)):
        yield message.reading("transport", transport, (("device", device), ("port", port)))
    environment = _ENVIRONMENT.search(text)
    for variable, word in _ASSIGNED.findall(environment[1]) if environment else ():
        yield from setting(message, variable, word)


def _ucx_completion(message: LogMessage, text: str, event: int) -> StateItems:
    error = _ERROR.search(text)
    if error is None:
        return
    syndrome, vendor = int(error[1], 16), int(error[2], 16)
    where: Identity = (("event", str(event)),)
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
