"""Counts of counters of a running device, since boot or a clear or between two captures, and the times of captures.

Counter groups that are off have no counts. Times are those of each device's clock.

A difference is a lower bound of the events: a counter that was cleared between two captures, or has reached its
ceiling, has counted at least that much. A counter that is smaller than before was reset, and its value is taken as from
a single capture; where it counts since another clear than before, the count is unknown. It is also unknown where
the earlier value was at its ceiling already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.formats.sonic.state.forms import GROUP_OF, GROUPS as ALL_GROUPS
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state import MULTICAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.findings import Origin, Severity
    from lossless.model.fabric.state import DeviceState, PlacedReading, StateReading

_NO_RULE = frozenset({"BUFFER_POOL_WATERMARK"})
GROUPS = tuple(group for group in ALL_GROUPS if group not in _NO_RULE)
"""The counter groups (of ``counterpoll``) whose counters rules read."""
OTHER_PORT = MissingInput("a port that has counted is in neither the configuration nor the intent")
_WATCHDOG = "pfcwd_"
INTERNAL = re.compile(r"Ethernet-(?:BP|IB|Rec)[0-9]")
"""Ports between the ASICs of a switch, and others that no cable reaches (sonic-buildimage
src/sonic-py-common/sonic_py_common/interface.py @3b2f8fc)."""
_STORM_TABLES = frozenset({"show pfcwd stats", "pfcwd show stats"})
"""Without ``--empty`` these commands print no queue whose counters are all 0 (sonic-utilities pfcwd/main.py @015521a,
collect_stats). Where a command names queues, the counts of other queues are unknown."""


class Count(NamedTuple):
    """The count of a counter and the reading of its value; ``between`` is True for a count between two captures."""

    amount: int
    placed: PlacedReading
    between: bool

    @property
    def port(self) -> str:
        """The name of the port that has the counter; empty where the reading names none."""
        return self.placed.part("port") or ""

    @property
    def window(self) -> str:
        """The period of the count as text: ``between the captures`` or ``since boot or the last clear``."""
        return self.window_of("boot or the last clear")

    def window_of(self, began: str) -> str:
        """Return the period as text; ``began`` is the start of a single capture's counts: ``its driver was loaded``."""
        return "between the captures" if self.between else f"since {began}"

    def severity(self, grave: Severity, otherwise: Severity) -> Severity:
        """Return ``grave`` for a count between the captures, ``otherwise`` for one since boot or a clear."""
        return grave if self.between else otherwise


def each(state: DeviceState, name: str, *kinds: str) -> Iterator[PlacedReading]:
    """Yield one reading of a counter for each object, such as a port or a queue: the first where several have it.

    ``kinds`` are the parts that identify an object. Multicast queues are left out: they have no priority.
    """
    seen = set()
    for placed in state.named(name, *kinds):
        parts = tuple(map(placed.part, kinds))
        if parts not in seen and placed.part("queue_kind") != MULTICAST:
            seen.add(parts)
            yield placed


def counted(device: RunningDevice, placed: PlacedReading, *kinds: str) -> Count | MissingInput:
    """Return the count of a counter; a missing input where its counter group is off or the count is unknown.

    ``kinds`` are the parts that identify the object of the counter, such as ``port``.
    """
    name, value = placed.reading.name, placed.number
    standing = not_polled(device.state, name, kinds[-1] if kinds else "")
    if standing is not None:
        return standing
    if value is None:
        return unknown_value(placed.reading)
    if device.before is None:
        return Count(value, placed, between=False)
    earlier = device.before.of(name, **{kind: placed.part(kind) or "" for kind in kinds})
    if earlier is None and name.startswith(_WATCHDOG) and _shows_storms(device.before):
        return Count(value, placed, between=True)
    if earlier is not None and earlier.reading.is_no_count:
        return unknown_value(earlier.reading)
    if earlier is None or earlier.number is None:
        return MissingInput(f"the earlier capture has no {placed.reading.heading or name}")
    return difference(placed, earlier, value, earlier.number)


