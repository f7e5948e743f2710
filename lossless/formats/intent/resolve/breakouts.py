"""The cages and ports of a switch as an intent configures them, and mistakes in that configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.placement import CageSettings
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.wiring import SwitchChoice
    from lossless.ground.basics.errors import Problem
    from lossless.model.hardware.model import Cage, Hwsku, PortSpec, SwitchProfile

_MOST_NAMES = 5
"""Names of cages or ports that a message lists."""


class CageReader:
    """Reads ``breakout`` and ``down`` of one hardware choice."""

    def __init__(
        self, loaded: LoadedIntent, profile: SwitchProfile, hwsku: Hwsku, path: tuple[str, ...]
    ) -> None:
        self._loaded = loaded
        self._profile = profile
        self._hwsku = hwsku
        self._path = path

    def settings(self, choice: SwitchChoice, problems: list[Problem]) -> CageSettings:
        """Return the breakout of cages and the ports that stay down; invalid entries are appended to ``problems``."""
        breakout = {}
        for name, (count, speed_bps) in choice.breakout.items():
            ports = self._split(name, count, speed_bps, problems)
            if ports:
                breakout[name] = ports
        self._check_down(choice.down, breakout, problems)
        return CageSettings(tuple(sorted(breakout.items())), tuple(sorted(choice.down)))

    def _split(self, name: str, count: int, speed_bps: int, problems: list[Problem]) -> tuple[PortSpec, ...]:
        cage = self._profile.cage(name)
        mode = cage.mode_for(count, speed_bps) if cage else None
        if cage is not None and mode is not None:
            return self._profile.breakout(cage, mode, speed_bps)
        problems.append(self._problem(self._cannot(name, cage, count, speed_bps), "breakout", name))
        return ()

    def _cannot(self, name: str, cage: Cage | None, count: int, speed_bps: int) -> str:
        if cage is None:
            cages = _some([cage.name for cage in self._profile.cages])
            return f"{self._profile.name} has no cage {name}; its cages are {cages}"
        known = ", ".join(mode.text for mode in cage.modes)
        return f"{name} cannot be {count} x {format_rate(speed_bps)}; it can be {known}"

    def _check_down(
        self, down: tuple[str, ...], breakout: dict[str, tuple[PortSpec, ...]], problems: list[Problem]
    ) -> None:
        known = self._names(breakout) if down else {}
        for index, name in enumerate(down):
            if name in down[:index]:
                problems.append(self._problem(f"{name} occurs twice in the list", "down", index))
            elif name not in known:
                why = f"{self._profile.name} has no port {name}; its ports can be {_some(list(known))}"
                problems.append(self._problem(why, "down", index))

    def _names(self, breakout: dict[str, tuple[PortSpec, ...]]) -> dict[str, None]:
        """Return the possible port names: those of each configured breakout, and all names that other cages allow."""
        ports = [port for split_ports in breakout.values() for port in split_ports]
        ports += self._hwsku.ports
        for cage in self._profile.cages:
            if cage.name not in breakout:
                ports += (port for mode in cage.modes for port in self._profile.breakout(cage, mode))
        return {port.name: None for port in ports}

    def _problem(self, message: str, *keys: str | int) -> Problem:
        origin = self._loaded.origin(*self._path, *keys)
        dotted = ".".join(map(str, (*self._path, *keys)))
        return self._loaded.problem(origin, f"{dotted}: {message}")


def _some(known: list[str]) -> str:
    """Return names for a message: of many only the first ones and the last, since a switch has dozens."""
    if len(known) <= _MOST_NAMES:
        return ", ".join(known)
    return f"{', '.join(known[: _MOST_NAMES - 1])} ... {known[-1]}"
