"""The plan of a safe order's steps: groups of devices, the rows they change, time and ports needed.

The rollback from after each step is a safe order of its own, back to the start. If packet-level simulations are
required too, no state between steps may have a new finding of theirs; a simulation has the rows of that state on one
switch of each kind.
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from math import ceil, log10
from typing import TYPE_CHECKING

from lossless.checks.lint.intents import with_runs
from lossless.checks.lint.run import CheckedReport
from lossless.checks.plan.batches import HostStage, PlacedStep, State, Step, buffer_model, operations_of
from lossless.checks.plan.inputs import will_send
from lossless.checks.plan.plan import (
    CALL_S,
    RELOAD_S,
    HostGroup,
    Plan,
    PlannedBatch,
    PlannedSwitches,
    PlanStep,
    by_hand,
    drains_of_hosts,
    interrupts,
    interrupts_of_hosts,
    is_told,
    reached_by,
    slug,
    step_title,
    tier_size,
)
from lossless.checks.plan.search import Search
from lossless.checks.plan.systems import units_of, units_of_system
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange, patch_time
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
from lossless.formats.sonic.changes.json_patch import Operation, operations as operations_between
from lossless.formats.sonic.effective.chain import chain_of
from lossless.formats.sonic.from_model import SHARED
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.plan.batches import (
        Batch,
        Config,
        Done,
        FabricChange,
        HostChange,
        HostKind,
        KindChange,
        Order,
        PlannedKind,
        Position,
        States,
    )
    from lossless.checks.plan.evaluation import Danger, Evaluator
    from lossless.checks.plan.plan import Rows
    from lossless.checks.plan.systems import PlannedSession, SystemSwitch
    from lossless.model.hardware.load import FindHardware


_LARGEST_WRITTEN = 10**15
_APART = (
    "jobs have to stop, as the two sides do not fit beside each other; two plans may do without: first to an intent "
    "with a part of the change (a new class with a DSCP of its own beside the old one, or new hardware), then on"
)


class PlanLimits(NamedTuple):
    """Limits of a plan.

    ``ports_down`` is the number of ports that may be down at the same time, None: drained switches and hosts change one
    by one. ``step_s`` is the longest time of a step in seconds, None: unlimited. ``drain_s`` and ``link_up_s`` are the
    declared times to drain a switch and to bring a port up again. ``simulated``: traffic simulations have to be safe
    between steps too.
    """

    ports_down: int | None = None
    step_s: int | None = None
    drain_s: int = 0
    link_up_s: int = 0
    simulated: bool = False


class NoPlan(LosslessError):  # noqa: N818
    """A change for which there is no plan within the limits; the lines have the reasons."""


def plan_of(change: FabricChange, evaluator: Evaluator, limits: PlanLimits, names: tuple[str, str]) -> Plan:
    """Return the plan of a change; ``names`` are the names of its current and target sides.

    Raises:
        NoPlan: the target has a danger that is not there before the change, a simulation between steps has a finding of
            its own, or a step, there or back, exceeds the limits or has a patch that the updater refuses.
    """
    search = Search(change, evaluator)
    if unsafe := tuple(_unsafe_target(search)):
        raise NoPlan("the target is not safe; nothing is written", *unsafe)
    order = search.order()
    if limits.simulated:
        _require_safe_runs(search, order, evaluator)
    parts = tuple(_Assembly(search, limits).parts(order.steps))
    steps = tuple(_numbered(step for _, step in parts))
    if change.links_to_take and steps:
        gone = listed(change.links_to_take, 8)
        first = f"take links out of service that the target has not, and the hosts behind them: {gone}"
        steps = (steps[0]._replace(by_hand=(first, *steps[0].by_hand)), *steps[1:])
    back = tuple(_rollback(search, evaluator, limits, placed.after) for placed in order.steps)
    return Plan(
        id=_hash(steps),
        current=names[0],
        target=names[1],
        sent=tuple(sorted(change.sent)),
        wanted=tuple(sorted(change.wanted)),
        steps=steps,
        rollback=tuple(back[number] for number, _ in parts),
        evaluated=evaluator.states,
        represented=_spelled(order.represented),
        notes=tuple(_notes(change, limits, steps)),
        groups={slug(kind.title): kind.devices for kind in change.kinds},
        unsafe=tuple(_unsafe_start(search, order.steps, [number for number, _ in parts])),
    )


def _unsafe_start(search: Search, steps: Sequence[PlacedStep], numbers: Sequence[int]) -> Iterator[str]:
    """Yield a line for each danger before a change; ``numbers`` has the search's step of each planned step.

    Equal dangers at many ports are one line, and gone with the last of them. Findings of rules come first.
    """
    there = search.dangers_after(steps)
    by_rules_first = sorted(search.at_start, key=lambda danger: danger.code == "trace")
    fixed = grouped((_told(danger), danger) for danger in by_rules_first)
    for told, dangers in fixed.items():
        places = {danger[:2] for danger in dangers}
        left = [number for number, after in enumerate(there) if after is None or not places.isdisjoint(after)]
        gone = left[-1] + 1 if left else 0
        after = sum(number <= gone for number in numbers)
        fate = "kept: no step changes it" if gone == len(there) else f"gone after step {after}"
        yield f"not safe before the change: {told} ({fate})"


def _unsafe_target(search: Search) -> Iterator[str]:
    """Yield a line for each danger after a change that is not there before it."""
    there = {danger[:2] for danger in search.at_start}
    new = (danger for danger in search.at_goal if danger[:2] not in there)
    yield from dict.fromkeys(_told(danger) for danger in sorted(new, key=lambda each: each.code == "trace"))


def _told(danger: Danger) -> str:
    return danger.message if danger.code == "trace" else f"{danger.code}: {danger.message}"


def _require_safe_runs(search: Search, order: Order, evaluator: Evaluator) -> None:
    """Check the states between steps with the packet-level model.

    Raises:
        NoPlan: a simulation has a finding there that it has neither before nor after the change.
    """

    shown = tuple(unsafe_runs(search, order.steps, evaluator.find_hardware))
    if shown:
        raise NoPlan("runs of traffic are not safe between steps; nothing is written", *shown)


def _spelled(states: int) -> str:
    """Return a number of states as text; a large number as a power of ten."""
    return f"{states:,}" if states < _LARGEST_WRITTEN else f"10^{int(log10(states))}"


def _rollback(
    search: Search, evaluator: Evaluator, limits: PlanLimits, position: Position
) -> tuple[PlanStep, ...]:
    """Return the steps of a plan that lead from a position within it back to its start.

    Raises:
        NoPlan: a step exceeds the limits, or a patch is refused.
    """
    in_use = search.use_at(position).dscps if not position.stopped else search.change.sent
    back = Search(backward(search.states, position, in_use), evaluator)
    if position.stopped:
        begun = (placed for placed in back.stopped() if placed.step.kind not in ("stop", "start"))
        steps = (*begun, PlacedStep(Step("start", in_use=search.change.sent), back.goal()))
    else:
        steps = back.order().steps
    return tuple(_numbered(step for _, step in _Assembly(back, limits).parts(steps)))


def _numbered(steps: Iterable[PlanStep]) -> Iterator[PlanStep]:
    return (step._replace(number=number) for number, step in enumerate(steps, 1))


def _notes(change: FabricChange, limits: PlanLimits, steps: Sequence[PlanStep]) -> Iterator[str]:
    if change.begun:
        yield change.begun
    if any(step.kind == "stop" for step in steps):
        yield _APART
    yield from _notes_of_hosts(change)
    yield from _notes_of_links(change)
    if not steps:
        return
    if any(buffer_model(kind.running) != buffer_model(kind.target) for kind in change.kinds):
        yield "carrying out another buffer model is left to you: its states are evaluated, and its reload is a proposal"
    if any(unit.by_hand for kind in change.kinds for unit in kind.units):
        yield "another release or HWSKU is left to you: its mixed states are evaluated; its time is not counted"
    if any(kind.system is not None for kind in change.kinds):
        yield "what a session does to traffic while it is taken, and how long it takes, no public source says"
    if unsent := sorted(change.lossless - change.sent - change.wanted):
        dscps = listed([str(dscp) for dscp in unsent])
        yield (
            f"no setting of hosts sends DSCP {dscps}: jobs can send it after the last step, and must have stopped "
            "before a rollback"
        )
    if assumed := [kind for kind in change.kinds if kind.assumed_release]:
        names = listed([device for kind in assumed for device in kind.devices])
        yield (
            f"SONiC {assumed[0].updater.release} is assumed of {names}, as in lossless render: state sonic.release if "
            "another runs there"
        )
    yield from _time_notes(change, steps)
    if not limits.drain_s:
        yield "time to drain is not counted: state it with --drain-time"
    if not limits.link_up_s:
        yield "time until a port is up again is not counted: state it with --link-up-time"


def _notes_of_hosts(change: FabricChange) -> Iterator[str]:
    unread = any(stage.qos is None for kind in change.hosts if len(kind.stages) > 1 for stage in kind.stages)
    if unread and change.sent != change.wanted:
        yield "what hosts are set to now is not known: check that they take in the DSCPs of both sides"
    elif unread:
        yield "what hosts are set to now is not known: note it before they change, their rollback is left to you"
    elif change.unread_hosts:
        yield (
            "what hosts are set to now is not known, and no step sets them: lossless-roce.sh --check of the target "
            "says on a host whether it is set as the target says"
        )


def _notes_of_links(change: FabricChange) -> Iterator[str]:
    if change.links_to_lay:
        yield (
            f"links of the target that are not in service: {listed(change.links_to_lay, 8)}: lay them after the last "
            "step, and take them away before a rollback"
        )
    if change.links_to_take:
        yield (
            f"links in service that the target has not: {listed(change.links_to_take, 8)}: they come back after the "
            "last step of a rollback, not before"
        )


def _time_notes(change: FabricChange, steps: Sequence[PlanStep]) -> Iterator[str]:
    """Yield the origin of the times that are counted for patches, written rows and reloads."""
    taken = {batch.how for step in steps for group in step.switches for batch in group.batches}
    releases = {
        kind.updater.release: patch_time(kind.updater.release) for kind in change.kinds if not kind.system
    }
    for release, time in releases.items() if "patch" in taken else ():
        at = f"on SONiC {time.measured}" if time.measured else "on a release that is not named"
        yield (
            f"a patch on SONiC {release}: {time.least_ms / 1000:g} s to {time.most_ms / 1000:g} s an operation, and up "
            f"to {time.empty_ms // 1000} s more; the upper end is no limit but what was measured {at}: {time.sources}"
        )
    others = [how for how in ("write", "reload") if how in taken]
    if others:
        yield f"time of a {' or a '.join(others)}: no source has one, so the limit of run.sh for a command is counted"


class _StepPart(NamedTuple):
    """A step or a part of one, with the planned switches of each of its changes."""

    step: Step
    groups: tuple[PlannedSwitches, ...]


class _Assembly:
    """The assembly of steps of a plan from those of one search."""

    def __init__(self, search: Search, limits: PlanLimits) -> None:
        self.change, self.states, self.limits = search.change, search.states, limits

    def parts(self, placed: Sequence[PlacedStep]) -> Iterator[tuple[int, PlanStep]]:
        """Yield the steps of a plan, each with the number of the search step of which it is the whole or a part."""
        for number, (step, _) in enumerate(placed):
            for part in self._parts(step):
                yield number, self._step(part)

    def _parts(self, step: Step) -> Iterator[_StepPart]:
        """Yield a step, in parts that keep to the time limit: any part of a step is safe without the others."""
        groups = [self._group(change, step) for change in step.switches]
        if self.limits.step_s is None or not groups:
            yield _StepPart(step, tuple(groups))
            return
        waves = [self._waves(group) for group in groups]
        for number in range(max(map(len, waves))):
            some = [
                (own[number], change)
                for own, change in zip(waves, step.switches, strict=True)
                if number < len(own)
            ]
            changes = tuple(change for _, change in some)
            part = step._replace(switches=changes, hosts=() if number else step.hosts)
            yield _StepPart(part, tuple(group for group, _ in some))

    def _waves(self, group: PlannedSwitches) -> list[PlannedSwitches]:
        """Return a group of switches, divided so that each part keeps to the time limit of a step.

        Raises:
            NoPlan: one switch alone exceeds it.
        """
        at_once = group.at_once or len(group.devices)
        own_s = self.time(group._replace(devices=group.devices[:1])).most_s
        limit_s = self.limits.step_s or own_s
        if own_s > limit_s:
            raise NoPlan(f"{group.name}: one switch takes up to {own_s} s; --per-step has to be that long")
        size = max(1, limit_s // max(own_s, 1)) * at_once
        parts = [group.devices[first : first + size] for first in range(0, len(group.devices), size)]
        return [
            group._replace(devices=part, at_once=group.at_once and min(group.at_once, len(part)))
            for part in parts
        ]

    def time(self, group: PlannedSwitches) -> TimeRange:
        """Return the time of a group: of its batches, and the declared times for drains and links.

        It is 0 for a group with manual work, whose duration is not declared.
        """
        if any(batch.how == "by hand" for batch in group.batches):
            return TimeRange()
        declared_s = sum(self.limits.link_up_s * len(batch.ports_down) for batch in group.batches)
        declared_s += self.limits.drain_s if group.drained else 0
        rounds = ceil(len(group.devices) / (group.at_once or len(group.devices)))
        return TimeRange(
            rounds * (declared_s + sum(batch.time.least_s for batch in group.batches)),
            rounds * (declared_s + sum(batch.time.most_s for batch in group.batches)),
        )

    def _step(self, part: _StepPart) -> PlanStep:
        step, groups = part
        hosts = tuple(group for change in step.hosts if (group := self._hosts(change, step)))
        times = [self.time(group) for group in groups]
        return PlanStep(
            number=0,
            kind=step.kind,
            title=step_title(self.change, step) or self._title(step),
            switches=groups,
            hosts=hosts,
            in_use=tuple(sorted(step.in_use)),
            time=TimeRange(
                max((time.least_s for time in times), default=0),
                max((time.most_s for time in times), default=0),
            ),
            interrupts=(*interrupts(groups), *interrupts_of_hosts(hosts)),
            by_hand=(*by_hand(self.change, step, groups), *drains_of_hosts(hosts)),
        )

    def _title(self, step: Step) -> str:
        said: dict[str, list[str]] = {}
        for change in step.switches:
            kind = self.change.kinds[change.kind]
            what = ", ".join(title for batch in change.batches for title in batch.titles)
            said.setdefault(what, []).append(kind.title)
        parts = [f"{listed(kinds)}: {what}" for what, kinds in said.items()]
        for host in step.hosts:
            own = self.change.hosts[host.kind]
            parts.append(f"{own.title}: {reached_by(own, host)}")
        return "; ".join(parts)

    def _group(self, change: KindChange, step: Step) -> PlannedSwitches:
        kind = self.change.kinds[change.kind]
        batches = tuple(self._batch(change.kind, batch) for batch in change.batches)
        downs = any(batch.ports_down for batch in batches)
        drained = bool(step.in_use) and (change.drained or downs)
        return PlannedSwitches(
            slug(kind.title),
            kind.devices,
            batches,
            drained,
            min(self._at_once(kind.title, batches), self._most_at_once(kind)) if drained else None,
        )

    def _most_at_once(self, kind: PlannedKind) -> int:
        """Return how many switches of a kind may be drained at the same time, regardless of the limit of ports down.

        Of switches without hosts one of the tier has to carry the traffic of the others, if there is more than one. A
        second ToR, to which hosts move, may be the next switch of the kind: then one changes at a time.
        """
        if kind.host_ports:
            return 1 if kind.second_tor is not None and kind.second_tor.carries_all else len(kind.devices)
        return max(1, min(len(kind.devices), tier_size(self.change, kind) - 1))

    def _at_once(self, title: str, batches: Sequence[PlannedBatch]) -> int:
        """Return how many drained switches may change at the same time under the limit of ports down, 1 without one.

        Raises:
            NoPlan: one switch alone takes more ports down than the limit.
        """
        all_down = {"reload": "a reload", "by hand": "what people do to a switch"}
        most, what = max(
            ((len(batch.ports_down), all_down[batch.how]) for batch in batches if batch.how in all_down),
            default=(1, "a patch"),
        )
        if self.limits.ports_down is None:
            return 1
        if most > self.limits.ports_down:
            raise NoPlan(
                f"{title}: {what} takes {most} ports down at once, and --max-ports-down allows "
                f"{self.limits.ports_down}"
            )
        return max(1, self.limits.ports_down // max(most, 1))

    def _batch(self, number: int, batch: Batch) -> PlannedBatch:
        kind = self.change.kinds[number]
        done = operations_of(kind, batch.after - batch.before)
        before, after = (self.states.config(number, State(units)) for units in (batch.before, batch.after))
        operations = operations_between(before, after)
        if batch.how == "patch":
            self._require_accepted(kind, before, operations)
        if kind.system is not None:
            session = self._session(kind.system, number, batch)
            rows = _rows(before, done), _rows(after, done)
            return PlannedBatch("session", batch.titles, (), *rows, (), 0, session=session)
        told = done if batch.how != "by hand" else tuple(each for each in done if _identifies(each))
        return PlannedBatch(
            how=batch.how,
            titles=batch.titles,
            operations=operations if batch.how != "by hand" else (),
            before=_rows(before, told),
            after=_rows(after, told),
            ports_down=batch.ports_down,
            moves=batch.moves,
            time=_time(kind, batch, operations),
            why=batch.why,
        )

    def _session(self, system: SystemSwitch, number: int, batch: Batch) -> PlannedSession:
        """Return the session of commands that brings a batch onto a switch.

        The system has a configuration for both ends: in service, ``fits_updater`` asks it for each state; a drained
        switch takes all units that are left, and :func:`kind_of_system` has asked it for the target.
        """
        before, after = (self.states.switch(system, number, done) for done in (batch.before, batch.after))
        return system.session(before, after)

    def _require_accepted(self, kind: PlannedKind, before: Config, patch: Sequence[Operation]) -> None:
        """Check a patch against every condition of the updater, SONiC's models included.

        Raises:
            NoPlan: the updater refuses the patch.
        """
        verdict = patch_verdict(before, [operation.as_json() for operation in patch], kind.updater)
        if not verdict.accepted:
            why = listed([f"{'|'.join(refusal.path)}: {refusal.why}" for refusal in verdict.refusals], 3)
            raise NoPlan(f"{kind.title}: the updater refuses a patch of the plan: {why}")

    def _hosts(self, change: HostChange, step: Step) -> HostGroup | None:
        kind = self.change.hosts[change.kind]
        qos = kind.stages[change.stages[-1]].qos
        if qos is None or is_told(kind, change):
            return None
        down = kind.links if any(kind.stages[stage].links_down for stage in change.stages) else 0
        group = HostGroup(slug(kind.title), kind.hosts, reached_by(kind, change), qos, down)
        old, new = (each and each.dcqcn.cnp_dscp for each in (kind.stages[change.stages[0] - 1].qos, qos))
        if isinstance(old, int) and isinstance(new, int) and old != new:
            group = group._replace(cnp_dscps=(old, new))
        if not (down and step.in_use):
            return group
        return group._replace(drained=True, at_once=self._hosts_at_once(kind))

    def _hosts_at_once(self, kind: HostKind) -> int:
        """Return how many drained hosts may change at the same time under the limit of ports down, 1 without one.

        Of the hosts at a leaf one stays, if there are several: a rail keeps a link.

        Raises:
            NoPlan: one host alone has more links than the limit.
        """
        limit = self.limits.ports_down
        if limit is not None and kind.links > limit:
            raise NoPlan(
                f"{kind.title}: a change of PFC takes the {kind.links} links of a host down, and --max-ports-down "
                f"allows {limit}"
            )
        return 1 if limit is None else max(1, min(limit // kind.links, len(kind.hosts), kind.at_leaf - 1))


def _time(kind: PlannedKind, batch: Batch, operations: Sequence[Operation]) -> TimeRange:
    """Return how long a batch takes on a switch, 0 where that is unknown."""
    if batch.how == "patch":
        # A port goes down and comes up again; all other operations can be one move.
        fewest, most = max(1, 2 * len(batch.ports_down)), max(batch.moves, len(operations))
        return patch_time(kind.updater.release).of(fewest, most)
    return TimeRange(0, {"write": CALL_S, "reload": RELOAD_S}.get(batch.how, 0))


def _identifies(operation: Operation) -> bool:
    """Return whether an operation changes the HWSKU or the release of a switch."""
    return operation.path[0] == "VERSIONS" or operation.path[-1] == "hwsku"


def _rows(config: Config, done: Iterable[Operation]) -> Rows:
    """Return the rows that operations change, None if absent; of rows in shared tables, only the changed fields."""
    rows: Rows = {}
    for table, key, *field in (operation.path for operation in done):
        row = config.get(table, {}).get(key)
        if table in SHARED and field:
            own = rows.setdefault(table, {}).setdefault(key, {})
            own[field[0]] = row.get(field[0]) if isinstance(row, dict) else None
        else:
            rows.setdefault(table, {})[key] = row
    return rows


def _hash(steps: Sequence[PlanStep]) -> str:
    """Return a name for a plan: a hash of the rows that it reads and writes, and of the hosts that it sets."""
    told = [
        [
            step.kind,
            [
                [group.name, group.devices, batch.before, batch.after]
                for group in step.switches
                for batch in group.batches
            ],
        ]
        for step in steps
    ]
    hosts = [[step.title, group.name, group.hosts] for step in steps for group in step.hosts]
    return hashlib.sha256(json.dumps([told, hosts], sort_keys=True).encode()).hexdigest()[:12]


def backward(states: States, position: Position, in_use: frozenset[int]) -> FabricChange:
    """Return the change that leads from a position of another change back to its start.

    ``in_use`` are the DSCPs that jobs send at that position.
    """
    change = states.change
    return change._replace(
        kinds=tuple(
            _kind(states, number, done, recabled=position.recabled)
            for number, done in enumerate(position.done)
        ),
        hosts=tuple(_hosts(kind, stage) for kind, stage in zip(change.hosts, position.stages, strict=True)),
        sent=in_use,
        wanted=will_send(in_use, change.sent, [kind.stages[0].qos for kind in change.hosts]),
        lossless=change.sent,
    )


def _kind(states: States, number: int, done: Done, *, recabled: bool) -> PlannedKind:
    kind = states.change.kinds[number]
    now_m = kind.new_cables_m if recabled else kind.cables_m
    if kind.system is not None:
        own = _of_system(states, kind.system, number, done)
        return own._replace(cables_m=now_m, new_cables_m=kind.cables_m)
    running = states.config(number, State(done))
    return kind._replace(
        running=running,
        target=kind.running,
        units=units_of(running, kind.running, states.change.dscps),
        cables_m=now_m,
        new_cables_m=kind.cables_m,
    )


def _of_system(states: States, system: SystemSwitch, number: int, done: Done) -> PlannedKind:
    kind = states.change.kinds[number]
    running = states.config(number, State(done))
    return kind._replace(
        running=running,
        target=kind.running,
        units=units_of_system(running, kind.running, states.change.dscps),
        system=system._replace(running=states.switch(system, number, done), target=system.running),
    )


def _hosts(kind: HostKind, stage: int) -> HostKind:
    """Return a kind of hosts whose stages lead from a stage back to the first, through those that it has passed."""
    passed = kind.stages[: stage + 1][::-1]
    is_back = not any(each.sends for each in passed[1:])
    stages = [HostStage("as they are", passed[0].qos, sends=not passed[0].sends or len(passed) == 1)]
    stages += [
        HostStage(_title(kind, each), each.qos, not each.sends or is_back, last.links_down, each.assumed)
        for last, each in pairwise(passed)
    ]
    return kind._replace(stages=tuple(stages))


def _title(kind: HostKind, stage: HostStage) -> str:
    """Return the title of a rollback of hosts: the state before the next stage."""
    number = kind.stages.index(stage)
    return f"back to before: {kind.stages[number + 1].title}"


Shown = dict[tuple[str, str], str]
"""Messages of simulations, by rule and switch."""


def unsafe_runs(search: Search, steps: Sequence[PlacedStep], find_hardware: FindHardware) -> Iterator[str]:
    """Yield simulation findings in states between steps that occur neither at the start nor at the target."""
    ends = (search.start(), search.goal())
    allowed = {key for position in ends for key in _shown(search, position, find_hardware)}
    for number, placed in enumerate(steps[:-1], 1):
        for key, message in _shown(search, placed.after, find_hardware).items():
            if key not in allowed:
                yield f"after step {number}: {key[1]}: {message}"


def _shown(search: Search, position: Position, find_hardware: FindHardware) -> Shown:
    dscps = tuple(sorted(search.use_at(position).dscps))
    if not dscps:
        return {}
    tables = [
        Tables(
            f"{kind.devices[0]}/config_db.json", search.states.config(number, State(done)), shown=kind.title
        )
        for number, (kind, done) in enumerate(zip(search.change.kinds, position.done, strict=True))
    ]
    fabric = chain_of(tables, find_hardware, [dscps] * len(tables)).applied
    findings = with_runs(CheckedReport(), [fabric]).findings
    return {(each.code, each.origin.file.partition("/")[0]): each.message for each in findings}
