"""The reaction point of DCQCN: what every parameter does, by numbers one can work out; and against a slow one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import SimDcqcn
from tests.analysis.simulation.reaction_point import ReactionPoint
from tests.analysis.simulation.slow_dcqcn import SlowReactionPoint

LINE_BPS = 100e9
PLAIN = SimDcqcn(
    g=0.0,
    alpha_us=1,
    decrease_us=4,
    increase_us=300,
    threshold=3,
    ai_bps=4e9,
    hai_bps=8e9,
    min_rate_bps=100e6,
)
"""Alpha stays 1, so that a cut halves the rate."""


def rates(point: ReactionPoint, *at_us: float) -> list[float]:
    """Return the rate in Gb/s at some times."""
    return [point.at(now).rate_gbps for now in at_us]


def after_cnp_at_10(**changed: Any) -> ReactionPoint:
    point = ReactionPoint(PLAIN._replace(**changed), LINE_BPS)
    point.cnp(10)
    return point


# --- the cut ---


def test_the_first_cnp_cuts_nothing_until_one_decrease_period_has_passed() -> None:
    assert rates(after_cnp_at_10(), 10, 13.999999, 14) == [100, 100, 50]
    assert rates(after_cnp_at_10(decrease_us=7), 16.999999, 17) == [100, 50]


def test_without_another_cnp_no_second_cut_follows() -> None:
    assert rates(after_cnp_at_10(), 14, 18, 22, 200) == [50, 50, 50, 50]


def test_a_cnp_in_the_next_decrease_period_cuts_again_at_its_end() -> None:
    point = after_cnp_at_10()
    point.cnp(15, 16, 17)
    assert rates(point, 17.999999, 18, 26) == [50, 25, 25]


@pytest.mark.parametrize(
    ("alpha_us", "updates"), [(1, 4), (2, 2), (3, 1), (5, 0)], ids=["four", "two", "one", "none"]
)
def test_alpha_decays_by_g_in_each_period_before_the_first_cut(alpha_us: float, updates: int) -> None:
    alpha = 0.75**updates
    point = after_cnp_at_10(g=0.25, alpha_us=alpha_us).at(14)
    assert point.alpha == pytest.approx(alpha)
    assert point.rate_gbps == pytest.approx(100 * (1 - alpha / 2))


def test_a_cnp_in_its_period_lets_alpha_rise_toward_one() -> None:
    """From 1: 3/4 after a period without, 3/4 x 3/4 + 1/4 = 13/16 after one with a CNP."""
    point = after_cnp_at_10(g=0.25)
    point.cnp(11.5)
    assert [point.at(now).alpha for now in (10, 11, 12, 13)] == [1, 0.75, 0.8125, 0.609375]


def test_alpha_starts_at_its_initial_value() -> None:
    assert rates(after_cnp_at_10(initial_alpha=0.5), 14) == [75]


def test_a_cut_takes_alpha_times_alpha_to_rate() -> None:
    assert rates(after_cnp_at_10(alpha_to_rate=0.2), 14) == [80]
    assert rates(after_cnp_at_10(alpha_to_rate=0.2, initial_alpha=0.25), 14) == pytest.approx([95])


def test_one_cut_keeps_at_least_the_least_factor() -> None:
    point = after_cnp_at_10(min_decrease=0.8)
    point.cnp(15)
    assert rates(point, 14, 18) == [80, 64]


def test_no_cut_goes_below_the_least_rate() -> None:
    point = after_cnp_at_10(min_rate_bps=40e9)
    point.cnp(15, 19)
    assert rates(point, 14, 18, 22) == [50, 40, 40]


def test_the_first_cnp_lowers_the_rate_to_the_first_rate_and_aims_no_higher() -> None:
    point = after_cnp_at_10(first_rate_bps=30e9)
    assert rates(point, 9, 10, 14) == [100, 30, 15]
    assert point.target_gbps == 30


# --- recovery ---


def test_recoveries_halve_the_distance_to_the_target_until_the_threshold() -> None:
    assert rates(after_cnp_at_10(), 313.999999, 314, 614, 914) == [50, 75, 87.5, 93.75]


def test_after_the_threshold_the_target_rises_once_by_ai_then_by_hai() -> None:
    """A second cut after a first recovery leaves the target at 75; the cut at 318 restarts the timer."""
    point = after_cnp_at_10()
    point.cnp(315)
    assert rates(point, 314, 318) == [75, 37.5]
    recovered = [56.25, 65.625, 70.3125]
    assert rates(point, 618, 918, 1218) == recovered
    assert rates(point, 1518) == [(recovered[-1] + 79) / 2]
    assert rates(point, 1818) == [((recovered[-1] + 79) / 2 + 87) / 2]
    assert point.at(2118).target_gbps == 95


def test_without_fast_recovery_the_first_increase_is_additive() -> None:
    """The target cannot pass the line rate, so the first rate keeps it low."""
    point = after_cnp_at_10(threshold=0, first_rate_bps=20e9)
    assert rates(point, 14, 314, 614) == [10, (10 + 24) / 2, (17 + 32) / 2]


def test_neither_rate_nor_target_passes_the_line_rate() -> None:
    point = after_cnp_at_10(threshold=0, hai_bps=90e9)
    assert point.at(100_000).rate_gbps == pytest.approx(100)
    assert point.rate_gbps <= point.target_gbps == 100


def test_a_cut_restarts_the_increase_timer() -> None:
    point = after_cnp_at_10()
    point.cnp(215)
    assert rates(point, 214, 218, 314, 517.999999, 518) == [50, 25, 25, 25, 62.5]


def test_a_rate_that_reaches_the_release_rate_is_free_again() -> None:
    assert rates(after_cnp_at_10(release_bps=80e9), 314, 613, 614) == [75, 75, 100]
    assert rates(after_cnp_at_10(release_bps=75e9), 314) == [100]


# --- the target at a cut ---


def test_a_cut_after_an_increase_lowers_the_target_to_the_rate() -> None:
    point = after_cnp_at_10()
    point.cnp(315)
    assert (point.at(318).target_gbps, point.rate_gbps) == (75, 37.5)


def test_a_cut_after_an_increase_may_leave_the_target_where_it_was() -> None:
    point = after_cnp_at_10(clamp_after_increase=False)
    point.cnp(315)
    assert (point.at(318).target_gbps, point.rate_gbps) == (100, 37.5)
    assert rates(point, 618) == [68.75]


def test_a_cut_after_an_increase_by_bytes_lowers_the_target_whatever_counts_for_the_timer() -> None:
    point = after_cnp_at_10(clamp_after_increase=False, byte_reset=10_000).at(14).send(10_000)
    point.cnp(15)
    assert (point.at(18).target_gbps, point.rate_gbps) == (75, 37.5)


@pytest.mark.parametrize(("clamp", "target"), [(False, 100), (True, 50)])
def test_only_a_clamp_lowers_the_target_at_a_cut_without_an_increase_before(
    clamp: bool, target: float
) -> None:
    point = after_cnp_at_10(clamp=clamp)
    point.cnp(15)
    assert (point.at(18).target_gbps, point.rate_gbps) == (target, 25)
    assert rates(point, 318) == [(25 + target) / 2]


# --- the byte counter ---


def test_so_many_bytes_raise_the_rate_without_the_timer() -> None:
    point = after_cnp_at_10(byte_reset=10_000).at(14)
    assert point.send(9_999).rate_gbps == 50
    assert point.send(1).rate_gbps == 75
    assert point.send(10_000).rate_gbps == 87.5


def test_no_bytes_count_before_the_first_cut_nor_across_a_cut() -> None:
    point = after_cnp_at_10(byte_reset=10_000)
    assert point.at(13).send(1_000_000).rate_gbps == 100
    point.at(14).send(9_999)
    point.cnp(15)
    assert point.at(18).send(9_999).rate_gbps == 25
    assert point.send(1).rate_gbps == 62.5


def test_either_stage_past_the_threshold_adds_ai_and_only_both_add_hai() -> None:
    """Threshold 1, target 20: bytes recover to 15, then add 4; the timer adds 4; bytes add 8 once both are past 1."""
    point = after_cnp_at_10(threshold=1, byte_reset=10_000, first_rate_bps=20e9).at(14)
    assert [point.send(10_000).target_gbps for _ in range(3)] == [20, 24, 28]
    assert [point.at(now).target_gbps for now in (314, 614)] == [32, 36]
    assert point.send(10_000).target_gbps == 44


def test_a_byte_counter_that_is_off_never_raises_the_rate() -> None:
    assert after_cnp_at_10().at(14).send(1 << 40).rate_gbps == 50


# --- against a slow one ---

MICROSECONDS = st.integers(1, 12).map(float)
DCQCNS = st.builds(
    SimDcqcn,
    g=st.sampled_from([0.0, 1 / 256, 1 / 16, 0.5]),
    alpha_us=MICROSECONDS,
    decrease_us=MICROSECONDS,
    increase_us=MICROSECONDS,
    threshold=st.integers(0, 4),
    ai_bps=st.sampled_from([0, 40e6, 5e9]),
    hai_bps=st.sampled_from([0, 200e6, 20e9]),
    min_rate_bps=st.sampled_from([10e6, 5e9]),
    cnp_gate_us=st.just(0),
    byte_reset=st.sampled_from([0, 1000, 5000]),
    initial_alpha=st.sampled_from([1.0, 0.3]),
    alpha_to_rate=st.sampled_from([0.5, 1.0, 0.1]),
    min_decrease=st.sampled_from([0.0, 0.7]),
    first_rate_bps=st.sampled_from([0, 8e9]),
    release_bps=st.sampled_from([0, 90e9]),
    clamp=st.booleans(),
    clamp_after_increase=st.booleans(),
    pacing_lock=st.booleans(),
)
STEPS = st.lists(
    st.tuples(st.integers(0, 40), st.one_of(st.none(), st.sampled_from([64, 1000, 4158]))), max_size=60
)
"""Half microseconds since the step before, and the bytes of a frame that starts then; None: a CNP arrives."""


@settings(max_examples=400)
@given(dcqcn=DCQCNS, steps=STEPS)
def test_catching_up_late_gives_the_rate_that_timers_give_in_time(
    dcqcn: SimDcqcn, steps: list[tuple[int, int | None]]
) -> None:
    lazy, slow, now_us = ReactionPoint(dcqcn, LINE_BPS), SlowReactionPoint(dcqcn, LINE_BPS), 0.0
    for halves, wire_bytes in steps:
        now_us += halves / 2
        now_ps = round(now_us * 1e6)
        if wire_bytes is None:
            lazy.cnp(now_us)
            slow.cnp(now_ps)
            continue
        slow.pass_until(now_ps)
        slow.send(wire_bytes)
        lazy.at(now_us).send(wire_bytes)
        found = lazy.rate_gbps * 1e9, lazy.target_gbps * 1e9, lazy.alpha
        assert found == pytest.approx((slow.rate_bps, slow.target_bps, slow.alpha), rel=1e-9)