def unknown_value(reading: StateReading) -> MissingInput:
    """Return the missing input for a counter that a capture shows without a number or with a number below 0."""
    name = reading.heading or reading.name
    if reading.is_no_count:
        return MissingInput(
            f"{name} is below 0, which no counter can be: it may have begun again after the clear it counts from"
        )
    return MissingInput(f"the captures do not say the value of {name}")


def not_polled(state: DeviceState, name: str, kind: str) -> MissingInput | None:
    """Return the missing input for a counter whose counter group is off; None where the group is on or unknown."""
    group = GROUP_OF.get((name, kind))
    if group is None or not is_off(state, group):
        return None
    return MissingInput(f"counter group {group} is off: its counters do not move")


def _shows_storms(state: DeviceState) -> bool:
    """Return whether a capture has the watchdog's table of all queues, which leaves out queues whose counters are 0."""
    return not state.forms.isdisjoint(_STORM_TABLES)


def count_of(device: RunningDevice, name: str, /, **parts: str) -> Count | MissingInput:
    """Return the count of a counter of one object; a missing input where it is unknown or no capture has the counter.

    ``parts`` identify the object: ``port="Ethernet0"``.
    """
    placed = device.state.of(name, **parts)
    if placed is None:
        return MissingInput(f"no capture has {name} of each {tuple(parts)[-1]}")
    return counted(device, placed, *parts)


def total(device: RunningDevice, name: str, priority: str) -> int | None:
    """Return the sum of a counter of a priority over all ports; None where no port has it or a count is unknown."""
    counts = [
        counted(device, placed, "port", "priority")
        for placed in each(device.state, name, "port", "priority")
        if placed.part("priority") == priority
    ]
    known = [count.amount for count in counts if isinstance(count, Count)]
    return sum(known) if counts and len(known) == len(counts) else None


def lossless_drops(device: RunningDevice) -> Iterator[tuple[Count, int]]:
    """Yield the drops of lossless groups between the captures, each with the first lossless priority of its port."""
    for placed in each(device.state, "dropped_packets", "port", "pg"):
        count, group = counted(device, placed, "port", "pg"), placed.part("pg") or ""
        own = device.lossless.get(placed.part("port") or "")
        is_lossless = own is not None and group.isdecimal() and int(group) in own.groups
        if own is not None and is_lossless and isinstance(count, Count) and count.between and count.amount:
            yield count, min(own.priorities)


class ClassSent(NamedTuple):
    """Packets that a port sent between the captures in lossless queues and in others, and the drops of the others."""

    lossless: int
    others: int
    dropped: int
    origin: Origin


def sent_by_class(device: RunningDevice) -> Mapping[str, ClassSent]:
    """Return the packets that each port of a switch sent, by class; empty unless all ports in service counted them.

    A port without a configuration of its own classes is taken to have those of the others.
    """
    every = frozenset(queue for ports in device.lossless.values() for queue in ports.queues)
    sent: dict[str, ClassSent] = {}
    unknown = {
        name for name, port in device.ports.items() if port.admin_up is True and not INTERNAL.match(name)
    }
    for placed in each(device.state, "packets", "port", "queue"):
        port, queue = placed.part("port") or "", placed.part("queue") or ""
        count, lost = (
            count_of(device, name, port=port, queue=queue) for name in ("packets", "dropped_packets")
        )
        if INTERNAL.match(port) or not queue.isdecimal():
            continue
        if not isinstance(count, Count) or not count.between:
            return {}
        unknown.discard(port)
        known = sent.get(port, ClassSent(0, 0, 0, placed.origin))
        if int(queue) in (device.lossless[port].queues if port in device.lossless else every):
            sent[port] = known._replace(lossless=known.lossless + count.amount, origin=placed.origin)
        else:
            dropped = lost.amount if isinstance(lost, Count) and lost.between else 0
            sent[port] = known._replace(others=known.others + count.amount, dropped=known.dropped + dropped)
    return {} if unknown or not every else sent


