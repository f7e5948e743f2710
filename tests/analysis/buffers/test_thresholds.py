"""Dynamic thresholds: published cases, and how they move."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import (
    Trigger,
    alpha,
    group_threshold_bytes,
    stalled_egress_bytes,
    static_group_threshold_bytes,
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
    assert Trigger(SN5600_T0_POOL_BYTES, 1, None).egress_bytes(48) == pytest.approx(66.3e6, rel=1e-3)


@pytest.mark.parametrize(("groups", "threshold_bytes"), [(1, 2_000_000), (8, 1_125_000), (16, 750_000)])
def test_an_18_mb_pool_with_alpha_an_eighth(groups: int, threshold_bytes: int) -> None:
    # NSDI'23, appendix A: 18 MB of shared buffer, alpha 1/8.
    assert group_threshold_bytes(alpha(-3), 18_000_000, groups) == pytest.approx(threshold_bytes)


def test_the_bounds_of_the_dcqcn_paper_follow_from_the_closed_forms() -> None:
    """12 MB, 32 ports of 8 priorities with 22.4 kB of headroom: at most 24.47 kB to PFC, below 21.75 kB to marking.

    Zhu et al., SIGCOMM 2015, section 4: PFC starts at beta (B - s) / 8 with beta 8, so alpha is 1, and marking must
    start where 8 priorities of 32 egresses are filled by one port. For a static threshold it prints 0.85 kB, 24.47 / 32
    being 0.76.
    """
    shared, ports, priorities = 12_000_000 - 32 * 8 * 22_400, 32, 8
    assert static_group_threshold_bytes(shared, shared, ports * priorities) == pytest.approx(24_470, rel=1e-3)
    assert group_threshold_bytes(1, shared, priorities) / ports == pytest.approx(21_750, rel=1e-3)


def test_reserved_bytes_raise_the_threshold_by_their_part() -> None:
    # Two groups with 100 B each: T = (1000 + 2 x 100) / 3 = 400, 300 of it shared, and 1000 - 2 x 300 = 400.
    assert group_threshold_bytes(1, 1000, 2, reserved_bytes=100) == pytest.approx(400)


def test_a_static_threshold_holds_until_the_pool_is_shared_out() -> None:
    thresholds = [static_group_threshold_bytes(1_000_000, 8_000_000, groups) for groups in (1, 8, 16)]
    assert thresholds == [1_000_000, 1_000_000, 500_000]


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
    trigger = Trigger(pool, a, None)
    assert trigger.egress_bytes(groups) < trigger.egress_bytes(groups + 1) < pool


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


def test_a_stalled_egress_stores_the_threshold_and_the_headroom_of_every_sender() -> None:
    # Three groups that pause at 100 kB and have 30 kB of headroom
    assert stalled_egress_bytes(100_000, 30_000, 3) == 390_000
    with pytest.raises(QuantityError, match=r"^a threshold is shared by at least one group, not 0$"):
        stalled_egress_bytes(100_000, 30_000, 0)


def test_a_threshold_without_groups_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"^a threshold is shared by at least one group, not 0$"):
        group_threshold_bytes(1, 1000, 0)


def test_an_alpha_of_zero_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"^alpha is a power of two, never 0$"):
        group_threshold_bytes(0, 1000, 1)
