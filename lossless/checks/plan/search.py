"""The order of a change, and its progress: in each step any number of switches and hosts can be done at once.

The search has no special cases of changes. A step takes units that are safe beside all states in which the other
switches and hosts can be in it; other units wait for a later step. Existing queue pairs keep the DSCP that
they were made with: the traffic class is part of the address vector, which a connected queue pair is given
before it can receive, and not after (linux-rdma/rdma-core libibverbs/man/ibv_modify_qp.3 @1a4d7e4, verbs.h
ibv_global_route). So jobs send both DSCPs from the step on in which hosts change, until they have restarted.

Progress is the step that each switch has reached in a plan, with the rows that are neither old nor new.
"""

from __future__ import annotations

from itertools import islice, pairwise, permutations
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.batches import (
    Batch,
    HostChange,
    KindChange,
    Order,
    PlacedStep,
    Position,
    State,
    States,
    Step,
    Use,
    batch_of,
    fits_updater,
)
from lossless.checks.plan.plan import rows_of
from lossless.formats.sonic.capabilities.updater_verdict import release_of
from lossless.formats.sonic.from_model import SHARED
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.plan.batches import Done, FabricChange
    from lossless.checks.plan.evaluation import Danger, Evaluator
    from lossless.checks.plan.plan import StoredBatch, StoredPlan


_MOST_STEPS = 40
_MOST_ORDERS = 6
"""The most orders of kinds of switches that are tried with drained switches last: three kinds in every order."""


class _SearchOrder(NamedTuple):
    """The order in which kinds of switches are tried, and whether drained ones come first or last."""

    kinds: tuple[int, ...]
    drained: tuple[bool, bool]


