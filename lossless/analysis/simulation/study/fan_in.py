"""Fan-in during a run: how many ports feed each kind of port, its peak queue depth, and whether it was paused."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.analysis.simulation.engine.state import ArrayIndex, SimState
    from lossless.analysis.simulation.question.instance import ScenarioInstance


class PortFanIn(NamedTuple):
    """All ports of one kind that the traffic leaves by: from ``sender`` to ``receiver``, by role.

    ``fan_in`` is the most ports that feed one queue, 0 for ports of hosts. ``peak_queue_depth_bytes`` is the peak queue
    depth in a switch, ``paused`` the number of ports that were paused at some time.
    """

    sender: str
    receiver: str
    ports: int
    fan_in: int
    peak_queue_depth_bytes: int
    paused: int


def port_fan_ins(state: SimState, index: ArrayIndex, instance: ScenarioInstance) -> tuple[PortFanIn, ...]:
    """Return the fan-in of each kind of port in one run."""
    feeding = _feeding(route for routes in index.wiring.all_routes for route in routes)
    by_kind: dict[tuple[str, str], PortFanIn] = {}
    for link in feeding:
        sender, receiver = index.wiring.ends[link]
        kind = instance.roles[sender], instance.roles[receiver]
        queue = state.queues[link * index.classes]
        own = PortFanIn(*kind, 1, len(feeding[link]), int(queue["max_bytes"]), int(queue["pauses"] > 0))
        by_kind[kind] = _with(by_kind[kind], own) if kind in by_kind else own
    return tuple(by_kind.values())


def worst(runs: Iterable[tuple[PortFanIn, ...]]) -> tuple[PortFanIn, ...]:
    """Return the most of each measure over several runs."""
    by_kind: dict[tuple[str, str], PortFanIn] = {}
    for fan_in in (fan_in for kinds in runs for fan_in in kinds):
        kind = fan_in.sender, fan_in.receiver
        most = by_kind.get(kind, fan_in)
        by_kind[kind] = PortFanIn(
            *kind,
            ports=max(most.ports, fan_in.ports),
            fan_in=max(most.fan_in, fan_in.fan_in),
            peak_queue_depth_bytes=max(most.peak_queue_depth_bytes, fan_in.peak_queue_depth_bytes),
            paused=max(most.paused, fan_in.paused),
        )
    return tuple(by_kind.values())


def _feeding(routes: Iterable[tuple[int, ...]]) -> dict[int, set[int]]:
    """Return for each link those whose traffic continues over it, in the order of the longest path."""
    longest_first = sorted(routes, key=len, reverse=True)
    # Each step once, as routes have many in common; one begins with a step from -1, which is no link.
    steps = dict.fromkeys(chain.from_iterable(pairwise((-1, *route)) for route in longest_first))
    feeding: dict[int, set[int]] = {}
    for link, onward in steps:
        feeding.setdefault(onward, set()).update({link} - {-1})
    return feeding


def _with(fan_in: PortFanIn, other: PortFanIn) -> PortFanIn:
    return fan_in._replace(
        ports=fan_in.ports + other.ports,
        fan_in=max(fan_in.fan_in, other.fan_in),
        peak_queue_depth_bytes=max(fan_in.peak_queue_depth_bytes, other.peak_queue_depth_bytes),
        paused=fan_in.paused + other.paused,
    )
