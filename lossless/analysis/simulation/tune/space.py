"""The search space of a tuning, and the search for the best setting: by grids, or by optuna.

The space has thresholds by kind of port, each along an axis of values, and their current values. The search is a grid
over the axes that all ports share, refined around the best, then by alpha, then by kind. Every step is an explicit
grid, so that the same input has the same answer, and a person can follow it. A limit on the number of settings bounds
the search, never time.

DCQCN parameters are searched beside thresholds by a multi-objective evolutionary search (NSGA-II, Deb et al. 2002) by
optuna, which proposes settings and receives results in batches of one size, in order, by a sampler with a seed: the
same input has the same answer on any machine. It starts from the best settings of the grid.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product
from math import log2, prod, sqrt
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.ecn_marking import (
    DYNAMIC_TH,
    PUBLISHED_CURVES,
    alpha,
    group_threshold_bytes,
    published_range,
)
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.tune.kpis import Attempt, kpis
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.programs import install_command
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork, SimPort
    from lossless.analysis.simulation.tune.kpis import Case, Kpis, Tried


KIB = 1024
"""ECN thresholds are tried in whole KiB: smaller steps are below a cell of any chip."""


class Axis(NamedTuple):
    """A searched parameter and its values in increasing order, within ``least`` and ``most``.

    Values are multiples of ``unit``; ``geometric`` values are spaced by a factor, others by a difference.
    """

    name: str
    values: tuple[int, ...]
    least: int
    most: int
    unit: int = 1
    geometric: bool = False

    def between(self, low: int, high: int) -> int:
        """Return the value in the middle of two: their geometric or arithmetic mean."""
        return self._whole(sqrt(low * high)) if self.geometric else (low + high) // 2

    def around(self, value: int) -> Axis:
        """Return the axis with one of its values, and the middles between that and its neighbors.

        Where the value has no neighbor on a side, the axis goes on beyond it by the last step.
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
        """Return the multiple of ``unit`` nearest to a value, within ``least`` and ``most``.

        It is at least ``unit`` where values are geometric.
        """
        return min(max(self._whole(value), self.least), self.most)

    def _whole(self, value: float) -> int:
        whole = round(value / self.unit) * self.unit
        return max(self.unit, whole) if self.geometric else whole


def spaced(axis: Axis, many: int) -> Axis:
    """Return an axis with ``many`` values from its least to its most, fewer where rounding makes some equal."""
    steps = max(1, many - 1)
    low, high = axis.least, axis.most
    if axis.geometric:
        raw = [low * (high / low) ** (at / steps) for at in range(many)]
    else:
        raw = [low + (high - low) * at / steps for at in range(many)]
    values = {min(max(round(value / axis.unit) * axis.unit, low), high) for value in raw}
    return axis._replace(values=tuple(sorted(values)))


class PortThresholds(NamedTuple):
    """The current thresholds of ports of a kind, and the least pool of one part that their groups share, in bytes.

    ``differs`` names the parameters in which ports of the kind differ, by exceptions for a device or another HWSKU.
    They are None in ``thresholds``: a setting without a value leaves each port its own. Headroom is the least, and so
    is ``least_dynamic_th``, the worst alpha for what must fit below XOFF; None where a threshold is static.
    """

    thresholds: ThresholdSetting
    pool_bytes: int
    least_dynamic_th: int | None
    differs: tuple[str, ...] = ()


ThresholdsNow = dict[PortKind, PortThresholds]
"""The current thresholds by kind of port, the slowest first."""


