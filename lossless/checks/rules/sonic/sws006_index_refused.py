"""The key of a queue or group row must name a port and numbers that the port has.

Severity: error
Subject: device

## What it does
Reads the keys of `QUEUE`, `BUFFER_QUEUE` and `BUFFER_PG` on a deployed device as orchagent does: one number, or a range
whose first number is below its second. A row that it drops is a warning where no lossless class of the port needs it;
so is one of which it reads a part, as it does of `3,4` and `3a`. Groups above 7 do not exist. Queues above 15 are a
warning of medium confidence, because the file does not declare the number of queues of the chip.

## Why it breaks a lossless fabric
orchagent drops the row with a line in its log, and throws where there is no number at all. A queue keeps its
default scheduler and marks nothing, a group has no headroom. A `BUFFER_PG` or `BUFFER_QUEUE` row that is there at
boot and is never applied costs more, unless the other of the two tables has the same key: the port waits for it and
is not brought up, and until all ports are ready orchagent applies no QoS at all. Of `QUEUE 0-20` it programs the
queues that there are. The schema takes any text for a queue, and `4-3` and `5-5` for a group.

## Bad
```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|5-5": {"scheduler": "scheduler.0"}   // <- here
  }
}
```

```json config_db base=leaf
{
  "BUFFER_PG": {
    "Ethernet0|5-4": {"profile": "ingress_lossy_profile"}   // <- here
  }
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PG": {
    "Ethernet0|4-5": {"profile": "ingress_lossy_profile"}
  }
}
```

## Fix
Write one number, or the lower number, a hyphen and the higher one.

## Sources
- sonic-swss orchagent/orch.cpp @015527d (parseIndexRange), orchagent/bufferorch.cpp @51de623 (isPortReady)
- sonic-swss orchagent/portsorch.cpp @00190d7 (a port that is not ready is not configured further)
- sonic-buildimage src/sonic-yang-models @086b03b (BUFFER_QUEUE takes queues 0 to 15, BUFFER_PG groups 0 to 7)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.formats.sonic.effective.objects import index_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow, NumberedKeys


_LAST = {"BUFFER_PG": 7, "QUEUE": 15, "BUFFER_QUEUE": 15}
_WAITS = "at boot the port waits for the row, and orchagent applies no QoS before all ports are ready"
_PLAIN = re.compile(r"[0-9]+(-[0-9]+)?").fullmatch
_WHAT = {"BUFFER_PG": "group", "QUEUE": "queue", "BUFFER_QUEUE": "queue"}


def check(device: Device) -> Results:
    """Yield a violation per queue or group range in a key that orchagent refuses or misreads, or that is too high."""
    for table, keys in device.tables.keys.items():
        if keys.malformed:
            yield from merged(_malformed(device, table, keys))
        read = {text: numbers for text, numbers in keys.ranges.items() if numbers is not None}
        high = {text for text, numbers in read.items() if numbers.stop > _LAST[table] + 1}
        if high:
            yield from merged(_too_high(device, table, high))
        misread = {text: numbers for text, numbers in read.items() if not _PLAIN(text) and text not in high}
        if misread:
            yield from merged(_misread(device, table, misread))


def _malformed(device: Device, table: str, keys: NumberedKeys) -> Iterator[Violation]:
    what = _WHAT[table]
    for row in {id(row): row for row in keys.malformed}.values():
        port, bar, index = row.key.rpartition("|")
        is_key = bool(bar and port) and port.count("|") in (0, 2)
        throws = is_key and index_range(index) == "throws"
        if not is_key:
            problem = f"{row.key!r} is not a port and a {what}: orchagent drops the row"
        elif throws:
            problem = f"{index!r} is no {what}: orchagent throws on it, and applies nothing of the row"
        else:
            problem = f"{index!r} is no range from a lower to a higher {what}: orchagent drops the row"
        yield _index_refused(device, table, row, port, f"{table} {problem}", throws=throws)


def _too_high(device: Device, table: str, high: set[str]) -> Iterator[Violation]:
    last, what = _LAST[table], _WHAT[table]
    for row in device.tables.table(table).values():
        port, _, index = row.key.rpartition("|")
        if index in high and port != "CPU":
            outcome = "programs those there are" if table == "QUEUE" else "drops the row"
            problem = f"{table} names {what} {index}, and ports have {what}s 0 to {last}: orchagent {outcome}"
            # The file does not say how many queues the chip has.
            yield _index_refused(device, table, row, port, problem).certain_if(what != "queue")


def _misread(device: Device, table: str, misread: dict[str, range]) -> Iterator[Violation]:
    for row in device.tables.table(table).values():
        port, _, index = row.key.rpartition("|")
        if index in misread:
            numbers, what = misread[index], _WHAT[table]
            spelled = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
            problem = f"{table} {index!r} is read as {what} {spelled}: orchagent stops at what is no digit"
            yield _index_refused(device, table, row, port, problem)._replace(severity="warning")


def _index_refused(
    device: Device, table: str, row: ConfigRow, port: str, problem: str, *, throws: bool = False
) -> Violation:
    from lossless.checks.rules.sonic.lossless_rows import THROWS, keeps_ports_waiting, severity_of

    waits = _WAITS if keeps_ports_waiting(device, table, row.key) else ""
    names = [name for name in port.rpartition("|")[2].split(",") if name]
    return Violation(
        origin=device.tables.origin(table, row),
        message=problem,
        note="; ".join(filter(None, (waits, THROWS if throws else ""))),
        help="write one number, or a lower number, a hyphen and a higher one",
        elements=tuple(element(device, name) for name in names),
        data={"table": table, "key": row.key},
        severity=None if throws else severity_of(device, table, (row.key,)),
    )
