"""Rates of all channels where hosts send at line rate, and each link limits its own traffic."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from lossless.analysis.storm.shares import NOTHING, EgressShares

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.analysis.storm.channels import ChannelGraph

_SAME = 1e-6
"""Largest change of a channel's rate, as a share of its speed, that is ignored: too little to change any result."""


def rates(net: ChannelGraph, shares: Mapping[int, EgressShares], senders: Iterable[int]) -> list[float]:
    """Return the b/s on each channel where ``senders`` (channels from hosts) send at line rate.

    ``shares`` has for each channel into a switch the shares of its traffic by egress.
    """
    rate = [0.0] * len(net.channels)
    for at in senders:
        rate[at] = float(net.channels[at].speed_bps)
    order = net.switches
    unsettled = set(order)
    # One pass up and one down settles a fabric in tiers; elsewhere each pass brings the rates nearer to their limit.
    for switches in _passes(order):
        for switch in switches:
            if switch in unsettled:
                unsettled.remove(switch)
                unsettled.update(_pass_on(net, shares, rate, switch))
        if not unsettled:
            return rate
    return rate


def _passes(order: list[str]) -> Iterable[list[str]]:
    yield order
    while True:
        yield order[::-1]


def _pass_on(
    net: ChannelGraph, shares: Mapping[int, EgressShares], rate: list[float], switch: str
) -> set[str]:
    """Update the rates that leave a switch from those that come in; return the switches that this affects."""
    leaving = _leaving([(shares.get(at, NOTHING), rate[at]) for at in net.into[switch] if rate[at]])
    changed = set()
    for out in net.out_of[switch]:
        channel = net.channels[out]
        capped_bps = min(leaving.get(out, 0.0), float(channel.speed_bps))
        if abs(capped_bps - rate[out]) > _SAME * channel.speed_bps and net.rank[channel.target]:
            changed.add(channel.target)
        rate[out] = capped_bps
    return changed


def _leaving(arriving: Sequence[tuple[EgressShares, float]]) -> dict[int, float]:
    """Return the b/s that leave by each channel; its work grows with the channels and the exclusions of each."""
    per_weight: dict[int, list[float]] = {}
    kept_back: dict[tuple[int, int], list[float]] = {}
    for shares, bps in arriving:
        each = bps / shares.total
        per_weight.setdefault(id(shares.weights), []).append(each)
        for out in shares.excluded:
            kept_back.setdefault((id(shares.weights), out), []).append(each)
    leaving: dict[int, float] = {}
    for number, weights in {id(shares.weights): shares.weights for shares, _ in arriving}.items():
        # Sums are rounded once, so that nothing is left where all that comes is kept back.
        every = fsum(per_weight[number])
        for out, weight in weights.items():
            back = kept_back.get((number, out))
            bps = weight * (every - fsum(back) if back else every)
            leaving[out] = leaving.get(out, 0.0) + bps
    return leaving
