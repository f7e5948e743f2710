"""The verdict on buffers for a collective: its own traffic, and its worst fan-in, run by the packet-level model.

The input of the model is traffic between NIC ports, all at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, BufferVerdict, FabricVerdict, fabric_verdict
from lossless.analysis.simulation.question.lossy import simulated_classes
from lossless.analysis.simulation.question.request import NamedTransfer, Question
from lossless.analysis.simulation.study.answer import answer
from lossless.analysis.workloads.collectives import domain_edges
from lossless.analysis.workloads.placement import nic_ports
from lossless.ground.basics.errors import TooLargeError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.buffers.verdict import PfcLoad
    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.analysis.workloads.collectives import Demand
    from lossless.analysis.workloads.placement import Estimate
    from lossless.ground.basics.findings import MissingInput
    from lossless.model.fabric.cluster import RailTraffic
    from lossless.model.fabric.view import View


PortTraffic = dict[tuple[str, str], Fraction]
"""Bytes from each NIC port to each other."""


def port_traffic(demand: Demand, ports: Sequence[Sequence[str]], domain: int) -> PortTraffic:
    """Return the bytes that NIC ports send to each other; ``ports`` are those of each GPU.

    A GPU sends evenly over its ports, to the port of the other at the same index. Traffic between two GPUs that share a
    port stays off the wire. Traffic with storage, or for a switch that reduces, is left out.
    """
    traffic: PortTraffic = {}
    for source, target, size in _pairs(demand, len(ports), domain):
        near, far = ports[source], ports[target]
        for at, port in enumerate(near):
            pair = port, far[at % len(far)]
            traffic[pair] = traffic.get(pair, Fraction(0)) + size / len(near)
    return {pair: size for pair, size in traffic.items() if pair[0] != pair[1]}


def scaled(
    traffic: Mapping[tuple[str, str], Fraction], most_bytes: int
) -> tuple[dict[tuple[str, str], int], float]:
    """Return traffic scaled down so that no port sends more than about ``most_bytes``, and the scale factor, at most 1.

    Sizes are whole bytes, at least one.
    """
    by_port: dict[str, Fraction] = {}
    for (source, _), size in traffic.items():
        by_port[source] = by_port.get(source, Fraction(0)) + size
    part = min(Fraction(1), Fraction(most_bytes) / max(by_port.values(), default=Fraction(1)))
    return {pair: max(1, round(size * part)) for pair, size in traffic.items()}, float(part)


def _pairs(demand: Demand, gpus: int, domain: int) -> Iterator[tuple[int, int, Fraction]]:
    """Yield source GPU, destination GPU and bytes of each transfer between GPUs over the fabric."""
    if demand.peers == "all":
        each = demand.fabric_bytes / (gpus - domain)
        pairs = _everyone(gpus)
        yield from ((a, b, each) for a, b in pairs if a // domain != b // domain)
        return
    for source, target, size in _by_domain(demand, gpus // domain):
        for rank in range(domain):
            yield source * domain + rank, target * domain + rank, size


def _by_domain(demand: Demand, domains: int) -> Iterator[tuple[int, int, Fraction]]:
    if demand.peers == "rank":
        each = demand.fabric_bytes / (domains - 1)
        yield from ((a, b, each) for a, b in _everyone(domains))
    elif demand.peers in ("next", "chain", "tree"):
        yield from domain_edges(demand, domains)


def _everyone(many: int) -> Iterator[tuple[int, int]]:
    """Yield all ordered pairs of numbers below ``many``, neighbors first, so that the first destinations all differ."""
    return ((at, (at + far) % many) for far in range(1, many) for at in range(many))


MOST_BYTES = Question().size_bytes
"""The most bytes of a workload that each NIC port sends in the model: as many as without a workload. The first of them
fill the buffers; later bytes repeat the same state."""
MOST_PORTS, MOST_PORTS_TO_ALL = 1024, 256
"""The most NIC ports whose traffic is followed flow by flow: each with few others, or all with all in 65,280 flows."""
MOST_GPUS = 4096
"""The most GPUs of an all-to-all whose traffic is counted pair by pair."""


_TOO_MUCH = "more than is followed flow by flow; name fewer --gpus"


class WorkloadVerdict(NamedTuple):
    """The buffer verdict of closed forms on the fabric, None if they do not apply, and the verdicts of simulation runs.

    ``not_run`` has the reasons for scenarios that were not run; ``run_part`` is the least part of a scenario's bytes
    that was run. ``pfc_loads`` have the load on PFC by the workload's own traffic, which changes no verdict.
    """

    closed: FabricVerdict | None
    runs: tuple[RunVerdict, ...]
    not_run: tuple[str, ...]
    run_part: float
    pfc_loads: tuple[PfcLoad | MissingInput, ...] = ()

    @property
    def overall(self) -> BufferVerdict:
        """The worst known verdict; "safe" by closed forms alone, without a run, counts as "not checked"."""
        closed = (
            self.closed.overall
            if self.closed and (self.runs or self.closed.overall != "safe")
            else "not checked"
        )
        return min((closed, *(run.verdict for run in self.runs)), key=BUFFER_VERDICTS.index)


def workload_verdict(view: View, estimate: Estimate, ask: SimulationRequest) -> WorkloadVerdict:
    """Return the verdict on the buffers of a fabric for a workload.

    A scenario that is too large, or not modeled, is not run; ``not_run`` has the reason.

    Raises:
        ScenarioError: the simulation request is invalid.
    """
    runs: list[RunVerdict] = []
    reasons: list[str] = []
    loads: list[PfcLoad | MissingInput] = []
    parts = [1.0]
    for question, part in workload_questions(view, estimate):
        if isinstance(question, str):
            reasons.append(question)
            continue
        try:
            result = answer(view, ask._replace(question=question, pfc_load=bool(question.moves)))
        except TooLargeError:
            reasons.append(f"{question.called or question.pattern}: {_TOO_MUCH}")
            continue
        runs += result.runs
        loads += result.pfc_loads
        reasons += [result.not_run] if result.not_run else []
        parts.append(part)
    closed = None if _lossy_storage(view, estimate) else fabric_verdict(view)
    return WorkloadVerdict(closed, tuple(runs), tuple(dict.fromkeys(reasons)), min(parts), tuple(loads))


def workload_questions(view: View, estimate: Estimate) -> Iterator[tuple[Question | str, float]]:
    """Yield each scenario to simulate, or the reason why it cannot be, with the share of the bytes that it runs."""
    lossy = _lossy_storage(view, estimate)
    if lossy is not None:
        yield lossy, 1.0
        return
    yield from _collective_traffic(view, estimate)
    if estimate.incast is not None:
        size_bytes = min(estimate.incast.size_bytes, MOST_BYTES)
        # With PXN senders are the GPUs of equal rank, whose NIC ports are on one rail; others send across rails.
        traffic: RailTraffic = "rail" if estimate.demand.peers == "rank" else "any"
        question = Question(nics=estimate.incast.senders + 1, size_bytes=size_bytes, traffic=traffic)
        yield (
            question._replace(traffic_class=_storage_class(view, estimate)),
            size_bytes / estimate.incast.size_bytes,
        )


def _collective_traffic(view: View, estimate: Estimate) -> Iterator[tuple[Question | str, float]]:
    """Yield the scenario of all traffic of the workload at once, or why there is none.

    Nothing for storage, or where NIC ports send nothing to each other.
    """
    placement, demand = estimate.placement, estimate.demand
    if demand.peers == "switch":
        yield "switches that reduce are no part of the packet-level model", 1.0
    if demand.peers in ("switch", "outside", "none"):
        return
    ports = nic_ports(view.fabric, placement)
    many = len({name for own in ports for name in own})
    to_all = demand.peers in ("all", "rank")
    if many > (MOST_PORTS_TO_ALL if to_all else MOST_PORTS) or (to_all and placement.gpus > MOST_GPUS):
        yield f"{_called(estimate)} among {many:,} NIC ports: {_TOO_MUCH}", 1.0
        return
    sizes, part = scaled(port_traffic(demand, ports, placement.domain), MOST_BYTES)
    moves = tuple(NamedTransfer(*pair, size) for pair, size in sizes.items())
    if moves:
        most_bytes = min(_most(moves), MOST_BYTES)
        yield Question(size_bytes=most_bytes, moves=moves, called=_called(estimate)), part


def _most(moves: tuple[NamedTransfer, ...]) -> int:
    total: dict[str, int] = {}
    for move in moves:
        total[move.source] = total.get(move.source, 0) + move.size_bytes
    return max(total.values())


def _called(estimate: Estimate) -> str:
    name = estimate.workload.collective
    return name if estimate.algorithm == "direct" else f"{name} ({estimate.algorithm})"


def _storage_class(view: View, estimate: Estimate) -> str | None:
    """Return the traffic class of storage; None for any other workload, without a storage network or class for it."""
    network = next((each for each in view.fabric.networks if each.carries_storage), None)
    if estimate.demand.peers != "outside" or network is None:
        return None
    rest = next((cls.name for cls in view.fabric.classes.classes if cls.rest), None)
    return network.class_name or rest


def _lossy_storage(view: View, estimate: Estimate) -> str | None:
    name = _storage_class(view, estimate)
    if name is None or name in {sim_class.name for sim_class in simulated_classes(view)}:
        return None
    return f"storage rides class {name}, which is lossy: where buffers are short it is dropped, and pauses nobody"
