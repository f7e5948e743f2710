"""The search space: thresholds by kind of port, each along an axis of values, and their current values."""

from __future__ import annotations

from itertools import product
from math import log2, prod, sqrt
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import DYNAMIC_TH, alpha, group_threshold_bytes
from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.analysis.simulation.study.settings import PortKind, TrialSetting
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork, SimPort
    from lossless.analysis.simulation.tune.trials import Case

KIB = 1024
"""ECN thresholds are tried in whole KiB: smaller steps are below a cell of any chip."""


class Axis(NamedTuple):
    """A parameter and its values in increasing order, within ``least`` and ``most``.

    ``unit`` divides every value; ``geometric`` values are spaced by a factor, others by a difference.
    """

    name: str
    values: tuple[int, ...]
    least: int
    most: int
    unit: int = 1
    geometric: bool = False

    def between(self, low: int, high: int) -> int:
        """Return the value in the middle of two."""
        return self._whole(sqrt(low * high)) if self.geometric else (low + high) // 2

    def around(self, value: int) -> Axis:
        """Return the axis with a value of it, and the middles between it and its neighbors.

        Where it has no neighbor on a side, the axis goes on beyond it by the last step.
        """
        at = self.values.index(value)
        below = self.between(self.values[at - 1], value) if at else self._beyond(value, -1)
        last = at == len(self.values) - 1
        above = self._beyond(value, 1) if last else self.between(value, self.values[at + 1])
        return self._replace(values=tuple(sorted({below, value, above})))

    def _beyond(self, value: int, way: int) -> int:
        if len(self.values) < 2:
            return value
        low, high = self.values[:2] if way < 0 else self.values[-2:]
        beyond = value * (high / low) ** way if self.geometric else value + way * (high - low)
        return self.nearest(beyond)

    def nearest(self, value: float) -> int:
        """Return the value of the axis's unit and range that is nearest."""
        return min(max(self._whole(value), self.least), self.most)

    def _whole(self, value: float) -> int:
        return max(self.unit, round(value / self.unit) * self.unit)


def spaced(axis: Axis, many: int) -> Axis:
    """Return an axis with so many values from its least to its most, or all where there are fewer."""
    steps = max(1, many - 1)
    low, high = axis.least, axis.most
    if axis.geometric:
        raw = [low * (high / low) ** (at / steps) for at in range(many)]
    else:
        raw = [low + (high - low) * at / steps for at in range(many)]
    values = {min(max(round(value / axis.unit) * axis.unit, low), high) for value in raw}
    return axis._replace(values=tuple(sorted(values)))


class PortThresholds(NamedTuple):
    """The current thresholds of ports of a kind, and the least pool that their groups share, in bytes."""

    thresholds: ThresholdSetting
    pool_bytes: int


ThresholdsNow = dict[PortKind, PortThresholds]
"""By kind of port, the slowest first."""


def marks_before_pfc(setting: TrialSetting, now: Mapping[PortKind, PortThresholds]) -> bool:
    """Return whether marks come before PFC at every kind of port: Kmax is at most T(1), and Kmin at most half of it.

    T(1) is the size of a single loaded group when it sends XOFF, the least of all kinds of ports on the switch: rules
    ECN005 and ECN004. Without a curve or with a static threshold nothing is compared.
    """
    reach: dict[str, float] = {}
    for kind, own in setting.by_kind:
        exponent = now[kind].thresholds.dynamic_th if own.dynamic_th is None else own.dynamic_th
        if exponent is not None:
            held_bytes = group_threshold_bytes(alpha(exponent), now[kind].pool_bytes, 1)
            reach[kind.role] = min(held_bytes, reach.get(kind.role, held_bytes))
    return not any(
        kind.role in reach and max(own.kmax_bytes or 0, 2 * (own.kmin_bytes or 0)) > reach[kind.role]
        for kind, own in setting.by_kind
    )


