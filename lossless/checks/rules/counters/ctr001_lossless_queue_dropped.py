"""Queues and priority groups of a lossless class must not drop.

Severity: error
Subject: running device

## What it does
Looks for packets that a queue or a priority group of a lossless class lost: all drops, drops by WRED, packets that the
credit watchdog of a virtual output queue deleted, and trimmed packets. A card of a chassis has such queues for the
ports of all cards; for a port of another card, the maps of the card's own ports give the lossless queues. The lossless
classes are those of the configuration or of an intent. With `--since`, losses between the captures are an error. From
one capture they are a warning: the counters run since boot or the last clear, and the class may not have been lossless
then. Drops of a queue that the watchdog stormed are not reported here: they may be the watchdog's own. Where the
watermark of a group that dropped shows its headroom as full, or that of its pool the headroom that the pool lends, the
finding names this as the cause.

## Why it breaks a lossless fabric
After a lost packet RoCE sends again from that packet on, up to all data in flight. A drop shows that PFC did not stop
the sender in time: no pause was sent, or more bytes arrived after the pause than the headroom holds.

## Bad
```text capture beside=leaf.json
admin@leaf1:~$ show queue counters
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet4    UC3            8193           852072        91786       9545744   # <- here
```

## Good
```text capture beside=leaf.json
admin@leaf1:~$ show queue counters
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet4    UC1            8193           852072        91786       9545744
Ethernet4    UC3            8193           852072            0             0
```

## Fix
A queue drops by WRED or at its own limit: let the WRED profile only mark, and set the limit above that of the group. A
group drops when its headroom is full. Where the switch sent pauses, the headroom is too small for the cable, or the
pool lends too little to all of its groups. Where it sent none, the group has no lossless profile.

## Sources
- lolyu/aoi sonic/qos/buffer_triage.md @edf74e58bb89: 91,786 drops in a lossless queue, and no pause was sent
- sonic-net/sonic-buildimage#27606: WRED drops in a lossless queue below the threshold of PFC
- opencomputeproject/SAI inc/saiqueue.h @8c7b32b: drops of WRED have counters of their own
- sonic-net/SONiC doc/voq/aggregate_voq_counters.md @b55725b: queues of a card for ports of all cards, and what they
  count
- sonic-net/sonic-mgmt#2174: how a switch counts the headroom watermark of a group
- sonic-swss orchagent/pfcactionhandler.cpp @e6b0c5b: the watchdog counts drops of the queue and group it stormed
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counters.headroom_peaks import full_headroom
from lossless.checks.rules.counting import (
    OTHER_PORT,
    Count,
    count_of,
    counted,
    each,
    largest_of_each,
    other_ports,
    total,
)
from lossless.checks.rules.running_subjects import LosslessPort
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.counters.headroom_peaks import FullHeadroom
    from lossless.checks.rules.running_subjects import RunningDevice

_KINDS = {"queue": "queue", "pg": "priority group"}
_COUNTERS = {
    "dropped_packets": "dropped {amount} packets",
    "wred_dropped_packets": "dropped {amount} packets by WRED",
    "trimmed_packets": "trimmed {amount} packets",
    "credit_watchdog_deleted_packets": "dropped {amount} packets by its credit watchdog",
}
"""Counters of lost packets of a queue or group and their text in messages; the first, if present, has all drops."""
_NO_CLASSES = MissingInput("neither a configuration nor an intent says which classes are lossless")
_QUEUE = {
    "dropped_packets": "let WRED only mark in this queue, and raise its limit above the threshold at which PFC pauses",
    "wred_dropped_packets": "let WRED only mark in this queue (ecn_all), and keep packets that are not ECN-capable out",
    "trimmed_packets": "name a profile without packet_discard_action trim for this queue",
    "credit_watchdog_deleted_packets": "look for the port that the queue is for: it has not granted credits",
}
_GROUP = "see that the group has a lossless profile applied, and that the pool is not full before it pauses"
_HEADROOM = "give the groups the headroom that rate and cable need, and check that the sender obeys pauses"
_STORMED = MissingInput("the watchdog stormed the queue, and its drops may be the watchdog's")


def check(device: RunningDevice) -> Results:
    """Yield a violation per lossless queue or group number with drops and counting period, at the port with most drops.

    Queues and groups of a port with a watchdog storm in that period are left out.
    """
    drops: list[tuple[str, Count]] = []
    for kind in _KINDS:
        # Several counters of one queue or group are one cause, which the largest of them names.
        by_member = grouped(_dropped(device, kind))
        for items in by_member.values():
            counts = [item for item in items if isinstance(item, Count)]
            largest = max(reversed(counts), key=attrgetter("amount"), default=None)
            if largest is not None and largest.amount:
                drops.append((kind, largest))
            elif isinstance(items[0], MissingInput):
                yield items[0]
    numbered = ((f"{kind} {count.placed.part(kind)}", count) for kind, count in drops)
    for what, counts in largest_of_each(numbered):
        yield _lossless_queue_dropped(device, what.split()[0], counts)


def _dropped(device: RunningDevice, kind: str) -> Iterator[tuple[tuple[str, int], Count | MissingInput]]:
    """Yield (port, number) and the count of lost packets of each lossless queue or group, or its missing input."""
    for placed in (placed for name in _COUNTERS for placed in each(device.state, name, "port", kind)):
        port, number = placed.part("port") or "", int(placed.part(kind) or "0")
        member = port, number
        if device.switch is None:
            if placed.number:
                yield member, _NO_CLASSES
            continue
        lossless = device.lossless_at(port)
        if "|" not in port and port not in device.ports and placed.number:
            yield member, OTHER_PORT
        if isinstance(lossless, MissingInput):
            if placed.number:
                yield member, lossless
        elif lossless is not None and number in (lossless.queues if kind == "queue" else lossless.groups):
            count = counted(device, placed, "port", kind)
            dropped = isinstance(count, Count) and count.amount
            stormed = dropped and _stormed(device, device.own_port(port), lossless.queues)
            yield member, _STORMED if stormed else count


def _stormed(device: RunningDevice, port: str, queues: frozenset[int]) -> bool:
    """Return whether the watchdog reports a storm of a port's lossless queue: now, or in the period of the counters."""
    for queue in map(str, queues):
        detected = count_of(device, "pfcwd_detected", port=port, queue=queue)
        status = device.state.value("pfcwd_status", port=port, queue=queue)
        if status == "stormed" or (isinstance(detected, Count) and detected.amount):
            return True
    return False


