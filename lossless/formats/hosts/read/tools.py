"""Reads the output of small tools on hosts, and a job's environment.

The tools are ethtool, mlxconfig, mlxreg, lldpctl, cma_roce_tos and cma_roce_mode, ibv_devinfo. Sources: ethtool
netlink/pause.c (pause_reply_cb) and ethtool.c (print_tunable, dump_drvinfo); mstflint mlxconfig (NAME, then a number,
or a word with the number in parentheses); NVIDIA, Adaptive Retransmission: Parameters Control, Sample Usage, for
mlxreg (a field, a bar, a number); lldpd ``-f keyvalue``; Mellanox/mlnx-tools sbin/cma_roce_tos and cma_roce_mode.

``niccli get_qos`` of Broadcom and ``lldptool`` print PFC, ETS and the application table: sources are intel/openlldp
lldp_8021qaz_clif.c for ``lldptool``, and the outputs in ROCm's rdma tests for ``niccli``. ``Get-NetAdapterQos`` is that
of MicrosoftDocs/windows-powershell-docs, module NetAdapter.

The environment is that of ``nccl.conf``, of env files, or the output of ``env``. ``NCCL_IB_TIMEOUT`` and
``NCCL_IB_RETRY_CNT`` have defaults of 20 and 7 (NVIDIA/nccl src/transport/net_ib @5067397): where a file sets one of
them, the other is known too. A variable that no file sets may still be set when a job is started.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.facts import ROCE_VERSIONS, HostFact, SectionFlaw, driver_of, parameter_key
from lossless.ground.documents.text import ValuePlace
from lossless.model.fabric.hosts import Ets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine
    from lossless.model.fabric.hosts import Tsa


_ASSIGNED = re.compile(r"\s*(?:export\s++)?([A-Za-z_][A-Za-z0-9_]*+)\s*+=\s*+(.*)")
OURS = re.compile(r"(?:NCCL|UCX|MORI)_|NVME_TRANSPORT_TOS$")
_NUMBERS = {
    "NCCL_IB_TC": ("nccl.ib_tc", 255),
    "NCCL_IB_FIFO_TC": ("nccl.ib_fifo_tc", 255),
    "NCCL_IB_QPS_PER_CONNECTION": ("nccl.ib_qps_per_connection", 128),
    "NCCL_IB_GID_INDEX": ("nccl.ib_gid_index", 255),
    "NCCL_IB_TIMEOUT": ("nccl.ib_timeout", 31),
    "NCCL_IB_RETRY_CNT": ("nccl.ib_retry_count", 7),
}
"""Numeric environment variables: the key of each in host facts, and its largest valid value."""
_WORDS = {
    "NCCL_IB_HCA": "nccl.ib_hca",
    "NCCL_SOCKET_IFNAME": "nccl.socket_ifname",
    "UCX_NET_DEVICES": "ucx.net_devices",
}
_LIBRARIES = {
    "UCX_IB_TRAFFIC_CLASS": ("UCX", False),
    "MORI_RDMA_TC": ("MORI", True),
    "NCCL_GIN_IB_TC": ("NCCL GIN", True),
    # openebs/mayastor pull request 1953: a ToS byte, `transport_tos` of its NVMe initiator.
    "NVME_TRANSPORT_TOS": ("NVMe over RDMA", False),
}
UNSET = (-1,)
"""The numbers that NCCL treats as an unset variable."""


def environment(section: Section) -> Reading:
    """Yield the variables of NCCL, UCX, MORI and NVMe over RDMA; invalid or too large numbers are flaws."""
    for line in section.lines:
        match = _ASSIGNED.match(line.text)
        if match is None or line.text.lstrip().startswith("#") or not OURS.match(match[1]):
            continue
        value = bare_word(match[2].rstrip())
        yield said(section, f"variable.{match[1]}", (match[1], value), line)
        yield from meaning_of(section, match[1], value, line)


def meaning_of(section: Section, name: str, value: str, line: SectionLine) -> Reading:
    if name in _WORDS:
        yield said(section, _WORDS[name], value, line)
    elif name in _LIBRARIES and value == "auto":
        yield said(section, f"library.{name}", (*_LIBRARIES[name], None), line)
    elif name in _NUMBERS or name in _LIBRARIES:
        key, most = _NUMBERS.get(name, (f"library.{name}", 255))
        number = _number(value)
        if number is None or number > most or (number < 0 and number not in UNSET):
            yield SectionFlaw(f"{name}: {value!r} is not a number from 0 to {most}", line.place)
        elif number >= 0:
            meaning = (*_LIBRARIES[name], number) if name in _LIBRARIES else number
            yield said(section, key, meaning, line)


def _number(value: str) -> int | None:
    try:
        return int(value, 0) if value[:2].lower() == "0x" else int(value)
    except ValueError:
        return None


def bare_word(value: str) -> str:
    """Return a value without a pair of quotes around it."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def said(section: Section, key: str, value: object, line: SectionLine) -> HostFact:
    return HostFact(section.scope, key, value, (section.title, key), line.place)


