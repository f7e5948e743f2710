"""Which port of a switch each link gets: from the HWSKU's port table, or by breaking a cage out.

Ports are taken in the order of the front panel. A port of the HWSKU's own table comes first; where none of
that speed is left, unused cages are split with the breakout mode that gives most ports of the speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.hardware.capacity import widest_split

if TYPE_CHECKING:
    from lossless.hardware.model import Cage, Hwsku, PortSpec, SwitchProfile


class Placement:
    """Hands out the ports of one switch."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku) -> None:
        self._profile = profile
        self._native: dict[int, list[PortSpec]] = {}
        for port in hwsku.ports:
            self._native.setdefault(port.index, []).append(port)
        self._untouched = {cage.index: cage for cage in profile.cages}
        self._open: dict[int, list[PortSpec]] = {}

    def take(self, speed_bps: int) -> PortSpec | None:
        """Return the next free port of a speed, None where the switch has none left."""
        waiting = self._open.get(speed_bps)
        if not waiting:
            waiting = self._open_cage(speed_bps)
        return waiting.pop(0) if waiting else None

    def claim(self, name: str, speed_bps: int) -> PortSpec | None:
        """Return the port of that name, None where it does not exist at that speed or is taken."""
        for cage in tuple(self._untouched.values()):
            ports = self._ports_of(cage, speed_bps)
            if any(port.name == name for port in ports):
                self._use(cage, speed_bps, ports)
        waiting = self._open.get(speed_bps, [])
        found = next((port for port in waiting if port.name == name), None)
        if found is not None:
            waiting.remove(found)
        return found

    def _open_cage(self, speed_bps: int) -> list[PortSpec]:
        for native_only in (True, False):
            for cage in self._untouched.values():
                ports = (
                    self._native_ports(cage, speed_bps) if native_only else self._ports_of(cage, speed_bps)
                )
                if ports:
                    return self._use(cage, speed_bps, ports)
        return []

    def _use(self, cage: Cage, speed_bps: int, ports: list[PortSpec]) -> list[PortSpec]:
        del self._untouched[cage.index]
        waiting = self._open.setdefault(speed_bps, [])
        waiting.extend(ports)
        return waiting

    def _native_ports(self, cage: Cage, speed_bps: int) -> list[PortSpec]:
        ports = self._native.get(cage.index, [])
        return list(ports) if ports and all(port.speed_bps == speed_bps for port in ports) else []

    def _ports_of(self, cage: Cage, speed_bps: int) -> list[PortSpec]:
        native = self._native_ports(cage, speed_bps)
        mode = None if native else widest_split(cage, speed_bps)
        return list(self._profile.breakout(cage, mode, speed_bps)) if mode else native
