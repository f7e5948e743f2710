"""What leaves a switch by which channel: sums over shares are those of their parts, and rates those of a plain walk."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.storm.tiers import (
    NOTHING,
    EgressShares,
    LeafReachability,
    TierShares,
    WeightSum,
    channel_graph,
    rates,
    sharing,
)
from tests.analysis.storm.nets import of

WEIGHTS = st.dictionaries(st.integers(0, 20), st.floats(1e-3, 1e3), min_size=1)
OUTS = st.frozensets(st.integers(0, 20))


@given(WEIGHTS, OUTS, OUTS)
def test_what_leaves_by_some_channels_is_the_sum_of_their_parts(
    weights: dict[int, float], excluded: frozenset[int], outs: frozenset[int]
) -> None:
    shares = sharing(weights, excluded)
    assert sum(shares.parts().values()) == pytest.approx(0 if weights.keys() <= excluded else 1)
    assert WeightSum(outs).part(shares) == pytest.approx(sum(map(shares.of, outs)), abs=1e-9)
    assert shares.any_of(outs) is bool(outs & shares.parts().keys())


@given(WEIGHTS, OUTS)
def test_nothing_at_all_leaves_by_channels_that_are_all_excluded(
    weights: dict[int, float], outs: frozenset[int]
) -> None:
    """A rest that rounding leaves would fill a buffer after centuries, and stall links that nothing flows by."""
    shares = EgressShares(weights, 1.0, outs)
    assert WeightSum(outs).part(shares) == 0.0
    assert WeightSum(frozenset(weights)).part(sharing(weights, frozenset(weights))) == 0.0
    assert sharing(weights, frozenset(weights)) == NOTHING


@pytest.mark.parametrize("shape", ["leaf-spine", "rails", "three tiers"])
@given(data=st.data())
def test_rates_are_those_of_every_part_added_up_by_itself(shape: str, data: st.DataObject) -> None:
    net = channel_graph(of(shape).fabric)
    hosts = [at for at in range(len(net.channels)) if net.to_host(at)]
    weights = {
        at: data.draw(st.sampled_from([1.0, 3.0])) for at in data.draw(st.sets(st.sampled_from(hosts)))
    }
    senders = data.draw(
        st.sets(st.sampled_from([at for at in range(len(net.channels)) if net.from_host(at)]))
    )
    tiers = TierShares(LeafReachability(net), weights)
    shares = {at: tiers.of(at) for at in range(len(net.channels)) if not net.to_host(at)}
    expected = [
        float(net.channels[at].speed_bps) if at in senders else 0.0 for at in range(len(net.channels))
    ]
    for _ in range(6):
        for switch in net.switches:
            for out in net.out_of[switch]:
                bps = sum(expected[at] * shares[at].of(out) for at in net.into[switch])
                expected[out] = min(bps, float(net.channels[out].speed_bps))
    assert rates(net, shares, senders) == pytest.approx(expected, rel=1e-5, abs=1e3)