def marks_before_pfc(setting: TrialSetting, now: Mapping[PortKind, PortThresholds]) -> bool:
    """Return whether marks come before PFC at every kind of port: Kmax is at most T(1), Kmin at most half of T(1).

    T(1) is the size of a single loaded group when it sends XOFF, the least of all kinds of ports of the same role:
    rules ECN005 and ECN004. Without a curve or with a static threshold nothing is compared.
    """
    reach: dict[str, float] = {}
    for kind, own in setting.by_kind:
        exponent = now[kind].least_dynamic_th if own.dynamic_th is None else own.dynamic_th
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
    ``alphas`` are the exponents of alpha of kinds, where no axis has them.
    """

    kinds: tuple[PortKind, ...]
    axes: tuple[Axis, ...]
    alphas: Mapping[PortKind, int | None] = {}

    def points(self) -> Iterator[tuple[int, ...]]:
        """Yield every combination of values in which Kmin is not above Kmax, the last axis changing fastest."""
        names = [axis.name for axis in self.axes]
        for values in product(*(axis.values for axis in self.axes)):
            if in_order(dict(zip(names, values, strict=True))):
                yield values

    @property
    def size(self) -> int:
        """The number of combinations that :meth:`points` yields."""
        others = prod(len(axis.values) for axis in self.axes if axis.name not in ("kmin", "kmax"))
        curve = [axis.values for axis in self.axes if axis.name in ("kmin", "kmax")]
        return others * sum(low <= high for low, high in product(*curve)) if len(curve) == 2 else others

    def setting(self, point: Sequence[int]) -> TrialSetting:
        """Return the thresholds of each kind of port, and the DCQCN parameters, at a point of the space."""
        values = dict(zip((axis.name for axis in self.axes), point, strict=True))
        by_kind = tuple((kind, self._thresholds(values, kind)) for kind in self.kinds)
        dcqcn = tuple((name, value) for name, value in values.items() if name not in _THRESHOLDS)
        return TrialSetting(by_kind=by_kind, dcqcn=dcqcn)

    def _thresholds(self, values: Mapping[str, int], kind: PortKind) -> ThresholdSetting:
        factor = kind.rate_bps / self.kinds[0].rate_bps
        kmin, kmax = (_scaled(values.get(name), factor) for name in ("kmin", "kmax"))
        exponent = values.get("dynamic_th", self.alphas.get(kind))
        return ThresholdSetting(exponent, kmin, kmax, values.get("pmax"))


_THRESHOLDS = ("dynamic_th", "kmin", "kmax", "pmax")
PARAMETERS = ("dynamic_th", "pmax_percent", "kmin_bytes", "kmax_bytes")
"""The searched thresholds, in the order in which they go back to the configured values: alpha is the vendor's."""
NARROWEST = min(curve.kmax_bytes / curve.kmin_bytes for curve in PUBLISHED_CURVES)
"""The least Kmax over Kmin that is searched, that of the narrowest published curve: below it a curve nears a step,
above which every frame is marked and all senders of a queue slow down together.
"""


def is_sloped(own: ThresholdSetting) -> bool:
    """Return whether a curve is not nearly a step: Kmax is at least :data:`NARROWEST` times Kmin.

    True without a curve.
    """
    return own.kmin_bytes is None or own.kmax_bytes is None or own.kmax_bytes >= NARROWEST * own.kmin_bytes


def _scaled(size_bytes: int | None, factor: float) -> int | None:
    return None if size_bytes is None else round(size_bytes * factor / KIB) * KIB


class OutOfRange(NamedTuple):
    """A value of a setting that lies outside the published range at the speed of its ports."""

    kind: PortKind
    parameter: str
    value: int
    least: int
    most: int


def outside_published(
    setting: TrialSetting, now: Mapping[PortKind, PortThresholds]
) -> tuple[OutOfRange, ...]:
    """Return the values that leave the published range, those that are configured so already left out."""
    return tuple(
        OutOfRange(kind, name, value, *ends)
        for kind, own in setting.by_kind
        for name, ends in published_range(kind.rate_bps)._asdict().items()
        if (value := getattr(own, name)) is not None
        and value != getattr(now[kind].thresholds, name)
        and not ends[0] <= value <= ends[1]
    )


def in_order(values: Mapping[str, int]) -> bool:
    """Return whether Kmin is not above Kmax; True where one of them is not among the values."""
    return values.get("kmin", 0) <= values.get("kmax", values.get("kmin", 0))


