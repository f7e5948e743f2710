"""Dynamic thresholds: published cases, and how they move."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless.analysis.buffers.thresholds import (
    alpha,
    dcqcn_no_pfc_before_ecn_bytes,
    fan_out_margin,
    first_pfc_ns,
    group_threshold_bytes,
    peak_egress_bytes,
    static_group_threshold_bytes,
    xoff_egress_bytes,
)
from lossless.ground.basics.errors import QuantityError

SN5600_T0_POOL_BYTES = 67_700_000
EXPONENTS = st.integers(min_value=-8, max_value=8)
POOLS = st.integers(min_value=1, max_value=10**9)
GROUPS = st.integers(min_value=1, max_value=1024)
RESERVED = st.integers(min_value=0, max_value=10**6)


def test_dynamic_th_is_an_exponent_of_two() -> None:
    assert [alpha(exponent) for exponent in (-8, -3, 0, 3)] == [1 / 256, 1 / 8, 1.0, 8.0]


def test_an_sn5600_egress_holds_66_mb_at_xoff_though_each_group_pauses_at_1_38_mb() -> None:
    assert group_threshold_bytes(1, SN5600_T0_POOL_BYTES, 48) == pytest.approx(1.38e6, rel=2e-3)
    assert xoff_egress_bytes(1, SN5600_T0_POOL_BYTES, 48) == pytest.approx(66.3e6, rel=1e-3)


@pytest.mark.parametrize(("groups", "threshold_bytes"), [(1, 2_000_000), (8, 1_125_000), (16, 750_000)])
def test_an_18_mb_pool_with_alpha_an_eighth(groups: int, threshold_bytes: int) -> None:
    # NSDI'23, appendix A: 18 MB of shared buffer, alpha 1/8.
    assert group_threshold_bytes(alpha(-3), 18_000_000, groups) == pytest.approx(threshold_bytes)


def test_the_dcqcn_paper_bounds_kmin_at_21_75_kb() -> None:
    # SIGCOMM'15, section 4: 12 MB, 32 ports, 8 priorities, t_flight 22.4 KB, beta 8.
    assert dcqcn_no_pfc_before_ecn_bytes(12_000_000, 32, 8, 22_400, 8) == pytest.approx(21_750, rel=1e-3)


def test_reserved_bytes_raise_the_threshold_by_their_part() -> None:
    # Two groups with 100 B each: T = (1000 + 2 x 100) / 3 = 400, 300 of it shared, and 1000 - 2 x 300 = 400.
    assert group_threshold_bytes(1, 1000, 2, reserved_bytes=100) == pytest.approx(400)


def test_kmin_can_be_too_high_for_one_ingress_with_many_congested_egresses() -> None:
    threshold = group_threshold_bytes(alpha(-3), 18_000_000, 1)
    few, many = (fan_out_margin(threshold, 400_000, 1_600_000, egresses) for egresses in (1, 8))
    assert (few.kmin_margin_bytes, few.kmax_margin_bytes) == pytest.approx((1_600_000, 400_000))
    assert (many.unmarked_bytes, many.fully_marked_bytes) == (3_200_000, 12_800_000)
    assert (many.kmin_margin_bytes, many.kmax_margin_bytes) == pytest.approx((-1_200_000, -10_800_000))


def test_a_static_threshold_holds_until_the_pool_is_shared_out() -> None:
    thresholds = [static_group_threshold_bytes(1_000_000, 8_000_000, groups) for groups in (1, 8, 16)]
    assert thresholds == [1_000_000, 1_000_000, 500_000]


def test_one_sender_alone_never_pauses() -> None:
    assert first_pfc_ns(1000, 400 * 10**9, 1) == math.inf


def test_two_senders_fill_at_half_the_line_rate() -> None:
    assert first_pfc_ns(1_000_000, 400 * 10**9, 2, first_arrival_ns=2000) == pytest.approx(42_000)


def test_the_peak_adds_the_headroom_that_the_egress_did_not_drain() -> None:
    assert peak_egress_bytes(1_000_000, 100_000, 4) == pytest.approx(4_300_000)


@given(EXPONENTS, POOLS, st.integers(0, 10**8), GROUPS, RESERVED)
def test_a_larger_pool_never_pauses_earlier(
    exponent: int, pool: int, more: int, groups: int, reserved: int
) -> None:
    small = group_threshold_bytes(alpha(exponent), pool, groups, reserved)
    assert small <= group_threshold_bytes(alpha(exponent), pool + more, groups, reserved)


@given(EXPONENTS, EXPONENTS, POOLS, GROUPS)
def test_a_larger_alpha_never_pauses_earlier(one: int, other: int, pool: int, groups: int) -> None:
    low, high = sorted((one, other))
    assert group_threshold_bytes(alpha(low), pool, groups) <= group_threshold_bytes(alpha(high), pool, groups)


@given(EXPONENTS, POOLS, GROUPS)
def test_more_groups_pause_earlier_and_their_egress_holds_more(exponent: int, pool: int, groups: int) -> None:
    a = alpha(exponent)
    assert group_threshold_bytes(a, pool, groups + 1) < group_threshold_bytes(a, pool, groups)
    assert xoff_egress_bytes(a, pool, groups) < xoff_egress_bytes(a, pool, groups + 1) < pool


@given(EXPONENTS, POOLS, GROUPS, RESERVED)
def test_the_threshold_is_where_the_pool_left_over_balances(
    exponent: int, pool: int, groups: int, reserved: int
) -> None:
    a = alpha(exponent)
    threshold = group_threshold_bytes(a, pool, groups, reserved)
    left = pool - groups * (threshold - reserved)
    assert a * left == pytest.approx(threshold, rel=1e-6, abs=1e-3)


@given(st.integers(1, 10**8), POOLS, GROUPS)
def test_static_groups_never_hold_more_than_the_pool(static_th: int, pool: int, groups: int) -> None:
    threshold = static_group_threshold_bytes(static_th, pool, groups)
    assert threshold <= static_th
    assert groups * threshold <= pool * (1 + 1e-12)


@given(st.integers(1, 10**8), st.integers(1, 1600), st.integers(2, 512))
def test_a_wider_or_faster_incast_pauses_sooner(threshold: int, rate_gbps: int, fan_in: int) -> None:
    base = first_pfc_ns(threshold, rate_gbps * 10**9, fan_in)
    assert first_pfc_ns(threshold, rate_gbps * 10**9, fan_in + 1) < base
    assert first_pfc_ns(threshold, (rate_gbps + 1) * 10**9, fan_in) < base


def test_a_threshold_without_groups_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"^a threshold is shared by at least one group, not 0$"):
        group_threshold_bytes(1, 1000, 0)


def test_an_alpha_of_zero_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"^alpha is a power of two, never 0$"):
        group_threshold_bytes(0, 1000, 1)
