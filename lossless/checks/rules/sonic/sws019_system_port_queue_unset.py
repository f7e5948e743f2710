"""A card of a chassis must set the queues that it has for the ports of all cards.

Severity: warning
Subject: device
Needs: SYSTEM_PORT

## What it does
Looks at the rows of `QUEUE` and `BUFFER_QUEUE` of a card with virtual output queues (`switch_type` voq). Rows whose
host, ASIC and port are no system port are dropped, and reported; only the ASIC's name of the card's own rows may be
written in capitals. Each lossless queue that marks on the card's own ports must mark on the system ports of other cards
too, and each must have a buffer profile that is not one of lossy queues. Settings that the card's own ports lack are
ECN001's and BUF022's, unless none of them has it. CPU, in-band and recirculation ports are left out.

## Why it breaks a lossless fabric
On such a chassis packets wait at the card that they enter, in a queue for the port that they leave by. A card without
rows for ports of other cards does not mark traffic that crosses the chassis, and limits it by the chip's defaults.

## Bad
```json config_db base=none
{
  "DEVICE_METADATA": {"localhost": {"hostname": "lc1", "switch_type": "voq", "asic_name": "asic0", "switch_id": "0",
    "max_cores": "8"}},
  "PORT": {"Ethernet0": {"lanes": "1,2", "alias": "etp1", "index": "1", "speed": "100000", "admin_status": "up"}},
  "SYSTEM_PORT": {"lc2|asic0|Ethernet0": {"speed": "100000", "system_port_id": "1", "switch_id": "2",
    "core_index": "0", "core_port_index": "1", "num_voq": "8"}},
  "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}},
  "QUEUE": {
    "LC2|asic0|Ethernet0|3": {"scheduler": "scheduler.0"}   // <- here
  }
}
```

## Good
```json config_db base=none
{
  "DEVICE_METADATA": {"localhost": {"hostname": "lc1", "switch_type": "voq", "asic_name": "asic0", "switch_id": "0",
    "max_cores": "8"}},
  "PORT": {"Ethernet0": {"lanes": "1,2", "alias": "etp1", "index": "1", "speed": "100000", "admin_status": "up"}},
  "SYSTEM_PORT": {"lc2|asic0|Ethernet0": {"speed": "100000", "system_port_id": "1", "switch_id": "2",
    "core_index": "0", "core_port_index": "1", "num_voq": "8"}},
  "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}},
  "QUEUE": {
    "lc2|asic0|Ethernet0|3": {"scheduler": "scheduler.0"}
  }
}
```

## Fix
Write the rows for every system port of the chassis, by its name in `SYSTEM_PORT`.

## Sources
- sonic-swss orchagent/qosorch.cpp, handleQueueTable and applyWredProfileToQueue @e6b0c5b (WRED goes to the virtual
  output queue of the system port)
- sonic-swss orchagent/bufferorch.cpp, processQueue @e6b0c5b (so does the buffer profile)
- sonic-buildimage files/build_templates/qos_config.j2 @0791705 (templates write rows for all system ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.ecn.wred_profiles import lossless_queues
from lossless.formats.sonic.read.tables import card_of, carries_traffic, system_port_rows
from lossless.formats.sonic.to_model.ports import index_range
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.ecn.wred_profiles import LosslessQueue
    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow, SystemPortRows

_SHOWN = 3


def check(device: Device) -> Results:
    """Yield a violation per set of rows that name no system port, and per set of queues that system ports lack."""
    card = card_of(device.metadata)
    if not card.voq or not device.tables.table("PORT"):
        return
    queues, names = (
        [*lossless_queues(device.view)],
        sorted(device.tables.written("SYSTEM_PORT"), key=natural_key),
    )
    own = {name for name in names if name.count("|") == 2 and card.is_named(*name.split("|")[:2])}
    for table, field in (("QUEUE", "wred_profile"), ("BUFFER_QUEUE", "profile")):
        rows = system_port_rows(device.tables, table, card, names)
        yield from _dropped(device, table, rows.unknown)
        dropped = {row.key.rpartition("|")[0].lower() for row in rows.unknown}
        others = [name for name in names if carries_traffic(name) and name.lower() not in dropped]
        numbers = {number: _is_set(queues, number, table) for number in sorted({q.number for q in queues})}
        # ECN001 reports marking that no port of the card has; SCM006 keys in another form.
        if table == "QUEUE":
            wanted = {name: [n for n, on in numbers.items() if on] for name in others if name not in own}
        elif any(key.count("|") == 1 for key in device.tables.table(table)):
            wanted = {}
        else:
            # Settings that some of the card's own ports lack, and others have, are BUF022's.
            unset = [number for number, on in numbers.items() if not on]
            wanted = {name: unset if name in own else [*numbers] for name in others}
        yield from merged(
            violation
            for name, of in wanted.items()
            for violation in _unset(device, rows, (table, field), name, of)
        )


def _is_set(queues: Sequence[LosslessQueue], number: int, table: str) -> bool:
    """Return whether a port of the card gives a lossless queue a WRED profile (table QUEUE) or a buffer profile."""
    found = [queue.queue for queue in queues if queue.number == number and queue.queue is not None]
    return any(queue.wred if table == "QUEUE" else queue.buffer_origin for queue in found)


def _dropped(device: Device, table: str, rows: tuple[ConfigRow, ...]) -> Iterator[Violation]:
    places = sorted({row.key.rpartition("|")[0] for row in rows}, key=natural_key)
    if places:
        are = "is no system port" if len(places) == 1 else "are no system ports"
        shown = (
            listed(places[:_SHOWN]) if len(places) <= _SHOWN else f"{places[0]} and {len(places) - 1} more"
        )
        yield Violation(
            origin=device.tables.origin(table, rows[0]),
            message=f"{shown} {are} of the chassis: orchagent drops their rows of {table}",
            note="host, ASIC and port must be written as in SYSTEM_PORT",
            help="write the names of SYSTEM_PORT, or remove the rows",
            elements=tuple(places),
            data={"table": table, "rows": len(rows)},
        )


def _unset(
    device: Device, rows: SystemPortRows, place: tuple[str, str], port: str, numbers: Sequence[int]
) -> Iterator[Violation]:
    """Yield a violation per set of queues of a system port without a profile, or with one of lossy queues."""
    table, field = place
    lacking: dict[str, list[int]] = {}
    for number in numbers:
        row = _row(rows.by_port.get(port, ()), number)
        name = row.reference(field) if row is not None else ""
        if not name or (table == "BUFFER_QUEUE" and _is_lossy(device, name)):
            lacks = f"have profile {name} of lossy queues" if name else f"have no {field}"
            lacking.setdefault(lacks, []).append(number)
    for lacks, of in lacking.items():
        row = _row(rows.by_port.get(port, ()), of[0])
        yield Violation(
            origin=device.tables.origin(table) if row is None else device.tables.origin(table, row),
            message=f"virtual output queues {listed([*map(str, of)])} of system ports {lacks}",
            note="packets for other cards wait on this card, and are marked and limited here",
            help=f"give {table}|{port}|{of[0]} what the card's own ports have",
            elements=(port,),
            data={"table": table, "queues": [*of]},
        )


def _row(rows: tuple[ConfigRow, ...], number: int) -> ConfigRow | None:
    """Return the row of a queue that is applied last; None where no row names the queue."""
    for row in reversed(rows):
        numbers = index_range(row.key.rpartition("|")[2])
        if numbers is not None and number in numbers:
            return row
    return None


def _is_lossy(device: Device, name: str) -> bool:
    row = device.tables.row("BUFFER_PROFILE", name)
    return "lossy" in name or (row is not None and "lossy" in row.fields.get("pool", ""))