class Search:
    """Search for the order of one change; ``evaluator`` decides which states are safe."""

    def __init__(self, change: FabricChange, evaluator: Evaluator) -> None:
        self.change = change
        self.states = States(change, evaluator)
        self.evaluator = evaluator
        self._kinds = range(len(change.kinds))
        self.hosts = range(len(change.hosts))
        self._changing = [host for host in self.hosts if self.changes_senders(host)]
        self._fitting: dict[tuple[int, Done, Done], bool] = {}
        self.all_units = tuple(frozenset(range(len(kind.units))) for kind in change.kinds)
        self.at_start, self.at_goal = (
            tuple(self._dangers(end, self.use_at(end))) for end in (self.start(), self.goal())
        )
        self.allowed = frozenset(danger[:2] for danger in (*self.at_start, *self.at_goal))

    def start(self) -> Position:
        """Return the position of the fabric before the first step."""
        return Position(
            done=tuple(frozenset() for _ in self._kinds),
            stages=tuple(0 for _ in self.hosts),
            restarted=self.change.sent <= self.change.wanted,
            recabled=not any(kind.recabled for kind in self.change.kinds),
        )

    def goal(self) -> Position:
        """Return the position at the end: every unit done, hosts at their last stage."""
        last = tuple(len(kind.stages) - 1 for kind in self.change.hosts)
        return Position(self.all_units, last, restarted=True, recabled=True)

    def order(self) -> Order:
        """Return the steps from start to goal: the fewest that were found, then those that take fewest ports down.

        Without such steps all jobs stop.
        """
        orders = [
            self._joined(steps)
            for asked in self._searches()
            if (steps := self._steps(self.start(), asked)) is not None
        ]
        steps = min(orders, key=_cost) if orders else self.stopped()
        return Order(steps, self.evaluator.states, self._represented(steps))

    def _searches(self) -> Iterator[_SearchOrder]:
        """Yield the search orders to try: kinds of switches in several orders, and drained switches last or first."""
        for order in islice(permutations(self._kinds), _MOST_ORDERS):
            yield _SearchOrder(order, (False, True))
        yield _SearchOrder(tuple(self._kinds), (True, False))

    def _steps(self, position: Position, asked: _SearchOrder) -> tuple[PlacedStep, ...] | None:
        steps: list[PlacedStep] = []
        while position != self.goal() and len(steps) < _MOST_STEPS:
            tried = (self._step(position, asked.kinds, drained=drained) for drained in asked.drained)
            placed = next((step for step in tried if step is not None), None)
            if placed is None:
                return None
            steps.append(placed)
            position = placed.after
        return tuple(steps) if position == self.goal() else None

    def _joined(self, steps: tuple[PlacedStep, ...]) -> tuple[PlacedStep, ...]:
        """Return steps, with a change joined to the next step that drains its switches anyway, if both end the same."""
        for number, (first, second) in enumerate(pairwise(steps)):
            if first.step.kind == "change" and any(change.drained for change in second.step.switches):
                before = steps[number - 1].after if number else self.start()
                both = _StepSearch(self, before, tuple(self._kinds), drained=True).result()
                if both is not None and both.after == second.after:
                    return self._joined((*steps[:number], both, *steps[number + 2 :]))
        return steps

    def _step(self, position: Position, kinds: Sequence[int], *, drained: bool) -> PlacedStep | None:
        if not position.recabled and self._can_recable(position):
            return PlacedStep(
                Step("cables", in_use=self.use_at(position).dscps), position._replace(recabled=True)
            )
        if not position.restarted and all(
            self._sends(host, position.stages[host]) for host in self._changing
        ):
            return PlacedStep(
                Step("jobs", in_use=self.use_at(position).dscps), position._replace(restarted=True)
            )
        replaced = _StepSearch(self, position, kinds, drained=True, by_hand=True).result()
        return replaced or _StepSearch(self, position, kinds, drained=drained).result()

    def changes_senders(self, host: int) -> bool:
        """Return whether hosts of a kind send other DSCPs from one of their stages on."""
        return len({stage.sends for stage in self.change.hosts[host].stages}) > 1

    def _sends(self, host: int, stage: int) -> bool:
        return any(each.sends for each in self.change.hosts[host].stages[: stage + 1])

    def phase(self, host: int, stage: int) -> int:
        """Return -1, 0 or 1 for a stage before, at or after the first that sends the target's DSCPs; 0 if none does."""
        first = next((n for n, each in enumerate(self.change.hosts[host].stages) if each.sends), stage)
        return (stage > first) - (stage < first)

    def _can_recable(self, position: Position) -> bool:
        use = self.use_at(position)
        both, new = use._replace(new_cables=True), use._replace(old_cables=False, new_cables=True)
        return not self._new_dangers(position, both) and not self._new_dangers(position, new)

    def _new_dangers(self, position: Position, use: Use) -> list[Danger]:
        return [danger for danger in self._dangers(position, use) if danger[:2] not in self.allowed]

    def dangers_after(self, steps: Sequence[PlacedStep]) -> list[frozenset[tuple[str, str]] | None]:
        """Return the dangers after each step, by rule and place; None while jobs are stopped."""
        return [
            None
            if after.stopped
            else frozenset(danger[:2] for danger in self._dangers(after, self.use_at(after)))
            for _, after in steps
        ]

    def _dangers(self, position: Position, use: Use) -> Iterator[Danger]:
        ends = {kind: (State(done),) for kind, done in enumerate(position.done)}
        stages = {host: (stage,) for host, stage in enumerate(position.stages)}
        for kind, states in ends.items():
            first, *others = self.change.kinds[kind].devices
            name = f"{first} (+{len(others)} identical)" if others else first
            for danger in self.states.verdict(kind, states[0], use).dangers:
                is_named = danger.code == "trace"
                yield danger if is_named else danger._replace(message=f"{name}: {danger.message}")
        yield from self.states.between(ends, use)
        yield from self.states.at_hosts(ends, stages, use)

    def fits(self, kind: int, before: Done, batch: Sequence[int]) -> bool:
        """Return whether units can be brought onto a switch in service at once; results are kept for other orders."""
        key = (kind, before, frozenset(batch))
        if key not in self._fitting:
            self._fitting[key] = fits_updater(self.states, kind, before, batch)
        return self._fitting[key]

    def use_at(self, position: Position, *, sending: bool = False) -> Use:
        """Return the DSCPs and cables for which a position must be safe; ``sending``: hosts change DSCPs meanwhile."""
        return Use(self._in_use(position, sending=sending), not position.recabled, position.recabled)

    def _in_use(self, position: Position, *, sending: bool) -> frozenset[int]:
        if position.stopped:
            return frozenset()
        sends = [self._sends(host, position.stages[host]) for host in self._changing]
        if not sends and position.restarted:
            return self.change.sent & self.change.wanted
        if not (sending or any(sends)):
            return self.change.sent
        if position.restarted and all(sends):
            return self.change.wanted
        return self.change.sent | self.change.wanted

    def stopped(self) -> tuple[PlacedStep, ...]:
        """Return the steps of a change that no traffic survives: jobs stop, everything changes, jobs start again."""
        start, goal = self.start(), self.goal()
        steps: list[PlacedStep] = []
        position = start._replace(stopped=True, restarted=True, recabled=True)
        for by_hand in (True, False, True):
            search = _StepSearch(self, position, tuple(self._kinds), drained=True, by_hand=by_hand)
            if (placed := search.result()) is not None:
                steps.append(placed._replace(after=placed.after._replace(recabled=start.recabled)))
                position = placed.after
        # All is done now. Nothing is a danger while jobs are stopped, so each search takes all that it may: the first
        # manual units before all others, the second all other units and all stages of hosts, the third the manual
        # units that are left.
        cables = () if start.recabled else (PlacedStep(Step("cables"), position),)
        return (
            PlacedStep(Step("stop", in_use=self.change.sent), start._replace(stopped=True)),
            *steps,
            *cables,
            PlacedStep(Step("start", in_use=self.change.wanted), goal),
        )

    def _represented(self, steps: Sequence[PlacedStep]) -> int:
        """Return the number of states of the whole fabric in the steps: each switch or host at any state of its own."""
        total = 1
        for step, _ in steps:
            own = 1
            for change in step.switches:
                passed = 1 + sum(2 ** len(batch.after - batch.before) - 1 for batch in change.batches)
                own *= passed ** len(self.change.kinds[change.kind].devices)
            for hosts in step.hosts:
                own *= 2 ** len(self.change.hosts[hosts.kind].hosts)
            total += own
        return total


