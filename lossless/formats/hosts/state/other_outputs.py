"""Outputs of small tools: ``ip link show``, ``rdma link``, ``rdma statistic``, ``show_gids``, ``ibstat``, ``ibstatus``.

Others are ``ibdev2netdev``, ``nvidia-smi topo -m`` and ``systemctl status``. The RAS status of RCCL is recognized and
not read.

Outputs of several commands in one text without titles are separated by lines that only one command prints.

``rdma statistic`` prints the counters of RDMA links: ``link mlx5_0/1 rx_write_requests 0 ...``; with ``-p`` a line
``link mana_0/1`` and one counter a line below it; with ``-j`` objects with ``ifname`` and ``port``. Counters of QPs
have ``cntn`` after the port, and the numbers of their QPs on a line ``LQPN: <178,179>``, in JSON ``lqpn``. Source:
iproute2 rdma/stat.c and man8/rdma-statistic.8 (iproute2/iproute2 @ee2a4a8).

``nvidia-smi topo -m`` prints a matrix of GPUs and NICs, from the nearest to the farthest pair PIX (one PCI bridge), PXB
(several), PHB (the bridge of a CPU), NODE (several in one NUMA node), SYS (between NUMA nodes). NICs are columns by
their device, or NIC0 and so on with a legend below. Source: the legend that it prints; outputs in NVIDIA/nccl#820,
#1435 and #1453.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import counted, json_of, value_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems


_FIRST = {
    "ethtool -S": re.compile(r"\s*NIC statistics(?: for \S+)?:\s*").fullmatch,
    "mlnx_qos": re.compile(r"\s*DCBX mode:.*").fullmatch,
    "dcb": re.compile(r"\s*pfc-cap\s.*").fullmatch,
}
"""Lines that begin the output of a command, by form, also after another output of the same command."""
_LINES = {
    "rdma link": re.compile(r"\s*+(?:[0-9]+/[0-9]+: |link )\S+ state \S+ physical_state \S.*").fullmatch,
    "ibstat": re.compile(
        r"\s*+(?:CA '[\w.-]+'|Port [0-9]+:|(?:CA type|Physical state|Base lid|Link layer): ).*"
    ).fullmatch,
    "ibstatus": re.compile(r"\s*+(?:Infiniband device '|phys state:|link_layer:).*").fullmatch,
    "ibdev2netdev": re.compile(r"\s*+[\w.-]+ port [0-9]+ ==> [\w.-]+ \(.*").fullmatch,
    "show_gids": re.compile(
        r"\s*+(?:DEV\s++PORT\s++INDEX\s++GID\s|\S++\s++[0-9]++\s++[0-9]++\s++[0-9a-fA-F]{0,4}:"
        r"|n_gids_found=[0-9]).*"
    ).fullmatch,
    "traffic test": re.compile(
        r"#\s*+(?:nThread|Rank|Collective test starting:)\s.*"
        r"|\s*+(?:#bytes\s|Dual-port\s*+:|(?:RDMA_Write|RDMA_Read|Send|Atomic)[a-zA-Z ]{0,40} BW Test).*"
    ).fullmatch,
    "sysfs": re.compile(r"\s*(?:/sys/class/\S|ports/[0-9]+/|hw_counters/\w|[a-z][\w./]*=).*").fullmatch,
    "systemctl status": re.compile(r"[●○×↻*] [\w@.-]{1,64}\.service(?: - .*)?").fullmatch,
    "nvidia-smi topo": re.compile(
        r"\s*+(?:\x1b\[[0-9;]*+m)?GPU0(?:\x1b\[[0-9;]*+m)?\s++(?:\x1b\[[0-9;]*+m)?(?:GPU1|NIC0|mlx|bnxt_re|CPU).*"
        r"|\s*+(?:GPU|NIC|mlx5_)[0-9]++\s++(?:X|NV[0-9]++|PIX|PXB|PHB|NODE|SYS)\s.*"
        r"|\s*+NIC[0-9]++: [\w.-]++\s*+|NIC Legend:\s*+"
    ).fullmatch,
    "rdma statistic": re.compile(r"\s*(?:link \S+/[0-9]+|[a-z_]\w* [0-9]+)(?:\s.*)?").fullmatch,
    "ethtool -S": re.compile(r"\s*[^:=\s_]*+_[^:=]*+:\s++[0-9]+\s*").fullmatch,
}
"""Lines that only one command prints, by form; any command may print others, such as titles and settings."""
JOINED = frozenset({*_FIRST, *_LINES})
"""Forms whose outputs are often in one file without titles."""


def outputs_of(section: PrintedSection) -> Iterator[PrintedSection]:
    """Yield the outputs of commands in a section, in their order; the first one keeps the title of the section."""
    title, form = section.title, ""
    lines: list[PrintedLine] = []
    for line in section.lines:
        begins, kind = _of(_FIRST, line.text), _of(_LINES, line.text)
        if form and (begins or (kind and kind != form)):
            yield section._replace(title=title, lines=tuple(lines))
            title, form, lines = "", "", []
        form = begins or form or kind
        lines.append(line)
    yield section._replace(title=title, lines=tuple(lines))


def of_interfaces(outputs: Iterable[PrintedSection]) -> Iterator[tuple[PrintedSection, bool]]:
    """Yield each output, and whether an earlier output of its command is also without the name of an interface."""
    seen: set[str] = set()
    for output in outputs:
        first = next((line.text for line in output.lines if line.text.strip()), "")
        command = "" if output.named else _of(_FIRST, first)
        yield output, command in seen
        seen.update({command} - {""})


def _of(known: Mapping[str, Callable[[str], re.Match[str] | None]], text: str) -> str:
    """Return the form of the command that prints a line, empty for any other line."""
    return next((name for name, line in known.items() if line(text)), "")


_FIRST_LINES = 300
"""Lines in which an output is looked for that may follow another one."""
_LINK = re.compile(r"[0-9]+: ([^:@\s]+)(?:@\S+)?: <([A-Z0-9_,-]*)> (.*)")
_RDMA_LINK = re.compile(r"(?:[0-9]+/[0-9]+: |link )([\w.-]+)/([0-9]{1,3}):? (state \S+ physical_state \S.*)")
_GIDS = re.compile(r"\s*DEV\s+PORT\s+INDEX\s+GID\s+IPv4\s+VER\b")
_GID = re.compile(
    r"\s*(\S+)\s+([0-9]{1,3})\s+([0-9]{1,4})\s+([0-9a-fA-F:]{2,39})(?:\s+([0-9]{1,3}(?:\.[0-9]{1,3}){3}))?\s+(v[12])"
    r"(?:\s+(\S+))?\s*"
)
_GIDS_FOUND = re.compile(r"\s*n_gids_found=([0-9]{1,6})\s*")
_CA = re.compile(r"\s*+CA '([\w.-]{1,64})'\s*")
_CA_PORT = re.compile(r"\s*+Port ([0-9]{1,3}):\s*")
_CA_FIELD = re.compile(r"\s*+(State|Physical state|Rate|Link layer|Firmware version|CA type): ?(\S.*)")
_CA_NAMES = {
    "State": "state",
    "Physical state": "phys_state",
    "Rate": "rate",
    "Link layer": "link_layer",
    "Firmware version": "firmware",
    "CA type": "type",
}
_STATUS = re.compile(r"\s*+Infiniband device '([\w.-]{1,64})' port ([0-9]{1,3}) status:\s*")
_STATUS_FIELD = re.compile(r"\s*+(state|phys state|rate|link_layer):\s*+(\S.*)")
_STATUS_NAMES = {"state": "state", "phys state": "phys_state", "rate": "rate", "link_layer": "link_layer"}
_TO_NETDEV = re.compile(r"\s*+([\w.-]{1,64}) port ([0-9]{1,3}) ==> ([\w.-]{1,64}) \(([\w ]{1,20})\)\s*")
_TOPOLOGY = re.compile(
    r"^[ \t]*+(?:\x1b\[[0-9;]*+m)?GPU0(?:\x1b\[[0-9;]*+m)?[ \t]++(?:\x1b\[[0-9;]*+m)?(?:GPU1|NIC0|mlx|bnxt_re|CPU)",
    re.MULTILINE,
)
_COLOR = re.compile(r"\x1b\[[0-9;]*+m")
_NIC_NAME = re.compile(r"\s*+(NIC[0-9]{1,3}):\s++([\w.-]{1,64})\s*+")
_GPU_ROW = re.compile(r"GPU([0-9]{1,3})")
_PATHS = frozenset({"PIX", "PXB", "PHB", "NODE", "SYS"})
_UNIT = re.compile(r"[●○×↻*] ([\w@.-]{1,64})\.service(?: - .*)?")
_UNIT_STATE = re.compile(r"\s++Active: ([a-z]++ \([a-z-]++\)|[a-z]++)(?:\s.*)?")
_RAS_TEXT = re.compile(r"^(?:NCCL|RCCL) version [^\n]*\n(?:[^\n]*\n){0,12}?Job summary\s*$", re.MULTILINE)
_RAS_JSON = re.compile(r'\s*\{\s*"nccl_version"\s*:(?:.|\n){0,600}?"communicators(?:_count)?"\s*:')
_NOT_READ = "the RAS status of RCCL says which ranks answer and nothing of NICs or the network: not read"


def is_ip_link(section: PrintedSection) -> bool:
    """Return whether one of the first two lines is that of an interface in ``ip link show``."""
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


def is_rdma_link(section: PrintedSection) -> bool:
    """Return whether one of the first lines is that of an RDMA device's port in ``rdma link``."""
    return any(_RDMA_LINK.fullmatch(line.text) for line in section.lines[:_FIRST_LINES])


