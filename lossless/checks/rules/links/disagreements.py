"""What the link rules share: links of which both ends are up, added up by the two devices and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd


class Disagreement(NamedTuple):
    """Links between two devices whose ends say different things, the same on every one of them.

    ``low`` and ``high`` are the ends of the first link, by what they say.
    """

    low: LinkEnd
    high: LinkEnd
    pairs: tuple[CabledPair, ...]

    @property
    def mutual(self) -> bool:
        """Whether each end names the other as its neighbor."""
        return self.pairs[0].mutual

    @property
    def elements(self) -> tuple[str, ...]:
        """The links by name."""
        return tuple(pair.name for pair in self.pairs)


def disagreements(
    devices: DeployedDevices, said: Callable[[LinkEnd], Hashable | None], order: Callable[[LinkEnd], int]
) -> Iterator[Disagreement]:
    """Yield links in service whose ends say different things; an end that says None says nothing.

    A host of which an intent says what it should be is compared with that.
    """
    found: dict[object, list[CabledPair]] = {}
    for pair in devices.pairs:
        near, far = said(pair.near), said(pair.far)
        if near == far or near is None or far is None or pair.declared:
            continue
        if pair.near.in_service and pair.far.in_service:
            key = (pair.near.switch, near, pair.far.switch, far, pair.mutual)
            found.setdefault(key, []).append(pair)
    for pairs in found.values():
        low, high = sorted((pairs[0].near, pairs[0].far), key=order)
        yield Disagreement(low, high, tuple(pairs))
