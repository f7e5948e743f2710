"""The search: stated grids, never more settings than allowed, and the best of a landscape that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.tune import space as under_test
from lossless.analysis.simulation.tune.kpis import Kpis
from lossless.analysis.simulation.tune.space import (
    KIB,
    Axis,
    PortThresholds,
    SearchSpace,
    ThresholdSearch,
    first_grid,
    in_order,
    marks_before_pfc,
    search_by_kind,
    search_grid,
    search_optuna,
    spaced,
    threshold_axes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.simulation.tune.kpis import Attempt, Case, Tried

LEAF, SPINE = PortKind("leaf", 400e9), PortKind("spine", 800e9)
POOL_BYTES = 64 << 20
NOW = {
    kind: PortThresholds(ThresholdSetting(0, 800 * KIB, 3200 * KIB, 20, 200_000), POOL_BYTES, 0)
    for kind in (LEAF, SPINE)
}
AXES = threshold_axes(dynamic=True, least_bytes=64 * KIB, most_bytes=32 << 20)
SPACE = SearchSpace((LEAF, SPINE), AXES)


def landscape(setting: TrialSetting) -> Kpis:
    """Return what a setting shows where the best has Kmin 512 KiB at leaves, and alpha 2 at spines."""
    leaf, spine = (dict(setting.by_kind)[kind] for kind in (LEAF, SPINE))
    away = abs((leaf.kmin_bytes or 0) - 512 * KIB) / KIB
    return Kpis("safe", 0, abs((spine.dynamic_th or 0) - 1) / 10, 1.0, away, ())


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], ThresholdSearch]:
    """Return what makes a search of the landscape with so many settings."""
    shown: dict[int, Kpis] = {}

    def run(attempts: Sequence[Attempt]) -> Iterator[Tried]:
        for attempt in attempts:
            shown[len(shown)] = landscape(attempt.setting)
            yield ((len(shown) - 1,),)  # type: ignore[misc]

    def read(_cases: Sequence[Case], tried: Tried) -> Kpis:
        return shown[tried[0][0]]  # type: ignore[index]

    monkeypatch.setattr(under_test, "kpis", read)
    return lambda evaluations: ThresholdSearch(run, (), NOW, evaluations, steps=True)


def searched(search: ThresholdSearch) -> ThresholdSearch:
    grid = first_grid(search, SPACE)
    search_grid(search, grid)
    search_by_kind(search, SPACE.kinds)
    return search


@pytest.mark.parametrize("evaluations", [1, 7, 100, 400])
def test_no_more_settings_are_tried_than_allowed_and_none_twice(
    evaluations: int, known: Callable[[int], ThresholdSearch]
) -> None:
    found = searched(known(evaluations))
    assert len(found.rows) <= evaluations
    assert found.left == evaluations - len(found.rows)
    assert len({row.setting for row in found.rows}) == len(found.rows)


def test_the_same_input_is_searched_in_the_same_order(known: Callable[[int], ThresholdSearch]) -> None:
    assert searched(known(300)).rows == searched(known(300)).rows


def test_the_grids_close_in_on_the_best(known: Callable[[int], ThresholdSearch]) -> None:
    """Every step is no worse than the one before, and the last is near what is known to be best."""
    found = searched(known(400))
    best = dict(found.best().setting.by_kind)
    assert abs((best[SPINE].dynamic_th or 0) - 1) <= 1
    assert 256 * KIB <= (best[LEAF].kmin_bytes or 0) <= 1024 * KIB
    steps = [row.step for row in found.rows]
    assert steps == sorted(steps, key=["grid", "refined", "by kind"].index)


def test_kinds_of_ports_get_thresholds_of_their_own(known: Callable[[int], ThresholdSearch]) -> None:
    """Of a coarse grid no shared setting is best for both kinds: kind by kind there is a better one."""
    shared = known(400)
    search_grid(shared, SPACE._replace(axes=tuple(spaced(axis, 2) for axis in AXES)))
    before = shared.best().kpis.rank
    search_by_kind(shared, SPACE.kinds)
    assert shared.best().kpis.rank < before
    leaf, spine = (dict(shared.best().setting.by_kind)[kind] for kind in (LEAF, SPINE))
    assert leaf.dynamic_th != spine.dynamic_th or leaf.kmin_bytes != spine.kmin_bytes


def test_among_equals_the_nearest_to_what_is_configured_is_best(
    known: Callable[[int], ThresholdSearch],
) -> None:
    search = known(10)
    near, far = (
        TrialSetting(by_kind=tuple((kind, NOW[kind].thresholds._replace(pmax_percent=p)) for kind in NOW))
        for p in (21, 90)
    )
    search.attempt([far, near], "grid")
    assert search.best().setting == near


def test_optuna_asks_for_the_same_settings_and_ends(known: Callable[[int], ThresholdSearch]) -> None:
    extra = Axis("rpg_ai_rate", (5,), 1, 320, geometric=True)
    space = SPACE._replace(axes=(*AXES, extra))
    tried = []
    for _ in range(2):
        search = known(120)
        search_optuna(search, space, [(0, 64 * KIB, 128 * KIB, 20, 5)])
        tried.append(search.rows)
    assert tried[0] == tried[1]
    assert len(tried[0]) == 120
    first = dict(tried[0][0].setting.by_kind)
    assert (first[LEAF].kmin_bytes, first[SPINE].kmin_bytes) == (64 * KIB, 128 * KIB)
    assert {row.setting.dcqcn[0][0] for row in tried[0]} == {"rpg_ai_rate"}
    assert all(search.fits(row.setting) for row in tried[0])


def test_marks_come_before_pfc_at_every_kind_of_port() -> None:
    """T(1) = alpha B / (1 + alpha) is 32 MiB of a pool of 64 MiB with alpha 1: Kmax no higher, Kmin half of it."""
    at = ThresholdSetting(0, 16 << 20, 32 << 20, 100)
    assert marks_before_pfc(TrialSetting(by_kind=((LEAF, at), (SPINE, at))), NOW)
    for above in (at._replace(kmax_bytes=(32 << 20) + 1), at._replace(kmin_bytes=(16 << 20) + 1)):
        assert not marks_before_pfc(TrialSetting(by_kind=((LEAF, at), (SPINE, above))), NOW)
        assert marks_before_pfc(TrialSetting(by_kind=((LEAF, above._replace(dynamic_th=1)),)), NOW)


def test_groups_of_any_port_of_a_switch_may_feed_a_queue() -> None:
    """A queue that would mark in time for its own groups is late for those of slower ports beside it."""
    fast = PortKind("leaf", 800e9)
    late = ThresholdSetting(1, 16 << 20, 36 << 20, 100)
    small = ThresholdSetting(0, KIB, 2 * KIB, 100)
    now = {**NOW, fast: NOW[LEAF]}
    assert marks_before_pfc(TrialSetting(by_kind=((fast, late), (SPINE, small))), now)
    assert not marks_before_pfc(TrialSetting(by_kind=((fast, late), (LEAF, small))), now)


@given(st.integers(2, 16), st.booleans())
def test_an_axis_is_spaced_from_end_to_end(many: int, geometric: bool) -> None:
    axis = spaced(Axis("kmin", (), 64 * KIB, 32 << 20, KIB, geometric=geometric), many)
    assert axis.values == tuple(sorted(set(axis.values)))
    assert (axis.values[0], axis.values[-1]) == (64 * KIB, 32 << 20)
    assert len(axis.values) == many
    assert all(value % KIB == 0 for value in axis.values)


@given(st.data(), st.integers(2, 9))
def test_around_a_value_an_axis_is_finer_and_within_its_ends(data: st.DataObject, many: int) -> None:
    axis = spaced(Axis("kmin", (), 64 * KIB, 32 << 20, KIB, geometric=True), many)
    value = data.draw(st.sampled_from(axis.values))
    finer = axis.around(value)
    assert value in finer.values
    assert len(finer.values) <= 3
    assert all(axis.least <= each <= axis.most for each in finer.values)
    inner = [each for each in finer.values if axis.values[0] < each < axis.values[-1]]
    assert not (set(inner) - {value}) & set(axis.values)


def test_an_axis_of_exponents_is_refined_below_zero() -> None:
    axis = spaced(Axis("dynamic_th", (), -8, 7), 16)
    assert [axis.nearest(value) for value in (-9, -3, -0.2, 2.6, 9)] == [-8, -3, 0, 3, 7]
    assert axis.around(-8).values == (-8,)
    assert axis._replace(values=(-4, 0, 4)).around(-4).values == (-8, -4, -2)


@given(st.integers(2, 6))
def test_the_points_of_a_grid_are_counted(many: int) -> None:
    grid = SPACE._replace(axes=tuple(spaced(axis, many) for axis in AXES))
    points = list(grid.points())
    assert len(points) == grid.size == len(set(points))
    names = [axis.name for axis in AXES]
    assert all(in_order(dict(zip(names, point, strict=True))) for point in points)


def test_a_step_is_tried_only_where_it_is_asked_for() -> None:
    """Kmin = Kmax marks every frame above one depth; the narrowest published curve has twice Kmin at Kmax."""
    curves = {ratio: ThresholdSetting(0, 1 << 20, round(ratio * (1 << 20)), 100) for ratio in (1, 1.9, 2, 8)}
    for steps, tried in ((False, {2, 8}), (True, {1, 1.9, 2, 8})):
        search = ThresholdSearch(lambda _: (), (), NOW, 10, steps=steps)
        fit = {ratio for ratio, own in curves.items() if search.fits(TrialSetting(by_kind=((LEAF, own),)))}
        assert fit == tried


def test_a_value_is_outside_the_published_range_at_the_speed_of_its_ports() -> None:
    """At 800 Gb/s thresholds that grow with the speed reach 3.2 MB and 12.8 MB, at 400 Gb/s the others are larger."""
    own = ThresholdSetting(0, 3_000_000, 11_000_000, 100)
    setting = TrialSetting(by_kind=((LEAF, own), (SPINE, own)))
    outside = under_test.outside_published(setting, NOW)
    assert [(each.kind, each.parameter, each.most) for each in outside] == [
        (LEAF, "kmin_bytes", 2_000_000),
        (LEAF, "kmax_bytes", 10_000_000),
    ]
    configured = {kind: PortThresholds(own, POOL_BYTES, own.dynamic_th) for kind in NOW}
    assert under_test.outside_published(setting, configured) == ()
