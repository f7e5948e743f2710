"""When captures of devices were taken, by the clock of each: whether what they counted can be of one time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state.device_state import DeviceState


class CountedTime(NamedTuple):
    """The time from the earlier capture of a device to the later one, in seconds since 1970."""

    start_s: int
    end_s: int


def taken_at(state: DeviceState) -> int | None:
    """Return when the captures of a device were taken, that of the last one; None where none says it."""
    return max((capture.taken_at for capture in state.captures if capture.taken_at is not None), default=None)


def counted_time(device: RunningDevice) -> CountedTime | None:
    """Return the time in which a device has counted between two captures; None where that is not known."""
    start, end = None if device.before is None else taken_at(device.before), taken_at(device.state)
    return None if start is None or end is None else CountedTime(start, end)


def apart(one: RunningDevice, other: RunningDevice) -> bool:
    """Return whether the times in which two devices counted are known, and have nothing in common."""
    times = counted_time(one), counted_time(other)
    known = [time for time in times if time is not None]
    return len(known) == len(times) and common_s(known) <= 0


def common_s(times: Iterable[CountedTime]) -> int:
    """Return how long all of some times last together; 0 or less where they have nothing in common."""
    times = tuple(times)
    return min(time.end_s for time in times) - max(time.start_s for time in times)


def whole_s(times: Iterable[CountedTime]) -> int:
    """Return how long it is from the begin of the first of some times to the end of the last."""
    times = tuple(times)
    return max(time.end_s for time in times) - min(time.start_s for time in times)
