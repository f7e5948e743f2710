"""The placement of GPUs, and the time of a collective on a fabric at line rate.

Where a fabric has several leaves, pods or halves, each GPU, or each of its NICs, is in one of each, with a bandwidth
out of it. One of these, the host links or the domain limits the collective. The assumptions of an estimate are
sentences.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from lossless.analysis.topology.bisection import bisection
from lossless.analysis.workloads.collectives import Demand, bus_factor, demand, egress_bytes
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_capacity
from lossless.model.fabric.cluster import ALGORITHMS
from lossless.model.fabric.model import Tier, known_tier
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.cluster import Algorithm, Collective, Workload
    from lossless.model.fabric.hosts import ManagedFabric
    from lossless.model.fabric.model import Fabric, Link


def assumptions(asked: Workload, algorithm: Algorithm, moved: Demand, where: GpuPlacement) -> Iterator[str]:
    """Yield the assumptions of an estimate as sentences, about the fabric, the traffic, and the computation."""
    yield "every link carries its line rate; packet headers, acknowledgments and pauses take nothing"
    yield "traffic is spread perfectly over parallel links"
    yield "GPUs are numbered in the order of hosts, and a collective follows that order"
    yield from where.assumed
    yield from _of_domains(asked, algorithm, moved, where)
    yield from _of_traffic(asked, moved)
    if asked.compute_ns and asked.overlap:
        yield f"{asked.overlap:.0%} of the communication hides behind the computation, while that lasts"
    elif asked.compute_ns:
        yield "nothing of the communication hides behind the computation (--overlap)"


def _of_domains(asked: Workload, algorithm: Algorithm, moved: Demand, where: GpuPlacement) -> Iterator[str]:
    if moved.inside_bytes and where.inside_bps:
        yield "what goes on inside a domain overlaps with what goes over the fabric"
    if where.stated and where.domain == 1 and where.per_host > 1:
        yield "nothing joins the GPUs of a host but the fabric: the cluster states no nvlink or ualink"
    if algorithm == "pxn":
        yield "what is for another domain is first handed, inside the own one, to the GPU of the same rank"
    elif asked.collective == "all-to-all" and where.domain > 1:
        yield "no GPU hands on what is for another domain (--algorithm pxn does, as NCCL where it can)"


def _of_traffic(asked: Workload, moved: Demand) -> Iterator[str]:
    if not asked.step_ns and moved.steps > 1:
        yield f"the {moved.steps:,} steps take nothing besides their bytes (--step-latency)"
    if asked.collective == "all-to-all":
        yield "every GPU has as much for each other; experts that are asked for more take longer"
    if moved.peers == "outside":
        yield "storage servers and their links are fast enough; what passes uplinks on the way is not counted"
    if moved.peers == "switch":
        yield "every switch on the way reduces at line rate"
    if asked.collective == "storage-write":
        yield "all write to one server at once, whose link is as fast as a host's"
    elif moved.fan_in > 2:
        yield f"fan-in is what may be: all {moved.fan_in:,} send at once, unscheduled"


MOST_GPUS = 1 << 20
"""The most GPUs of a placement, which has each by number: 65,536 hosts with sixteen each."""


class FabricCut(NamedTuple):
    """A cut of the fabric into groups: the group of each GPU, by number, and the bandwidth out of each, one direction.

    Each of several ``lanes`` has the group of one NIC of each GPU: each NIC sends an equal part of the GPU's traffic,
    to the same NIC of others. One lane has one group of each GPU.
    """

    name: str
    lanes: Sequence[Sequence[int]]
    out_bps: Sequence[int]


class GpuPlacement(NamedTuple):
    """GPUs in the order of hosts. ``rate_bps`` is the NIC bandwidth per GPU, one way, of the host with the least.

    ``nic_ports`` is the number of NIC ports per GPU of the host with the fewest; below 1 if several GPUs share one.
    ``stated``: the intent declares how many GPUs a host has. ``cloud``: hosts are machines of a cloud, whose switches
    are unknown.
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
    cloud: bool = False


def placement(fabric: Fabric, gpus: int | None = None) -> GpuPlacement:
    """Return the placement of the first ``gpus`` of a fabric, in the order of its hosts; of all if no number is given.

    Raises:
        ScenarioError: a fabric without hosts, or a request for no GPU, for more than it has, or over ``MOST_GPUS``; of
            machines of a cloud, an unknown type or number.
    """
    if fabric.managed is not None:
        return _on_machines(fabric, fabric.managed, gpus)
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
    _require_countable(count)
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


def _require_countable(gpus: int) -> None:
    if gpus > MOST_GPUS:
        raise ScenarioError(
            f"{gpus:,} GPUs are more than the {MOST_GPUS:,} that are counted one by one; name fewer"
        )


