"""Reads ``dcb pfc|ets|buffer|app show dev IF``, as text and with ``-j``.

``prio-pfc 0:off 1:on ...`` (``pg-pfc`` before the tool was released), with ``-s`` also ``requests`` (pauses that were
sent) and ``indications`` (received), as man8/dcb-pfc.8 has it. Sizes of buffers are in units of tc, where ``Kb`` is
1024 bytes and ``b`` one byte; the tool rounds them. Sources: iproute2 dcb/dcb_{pfc,ets,buffer}.c, lib/utils.c
print_size and man8/dcb-buffer.8 (iproute2/iproute2 @ee2a4a8).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown
from lossless.ground.documents.printed_lines import json_of, value_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import CountedSince, Identity, StateItems


class DcbField(NamedTuple):
    """The reading for a key of dcb: ``kind`` is the part (priority, TC, buffer, DSCP) that each entry belongs to.

    It is empty for a single value.
    """

    kind: str
    name: str
    unit: str = ""
    since: CountedSince = "now"


_FIELDS = {
    "pfc-cap": DcbField("", "pfc_cap", "classes"),
    "macsec-bypass": DcbField("", "macsec_bypass"),
    "delay": DcbField("", "pfc_delay", "bit times"),
    "prio-pfc": DcbField("priority", "pfc_enabled"),
    "pg-pfc": DcbField("priority", "pfc_enabled"),
    "requests": DcbField("priority", "pfc_tx", "packets", "boot"),
    "indications": DcbField("priority", "pfc_rx", "packets", "boot"),
    "prio-buffer": DcbField("priority", "buffer"),
    "buffer-size": DcbField("buffer", "size", "bytes"),
    "total-size": DcbField("", "total_size", "bytes"),
    "prio-tc": DcbField("priority", "tc"),
    "tc-bw": DcbField("tc", "bw", "percent"),
    "tc-tsa": DcbField("tc", "tsa"),
    "ets-cap": DcbField("", "ets_cap", "classes"),
    "default-prio": DcbField("", "default_priority"),
    "dscp-prio": DcbField("dscp", "priority"),
}
_KEY = re.compile(r"(?<!\S)(" + "|".join(map(re.escape, _FIELDS)) + r")(?=\s)")
_SIGN = re.compile(
    r"^[ \t]*(?:pfc-cap\s+[0-9]|(?:(?:prio|pg)-pfc|prio-buffer|buffer-size|prio-tc|tc-tsa)\s+0:)",
    re.MULTILINE,
)
_JSON = re.compile(
    r"\s*\{(?:.|\n){0,400}?\"(?:prio_pfc|pfc_cap|prio_buffer|buffer_size|tc_tsa|prio_tc|dscp_prio)\"\s*:"
)
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([KM]?)b")
_SCALE = {"": 1, "K": 1024, "M": 1024 * 1024}


def tc_size_bytes(word: str) -> int | Unknown:
    """Return a size in the notation of tc in bytes: ``10Kb``, ``1Mb``, ``700b``; UNKNOWN for other text."""
    match = _SIZE.fullmatch(word)
    return UNKNOWN if match is None else round(float(match[1]) * _SCALE[match[2]])


def is_form(section: PrintedSection) -> bool:
    """Return whether a text has the keys of dcb, or JSON has those of its objects."""
    head = section.head
    return bool(_SIGN.search(head) or _JSON.match(head))


def read(section: PrintedSection) -> StateItems:
    """Yield the settings and counters of each priority, traffic class, DSCP and buffer, and of the interface."""
    device: Identity = (("device", section.named),) if section.named else ()
    if section.text.lstrip().startswith("{"):
        yield from _from_json(section, device)
        return
    for line in section.lines:
        keys = list(_KEY.finditer(line.text))
        for match, end in zip(keys, [*(key.start() for key in keys[1:]), len(line.text)], strict=False):
            words = line.text[match.end() : end].split()
            yield from _entries(device, match[1], words, section.place(line, match[1]))
        if not keys and line.text.strip():
            yield section.problem(line, f"not read: {line.text.strip()!r}")


def _entries(device: Identity, key: str, words: list[str], path: Path) -> Iterator[StateReading]:
    field = _FIELDS[key]
    for word in words if field.kind else words[:1]:
        number, _, value = word.partition(":") if field.kind else ("", "", word)
        part: Identity = ((field.kind, number),) if field.kind else ()
        yield _reading((*device, *part), field, value, (*path, *([number] if number else [])), key)


def _from_json(section: PrintedSection, device: Identity) -> StateItems:
    data = json_of(section)
    if isinstance(data, Problem):
        yield data
        return
    for key, value in data.items():
        field = _FIELDS.get(key.replace("_", "-"))
        if field is not None:
            for part, entry, path in _json_entries(field, value):
                yield _reading((*device, *part), field, entry, (key, *path), key)


def _json_entries(field: DcbField, value: Any) -> Iterator[tuple[Identity, Any, Path]]:
    """Yield the entries of a JSON value of dcb: lists are indexed by position, DSCP maps are lists of pairs."""
    if not field.kind or not isinstance(value, list):
        yield (), value, ()
        return
    for index, entry in enumerate(value):
        if isinstance(entry, list) and len(entry) == 2:
            yield ((field.kind, str(entry[0])),), entry[1], (index,)
        elif not isinstance(entry, (list, dict)):
            yield ((field.kind, str(index)),), entry, (index,)


def _reading(identity: Identity, field: DcbField, value: Any, path: Path, key: str) -> StateReading:
    said = _value(field, value)
    return StateReading(identity, field.name, said, field.unit, field.since, path, key)


def _value(field: DcbField, value: Any) -> int | float | str | Unknown:
    if value in ("on", True) or value in ("off", False):
        return int(value in ("on", True))
    if field.name in ("size", "total_size") and not str(value).isdigit():
        return tc_size_bytes(str(value))
    return value_of(str(value))
