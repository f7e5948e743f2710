"""A fabric as one-way channels between hosts and switches in tiers, and how traffic is shared over them.

Traffic goes up and then down, by any of the shortest ways alike: what comes from below a switch goes to where its
destination is below another of its links, else up; what comes from above goes down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import ScenarioError
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.fabric.model import Fabric, Link

RANKS = {"leaf": 1, "spine": 2, "super-spine": 3}
"""Tiers, hosts below all of them."""


class Channel(NamedTuple):
    """One direction of a link, from a port of one node to a port of another; ``cable`` is the link's number."""

    source: str
    source_port: str
    target: str
    target_port: str
    speed_bps: int
    cable: int


class Tiers(NamedTuple):
    """The channels of a fabric, those into and out of every node, and the rank of each; hosts have 0.

    ``below`` has the leaves below each switch; switches with the same share one set.
    """

    channels: tuple[Channel, ...]
    into: dict[str, list[int]]
    out_of: dict[str, list[int]]
    rank: dict[str, int]
    below: dict[str, frozenset[str]]

    def is_up(self, channel: int) -> bool:
        """Whether a channel leads to a higher tier."""
        found = self.channels[channel]
        return self.rank[found.source] < self.rank[found.target]

    def is_down(self, channel: int) -> bool:
        """Whether a channel leads to a lower tier."""
        found = self.channels[channel]
        return self.rank[found.source] > self.rank[found.target]

    @property
    def switches(self) -> list[str]:
        """All switches, the lowest first."""
        return sorted((node for node, rank in self.rank.items() if rank), key=self.rank.__getitem__)


def tiers(fabric: Fabric) -> Tiers:
    """Return a fabric as channels.

    Raises:
        ScenarioError: a switch that stands in no tier, has several ASICs, or reaches some leaves neither up nor down.
    """
    several = next((switch.device for switch in fabric.switches if switch.asic), None)
    if several is not None:
        raise ScenarioError(f"{several} has several ASICs; what passes between them is not known")
    rank = {switch.name: RANKS.get(switch.role or "", 0) for switch in fabric.switches}
    without = next((name for name, found in rank.items() if not found), None)
    if without is not None:
        raise ScenarioError(
            f"{without} stands in no tier; the spread is computed for leaves, spines and super-spines"
        )
    rank.update({host.name: 0 for host in fabric.hosts})
    channels: list[Channel] = []
    for number, link in enumerate(fabric.links):
        channels += _both(link, number)
    into: dict[str, list[int]] = {node: [] for node in rank}
    out_of: dict[str, list[int]] = {node: [] for node in rank}
    for at, channel in enumerate(channels):
        out_of[channel.source].append(at)
        into[channel.target].append(at)
    found = Tiers(tuple(channels), into, out_of, rank, {})
    found.below.update(_below(found))
    _require_ways(found)
    return found


def _require_ways(found: Tiers) -> None:
    leaves = {node for node, rank in found.rank.items() if rank == 1}
    for switch in found.switches:
        missing = leaves - found.below[switch]
        if missing and not any(map(found.is_up, found.out_of[switch])):
            far = min(missing)
            raise ScenarioError(
                f"{switch} has no link up, and {far} is not below it: the spread needs a way up and down"
            )


def _both(link: Link, number: int) -> tuple[Channel, Channel]:
    return (
        Channel(link.a, link.a_port, link.b, link.b_port, link.speed_bps, number),
        Channel(link.b, link.b_port, link.a, link.a_port, link.speed_bps, number),
    )


def _below(found: Tiers) -> Mapping[str, frozenset[str]]:
    known: dict[frozenset[str], frozenset[str]] = {}
    below: dict[str, frozenset[str]] = {}
    for switch in found.switches:
        if found.rank[switch] == 1:
            leaves = frozenset((switch,))
        else:
            lower = {found.channels[at].target for at in found.out_of[switch] if found.is_down(at)}
            sets = {below[node] for node in lower if node in below}
            leaves = frozenset().union(*sets)
        below[switch] = known.setdefault(leaves, leaves)
    return below


