"""Derives the splits of a switch's cages from the names of its ports, and speeds that no line declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.capacity import widest_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.model import Port
    from lossless.model.hardware.model import Cage, Hwsku, SwitchProfile


class _Split(NamedTuple):
    """The split of a cage: how many ports, of which speed; ``own``: it is that of the HWSKU."""

    count: int  # type: ignore[assignment]
    speed_bps: int
    own: bool


class SplitPorts:
    """The ports in use of a switch by the cages that they belong to."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku, ports: Sequence[Port]) -> None:
        self._profile, self._hwsku = profile, hwsku
        by_name = {port.name: port for port in ports}
        self._splits: dict[str, _Split] = {}
        self._speed_of: dict[str, int] = {}
        for cage in profile.cages:
            self._place(cage, by_name)

    def with_speed(self, port: Port) -> Port:
        """Return a port with its speed: that of its lines, else that of the HWSKU or of the split."""
        return port if port.speed_bps else port._replace(speed_bps=self._speed_of.get(port.name))

    def stated(self) -> dict[str, str]:
        """Return the cages whose split must be declared: neither that of the HWSKU nor the one with most ports."""
        cages = {cage.name: cage for cage in self._profile.cages}
        return {
            name: f"{split.count} x {format_rate(split.speed_bps)}"
            for name, split in self._splits.items()
            if not split.own
            and (widest := widest_split(cages[name], split.speed_bps)) is not None
            and widest.count != split.count
        }

    def _place(self, cage: Cage, ports: dict[str, Port]) -> None:
        fitting = [
            (split, names)
            for split, names in self._candidates(cage)
            if all(ports[n].speed_bps in (None, split.speed_bps) for n in names if n in ports)
        ]
        # The split that gives most of the ports a name, the HWSKU's own before others, the one of fewest ports then.
        ranked = max(
            fitting, key=lambda s: (sum(n in ports for n in s[1]), s[0].own, -len(s[1])), default=None
        )
        if ranked is None or not any(name in ports for name in ranked[1]):
            return
        split, names = ranked
        self._splits[cage.name] = split
        self._speed_of |= dict.fromkeys(names, split.speed_bps)

    def _candidates(self, cage: Cage) -> list[tuple[_Split, tuple[str, ...]]]:
        own = [spec for spec in self._hwsku.ports if spec.index == cage.index]
        candidates = (
            [(_Split(len(own), own[0].speed_bps, True), tuple(spec.name for spec in own))] if own else []
        )
        for mode in cage.modes:
            for speed_bps in mode.speeds_bps:
                names = tuple(spec.name for spec in self._profile.breakout(cage, mode, speed_bps))
                candidates.append((_Split(mode.count, speed_bps, False), names))
        return candidates