class SearchSpace(NamedTuple):
    """The kinds of ports whose thresholds are searched, the slowest first, and the axes that they share.

    ECN thresholds along an axis are those of the slowest kind; others have them in proportion to their speed, as the
    bytes in flight until senders react grow with it. Where that is not best, the search kind by kind finds out.
    """

    kinds: tuple[PortKind, ...]
    axes: tuple[Axis, ...]

    def points(self) -> Iterator[tuple[int, ...]]:
        """Yield every combination of values in which Kmin is not above Kmax, the last axis changing fastest."""
        names = [axis.name for axis in self.axes]
        for values in product(*(axis.values for axis in self.axes)):
            if in_order(dict(zip(names, values, strict=True))):
                yield values

    @property
    def size(self) -> int:
        """How many such combinations there are."""
        others = prod(len(axis.values) for axis in self.axes if axis.name not in ("kmin", "kmax"))
        curve = [axis.values for axis in self.axes if axis.name in ("kmin", "kmax")]
        return others * sum(low <= high for low, high in product(*curve)) if len(curve) == 2 else others

    def setting(self, point: Sequence[int]) -> TrialSetting:
        """Return the thresholds of each kind of port, and the DCQCN parameters, at a point."""
        values = dict(zip((axis.name for axis in self.axes), point, strict=True))
        by_kind = tuple((kind, self._thresholds(values, kind)) for kind in self.kinds)
        dcqcn = tuple((name, value) for name, value in values.items() if name not in _THRESHOLDS)
        return TrialSetting(by_kind=by_kind, dcqcn=dcqcn)

    def _thresholds(self, values: Mapping[str, int], kind: PortKind) -> ThresholdSetting:
        factor = kind.rate_bps / self.kinds[0].rate_bps
        kmin, kmax = (_scaled(values.get(name), factor) for name in ("kmin", "kmax"))
        return ThresholdSetting(values.get("dynamic_th"), kmin, kmax, values.get("pmax"))


_THRESHOLDS = ("dynamic_th", "kmin", "kmax", "pmax")


def _scaled(size_bytes: int | None, factor: float) -> int | None:
    return None if size_bytes is None else round(size_bytes * factor / KIB) * KIB


def in_order(values: Mapping[str, int]) -> bool:
    """Return whether Kmin is not above Kmax."""
    return values.get("kmin", 0) <= values.get("kmax", values.get("kmin", 0))


def threshold_axes(*, dynamic: bool, least_bytes: int, most_bytes: int) -> tuple[Axis, ...]:
    """Return the axes of thresholds without values: of alpha where thresholds are ``dynamic``, and of the curve.

    ``least_bytes`` and ``most_bytes`` are the ends of the ECN thresholds of the slowest ports, equal where marking
    changes nothing.
    """
    axes = [Axis("dynamic_th", (), DYNAMIC_TH[0], DYNAMIC_TH[-1])] if dynamic else []
    if least_bytes < most_bytes:
        axes += [Axis(name, (), least_bytes, most_bytes, KIB, geometric=True) for name in ("kmin", "kmax")]
        axes += [Axis("pmax", (), 1, 100, geometric=True)]
    return tuple(axes)


def thresholds_now(cases: Sequence[Case]) -> ThresholdsNow:
    """Return the kinds of switch ports on all paths with the current thresholds of the first of each."""
    seen: ThresholdsNow = {}
    for network, roles in _networks(cases):
        for cable in network.cables:
            for node, end in ((cable.a, cable.a_end), (cable.b, cable.b_end)):
                if end is not None:
                    kind, pool = PortKind(roles[node], cable.rate_bps), network.switches[node].pool_bytes
                    first = seen.get(kind, PortThresholds(_thresholds(end), pool))
                    seen[kind] = first._replace(pool_bytes=min(first.pool_bytes, pool))
    return dict(sorted(seen.items(), key=lambda entry: (entry[0].rate_bps, entry[0].role)))


def _networks(cases: Sequence[Case]) -> Iterator[tuple[SimNetwork, tuple[str, ...]]]:
    """Yield all networks with the roles of their nodes."""
    for case in cases:
        yield from ((instance.network, instance.roles) for _, instance in case.stages)


def _thresholds(end: SimPort) -> ThresholdSetting:
    wred, group = end.queues[0].wred, end.groups[0]
    return ThresholdSetting(
        dynamic_th=None if group.alpha is None else round(log2(group.alpha)),
        kmin_bytes=None if wred is None else round(wred.kmin_bytes),
        kmax_bytes=None if wred is None else round(wred.kmax_bytes),
        pmax_percent=None if wred is None else round(wred.pmax * 100),
        headroom_bytes=group.headroom_bytes,
    )


def setting_now(now: Mapping[PortKind, PortThresholds]) -> TrialSetting:
    """Return the configured thresholds as a setting."""
    own = ((kind, each.thresholds._replace(headroom_bytes=None)) for kind, each in now.items())
    return TrialSetting(by_kind=tuple(own))


def distance(setting: TrialSetting, now: Mapping[PortKind, PortThresholds]) -> float:
    """Return the distance of a setting from the configured one: steps of alpha, and octaves of all others."""
    steps = 0.0
    for kind, thresholds in setting.by_kind:
        before = now[kind].thresholds
        if thresholds.dynamic_th is not None and before.dynamic_th is not None:
            steps += abs(thresholds.dynamic_th - before.dynamic_th)
        for value, was in zip(thresholds[1:4], before[1:4], strict=True):
            if value is not None:
                steps += abs(log2(max(1, value) / max(1, was or 1)))
    return steps
