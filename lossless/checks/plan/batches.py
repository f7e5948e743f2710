"""The change to plan, the configurations of switches on the way, and how units are brought onto a switch.

A change has kinds of switches and hosts, and the links between them; its steps bring units onto switches. Each
configuration that a switch can have on the way is read and evaluated once. Units are brought in by a patch that the
updater permits, by rows written beside it, by a reload, by hand, or by a session of a system other than SONiC.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from lossless.checks.plan.evaluation import Danger
from lossless.checks.plan.systems import changed, hwsku_of, named_rows, switch_between
from lossless.formats.sonic.capabilities.updater_sorting import emptied_rows, ports_down
from lossless.formats.sonic.capabilities.updater_verdict import field_refusals, kept_by_orchagent
from lossless.formats.sonic.changes.json_patch import REFERRED
from lossless.formats.sonic.to_model.trimming import PARAMETER_TABLE, PATTERN_TABLE
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.plan.evaluation import DeviceVerdict, Evaluator, PlacedEnd
    from lossless.checks.plan.systems import SystemSwitch, Unit
    from lossless.formats.sonic.capabilities.updater_sorting import UpdaterDevice
    from lossless.formats.sonic.capabilities.updater_verdict import UpdateRefusal
    from lossless.formats.sonic.changes.json_patch import Operation
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Switch


_WRITTEN: Mapping[str, frozenset[str] | None] = {
    "PFC_WD": None,
    "WRED_PROFILE": None,
    "BUFFER_PROFILE": frozenset({"dynamic_th"}),
    "BUFFER_POOL": frozenset({"size"}),
}
"""The tables that SONiC's own commands write while a switch runs, past the updater: fields, None for whole rows too.
``pfcwd start``, ``ecnconfig`` and ``mmuconfig -a`` (sonic-utilities pfcwd/main.py, scripts/ecnconfig,
scripts/mmuconfig @691b1bb); the size of a pool, which orchagent sets on a pool that exists (sonic-swss
orchagent/bufferorch.cpp, processBufferPool @e6b0c5b)."""
_OF_MODEL = frozenset({"CABLE_LENGTH", "DEVICE_METADATA", PARAMETER_TABLE, PATTERN_TABLE})
"""Tables beside those of buffers that the buffer manager reads by its model, and the one that names the model."""
_MODEL = "the buffer manager reads the buffer model when it starts"
_MOVES_OF_PORT = 3
"""Moves for each port that goes down: down, its rows, up (recorded with patch_sorter.py @691b1bb)."""


def fits_updater(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether units can be brought at once onto a switch that carries jobs: by a patch, written rows, a session.

    A patch must be permitted by the updater, and empty no row in use. Rows are written only where the updater refuses
    each unit by itself too. No row may refer to a missing one, and buffers wait for a change of the buffer model. A
    system with sessions must have a configuration for the state after them, and take their parts without a drain.
    """
    after = before | {*batch}
    system = states.change.kinds[kind].system
    if system is not None:
        touched = {
            operation.path[0] for operation in operations_of(states.change.kinds[kind], frozenset(batch))
        }
        return system.drained.isdisjoint(touched) and not states.refused(system, kind, after)
    if _removes_named(states, kind, before, batch) or _dangles(states, kind, before, after):
        return False
    if _waits_for_restart(states, kind, before, batch):
        return False
    refusals = refusals_of(states, kind, before, after)
    if refusals:
        alone = all(refusals_of(states, kind, before, before | {number}) for number in batch)
        return alone and _how(states, kind, before, after, refusals) == "write"
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    return not any(row.in_use for row in emptied_rows(running, target))


def _dangles(states: States, kind: int, before: Done, after: Done) -> bool:
    """Return whether a batch adds references to rows of the target that only a later batch adds."""
    own = states.change.kinds[kind]
    config = states.config(kind, State(after))
    lacking = {
        key for table in REFERRED for key in own.target.get(table, {}) if key not in config.get(table, {})
    }
    if not lacking:
        return False
    named = named_rows(config) - named_rows(states.config(kind, State(before)))
    return not named.isdisjoint(lacking)


