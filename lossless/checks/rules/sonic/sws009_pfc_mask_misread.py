"""A list of priorities must have a form that all of SONiC reads in the same way.

Severity: error
Fix: unsafe
Subject: device

## What it does
Reads `pfc_enable` and `pfcwd_sw_enable` of a deployed device as orchagent does, and as buffermgrd does, and reports
parts that they read differently, parts that are no priority, and parts that orchagent throws on. A part that orchagent
reads and buffermgrd does not is an error where a priority that it names has no headroom on the port, or has traffic and
is not paused there, and otherwise a warning. Blanks before a number and repeated numbers do no harm.

## Why it breaks a lossless fabric
orchagent reads `3-4` as 3 and switches PFC on for it alone. buffermgrd cannot read it and makes no lossless group:
priority 3 pauses its peer for a group without headroom, and priority 4 does not pause at all. An empty part or a word
makes orchagent throw, and the whole row is not applied.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3-3"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3"
  }}
}
```

## Fix
Write the priorities one by one, parted by commas: `3,4`.

## Sources
- sonic-swss orchagent/qosorch.cpp @bcd579d (stoi of each part), cfgmgr/buffermgr.cpp @029506c (to_uint)
- sonic-swss-common common/converter.h @07a03cb (to_uint throws on anything behind the digits)
- sonic-swss orchagent/orch.cpp @e6b0c5b (a row that throws is caught and tried again)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.formats.sonic.read.tables import (
    MASK_FIELDS,
    bit_of,
    priority_list,
    read_number,
    read_priorities,
)
from lossless.ground.basics.findings import Edit
from lossless.ground.basics.records import Record
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


_DIGITS = frozenset("01234567")


def check(device: Device) -> Results:
    """Yield a violation per odd part of a list of priorities (``pfc_enable``, ``pfcwd_sw_enable``), with its ports."""
    rows = device.tables.table("PORT_QOS_MAP")
    for field in MASK_FIELDS:
        texts = {row.fields[field] for row in rows.values() if field in row.fields}
        odd = {text: parts for text in texts if (parts := _odd_list(field, text)).problems}
        if odd:
            yield from merged(_violations(device, field, odd))


class _OddList(Record):
    """A list of priorities: each problem of its parts with the severity, and the same priorities written plainly.

    The severity of a problem is None where it depends on the port; ``plainly`` is None where a part cannot be read.
    """

    problems: tuple[tuple[str, Severity | None], ...]
    plainly: str | None


_MOST_PROBLEMS = len(PRIORITIES)
"""Problems of a list that are named: one for each priority that it can have."""


def _odd_list(field: str, text: str) -> _OddList:
    """Return the problems of a list, each once; of more than can be named the errors first, and a count of the rest."""
    problems = list(dict.fromkeys(_odd_parts(field, text)))
    if not problems:
        return _OddList((), None)
    if len(problems) > _MOST_PROBLEMS:
        left = f"{len(problems) - _MOST_PROBLEMS:,} more parts are no priorities, or not written plainly"
        problems.sort(key=lambda problem: problem[1] == "warning")
        problems = [*problems[:_MOST_PROBLEMS], (left, "warning")]
    numbers = (read_number(part) for part in dict.fromkeys(text.removesuffix(",").split(",")))
    is_read = all(number is not None and bit_of(number) in PRIORITIES for number in numbers)
    return _OddList(tuple(problems), priority_list(read_priorities(text)) if is_read else None)


def _violations(device: Device, field: str, odd: dict[str, _OddList]) -> Iterator[Violation]:
    from lossless.checks.rules.sonic.lossless_rows import THROWS

    for port, row in device.tables.table("PORT_QOS_MAP").items():
        if port == "global" or field not in row.fields:
            continue
        text = row.fields[field]
        if text not in odd:
            continue
        origin, waits = device.tables.origin("PORT_QOS_MAP", row, field), _waits(device, row)
        plainly, is_unprotected = odd[text].plainly, None
        for problem, fixed in odd[text].problems:
            if fixed is None and is_unprotected is None:
                is_unprotected = _is_unprotected(device, port, text)
            severity = fixed or ("error" if is_unprotected else "warning")
            if waits:
                # orchagent does not reach the list (CFG002).
                severity = "warning"
            yield Violation(
                origin=origin,
                message=f"{field} {text!r}: {problem}",
                note=THROWS if severity == fixed == "error" else "",
                help="write the priorities one by one, separated by commas without blanks",
                elements=(element(device, port),),
                data={"value": text},
                severity=severity,
                fix=() if plainly is None else (Edit(origin, "set", plainly),),
            )


def _odd_parts(field: str, text: str) -> Iterator[tuple[str, Severity | None]]:
    """Yield the problem of each odd part and its severity: None where that depends on the port.

    A comma at the end makes no part.
    """
    from lossless.formats.sonic.effective.objects import to_uint
    from lossless.formats.sonic.effective.programmed import priority_mask

    for part in text.removesuffix(",").split(",") if text else ():
        if part.lstrip() in _DIGITS:
            continue
        read = priority_mask(part)
        if not part or read is None:
            yield f"orchagent throws on {part!r} and applies nothing of the row", "error"
        elif not read:
            yield f"there is no priority {read_number(part)}, and nothing is switched on for it", "warning"
        elif to_uint(part, 0, 255) == read[0]:
            continue
        elif field == "pfc_enable":
            yield (
                f"orchagent reads {part!r} as priority {read[0]}, and buffermgrd makes no group for it",
                None,
            )
        else:
            yield f"orchagent reads {part!r} as priority {read[0]} alone", "warning"


def _waits(device: Device, row: ConfigRow) -> bool:
    """Return whether a PORT_QOS_MAP row waits for another row: one that does not exist, or was not applied."""
    fate = device.programmed.fates.get(("PORT_QOS_MAP", row.key))
    return fate is not None and fate.kind == "waits"


def _is_unprotected(device: Device, name: str, text: str) -> bool:
    """Return whether a priority that a list names has no headroom on a port, or is not paused there and has traffic.

    True in a file without ports.
    """
    from lossless.checks.rules.pfc.priorities import used_classes
    from lossless.checks.rules.sonic.lossless_rows import lacks_headroom
    from lossless.formats.sonic.effective.programmed import priority_mask

    if not device.tables.table("PORT"):
        return True
    port = device.view.port(device.switch.name, name)
    if port is None or port.qos is None:
        return False
    paused = {*(priority_mask(text) or ())}
    classes = device.switch.classes
    named = {cls.priority for cls in classes.lossless}
    carried = used_classes(port.qos) if classes.knowledge == "inferred" else named
    meant = {int(digit) for digit in re.findall(r"(?<![\w.])[0-7](?![\w.])", text)}
    return bool((meant - paused) & carried) or any(lacks_headroom(device, name, group) for group in paused)
