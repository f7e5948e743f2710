"""How fast traffic runs on each channel where hosts send at line rate, and no link carries more than its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.analysis.storm.channels import ChannelGraph

_SAME = 1e-6
"""Part of its speed by which a channel may still change: then nothing that follows from it is another."""


def rates(
    net: ChannelGraph, shares: Mapping[int, Mapping[int, float]], senders: Iterable[int]
) -> list[float]:
    """Return the b/s on each channel where ``senders`` (channels from hosts) send at line rate.

    ``shares`` has, of each channel into a switch, what part of it leaves by which others.
    """
    rate = [0.0] * len(net.channels)
    for at in senders:
        rate[at] = float(net.channels[at].speed_bps)
    order = net.switches
    # Up and then down settles a fabric in tiers; where paths cross, each turn brings all nearer to what they will be.
    for switches in _turns(order):
        changed = [_pass_on(net, shares, rate, switch) for switch in switches]
        if not any(changed):
            return rate
    return rate


def _turns(order: list[str]) -> Iterable[list[str]]:
    yield order
    while True:
        yield order[::-1]


def _pass_on(
    net: ChannelGraph, shares: Mapping[int, Mapping[int, float]], rate: list[float], switch: str
) -> bool:
    """Let what comes in at a switch leave it; return whether that changes anything."""
    leaving = dict.fromkeys(net.out_of[switch], 0.0)
    for at in net.into[switch]:
        if rate[at]:
            for out, share in shares.get(at, {}).items():
                leaving[out] += rate[at] * share
    changed = False
    for out, bps in leaving.items():
        capped_bps, speed_bps = min(bps, float(net.channels[out].speed_bps)), net.channels[out].speed_bps
        changed = changed or abs(capped_bps - rate[out]) > _SAME * speed_bps
        rate[out] = capped_bps
    return changed
