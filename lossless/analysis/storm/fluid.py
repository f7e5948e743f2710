"""A fluid model of traffic whose egress stops: the buffers that fill, and the order in which ports send pauses.

Every switch shares its pool among its ingress groups. A group that reaches its threshold sends PFC, and its headroom
fills beside the pool. Its sender stops a little later, and traffic for that egress fills the switch before it. Traffic
that is not paused keeps its rate.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from lossless.analysis.storm.shares import EgressShares, WeightSum
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from lossless.analysis.buffers.ecn_marking import Trigger

_NEVER = float("inf")
_LITTLE_NS = 1e-6
"""The most that two computations of one time may differ by, in nanoseconds."""


class IngressGroup(NamedTuple):
    """An ingress group of a switch: its ingress rate, its pause threshold (None: never), and its egress shares."""

    switch: str
    rate_bps: float
    trigger: Trigger | None
    shares: EgressShares


class _Memory:
    """The buffer of one switch that packets for stalled egresses occupy."""

    def __init__(self, groups: Mapping[int, IngressGroup]) -> None:
        self.groups = groups
        self.held = dict.fromkeys(groups, 0.0)
        self.growing: dict[int, float] = {}
        self.asked: set[int] = set()
        self.now_ns = 0.0
        self.version = 0

    def stop(self, at_ns: float, outs: Set[int], part: float) -> None:
        """Let the share ``part`` of the traffic to ``outs`` wait from now on."""
        self._until(at_ns)
        waiting = WeightSum(outs)
        for number, group in self.groups.items():
            if group.trigger is None or not group.rate_bps or number in self.asked:
                continue
            share = waiting.part(group.shares)
            if share:
                bytes_per_ns = group.rate_bps / 8e9 * share * part
                self.growing[number] = self.growing.get(number, 0.0) + bytes_per_ns

    def next_ns(self) -> float:
        """Return the time of the next pause of a group without any other event."""
        return min(self._times().values(), default=_NEVER)

    def pause(self, at_ns: float) -> list[int]:
        """Return the groups that pause now; they stop growing."""
        full = [number for number, when in self._times().items() if when <= at_ns + _LITTLE_NS]
        self._until(at_ns)
        self.asked.update(full)
        for number in full:
            del self.growing[number]
        return full

    def _until(self, at_ns: float) -> None:
        for number, rate in self.growing.items():
            self.held[number] += rate * (at_ns - self.now_ns)
        self.now_ns = at_ns
        self.version += 1

    def _times(self) -> dict[int, float]:
        used, growth = sum(self.held.values()), sum(self.growing.values())
        times = {}
        for number, rate in self.growing.items():
            trigger = self.groups[number].trigger
            if trigger is None:
                continue
            free = trigger.pool_bytes - used
            if trigger.alpha is not None:
                left_ns = (trigger.alpha * free - self.held[number]) / (rate + trigger.alpha * growth)
            else:
                left_ns = min(((trigger.static_bytes or 0) - self.held[number]) / rate, free / growth)
            times[number] = self.now_ns + max(0.0, left_ns)
        return times


class _Agenda:
    """The next event in order of time: a channel stops, or a switch sends PFC for the PGs with peak occupancy.

    Events at the same time follow the order of the fabric. Only the newest entry of a switch applies.
    """

    def __init__(self, first: Sequence[int], switches: Iterable[str]) -> None:
        self._order = {switch: 1 + number for number, switch in enumerate(switches)}
        self._heap: list[tuple[float, int, int, str]] = [(0.0, 0, channel, "") for channel in first]

    def stop(self, at_ns: float, channel: int) -> None:
        """Add the stop of a channel."""
        heapq.heappush(self._heap, (at_ns, 0, channel, ""))

    def pause(self, at_ns: float, switch: str, version: int) -> None:
        """Add a pause of groups by a switch, to be ignored if the version of the switch has changed by then."""
        heapq.heappush(self._heap, (at_ns, self._order[switch], version, switch))

    def next(self, until_ns: float) -> tuple[list[tuple[float, int]], tuple[float, str, int] | None]:
        """Return the channels that stop next, all those at one time, or else the switch that pauses next."""
        stops: list[tuple[float, int]] = []
        while self._heap and self._heap[0][0] <= min(until_ns, stops[0][0] + _LITTLE_NS if stops else _NEVER):
            if self._heap[0][1] and stops:
                break
            at_ns, kind, number, switch = heapq.heappop(self._heap)
            if kind:
                return [], (at_ns, switch, number)
            stops.append((at_ns, number))
        return stops, None


def stop_times(
    groups: Mapping[int, IngressGroup],
    first: Sequence[int],
    hop_ns: Callable[[int], float],
    stopped_part: float,
    until_ns: float,
    switch_of: Callable[[int], str | None],
) -> Iterator[tuple[float, int]]:
    """Yield channels as they stop, with the time; ``first`` stop at 0.

    ``groups`` are by the channel that leads into them. ``hop_ns`` is how long the sender of a channel takes to obey,
    ``stopped_part`` the share of a stopped channel's traffic that waits: 1 where the storm source receives nothing.
    ``switch_of`` is the switch that a channel leaves, None for a host's.
    """
    by_switch: dict[str, dict[int, IngressGroup]] = {}
    for number, group in groups.items():
        by_switch.setdefault(group.switch, {})[number] = group
    memories = {switch: _Memory(own) for switch, own in by_switch.items()}
    agenda = _Agenda(first, memories)
    while True:
        stops, pauses = agenda.next(until_ns)
        if pauses is not None:
            at_ns, switch, version = pauses
            if memories[switch].version != version:
                continue
            for channel in memories[switch].pause(at_ns):
                agenda.stop(at_ns + hop_ns(channel), channel)
            touched = {switch}
        elif stops:
            yield from stops
            leaving = _by_switch(stops, switch_of)
            touched = leaving.keys() & memories.keys()
            for switch in touched:
                memories[switch].stop(stops[0][0], leaving[switch], stopped_part)
        else:
            return
        for switch in touched:
            when_ns = memories[switch].next_ns()
            if when_ns < _NEVER:
                agenda.pause(when_ns, switch, memories[switch].version)


def _by_switch(
    stops: Iterable[tuple[float, int]], switch_of: Callable[[int], str | None]
) -> dict[str, set[int]]:
    """Return the channels that stop by the switch that each leaves."""
    leaving: dict[str, set[int]] = {}
    for _, channel in stops:
        switch = switch_of(channel)
        if switch is not None:
            leaving.setdefault(switch, set()).add(channel)
    return leaving