class Shares:
    """How much of what comes in by one channel of a switch leaves by another, by how much each host is sent.

    ``weights`` has the weight of each channel into a host; what is not in it is sent nothing.
    """

    def __init__(self, found: Tiers, weights: Mapping[int, float]) -> None:
        self._tiers = found
        self._leaf = dict.fromkeys((s for s, rank in found.rank.items() if rank == 1), 0.0)
        for channel, weight in weights.items():
            self._leaf[found.channels[channel].source] += weight
        self._total = sum(self._leaf.values())
        self._sums: dict[frozenset[str], float] = {}
        self._out = {switch: self._outgoing(switch, weights) for switch in found.switches}

    def _outgoing(
        self, switch: str, weights: Mapping[int, float]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return what leads down and up, each with its weight."""
        found, down, up = self._tiers, dict[int, float](), []
        groups: dict[frozenset[str], list[int]] = {}
        for at in found.out_of[switch]:
            target = found.channels[at].target
            if not found.rank[target]:
                down[at] = weights.get(at, 0.0)
            elif found.is_down(at):
                groups.setdefault(found.below[target], []).append(at)
            elif found.is_up(at):
                up.append(at)
        for leaves, channels in groups.items():
            down.update(dict.fromkeys(channels, self._sum(leaves) / len(channels)))
        beyond = max(0.0, self._total - self._sum(found.below[switch]))
        return down, dict.fromkeys(up, beyond / len(up)) if up else {}

    def _sum(self, leaves: frozenset[str]) -> float:
        if leaves not in self._sums:
            self._sums[leaves] = sum(self._leaf[leaf] for leaf in leaves)
        return self._sums[leaves]

    def of(self, came: int) -> dict[int, float]:
        """Return the channels that traffic from channel ``came`` leaves its switch by, with shares that add up to 1.

        Empty where nothing of it goes on.
        """
        found = self._tiers
        channel = found.channels[came]
        down, up = self._out[channel.target]
        if found.is_down(came):
            allowed = down
        else:
            allowed = {at: weight for at, weight in (down | up).items() if not self._back(channel, at)}
        total = sum(allowed.values())
        return {at: weight / total for at, weight in allowed.items() if weight} if total else {}

    def _back(self, came: Channel, out: int) -> bool:
        """Return whether a channel leads to where traffic came from: its host, or the leaves it came up from."""
        found, goes = self._tiers, self._tiers.channels[out]
        if not found.rank[came.source] or not found.rank[goes.target]:
            return came.source == goes.target
        return found.is_down(out) and found.below[came.source] == found.below[goes.target]


def rates(found: Tiers, shares: Mapping[int, Mapping[int, float]], senders: Iterable[int]) -> list[float]:
    """Return the b/s on each channel where ``senders`` (channels from hosts) send at line rate, no link beyond its own.

    ``shares`` has :meth:`Shares.of` for each channel into a switch.
    """
    rate = [0.0] * len(found.channels)
    for at in senders:
        rate[at] = float(found.channels[at].speed_bps)
    upward = found.switches
    for switch in upward:
        _pass_on(found, shares, rate, [at for at in found.into[switch] if found.is_up(at)], up=True)
    for switch in reversed(upward):
        _pass_on(found, shares, rate, found.into[switch], up=False)
    return rate


def _pass_on(
    found: Tiers,
    shares: Mapping[int, Mapping[int, float]],
    rate: list[float],
    came: Sequence[int],
    *,
    up: bool,
) -> None:
    leaving: dict[int, float] = {}
    for at in came:
        for out, share in shares.get(at, {}).items():
            if found.is_up(out) == up and rate[at]:
                leaving[out] = leaving.get(out, 0.0) + rate[at] * share
    for out, bps in leaving.items():
        rate[out] = min(bps, float(found.channels[out].speed_bps))
