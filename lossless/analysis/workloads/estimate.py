"""The time of a collective on a fabric at line rate, and the part of the fabric that limits it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.analysis.workloads.assumptions import assumptions
from lossless.analysis.workloads.collectives import Demand, bus_factor, demand
from lossless.analysis.workloads.group_egress import egress_bytes
from lossless.analysis.workloads.placement import GpuPlacement, placement
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.workloads import ALGORITHMS

if TYPE_CHECKING:
    from lossless.analysis.workloads.workload import Workload
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.workloads import Algorithm, Collective


class EstimatePart(NamedTuple):
    """One part of the path: the bytes that its busiest link or group moves, its rate, and the time that takes."""

    name: str
    size_bytes: int
    rate_bps: float
    time_ns: float


class Incast(NamedTuple):
    """The incast that may occur at one NIC port: the number of senders, and the bytes of each."""

    senders: int
    size_bytes: int

    def __str__(self) -> str:
        """Return it as options of ``lossless simulate``."""
        return f"--workload incast --nics {self.senders + 1} --size '{self.size_bytes} B'"


class Estimate(NamedTuple):
    """The estimate. ``parts`` have the time of each part of the fabric alone; the slowest is ``limit``.

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
        """Size over time in b/s, as nccl-tests defines it; None for a collective without this figure."""
        known = bus_factor(self.workload.collective, self.placement.gpus) is not None and self.time_ns > 0
        return self.workload.size_bytes * 8e9 / self.time_ns if known else None

    @property
    def bus_bps(self) -> float | None:
        """Algorithm bandwidth times the bus factor, in b/s: comparable with a link's rate for any number of GPUs."""
        factor = bus_factor(self.workload.collective, self.placement.gpus)
        return None if self.algorithm_bps is None or factor is None else self.algorithm_bps * float(factor)


def estimate(fabric: Fabric, asked: Workload) -> Estimate:
    """Return the demand of a workload on a fabric, and its time.

    Raises:
        ScenarioError: a fabric without hosts, fewer GPUs than requested, a part of a domain, GPUs that nothing
            joins, or storage that has a network of its own.
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
    """Return the time of a step: the computation, and the part of the communication that does not overlap it."""
    if not asked.compute_ns:
        return None
    return asked.compute_ns + time_ns - min(asked.overlap * time_ns, asked.compute_ns)


def _incast(asked: Workload, moved: Demand, where: GpuPlacement) -> Incast | None:
    """Return the incast at one NIC port, None if fewer than two senders converge there."""
    # Senders of the model are NIC ports: where several GPUs share one they are one, as are those it leads to.
    shared = 1.0 if asked.collective == "storage-read" else min(1.0, where.nic_ports)
    senders = round(moved.fan_in * shared)
    if senders < 2:
        return None
    into = 1.0 if asked.collective == "storage-write" else where.nic_ports
    return Incast(senders, max(1, round(moved.message_bytes * moved.fan_in / into / senders)))