class _StepSearch:
    """The search for the safe units of one step; ``by_hand``: of manual work on switches alone."""

    def __init__(
        self,
        search: Search,
        position: Position,
        kinds: Sequence[int],
        *,
        drained: bool,
        by_hand: bool = False,
    ) -> None:
        self.search, self.position, self.order = search, position, kinds
        self.drained, self.by_hand = drained, by_hand
        self.states, self.change = search.states, search.change
        self.use = search.use_at(position)
        self.done = list(position.done)
        self.stages = list(position.stages)
        self.ends: dict[int, tuple[State, ...]] = {k: (State(done),) for k, done in enumerate(position.done)}
        self.host_stages: dict[int, tuple[int, ...]] = {h: (s,) for h, s in enumerate(position.stages)}
        self.batches: dict[int, list[Batch]] = {}
        self._sound: bool | None = None

    def result(self) -> PlacedStep | None:
        """Return the planned step and the position after it; None if no unit or stage of hosts can be added safely."""
        while self._extended():
            if self.drained and not self.position.stopped:
                break
        after = self.position._replace(done=tuple(self.done), stages=tuple(self.stages))
        if after == self.position:
            return None
        switches = tuple(
            KindChange(kind, tuple(batches), self.drained) for kind, batches in sorted(self.batches.items())
        )
        hosts = tuple(
            HostChange(host, reached[1:]) for host, reached in self.host_stages.items() if reached[1:]
        )
        return PlacedStep(Step("change", switches, hosts, self.use.dscps), after)

    def _extended(self) -> bool:
        """Add a batch of safe units of each kind, and the next stage of hosts; return whether there was any."""
        by_switches = [self._extend(kind) for kind in self.order]
        by_hosts = [self._advance(host) for host in self.search.hosts if not self.by_hand]
        return any(by_switches) or any(by_hosts)

    def _extend(self, kind: int) -> bool:
        own, before = self.change.kinds[kind], self.done[kind]
        due = self._due(kind, before)
        if self.by_hand or self.drained:
            left = due if self.by_hand else self._left(kind, before)
            return self._extend_drained(kind, before, left)
        if due:
            return False
        batch: list[int] = []
        for number in range(len(own.units)):
            if number in before or own.units[number].by_hand or self.states.is_full(kind, batch):
                continue
            if not self.search.fits(kind, before, (*batch, number)):
                continue
            if self._is_safe(kind, before, (*batch, number)):
                batch.append(number)
        if not batch:
            return False
        self._take(kind, before, batch)
        return True

    def _due(self, kind: int, before: Done) -> Sequence[int]:
        """Return the manual unit of a kind of switches if it is the next one; empty if it is not."""
        left = sorted(self.search.all_units[kind] - before)
        return left[:1] if left and self.change.kinds[kind].units[left[0]].by_hand else ()

    def _left(self, kind: int, before: Done) -> Sequence[int]:
        """Return the remaining units without manual work; empty while manual work is due."""
        units = self.change.kinds[kind].units
        left = sorted(self.search.all_units[kind] - before)
        return () if self._due(kind, before) else [number for number in left if not units[number].by_hand]

    def _extend_drained(self, kind: int, before: Done, batch: Sequence[int]) -> bool:
        """Bring units onto drained switches if the state after them is safe; return whether that was done."""
        if not batch or not self._is_safe(kind, before, batch):
            return False
        self._take(kind, before, batch)
        return True

    def _take(self, kind: int, before: Done, batch: Sequence[int]) -> None:
        after = before | {*batch}
        self.batches.setdefault(kind, []).append(batch_of(self.states, kind, before, after))
        self.done[kind] = after
        self.ends[kind] = (*self.ends[kind], *self._passed(kind, before, batch))

    def _passed(self, kind: int, before: Done, batch: Sequence[int]) -> tuple[State, ...]:
        """Return the states of a batch that traffic meets: on a drained switch only the last."""
        if self.drained:
            return (State(before | {*batch}),)
        return tuple(self.states.of_batch(kind, before, batch))

    def _is_safe(self, kind: int, before: Done, batch: Sequence[int]) -> bool:
        return not self._any_new(self._dangers_with(kind, self._passed(kind, before, batch)))

    def _any_new(self, dangers: Iterator[Danger]) -> bool:
        """Return whether a danger occurs neither before nor after the change. False while no job runs."""
        return any(danger[:2] not in self.search.allowed and not self.position.stopped for danger in dangers)

    def _dangers_with(self, kind: int, new: Sequence[State]) -> Iterator[Danger]:
        """Yield the dangers of a kind in new states, beside every state of all others in this step."""
        for state in new:
            yield from self.states.verdict(kind, state, self.use).dangers
        whole = [state for state in new if state.part is None]
        at = kind if self._is_sound() else None
        ends = self._whole(self.ends if at is None else self.states.around(kind))
        yield from self.states.between({**ends, kind: [*ends[kind], *whole]}, self.use, at)
        yield from self.states.at_hosts({kind: whole}, self.host_stages, self.use)

    def _whole(self, kinds: Iterable[int]) -> dict[int, list[State]]:
        return {kind: [state for state in self.ends[kind] if state.part is None] for kind in kinds}

    def _is_sound(self) -> bool:
        """Return whether links between the states of this step have no new danger.

        Then only links of added states need to be checked. The result remains true as kinds are extended: states with a
        new danger are not added.
        """
        if self._sound is None:
            self._sound = not self._any_new(self.states.between(self._whole(self.ends), self.use))
        return self._sound

    def _advance(self, host: int) -> bool:
        """Take hosts to their next stage if that is safe beside every state of the switches; return whether it is."""
        stages, stage = self.change.hosts[host].stages, self.stages[host] + 1
        if stage >= len(stages) or self._is_unseen(host, stage):
            return False
        is_sending = stages[stage].sends and self.search.changes_senders(host)
        use = self.search.use_at(self.position, sending=True) if is_sending else self.use
        reached = {**self.host_stages, host: (*self.host_stages[host], stage)}
        if self._any_new(self._with_hosts(reached, use)):
            return False
        if use != self.use:
            self._sound = None
        self.stages[host], self.host_stages, self.use = stage, reached, use
        return True

    def _is_unseen(self, host: int, stage: int) -> bool:
        """Return whether hosts would send, in one step, DSCPs that others of unknown settings may not accept yet."""
        if self.position.stopped or all(each.qos for kind in self.change.hosts for each in kind.stages):
            return False
        moved = [(other, reached) for other, own in self.host_stages.items() for reached in own[1:]]
        return len({self.search.phase(*each) for each in (*moved, (host, stage))}) > 1

    def _with_hosts(self, stages: dict[int, tuple[int, ...]], use: Use) -> Iterator[Danger]:
        if use != self.use:
            for kind, states in self.ends.items():
                for state in states:
                    yield from self.states.verdict(kind, state, use).dangers
            yield from self.states.between(self.ends, use)
        yield from self.states.at_hosts(self.ends, stages, use)