_ON = {"on": True, "off": False}
_SETTING = re.compile(r"\*?\s*([A-Z][A-Z0-9_]*?)_P([12])\s++(\S.*)")
_VALUE = re.compile(r"(?:[^\s()]*\()?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})\)?$")
_FIELD = re.compile(r"\s*([a-z_]+)\s*\|\s*0x([0-9a-fA-F]{1,8})\s*$")
_MODES = {"adaptive_routing_forced_en": "reorder", "selective_repeat_forced_en": "retransmission"}
_FUNCTION = re.compile(r"([0-9a-fA-F:]+\.)[0-7]$")
_LLDP = re.compile(r"lldp\.([^.=\s]+)\.(chassis\.name|port\.ifname|port\.local)=(.*)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_MTU = re.compile(r"\s*active_mtu:\s*([0-9]{1,9})")


def ethtool(section: Section) -> Reading:
    """Yield global pause (-a), the driver (-i), or the time in ms after which a NIC ends its storm (--get-tunable)."""
    rx = tx = None
    for line in section.lines:
        name, _, value = line.text.partition(":")
        word = value.strip()
        if name == "RX" and word in _ON:
            rx = (_ON[word], line)
        elif name == "TX" and word in _ON:
            tx = (_ON[word], line)
        elif name == "driver":
            yield said(section, "driver", driver_of(word), line)
        elif name == "pfc-prevention-tout" and _NUMBER.fullmatch(word):
            yield said(section, "pfc_prevention", int(word), line)
    if rx and tx:
        yield said(section, "global_pause", rx[0] or tx[0], rx[1] if rx[0] else tx[1])
    elif "-a" in section.words and section.lines:
        yield SectionFlaw(f"{section.title}: the output ends before RX and TX", section.lines[-1].place)


def mlxconfig(section: Section) -> Iterator[HostFact]:
    """Yield the DCQCN settings that firmware starts with; running values may differ, except for the priority mask."""
    for line in section.lines:
        match = _SETTING.match(line.text.strip())
        number = _current(match[3]) if match else None
        if match is None or number is None:
            continue
        scope, name = _port(section.scope, int(match[2])), match[1].lower()
        path = (section.title, f"{match[1]}_P{match[2]}")
        if match[1] == MASK:
            yield HostFact(scope, "dcqcn.priority_mask", number, path, line.place)
        elif name in PARAMETERS:
            yield HostFact(scope, parameter_key(name), number, path, line.place, rank=1)


def mlxreg(section: Section) -> Iterator[HostFact]:
    """Yield the modes of new queue pairs in the register ROCE_ACCL, for the fields that the firmware marks as valid."""
    fields = {
        match[1]: (int(match[2], 16), line) for line in section.lines if (match := _FIELD.match(line.text))
    }
    for name, key in _MODES.items():
        if name in fields and fields.get(f"{name}_field_select", (0,))[0] == 1:
            value, line = fields[name]
            yield said(section, key, value == 1, line)


def _current(columns: str) -> int | None:
    """Return the current value of a setting: the second of three columns (default, current, next boot), else the first.

    It is None where that is no number.
    """
    words = columns.split()
    match = _VALUE.match(words[1] if len(words) == 3 else words[0])
    if match is None:
        return None
    return int(match[1], 16) if match[1][:2].lower() == "0x" else int(match[1])


def _port(scope: str, port: int) -> str:
    """Return the PCI address of port P1 (function .0) or P2 (.1) of a NIC; ``scope`` itself if it is no PCI address."""
    match = _FUNCTION.match(scope)
    return f"{match[1]}{port - 1}" if match else scope


def lldpctl(section: Section) -> Iterator[HostFact]:
    """Yield the neighbor of each interface by LLDP: switch and port, where the output has both."""
    fields_by_interface: dict[str, dict[str, tuple[str, SectionLine]]] = {}
    for line in section.lines:
        if match := _LLDP.match(line.text):
            fields_by_interface.setdefault(match[1], {})[match[2]] = (match[3].rstrip(), line)
    for interface, named in fields_by_interface.items():
        port = named.get("port.ifname") or named.get("port.local")
        if "chassis.name" in named and port:
            name, line = named["chassis.name"]
            path = (section.title, f"{interface} chassis.name")
            yield HostFact(interface, "neighbor", (name, port[0]), path, line.place)


def cma(section: Section) -> Iterator[HostFact]:
    """Yield the ToS byte (cma_roce_tos) or the RoCE version (cma_roce_mode) that RDMA-CM gives its connections."""
    for line in section.lines:
        word = line.text.strip()
        if section.words[0].endswith("tos") and _NUMBER.fullmatch(word):
            yield said(section, "cma_tos", int(word), line)
        elif word in ROCE_VERSIONS:
            yield said(section, "roce_version", ROCE_VERSIONS[word], line)


def ibv_devinfo(section: Section) -> Iterator[HostFact]:
    """Yield the active RDMA MTU of each port of a device, in bytes."""
    for line in section.lines:
        if match := _MTU.match(line.text):
            yield said(section, "rdma_mtu", int(match[1]), line)


_PAUSED = re.compile(r"\s*+PFC enabled:\s*+(none\s*+|[0-7][0-7,\s]*+)")
_TC_OF = re.compile(r"([0-7]):([0-7])")
_TSA_OF = re.compile(r"([0-7]):(ets|strict|vendor)")
_SELECTED = re.compile(r"\s*+(Priority|Sel|DSCP):\s*+([0-9]{1,3})\s*+")
_BY_DSCP = re.compile(r"\s*+priority:\s*+([0-7])\s++dscp:\s*+([0-9,\s]++)")
_DSCP_SELECTOR = 5
"""The selector of the application table for DSCPs (IEEE 802.1Q, table D-9)."""


def application_table(section: Section) -> Reading:
    """Yield PFC, ETS and the DSCP map of an interface as ``niccli get_qos`` and ``lldptool -t`` print them.

    ``lldptool -t -n`` prints the settings that the neighbor sends, which is a flaw: they are not those of the host.
    """
    if section.words[:1] == ("lldptool",) and any(
        word.startswith("-") and not word.startswith("--") and "n" in word for word in section.words[1:]
    ):
        yield SectionFlaw(
            f"{section.title}: what the neighbor advertises, which is not read", _first(section)
        )
        return
    priority_by_dscp: dict[int, int] = {}
    first = None
    entry: dict[str, int] = {}
    for line in section.lines:
        if match := _PAUSED.fullmatch(line.text):
            paused = () if match[1].startswith("none") else tuple(sorted(map(int, _NUMBER.findall(match[1]))))
            yield said(section, "pfc", paused, line)
        elif match := _SELECTED.fullmatch(line.text):
            entry = {**(entry if match[1] != "Priority" else {}), match[1]: int(match[2])}
            if entry.keys() == {"Priority", "Sel", "DSCP"} and entry["Sel"] == _DSCP_SELECTOR:
                priority_by_dscp[entry["DSCP"]] = entry["Priority"]
                first = first or line
        elif match := _BY_DSCP.fullmatch(line.text):
            priority_by_dscp |= {int(dscp): int(match[1]) for dscp in _NUMBER.findall(match[2])}
            first = first or line
    yield from _table_shares(section)
    if first is not None and all(dscp < 64 for dscp in priority_by_dscp):
        whole = tuple((dscp, priority_by_dscp.get(dscp, 0)) for dscp in range(64))
        yield said(section, "dscp_to_priority", whole, first)
        yield said(section, "trust", "dscp", first)._replace(rank=1)


def _table_shares(section: Section) -> Iterator[HostFact]:
    """Yield the ETS shares, the first of two tables: that of the interface stands before the recommended one."""
    found: dict[str, SectionLine] = {}
    for line in section.lines:
        name = line.text.strip().partition(":")[0]
        if name in ("PRIO_MAP", "TC Bandwidth", "TSA_MAP"):
            found.setdefault(name, line)
    if len(found) < 3:
        return
    tcs = {int(priority): int(tc) for priority, tc in _TC_OF.findall(found["PRIO_MAP"].text)}
    kinds = {int(tc): kind for tc, kind in _TSA_OF.findall(found["TSA_MAP"].text)}
    percent = [int(number) for number in re.findall(r"([0-9]{1,3})%", found["TC Bandwidth"].text)]
    if len(tcs) == 8:
        shares = Ets(
            tuple(tcs[priority] for priority in range(8)),
            tuple(_TSA[kinds.get(tc, "strict")] for tc in range(8)),
            tuple(percent[tc] if tc < len(percent) else 0 for tc in range(8)),
        )
        yield said(section, "ets", shares, found["PRIO_MAP"])


_TSA: dict[str, Tsa] = {"ets": "ets", "strict": "strict", "vendor": "vendor"}
_ADAPTER = re.compile(r"Name\s*+:\s*+(\S.*)")
_FLOW_CONTROL = re.compile(
    r"OperationalFlowControl\s*+:\s*+(?:Priority ([0-9,-]++) Enabled|(All Priorities Disabled))\s*+"
)


def adapter_qos(section: Section) -> Iterator[HostFact]:
    """Yield the priorities with PFC of the adapters in the output of ``Get-NetAdapterQos``."""
    scope = section.scope
    for line in section.lines:
        if match := _ADAPTER.fullmatch(line.text.strip()):
            scope = match[1]
        elif match := _FLOW_CONTROL.fullmatch(line.text.strip()):
            paused = tuple(sorted(_ranged(match[1]))) if match[1] else ()
            yield HostFact(scope, "pfc", paused, (section.title, f"{scope} pfc"), line.place)


def _ranged(text: str) -> set[int]:
    """Return the priorities in a list with ranges: ``0-2,4``."""
    ranges = re.findall(r"(?<![0-9-])([0-7])(?:-([0-7]))?(?![0-9-])", text)
    return {priority for start, end in ranges for priority in range(int(start), int(end or start) + 1)}


def _first(section: Section) -> ValuePlace:
    return section.lines[0].place if section.lines else ValuePlace(0, 0, 0, 0)