def _removes_named(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether a batch removes rows that others refer to until it is done."""
    units = states.change.kinds[kind].units
    gone = {
        operation.path[1]
        for number in batch
        if units[number].is_unnamed
        for operation in units[number].operations
        if operation.op == "remove"
    }
    return bool(gone) and not gone.isdisjoint(named_rows(states.config(kind, State(before))))


def _waits_for_restart(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether a batch has rows that the buffer manager reads, while its change of model is still to come."""
    own = states.change.kinds[kind]
    if buffer_model(states.config(kind, State(before))) == buffer_model(own.target):
        return False
    tables = {operation.path[0] for number in batch for operation in own.units[number].operations}
    return any(table.startswith("BUFFER_") or table in _OF_MODEL for table in tables)


def _restarts(states: States, kind: int, before: Done, after: Done) -> bool:
    """Return whether a batch changes the buffer model, which the buffer manager reads when it starts.

    Until then it computes by the old one (sonic-buildimage dockers/docker-orchagent/buffermgrd.sh @086b03b).
    """
    models = {buffer_model(states.config(kind, State(done))) for done in (before, after)}
    return len(models) > 1


def buffer_model(config: Mapping[str, Any]) -> str:
    """Return the buffer model in a CONFIG_DB, ``traditional`` if it names none."""
    return str(config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model", "traditional"))


def refusals_of(states: States, kind: int, before: Done, after: Done) -> tuple[UpdateRefusal, ...]:
    """Return the changes of a batch that the updater refuses or orchagent does not apply, as refusals with a reason.

    For a kind whose configuration the updater refuses as a whole, these reasons are returned instead.
    """
    own = states.change.kinds[kind]
    if own.unpatchable:
        return own.unpatchable
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    steps = (step for number in after - before for step in own.units[number].operations)
    return (*kept_by_orchagent(steps), *field_refusals(running, target, own.updater))


def batch_of(states: States, kind: int, before: Done, after: Done) -> Batch:
    """Return a batch with its method, the ports that go down and the moves of the updater."""
    own = states.change.kinds[kind]
    if own.system is not None:
        titles = tuple(own.units[number].title for number in sorted(after - before))
        return Batch("session", titles, before, after, (), 0)
    by_hand = any(own.units[number].by_hand for number in after - before)
    refusals = () if by_hand else refusals_of(states, kind, before, after)
    how = "by hand" if by_hand else _how(states, kind, before, after, refusals)
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    units = [own.units[number] for number in sorted(after - before)]
    down = _ports_down(how, running, target)
    others = sum(len(unit.operations) for unit in units if not unit.ports)
    return Batch(
        how=how,
        titles=tuple(unit.title for unit in units),
        before=before,
        after=after,
        ports_down=down,
        moves=_MOVES_OF_PORT * len(down) + others if how != "by hand" else 0,
        why="; ".join(
            dict.fromkeys(
                [*([_MODEL] if _restarts(states, kind, before, after) else []), *_reasons(refusals)]
            )
        ),
    )


def _ports_down(how: How, running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ports of a switch that go down while a batch is brought onto it."""
    if how in ("reload", "by hand"):
        ports = running.get("PORT", {}) if isinstance(running, dict) else {}
        return tuple(
            name for name, row in ports.items() if isinstance(row, dict) and row.get("admin_status") == "up"
        )
    return ports_down(running, target) if how == "patch" else ()


def _how(states: States, kind: int, before: Done, after: Done, refusals: Sequence[UpdateRefusal]) -> How:
    if _restarts(states, kind, before, after):
        return "reload"
    if not refusals:
        return "patch"
    own = states.change.kinds[kind]
    written = all(
        _is_written(operation, own.units[number])
        for number in after - before
        for operation in own.units[number].operations
    )
    return "write" if written else "reload"


def _is_written(operation: Operation, unit: Unit) -> bool:
    table, _, *field = operation.path
    if unit.is_unnamed and table == "BUFFER_PROFILE":
        return True
    fields = _WRITTEN.get(table, frozenset())
    return fields is None or (operation.op == "replace" and field[:1] != [] and field[0] in fields)


def _reasons(refusals: Sequence[UpdateRefusal]) -> list[str]:
    rows: dict[str, list[str]] = {}
    for refusal in refusals:
        rows.setdefault(refusal.why, []).append("|".join(refusal.path))
    return [f"{listed(places)}: {why}" if any(places) else why for why, places in rows.items()]


Config = dict[str, dict[str, Any]]

How = Literal["patch", "write", "reload", "by hand", "session"]
"""Method of a batch: a patch for the config updater, rows written beside it, a reload, manual work, or a session of a
system other than SONiC.
"""
StepKind = Literal["change", "jobs", "cables", "stop", "start"]
"""Kind of a step: configurations change, jobs restart, cables change, all jobs stop or start again."""


class SecondTor(NamedTuple):
    """A second ToR of hosts: how they are moved to it, and the bandwidth of its ports to hosts and of its uplinks."""

    moved_by: str
    down_bps: int
    up_bps: int

    @property
    def carries_all(self) -> bool:
        """Whether its uplinks carry the traffic of all hosts."""
        return self.down_bps <= self.up_bps


class PlannedKind(NamedTuple):
    """Switches with the same running and target configuration, apart from names: the first of them stands for all.

    ``cables_m`` and ``new_cables_m`` are the real lengths of the cables at its ports, where known, before and after.
    ``host_ports`` are those that lead to hosts. ``second_tor`` is set if its hosts are attached to a second switch
    too. ``unpatchable`` lists reasons why the updater refuses the configuration before or after as a whole, and so
    every patch. ``port_names`` has, for a replaced switch, the names of the ports of links on the switch of each HWSKU.
    ``system`` is set if they run another system than SONiC: ``running`` and ``target`` are then rows of behavior.
    ``assumed_release``: neither of two intents states the release of the updater, which is then the default.
    """

    title: str
    devices: tuple[str, ...]
    running: Config
    target: Config
    units: tuple[Unit, ...]
    updater: UpdaterDevice
    cables_m: Mapping[str, int] = {}
    new_cables_m: Mapping[str, int] = {}
    host_ports: frozenset[str] = frozenset()
    second_tor: SecondTor | None = None
    unpatchable: tuple[UpdateRefusal, ...] = ()
    port_names: Mapping[str, Mapping[str, str]] = {}
    system: SystemSwitch | None = None
    assumed_release: bool = False

    @property
    def recabled(self) -> tuple[str, ...]:
        """The ports with a cable before and after whose length changes."""
        both = self.cables_m.keys() & self.new_cables_m.keys()
        return tuple(sorted(port for port in both if self.cables_m[port] != self.new_cables_m[port]))


class HostKind(NamedTuple):
    """Hosts with the same settings before and after a change, and the stages by which they change.

    ``links`` is the number of links of the host that has most, ``at_leaf`` the fewest hosts at a leaf of one of them,
    where a leaf is a rail of a unit in a rail-optimized fabric. ``stages`` begins with the current settings (None:
    unknown); it is the only stage if nothing changes on the way.
    """

    title: str
    hosts: tuple[str, ...]
    stages: tuple[HostStage, ...]
    links: int = 0
    at_leaf: int = 0


class HostStage(NamedTuple):
    """The settings of hosts at one stage, None if unknown. ``sends``: from it on they send the DSCPs of the target.

    Hosts whose stages all have the same ``sends`` send the same DSCPs before and after. ``links_down``: on the way here
    from the stage before, the links of their NICs go down for a moment. ``assumed`` are the settings that unknown hosts
    are taken to have beside switches that have begun to change: those that fit the switches before the change.
    """

    title: str
    qos: HostQos | None
    sends: bool
    links_down: bool = False
    assumed: HostQos | None = None


class PlannedLink(NamedTuple):
    """A link between two kinds of switches, by index, with the port of each."""

    a: int
    a_port: str
    b: int
    b_port: str


class PlannedHostLink(NamedTuple):
    """A link from a kind of hosts to a port of a kind of switches, both by index."""

    host: int
    switch: int
    port: str


class FabricChange(NamedTuple):
    """A fabric in service and its target.

    ``sent`` are the DSCPs that jobs send now, ``wanted`` those of lossless classes of the target that they will send.
    ``lossless`` are all DSCPs of these classes: no setting of a host sends those of them that are not ``wanted``.
    ``begun`` says that an earlier change of DSCPs is half done, and which DSCPs jobs are therefore taken to send.
    ``links_to_lay`` and ``links_to_take`` name links that are in the target or in service alone: the first are no part
    of ``links`` and ``host_links``. ``unread_hosts``: settings of hosts in service are not known.
    ``is_read``: what is in service was read from files of devices, not from an intent.
    """

    kinds: tuple[PlannedKind, ...]
    hosts: tuple[HostKind, ...]
    links: tuple[PlannedLink, ...]
    host_links: tuple[PlannedHostLink, ...]
    sent: frozenset[int]
    wanted: frozenset[int]
    lossless: frozenset[int]
    begun: str = ""
    links_to_lay: tuple[str, ...] = ()
    links_to_take: tuple[str, ...] = ()
    unread_hosts: bool = False
    is_read: bool = False

    @property
    def dscps(self) -> frozenset[int]:
        """The DSCPs that jobs send now, and those of lossless classes of the target; the rest share units."""
        return self.sent | self.wanted | self.lossless


class Batch(NamedTuple):
    """Units that are brought onto a switch at once. ``ports_down`` are ports that are up and go down on the way.

    ``before`` and ``after`` are the numbers of the units that are done; ``why`` has refusals, or the restart, by which
    it is no patch, empty without these.
    """

    how: How
    titles: tuple[str, ...]
    before: frozenset[int]
    after: frozenset[int]
    ports_down: tuple[str, ...]
    moves: int
    why: str = ""


class KindChange(NamedTuple):
    """The batches of one kind of switches in a step, in order. ``drained``: each switch carries no jobs meanwhile."""

    kind: int
    batches: tuple[Batch, ...]
    drained: bool = False


class HostChange(NamedTuple):
    """The stages that the hosts of one kind reach in a step, one after another."""

    kind: int
    stages: tuple[int, ...]


class Step(NamedTuple):
    """One step of a change. Its switches and hosts may be done in any order, any number of them at once.

    ``in_use`` are the DSCPs that jobs send meanwhile.
    """

    kind: StepKind
    switches: tuple[KindChange, ...] = ()
    hosts: tuple[HostChange, ...] = ()
    in_use: frozenset[int] = frozenset()


class Position(NamedTuple):
    """The progress of a change: the units that each kind of switch has done, and the stage of each kind of hosts.

    ``restarted``: jobs no longer send DSCPs that go. ``recabled``: cables have their new lengths. ``stopped``: no job
    runs.
    """

    done: tuple[frozenset[int], ...]
    stages: tuple[int, ...]
    restarted: bool
    recabled: bool
    stopped: bool = False


class PlacedStep(NamedTuple):
    """A step of a change, and the progress of the change after it."""

    step: Step
    after: Position


class Order(NamedTuple):
    """The steps of a safe order; ``evaluated`` states stand for ``represented`` ones."""

    steps: tuple[PlacedStep, ...]
    evaluated: int
    represented: int


def operations_of(kind: PlannedKind, units: frozenset[int]) -> tuple[Operation, ...]:
    """Return the operations of the given units of a kind of switches, in the order of the units."""
    return tuple(operation for number in sorted(units) for operation in kind.units[number].operations)


Done = frozenset[int]
_MOST_UNITS = 6
"""The most units of one batch, without rows that come first: any of them can be done, which makes 64 states."""


class State(NamedTuple):
    """A configuration of a switch on the way: the units that are done, and one that is done in part, if any."""

    done: Done
    part: int | None = None


_NOT_BEGUN = State(frozenset())


class Use(NamedTuple):
    """The use that a state must be safe for: the DSCPs that jobs send, and whether cables are old, new, or either."""

    dscps: frozenset[int]
    old_cables: bool
    new_cables: bool


class States:
    """The configurations, verdicts and switches of a change, by kind of switch and state, each computed once."""

    def __init__(self, change: FabricChange, evaluator: Evaluator) -> None:
        self.change = change
        self.evaluator = evaluator
        self._configs: dict[tuple[int, State], Config] = {}
        self._verdicts: dict[tuple[int, State, Use], DeviceVerdict] = {}
        self._switches: dict[tuple[int, Done], Switch] = {}
        self._refused: dict[tuple[int, Done], tuple[str, ...]] = {}
        # A link between switches of one kind is there once.
        self._links_at = grouped((kind, link) for link in change.links for kind in {link.a, link.b})
        self._host_links_at = grouped((link.switch, link) for link in change.host_links)

    def config(self, kind: int, state: State) -> Config:
        """Return the configuration of a kind of switch in a state."""
        key = (kind, state)
        if key not in self._configs:
            own = self.change.kinds[kind]
            done = operations_of(own, state.done)
            part = own.units[state.part].half if state.part is not None else ()
            self._configs[key] = changed(own.running, (*done, *part))
        return self._configs[key]

    def switch(self, system: SystemSwitch, kind: int, done: Done) -> Switch:
        """Return the switch of a kind after the units in ``done``; ``system`` is that of the kind."""
        own = self.change.kinds[kind]
        if (kind, done) not in self._switches:
            is_last = len(done) == len(own.units)
            made = system.target if is_last else switch_between(system, operations_of(own, done))
            self._switches[kind, done] = made
        return self._switches[kind, done]

    def refused(self, system: SystemSwitch, kind: int, done: Done) -> tuple[str, ...]:
        """Return the reasons why a kind's system has no configuration after the units in ``done``; empty if it has."""
        if (kind, done) not in self._refused:
            self._refused[kind, done] = system.refused(self.switch(system, kind, done))
        return self._refused[kind, done]

    def verdict(self, kind: int, state: State, use: Use) -> DeviceVerdict:
        """Return the dangers and link ends of a kind of switch in a state, for the DSCPs and cables in use."""
        key = (kind, state, use)
        if key not in self._verdicts:
            own = self.change.kinds[kind]
            cables_m = _cables_m(own.cables_m, own.new_cables_m, use)
            if own.system is not None:
                there = (self.switch(own.system, kind, state.done), own.system.silent)
                self._verdicts[key] = self.evaluator.system(own.devices[0], *there, use.dscps, cables_m)
            else:
                config = self.config(kind, state)
                self._verdicts[key] = self.evaluator.device(own.devices[0], config, use.dscps, cables_m)
        return self._verdicts[key]

    def of_batch(self, kind: int, before: Done, batch: Sequence[int]) -> Iterator[State]:
        """Yield the states during a batch, for any order of the updater, and the state after it.

        Rows without references come before the rows that refer to them: SONiC's models do not let the updater do
        otherwise. The behavior of a switch during a session is unknown: a session has no states on its way.
        """
        units = self.change.kinds[kind].units
        if self.change.kinds[kind].system is not None:
            yield State(before | {*batch})
            return
        new_rows = {number for number in batch if units[number].comes_first}
        others = [number for number in batch if number not in new_rows]
        for size in range(0 if new_rows else 1, len(others) + 1):
            for some in combinations(others, size):
                yield State(before | new_rows | {*some})
        for number in batch:
            if units[number].half:
                yield State(before | (new_rows - {number}), number)
                yield State(before | {*batch} - {number}, number)

    def is_full(self, kind: int, batch: Sequence[int]) -> bool:
        """Return whether a batch has the most units that are evaluated in every order.

        Units that come first do not count.
        """
        units = self.change.kinds[kind].units
        return sum(1 for number in batch if not units[number].comes_first) >= _MOST_UNITS

    def around(self, kind: int) -> frozenset[int]:
        """Return the kinds of switches that links join to switches of a kind, and the kind itself."""
        return frozenset({kind, *(end for link in self._links_at.get(kind, ()) for end in (link.a, link.b))})

    def between(
        self, ends: Mapping[int, Sequence[State]], use: Use, at: int | None = None
    ) -> Iterator[Danger]:
        """Yield the dangers on links between switches; ``ends`` has the states that each kind can be in.

        ``at``: only on links of this kind.
        """
        for link in self.change.links if at is None else self._links_at.get(at, ()):
            far_ends = self._ends(link.b, link.b_port, ends[link.b], use)
            for near in self._ends(link.a, link.a_port, ends[link.a], use):
                for far in far_ends:
                    yield from self.evaluator.link(near, far, use.dscps)

    def at_hosts(
        self, ends: Mapping[int, Sequence[State]], stages: Mapping[int, Sequence[int]], use: Use
    ) -> Iterator[Danger]:
        """Yield the dangers at hosts; ``ends`` has the states of kinds of switches, ``stages`` those of hosts.

        NIC settings do not match the switch port of a link, or a NIC needs order while a switch routes adaptively.
        """
        yield from self._out_of_order(ends, stages)
        alone = next(iter(ends)) if len(ends) == 1 else None
        for link in self.change.host_links if alone is None else self._host_links_at.get(alone, ()):
            states = ends[link.switch]
            begun = [state for state in states if state != _NOT_BEGUN]
            for number in stages[link.host]:
                stage = self.change.hosts[link.host].stages[number]
                qos = stage.qos or stage.assumed
                # What unknown hosts have fits the switches before the change, whatever it is.
                there = begun if stage.qos is None and number == 0 else states
                if qos is not None:
                    for at in self._ends(link.switch, link.port, there, use):
                        yield from self.evaluator.host(qos, at, use.dscps)

    def _out_of_order(
        self, ends: Mapping[int, Sequence[State]], stages: Mapping[int, Sequence[int]]
    ) -> Iterator[Danger]:
        """Yield a danger per kind of hosts not set to take packets out of order, while a switch routes adaptively."""
        names = [
            self.change.kinds[kind].devices[0] for kind, states in ends.items() if self._adapts(kind, states)
        ]
        if not names:
            return
        for host, reached in stages.items():
            own = self.change.hosts[host]
            if any(qos.out_of_order is not True for stage in reached if (qos := own.stages[stage].qos)):
                said = f"{names[0]} routes adaptively, and NICs of {own.title} are not set to take packets out of order"
                yield Danger("TOP015", own.title, said)

    def _adapts(self, kind: int, states: Sequence[State]) -> bool:
        system = self.change.kinds[kind].system
        if system is None:
            return False
        return any(port.adaptive for state in states for port in self.switch(system, kind, state.done).ports)

    def _ends(self, kind: int, port: str, states: Sequence[State], use: Use) -> list[PlacedEnd]:
        """Return the link ends of a switch port in the given states, one for each distinct behavior."""
        named = ((state, self._port(kind, port, state)) for state in states)
        ends = (self.verdict(kind, state, use).ends.get(name) for state, name in named if name is not None)
        return list({end.behavior: end for end in ends if end is not None}.values())

    def _port(self, kind: int, port: str, state: State) -> str | None:
        """Return the name of a link's port on the switch of a state; None: it has no such link."""
        names = self.change.kinds[kind].port_names
        return names.get(hwsku_of(self.config(kind, state)), {}).get(port) if names else port


def _cables_m(old: Mapping[str, int], new: Mapping[str, int], use: Use) -> Mapping[str, int]:
    """Return the longest cable, in meters, that each port may have: the old one, the new one, or either."""
    if not use.new_cables:
        return old
    if not use.old_cables:
        return new
    return {port: max(old.get(port, 0), new.get(port, 0)) for port in {*old, *new}}
