"""Capacity of a fabric: by tier, complete and with failures; across its bisection; and for each GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import Bisection, bisection
from lossless.analysis.topology.failures import left_without_links, left_without_switches, ratio
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.model import Capacity, Fabric


class TierCapacity(NamedTuple):
    """One kind of leaf or spine: bandwidth below and above it, one way, complete and in the worst case of failures."""

    tier: Tier
    switches: tuple[str, ...]
    down_bps: int
    up_bps: int
    without_links_bps: int
    without_switches_bps: int


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
    """The capacity of a fabric; ``links`` and ``switches`` count the failures of the worst cases, beside ``gone``."""

    links: int
    switches: int
    gone: tuple[str, ...]
    tiers: tuple[TierCapacity, ...]
    bisection: Bisection | None
    per_gpu: GpuBandwidth | None

    def to_data(self) -> dict[str, Json]:
        """Return the capacity as plain data, with computed ratios."""
        return {
            "failed": {"links": self.links, "switches": self.switches, "out_of_service": list(self.gone)},
            "tiers": [_tier_data(line) for line in self.tiers],
            "bisection": None if self.bisection is None else _halves_data(self.bisection),
            "per_gpu": None if self.per_gpu is None else dict(self.per_gpu._asdict()),
        }


def fabric_capacity(fabric: Fabric) -> FabricCapacity:
    """Return the capacity of a fabric, complete and with the failures that its intent tolerates."""
    failures = fabric.failures
    links, switches, gone = (failures.links, failures.switches, failures.gone) if failures else (0, 0, ())
    tiers = tuple(_of_identical(_tier(capacity, links, switches) for capacity in fabric.capacities))
    across = bisection(fabric.links)
    return FabricCapacity(links, switches, gone, tiers, across, _per_gpu(fabric, across))


def _tier(capacity: Capacity, links: int, switches: int) -> TierCapacity:
    return TierCapacity(
        capacity.tier,
        capacity.leaves,
        capacity.down_bps,
        capacity.up_bps,
        left_without_links(capacity, links),
        left_without_switches(capacity, switches),
    )


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


def _tier_data(line: TierCapacity) -> dict[str, Json]:
    left = {"links": line.without_links_bps, "switches": line.without_switches_bps}
    return {
        "role": line.tier.word,
        "switches": list(line.switches),
        "down_bps": line.down_bps,
        "up_bps": line.up_bps,
        "ratio": round(ratio(line.down_bps, line.up_bps), 3),
        # A ratio over nothing has no number in JSON.
        "after": {
            what: {"up_bps": bps, "ratio": round(ratio(line.down_bps, bps), 3) if bps else None}
            for what, bps in left.items()
        },
    }


def _halves_data(across: Bisection) -> dict[str, Json]:
    data: dict[str, Json] = {"one_way_bps": across.bps, "host_bps": across.host_bps, "least": across.least}
    return {**data, "a": list(across.a), "b": list(across.b)}
