"""The search for the best setting: a grid over the axes that all ports share, refined around the best, then by kind.

Every step is an explicit grid, so that the same input has the same answer, and a person can follow it. A limit on the
number of settings bounds the search, never time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.analysis.simulation.study.settings import TrialSetting
from lossless.analysis.simulation.tune.kpis import kpis
from lossless.analysis.simulation.tune.space import KIB, distance, marks_before_pfc, spaced
from lossless.analysis.simulation.tune.trials import Attempt
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.settings import PortKind
    from lossless.analysis.simulation.tune.kpis import Kpis
    from lossless.analysis.simulation.tune.space import PortThresholds, SearchSpace
    from lossless.analysis.simulation.tune.trials import Case, Tried

_COARSE_SHARE = 0.6
"""The part of all settings that the first grid may take; the rest is for later steps."""
_MOST_UNFIT = 4
"""How many times more points than settings a grid may have; the others do not mark before PFC."""
_MOST_VALUES = 16
"""Values of an axis in the first grid: as many as alpha has."""
_REFINED = 3
"""Times that the grid is made finer around the best setting: each time the steps are halved."""
_BY_KIND = 2
"""Rounds over the kinds of ports."""


class TriedSetting(NamedTuple):
    """A setting that was tried, and its key figures; ``step`` is the grid that it belongs to."""

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
    ) -> None:
        """Start without results; ``run`` tries settings on the first variant, and ``cases`` are its workloads."""
        self._run, self._cases = run, cases
        self.now, self.left = now, evaluations
        self._tried: dict[TrialSetting, TriedSetting] = {}

    @property
    def rows(self) -> tuple[TriedSetting, ...]:
        """Everything that was tried."""
        return tuple(self._tried.values())

    def attempt(self, settings: Iterable[TrialSetting], step: str) -> None:
        """Try settings that have not been tried and mark before PFC can come, as many as may be."""
        fresh = [each for each in dict.fromkeys(settings) if each not in self._tried and self.fits(each)]
        fresh = fresh[: self.left]
        self.left -= len(fresh)
        for setting, tried in zip(fresh, self._run([Attempt(each) for each in fresh]), strict=True):
            self._tried[setting] = TriedSetting(setting, kpis(self._cases, tried), step)

    def fits(self, setting: TrialSetting) -> bool:
        """Return whether a setting may be tried at all."""
        return marks_before_pfc(setting, self.now)

    def ranked(self) -> list[TriedSetting]:
        """Return all settings that were tried, the best first; among equals the one nearest to the configured one."""
        return sorted(self._tried.values(), key=self._order)

    def best(self, among: Iterable[TrialSetting] | None = None) -> TriedSetting:
        """Return the best setting that was tried, of all or of some."""
        rows = (
            self._tried.values()
            if among is None
            else [self._tried[one] for one in among if one in self._tried]
        )
        return min(rows, key=self._order)

    def _order(self, row: TriedSetting) -> tuple[tuple[int, ...], float]:
        return row.kpis.rank, distance(row.setting, self.now)


def first_grid(search: ThresholdSearch, space: SearchSpace) -> SearchSpace:
    """Return the space with the finest grid of equally many values on each axis that may be tried."""
    allowed = max(1, search.left * _COARSE_SHARE)
    for many in range(_MOST_VALUES, 2, -1):
        grid = space._replace(axes=tuple(spaced(axis, many) for axis in space.axes))
        if grid.size <= _MOST_UNFIT * allowed and _fitting(search, grid) <= allowed:
            return grid
    return space._replace(axes=tuple(spaced(axis, 2) for axis in space.axes))


def _fitting(search: ThresholdSearch, grid: SearchSpace) -> int:
    return sum(search.fits(grid.setting(point)) for point in grid.points())


def search_grid(search: ThresholdSearch, grid: SearchSpace) -> dict[TrialSetting, tuple[int, ...]]:
    """Try a grid, then finer ones around the best setting of each; return the points of all of them."""
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


def search_by_kind(search: ThresholdSearch, kinds: Sequence[PortKind]) -> None:
    """Change the thresholds of one kind of port after another around the best setting, as long as that helps."""
    for _ in range(_BY_KIND if len(kinds) > 1 and search.rows else 0):
        before = search.best()
        for kind in kinds:
            search.attempt(_around(search.best().setting, kind), "by kind")
        if search.best() == before:
            return


def _around(setting: TrialSetting, kind: PortKind) -> Iterator[TrialSetting]:
    """Yield a setting with other thresholds at ports of one kind: alpha by a step, Kmin and Kmax by half and double."""
    own = dict(setting.by_kind)
    for thresholds in _neighbors(own[kind]):
        yield setting._replace(by_kind=tuple((own | {kind: thresholds}).items()))


def _neighbors(own: ThresholdSetting) -> Iterator[ThresholdSetting]:
    for step in (0,) if own.dynamic_th is None else (-1, 0, 1):
        exponent = None if own.dynamic_th is None else min(7, max(-8, own.dynamic_th + step))
        for low, high in _curves(own):
            yield own._replace(dynamic_th=exponent, kmin_bytes=low, kmax_bytes=high)


def _curves(own: ThresholdSetting) -> Iterator[tuple[int | None, int | None]]:
    """Yield Kmin and Kmax as they are, and each by half and double, where Kmin stays below Kmax."""
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
