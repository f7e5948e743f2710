"""The configurations that switches can have on the way, each read and evaluated once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from lossless.checks.plan.evaluation import Danger
from lossless.checks.plan.model import operations_of
from lossless.checks.plan.systems import switch_between
from lossless.checks.plan.units import changed, hwsku_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.plan.evaluation import DeviceVerdict, Evaluator, PlacedEnd
    from lossless.checks.plan.model import Config, FabricChange
    from lossless.model.fabric.model import Switch

Done = frozenset[int]
_MOST_UNITS = 6
"""Units of one batch: each can be done before or after each other, which makes 64 states."""


class State(NamedTuple):
    """A configuration of a switch on the way: the units that are done, and one that is done in part."""

    done: Done
    part: int | None = None


class Use(NamedTuple):
    """The use that a state must be safe for: the DSCPs that jobs send, and whether cables are old, new, or either."""

    dscps: frozenset[int]
    old_cables: bool
    new_cables: bool


class States:
    """The configurations of a change, by kind of switch and state."""

    def __init__(self, change: FabricChange, evaluator: Evaluator) -> None:
        self.change = change
        self.evaluator = evaluator
        self._configs: dict[tuple[int, State], Config] = {}
        self._verdicts: dict[tuple[int, State, Use], DeviceVerdict] = {}
        self._switches: dict[tuple[int, Done], Switch] = {}
        self._refused: dict[tuple[int, Done], tuple[str, ...]] = {}

    def config(self, kind: int, state: State) -> Config:
        """Return the configuration of a kind of switch in a state."""
        key = (kind, state)
        if key not in self._configs:
            own = self.change.kinds[kind]
            done = operations_of(own, state.done)
            part = own.units[state.part].half if state.part is not None else ()
            self._configs[key] = changed(own.running, (*done, *part))
        return self._configs[key]

    def switch(self, kind: int, done: Done) -> Switch:
        """Return a switch of a kind that takes sessions, some of its units done."""
        own = self.change.kinds[kind]
        assert own.system is not None
        if (kind, done) not in self._switches:
            is_last = len(done) == len(own.units)
            made = own.system.target if is_last else switch_between(own.system, operations_of(own, done))
            self._switches[kind, done] = made
        return self._switches[kind, done]

    def refused(self, kind: int, done: Done) -> tuple[str, ...]:
        """Return why the system of a kind has no configuration for a state."""
        system = self.change.kinds[kind].system
        assert system is not None
        if (kind, done) not in self._refused:
            self._refused[kind, done] = system.refused(self.switch(kind, done))
        return self._refused[kind, done]

    def verdict(self, kind: int, state: State, use: Use) -> DeviceVerdict:
        """Return the verdict on a switch of a kind in a state."""
        key = (kind, state, use)
        if key not in self._verdicts:
            own = self.change.kinds[kind]
            cables_m = _cables_m(own.cables_m, own.new_cables_m, use)
            if own.system is not None:
                there = (self.switch(kind, state.done), own.system.silent)
                self._verdicts[key] = self.evaluator.system(own.devices[0], *there, use.dscps, cables_m)
            else:
                config = self.config(kind, state)
                self._verdicts[key] = self.evaluator.device(own.devices[0], config, use.dscps, cables_m)
        return self._verdicts[key]

    def of_batch(self, kind: int, before: Done, batch: Sequence[int]) -> Iterator[State]:
        """Yield every state during a batch, for any order of the updater, and the state after it.

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
        """Return whether a batch has as many units as are looked at in every order."""
        units = self.change.kinds[kind].units
        return sum(1 for number in batch if not units[number].comes_first) >= _MOST_UNITS

    def between(self, ends: Mapping[int, Sequence[State]], use: Use) -> Iterator[Danger]:
        """Yield the dangers between switches of which each can be in any of some states, by kind."""
        for link in self.change.links:
            far_ends = self._ends(link.b, link.b_port, ends[link.b], use)
            for near in self._ends(link.a, link.a_port, ends[link.a], use):
                for far in far_ends:
                    yield from self.evaluator.link(near, far, use.dscps)

    def at_hosts(
        self, ends: Mapping[int, Sequence[State]], stages: Mapping[int, Sequence[int]], use: Use
    ) -> Iterator[Danger]:
        """Yield the dangers between hosts, each at any of some stages, and their switches."""
        yield from self._out_of_order(ends, stages)
        for link in self.change.host_links:
            for at in self._ends(link.switch, link.port, ends[link.switch], use):
                for stage in stages[link.host]:
                    qos = self.change.hosts[link.host].stages[stage].qos
                    if qos is not None:
                        yield from self.evaluator.host(qos, at, use.dscps)

    def _out_of_order(
        self, ends: Mapping[int, Sequence[State]], stages: Mapping[int, Sequence[int]]
    ) -> Iterator[Danger]:
        """Yield hosts whose NICs are not set to take packets out of order while a switch routes adaptively."""
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
        if self.change.kinds[kind].system is None:
            return False
        return any(port.adaptive for state in states for port in self.switch(kind, state.done).ports)

    def _ends(self, kind: int, port: str, states: Sequence[State], use: Use) -> list[PlacedEnd]:
        """Return the link ends of a port in some states, each behavior once."""
        named = ((state, self._port(kind, port, state)) for state in states)
        ends = (self.verdict(kind, state, use).ends.get(name) for state, name in named if name is not None)
        return list({end.behavior: end for end in ends if end is not None}.values())

    def _port(self, kind: int, port: str, state: State) -> str | None:
        """Return the name of a link's port on the switch of a state; None: it has no such link."""
        names = self.change.kinds[kind].port_names
        return names.get(hwsku_of(self.config(kind, state)), {}).get(port) if names else port


def _cables_m(old: Mapping[str, int], new: Mapping[str, int], use: Use) -> Mapping[str, int]:
    """Return the longest cable that each port may have."""
    if not use.new_cables:
        return old
    if not use.old_cables:
        return new
    return {port: max(old.get(port, 0), new.get(port, 0)) for port in {*old, *new}}