def threshold_axes(*, dynamic: bool, least_bytes: int, most_bytes: int) -> tuple[Axis, ...]:
    """Return the axes of thresholds without values: of alpha where thresholds are ``dynamic``, and of the curve.

    ``least_bytes`` and ``most_bytes`` are the ends of the ECN thresholds of the slowest ports. The curve has axes only
    where the first is below the second.
    """
    axes = [Axis("dynamic_th", (), DYNAMIC_TH[0], DYNAMIC_TH[-1])] if dynamic else []
    if least_bytes < most_bytes:
        axes += [Axis(name, (), least_bytes, most_bytes, KIB, geometric=True) for name in ("kmin", "kmax")]
        axes += [Axis("pmax", (), 1, 100, geometric=True)]
    return tuple(axes)


def thresholds_now(cases: Sequence[Case]) -> ThresholdsNow:
    """Return the kinds of switch ports on all paths with the current thresholds of each."""
    seen: ThresholdsNow = {}
    for network, roles in _networks(cases):
        for cable in network.cables:
            for node, end in ((cable.a, cable.a_end), (cable.b, cable.b_end)):
                if end is not None:
                    kind, switch = PortKind(roles[node], cable.rate_bps), network.switches[node]
                    pool = switch.pool_bytes // switch.parts
                    own = _thresholds(end)
                    also = PortThresholds(own, pool, own.dynamic_th)
                    seen[kind] = _of_both(seen[kind], also) if kind in seen else also
    return dict(sorted(seen.items(), key=lambda entry: (entry[0].rate_bps, entry[0].role)))


def _of_both(one: PortThresholds, other: PortThresholds) -> PortThresholds:
    """Return the thresholds of two groups of ports as one: the equal ones, and the names of those that differ.

    Headroom, pool and alpha are the least of both groups.
    """
    differs = tuple(
        name
        for name in PARAMETERS
        if name in one.differs or getattr(one.thresholds, name) != getattr(other.thresholds, name)
    )
    alphas = [one.least_dynamic_th, other.least_dynamic_th]
    headrooms = [
        own for own in (one.thresholds.headroom_bytes, other.thresholds.headroom_bytes) if own is not None
    ]
    return PortThresholds(
        one.thresholds._replace(**dict.fromkeys(differs), headroom_bytes=min(headrooms, default=None)),
        min(one.pool_bytes, other.pool_bytes),
        min((own for own in alphas if own is not None), default=None),
        differs,
    )


def _networks(cases: Sequence[Case]) -> Iterator[tuple[SimNetwork, tuple[str, ...]]]:
    """Yield the networks of all cases and seeds, each with the roles of its nodes."""
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
    """Return the configured thresholds, headroom left out, as a setting."""
    own = ((kind, each.thresholds._replace(headroom_bytes=None)) for kind, each in now.items())
    return TrialSetting(by_kind=tuple(own))


def distance(setting: TrialSetting, now: Mapping[PortKind, PortThresholds]) -> float:
    """Return the distance of a setting from the configured one: steps of alpha, and octaves of Kmin, Kmax and Pmax."""
    steps = 0.0
    for kind, thresholds in setting.by_kind:
        before = now[kind].thresholds
        if thresholds.dynamic_th is not None and before.dynamic_th is not None:
            steps += abs(thresholds.dynamic_th - before.dynamic_th)
        for value, was in zip(thresholds[1:4], before[1:4], strict=True):
            if value is not None:
                steps += abs(log2(max(1, value) / max(1, was or 1)))
    return steps


_COARSE_SHARE = 0.6
"""The part of all settings that the first grid may take; the rest is for later steps."""
_MOST_UNFIT = 4
"""How many times more points than settings a grid may have; the others do not fit (:meth:`.ThresholdSearch.fits`)."""
_MOST_VALUES = 8
"""Values of an axis in the first grid: neighbors then differ by half to double over the published range."""
_REFINED = 3
"""Times that the grid is made finer around the best setting: each time the steps are halved."""
_BY_KIND = 2
"""The most rounds over the kinds of ports, in each of which every kind's thresholds are varied."""


class TriedSetting(NamedTuple):
    """A setting that was tried, and its key figures; ``step`` is the step of the search that tried it."""

    setting: TrialSetting
    kpis: Kpis
    step: str