def _lossless_queue_dropped(device: RunningDevice, kind: str, counts: list[Count]) -> Violation:
    worst, number = counts[0], counts[0].placed.part(kind) or ""
    lost = _COUNTERS[worst.placed.reading.name].format(amount=f"{worst.amount:,}")
    others = f", as did that of {other_ports(counts)}" if len(counts) > 1 else ""
    sent = _pauses_sent(device, worst.port)
    full = full_headroom(device, worst.port, int(number)) if kind == "pg" else None
    where = "PG" if kind == "pg" else ""
    return Violation(
        origin=worst.placed.origin,
        message=(f"{_KINDS[kind]} {number} of {worst.port} is lossless and {lost} {worst.window}{others}"),
        note=_full(full) if full else _note(kind, sent),
        help=_HEADROOM if full else _help(kind, worst.placed.reading.name, sent),
        elements=tuple(f"{device.name}:{device.own_port(count.port)}:{where}{number}" for count in counts),
        severity=worst.severity("error", "warning"),
        data={
            "dropped": worst.amount,
            "pauses_sent": sent,
            **({"headroom_peak_bytes": full.held_bytes, "headroom_bytes": full.given_bytes} if full else {}),
        },
    )


def _pauses_sent(device: RunningDevice, port: str) -> int | None:
    """Return the pauses that all ports sent of a port's known lossless priorities; None where a count is unknown."""
    lossless = device.lossless_at(port)
    priorities = lossless.priorities if isinstance(lossless, LosslessPort) else ()
    sent = [total(device, "pfc_tx", str(priority)) for priority in priorities]
    known = [amount for amount in sent if amount is not None]
    return sum(known) if len(known) == len(sent) else None


def _note(kind: str, sent: int | None) -> str:
    if sent is None:
        return ""
    if not sent:
        return "no port that was captured sent a pause of the class: something drops before PFC pauses"
    what = (
        "the sender was paused too late, or not obeying"
        if kind == "pg"
        else "WRED or the limit of the queue dropped what its groups took"
    )
    return f"the switch sent {sent:,} pauses of the class: {what}"


def _full(full: FullHeadroom) -> str:
    held, given = format_bytes(full.held_bytes), format_bytes(full.given_bytes)
    return f"{full.what} was full: it held {held} of {given} {full.window}"


def _help(kind: str, counter: str, sent: int | None) -> str:
    if kind == "queue":
        return _QUEUE[counter]
    return _GROUP if sent == 0 else _HEADROOM