def read_rdma_link(section: PrintedSection) -> StateItems:
    """Yield the states of each RDMA device's port, and its interface."""
    for line in section.lines:
        if (match := _RDMA_LINK.fullmatch(line.text)) is not None:
            port = (("device", match[1]), ("port", match[2]))
            words = match[3].split()
            for word, value in zip(words[::2], words[1::2], strict=False):
                name = {"physical_state": "phys_state"}.get(word, word)
                yield StateReading(port, name, value, "", "now", section.place(line, word), word)


def is_show_gids(section: PrintedSection) -> bool:
    """Return whether one of the first lines has the headings of show_gids."""
    return any(_GIDS.match(line.text) for line in section.lines[:_FIRST_LINES])


def read_show_gids(section: PrintedSection) -> StateItems:
    """Yield the RoCE version, address and interface of each GID, and the script's own count of them.

    A row without an interface, or a count that differs, is kept as printed.
    """
    for line in section.lines:
        if (match := _GID.fullmatch(line.text)) is not None:
            gid = (("device", match[1]), ("port", match[2]), ("index", match[3]))
            for name, word in (
                ("gid", match[4]),
                ("ipv4", match[5]),
                ("version", match[6]),
                ("netdev", match[7]),
            ):
                if word:
                    yield StateReading(gid, name, word, "", "now", section.place(line, name), name)
        elif (count := _GIDS_FOUND.fullmatch(line.text)) is not None:
            path = section.place(line, "n_gids_found")
            yield StateReading((), "n_gids_found", int(count[1]), "", "now", path, "n_gids_found")