def _cost(steps: Sequence[PlacedStep]) -> tuple[int, int]:
    """Return the cost to minimize: first the number of steps, then the number of ports that go down."""
    return len(steps), _ports_down(steps)


def _ports_down(steps: Sequence[PlacedStep]) -> int:
    return sum(
        len(batch.ports_down) for step, _ in steps for change in step.switches for batch in change.batches
    )


Row = tuple[str, str]


class Milestone(NamedTuple):
    """A batch of a plan on one switch: its step and number, and the rows of the plan as they are after it."""

    step: int
    batch: int
    rows: Mapping[Row, Any]


class DeviceProgress(NamedTuple):
    """The progress of one switch in a plan.

    ``done`` of ``batches`` are done, the last of them in step ``step`` (0: none yet). ``partly`` are rows as in another
    state of the plan, as those of the next batch if it has begun; ``neither`` are rows that match no state of the plan.
    """

    device: str
    done: int
    batches: int
    step: int
    partly: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the switch has completed every batch of the plan, and has all of its rows."""
        return self.done == self.batches and not (self.partly or self.neither)


def milestones(plan: StoredPlan, device: str) -> tuple[Milestone, ...]:
    """Return the states that a switch passes in a plan, the start first; one if the plan changes nothing there."""
    batches = tuple(_batches(plan, device))
    start: dict[Row, Any] = {}
    for _, _, batch in reversed(batches):
        start.update(rows_of(batch.before))
    passed = [Milestone(0, 0, start)]
    for step, number, batch in batches:
        passed.append(Milestone(step, number, {**passed[-1].rows, **rows_of(batch.after)}))
    return tuple(passed)


def progress(plan: StoredPlan, device: str, running: Mapping[str, Any]) -> DeviceProgress:
    """Return the progress of a switch in a plan, by its running configuration: the first state that most rows match."""
    passed = milestones(plan, device)
    there = {row: _as_database(_row(running, row, passed)) for row in passed[0].rows}
    done = max(range(len(passed)), key=lambda number: (_agreeing(passed[number], there), -number))
    unlike = [row for row, value in there.items() if value != _as_database(passed[done].rows[row])]
    known = {row: [_as_database(each.rows[row]) for each in passed] for row in unlike}
    neither = tuple("|".join(row) for row in unlike if there[row] not in known[row])
    partly = tuple("|".join(row) for row in unlike if there[row] in known[row])
    return DeviceProgress(device, done, len(passed) - 1, passed[done].step, partly, neither)


def _agreeing(milestone: Milestone, there: Mapping[Row, Any]) -> int:
    return sum(1 for row, value in milestone.rows.items() if there[row] == _as_database(value))


def _batches(plan: StoredPlan, device: str) -> Iterator[tuple[int, int, StoredBatch]]:
    for step in plan.steps:
        for group in step.switches:
            if device in (plan.groups[group.group] if group.devices is None else group.devices):
                for number, batch in enumerate(group.batches, 1):
                    yield step.number, number, batch


def _row(running: Mapping[str, Any], row: Row, passed: Sequence[Milestone]) -> Any:
    """Return a row of a switch's configuration; of a row in shared tables, only the fields that the plan changes."""
    if row[0] == "VERSIONS":
        return _version(running, row, passed)
    rows = running.get(row[0])
    own = rows.get(row[1]) if isinstance(rows, dict) else None
    if row[0] not in SHARED or passed[0].rows[row] is None:
        return own
    return {field: own.get(field) if isinstance(own, dict) else None for field in passed[0].rows[row]}


def _version(running: Mapping[str, Any], row: Row, passed: Sequence[Milestone]) -> Any:
    """Return the VERSIONS row of the plan with the release that a switch runs, else the switch's own row."""
    own = release_of(running)
    versions = (each.rows[row] for each in passed)
    same = (version for version in versions if release_of({"VERSIONS": {"DATABASE": version}}) == own)
    return next(same, running.get("VERSIONS", {}).get("DATABASE"))


def _as_database(row: Any) -> Any:
    """Return a row as the database has it: values as text, lists joined by commas, no absent fields."""
    if not isinstance(row, dict):
        return row
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in row.items()
        if name != "NULL" and value is not None
    }


def devices_of(plan: StoredPlan) -> Sequence[str]:
    """Return the names of all switches in the groups of a plan."""
    return [device for devices in plan.groups.values() for device in devices]
