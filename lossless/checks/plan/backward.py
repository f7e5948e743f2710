"""The rollback: the changes made so far, in reverse order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.model import HostStage
from lossless.checks.plan.states import State
from lossless.checks.plan.systems import units_of_system
from lossless.checks.plan.units import units_of

if TYPE_CHECKING:
    from lossless.checks.plan.model import FabricChange, HostKind, PlannedKind, Position
    from lossless.checks.plan.states import Done, States


def backward(states: States, position: Position, in_use: frozenset[int]) -> FabricChange:
    """Return the change from a position back to the start; ``in_use`` are the DSCPs that jobs send there."""
    change = states.change
    return change._replace(
        kinds=tuple(
            _kind(states, number, done, recabled=position.recabled)
            for number, done in enumerate(position.done)
        ),
        hosts=tuple(_hosts(kind, stage) for kind, stage in zip(change.hosts, position.stages, strict=True)),
        sent=in_use,
        wanted=change.sent,
    )


def _kind(states: States, number: int, done: Done, *, recabled: bool) -> PlannedKind:
    kind = states.change.kinds[number]
    now_m = kind.new_cables_m if recabled else kind.cables_m
    if kind.system is not None:
        own = _of_system(states, number, done)
        return own._replace(cables_m=now_m, new_cables_m=kind.cables_m)
    running = states.config(number, State(done))
    return kind._replace(
        running=running,
        target=kind.running,
        units=units_of(running, kind.running, states.change.sent | states.change.wanted),
        cables_m=now_m,
        new_cables_m=kind.cables_m,
    )


def _of_system(states: States, number: int, done: Done) -> PlannedKind:
    kind = states.change.kinds[number]
    assert kind.system is not None
    running = states.config(number, State(done))
    return kind._replace(
        running=running,
        target=kind.running,
        units=units_of_system(running, kind.running, states.change.sent | states.change.wanted),
        system=kind.system._replace(running=states.switch(number, done), target=kind.system.running),
    )


def _hosts(kind: HostKind, stage: int) -> HostKind:
    """Return hosts that go back through the stages they went through."""
    passed = kind.stages[: stage + 1][::-1]
    is_back = not any(each.sends for each in passed[1:])
    stages = [HostStage("as they are", passed[0].qos, sends=not passed[0].sends or len(passed) == 1)]
    stages += [
        HostStage(_title(kind, each), each.qos, sends=not each.sends or is_back) for each in passed[1:]
    ]
    return kind._replace(stages=tuple(stages))


def _title(kind: HostKind, stage: HostStage) -> str:
    """Return the title of a rollback of hosts: the state before the next stage."""
    number = kind.stages.index(stage)
    return f"back to before: {kind.stages[number + 1].title}"