class ThresholdSearch:
    """The settings tried so far, in their order, and how many more may be tried."""

    def __init__(
        self,
        run: Callable[[Sequence[Attempt]], Iterable[Tried]],
        cases: Sequence[Case],
        now: Mapping[PortKind, PortThresholds],
        evaluations: int,
        *,
        steps: bool = False,
    ) -> None:
        """Start without results; ``run`` tries settings on the first variant, and ``cases`` are its workloads.

        With ``steps`` curves may be narrower than :data:`NARROWEST`.
        """
        self._run, self._cases = run, cases
        self.now, self.left, self._steps = now, evaluations, steps
        self._tried: dict[TrialSetting, TriedSetting] = {}

    @property
    def rows(self) -> tuple[TriedSetting, ...]:
        """All settings that were tried, in their order."""
        return tuple(self._tried.values())

    def attempt(self, settings: Iterable[TrialSetting], step: str) -> None:
        """Try the settings that have not been tried and fit, as many as ``left`` allows."""
        fresh = [each for each in dict.fromkeys(settings) if each not in self._tried and self.fits(each)]
        fresh = fresh[: self.left]
        self.left -= len(fresh)
        for setting, tried in zip(fresh, self._run([Attempt(each) for each in fresh]), strict=True):
            self._tried[setting] = TriedSetting(setting, kpis(self._cases, tried), step)

    def fits(self, setting: TrialSetting) -> bool:
        """Return whether a setting may be tried at all: it marks before PFC, along a slope unless steps are allowed."""
        sloped = self._steps or all(is_sloped(own) for _, own in setting.by_kind)
        return sloped and marks_before_pfc(setting, self.now)

    def ranked(self) -> list[TriedSetting]:
        """Return all settings that were tried, the best first; among equals the one nearest to the configured one."""
        return sorted(self._tried.values(), key=self._order)

    def best(self, among: Iterable[TrialSetting] | None = None) -> TriedSetting:
        """Return the best setting that was tried, of all or of those in ``among``."""
        rows = (
            self._tried.values()
            if among is None
            else [self._tried[one] for one in among if one in self._tried]
        )
        return min(rows, key=self._order)

    def _order(self, row: TriedSetting) -> tuple[tuple[int, ...], float]:
        return row.kpis.rank, distance(row.setting, self.now)


def first_grid(search: ThresholdSearch, space: SearchSpace) -> SearchSpace:
    """Return the space with the finest grid of equally many values on each axis within its share of the settings.

    An axis has two values at least, unless rounding makes them equal.
    """
    allowed = max(1, search.left * _COARSE_SHARE)
    for many in range(_MOST_VALUES, 2, -1):
        grid = space._replace(axes=tuple(spaced(axis, many) for axis in space.axes))
        if (
            grid.size <= _MOST_UNFIT * allowed
            and sum(search.fits(grid.setting(point)) for point in grid.points()) <= allowed
        ):
            return grid
    return space._replace(axes=tuple(spaced(axis, 2) for axis in space.axes))


def search_grid(search: ThresholdSearch, grid: SearchSpace) -> dict[TrialSetting, tuple[int, ...]]:
    """Try a grid, then finer ones around the best setting of each; return the points of all grids."""
    points = {grid.setting(point): point for point in grid.points()}
    search.attempt(points, "grid")
    for _ in range(_REFINED):
        if not any(row.setting in points for row in search.rows):
            return points
        best = search.best(points).setting
        axes = tuple(axis.around(value) for axis, value in zip(grid.axes, points[best], strict=True))
        grid = grid._replace(axes=axes)
        points |= {grid.setting(point): point for point in grid.points()}
        search.attempt(points, "refined")
    return points


def search_alpha(search: ThresholdSearch) -> None:
    """Try each alpha at all ports, with the curve of the best setting, unless that has ports without an alpha."""
    if not search.rows:
        return
    best = search.best().setting
    if any(own.dynamic_th is None for _, own in best.by_kind):
        return
    search.attempt(
        (
            best._replace(
                by_kind=tuple((kind, own._replace(dynamic_th=exponent)) for kind, own in best.by_kind)
            )
            for exponent in DYNAMIC_TH
        ),
        "alpha",
    )