def largest_of_each(counts: Iterable[tuple[str, Count]]) -> Iterator[tuple[str, list[Count]]]:
    """Yield, for each key and period of counting, the key and its counts, the largest count first."""
    for (key, _), same in grouped(((key, count.between), count) for key, count in counts).items():
        yield key, sorted(same, key=lambda count: -count.amount)


def other_ports(counts: Sequence[Count]) -> str:
    """Return the number of counts after the first as text: ``2 other ports``; empty where there is only one."""
    others = len(counts) - 1
    return f"{others} other {'port' if others == 1 else 'ports'}" if others else ""


def is_off(state: DeviceState, group: str) -> bool:
    """Return whether a counter group is off by its row of CONFIG_DB or by counterpoll."""
    return switched_off(state, group) is not None


def switched_off(state: DeviceState, group: str) -> PlacedReading | None:
    """Return the reading of CONFIG_DB or ``counterpoll show`` by which a counter group is off; None without one."""
    row = state.of("FLEX_COUNTER_STATUS", table="FLEX_COUNTER_TABLE", key=group)
    shown = state.of("poll_status", object=f"{group}_STAT") or state.of("poll_status", object=group)
    return next((said for said in (row, shown) if said is not None and said.reading.value == "disable"), None)


def difference(placed: PlacedReading, earlier: PlacedReading, now: int, then: int) -> Count | MissingInput:
    """Return the count from an earlier value to a later one; a counter that was reset counts from 0.

    It is a missing input where the earlier value is at its ceiling, or where the value fell and counts since another
    clear.
    """
    if earlier.reading.is_saturated:
        return MissingInput(f"{placed.reading.heading or placed.reading.name} stood at its ceiling before")
    if now >= then:
        return Count(now - then, placed, between=True)
    if placed.reading.since != earlier.reading.since:
        return MissingInput(
            f"{placed.reading.heading or placed.reading.name} counts since another clear than before"
        )
    return Count(now, placed, between=False)


class CountedTime(NamedTuple):
    """Start and end of the time from the earlier capture of a device to the later one, in seconds since 1970."""

    start_s: int
    end_s: int


def taken_at(state: DeviceState) -> int | None:
    """Return the time of the latest capture of a device, in seconds since 1970; None where no capture has a time."""
    return max((capture.taken_at for capture in state.captures if capture.taken_at is not None), default=None)


def counted_time(device: RunningDevice) -> CountedTime | None:
    """Return the time from the earlier capture of a device to the later one.

    It is None without an earlier capture, or where the captures of either have no time.
    """
    start, end = None if device.before is None else taken_at(device.before), taken_at(device.state)
    return None if start is None or end is None else CountedTime(start, end)


def elapsed_s(device: RunningDevice) -> int | None:
    """Return the seconds from the earlier capture of a device to the later one; None where that is not known."""
    time = counted_time(device)
    return None if time is None or time.end_s <= time.start_s else time.end_s - time.start_s


def egress_bps(device: RunningDevice, port: str) -> float | None:
    """Return the rate in bit/s at which a port sent between the captures; None where bytes or time are not known."""
    sent, time_s = count_of(device, "out_bytes", port=port), elapsed_s(device)
    if not isinstance(sent, Count) or not sent.between or time_s is None:
        return None
    return sent.amount * 8 / time_s


def apart(one: RunningDevice, other: RunningDevice) -> bool:
    """Return whether the times between two captures of two devices are known for both and do not overlap."""
    times = counted_time(one), counted_time(other)
    known = [time for time in times if time is not None]
    return len(known) == len(times) and common_s(known) <= 0


def common_s(times: Iterable[CountedTime]) -> int:
    """Return the length in seconds of the overlap of all counting times; 0 or less where they do not overlap."""
    times = tuple(times)
    return min(time.end_s for time in times) - max(time.start_s for time in times)


def whole_s(times: Iterable[CountedTime]) -> int:
    """Return the seconds from the earliest start of the counting times of devices to the latest end."""
    times = tuple(times)
    return max(time.end_s for time in times) - min(time.start_s for time in times)
