"""What fills where, and when it pauses: one switch by the closed forms, and a chain of them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import Trigger
from lossless.analysis.storm.blast_radius import IngressGroup, stop_times
from lossless.analysis.storm.tiers import EgressShares

POOL = 64_000_000
OUT = 100
"""The one way out of the switch ``s``; the groups that feed it are numbered from 0."""


def stopped(
    groups: dict[int, IngressGroup], part: float = 1.0, until_ns: float = float("inf")
) -> list[tuple[float, int]]:
    return list(
        stop_times(groups, [OUT], lambda _: 0.0, part, until_ns, lambda at: "s" if at == OUT else None)
    )


def fed(rates_bps: list[float], trigger: Trigger | None) -> dict[int, IngressGroup]:
    return {
        number: IngressGroup("s", rate, trigger, EgressShares({OUT: 1.0}, 1.0))
        for number, rate in enumerate(rates_bps)
    }


@given(st.integers(1, 64), st.sampled_from([1 / 16, 1 / 8, 1.0, 4.0]), st.sampled_from([100e9, 400e9]))
def test_groups_with_one_rate_pause_together_at_the_threshold_of_so_many(
    groups: int, alpha: float, rate_bps: float
) -> None:
    trigger = Trigger(POOL, alpha, None)
    (first, *rest) = stopped(fed([rate_bps] * groups, trigger))
    assert first == (0.0, OUT)
    assert [number for _, number in rest] == list(range(groups))
    for at_ns, _ in rest:
        assert at_ns == pytest.approx(trigger.threshold_bytes(groups) * 8e9 / rate_bps)


@given(st.lists(st.floats(1e9, 800e9), min_size=1, max_size=12), st.sampled_from([1 / 8, 1.0, 2.0]))
def test_faster_groups_pause_first_and_the_pool_is_never_exceeded(
    rates_bps: list[float], alpha: float
) -> None:
    when = {
        number: at_ns
        for at_ns, number in stopped(fed(rates_bps, Trigger(POOL, alpha, None)))
        if number != OUT
    }
    assert len(when) == len(rates_bps)
    for number, at_ns in when.items():
        assert all(
            other_ns >= at_ns * (1 - 1e-9) for n, other_ns in when.items() if rates_bps[n] < rates_bps[number]
        )
        held = [rates_bps[n] / 8e9 * min(at_ns, other_ns) for n, other_ns in when.items()]
        assert sum(held) <= POOL * (1 + 1e-9)
        assert held[[*when].index(number)] == pytest.approx(alpha * (POOL - sum(held)), rel=1e-6, abs=1.0)


def test_a_static_threshold_is_reached_whatever_others_hold() -> None:
    found = stopped(fed([80e9, 8e9], Trigger(POOL, None, 1_000_000)))
    assert found == [(0.0, OUT), (pytest.approx(100_000), 0), (pytest.approx(1_000_000), 1)]


def test_what_still_moves_fills_more_slowly() -> None:
    trigger = Trigger(POOL, 1.0, None)
    (_, (dead_ns, _)), (_, (slow_ns, _)) = (
        stopped(fed([400e9], trigger)),
        stopped(fed([400e9], trigger), part=0.25),
    )
    assert slow_ns == pytest.approx(4 * dead_ns)


def test_nothing_pauses_after_the_watchdog_and_nothing_without_pfc() -> None:
    assert stopped(fed([400e9], Trigger(POOL, 1.0, None)), until_ns=1.0) == [(0.0, OUT)]
    assert stopped(fed([400e9], None)) == [(0.0, OUT)]


def test_a_pause_fills_the_switch_before_it() -> None:
    trigger = Trigger(POOL, 1.0, None)
    groups = {
        1: IngressGroup("b", 400e9, trigger, EgressShares({OUT: 1.0}, 1.0)),
        2: IngressGroup("a", 400e9, trigger, EgressShares({1: 0.5}, 1.0)),
    }
    source = {OUT: "b", 1: "a", 2: None}
    found = list(stop_times(groups, [OUT], lambda _: 1000.0, 1.0, float("inf"), source.__getitem__))
    alone_ns = trigger.threshold_bytes(1) * 8e9 / 400e9
    assert found == [(0.0, OUT), (pytest.approx(alone_ns + 1000), 1), (pytest.approx(3 * alone_ns + 2000), 2)]


def test_a_group_that_has_asked_for_a_pause_asks_no_more() -> None:
    """Half of what comes into ``s`` goes on to ``t``, which pauses long after."""
    trigger = Trigger(POOL, 1.0, None)
    groups = {
        0: IngressGroup("s", 400e9, trigger, EgressShares({OUT: 0.5, 1: 0.5}, 1.0)),
        1: IngressGroup("t", 10e9, trigger, EgressShares({OUT + 1: 1.0}, 1.0)),
    }
    source = {OUT: "s", 1: "s", OUT + 1: "t", 0: None}
    found = stop_times(groups, [OUT, OUT + 1], lambda _: 0.0, 1.0, float("inf"), source.__getitem__)
    assert [channel for _, channel in found] == [OUT, OUT + 1, 0, 1]