def search_by_kind(search: ThresholdSearch, kinds: Sequence[PortKind]) -> None:
    """Vary the thresholds of one kind of port after another around the best setting, for two rounds at most."""
    for _ in range(_BY_KIND if len(kinds) > 1 and search.rows else 0):
        before = search.best()
        for kind in kinds:
            search.attempt(_around(search.best().setting, kind), "by kind")
        if search.best() == before:
            return


def _around(setting: TrialSetting, kind: PortKind) -> Iterator[TrialSetting]:
    """Yield a setting with other thresholds at ports of one kind: alpha by a step, Kmin, Kmax by half and double."""
    own = dict(setting.by_kind)
    for thresholds in _neighbors(own[kind]):
        yield setting._replace(by_kind=tuple((own | {kind: thresholds}).items()))


def _neighbors(own: ThresholdSetting) -> Iterator[ThresholdSetting]:
    for step in (0,) if own.dynamic_th is None else (-1, 0, 1):
        exponent = None if own.dynamic_th is None else min(7, max(-8, own.dynamic_th + step))
        for low, high in _curves(own):
            yield own._replace(dynamic_th=exponent, kmin_bytes=low, kmax_bytes=high)


def _curves(own: ThresholdSetting) -> Iterator[tuple[int | None, int | None]]:
    """Yield Kmin and Kmax as they are, and each by half and double, where Kmin is not above Kmax."""
    if own.kmin_bytes is None or own.kmax_bytes is None:
        yield own.kmin_bytes, own.kmax_bytes
        return
    for low in (1, 2, 4):
        for high in (1, 2, 4):
            kmin, kmax = (
                max(1, value * part // (2 * KIB)) * KIB
                for value, part in ((own.kmin_bytes, low), (own.kmax_bytes, high))
            )
            if kmin <= kmax:
                yield kmin, kmax


_POPULATION = 50
"""Settings of one generation, which optuna proposes at once."""
_SEED = 1
_BARREN = 20
"""Generations without a setting that has not been tried and fits, after which the search ends."""
_SAFE = BUFFER_VERDICTS.index("safe")


def require_optuna() -> None:
    """Refuse to go on without optuna.

    Raises:
        LosslessError: it is not installed.
    """
    if find_spec("optuna") is None:
        raise LosslessError(f"--dcqcn needs optuna: {install_command('tune')}")


def search_optuna(search: ThresholdSearch, space: SearchSpace, known: Sequence[tuple[int, ...]]) -> None:
    """Try settings that optuna proposes, from the ``known`` points on, until the limit.

    It ends earlier after 20 generations in a row without a new setting.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.NSGAIISampler(population_size=_POPULATION, seed=_SEED)
    study = optuna.create_study(directions=["minimize"] * 4, sampler=sampler)
    for point in known:
        study.enqueue_trial(dict(zip((axis.name for axis in space.axes), point, strict=True)))
    barren = 0
    while search.left > 0 and barren < _BARREN:
        left = search.left
        _generation(study, search, space)
        barren = barren + 1 if search.left == left else 0


def _generation(study: Any, search: ThresholdSearch, space: SearchSpace) -> None:
    """Request a population, try it, and report the results to optuna; settings that may not be tried fail."""
    import optuna

    asked = [_ask(study, space) for _ in range(_POPULATION)]
    search.attempt((setting for _, setting in asked), "optuna")
    shown = {row.setting: row.kpis for row in search.rows}
    for trial, setting in asked:
        if setting in shown:
            seen = shown[setting]
            trial.set_constraint("verdict", float(_SAFE - BUFFER_VERDICTS.index(seen.verdict)))
            study.tell(trial, seen.objectives)
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)


def _ask(study: Any, space: SearchSpace) -> tuple[Any, TrialSetting]:
    """Return a trial of optuna's with its setting; Kmin and Kmax change places where they are out of order."""
    from optuna.distributions import IntDistribution

    trial = study.ask(
        {axis.name: IntDistribution(axis.least, axis.most, log=axis.geometric) for axis in space.axes}
    )
    values = {axis.name: axis.nearest(trial.params[axis.name]) for axis in space.axes}
    if not in_order(values):
        values |= {"kmin": values["kmax"], "kmax": values["kmin"]}
    return trial, space.setting([values[axis.name] for axis in space.axes])