def is_ibstat(section: PrintedSection) -> bool:
    """Return whether one of the first lines is that of a CA in ``ibstat``."""
    return any(_CA.fullmatch(line.text) for line in section.lines[:_FIRST_LINES])


def read_ibstat(section: PrintedSection) -> StateItems:
    """Yield type and firmware of each CA; states, rate in Gb/s and link layer of each port.

    Source: linux-rdma/rdma-core infiniband-diags/ibstat.c @691953d (ca_dump, port_dump).
    """
    identity: tuple[tuple[str, str], ...] = ()
    for line in section.lines:
        if device := _CA.fullmatch(line.text):
            identity = (("device", device[1]),)
        elif port := _CA_PORT.fullmatch(line.text):
            identity = (*identity[:1], ("port", port[1]))
        elif identity and (field := _CA_FIELD.fullmatch(line.text)):
            unit = "Gb/s" if field[1] == "Rate" else ""
            path = section.place(line, field[1])
            name, value = _CA_NAMES[field[1]], value_of(field[2])
            yield StateReading(identity, name, value, unit, "now", path, field[1])


def is_ibstatus(section: PrintedSection) -> bool:
    """Return whether one of the first lines is that of a port in ``ibstatus``."""
    return any(_STATUS.fullmatch(line.text) for line in section.lines[:_FIRST_LINES])


