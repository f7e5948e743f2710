"""Carries out a plan from what it says alone, and looks at every state on the way."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonpatch

from tests.checks.plan.crossings import crossings, dependencies, faults_across
from tests.checks.plan.moves import carried_out, moves_of, on_the_way
from tests.checks.plan.service import (
    Config,
    Fault,
    Served,
    dangling,
    faults_at_host,
    faults_at_port,
    faults_between,
    served,
)
from tests.checks.plan.updater import emptied_in_use, wrong_in_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.plan.plan import HostGroup, Plan, PlannedBatch, PlannedSwitches, PlanStep, Rows
    from lossless.model.fabric.hosts import HostQos

SHARED = ("DEVICE_METADATA", "FLEX_COUNTER_TABLE", "PORT")
"""Tables of which a plan names single fields: the others are of each switch."""
_CROSSED_EVERY = 10
"""Of the whole fabrics that are drawn, one of so many is looked at from port to port too."""
End = tuple[str, str]
"""A switch and a port of it."""
Met = dict[tuple[str, str, int], set[Served]]
"""How a port of a switch treats a DSCP, in all the states that traffic can meet."""


class Bench(NamedTuple):
    """A fabric in service and what it is to be: configurations, cables and hosts of both, DSCPs that jobs send.

    ``cables_m`` are the real lengths before and after; a port that has none is cabled as it always was.
    """

    start: Mapping[str, Config]
    goal: Mapping[str, Config]
    links: Sequence[tuple[End, End]]
    host_links: Sequence[tuple[str, End]]
    hosts: tuple[Mapping[str, HostQos | None], Mapping[str, HostQos | None]]
    cables_m: tuple[Mapping[End, int], Mapping[End, int]]
    sent: frozenset[int]
    wanted: frozenset[int]

    @property
    def ends(self) -> list[End]:
        """The ports that have a link."""
        return [*{end for link in self.links for end in link} | {end for _, end in self.host_links}]


class Place(NamedTuple):
    """How far a fabric is. ``switched`` are the hosts that make new queue pairs as the walk wants it in the end.

    ``unmoved``: every host marks the same before and after, so that nobody begins to send another DSCP.
    """

    configs: dict[str, Config]
    hosts: dict[str, HostQos | None]
    old: frozenset[int]
    new: frozenset[int]
    switched: frozenset[str]
    recabled: bool
    restarted: bool = False
    stopped: bool = False
    begun: bool = False
    is_back: bool = False
    unmoved: bool = False

    def in_use(self, every_host: Iterable[str], *, sending: bool = False) -> frozenset[int]:
        """Return the DSCPs that jobs send."""
        everyone = frozenset(every_host) <= self.switched
        if self.stopped:
            return frozenset()
        if self.unmoved:
            return self.old & self.new if self.restarted or self.old <= self.new else self.old
        if self.old == self.new or (
            (everyone and self.begun and (self.restarted or self.old <= self.new)) and not sending
        ):
            return self.new
        return self.old | self.new if sending or self.begun else self.old


class Walk:
    """Carries out steps, and keeps every fault that is neither of the start nor of the goal."""

    def __init__(self, bench: Bench, whole_fabrics: int = 0) -> None:
        self.bench, self.random, self.whole_fabrics = bench, Random(0), whole_fabrics
        self.faults: list[str] = []
        self._pools: dict[End, set[tuple[str | None, str | None]]] = {}
        self._needs: dict[End, list[tuple[int, int]]] = {}
        ends = (bench.start, bench.sent), (bench.goal, bench.wanted)
        self._dependencies = [dependencies(crossings(configs, bench.ends, dscps)) for configs, dscps in ends]
        self._read_ends()
        start, goal = self.start(), self._at_goal()
        self.allowed = {*self._at(start, bench.sent)} | {*self._at(goal, bench.wanted)}

    def start(self) -> Place:
        """Return where the fabric is."""
        bench = self.bench
        same = bench.cables_m[0] == bench.cables_m[1]
        place = Place(
            dict(bench.start), dict(bench.hosts[0]), bench.sent, bench.wanted, frozenset(), recabled=same
        )
        return self._unmoved(place, bench.hosts[1])

    def _unmoved(self, place: Place, goal: Mapping[str, HostQos | None]) -> Place:
        """Return a place that knows which hosts mark already as they will at the goal of a walk."""
        same = frozenset(
            name
            for name, qos in place.hosts.items()
            if marked(qos) and marked(qos) == marked(goal.get(name)) and marked(qos) <= place.old
        )
        return place._replace(switched=same, unmoved=bool(goal) and same == frozenset(goal))

    def _at_goal(self) -> Place:
        bench = self.bench
        return self.start()._replace(configs=dict(bench.goal), hosts=dict(bench.hosts[1]), recabled=True)

    def _read_ends(self) -> None:
        """Read which pools lossless packets fill, and the headroom by length of cable, at the start and at the goal."""
        bench = self.bench
        for configs, dscps, cables in (
            (bench.start, bench.sent, bench.cables_m[0]),
            (bench.goal, bench.wanted, bench.cables_m[1]),
        ):
            for end in bench.ends:
                for dscp in dscps:
                    found = served(configs[end[0]], end[1], dscp)
                    if found.headroom:
                        self._pools.setdefault(end, set()).add(found.pools)
                        self._needs.setdefault(end, []).append((cables.get(end, 0), found.headroom))

    def whole(self, plan: Plan) -> None:
        """Carry out a plan, and the rollback from each step of it."""
        place = self.start()
        for step, back in zip(plan.steps, plan.rollback, strict=True):
            place = self.step(place, step, f"step {step.number}")
            self._back(place, back, f"back from {step.number}")
        self._arrived(place, self.bench.goal, self.bench.wanted, "plan")
        hosts = self.bench.hosts[1]
        if any(
            place.hosts[name] is not None and settings(place.hosts[name]) != settings(hosts[name])
            for name in hosts
        ):
            self.faults.append("plan: hosts are not set as the target says")

    def _back(self, place: Place, steps: Sequence[PlanStep], where: str) -> None:
        in_use = place.in_use(self.bench.hosts[1]) if not place.stopped else self.bench.sent
        going_back = place._replace(
            old=in_use,
            new=sent_in_the_end(in_use, self.bench.sent, self.bench.hosts[0].values()),
            begun=False,
            restarted=False,
            is_back=True,
        )
        going_back = self._unmoved(going_back, self.bench.hosts[0])
        for step in steps:
            going_back = self.step(going_back, step, f"{where}, {step.number}")
        self._arrived(going_back, self.bench.start, going_back.new, where)
        if going_back.recabled and self.bench.cables_m[0] != self.bench.cables_m[1]:
            self.faults.append(f"{where}: the cables are not those of the start")
        hosts = self.bench.hosts[0]
        if any(qos and settings(going_back.hosts[name]) != settings(qos) for name, qos in hosts.items()):
            self.faults.append(f"{where}: hosts are not what they were")

    def _arrived(
        self, place: Place, configs: Mapping[str, Config], dscps: frozenset[int], where: str
    ) -> None:
        for name, config in place.configs.items():
            goal = configs[name]
            wrong = [
                table for table in {*config, *goal} if (config.get(table) or {}) != (goal.get(table) or {})
            ]
            if wrong:
                self.faults.append(f"{where}: {name} does not end with its {wrong}")
        in_use = place.in_use(self.bench.hosts[1])
        if in_use != dscps:
            self.faults.append(f"{where}: jobs send {sorted(in_use)} at the end, not {sorted(dscps)}")

    def step(self, place: Place, step: PlanStep, where: str) -> Place:
        """Carry out a step with every state in it; return where it leads."""
        sending = [title for title in _titles(step) if "send DSCP" in title or "no longer DSCP" in title]
        dscps = place.in_use(self.bench.hosts[1], sending=bool(sending))
        if frozenset(step.in_use) != dscps and step.kind != "start":
            self.faults.append(f"{where}: says {step.in_use} in use, and jobs send {sorted(dscps)}")
        after = self._after(place, step, where, bool(sending))
        met: Met = {}
        self._meet(met, place.configs, dscps)
        for group in step.switches:
            self._meet_group(met, place, group, step, dscps)
        hosts = {name: [place.hosts[name], after.hosts[name]] for name in place.hosts}
        cables = {place.recabled, after.recabled}
        self._keep(self._faults(met, hosts, dscps, cables), where)
        self._keep(self._in_whole_fabrics(place, after, step, dscps), f"{where}, whole")
        then = after.in_use(self.bench.hosts[1])
        self._keep(self._at(after, then), f"after {where}")
        self._check_senders(after, then, where)
        return after

    def _check_senders(self, place: Place, dscps: frozenset[int], where: str) -> None:
        """Keep hosts that put a DSCP on their packets that is not counted as in use."""
        for name, qos in place.hosts.items():
            tos = qos.traffic_class if qos is not None else None
            if not place.stopped and isinstance(tos, int) and tos >> 2 not in dscps:
                self.faults.append(
                    f"after {where}: {name} sends DSCP {tos >> 2}, counted are {sorted(dscps)}"
                )

    def _goal(self, place: Place) -> Mapping[str, Config]:
        """Return the configurations that a walk leads to."""
        return self.bench.start if place.is_back else self.bench.goal

    def _keep(self, faults: Iterable[Fault], where: str) -> None:
        for fault in faults:
            if fault not in self.allowed:
                self.faults.append(f"{where}: DSCP {fault.dscp} {fault.what} at {fault.place}")

    def _after(self, place: Place, step: PlanStep, where: str, sending: bool) -> Place:
        configs = dict(place.configs)
        for group in step.switches:
            for name in group.devices:
                for batch in group.batches:
                    config, switch = configs[name], f"{where}, {name}"
                    if place.in_use(place.hosts) and not is_drained(group, step):
                        self.faults += (f"{switch}: {row}" for row in emptied_in_use(config, batch))
                    configs[name] = self._applied(config, batch, self._goal(place)[name], switch)
        by_hand = [line for line in step.by_hand if line.startswith("hosts")]
        hosts = {**(dict.fromkeys(place.hosts) if by_hand else place.hosts), **_set_by(step.hosts)}
        named = {name for group in step.hosts for name in group.hosts if _sends(group.title)}
        everyone = frozenset(self.bench.hosts[1]) if sending and not named else frozenset(named)
        after = place._replace(
            configs=configs,
            hosts=hosts,
            switched=place.switched | everyone,
            begun=place.begun or sending,
            recabled=place.recabled != (step.kind == "cables"),
            restarted=place.restarted or step.kind == "jobs",
        )
        if step.kind == "stop":
            return after._replace(stopped=True)
        if step.kind == "start":
            everyone = frozenset(self.bench.hosts[1])
            return after._replace(stopped=False, begun=True, restarted=True, switched=everyone)
        return after

    def _applied(self, config: Config, batch: PlannedBatch, goal: Config, where: str) -> Config:
        """Return a configuration with a batch in it, by somebody else's RFC 6902; ``goal`` is where it leads."""
        if batch.how == "by hand":
            # Another release keeps the rows.
            assert ({*batch.after}, batch.operations) == ({"VERSIONS"}, ()), where
            return config
        self._compare(config, batch.before, f"{where} before")
        result: Config = jsonpatch.apply_patch(config, [step.as_json() for step in batch.operations])
        result = {table: rows for table, rows in result.items() if rows or table in config}
        self._compare(result, batch.after, f"{where} after")
        made = carried_out(config, moves_of(config, batch.operations))
        assert {t: r for t, r in made.items() if r} == {t: r for t, r in result.items() if r}, where
        self.faults += (f"{where}: {wrong}" for wrong in wrong_in_batch(config, result, batch, goal))
        if (row := dangling(result)) is not None:
            self.faults.append(f"{where}: {row} is not there")
        return {table: rows for table, rows in result.items() if rows or config.get(table) == rows}

    def _compare(self, config: Config, rows: Rows, where: str) -> None:
        for table, own in rows.items():
            for key, row in own.items():
                found = config.get(table, {}).get(key)
                if table in SHARED and row is not None and found is not None:
                    found = {field: found.get(field) for field in row}
                if found != row:
                    self.faults.append(f"{where}: {table}|{key} is {found}, said {row}")

    def _meet(self, met: Met, configs: Mapping[str, Config], dscps: Iterable[int]) -> None:
        for name, port in self.bench.ends:
            for dscp in dscps:
                met.setdefault((name, port, dscp), set()).add(served(configs[name], port, dscp))

    def _meet_group(
        self, met: Met, place: Place, group: PlannedSwitches, step: PlanStep, dscps: frozenset[int]
    ) -> None:
        """Add what traffic meets at the ports of switches that change."""
        for name in group.devices:
            config = place.configs[name]
            for batch in group.batches:
                moves = moves_of(config, batch.operations)
                after = carried_out(config, moves)
                for port in (port for switch, port in self.bench.ends if switch == name):
                    states: Iterable[Config] = (after,)
                    if dscps and not is_drained(group, step):
                        states = on_the_way(config, moves, port, self.random)
                    for state, dscp in product(states, dscps):
                        met[name, port, dscp].add(served(state, port, dscp))
                config = after

    def _in_whole_fabrics(
        self, place: Place, after: Place, step: PlanStep, dscps: frozenset[int]
    ) -> Iterator[Fault]:
        """Yield what is wrong in fabrics of which every switch and host is in a state of its own, drawn at random."""
        for number in range(self.whole_fabrics):
            drawn = self.midway(place, step)
            hosts = {name: self.random.choice((qos, after.hosts[name])) for name, qos in place.hosts.items()}
            yield from self._at(drawn._replace(hosts=hosts), dscps)
            if number % _CROSSED_EVERY == 0:
                found = [*crossings(drawn.configs, self.bench.ends, dscps)]
                yield from faults_across(found, self._dependencies)

    def midway(self, place: Place, step: PlanStep) -> Place:
        """Return a fabric in the midst of a step, drawn at random."""
        configs = dict(place.configs)
        for group in step.switches:
            drained = is_drained(group, step)
            configs |= {name: self._any_state(configs[name], group, drained) for name in group.devices}
        return place._replace(configs=configs)

    def _any_state(self, config: Config, group: PlannedSwitches, drained: bool) -> Config:
        """Return a configuration that a switch can have in a step."""
        for number, batch in enumerate(group.batches):
            moves = moves_of(config, batch.operations)
            if self.random.randrange(len(group.batches) + 1) == number:
                some = [move for move in moves if self.random.random() < 0.5]
                state = carried_out(config, some)
                return config if drained or dangling(state) else state
            config = carried_out(config, moves)
        return config

    def _at(self, place: Place, dscps: frozenset[int]) -> list[Fault]:
        """Return what is wrong in one state."""
        met: Met = {}
        self._meet(met, place.configs, dscps)
        return self._faults(met, {n: [q] for n, q in place.hosts.items()}, dscps, {place.recabled})

    def _faults(
        self,
        met: Met,
        hosts: Mapping[str, Sequence[HostQos | None]],
        dscps: frozenset[int],
        cables: set[bool],
    ) -> list[Fault]:
        return [*self._local(met, cables), *self._between(met, dscps), *self._at_hosts(met, hosts, dscps)]

    def _local(self, met: Met, cables: set[bool]) -> Iterator[Fault]:
        for (name, port, dscp), found in met.items():
            needed = max(
                self._needed((name, port), self.bench.cables_m[new].get((name, port), 0)) for new in cables
            )
            for each in found:
                yield from faults_at_port(
                    f"{name} {port}", dscp, each, needed, self._pools.get((name, port), ())
                )

    def _needed(self, end: End, cable_m: int) -> int:
        """Return the least headroom that is configured for such a cable, or a longer one, at the start or the goal."""
        return min((xoff for length, xoff in self._needs.get(end, ()) if length >= cable_m), default=0)

    def _between(self, met: Met, dscps: Iterable[int]) -> Iterator[Fault]:
        for (near, far), dscp in product(self.bench.links, dscps):
            for one, other in product(met[(*near, dscp)], met[(*far, dscp)]):
                yield from faults_between(f"{near} - {far}", dscp, one, other)

    def _at_hosts(
        self, met: Met, hosts: Mapping[str, Sequence[HostQos | None]], dscps: Iterable[int]
    ) -> Iterator[Fault]:
        for (host, end), dscp in product(self.bench.host_links, dscps):
            for qos, at in product(hosts[host], met[(*end, dscp)]):
                if qos is not None:
                    yield from faults_at_host(f"{host} - {end}", dscp, qos, at)


