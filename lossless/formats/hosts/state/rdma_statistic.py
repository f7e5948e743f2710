"""Reads ``rdma statistic``: hardware counters of RDMA links, on one line each, pretty, or as JSON.

``link mlx5_0/1 rx_write_requests 0 ...``; with ``-p`` a line ``link mana_0/1`` and one counter a line below it; with
``-j`` objects with ``ifname`` and ``port``. Counters of QPs have ``cntn`` after the port, and the numbers of their QPs
on a line ``LQPN: <178,179>``, in JSON ``lqpn``.
Source: iproute2 rdma/stat.c and man8/rdma-statistic.8 (iproute2/iproute2 @ee2a4a8).
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import counted, json_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_LINK = re.compile(r"\s*link (\S+)/([0-9]+)(?:\s++(.*))?")
_COUNTER = re.compile(r"\s*([A-Za-z_]\w*)\s+([0-9]+)\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_JSON = re.compile(r"^\s*\[\s*\{.*?\"ifname\"\s*:", re.DOTALL)
_QP_NUMBERS = re.compile(r"\s*LQPN: <[0-9,]*>\s*")
_OF_QPS = ("cntn", "qp-type", "type", "pid", "comm", "lqpn", "rqpn")
_SIGN = re.compile(r"^[^\S\n]*+link \S+/[0-9]+(?:\s+[A-Za-z_]\w* [0-9]+\b|\s*$)", re.MULTILINE)


def is_form(section: PrintedSection) -> bool:
    """Return whether a text has RDMA links with counters, or is JSON with the name and port of links."""
    head = section.head
    return bool(_SIGN.search(head) or (_JSON.match(head[:2000]) and '"port"' in head))


def read(section: PrintedSection) -> StateItems:
    """Yield every counter of every RDMA link, and of its queue pairs."""
    if section.text.lstrip().startswith("["):
        yield from _from_json(section)
        return
    link: Identity = ()
    for line in section.lines:
        if not line.text.strip() or _QP_NUMBERS.fullmatch(line.text):
            continue
        if match := _LINK.fullmatch(line.text):
            words = (match[3] or "").split()
            link = _of_counter(match[1], match[2], words[1] if words[:1] == ["cntn"] and words[1:] else None)
            yield from _pairs(section, link, words, line)
        elif match := _COUNTER.fullmatch(line.text):
            yield _reading(link, match[1], match[2], section.place(line, match[1]))
        else:
            yield from _pairs(section, link, line.text.split(), line)


def _of_counter(device: str, port: object, qp_counter: object) -> Identity:
    """Return the identity of a link's counters, of those of QPs with the number of the counter."""
    link = (("device", device), ("port", str(port)))
    return link if qp_counter is None else (*link, ("qp_counter", str(qp_counter)))


def _pairs(section: PrintedSection, link: Identity, words: list[str], line: PrintedLine) -> StateItems:
    """Yield the counters of a line; some words about queue pairs are no counters. A cut line is a problem."""
    for name, value in zip_longest(words[::2], words[1::2], fillvalue=""):
        if name in _OF_QPS:
            continue
        if not _WORD.fullmatch(name) or counted(value) is UNKNOWN:
            yield section.problem(line, f"{name}: expected a number after it; the line may be cut", name)
            return
        yield _reading(link, name, value, section.place(line, name))


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
                    yield _reading(link, name, value, (index, name))


def _reading(link: Identity, name: str, value: Any, path: tuple[str | int, ...]) -> StateReading:
    number = counted(str(value))
    return StateReading(link, name, number, "", "boot", path, name)
