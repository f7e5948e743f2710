"""How long a collective takes on a fabric at line rate, and which part of the fabric says so."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.errors import ScenarioError
from lossless.records import NamedTuple
from lossless.workloads.collectives import ALGORITHMS, Algorithm, Collective, Demand, demand
from lossless.workloads.crossing import leaving
from lossless.workloads.placement import Placement, placement

if TYPE_CHECKING:
    from lossless.fabric.model import Fabric
    from lossless.findings import Json


class Workload(NamedTuple):
    """What is asked. ``algorithm`` None: the usual one of the collective. ``gpus`` None: all.

    ``sources`` is how many storage servers each GPU reads from, ``microbatches`` how often a pipeline hands on.
    ``compute_ns`` is what a step computes, ``overlap`` how much of the communication that hides, 0 to 1.
    ``step_ns`` is what each step of a collective takes besides its bytes.
    """

    collective: Collective = "all-reduce"
    size_bytes: int = 1 << 30
    algorithm: Algorithm | None = None
    gpus: int | None = None
    sources: int = 1
    microbatches: int = 1
    compute_ns: int = 0
    overlap: float = 0.0
    step_ns: int = 0


class Part(NamedTuple):
    """One part of the way: the bytes that the busiest of it moves, its rate, and the time that takes."""

    name: str
    size_bytes: int
    rate_bps: float
    time_ns: float


class Estimate(NamedTuple):
    """The answer. ``parts`` take as long as they say, each alone; the slowest is ``limit``.

    ``time_ns`` is that of the slowest part and what steps take besides, ``apart_ns`` that of the part inside domains
    and the slowest outside one after the other, ``step_time_ns`` with the computation, None without one.
    """

    workload: Workload
    algorithm: Algorithm
    placement: Placement
    demand: Demand
    parts: tuple[Part, ...]
    limit: str
    time_ns: float
    apart_ns: float
    step_time_ns: float | None
    incast: str | None
    assumed: tuple[str, ...]

    def to_data(self) -> dict[str, Json]:
        """Return it as plain data."""
        asked, where, moved = self.workload, self.placement, self.demand
        return {
            "collective": asked.collective,
            "algorithm": self.algorithm,
            "size_bytes": asked.size_bytes,
            "gpus": where.gpus,
            "gpus_per_host": where.per_host,
            "domain_gpus": where.domain,
            "per_gpu": {
                "inside_bytes": round(moved.inside_bytes),
                "fabric_bytes": round(moved.fabric_bytes),
                "busiest_bytes": round(moved.busiest_bytes),
            },
            "steps": moved.steps,
            "parts": [dict(part._asdict()) for part in self.parts],
            "limit": self.limit,
            "time_ns": round(self.time_ns),
            "apart_ns": round(self.apart_ns),
            "step_time_ns": None if self.step_time_ns is None else round(self.step_time_ns),
            "fan_in": moved.fan_in,
            "message_bytes": round(moved.message_bytes),
            "incast": self.incast,
            "assumed": list(self.assumed),
        }


def estimate(fabric: Fabric, asked: Workload) -> Estimate:
    """Return what a workload puts on a fabric, and how long that takes.

    Raises:
        ScenarioError: a fabric without hosts, fewer GPUs than are asked for, or a part of a domain.
        QuantityError: an algorithm that the collective has not.
    """
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
    parts = tuple(_parts(moved, where))
    besides_ns = moved.steps * asked.step_ns
    slowest = max(parts, key=lambda part: part.time_ns, default=Part("nothing", 0, 0, 0))
    inside_ns = sum(part.time_ns for part in parts if part.name == "domain")
    outside_ns = max((part.time_ns for part in parts if part.name != "domain"), default=0.0)
    time_ns = slowest.time_ns + besides_ns
    return Estimate(
        asked, algorithm, where, moved, parts, slowest.name, time_ns, inside_ns + outside_ns + besides_ns,
        _step(asked, time_ns), _incast(moved, where), tuple(_assumed(asked, moved, where)),
    )  # fmt: skip


def _usual(collective: Collective, where: Placement) -> Algorithm:
    algorithms = ALGORITHMS[collective]
    return "hierarchical" if where.domain > 1 and "hierarchical" in algorithms else algorithms[0]


def _parts(moved: Demand, where: Placement) -> list[Part]:
    found = []
    if moved.inside_bytes and where.inside_bps:
        found.append(_part("domain", moved.inside_bytes, where.inside_bps))
    if moved.busiest_bytes:
        found.append(_part("host links", moved.busiest_bytes, where.rate_bps))
    for tier in where.tiers:
        left = leaving(moved, tier.group_of, where.domain)
        parts = [_part(tier.name, size, tier.out_bps[group]) for group, size in left.items()]
        found += [max(parts, key=lambda part: part.time_ns)] if parts else []
    return found


def _part(name: str, size_bytes: Fraction, rate_bps: float) -> Part:
    time_ns = float(size_bytes) * 8e9 / rate_bps if rate_bps else float("inf")
    return Part(name, round(size_bytes), rate_bps, time_ns)


def _step(asked: Workload, time_ns: float) -> float | None:
    """Return the time of a step: what is computed, and what of the communication that does not hide."""
    if not asked.compute_ns:
        return None
    return asked.compute_ns + time_ns - min(asked.overlap * time_ns, asked.compute_ns)


def _incast(moved: Demand, where: Placement) -> str | None:
    """Return the options of ``lossless simulate`` that ask for what meets at one NIC port, None where nothing does."""
    # Senders of the model are NIC ports: where several GPUs share one they are one, as are those it leads to.
    shared = 1.0 if moved.peers == "outside" else min(1.0, where.nic_ports)
    senders = round(moved.fan_in * shared)
    if senders < 2:
        return None
    size_bytes = max(1, round(moved.message_bytes * moved.fan_in / where.nic_ports / senders))
    return f"--workload incast --nics {senders + 1} --size '{size_bytes} B'"


def _assumed(asked: Workload, moved: Demand, where: Placement) -> list[str]:
    found = [
        "every link carries its line rate; packet headers, acknowledgements and pauses take nothing",
        "traffic is spread perfectly over parallel links",
        "GPUs are numbered in the order of hosts, and a collective follows that order",
        *where.assumed,
    ]
    if moved.inside_bytes and where.inside_bps:
        found.append("what goes on inside a domain overlaps with what goes over the fabric")
    if where.domain == 1 and where.per_host > 1:
        found.append(
            "nothing joins the GPUs of a host but the fabric: the cluster states no nvlink or ualink"
        )
    if not asked.step_ns and moved.steps > 1:
        found.append(f"the {moved.steps:,} steps take nothing besides their bytes (--step-latency)")
    if moved.peers == "outside":
        found.append(
            "storage servers and their links are fast enough; what leads to the leaves is not counted"
        )
    if moved.peers == "switch":
        found.append("every switch on the way reduces at line rate")
    if moved.fan_in > 2:
        found.append(f"fan-in is what may be: all {moved.fan_in:,} send at once, unscheduled")
    if asked.compute_ns and asked.overlap:
        found.append(
            f"{asked.overlap:.0%} of the communication hides behind the computation, while that lasts"
        )
    elif asked.compute_ns:
        found.append("nothing of the communication hides behind the computation (--overlap)")
    return found
