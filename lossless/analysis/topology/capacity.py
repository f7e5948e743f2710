"""Capacity of a fabric: by tier, complete and with failures; across its bisection; and for each GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import bisection
from lossless.analysis.topology.failures import left_without_links, left_without_switches, ratio
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.analysis.topology.bisection import Bisection
    from lossless.model.fabric.model import Capacity, Fabric


class ToleratedFailures(NamedTuple):
    """Links or switches that fail in the worst cases of the tiers, besides those that are out of service."""

    links: int
    switches: int
    out_of_service: tuple[str, ...]


class UplinksLeft(NamedTuple):
    """What is left above a switch, and the oversubscription with it; None where nothing is left."""

    up_bps: int
    ratio: float | None


class AfterFailures(NamedTuple):
    """What is left above a switch at worst, after failures of links or of switches."""

    links: UplinksLeft
    switches: UplinksLeft


class TierCapacity(NamedTuple):
    """One kind of leaf or spine: bandwidth below and above it, one way, complete and in the worst case of failures."""

    role: str
    switches: tuple[str, ...]
    down_bps: int
    up_bps: int
    ratio: float
    after: AfterFailures


class HalvesCapacity(NamedTuple):
    """What crosses from half ``a`` to half ``b``, one way; as :class:`Bisection` has it."""

    one_way_bps: int
    host_bps: int
    least: bool
    a: tuple[str, ...]
    b: tuple[str, ...]


class GpuBandwidth(NamedTuple):
    """The bandwidth of each GPU when all send at once, one way, in b/s; None where the intent lacks the inputs.

    ``inside_bps`` to the GPUs of its domain, ``host_bps`` onto the fabric, ``leaf_bps`` beyond its leaf, for the worst
    of them; ``half_bps`` to the other half of the fabric.
    """

    gpus: int
    domain_gpus: int
    inside_bps: int | None
    host_bps: int
    leaf_bps: int | None
    half_bps: int | None


class FabricCapacity(NamedTuple):
    """What a fabric can carry; ``failed`` is what fails in the worst cases of the tiers."""

    failed: ToleratedFailures
    tiers: tuple[TierCapacity, ...]
    bisection: HalvesCapacity | None
    per_gpu: GpuBandwidth | None


def fabric_capacity(fabric: Fabric) -> FabricCapacity:
    """Return the capacity of a fabric, complete and with the failures that its intent tolerates."""
    failures = fabric.failures
    failed = ToleratedFailures(0, 0, ())
    if failures:
        failed = ToleratedFailures(failures.links, failures.switches, failures.gone)
    tiers = tuple(_of_identical(_tier(capacity, failed) for capacity in fabric.capacities))
    across = bisection(fabric.links)
    halves = across and HalvesCapacity(across.bps, across.host_bps, across.least, across.a, across.b)
    return FabricCapacity(failed, tiers, halves, _per_gpu(fabric, across))


def _tier(capacity: Capacity, failed: ToleratedFailures) -> TierCapacity:
    down_bps, up_bps = capacity.down_bps, capacity.up_bps
    return TierCapacity(
        role=capacity.tier.word,
        switches=capacity.leaves,
        down_bps=down_bps,
        up_bps=up_bps,
        ratio=round(ratio(down_bps, up_bps), 3),
        after=AfterFailures(
            links=_left(down_bps, left_without_links(capacity, failed.links)),
            switches=_left(down_bps, left_without_switches(capacity, failed.switches)),
        ),
    )


def _left(down_bps: int, up_bps: int) -> UplinksLeft:
    # A ratio over nothing has no number in JSON.
    return UplinksLeft(up_bps, round(ratio(down_bps, up_bps), 3) if up_bps else None)


def _of_identical(tiers: Iterable[TierCapacity]) -> Iterator[TierCapacity]:
    """Yield switches with the same figures together, without regard to the origin of their links."""
    for same in grouped((line._replace(switches=()), line) for line in tiers).values():
        yield same[0]._replace(switches=tuple(name for line in same for name in line.switches))


def _per_gpu(fabric: Fabric, across: Bisection | None) -> GpuBandwidth | None:
    cluster = fabric.cluster
    links: dict[str, int] = {}
    for link in fabric.links:
        if link.to_host:
            links[link.b] = links.get(link.b, 0) + link.speed_bps
    if cluster is None or not links:
        return None
    each, joined = cluster.gpus_per_host, cluster.scale_up
    host_bps = min(links.values()) // each
    return GpuBandwidth(
        gpus=len(fabric.hosts) * each,
        domain_gpus=cluster.domain_gpus,
        inside_bps=joined.rate_bps if joined else None,
        host_bps=host_bps,
        leaf_bps=_beyond_leaf(fabric, links, each),
        half_bps=int(host_bps * across.bps / across.host_bps) if across else None,
    )


def _beyond_leaf(fabric: Fabric, links: Mapping[str, int], each: int) -> int | None:
    """Return the bandwidth of the worst GPU beyond its leaf: a share of the uplinks in proportion to its links."""
    share = {
        name: min(1.0, c.up_bps / c.down_bps)
        for c in fabric.capacities
        if c.tier is Tier.LEAF
        for name in c.leaves
    }
    if not share:
        return None
    sent: dict[str, float] = dict.fromkeys(links, 0.0)
    for link in fabric.links:
        if link.to_host:
            sent[link.b] += link.speed_bps * share.get(link.a.partition(":")[0], 0.0)
    return int(min(sent.values()) / each)
