"""Reads a job's environment: ``nccl.conf``, env files, and the output of ``env``.

``NCCL_IB_TIMEOUT`` and ``NCCL_IB_RETRY_CNT`` have defaults of 20 and 7 (NVIDIA/nccl src/transport/net_ib @5067397):
where a file sets one of them, the other is known too. A variable that no file sets may still be set when a job is
started.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.read.facts import HostFact, SectionFlaw

if TYPE_CHECKING:
    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine

_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")
_OURS = re.compile(r"(?:NCCL|UCX|MORI)_|NVME_TRANSPORT_TOS$")
_NUMBERS = {
    "NCCL_IB_TC": ("nccl.ib_tc", 255),
    "NCCL_IB_FIFO_TC": ("nccl.ib_fifo_tc", 255),
    "NCCL_IB_QPS_PER_CONNECTION": ("nccl.ib_qps_per_connection", 128),
    "NCCL_IB_GID_INDEX": ("nccl.ib_gid_index", 255),
    "NCCL_IB_TIMEOUT": ("nccl.ib_timeout", 31),
    "NCCL_IB_RETRY_CNT": ("nccl.ib_retry_count", 7),
}
"""Numeric variables: the key of each, and its largest valid value."""
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
"""The values that NCCL treats as unset."""


def read(section: Section) -> Reading:
    """Yield the variables of NCCL, UCX, MORI and NVMe over RDMA; invalid or too large numbers are flaws."""
    for line in section.lines:
        match = _ASSIGNED.match(line.text)
        if match is None or line.text.lstrip().startswith("#") or not _OURS.match(match[1]):
            continue
        value = _bare(match[2])
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