def _on_machines(fabric: Fabric, managed: ManagedFabric, gpus: int | None) -> GpuPlacement:
    """Return the placement of GPUs on machines of a cloud, by their NICs and domains; no network is known beyond them.

    Raises:
        ScenarioError: no machine type or no number of GPUs is declared, or none, more than declared or over
            ``MOST_GPUS`` are requested.
    """
    machine, cluster = managed.machine, fabric.cluster
    if machine is None:
        raise ScenarioError("how fast GPUs send depends on the type of the machines; state machine")
    total = cluster.gpus if cluster is not None else None
    count = total if gpus is None else gpus
    if count is None:
        raise ScenarioError(
            "the intent does not state how many GPUs there are; state cluster.gpus, or --gpus"
        )
    if not 0 < count <= (total or count):
        raise ScenarioError(f"{count:,} GPUs are asked for; the cluster has {total:,}")
    _require_countable(count)
    joined = cluster.scale_up if cluster is not None else None
    domain, inside_bps = (
        (machine.domain_gpus, machine.inside_bps) if joined is None else (joined.domain_gpus, joined.rate_bps)
    )
    each, together = format_capacity(machine.nic_bps), format_capacity(machine.rate_bps)
    assumed = [
        f"{machine.name}: {machine.gpus} {machine.gpu}, {machine.nics} NICs of {each} for them, {together} "
        f"one way; {machine.source}",
        "the provider's network carries all that these NICs send: its capacity is unknown",
    ]
    if inside_bps is None:
        assumed.append(f"what joins {machine.gpu} in a machine takes no time: its rate one way is unknown")
    return GpuPlacement(
        gpus=count,
        per_host=machine.gpus,
        hosts=-(-count // machine.gpus),
        rate_bps=machine.rate_bps / machine.gpus,
        nic_ports=machine.nics / machine.gpus,
        domain=min(domain, count),
        inside_bps=inside_bps,
        tiers=(),
        assumed=tuple(assumed),
        cloud=True,
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
    """Return the lanes, each with the leaf of every GPU, and whether every GPU has all its NIC ports on one leaf.

    If not, and all GPUs have equally many ports of one rate, there is a lane for each GPU's first port, one for each
    second, and so on; otherwise one lane, of first ports.
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

    The links are in the order of planes: those at the same index of two GPUs with links in the same planes match.
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
    """Return the groups of GPUs that switches up to a tier join, and the bandwidth up from each; None for one group."""
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
    across = bisection(fabric.links, fabric.cut_orders)
    if across is None:
        return ()
    half_of = (int(host not in across.near) for host in hosts for _ in range(per_host))
    return (FabricCut("half", [list(islice(half_of, gpus))], [across.bps, across.bps]),)


class EstimatePart(NamedTuple):
    """One part of the path (domain, host links, leaf, pod, half): the bytes of its slowest group, its rate and time."""

    name: str
    size_bytes: int
    rate_bps: float
    time_ns: float


class Incast(NamedTuple):
    """The incast that may occur at one NIC port: the number of senders, and the bytes of each."""

    senders: int
    size_bytes: int

    def __str__(self) -> str:
        """Return the incast as options of ``lossless simulate``."""
        return f"--workload incast --nics {self.senders + 1} --size '{self.size_bytes} B'"


class Estimate(NamedTuple):
    """The estimated time of a collective on a fabric. ``parts`` have the time of each part; the slowest is ``limit``.

    ``time_ns`` is that of the slowest part plus the overhead of steps, ``apart_ns`` that of the part inside domains and
    the slowest outside one after the other, ``step_time_ns`` with the computation, None without one.
    """

    workload: Workload
    algorithm: Algorithm
    placement: GpuPlacement
    demand: Demand
    parts: tuple[EstimatePart, ...]
    limit: str
    time_ns: float
    apart_ns: float
    step_time_ns: float | None
    incast: Incast | None
    assumed: tuple[str, ...]

    @property
    def algorithm_bps(self) -> float | None:
        """Size over time in b/s, as nccl-tests defines it; None for a collective without a bus factor, or zero time."""
        known = bus_factor(self.workload.collective, self.placement.gpus) is not None and self.time_ns > 0
        return self.workload.size_bytes * 8e9 / self.time_ns if known else None

    @property
    def bus_bps(self) -> float | None:
        """Algorithm bandwidth times the bus factor, in b/s, comparable with a link's rate, or None without either."""
        factor = bus_factor(self.workload.collective, self.placement.gpus)
        return None if self.algorithm_bps is None or factor is None else self.algorithm_bps * float(factor)


def estimate(fabric: Fabric, asked: Workload) -> Estimate:
    """Return the demand of a workload on a fabric, and its time.

    Raises:
        ScenarioError: no placement of these GPUs (:func:`placement`), a part of a domain, GPUs that no links join,
            or storage that has a network of its own.
        QuantityError: an algorithm that the collective does not have.
    """
    _require_storage(fabric, asked)
    where = placement(fabric, asked.gpus)
    if where.gpus % where.domain:
        raise ScenarioError(
            f"{where.gpus:,} GPUs are no whole number of domains of {where.domain}; ask for a multiple of it"
        )
    algorithm = asked.algorithm or _usual(asked.collective, where)
    moved = demand(
        asked.collective, algorithm, asked.size_bytes, where.gpus, where.domain,
        sources=asked.sources, microbatches=asked.microbatches,
    )  # fmt: skip
    parts = tuple(_parts(algorithm, moved, where))
    besides_ns = moved.steps * asked.step_ns
    slowest = max(parts, key=lambda part: part.time_ns, default=EstimatePart("nothing", 0, 0, 0))
    inside_ns = sum(part.time_ns for part in parts if part.name == "domain")
    outside_ns = max((part.time_ns for part in parts if part.name != "domain"), default=0.0)
    time_ns = slowest.time_ns + besides_ns
    return Estimate(
        asked, algorithm, where, moved, parts, slowest.name, time_ns, inside_ns + outside_ns + besides_ns,
        _step(asked, time_ns), _incast(asked, moved, where), tuple(assumptions(asked, algorithm, moved, where)),
    )  # fmt: skip


def _require_storage(fabric: Fabric, asked: Workload) -> None:
    if asked.collective not in ("storage-read", "storage-write"):
        return
    apart = next(
        (network for network in fabric.networks if network.carries_storage and network.separate), None
    )
    if apart is not None:
        raise ScenarioError(
            f"networks.{apart.name} is separate: nothing of a {asked.collective} passes this fabric"
        )


def _usual(collective: Collective, where: GpuPlacement) -> Algorithm:
    algorithms = ALGORITHMS[collective]
    return "hierarchical" if where.domain > 1 and "hierarchical" in algorithms else algorithms[0]


def _parts(algorithm: Algorithm, moved: Demand, where: GpuPlacement) -> list[EstimatePart]:
    parts = []
    if moved.inside_bytes and where.inside_bps:
        parts.append(_part("domain", moved.inside_bytes, where.inside_bps))
    if moved.busiest_bytes:
        parts.append(_part("host links", moved.busiest_bytes, where.rate_bps))
    for tier in where.tiers:
        left: dict[int, Fraction] = {}
        for lane in tier.lanes:
            for group, size in egress_bytes(moved, lane, where.domain).items():
                left[group] = left.get(group, Fraction(0)) + size / len(tier.lanes)
        if not all(tier.out_bps[group] for group in left):
            raise ScenarioError(_no_way(algorithm, moved, where))
        group_parts = [_part(tier.name, size, tier.out_bps[group]) for group, size in left.items()]
        parts += [max(group_parts, key=lambda part: part.time_ns)] if group_parts else []
    return parts


def _part(name: str, size_bytes: Fraction, rate_bps: float) -> EstimatePart:
    return EstimatePart(name, round(size_bytes), rate_bps, float(size_bytes) * 8e9 / rate_bps)


def _no_way(algorithm: Algorithm, moved: Demand, where: GpuPlacement) -> str:
    reason = "no links lead from some of these GPUs to others that they send to"
    if moved.peers == "all" and where.domain > 1 and algorithm != "pxn":
        return f"{reason}; on rails without spines --algorithm pxn hands on inside domains first"
    return reason


def _step(asked: Workload, time_ns: float) -> float | None:
    """Return the time of a training step: the computation and the communication beside it; None without computation."""
    if not asked.compute_ns:
        return None
    return asked.compute_ns + time_ns - min(asked.overlap * time_ns, asked.compute_ns)


def _incast(asked: Workload, moved: Demand, where: GpuPlacement) -> Incast | None:
    """Return the incast at one NIC port, None if fewer than two senders converge there, or on a cloud."""
    if where.cloud:
        return None
    # Senders of the model are NIC ports: where several GPUs share one they are one, as are those it leads to.
    shared = 1.0 if asked.collective == "storage-read" else min(1.0, where.nic_ports)
    senders = round(moved.fan_in * shared)
    if senders < 2:
        return None
    into = 1.0 if asked.collective == "storage-write" else where.nic_ports
    return Incast(senders, max(1, round(moved.message_bytes * moved.fan_in / into / senders)))
