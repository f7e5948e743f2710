"""The fewest steps of a change, by trying every order breadth first; no part of the planner's search is used.

A step is what a plan takes for one. Switches of a kind go on unit by unit and hosts stage by stage, and each device may
be in any state that its kind passes, beside any of the others. Or switches are drained while they change: then only
where they come from counts, and where they get to.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from lossless.checks.plan.systems import changed
from tests.checks.plan.service import dangling, faults_at_host, faults_at_port, faults_between, served

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.plan.batches import FabricChange
    from tests.checks.plan.brute_force import Bench
    from tests.checks.plan.service import Config, Fault, Served

MOST_UNITS = 12 if os.environ.get("LOSSLESS_PLANS") else 10
"""Units of a kind of switches of which every subset is looked at; more where more plans are drawn."""
MOST_STATES = 100_000
"""States of steps that are looked at before it is given up."""
Dscps = frozenset[int]


class Place(NamedTuple):
    """How far a fabric is: units done by kind of switches, stages by kind of hosts, jobs, cables."""

    done: tuple[frozenset[int], ...]
    stages: tuple[int, ...]
    restarted: bool
    recabled: bool


class Going(NamedTuple):
    """A step on its way: how far it is, what devices of each kind do in it, and which kinds have changed drained."""

    place: Place
    passed: tuple[frozenset[int], ...]
    stages: tuple[frozenset[int], ...]
    drained: frozenset[int] = frozenset()


class TooManyOrdersError(Exception):
    """Not every order can be tried."""


class Orders:
    """Tries the orders of a change."""

    def __init__(self, change: FabricChange, bench: Bench, most_states: int = MOST_STATES) -> None:
        self.change, self.bench = change, bench
        self._left_to_look_at = most_states
        self._ports = [self._linked_ports(kind) for kind in range(len(change.kinds))]
        self._served = cache(self._uncached_served)
        self.units = [self._that_matter(kind) for kind in range(len(change.kinds))]
        self._behaviors: dict[object, int] = {}
        self._told: list[dict[tuple[str, int], Served]] = []
        self._behavior = cache(self._uncached_behavior)
        self._safe_alone = cache(self._uncached_safe_alone)
        self._fits = cache(self._uncached_fits)
        self._fits_host = cache(self._uncached_fits_host)
        self._pools: dict[tuple[int, str], set[tuple[str | None, str | None]]] = {}
        self._needs: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self._read_ends()
        self._allowed: frozenset[Fault] = frozenset()
        self._allowed = frozenset((*self._faults(self.start), *self._faults(self.goal)))

    @property
    def start(self) -> Place:
        """Where the fabric is."""
        return Place(
            tuple(frozenset() for _ in self.units),
            tuple(0 for _ in self.change.hosts),
            restarted=self.change.sent <= self.change.wanted,
            recabled=self.bench.cables_m[0] == self.bench.cables_m[1],
        )

    @property
    def goal(self) -> Place:
        """Where it is to get."""
        last = tuple(len(kind.stages) - 1 for kind in self.change.hosts)
        return Place(tuple(map(frozenset, self.units)), last, restarted=True, recabled=True)

    def fewest(self, limit: int) -> int | None:
        """Return the fewest steps to the goal; None where so many do not do.

        Raises:
            TooManyOrdersError: there are too many states on the way.
        """
        reached, last = {self.start}, {self.start}
        for number in range(limit + 1):
            if self.goal in reached:
                return number
            last = self._all_of_one_step(last) - reached if number < limit else set()
            reached |= last
        return None

    def _all_of_one_step(self, places: Iterable[Place]) -> set[Place]:
        """Return where one step leads from any of some places, or some of that where the goal is among it."""
        reached: set[Place] = set()
        for place in sorted(places, key=self._left):
            reached.update(self._one_step(place))
            if self.goal in reached:
                break
        return reached

    def _left(self, place: Place) -> int:
        """Return how much is left to do."""
        missing = (len(units) - len(done) for units, done in zip(self.units, place.done, strict=True))
        return sum(missing) - sum(place.stages)

    def _one_step(self, place: Place) -> Iterator[Place]:
        everyone_sends = all(self._sends(host, place.stages[host]) for host in self._changing)
        if everyone_sends and not place.restarted:
            yield place._replace(restarted=True)
        if not place.recabled and self._can_recable(place):
            yield place._replace(recabled=True)
        for is_sending, is_drained in product((False, True) if self._changing else (False,), (False, True)):
            yield from self._change(place, is_sending=is_sending, is_drained=is_drained)

    def _can_recable(self, place: Place) -> bool:
        dscps = self._in_use(place, is_sending=False)
        return all(
            self._safe_alone(kind, done, dscps, (True, new))
            for kind, done in enumerate(place.done)
            for new in (False, True)
        )

    def _change(self, place: Place, *, is_sending: bool, is_drained: bool) -> set[Place]:
        """Return where one step leads; where ``is_sending``, hosts go on to send as the target says."""
        dscps = self._in_use(place, is_sending=is_sending)
        first = Going(
            place,
            tuple(frozenset({self._behavior(kind, done, dscps)}) for kind, done in enumerate(place.done)),
            tuple(frozenset({stage}) for stage in place.stages),
        )
        if not self._is_safe(first, dscps):
            return set()
        seen, todo = {first}, [first]
        while todo:
            going = todo.pop()
            for then in self._further(going, dscps, is_sending=is_sending, is_drained=is_drained):
                if then not in seen:
                    seen.add(then)
                    todo.append(then)
            if len(seen) > self._left_to_look_at:
                raise TooManyOrdersError
        self._left_to_look_at -= len(seen)
        return {going.place for going in seen}

    def _further(self, going: Going, dscps: Dscps, *, is_sending: bool, is_drained: bool) -> Iterator[Going]:
        for kind, done in enumerate(going.place.done):
            for after in self._next(kind, done, is_drained=is_drained) if kind not in going.drained else ():
                then = self._with_switches(going, kind, after, dscps, is_drained=is_drained)
                if then is not None:
                    yield then
        for host, stage in enumerate(going.place.stages):
            last = len(self.change.hosts[host].stages) - 1
            waits = host in self._changing and self.change.hosts[host].stages[min(stage + 1, last)].sends
            if stage < last and (is_sending or not waits):
                then = self._with_hosts(going, host, dscps)
                if then is not None:
                    yield then

    def _next(self, kind: int, done: frozenset[int], *, is_drained: bool) -> Iterator[frozenset[int]]:
        """Yield what switches can have done next: one unit more, or any where nobody sees what is between."""
        left = [unit for unit in self.units[kind] if unit not in done]
        if is_drained:
            for number in range(1, 1 << len(left)):
                yield done | {unit for bit, unit in enumerate(left) if number >> bit & 1}
        else:
            yield from (done | {unit} for unit in left)

    def _with_switches(
        self, going: Going, kind: int, after: frozenset[int], dscps: Dscps, *, is_drained: bool
    ) -> Going | None:
        place, behavior = going.place, self._behavior(kind, after, dscps)
        if not self._safe_alone(kind, after, dscps, (place.recabled, place.recabled)):
            return None
        passed = tuple(own | {behavior} if number == kind else own for number, own in enumerate(going.passed))
        if behavior not in going.passed[kind] and not self._all_fit(
            passed, kind, behavior, going.stages, dscps
        ):
            return None
        done = tuple(after if number == kind else own for number, own in enumerate(place.done))
        drained = going.drained | {kind} if is_drained else going.drained
        return Going(place._replace(done=done), passed, going.stages, drained)

    def _with_hosts(self, going: Going, host: int, dscps: Dscps) -> Going | None:
        stage = going.place.stages[host] + 1
        for link in self.change.host_links:
            if link.host == host and not all(
                self._fits_host(host, stage, link.switch, link.port, behavior, dscps)
                for behavior in going.passed[link.switch]
            ):
                return None
        stages = tuple(stage if number == host else own for number, own in enumerate(going.place.stages))
        passed = tuple(own | {stage} if number == host else own for number, own in enumerate(going.stages))
        return Going(going.place._replace(stages=stages), going.passed, passed, going.drained)

    def _all_fit(
        self,
        passed: tuple[frozenset[int], ...],
        kind: int,
        behavior: int,
        stages: tuple[frozenset[int], ...],
        dscps: Dscps,
    ) -> bool:
        """Return whether switches that do something new are safe beside all others, and all hosts."""
        for number, link in enumerate(self.change.links):
            if link.a == kind and not all(self._fits(number, behavior, far, dscps) for far in passed[link.b]):
                return False
            if link.b == kind and not all(
                self._fits(number, near, behavior, dscps) for near in passed[link.a]
            ):
                return False
        return all(
            self._fits_host(link.host, stage, link.switch, link.port, behavior, dscps)
            for link in self.change.host_links
            if link.switch == kind
            for stage in stages[link.host]
        )

    def _is_safe(self, going: Going, dscps: Dscps) -> bool:
        """Return whether a step can begin: hosts that are about to send more may not be safe."""
        place = going.place
        cables = (place.recabled, place.recabled)
        return all(
            self._safe_alone(kind, done, dscps, cables) for kind, done in enumerate(place.done)
        ) and all(
            self._all_fit(going.passed, kind, next(iter(own)), going.stages, dscps)
            for kind, own in enumerate(going.passed)
        )

    def _in_use(self, place: Place, *, is_sending: bool) -> Dscps:
        sends = [self._sends(host, place.stages[host]) for host in self._changing]
        if not sends and place.restarted:
            return self.change.sent & self.change.wanted
        if not is_sending and not any(sends):
            return self.change.sent
        if place.restarted and all(sends):
            return self.change.wanted
        return self.change.sent | self.change.wanted

    @property
    def _changing(self) -> list[int]:
        """The kinds of hosts that send other DSCPs from one of their stages on."""
        return [n for n, kind in enumerate(self.change.hosts) if len({s.sends for s in kind.stages}) > 1]

    def _sends(self, host: int, stage: int) -> bool:
        return any(each.sends for each in self.change.hosts[host].stages[: stage + 1])

    def _linked_ports(self, kind: int) -> list[str]:
        ends = [end for link in self.change.links for end in ((link.a, link.a_port), (link.b, link.b_port))]
        ends += [(link.switch, link.port) for link in self.change.host_links]
        return sorted({port for number, port in ends if number == kind})

    def _config(self, kind: int, done: frozenset[int]) -> Config:
        own = self.change.kinds[kind]
        return changed(own.running, (step for unit in sorted(done) for step in own.units[unit].operations))

    def _uncached_served(self, kind: int, done: frozenset[int]) -> dict[tuple[str, int], Served] | None:
        """Return what switches do with some units done; None where rows refer to others that are not there."""
        config = self._config(kind, done)
        if dangling(config) is not None:
            return None
        dscps = self.change.sent | self.change.wanted
        return {(port, dscp): served(config, port, dscp) for port in self._ports[kind] for dscp in dscps}

    def _that_matter(self, kind: int) -> list[int]:
        """Return the units that change what some port does to some DSCP, beside any of the others.

        Raises:
            TooManyOrdersError: there are too many subsets.
        """
        units = range(len(self.change.kinds[kind].units))
        if len(units) > MOST_UNITS:
            raise TooManyOrdersError
        subsets = [
            frozenset(unit for unit in units if number >> unit & 1) for number in range(1 << len(units))
        ]
        return [
            unit
            for unit in units
            if any(
                self._served(kind, some) != self._served(kind, some | {unit})
                for some in subsets
                if unit not in some
            )
        ]

    def _uncached_behavior(self, kind: int, done: frozenset[int], dscps: Dscps) -> int:
        told = {place: own for place, own in (self._served(kind, done) or {}).items() if place[1] in dscps}
        key = (kind, tuple(told.items()))
        if key not in self._behaviors:
            self._behaviors[key] = len(self._told)
            self._told.append(told)
        return self._behaviors[key]

    def _uncached_safe_alone(
        self, kind: int, done: frozenset[int], dscps: Dscps, cables: tuple[bool, bool]
    ) -> bool:
        if not dscps:
            return True
        return self._served(kind, done) is not None and self._allowed.issuperset(
            self._alone(kind, done, dscps, cables)
        )

    def _alone(
        self, kind: int, done: frozenset[int], dscps: Dscps, cables: Iterable[bool]
    ) -> Iterator[Fault]:
        name = self.change.kinds[kind].devices[0]
        for (port, dscp), own in (self._served(kind, done) or {}).items():
            lengths = (self.bench.cables_m[new].get((name, port), 0) for new in cables)
            needed = max(self._needed(kind, port, length) for length in lengths)
            if dscp in dscps:
                yield from faults_at_port(
                    f"{kind} {port}", dscp, own, needed, self._pools.get((kind, port), ())
                )

    def _needed(self, kind: int, port: str, cable_m: int) -> int:
        known = self._needs.get((kind, port), ())
        return min((headroom for length, headroom in known if length >= cable_m), default=0)

    def _uncached_fits(self, number: int, near: int, far: int, dscps: Dscps) -> bool:
        return self._allowed.issuperset(self._between(number, near, far, dscps))

    def _between(self, number: int, near: int, far: int, dscps: Dscps) -> Iterator[Fault]:
        link = self.change.links[number]
        for dscp in dscps:
            one, other = self._told[near].get((link.a_port, dscp)), self._told[far].get((link.b_port, dscp))
            if one is not None and other is not None:
                yield from faults_between(f"link {number}", dscp, one, other)

    def _uncached_fits_host(
        self, host: int, stage: int, kind: int, port: str, behavior: int, dscps: Dscps
    ) -> bool:
        return self._allowed.issuperset(self._at_host(host, stage, kind, port, behavior, dscps))

    def _at_host(
        self, host: int, stage: int, kind: int, port: str, behavior: int, dscps: Dscps
    ) -> Iterator[Fault]:
        qos = self.change.hosts[host].stages[stage].qos
        for dscp in dscps:
            own = self._told[behavior].get((port, dscp))
            if qos is not None and own is not None:
                yield from faults_at_host(f"{host} at {kind} {port}", dscp, qos, own)

    def _faults(self, place: Place) -> Iterator[Fault]:
        """Yield what is wrong where nothing is on its way."""
        dscps = self._in_use(place, is_sending=False)
        behaviors = [self._behavior(kind, done, dscps) for kind, done in enumerate(place.done)]
        for kind, done in enumerate(place.done):
            yield from self._alone(kind, done, dscps, (place.recabled,))
        for number, link in enumerate(self.change.links):
            yield from self._between(number, behaviors[link.a], behaviors[link.b], dscps)
        for own in self.change.host_links:
            yield from self._at_host(
                own.host, place.stages[own.host], own.switch, own.port, behaviors[own.switch], dscps
            )

    def _read_ends(self) -> None:
        """Read which pools lossless packets fill, and the headroom by length of cable, at the start and at the goal."""
        for side, (place, dscps) in enumerate(
            ((self.start, self.change.sent), (self.goal, self.change.wanted))
        ):
            for kind, done in enumerate(place.done):
                name = self.change.kinds[kind].devices[0]
                for (port, dscp), own in (self._served(kind, done) or {}).items():
                    if own.headroom and dscp in dscps:
                        length = self.bench.cables_m[side].get((name, port), 0)
                        self._pools.setdefault((kind, port), set()).add(own.pools)
                        self._needs.setdefault((kind, port), []).append((length, own.headroom))
