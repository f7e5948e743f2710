"""Assemble the phases of a subnet's change into a plan: the files of each host, restarts, and the rollback."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lossless.checks.plan.assemble import NoPlan
from lossless.checks.plan.plan import FileChange, FileGroup, Plan, PlanStep
from lossless.checks.plan.subnet.key_places import misplaced_key
from lossless.checks.plan.subnet.managers import (
    CONF,
    SHARP_FILE,
    changed_keys,
    keys_of,
    manager_on,
    moves_of,
    ordered_names,
)
from lossless.checks.plan.subnet.mixtures import used_levels
from lossless.checks.plan.subnet.order import aggregation_host, back_from, differing, order_of
from lossless.checks.plan.subnet.words import by_hand, interrupts, notes
from lossless.checks.rules.infiniband.subnet_queries import number, value
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.plan.subnet.managers import ManagerMove
    from lossless.checks.plan.subnet.model import Phase, SubnetChange

_INFORMATION = 0x02
"""The bit of log_flags without which opensm logs errors alone: opensm(8)."""
_TITLES = {"stop": "all jobs stop", "start": "jobs start again", "jobs": "jobs restart"}


def subnet_plan(change: SubnetChange, names: tuple[str, str]) -> Plan:
    """Return the plan of a change; ``names`` are the names of its current and target sides.

    Raises:
        NoPlan: jobs of the target would find another P_Key than theirs.
    """
    order = order_of(change)
    misplaced = misplaced_key(change)
    if misplaced is not None:
        raise NoPlan("no plan leads to what the target's jobs expect; nothing is written", misplaced)
    sent, wanted = (used_levels(each.subnet) for each in (change.current, change.target))
    parts = [(done, step) for done in _done(order.phases) for step in _steps(done[-1], order.why)]
    steps = _numbered(step for _, step in parts)
    rollback = tuple(
        _numbered(step for phase in back_from(_so_far(parts, number), sent) for step in _steps(phase, ()))
        for number in range(len(parts))
    )
    return Plan(
        id=_hash(steps),
        current=names[0],
        target=names[1],
        sent=tuple(sorted(sent)),
        wanted=tuple(sorted(wanted)),
        steps=steps,
        rollback=rollback,
        evaluated=order.evaluated,
        represented=_represented(order.phases),
        notes=tuple(notes(change)) if steps else (),
        groups={group.name: group.devices for step in steps for group in step.files},
        transport="infiniband",
    )


def _done(phases: Sequence[Phase]) -> Iterator[tuple[Phase, ...]]:
    """Yield the phases that are done, once each of them is the last."""
    return (tuple(phases[:number]) for number in range(1, len(phases) + 1))


def _so_far(parts: Sequence[tuple[tuple[Phase, ...], PlanStep]], number: int) -> tuple[Phase, ...]:
    """Return the phases completed after a step; its own phase is limited to the managers that have their files."""
    done = parts[number][0]
    own = [step for phases, step in parts[: number + 1] if phases == done]
    only = {group.name for step in own for group in step.files if group.states is not None}
    if any(not any(group.states for group in step.files) for step in own):
        only.add(SHARP_FILE)
    last = done[-1]
    return (*done[:-1], last._replace(only=frozenset(only)) if last.kind == "managers" else last)


def _numbered(steps: Iterable[PlanStep]) -> tuple[PlanStep, ...]:
    return tuple(step._replace(number=number) for number, step in enumerate(steps, 1))


def _represented(phases: Sequence[Phase]) -> str:
    """Return how many states of all switches the phases pass through: each has old or new tables."""
    total = 1
    for phase in phases:
        switches = phase.old.subnet.switches
        if phase.kind == "managers" and isinstance(switches, tuple):
            total += 2 ** len(switches)
    return f"{total:,}" if total < 10**15 else f"10^{len(str(total)) - 1}"


def _steps(phase: Phase, why: Sequence[str]) -> Iterator[PlanStep]:
    if phase.kind == "managers":
        yield from _of_managers(phase)
    elif phase.kind == "hosts":
        yield _of_hosts(phase)
    elif told := tuple(by_hand(phase, why)):
        yield _step(phase, _TITLES[phase.kind], by_hand=told)


def _step(
    phase: Phase,
    title: str,
    files: tuple[FileGroup, ...] = (),
    interrupts: tuple[str, ...] = (),
    by_hand: tuple[str, ...] = (),
) -> PlanStep:
    kind = phase.kind if phase.kind in ("stop", "start", "jobs") else "change"
    return PlanStep(0, kind, title, (), (), tuple(sorted(phase.in_use)), 0, interrupts, by_hand, files)


def _of_managers(phase: Phase) -> Iterator[PlanStep]:
    sharp = list(_of_sharp(phase)) if phase.only is None or SHARP_FILE in phase.only else []
    ends = aggregation_host(phase.new) is None
    if ends:
        yield from sharp
    for move in moves_of(phase):
        files = tuple(
            _file(phase, move.host, name) for name in ordered_names(phase.old, phase.new, move.host)
        )
        manager = manager_on(phase.new, move.host)
        group = FileGroup(
            move.host,
            (move.host,),
            files,
            move.how,
            (move.before, move.after),
            (manager.hca or "").partition(":")[2],
            move.why,
            _log(phase, move),
        )
        verb = "SIGHUP" if move.how == "hup" else "restart"
        title = f"{move.host} ({move.before}): {joined(file.name for file in files)}, {verb}"
        yield _step(phase, title, (group,), tuple(interrupts(move, phase)))
    if not ends:
        yield from sharp


def _log(phase: Phase, move: ManagerMove) -> str:
    """Return the log that records the end of a sweep; empty if the configuration does not log it.

    The first sweep of a master is always logged, others as information (opensm/osm_state_mgr.c @fa74b98).
    """
    subnet = phase.new.subnet
    is_told = move.how == "restart" or number(subnet, "log_flags") & _INFORMATION
    return str(value(subnet, "log_file")) if is_told else ""


def _file(phase: Phase, host: str, name: str) -> FileChange:
    before, after = phase.old.files.get(host, {}).get(name), phase.new.files.get(host, {}).get(name)
    target = (after or before or phase.new.files[host][name]).target
    old, new = (None if file is None else file.text for file in (before, after))
    keys = changed_keys(keys_of(old or ""), keys_of(new or "")) if name == CONF else ()
    return FileChange(name, target, old, new, keys)


def _of_sharp(phase: Phase) -> Iterator[PlanStep]:
    """Yield the steps that give the aggregation manager's host its file; people restart the service."""
    hosts = [h for h, names in differing(phase.old, phase.new, of_jobs=False).items() if SHARP_FILE in names]
    for host in hosts:
        group = FileGroup(f"{host}-sharp", (host,), (_file(phase, host, SHARP_FILE),))
        yield _step(phase, f"{host}: {SHARP_FILE}", (group,))
    told = aggregation_host(phase.old), aggregation_host(phase.new)
    if told[0] != told[1] or hosts:
        before, after = told
        told_people = [f"stop sharp_am on {before}"] if before and before != after else []
        told_people += [f"restart sharp_am on {after}: it reads its file when it starts"] if after else []
        yield _step(phase, "sharp_am", by_hand=tuple(told_people))


def _of_hosts(phase: Phase) -> PlanStep:
    different = differing(phase.old, phase.new, of_jobs=True)
    kinds = grouped(
        (tuple(_file(phase, host, name) for name in names), host) for host, names in different.items()
    )
    groups = tuple(
        FileGroup("hosts" if len(kinds) == 1 else f"hosts-{number}", tuple(hosts), files)
        for number, (files, hosts) in enumerate(kinds.items(), 1)
    )
    names = dict.fromkeys(file.name for files in kinds for file in files)
    title = f"hosts: {joined(names)}"
    return _step(phase, title, groups, ("jobs that run go on with what they were started with",))


def _hash(steps: Sequence[PlanStep]) -> str:
    told = [
        [step.kind, [[group.name, group.devices, group.how, group.files] for group in step.files]]
        for step in steps
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]
