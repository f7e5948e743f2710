"""Distributes per-port values of a class over the ranks of an intent: all switches, tiers, devices, by speed.

The value of most ports of a tier is declared for the tier, and a deviating device has an exception under its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from lossless.formats.importing.majority import dissent_notes, most
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice, Stated
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.tier import Tier

_V = TypeVar("_V")


class PortsOfSpeed(NamedTuple):
    """The ports of one speed on a device."""

    tier: Tier
    device: str
    speed_bps: int


def cell_of(device: ImportDevice, port: Port) -> PortsOfSpeed:
    """Return the device and speed of a port."""
    return PortsOfSpeed(device.tier, device.name, port.speed_bps or 0)


def voters(devices: Iterable[ImportDevice], lesser: Container[CableEnd]) -> list[tuple[PortsOfSpeed, Port]]:
    """Return the ports that vote, with their device and speed: all ports of a known speed.

    Those in ``lesser`` vote only where no other port of their tier has their speed.
    """
    ports = [
        (cell_of(device, port), port, CableEnd(device.name, port.name) in lesser)
        for device in devices
        for port in device.used.values()
        if port.speed_bps is not None
    ]
    heard = {(cell.tier, cell.speed_bps) for cell, _, is_lesser in ports if not is_lesser}
    return [
        (cell, port)
        for cell, port, is_lesser in ports
        if not is_lesser or (cell.tier, cell.speed_bps) not in heard
    ]


def layered(
    ports: Mapping[PortsOfSpeed, Sequence[_V]], hides: Callable[[_V, _V], bool], what: str
) -> tuple[Stated[_V], tuple[str, ...]]:
    """Return declarations that give the ports their values, and notes on devices whose own ports differ.

    An empty value declares nothing. ``hides`` returns whether one value overrides all of another of a lower rank.
    """
    votes = {cell: most(values) for cell, values in sorted(ports.items())}
    notes = dict.fromkeys(note for _, vote in votes.values() for note in dissent_notes(vote, what))
    own = {cell: value for cell, (value, _) in votes.items() if value is not None}
    stated = _Layers(ports, own, hides).stated()
    by_name = [scope for scope in stated if isinstance(scope, str)]
    if by_name:
        notes[f"{what}: of {by_name[0]}{_more(by_name)} under its own name, unlike most of its role"] = None
    return stated, tuple(notes)


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


class _Layers(Generic[_V]):
    """Chooses the ranks of the values of devices and speeds."""

    def __init__(
        self,
        ports: Mapping[PortsOfSpeed, Sequence[_V]],
        own: Mapping[PortsOfSpeed, _V],
        hides: Callable[[_V, _V], bool],
    ) -> None:
        self._ports, self._own, self._hides = ports, own, hides
        self._tiers = {
            tier: self._usual(cell for cell in own if cell.tier is tier)
            for tier in sorted({cell.tier for cell in own})
        }

    def stated(self) -> Stated[_V]:
        """Return the declared values by scope and speed."""
        own, tiers = self._own, self._tiers
        differing = {cell for cell, value in own.items() if value != tiers[cell.tier][cell.speed_bps]}
        # Where a device has less than its tier would state, each device of the tier states what it has.
        named = {c.tier for c in differing if not self._hides(own[c], tiers[c.tier][c.speed_bps])}
        stated = self._of_all() if not named else None
        if stated is None:
            stated = {
                tier: self._by_speed(values, (c for c in own if c.tier is tier))
                for tier, values in tiers.items()
                if tier not in named
            }
        for device in dict.fromkeys(cell.device for cell in own):
            cells = [cell for cell in own if cell.device == device]
            stated[device] = self._of_device(cells, differing, alone=cells[0].tier in named)
        return {scope: values for scope, values in stated.items() if values}

    def _usual(self, cells: Iterable[PortsOfSpeed]) -> dict[int, _V]:
        """Return the value of most ports of each speed."""
        by_speed: dict[int, list[_V]] = {}
        for cell in sorted(cells):
            by_speed.setdefault(cell.speed_bps, []).extend(self._ports[cell])
        votes = {speed_bps: most(values) for speed_bps, values in sorted(by_speed.items())}
        return {speed_bps: value for speed_bps, (value, _) in votes.items() if value is not None}

    def _of_all(self) -> Stated[_V] | None:
        """Return the values common to all tiers, None where tiers differ at a speed."""
        by_speed: dict[int, _V] = {}
        for values in self._tiers.values():
            if any(by_speed.setdefault(speed_bps, value) != value for speed_bps, value in values.items()):
                return None
        return {None: self._by_speed(dict(sorted(by_speed.items())), self._own)}

    def _of_device(
        self, cells: Sequence[PortsOfSpeed], differing: set[PortsOfSpeed], *, alone: bool
    ) -> dict[int | None, _V]:
        """Return the values of a device: all of them where its tier declares none, else the differing ones."""
        stating = [cell for cell in cells if alone or cell in differing]
        by_speed = {cell.speed_bps: self._own[cell] for cell in stating}
        if len(stating) == len(cells):
            return self._by_speed(by_speed, cells)
        return dict(by_speed.items())

    def _by_speed(self, by_speed: Mapping[int, _V], cells: Iterable[PortsOfSpeed]) -> dict[int | None, _V]:
        """Return the value of most ports and exceptions by speed; by speed alone unless all exceptions override it."""
        usual, _ = most(value for cell in cells for value in self._ports[cell])
        values = {*by_speed.values()}
        if usual in values and all(self._hides(value, usual) for value in values if usual is not None):
            others: dict[int | None, _V] = {s: value for s, value in by_speed.items() if value != usual}
            every: dict[int | None, _V] = {None: usual}
            return every | others if usual else others
        return {speed_bps: value for speed_bps, value in by_speed.items() if value}
