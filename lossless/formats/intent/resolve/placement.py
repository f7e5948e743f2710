"""Assigns a port of a switch to each link: from the HWSKU's port table, or by breaking out a cage.

Ports are taken in the order of the front panel. A port of the HWSKU's own table comes first; where none of
that speed is left, unused cages are split with the breakout mode that gives most ports of the speed. A cage
with a declared breakout is split only as declared, and a port that must stay down is assigned to no link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.capacity import widest_split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.hardware.model import Cage, Hwsku, PortSpec, SwitchProfile


class CageSettings(NamedTuple):
    """Settings of a switch's ports: the declared breakout of cages, by name, and ports that stay down."""

    breakout: tuple[tuple[str, tuple[PortSpec, ...]], ...] = ()
    down: tuple[str, ...] = ()


NO_CAGE_SETTINGS = CageSettings()


class PortPlacement:
    """Assigns the ports of one switch."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku, cages: CageSettings = NO_CAGE_SETTINGS) -> None:
        self._profile = profile
        self._breakouts = dict(cages.breakout)
        self._down = frozenset(cages.down)
        self._native: dict[int, list[PortSpec]] = {}
        for port in hwsku.ports:
            self._native.setdefault(port.index, []).append(port)
        self._untouched = {cage.index: cage for cage in profile.cages}
        self._native_bps = {cage.index: self._only_speed(cage) for cage in profile.cages}
        self._open: dict[int, list[PortSpec]] = {}
        self._by_name: dict[int, dict[str, list[tuple[Cage, list[PortSpec]]]]] = {}
        self._kept_down: list[PortSpec] = []

    def take(self, speed_bps: int) -> PortSpec | None:
        """Take the next free port of a speed and return it, None where the switch has none left."""
        waiting = self._open.get(speed_bps)
        while not waiting and (waiting := self._open_cage(speed_bps)) is not None:
            pass  # a cage all of whose ports stay down gives none
        return waiting.pop(0) if waiting else None

    def keep(self, speed_bps: int) -> bool:
        """Reserve the next free port of a speed, down until a link needs it; return whether there is one."""
        spec = self.take(speed_bps)
        if spec is not None:
            self._kept_down.append(spec)
        return spec is not None

    def claim(self, name: str, speed_bps: int) -> PortSpec | None:
        """Take the port of a name and return it, None where it does not exist at that speed or is taken."""
        for cage, ports in self._cages_with(name, speed_bps):
            if cage.index in self._untouched:
                self._use(cage, speed_bps, ports)
        waiting = self._open.get(speed_bps, [])
        match = next((port for port in waiting if port.name == name), None)
        if match is not None:
            waiting.remove(match)
        return match

    def unused(self) -> Iterator[PortSpec]:
        """Yield the ports without a link: the remaining ports of split cages, and the ports of untouched cages."""
        yield from self._kept_down
        for waiting in self._open.values():
            yield from waiting
        for cage in self._untouched.values():
            yield from self._ports_as_they_are(cage)

    def _open_cage(self, speed_bps: int) -> list[PortSpec] | None:
        native = self._native_bps
        for index, cage in self._untouched.items():
            if native[index] == speed_bps:
                return self._use(cage, speed_bps, self._ports_as_they_are(cage))
        for cage in self._untouched.values():
            ports = self._ports_of(cage, speed_bps)
            if ports:
                return self._use(cage, speed_bps, ports)
        return None

    def _cages_with(self, name: str, speed_bps: int) -> list[tuple[Cage, list[PortSpec]]]:
        """Return the cages that can have a port of a name at a speed, each with all of its ports."""
        if speed_bps not in self._by_name:
            named: dict[str, list[tuple[Cage, list[PortSpec]]]] = {}
            self._by_name[speed_bps] = named
            for cage in self._untouched.values():
                ports = self._ports_of(cage, speed_bps)
                for port in dict.fromkeys(port.name for port in ports):
                    named.setdefault(port, []).append((cage, ports))
        return self._by_name[speed_bps].get(name, [])

    def _use(self, cage: Cage, speed_bps: int, ports: list[PortSpec]) -> list[PortSpec]:
        del self._untouched[cage.index]
        waiting = self._open.setdefault(speed_bps, [])
        for port in ports:
            (self._kept_down if port.name in self._down else waiting).append(port)
        return waiting

    def _ports_as_they_are(self, cage: Cage) -> list[PortSpec]:
        """Return the ports of a cage as the intent splits it, else as the HWSKU does."""
        ports = self._breakouts.get(cage.name)
        return self._native.get(cage.index, []) if ports is None else list(ports)

    def _only_speed(self, cage: Cage) -> int | None:
        """Return the one speed of a cage's current ports; None where it has no ports, or ports of several speeds."""
        speeds = {port.speed_bps for port in self._ports_as_they_are(cage)}
        return speeds.pop() if len(speeds) == 1 else None

    def _ports_of(self, cage: Cage, speed_bps: int) -> list[PortSpec]:
        if self._native_bps[cage.index] == speed_bps:
            return self._ports_as_they_are(cage)
        if cage.name in self._breakouts:
            return []
        mode = widest_split(cage, speed_bps)
        return list(self._profile.breakout(cage, mode, speed_bps)) if mode else []
