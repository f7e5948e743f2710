"""Reads the output of small tools on hosts, and a job's environment.

The tools are ethtool, mlxconfig, mlxreg, lldpctl, cma_roce_tos and cma_roce_mode, ibv_devinfo. Sources: ethtool
netlink/pause.c (pause_reply_cb) and ethtool.c (print_tunable, dump_drvinfo); mstflint mlxconfig (NAME, then a number,
or a word with the number in parentheses); NVIDIA, Adaptive Retransmission: Parameters Control, Sample Usage, for
mlxreg (a field, a bar, a number); lldpd ``-f keyvalue``; Mellanox/mlnx-tools sbin/cma_roce_tos and cma_roce_mode.

The environment is that of ``nccl.conf``, of env files, or the output of ``env``. ``NCCL_IB_TIMEOUT`` and
``NCCL_IB_RETRY_CNT`` have defaults of 20 and 7 (NVIDIA/nccl src/transport/net_ib @5067397): where a file sets one of
them, the other is known too. A variable that no file sets may still be set when a job is started.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.facts import HostFact, SectionFlaw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine


_ASSIGNED = re.compile(r"\s*(?:export\s++)?([A-Za-z_][A-Za-z0-9_]*+)\s*+=\s*+(.*)")
_OURS = re.compile(r"(?:NCCL|UCX|MORI)_|NVME_TRANSPORT_TOS$")
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
        if match is None or line.text.lstrip().startswith("#") or not _OURS.match(match[1]):
            continue
        value = _bare(match[2].rstrip())
        yield _said(section, f"variable.{match[1]}", (match[1], value), line)
        yield from _meaning(section, match[1], value, line)


def _meaning(section: Section, name: str, value: str, line: SectionLine) -> Reading:
    if name in _WORDS:
        yield _said(section, _WORDS[name], value, line)
    elif name in _LIBRARIES and value == "auto":
        yield _said(section, f"library.{name}", (*_LIBRARIES[name], None), line)
    elif name in _NUMBERS or name in _LIBRARIES:
        key, most = _NUMBERS.get(name, (f"library.{name}", 255))
        number = _number(value)
        if number is None or number > most or (number < 0 and number not in UNSET):
            yield SectionFlaw(f"{name}: {value!r} is not a number from 0 to {most}", line.place)
        elif number >= 0:
            meaning = (*_LIBRARIES[name], number) if name in _LIBRARIES else number
            yield _said(section, key, meaning, line)


def _number(value: str) -> int | None:
    try:
        return int(value, 0) if value[:2].lower() == "0x" else int(value)
    except ValueError:
        return None


def _bare(value: str) -> str:
    """Return a value without the quotes that a shell removes."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _said(section: Section, key: str, value: object, line: SectionLine) -> HostFact:
    return HostFact(section.scope, key, value, (section.title, key), line.place)


_ON = {"on": True, "off": False}
_DRIVERS = {"mlx5_core": "mlx5", "bnxt_en": "bnxt_re"}
"""The RDMA driver of each Ethernet driver."""
_SETTING = re.compile(r"\*?\s*([A-Z][A-Z0-9_]*?)_P([12])\s++(\S.*)")
_VALUE = re.compile(r"(?:[^\s()]*\()?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})\)?$")
_FIELD = re.compile(r"\s*([a-z_]+)\s*\|\s*0x([0-9a-fA-F]{1,8})\s*$")
_MODES = {"adaptive_routing_forced_en": "reorder", "selective_repeat_forced_en": "retransmission"}
_FUNCTION = re.compile(r"([0-9a-fA-F:]+\.)[0-7]$")
_LLDP = re.compile(r"lldp\.([^.=\s]+)\.(chassis\.name|port\.ifname|port\.local)=(.*)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_MTU = re.compile(r"\s*active_mtu:\s*([0-9]{1,9})")


def driver_of(module: str) -> str:
    """Return the RDMA driver of an Ethernet driver; the same name for an unknown one."""
    return _DRIVERS.get(module, module)


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
            yield _said(section, "driver", driver_of(word), line)
        elif name == "pfc-prevention-tout" and _NUMBER.fullmatch(word):
            yield _said(section, "pfc_prevention", int(word), line)
    if rx and tx:
        yield _said(section, "global_pause", rx[0] or tx[0], rx[1] if rx[0] else tx[1])
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
            yield _said(section, key, value == 1, line)


def parameter_key(name: str) -> str:
    """Return the key of a DCQCN parameter in host facts, by its ConnectX name."""
    if name == "cnp_802p_prio":
        return "dcqcn.cnp_priority"
    return "dcqcn.cnp_dscp" if name == "cnp_dscp" else f"dcqcn.value.{name}"


def _current(columns: str) -> int | None:
    """Return the current value of a setting: the only column, or the second of three (default, current, next boot).

    It is None where that is no number.
    """
    words = columns.split()
    match = _VALUE.match(words[1] if len(words) == 3 else words[0])
    if match is None:
        return None
    return int(match[1], 16) if match[1][:2].lower() == "0x" else int(match[1])


def _port(scope: str, port: int) -> str:
    """Return the PCI function of a NIC port: .0 is P1, .1 is P2; ``scope`` itself where it is no PCI address."""
    match = _FUNCTION.match(scope)
    return f"{match[1]}{port - 1}" if match else scope


def lldpctl(section: Section) -> Iterator[HostFact]:
    """Yield the switch and port that interfaces receive by LLDP, for those that receive both."""
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
            yield _said(section, "cma_tos", int(word), line)
        elif word in ROCE_VERSIONS:
            yield _said(section, "roce_version", ROCE_VERSIONS[word], line)


ROCE_VERSIONS = {"IB/RoCE v1": 1, "RoCE v1": 1, "RoCE v2": 2}
"""RoCE versions by the kernel's spelling (Linux drivers/infiniband/core/cache.c, gid_type_str)."""


def ibv_devinfo(section: Section) -> Iterator[HostFact]:
    """Yield the active RDMA MTU of each port of a device, in bytes."""
    for line in section.lines:
        if match := _MTU.match(line.text):
            yield _said(section, "rdma_mtu", int(match[1]), line)
