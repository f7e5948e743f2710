"""Shared by the link rules: links with both ends up, grouped by their two devices and the values at both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Edit, grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd


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
