"""Reads ``mlnx_qos -i IF``: DCBX, trust, DSCP map, receive buffers, cable, PFC and ETS shares of one interface.

Source: Mellanox/mlnx-tools python/mlnx_qos @088fadb (pretty_print) and python/dcbnetlink.py (printAppSelector).
DSCPs that are not listed have priority 0: the driver resets one whose entry is deleted to that (Linux
drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_delapp).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.read.facts import HostFact, SectionFlaw
from lossless.model.fabric.cluster import priorities_of_flags
from lossless.model.fabric.hosts import Ets, ReceiveBuffers
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine
    from lossless.model.fabric.hosts import Tsa

_MAPPED = re.compile(r"\s*prio:([0-7])\s+dscp:([0-9,\s]+)$")
_FLAGS = re.compile(r"\s*enabled((?:\s+[01]){8})\s*$")
_BUFFERS = re.compile(r"\s*buffer((?:\s+[0-7]){8})\s*$")
_SIZES = re.compile(r"Receive buffer size \(bytes\):\s*((?:[0-9]{1,9},){8})")
_LARGEST = re.compile(r"Receive buffer size \(bytes\):.*\bmax_buffer_size=([0-9]{1,12})")
_CABLE = re.compile(r"Cable len:\s*([0-9]{1,9})")
_CLASS = re.compile(r"tc:\s*([0-9])\s+ratelimit:.*tsa:\s*(strict|ets|vendor)(?:,\s*bw:\s*([0-9]{1,3})%)?")
_PRIORITY = re.compile(r"\s+priority:\s+([0-7])\s*$")
_NUMBER = re.compile(r"[0-9]{1,3}")
_DSCPS = 64
_ADAPTERS = {"OS controlled": "os", "Firmware controlled": "firmware"}


def read(section: Section) -> Reading:
    """Yield the facts in the output of mlnx_qos; an output that ends before its PFC configuration is a flaw."""
    facts = [*_settings(section), *_map(section), *_buffers(section), *_shares(section)]
    yield from facts
    if section.lines and not any(fact.key == "pfc" for fact in facts):
        yield SectionFlaw(
            f"{section.words[0]}: the output ends before its PFC configuration", section.lines[-1].place
        )


def printed_beside(section: Section) -> Iterator[HostFact]:
    """Yield further facts, also of incomplete tables: of buffers, of TCs, and the buffer and TC of each priority.

    ``read`` yields only complete tables of buffers and TCs, since a host is configured by all of them together.
    """
    for line in section.lines:
        if match := _LARGEST.match(line.text):
            yield _said(section, "max_buffer_size", int(match[1]), line)
        if match := _SIZES.match(line.text):
            for number, size in enumerate(match[1].rstrip(",").split(",")):
                yield _said(section, f"buffer_size.{number}", int(size), line)
        elif match := _BUFFERS.match(line.text):
            yield _said(section, "priority_to_buffer", dict(enumerate(map(int, match[1].split()))), line)
    yield from _printed_classes(section)


def _printed_classes(section: Section) -> Iterator[HostFact]:
    priorities: dict[int, int] = {}
    first, tc = None, 0
    for line in section.lines:
        if match := _CLASS.match(line.text):
            first, tc = first or line, int(match[1])
            yield _said(section, f"tsa.{tc}", _tsa(match[2]), line)
            if match[3]:
                yield _said(section, f"bw.{tc}", int(match[3]), line)
        elif first is not None and (match := _PRIORITY.match(line.text)):
            priorities[int(match[1])] = tc
    if first is not None:
        yield _said(section, "priority_to_tc", priorities, first)


def _settings(section: Section) -> Iterator[HostFact]:
    for line in section.lines:
        name, _, value = line.text.partition(":")
        word = value.strip()
        if name == "DCBX mode" and word in _ADAPTERS:
            yield _said(section, "dcbx", _ADAPTERS[word], line)
        elif name == "Priority trust state" and word in ("dscp", "pcp"):
            yield _said(section, "trust", word, line)
        elif match := _CABLE.match(line.text):
            yield _said(section, "pfc_delay", int(match[1]), line)
        elif match := _FLAGS.match(line.text):
            flags = match[1].split()
            yield _said(section, "pfc", priorities_of_flags(flag == "1" for flag in flags), line)


def _map(section: Section) -> Iterator[HostFact]:
    priority_by_dscp: dict[int, int] = {}
    lines: list[SectionLine] = []
    for line in section.lines:
        match = _MAPPED.match(line.text)
        if match is None:
            continue
        lines.append(line)
        for dscp in (number for word in _NUMBER.findall(match[2]) if (number := int(word)) < _DSCPS):
            priority_by_dscp[dscp] = int(match[1])
            yield _said(section, f"dscp_to_priority.{dscp}", int(match[1]), line)
    if lines:
        whole = tuple((dscp, priority_by_dscp.get(dscp, 0)) for dscp in range(_DSCPS))
        yield _said(section, "dscp_to_priority", whole, lines[0])


def _buffers(section: Section) -> Iterator[HostFact]:
    sizes = next((m for line in section.lines if (m := _SIZES.match(line.text))), None)
    filled = next(((m, line) for line in section.lines if (m := _BUFFERS.match(line.text))), None)
    if sizes is not None and filled is not None:
        match, line = filled
        numbers = tuple(int(size) for size in sizes[1].split(",") if size)
        priorities = tuple(int(buffer) for buffer in match[1].split())
        yield _said(section, "buffers", ReceiveBuffers(priorities, numbers), line)


def _shares(section: Section) -> Iterator[HostFact]:
    """Yield the ETS shares where every priority is listed under a TC from 0 to 7."""
    tsa: dict[int, Tsa] = {}
    percent: dict[int, int] = {}
    priorities: dict[int, int] = {}
    first, tc = None, None
    for line in section.lines:
        if match := _CLASS.match(line.text):
            first, tc = first or line, int(match[1])
            tsa[tc] = _tsa(match[2])
            percent[tc] = int(match[3] or 0)
        elif tc is not None and (match := _PRIORITY.match(line.text)):
            priorities[int(match[1])] = tc
    if first is not None and len(priorities) == 8 and {*priorities.values()} <= {*PRIORITIES}:
        # Less than what dcb says: how TCs without a priority are chosen is not printed.
        yield _said(section, "ets", _ets(priorities, tsa, percent), first)._replace(rank=1)


def _ets(priorities: Mapping[int, int], tsa: Mapping[int, Tsa], percent: Mapping[int, int]) -> Ets:
    return Ets(
        tuple(priorities[priority] for priority in PRIORITIES),
        # TCs without a priority are not printed; nothing is ever sent by them.
        tuple(tsa.get(tc, "strict") for tc in PRIORITIES),
        tuple(percent.get(tc, 0) for tc in PRIORITIES),
    )


def _tsa(word: str) -> Tsa:
    return "ets" if word == "ets" else "vendor" if word == "vendor" else "strict"


def _said(section: Section, key: str, value: object, line: SectionLine) -> HostFact:
    return HostFact(section.scope, key, value, (section.title, key), line.place)
