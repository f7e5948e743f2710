"""The placement of GPUs: the leaf, pod and half of the fabric of each, and the bandwidth out of each group."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import bisection
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import Tier, known_tier
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.model import Fabric, Link

MOST_GPUS = 1 << 20
"""GPUs that are placed one by one: 65,536 hosts with sixteen each."""


class FabricCut(NamedTuple):
    """A cut of the fabric into groups: the group of each GPU, by number, and the bandwidth out of each, one direction.

    There are several ``lanes`` if a GPU has NICs in several groups: each NIC sends an equal part of the GPU's traffic,
    to the same NIC of others, and each lane has the group of one NIC of each GPU.
    """

    name: str
    lanes: Sequence[Sequence[int]]
    out_bps: Sequence[int]


class GpuPlacement(NamedTuple):
    """GPUs in the order of hosts. ``rate_bps`` is the rate of the slowest on the fabric, one way.

    ``nic_ports`` is how many NIC ports each has; below 1 if several share one. ``stated``: the intent declares how many
    GPUs a host has.
    """

    gpus: int
    per_host: int
    hosts: int
    rate_bps: float
    nic_ports: float
    domain: int
    inside_bps: int | None
    tiers: tuple[FabricCut, ...]
    assumed: tuple[str, ...]
    stated: bool = True


def placement(fabric: Fabric, gpus: int | None = None) -> GpuPlacement:
    """Return the placement of the first ``gpus`` of a fabric, in the order of its hosts; of all if no number is given.

    Raises:
        ScenarioError: a fabric without hosts, or fewer GPUs than requested.
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
    lanes, same_leaf = _leaves(list(islice(_ports(fabric, per_host), count)))
    if len(lanes) > 1:
        assumed += (
            f"a GPU sends an equal part over each of its {len(lanes)} NICs, to the same NIC of others",
        )
    elif not same_leaf:
        assumed += ("a GPU with NICs on several leaves counts on the first of them",)
    return GpuPlacement(
        gpus=count,
        per_host=per_host,
        hosts=-(-count // per_host),
        rate_bps=min(sum(link.speed_bps for link in own) for own in links.values()) / per_host,
        nic_ports=fewest / per_host,
        domain=domain,
        inside_bps=inside_bps,
        tiers=_tiers(fabric, lanes, links, per_host),
        assumed=assumed,
        stated=fabric.cluster is not None,
    )


def _host_links(fabric: Fabric) -> dict[str, list[Link]]:
    by_host: dict[str, list[Link]] = {}
    for link in fabric.links:
        if link.to_host:
            by_host.setdefault(link.b, []).append(link)
    return by_host


def _domain(fabric: Fabric, gpus: int) -> tuple[int, int | None]:
    joined = fabric.cluster.scale_up if fabric.cluster else None
    if joined is None:
        return 1, None
    return min(joined.domain_gpus, gpus), joined.rate_bps


def _leaves(links_of_gpu: Sequence[Sequence[Link]]) -> tuple[tuple[list[str], ...], bool]:
    """Return the switch of each GPU, and whether each has all its NIC ports on one.

    Where not, and all have as many ports of one rate, it is the switch of each first port, of each second, and so on.
    """
    if all(len({link.a for link in own}) == 1 for own in links_of_gpu):
        return ([own[0].a for own in links_of_gpu],), True
    if (
        len({len(own) for own in links_of_gpu}) > 1
        or len({link.speed_bps for own in links_of_gpu for link in own}) > 1
    ):
        return ([own[0].a for own in links_of_gpu],), False
    return tuple([own[lane].a for own in links_of_gpu] for lane in range(len(links_of_gpu[0]))), False


def _ports(fabric: Fabric, per_host: int) -> Iterator[Sequence[Link]]:
    """Yield the links of each GPU: its share of those of its host, or the one that it shares with others.

    They are in the order of planes, so that the same place in two GPUs is the same plane.
    """
    plane_of = View(fabric).plane_of
    for own in _host_links(fabric).values():
        for gpu in range(per_host):
            first, end = gpu * len(own) // per_host, -(-(gpu + 1) * len(own) // per_host)
            yield sorted(own[first : max(first + 1, end)], key=lambda link: plane_of[link.a])


def nic_ports(fabric: Fabric, where: GpuPlacement) -> list[tuple[str, ...]]:
    """Return the NIC ports of each GPU that takes part, each as ``host1:port1``."""
    owned = islice(_ports(fabric, where.per_host), where.gpus)
    return [tuple(f"{link.b}:{link.b_port}" for link in own) for own in owned]


def _tiers(
    fabric: Fabric, lanes: Sequence[Sequence[str]], hosts: Iterable[str], per_host: int
) -> tuple[FabricCut, ...]:
    tiers = {switch.name: int(known_tier(switch.tier) or 0) for switch in fabric.switches}
    between = [link for link in fabric.links if not link.to_host]
    cuts = [
        _below(between, tiers, lanes, Tier.LEAF, "leaf"),
        _below(between, tiers, lanes, Tier.SPINE, "pod"),
    ]
    halves = _halves(fabric, hosts, per_host, len(lanes[0]))
    return (*(cut for cut in cuts if cut is not None), *halves)


def _below(
    between: Sequence[Link], tiers: Mapping[str, int], lanes: Sequence[Sequence[str]], tier: Tier, name: str
) -> FabricCut | None:
    """Return the groups that switches up to a tier join, and the bandwidth up from each; None if all is one group."""
    joined = {switch: switch for switch in tiers}

    def root(switch: str) -> str:
        while joined[switch] != switch:
            joined[switch] = switch = joined[joined[switch]]
        return switch

    for link in between:
        if max(tiers[link.a], tiers[link.b]) <= tier:
            joined[root(link.a)] = root(link.b)
    out: Counter[str] = Counter()
    for link in between:
        low, high = sorted((link.a, link.b), key=tiers.__getitem__)
        if 0 < tiers[low] <= tier < tiers[high]:
            out[root(low)] += link.speed_bps
    leaves = dict.fromkeys(leaf for lane in lanes for leaf in lane)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(map(root, leaves)))}
    if len(numbers) < 2:
        return None
    number_of = {leaf: numbers[root(leaf)] for leaf in leaves}
    return FabricCut(name, [[number_of[leaf] for leaf in lane] for lane in lanes], [out[g] for g in numbers])


def _halves(fabric: Fabric, hosts: Iterable[str], per_host: int, gpus: int) -> tuple[FabricCut, ...]:
    across = bisection(fabric.links)
    if across is None:
        return ()
    half_of = (int(host not in across.near) for host in hosts for _ in range(per_host))
    return (FabricCut("half", [list(islice(half_of, gpus))], [across.bps, across.bps]),)
