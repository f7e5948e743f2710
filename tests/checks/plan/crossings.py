"""What switches do to packets that come in at one port and leave by another, and which buffer waits for which."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from tests.checks.plan.service import Fault, served

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tests.checks.plan.service import Config, Served

Dependencies = dict[int, set[tuple[str, str, str]]]
"""By priority, where a buffer can wait for the next one: a switch, where packets come in, where they leave.

Whatever the routing is, the buffer dependencies of the fabric are among them.
"""


class Crossing(NamedTuple):
    """Packets of a DSCP on their way through a switch: the priority they come in with, and how they are sent."""

    switch: str
    entered: str
    left: str
    dscp: int
    paused: int | None
    out: Served


def crossings(
    configs: Mapping[str, Config], ends: Iterable[tuple[str, str]], dscps: Collection[int]
) -> Iterator[Crossing]:
    """Yield every way of packets through switches."""
    ports: dict[str, list[str]] = {}
    for name, port in ends:
        ports.setdefault(name, []).append(port)
    for name, own in ports.items():
        for dscp in dscps:
            paused = {port: served(configs[name], port, dscp).paused for port in own}
            for entered, left in permutations(own, 2):
                out = served(configs[name], left, dscp, entered=entered)
                yield Crossing(name, entered, left, dscp, paused[entered], out)


def dependencies(found: Iterable[Crossing]) -> Dependencies:
    """Return which buffer waits for which: packets come in with a priority, and wait with the same."""
    graph: Dependencies = {}
    for each in found:
        if each.paused is not None and each.out.obeyed == each.paused:
            graph.setdefault(each.paused, set()).add((each.switch, each.entered, each.left))
    return graph


def faults_across(found: Sequence[Crossing], known: Sequence[Dependencies]) -> Iterator[Fault]:
    """Yield what is wrong on the way through switches; ``known`` are the dependencies of the start and the goal.

    A state whose dependencies are among those of one of them has a cycle only where that one has it.
    """
    for each in found:
        wrong = {
            "obeyed": each.out.obeyed is None,
            "watched": not each.out.watched,
            "marked": not each.out.marked,
        }
        place = f"{each.switch} {each.entered} to {each.left}"
        yield from (
            Fault(f"not {what} at egress", place, each.dscp) for what, is_wrong in wrong.items() if is_wrong
        )
    for priority, own in dependencies(found).items():
        if not any(own <= graph.get(priority, set()) for graph in known):
            yield Fault("buffer dependencies of neither start nor goal", f"priority {priority}", 0)