def read_ibstatus(section: PrintedSection) -> StateItems:
    """Yield states, rate in Gb/s and link layer of each port.

    Source: linux-rdma/rdma-core infiniband-diags/scripts/ibstatus.in @691953d, which prints the files of the kernel:
    ``4: ACTIVE``, ``400 Gb/sec (4X NDR)``.
    """
    identity: tuple[tuple[str, str], ...] = ()
    for line in section.lines:
        if port := _STATUS.fullmatch(line.text):
            identity = (("device", port[1]), ("port", port[2]))
        elif identity and (field := _STATUS_FIELD.fullmatch(line.text)):
            words = field[2].split()
            is_rate = field[1] == "rate"
            value = value_of(words[0] if is_rate else words[-1])
            path = section.place(line, field[1])
            name = _STATUS_NAMES[field[1]]
            yield StateReading(identity, name, value, "Gb/s" if is_rate else "", "now", path, field[1])


def is_ibdev2netdev(section: PrintedSection) -> bool:
    """Return whether one of the first lines is that of a port in ``ibdev2netdev``."""
    return any(_TO_NETDEV.fullmatch(line.text) for line in section.lines[:_FIRST_LINES])


def read_ibdev2netdev(section: PrintedSection) -> StateItems:
    """Yield the interface of each RDMA device's port, and whether that is up.

    Source: Mellanox/mlnx-tools sbin/ibdev2netdev (without -v).
    """
    for line in section.lines:
        if match := _TO_NETDEV.fullmatch(line.text):
            port = (("device", match[1]), ("port", match[2]))
            for name, word in (("netdev", match[3]), ("netdev_state", match[4])):
                yield StateReading(port, name, word, "", "now", section.place(line, name), name)


def is_ras(section: PrintedSection) -> bool:
    """Return whether a text is a status of RCCL's or NCCL's RAS service (reliability, availability, serviceability)."""
    head = section.head
    return bool(_RAS_TEXT.search(head) or _RAS_JSON.match(head))


def read_ras(section: PrintedSection) -> StateItems:
    """Yield the problem that a RAS status of RCCL is not read, with the reason."""
    yield section.problem(section.lines[0], _NOT_READ)


def is_topology(section: PrintedSection) -> bool:
    """Return whether a text has the head of the matrix of ``nvidia-smi topo -m``."""
    return bool(_TOPOLOGY.search(section.head))


def read_topology(section: PrintedSection) -> StateItems:
    """Yield the path between each GPU and each NIC as ``gpu_path``; a row whose columns are joined is a problem."""
    matches = (_NIC_NAME.fullmatch(_COLOR.sub("", line.text)) for line in section.lines)
    names = {match[1]: match[2] for match in matches if match is not None}
    columns: list[str] = []
    for line in section.lines:
        text = _COLOR.sub("", line.text)
        words = text.partition("CPU Affinity")[0].split()
        if "CPU Affinity" in text and words[:1] == ["GPU0"]:
            columns = words
        elif columns and words and (gpu := _GPU_ROW.fullmatch(words[0])):
            paths = dict(zip(columns, words[1:], strict=False))
            nics = [name for name in columns if not _GPU_ROW.fullmatch(name)]
            if any(paths.get(name) not in _PATHS for name in nics):
                yield section.problem(line, f"GPU{gpu[1]}: the columns of NICs are not known: not read")
                continue
            for name in nics:
                where = (("gpu", gpu[1]), ("device", names.get(name, name)))
                yield StateReading(where, "gpu_path", paths[name], "", "now", section.place(line, name), name)


