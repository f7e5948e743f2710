"""Steps that were found to a plan that is carried out: groups of devices, the rows they touch, and what it takes."""

from __future__ import annotations

import hashlib
import json
import re
from math import ceil
from typing import TYPE_CHECKING

from lossless.checks.plan.backward import backward
from lossless.checks.plan.model import PlacedStep, Step, operations_of
from lossless.checks.plan.plan import HostGroup, Plan, PlannedBatch, PlanStep, SwitchGroup
from lossless.checks.plan.search import Search
from lossless.checks.plan.states import State
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
from lossless.formats.sonic.changes.patch import Operation, operations as operations_between
from lossless.formats.sonic.from_model.tables import SHARED
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.checks.plan.judge import Judge
    from lossless.checks.plan.model import (
        Batch,
        Blocked,
        Change,
        Config,
        HostChange,
        HostKind,
        KindChange,
        Order,
        Position,
        SwitchKind,
    )
    from lossless.checks.plan.plan import Rows

_TITLES = {
    "jobs": "jobs restart",
    "cables": "cables change",
    "stop": "all jobs stop",
    "start": "jobs start again",
}


class PlanLimits(NamedTuple):
    """What a plan may take: ports down at the same time, seconds a step; None: as much as it takes.

    ``drain_s`` and ``link_up_s`` are how long it takes to drain a switch and to have a port up again, where stated.
    ``simulated``: runs of traffic have to be safe between steps too.
    """

    ports_down: int | None = None
    step_s: int | None = None
    drain_s: int = 0
    link_up_s: int = 0
    simulated: bool = False


class NoPlan(LosslessError):  # noqa: N818
    """No safe order was found; the lines say which state is not safe, and why."""


def plan_of(change: Change, judge: Judge, limits: PlanLimits, names: tuple[str, str]) -> Plan:
    """Return the plan of a change; ``names`` are what it leads from and to.

    Raises:
        NoPlan: an unsafe state cannot be avoided, or no step fits the limits.
    """
    search = Search(change, judge)
    order = search.order()
    if order.blocked:
        raise NoPlan(*_refusal(order.blocked))
    if limits.simulated:
        _require_safe_runs(search, order, judge)
    parts = tuple(_Assembly(search, limits).parts(order.steps))
    steps = tuple(_numbered(step for _, step in parts))
    back = tuple(_way_back(search, judge, limits, placed.after) for placed in order.steps)
    return Plan(
        id=_hash(steps),
        current=names[0],
        target=names[1],
        sent=tuple(sorted(change.sent)),
        wanted=tuple(sorted(change.wanted)),
        steps=steps,
        back=tuple(back[number] for number, _ in parts),
        evaluated=judge.states,
        represented=order.represented,
        notes=tuple(_notes(change, limits)),
        groups={slug(kind.title): kind.devices for kind in change.kinds},
    )


def _require_safe_runs(search: Search, order: Order, judge: Judge) -> None:
    """Check the states between steps with the packet-level model.

    Raises:
        NoPlan: runs show something there that they show neither before nor after the change.
    """
    from lossless.checks.plan.runs import unsafe_runs

    shown = tuple(unsafe_runs(search, order.steps, judge.find_hardware))
    if shown:
        raise NoPlan("runs of traffic are not safe between steps; nothing is written", *shown)


