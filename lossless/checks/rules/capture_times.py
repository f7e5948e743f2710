"""Times of captures, by the clock of each device, and whether the counting times of devices overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import DeviceState


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