_COUNTED_LINK = re.compile(r"\s*link (\S+)/([0-9]+)(?:\s++(.*))?")
_COUNTER = re.compile(r"\s*([A-Za-z_]\w*)\s+([0-9]+)\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_STATISTIC_JSON = re.compile(r"^\s*\[\s*\{.*?\"ifname\"\s*:", re.DOTALL)
_QP_NUMBERS = re.compile(r"\s*LQPN: <[0-9,]*>\s*")
_OF_QPS = ("cntn", "qp-type", "type", "pid", "comm", "lqpn", "rqpn")
_STATISTIC = re.compile(r"^[^\S\n]*+link \S+/[0-9]+(?:\s+[A-Za-z_]\w* [0-9]+\b|\s*$)", re.MULTILINE)


def is_rdma_statistic(section: PrintedSection) -> bool:
    """Return whether a text has RDMA links with counters, or is JSON with the name and port of links."""
    head = section.head
    return bool(_STATISTIC.search(head) or (_STATISTIC_JSON.match(head[:2000]) and '"port"' in head))


def read_rdma_statistic(section: PrintedSection) -> StateItems:
    """Yield every counter of every RDMA link, and of its queue pairs."""
    if section.text.lstrip().startswith("["):
        yield from _from_json(section)
        return
    link: Identity = ()
    for line in section.lines:
        if not line.text.strip() or _QP_NUMBERS.fullmatch(line.text):
            continue
        if match := _COUNTED_LINK.fullmatch(line.text):
            words = (match[3] or "").split()
            link = _of_counter(match[1], match[2], words[1] if words[:1] == ["cntn"] and words[1:] else None)
            yield from _counters(section, link, words, line)
        elif match := _COUNTER.fullmatch(line.text):
            yield _counted(link, match[1], match[2], section.place(line, match[1]))
        else:
            yield from _counters(section, link, line.text.split(), line)


def is_unit_status(section: PrintedSection) -> bool:
    """Return whether one of the first lines is that of a service in ``systemctl status``."""
    return any(_UNIT.fullmatch(line.text) for line in section.lines[:_FIRST_LINES])


def read_unit_status(section: PrintedSection) -> StateItems:
    """Yield the state of each service: ``active (running)``, ``inactive (dead)``, ``failed``.

    Source: systemctl(1), status.
    """
    unit = ""
    for line in section.lines:
        if match := _UNIT.fullmatch(line.text):
            unit = match[1]
        elif unit and (state := _UNIT_STATE.fullmatch(line.text)):
            yield StateReading(
                (("unit", unit),), "unit_state", state[1], "", "now", section.place(line, "Active"), "Active"
            )
            unit = ""


def _of_counter(device: str, port: object, qp_counter: object) -> Identity:
    """Return the identity of a link's counters, of those of QPs with the number of the counter."""
    link = (("device", device), ("port", str(port)))
    return link if qp_counter is None else (*link, ("qp_counter", str(qp_counter)))


def _counters(section: PrintedSection, link: Identity, words: list[str], line: PrintedLine) -> StateItems:
    """Yield the counters of a line; some words about queue pairs are no counters. A cut line is a problem."""
    for name, value in zip_longest(words[::2], words[1::2], fillvalue=""):
        if name in _OF_QPS:
            continue
        if not _WORD.fullmatch(name) or counted(value) is UNKNOWN:
            yield section.problem(line, f"{name}: expected a number after it; the line may be cut", name)
            return
        yield _counted(link, name, value, section.place(line, name))


def _from_json(section: PrintedSection) -> StateItems:
    data = json_of(section)
    if isinstance(data, Problem):
        yield data
        return
    for index, row in enumerate(data if isinstance(data, list) else ()):
        if isinstance(row, dict) and "ifname" in row:
            link = _of_counter(str(row["ifname"]), row.get("port", ""), row.get("cntn"))
            for name, value in row.items():
                if name not in ("ifname", "ifindex", "port", *_OF_QPS):
                    yield _counted(link, name, value, (index, name))


def _counted(link: Identity, name: str, value: Any, path: tuple[str | int, ...]) -> StateReading:
    number = counted(str(value))
    return StateReading(link, name, number, "", "boot", path, name)
