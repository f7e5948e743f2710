"""Who meets where in a run: how many feed each kind of port, how full its queue was, and whether it was paused."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.analysis.simulation.engine.state import Index, State
    from lossless.analysis.simulation.question.instance import Stage


class Crowd(NamedTuple):
    """All ports of one kind that the traffic leaves by: from ``sender`` to ``receiver``, by role.

    ``fan_in`` is the most ports whose traffic meets in one queue, 0 for those of hosts. ``fullest_bytes`` is the most
    that one queue of a switch held, ``paused`` how many ports were paused at some time.
    """

    sender: str
    receiver: str
    ports: int
    fan_in: int
    fullest_bytes: int
    paused: int


def crowds(state: State, index: Index, staged: Stage) -> tuple[Crowd, ...]:
    """Return what one run showed of each kind of port."""
    feeding = _feeding(index.wiring.routes)
    found: dict[tuple[str, str], Crowd] = {}
    for link in feeding:
        sender, receiver = index.wiring.ends[link]
        kind = staged.roles[sender], staged.roles[receiver]
        queue = state.queues[link * index.classes]
        own = Crowd(*kind, 1, len(feeding[link]), int(queue["max_bytes"]), int(queue["pauses"] > 0))
        found[kind] = _with(found[kind], own) if kind in found else own
    return tuple(found.values())


def worst(seen: Iterable[tuple[Crowd, ...]]) -> tuple[Crowd, ...]:
    """Return the most of each measure over several runs."""
    found: dict[tuple[str, str], Crowd] = {}
    for one in (one for crowded in seen for one in crowded):
        kind = one.sender, one.receiver
        most = found.get(kind, one)
        found[kind] = Crowd(
            *kind,
            ports=max(most.ports, one.ports),
            fan_in=max(most.fan_in, one.fan_in),
            fullest_bytes=max(most.fullest_bytes, one.fullest_bytes),
            paused=max(most.paused, one.paused),
        )
    return tuple(found.values())


def _feeding(routes: Iterable[tuple[int, ...]]) -> dict[int, set[int]]:
    """Return for each link those whose traffic goes on over it, in the order in which the longest way meets them."""
    found: dict[int, set[int]] = {}
    for route in sorted(routes, key=len, reverse=True):
        found.setdefault(route[0], set())
        for link, onward in pairwise(route):
            found.setdefault(onward, set()).add(link)
    return found


def _with(one: Crowd, other: Crowd) -> Crowd:
    return one._replace(
        ports=one.ports + other.ports,
        fan_in=max(one.fan_in, other.fan_in),
        fullest_bytes=max(one.fullest_bytes, other.fullest_bytes),
        paused=one.paused + other.paused,
    )
