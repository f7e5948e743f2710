"""Which phases lead from one configuration of a subnet to another, and back from after each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.checks.plan.subnet.mixtures import mixture_dangers, unserved, used_levels
from lossless.checks.plan.subnet.model import Phase
from lossless.checks.rules.infiniband.subnet_queries import is_on, vl_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.subnet.model import SubnetChange, SubnetConfiguration

JOB_FILES = ("nccl.conf", "job.env")
"""Files that jobs read, beside those of managers."""


class PhaseOrder(NamedTuple):
    """The phases of a safe order; ``why`` gives the dangers of every order with running jobs, empty if one is safe.

    ``evaluated`` is the number of configurations and mixtures of two that were evaluated.
    """

    phases: tuple[Phase, ...]
    why: tuple[str, ...]
    evaluated: int


def order_of(change: SubnetChange) -> PhaseOrder:
    """Return the phases of a change: the first order that is safe, and if none is, the one with all jobs stopped.

    Tried are: at once; over lanes of both sides; with jobs that restart while the subnet serves both sides.
    """
    old, new, both = change.current, change.target, change.both
    sent, wanted = used_levels(old.subnet), used_levels(new.subnet)
    evaluated, why = 0, []
    for by in ((), change.lanes) if change.lanes else ((),):
        dangers = [*_on_way((old, *by, new), sent), *_left_behind(old, new, sent - wanted)]
        evaluated += 2 * len(by) + 3
        if not dangers:
            return PhaseOrder(tuple(_going_on((old, *by, new), sent, wanted)), (), evaluated)
        why += dangers
    for after in ((), change.lanes[1:]) if change.lanes else ((),):
        if both is None:
            break
        dangers = [
            *_on_way((old, both), sent),
            *(f"SL {sl} has no lane on the way" for sl in unserved(both.subnet, sent | wanted)),
            *_on_way((both, *after, new), wanted, moved=True),
        ]
        evaluated += 2 * len(after) + 3
        if not dangers:
            return PhaseOrder(tuple(_by_both((old, both, *after, new), sent, wanted)), (), evaluated)
        why += dangers
    return PhaseOrder(tuple(_stopped(old, new)), tuple(dict.fromkeys(why)), evaluated)


def _left_behind(old: SubnetConfiguration, new: SubnetConfiguration, gone: frozenset[int]) -> Iterator[str]:
    """Yield service levels that only jobs in service use, and that the target serves as it does all the rest."""
    for sl in sorted(gone) if is_on(old.subnet, "qos") and is_on(new.subnet, "qos") else ():
        before, after = vl_of(old.subnet, sl), vl_of(new.subnet, sl)
        if before is not None and before != after:
            yield f"SL {sl} is in use, and the target has it on {'no VL' if after is None else f'VL {after}'}"


def _on_way(
    configurations: Sequence[SubnetConfiguration], in_use: frozenset[int], *, moved: bool = False
) -> list[str]:
    """Return the dangers between consecutive configurations, and in each but the first.

    ``moved``: no remaining job uses resources that only the first has.
    """
    pairs = pairwise(configurations)
    mixed = [danger for a, b in pairs for danger in mixture_dangers(a.subnet, b.subnet, in_use, moved=moved)]
    first = {*unserved(configurations[0].subnet, in_use)}
    alone = [
        f"SL {sl} is in use, and {each.title} has no lane for it that has a weight"
        for each in configurations[1:]
        for sl in unserved(each.subnet, in_use)
        if sl not in first
    ]
    return [*mixed, *alone]


def _going_on(
    configurations: Sequence[SubnetConfiguration], sent: frozenset[int], wanted: frozenset[int]
) -> Iterator[Phase]:
    for old, new in pairwise(configurations):
        yield from _managers(old, new, sent)
    yield from _hosts(configurations[0], configurations[-1], sent | wanted)


def _by_both(
    configurations: Sequence[SubnetConfiguration], sent: frozenset[int], wanted: frozenset[int]
) -> Iterator[Phase]:
    """Yield the phases over the one that serves both, which is the second."""
    old, both, *_, new = configurations
    yield from _managers(old, both, sent)
    yield from _hosts(old, new, sent | wanted)
    yield Phase("jobs", old, new, sent | wanted)
    for before, after in pairwise(configurations[1:]):
        yield from _managers(before, after, wanted)


def _stopped(old: SubnetConfiguration, new: SubnetConfiguration) -> Iterator[Phase]:
    none = frozenset[int]()
    yield Phase("stop", old, old, used_levels(old.subnet))
    yield from _managers(old, new, none)
    yield from _hosts(old, new, none)
    yield Phase("start", new, new, used_levels(new.subnet))


def _managers(old: SubnetConfiguration, new: SubnetConfiguration, in_use: frozenset[int]) -> Iterator[Phase]:
    if differing(old, new, of_jobs=False) or aggregation_host(old) != aggregation_host(new):
        yield Phase("managers", old, new, in_use)


def aggregation_host(configuration: SubnetConfiguration) -> str | None:
    """Return where the aggregation manager of SHARP runs, None where SHARP is off."""
    sharp = configuration.subnet.sharp
    return str(sharp.am_node) if sharp is not None and sharp.on else None


def _hosts(old: SubnetConfiguration, new: SubnetConfiguration, in_use: frozenset[int]) -> Iterator[Phase]:
    if differing(old, new, of_jobs=True):
        yield Phase("hosts", old, new, in_use)


def differing(
    old: SubnetConfiguration, new: SubnetConfiguration, *, of_jobs: bool
) -> dict[str, tuple[str, ...]]:
    """Return the names of the files that differ, by host: those that jobs read, or all others."""
    different = {}
    for host in dict.fromkeys((*old.files, *new.files)):
        before, after = old.files.get(host, {}), new.files.get(host, {})
        names = tuple(
            name
            for name in dict.fromkeys((*after, *before))
            if (name in JOB_FILES) == of_jobs and before.get(name) != after.get(name)
        )
        if names:
            different[host] = names
    return different


def back_from(done: Sequence[Phase], sent: frozenset[int]) -> tuple[Phase, ...]:
    """Return the phases that undo some: the last first; jobs restart if any may send on the target's levels."""
    kinds = {phase.kind for phase in done}
    undone = [_undone(phase) for phase in reversed(done) if phase.kind in ("managers", "hosts")]
    if "stop" in kinds:
        begun = [Phase("stop", done[-1].old, done[-1].new, done[-1].in_use)] if "start" in kinds else []
        return (*begun, *undone, Phase("start", done[0].old, done[0].old, sent))
    # Jobs that began since hosts changed may send what the old configuration does not serve.
    return tuple(
        each
        for phase in undone
        for each in ((phase, phase._replace(kind="jobs")) if phase.kind == "hosts" else (phase,))
    )


def _undone(phase: Phase) -> Phase:
    return phase._replace(old=phase.new, new=phase.old)
