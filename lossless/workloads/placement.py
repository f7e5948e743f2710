"""Which GPUs hang where: on which leaf, in which pod and which half of the fabric, and what leads out of there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.errors import ScenarioError
from lossless.records import NamedTuple
from lossless.topology.bisection import bisection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.fabric.model import Fabric, Link

_RANKS = {"leaf": 1, "spine": 2, "super-spine": 3}

MOST_GPUS = 1 << 20
"""GPUs that are placed one by one: 65,536 hosts with sixteen each."""


class Tier(NamedTuple):
    """A way to part the fabric: the group of each GPU, by number, and what leads out of each group, one way."""

    name: str
    group_of: Sequence[int]
    out_bps: Sequence[int]


class Placement(NamedTuple):
    """GPUs in the order of hosts. ``rate_bps`` is what the slowest has on the fabric, one way.

    ``nic_ports`` is how many NIC ports each has; below 1 where several share one.
    """

    gpus: int
    per_host: int
    hosts: int
    rate_bps: float
    port_bps: int
    nic_ports: float
    domain: int
    inside_bps: int | None
    tiers: tuple[Tier, ...]
    assumed: tuple[str, ...]


def placement(fabric: Fabric, gpus: int | None = None) -> Placement:
    """Return where the first ``gpus`` of a fabric are, in the order of its hosts; all where no number is given.

    Raises:
        ScenarioError: a fabric without hosts, or fewer GPUs than are asked for.
    """
    links = _host_links(fabric)
    if not links:
        raise ScenarioError("the fabric has no hosts with links; a workload needs GPUs to run on")
    fewest = min(map(len, links.values()))
    per_host = fabric.cluster.gpus_per_host if fabric.cluster else fewest
    assumed: tuple[str, ...] = (
        () if fabric.cluster else ("the intent states no cluster: every host link counts as one GPU",)
    )
    total = per_host * len(links)
    if gpus is not None and not 0 < gpus <= total:
        raise ScenarioError(f"{gpus:,} GPUs are asked for; the fabric has {total:,}")
    count = total if gpus is None else gpus
    if count > MOST_GPUS:
        raise ScenarioError(
            f"{count:,} GPUs are more than the {MOST_GPUS:,} that are counted one by one; name fewer"
        )
    domain, inside_bps = _domain(fabric, count)
    leaf_of, same_leaf = _leaves(links, per_host, count)
    if not same_leaf:
        assumed += ("a GPU with NICs on several leaves counts on the first of them",)
    return Placement(
        gpus=count,
        per_host=per_host,
        hosts=-(-count // per_host),
        rate_bps=min(sum(link.speed_bps for link in own) for own in links.values()) / per_host,
        port_bps=min(link.speed_bps for own in links.values() for link in own),
        nic_ports=fewest / per_host,
        domain=domain,
        inside_bps=inside_bps,
        tiers=_tiers(fabric, leaf_of),
        assumed=assumed,
    )


def _host_links(fabric: Fabric) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    for link in fabric.links:
        if link.to_host:
            found.setdefault(link.b, []).append(link)
    return found


def _domain(fabric: Fabric, gpus: int) -> tuple[int, int | None]:
    joined = fabric.cluster.scale_up if fabric.cluster else None
    if joined is None:
        return 1, None
    return min(joined.domain_gpus, gpus), joined.rate_bps


def _leaves(links: Mapping[str, Sequence[Link]], per_host: int, gpus: int) -> tuple[list[str], bool]:
    """Return the switch of each GPU, and whether each has all its NIC ports on one."""
    found: list[str] = []
    same = True
    for own in links.values():
        for gpu in range(per_host):
            first, last = gpu * len(own) // per_host, max(0, -(-(gpu + 1) * len(own) // per_host) - 1)
            found.append(own[first].a)
            same = same and len({link.a for link in own[first : last + 1]}) == 1
        if len(found) >= gpus:
            break
    return found[:gpus], same


def _tiers(fabric: Fabric, leaf_of: Sequence[str]) -> tuple[Tier, ...]:
    ranks = {switch.name: _RANKS.get(switch.role or "", 0) for switch in fabric.switches}
    between = [link for link in fabric.links if not link.to_host]
    found = [_below(between, ranks, leaf_of, rank, name) for rank, name in ((1, "leaf"), (2, "pod"))]
    return (*(tier for tier in found if tier is not None), *_halves(fabric, leaf_of))


def _below(
    between: Sequence[Link], ranks: Mapping[str, int], leaf_of: Sequence[str], rank: int, name: str
) -> Tier | None:
    """Return what is joined by switches up to a rank, and what leads up from there; None where nothing does."""
    joined = {switch: switch for switch in ranks}

    def root(switch: str) -> str:
        while joined[switch] != switch:
            joined[switch] = switch = joined[joined[switch]]
        return switch

    for link in between:
        if max(ranks[link.a], ranks[link.b]) <= rank:
            joined[root(link.a)] = root(link.b)
    out: Counter[str] = Counter()
    for link in between:
        low, high = sorted((link.a, link.b), key=ranks.__getitem__)
        if 0 < ranks[low] <= rank < ranks[high]:
            out[root(low)] += link.speed_bps
    if not out:
        return None
    numbers = {group: number for number, group in enumerate(dict.fromkeys(map(root, leaf_of)))}
    return Tier(name, [numbers[root(leaf)] for leaf in leaf_of], [out[group] for group in numbers])


def _halves(fabric: Fabric, leaf_of: Sequence[str]) -> tuple[Tier, ...]:
    across = bisection(fabric.links)
    if across is None:
        return ()
    near = frozenset(across.a)
    return (Tier("half", [int(leaf not in near) for leaf in leaf_of], [across.bps, across.bps]),)
