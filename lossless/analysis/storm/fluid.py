"""A fluid model of traffic whose egress stops: which buffers fill, and in which order ports ask for a pause.

Every switch shares its pool among its ingress groups. A group that holds as much as its threshold asks for a pause,
and what it has for headroom is filled beside the pool. Whoever sends into it stops a little later, and what waits for
that egress fills the switch before. Whatever is not paused keeps sending at the rate it had.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.analysis.buffers.ecn_marking import Trigger

_NEVER = float("inf")
_LITTLE_NS = 1e-6
"""What two computations of one time may differ by."""


class IngressGroup(NamedTuple):
    """An ingress group of a switch: the rate it takes in, when it pauses (None: never), and where that goes on to."""

    switch: str
    rate_bps: float
    trigger: Trigger | None
    shares: Mapping[int, float]


class _Memory:
    """What one switch holds for stalled egresses."""

    def __init__(self, groups: Mapping[int, IngressGroup]) -> None:
        self.groups = groups
        self.held = dict.fromkeys(groups, 0.0)
        self.growing: dict[int, float] = {}
        self.asked: set[int] = set()
        self.now_ns = 0.0
        self.version = 0

    def stop(self, at_ns: float, out: int, part: float) -> None:
        """Let ``part`` of what goes to ``out`` wait from now on."""
        self._until(at_ns)
        for number, group in self.groups.items():
            share = group.shares.get(out, 0.0)
            if share and group.trigger is not None and group.rate_bps and number not in self.asked:
                bytes_per_ns = group.rate_bps / 8e9 * share * part
                self.growing[number] = self.growing.get(number, 0.0) + bytes_per_ns

    def next_ns(self) -> float:
        """Return when the next group pauses if nothing else happens."""
        return min(self._times().values(), default=_NEVER)

    def pause(self, at_ns: float) -> list[int]:
        """Return the groups that pause now; they grow no more."""
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


def stop_times(
    groups: Mapping[int, IngressGroup],
    first: Sequence[int],
    hop_ns: Callable[[int], float],
    stopped_part: float,
    until_ns: float,
    switch_of: Callable[[int], str | None],
) -> Iterator[tuple[float, int]]:
    """Yield channels as they stop, with the time; ``first`` stop at 0.

    ``groups`` are by the channel that leads into them. ``hop_ns`` is how long whoever sends into a channel takes to
    obey, ``stopped_part`` what part of the traffic of a stopped channel waits: 1 where nothing moves. ``switch_of`` is
    the switch that a channel leaves, None for a host's.
    """
    by_switch: dict[str, dict[int, IngressGroup]] = {}
    for number, group in groups.items():
        by_switch.setdefault(group.switch, {})[number] = group
    memories = {switch: _Memory(own) for switch, own in by_switch.items()}
    # Stops before pauses at the same time, then in the order of the fabric.
    agenda: list[tuple[float, int, int, str]] = [(0.0, 0, channel, "") for channel in first]
    versions: dict[str, int] = {}
    order = {switch: number for number, switch in enumerate(memories)}
    while agenda and agenda[0][0] <= until_ns:
        at_ns, kind, number, switch = heapq.heappop(agenda)
        if kind == 0:
            yield at_ns, number
            left = switch_of(number)
            touched = memories.get(left) if left is not None else None
            if touched is None or left is None:
                continue
            touched.stop(at_ns, number, stopped_part)
            switch = left
        else:
            touched = memories[switch]
            if versions.get(switch) != number or touched.version != number:
                continue
            for channel in touched.pause(at_ns):
                heapq.heappush(agenda, (at_ns + hop_ns(channel), 0, channel, ""))
        when_ns = touched.next_ns()
        if when_ns < _NEVER:
            versions[switch] = touched.version
            heapq.heappush(agenda, (when_ns, 1 + order[switch], touched.version, switch))
