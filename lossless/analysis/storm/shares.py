"""Shares of the traffic that comes in at a switch by the channels that leave it."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Set


class EgressShares(NamedTuple):
    """The shares of the traffic of one channel: each egress by its weight, except those ``excluded``.

    ``weights`` has the egresses of a switch with a weight above 0, and is one object for all channels into the switch
    with the same shares, so that a fabric takes memory by its channels and not by pairs of them. ``total`` is the sum
    of the weights that are not excluded.
    """

    weights: Mapping[int, float]
    total: float
    excluded: frozenset[int] = frozenset()

    def of(self, out: int) -> float:
        """Return the share that leaves by a channel."""
        return 0.0 if out in self.excluded else self.weights.get(out, 0.0) / self.total

    def any_of(self, outs: Collection[int]) -> bool:
        """Return whether a share leaves by one of some channels."""
        return any(out in self.weights and out not in self.excluded for out in outs)

    def parts(self) -> dict[int, float]:
        """Return every share by its channel; they sum to 1."""
        return {out: self.of(out) for out in self.weights if out not in self.excluded}


NOTHING = EgressShares({}, 1.0)
"""The shares of no traffic."""


def sharing(
    weights: Mapping[int, float], excluded: frozenset[int] = frozenset(), every: float | None = None
) -> EgressShares:
    """Return the shares by weights, all of which are above 0; :data:`NOTHING` where none is left.

    ``every`` is the sum of the weights (``fsum``) where that is known.
    """
    left = fsum(weights[out] for out in excluded if out in weights)
    total = (fsum(weights.values()) if every is None else every) - left
    return EgressShares(weights, total, excluded) if total > 0 else NOTHING


class WeightSum:
    """The weight of some egresses in each of the shares of a switch; its work grows with the exclusions of each.

    Sums are rounded once (``fsum``), so that the difference is 0 where all of them are excluded.
    """

    def __init__(self, outs: Set[int]) -> None:
        self._outs = outs
        self._sums: dict[int, float] = {}

    def part(self, shares: EgressShares) -> float:
        """Return the share that leaves by any of the egresses."""
        weights = shares.weights
        if id(weights) not in self._sums:
            self._sums[id(weights)] = fsum(weights.get(out, 0.0) for out in self._outs)
        if shares.excluded.isdisjoint(self._outs):
            return self._sums[id(weights)] / shares.total
        left = fsum(weights.get(out, 0.0) for out in shares.excluded if out in self._outs)
        return (self._sums[id(weights)] - left) / shares.total
