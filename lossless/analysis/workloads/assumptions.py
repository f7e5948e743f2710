"""The assumptions of an estimate, in words: printed below every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.workloads.collectives import Demand
    from lossless.analysis.workloads.placement import GpuPlacement
    from lossless.analysis.workloads.workload import Workload
    from lossless.model.fabric.workloads import Algorithm


def assumptions(asked: Workload, algorithm: Algorithm, moved: Demand, where: GpuPlacement) -> Iterator[str]:
    """Yield the assumptions about the fabric, the traffic, and the computation."""
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
