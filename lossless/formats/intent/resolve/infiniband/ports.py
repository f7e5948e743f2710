"""Assigns a port of a switch to each link, and counts the required ports of each rate."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.infiniband.rates import RATES
from lossless.model.fabric.infiniband.subnet import SubnetPortDemand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.hardware.infiniband import InfinibandSwitchProfile

FULL_LANES = 4


class SubnetPortUse(NamedTuple):
    """A link end at a switch: its rate, its purpose, its origin, and the port where one is named.

    Of the ends without a named port, those of a lower ``order`` get the lower ports.
    """

    rate: str
    purpose: str
    origin: Origin
    port: int | None
    order: int = 0


class SubnetPorts(NamedTuple):
    """The ports of one switch: the highest number, and the port of each use in order, None where none was left."""

    highest: int
    numbers: tuple[int | None, ...]


def cages(profile: InfinibandSwitchProfile) -> int:
    """Return the number of unsplit ports of a switch: those at a rate of all lanes."""
    whole = [count for rate, count in profile.ports.items() if RATES[rate].lanes == FULL_LANES]
    return max(whole, default=max(profile.ports.values()) // 2)


def place(profile: InfinibandSwitchProfile, uses: Sequence[SubnetPortUse]) -> SubnetPorts:
    """Return the ports of a switch's links: first those that are named, then the others by their order.

    If a link uses half the lanes, every port of the switch counts as two, and a link of all lanes takes the odd number.
    The numbers of the model are therefore unique, which is all that routing needs; ``ibnetdiscover`` reports the port
    numbers of a deployed switch.
    """
    halves = any(RATES[use.rate].lanes < FULL_LANES for use in uses)
    highest = cages(profile) * (2 if halves else 1)
    taken = {use.port for use in uses if use.port is not None}
    free = _Free(highest, taken, halves=halves)
    numbers = [use.port for use in uses]
    for index in sorted(range(len(uses)), key=lambda index: uses[index].order):
        numbers[index] = numbers[index] or free.next(RATES[uses[index].rate].lanes)
    return SubnetPorts(highest, tuple(numbers))


class _Free:
    """Allocates port numbers from 1 on; the halves of a split port follow each other."""

    def __init__(self, highest: int, taken: set[int], *, halves: bool) -> None:
        self._highest, self._taken, self._step = highest, taken, 2 if halves else 1
        self._next = 1
        self._half: int | None = None

    def next(self, lanes: int) -> int | None:
        if lanes < FULL_LANES and self._half is not None:
            half, self._half = self._half, None
            return half
        while self._next <= self._highest:
            first, self._next = self._next, self._next + self._step
            both = range(first, first + self._step)
            if self._taken.isdisjoint(both):
                self._half = first + 1 if lanes < FULL_LANES and self._step == 2 else self._half
                return first
        return None


def demand(switch: str, uses: Sequence[SubnetPortUse]) -> Iterator[SubnetPortDemand]:
    """Yield how many ports of each rate the links of a switch need, and their purpose."""
    counted = Counter((use.rate, use.purpose, use.origin) for use in uses)
    for (rate, purpose, origin), count in counted.items():
        yield SubnetPortDemand(switch, count, RATES[rate], purpose, origin)
