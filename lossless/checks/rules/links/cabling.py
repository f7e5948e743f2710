"""Shared by the rules of links and cables: devices and names of cables, their ports, ends with different values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Edit, RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.cabling import PlannedCable, ReportedCable
    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View


_MANY = 5


def devices_of(cable: PlannedCable | ReportedCable) -> tuple[str, str]:
    """Return the names of the two devices of a cable, sorted."""
    first, second = sorted((cable.a.device, cable.b.device))
    return first, second


def named(cables: Sequence[PlannedCable] | Sequence[ReportedCable]) -> tuple[str, ...]:
    """Return the names of cables."""
    return tuple(cable.name for cable in cables)


def some(names: Sequence[str]) -> str:
    """Return the first five names of devices as text, and how many more there are."""
    more = f" and {len(names) - _MANY:,} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more


def related(origin: Origin, message: str) -> tuple[RelatedPlace, ...]:
    """Return the related place of a finding with its message."""
    return (RelatedPlace(origin, message),)


def port_of(view: View, cable: PlannedCable) -> tuple[Switch, Port] | None:
    """Return the switch and the port at a declared cable's first end, or None where that port is not configured."""
    for switch in view.units.get(cable.a.device, ()):
        port = view.port(switch.name, cable.a.port or "")
        if port is not None:
            return switch, port
    return None


class Disagreement(NamedTuple):
    """Links between two devices whose ends have different values; both values are the same on every link.

    ``low`` and ``high`` are the ends of the first link with the lower and the higher of the ``values``.
    """

    low: LinkEnd
    high: LinkEnd
    values: tuple[int, int]
    pairs: tuple[CabledPair, ...]

    @property
    def mutual(self) -> bool:
        """Whether each end names the other as its neighbor."""
        return self.pairs[0].mutual

    @property
    def doubt(self) -> str:
        """The reason why the two ends may belong to different links; empty where both name each other."""
        if self.mutual:
            return ""
        return f"only one of the two files names this link; {self.high.name} may be wired elsewhere"

    @property
    def elements(self) -> tuple[str, ...]:
        """The links by name."""
        return tuple(pair.name for pair in self.pairs)

    def lower_to_higher(self, field: str, value: str) -> tuple[Edit, ...]:
        """Return the edits that give a field of PORT the higher value at the ends with the lower one."""
        ends = (end for pair in self.pairs for end in (pair.near, pair.far))
        return tuple(
            Edit(end.origin.at(field), "set", value) for end in ends if end.switch == self.low.switch
        )


def disagreements(
    devices: DeployedDevices, value_of: Callable[[LinkEnd], int | None]
) -> Iterator[Disagreement]:
    """Yield links in service with different values at both ends, grouped by devices, values and ``mutual``.

    Links with an end whose value is None are not compared.
    """
    values = ((pair, value_of(pair.near), value_of(pair.far)) for pair in devices.compared)
    differing = grouped(
        ((pair.near.switch, near, pair.far.switch, far, pair.mutual), pair)
        for pair, near, far in values
        if near is not None and far is not None and near != far
    )
    for (_, near, _, far, _), identical in differing.items():
        (less, low), (more, high) = sorted(((near, identical[0].near), (far, identical[0].far)))
        yield Disagreement(low, high, (less, more), tuple(identical))