def slug(title: str) -> str:
    """Return a name of a kind as a folder has it: ``leaf-2``."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _refusal(blocked: Iterable[Blocked]) -> Iterator[str]:
    yield "no safe order of steps was found; nothing is written"
    for each in blocked:
        yield f"{each.where}: {each.unit}: {listed(each.dangers)}"


def _way_back(search: Search, judge: Judge, limits: PlanLimits, position: Position) -> tuple[PlanStep, ...]:
    """Return the steps from a position back to the start; none where there is none."""
    in_use = search.use_at(position).dscps if not position.stopped else search.change.sent
    back = Search(backward(search.states, position, in_use), judge)
    if position.stopped:
        begun = (placed for placed in back.stopped() if placed.step.kind not in ("stop", "start"))
        steps = (*begun, PlacedStep(Step("start", in_use=search.change.sent), back.goal()))
    else:
        steps = back.order().steps
    return tuple(_numbered(step for _, step in _Assembly(back, limits).parts(steps)))


def _numbered(steps: Iterable[PlanStep]) -> Iterator[PlanStep]:
    return (step._replace(number=number) for number, step in enumerate(steps, 1))


def _notes(change: Change, limits: PlanLimits) -> Iterator[str]:
    if (
        any(stage.qos is None for kind in change.hosts for stage in kind.stages)
        and change.sent != change.wanted
    ):
        yield "what hosts are set to now is not known: check that they take in the DSCPs of both sides"
    if not limits.drain_s:
        yield "time to drain is not counted: state it with --drain-time"
    if not limits.link_up_s:
        yield "time until a port is up again is not counted: state it with --link-up-time"


class _Assembly:
    """Turns steps of one search into steps of a plan."""

    def __init__(self, search: Search, limits: PlanLimits) -> None:
        self.change, self.states, self.limits = search.change, search.states, limits

    def parts(self, placed: Sequence[PlacedStep]) -> Iterator[tuple[int, PlanStep]]:
        """Yield the steps of a plan, each with the number of the one that it is, or is a part of."""
        for number, (step, _) in enumerate(placed):
            for part in self._parts(step):
                yield number, self._step(part, step)

    def _parts(self, step: Step) -> Iterator[tuple[SwitchGroup, ...]]:
        """Yield the groups of a step; several times where one time does not do, as any part of a step is safe alone."""
        groups = tuple(self._group(change, step) for change in step.switches)
        if self.limits.step_s is None:
            yield groups
            return
        waves = [self._waves(group) for group in groups]
        for number in range(max(map(len, waves), default=1)):
            yield tuple(own[number] for own in waves if number < len(own))

    def _waves(self, group: SwitchGroup) -> list[SwitchGroup]:
        """Return a group as groups of as many devices as fit the time of a step."""
        at_once = group.at_once or len(group.devices)
        own_s = self.seconds(group._replace(devices=group.devices[:1]))
        limit_s = self.limits.step_s or own_s
        if own_s > limit_s:
            raise NoPlan(f"{group.name}: one switch takes {own_s} s; --per-step has to be that long at least")
        size = max(1, limit_s // max(own_s, 1)) * at_once
        return [
            group._replace(devices=group.devices[first : first + size])
            for first in range(0, len(group.devices), size)
        ]

    def seconds(self, group: SwitchGroup) -> int:
        """Return how long a group takes at most: a second a move, and what is stated for drains and links."""
        links_s = sum(self.limits.link_up_s * len(batch.ports_down) for batch in group.batches)
        own_s = (
            sum(batch.moves for batch in group.batches)
            + links_s
            + (self.limits.drain_s if group.drained else 0)
        )
        return own_s * ceil(len(group.devices) / (group.at_once or len(group.devices)))

    def _step(self, groups: tuple[SwitchGroup, ...], step: Step) -> PlanStep:
        hosts = tuple(group for change in step.hosts if (group := self._hosts(change)))
        return PlanStep(
            number=0,
            kind=step.kind,
            title=_TITLES.get(step.kind) or self._title(step),
            switches=groups,
            hosts=hosts,
            in_use=tuple(sorted(step.in_use)),
            seconds=max(map(self.seconds, groups), default=0),
            interrupts=tuple(_interrupts(groups)),
            by_hand=tuple(self._by_hand(step, groups)),
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
            parts.append(f"{own.title}: {_reached(own, host)}")
        return "; ".join(parts)

    def _group(self, change: KindChange, step: Step) -> SwitchGroup:
        kind = self.change.kinds[change.kind]
        batches = tuple(self._batch(change.kind, batch) for batch in change.batches)
        downs = any(batch.ports_down for batch in batches)
        drained = bool(step.in_use) and (change.drained or downs)
        return SwitchGroup(
            slug(kind.title),
            kind.devices,
            batches,
            drained,
            self._at_once(kind.title, batches) if drained else None,
        )

    def _at_once(self, title: str, batches: Sequence[PlannedBatch]) -> int:
        """Return how many switches may change at the same time: one of their ports is down at a time, or all are."""
        most = max((len(batch.ports_down) if batch.how == "reload" else 1 for batch in batches), default=1)
        if self.limits.ports_down is None:
            return 1
        if most > self.limits.ports_down:
            raise NoPlan(
                f"{title}: a reload takes {most} ports down at once, and --max-ports-down allows "
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
        return PlannedBatch(
            how=batch.how,
            titles=batch.titles,
            operations=operations,
            before=_rows(before, done),
            after=_rows(after, done),
            ports_down=batch.ports_down,
            moves=batch.moves,
            why=batch.why,
        )

    def _require_accepted(self, kind: SwitchKind, before: Config, patch: Sequence[Operation]) -> None:
        """Check a patch against all that the updater asks, SONiC's models included.

        Raises:
            NoPlan: it refuses it.
        """
        verdict = patch_verdict(before, [operation.as_json() for operation in patch], kind.updater)
        if not verdict.accepted:
            why = listed([f"{'|'.join(refusal.path)}: {refusal.why}" for refusal in verdict.refusals], 3)
            raise NoPlan(f"{kind.title}: the updater refuses a patch of the plan: {why}")

    def _hosts(self, change: HostChange) -> HostGroup | None:
        kind = self.change.hosts[change.kind]
        qos = kind.stages[change.stages[-1]].qos
        if qos is None:
            return None
        return HostGroup(slug(kind.title), kind.hosts, _reached(kind, change), qos)

    def _by_hand(self, step: Step, groups: Sequence[SwitchGroup]) -> Iterator[str]:
        """Yield what people do in a step."""
        if step.kind == "jobs":
            gone = listed([str(dscp) for dscp in sorted(step.in_use - self.change.wanted)])
            yield (
                f"restart every job that began before the last step: its queue pairs keep DSCP {gone}; go on when "
                f"the counters of DSCP {gone} have stood still for {STILL_S} s on all switches"
            )
        if step.kind == "cables":
            yield f"change the cables of {listed(self._recabled(), 8)}"
        if step.kind == "stop":
            yield "stop all jobs that use RDMA on this fabric: no order of steps keeps their traffic lossless"
        if step.kind == "start":
            yield "start the jobs again"
        for host in step.hosts:
            own = self.change.hosts[host.kind]
            if own.stages[host.stages[-1]].qos is None:
                yield f"{own.title}: {_reached(own, host)}"
        for change, group in zip(step.switches, groups, strict=False):
            if group.drained:
                yield self._drain(change, group)

    def _drain(self, change: KindChange, group: SwitchGroup) -> str:
        """Return how traffic leaves switches, or ports of them, before they change."""
        kind = self.change.kinds[change.kind]
        down = {port for batch in group.batches for port in batch.ports_down}
        pace = f"{group.at_once} of {len(kind.devices)} switches at a time"
        if kind.host_ports & down or (change.drained and kind.host_ports):
            return f"{group.name}: {_drain_of_hosts(kind)} ({pace})"
        if not change.drained:
            return (
                f"{group.name}: the ports go down one after another; shut down the BGP session of each first, the "
                f"other {len(down) - 1} carry its traffic meanwhile ({pace})"
            )
        if len(kind.devices) < 2:
            only = kind.devices[0]
            return f"{group.name}: {only} is the only one of its kind, no other carries its traffic: stop all jobs"
        left = len(kind.devices) - (group.at_once or 1)
        return (
            f"{group.name}: take traffic off the switch first (TSA), and back on after (TSB); {left} of "
            f"{len(kind.devices)} carry on ({pace})"
        )

    def _recabled(self) -> list[str]:
        return [
            f"{kind.devices[0]}:{port}"
            for kind in self.change.kinds
            for port in sorted(kind.new_cables_m)
            if kind.cables_m.get(port) != kind.new_cables_m[port]
        ]


def _reached(kind: HostKind, change: HostChange) -> str:
    """Return what hosts of a kind are set to in a step, in words."""
    return ", ".join(kind.stages[stage].title for stage in change.stages)


STILL_S = 600
"""How long counters of a DSCP stand still before it is gone. A choice: longer than jobs pause for a checkpoint."""


def _drain_of_hosts(kind: SwitchKind) -> str:
    """Return how jobs leave the hosts of a leaf: to the second ToR, where there is one that carries them."""
    scheduler = "have the job scheduler take jobs off the hosts behind it first"
    if kind.dual_tor_bps is None:
        return f"its hosts are attached by single links, so the network cannot drain it: {scheduler}"
    down, up = map(format_rate, kind.dual_tor_bps)
    if kind.dual_tor_bps[0] > kind.dual_tor_bps[1]:
        return f"the second ToR has {up} up for {down} of hosts, too little to carry all of them: {scheduler}"
    return (
        f"move its hosts to the second ToR first (config muxcable mode standby all), which has {up} up for {down} of "
        "hosts, and back after"
    )


def _interrupts(groups: Sequence[SwitchGroup]) -> Iterator[str]:
    for group in groups:
        for batch in group.batches:
            if batch.how == "reload":
                down = len(batch.ports_down)
                yield f"{group.name}: config reload restarts the services, and all {down} ports go down"
            elif batch.ports_down:
                yield f"{group.name}: {len(batch.ports_down)} ports go down, one after another, on each switch"
            else:
                yield f"{group.name}: no port goes down; what the chip does to packets meanwhile is not known"


def _rows(config: Config, done: Iterable[Operation]) -> Rows:
    """Return the rows that operations touch; of a row that says more of its switch, the fields that they touch."""
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
