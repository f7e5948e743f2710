"""Which setting is better: an order of what is minimised, dominance, and the Pareto front, against brute force."""

from __future__ import annotations

from hypothesis import given, strategies as st

from lossless.analysis.buffers.verdict import BufferVerdict
from lossless.analysis.simulation.tune.choose import workload_losses
from lossless.analysis.simulation.tune.kpis import Kpis, SeedFigures, effects, front, gain_of

VERDICTS: tuple[BufferVerdict, ...] = ("unsafe", "on the edge", "safe")
KPIS = st.builds(
    Kpis,
    verdict=st.sampled_from(VERDICTS),
    pfc_before_ecn=st.integers(0, 2),
    pause_share=st.sampled_from((0.0, 0.004, 0.1)),
    jct_ratio=st.sampled_from((1.0, 1.001, 1.1)),
    queue_us=st.sampled_from((10.0, 12.0, 90.0)),
    workloads=st.just(()),
)


def no_worse(one: Kpis, other: Kpis) -> bool:
    return all(mine <= theirs for mine, theirs in zip(one.objectives, other.objectives, strict=True))


@given(KPIS, KPIS, KPIS)
def test_dominance_is_a_strict_order_that_the_ranking_respects(one: Kpis, two: Kpis, three: Kpis) -> None:
    assert not one.dominates(one)
    if one.dominates(two):
        assert one.rank < two.rank
        assert not two.dominates(one)
        if two.dominates(three):
            assert one.dominates(three)


@given(KPIS)
def test_a_safe_setting_dominates_every_unsafe_one(found: Kpis) -> None:
    safe = Kpis("safe", 2, 9.0, 9.0, 999.0, ())
    assert safe.dominates(found._replace(verdict="unsafe"))


def test_what_nobody_can_tell_apart_is_equal() -> None:
    """Ports in pause and JCT Ratio below a hundredth, and delays below ten microseconds, decide nothing."""
    one, two = Kpis("safe", 0, 0.0, 1.0, 10.0, ()), Kpis("safe", 0, 0.004, 1.004, 12.0, ())
    assert one.rank == two.rank
    assert not one.dominates(two)
    assert one.dominates(Kpis("safe", 0, 0.01, 1.0, 10.0, ()))


@given(st.lists(KPIS, max_size=12))
def test_the_front_is_what_no_other_safe_setting_dominates(rows: list[Kpis]) -> None:
    safe = [row for row in rows if row.verdict == "safe"]
    best = {row.objectives for row in safe if not any(other.dominates(row) for other in safe)}
    found = front(rows, lambda row: row)
    assert {row.objectives for row in found} == best
    assert len(found) == len(best)
    assert list(found) == sorted(found, key=lambda row: row.rank)
    assert all(any(no_worse(kept, row) for kept in found) for row in safe)


def figures(*jct_ratios: float, queue_us: float = 40) -> tuple[SeedFigures, ...]:
    return tuple(SeedFigures(0, 0.0, jct_ratio, queue_us) for jct_ratio in jct_ratios)


def test_a_gain_is_two_percent_and_beyond_the_noise_of_the_seeds() -> None:
    now = figures(1.5, 1.6, 1.7, 1.8)
    same_each = figures(1.45, 1.54, 1.65, 1.74)
    small = figures(1.485, 1.584, 1.683, 1.782)
    noisy = figures(1.2, 1.9, 1.3, 2.0)
    gain = gain_of(effects(now, same_each))
    assert gain is not None
    assert (gain.figure, gain.low > 0, 2 < gain.mean < 4) == ("jct_ratio", True, True)
    assert gain_of(effects(now, small)) is None
    assert gain_of(effects(now, noisy)) is None
    assert gain_of(effects(now, now)) is None


def test_what_gains_in_one_figure_and_loses_in_another_is_no_gain() -> None:
    now, other = figures(1.5, 1.6), figures(1.2, 1.28, queue_us=80)
    assert gain_of(effects(now, figures(1.2, 1.28))) is None or effects(now, other)[3].loses
    assert effects(now, other)[3].loses
    assert gain_of(effects(now, other)) is None


def test_a_workload_that_loses_is_named_though_the_mean_gains() -> None:
    now = {"incast": figures(1.5, 1.6), "shuffle": figures(1.1, 1.2)}
    other = {"incast": figures(1.1, 1.2), "shuffle": figures(1.3, 1.4)}
    mean_now, mean_other = figures(1.3, 1.4), figures(1.2, 1.3)
    assert gain_of(effects(mean_now, mean_other)) is not None
    (loss,) = workload_losses(now, other)
    assert loss.startswith("shuffle: completion time 17.4 % more")
    assert workload_losses(now, now) == []