def marked(qos: HostQos | None) -> frozenset[int]:
    """Return the DSCPs that a host puts on its packets, as far as its settings say."""
    tos = () if qos is None else (qos.traffic_class, qos.nccl_tc)
    return frozenset(value >> 2 for value in tos if isinstance(value, int))


def sent_in_the_end(
    sent: frozenset[int], lossless: frozenset[int], hosts: Iterable[HostQos | None]
) -> frozenset[int]:
    """Return which lossless DSCPs are sent in the end: those sent before, and those that hosts mark."""
    marks = [marked(qos) for qos in hosts]
    return lossless & sent.union(*marks) if marks and all(marks) else lossless


def is_drained(group: PlannedSwitches, step: PlanStep) -> bool:
    """Return whether no jobs use a switch while it changes; where single ports go down, jobs use the others."""
    own = [line for line in step.by_hand if line.startswith(f"{group.name}: ")]
    return group.drained and not any("the ports go down one after another" in line for line in own)


def settings(qos: HostQos | None) -> object:
    """Return what is set on a host."""
    if qos is None:
        return None
    dcqcn = qos.dcqcn
    names = (qos.dscp_to_priority, qos.pfc_priorities, qos.traffic_class, qos.nccl_tc, qos.ets, qos.buffers)
    return (
        *names,
        dcqcn.enabled,
        dcqcn.values,
        dcqcn.cnp_dscp,
        dcqcn.cnp_priority,
        qos.mtu_bytes,
        qos.cable_m,
    )


def _titles(step: PlanStep) -> list[str]:
    return [*(group.title for group in step.hosts), *step.by_hand] if step.kind == "change" else []


def _sends(title: str) -> bool:
    return "send DSCP" in title or "no longer DSCP" in title


def _set_by(groups: Iterable[HostGroup]) -> dict[str, Any]:
    return {name: group.qos for group in groups for name in group.hosts}
