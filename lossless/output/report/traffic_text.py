"""The traffic of a collective as text and plain data, and the blast radius of a PFC storm as text and picture.

A collective has bytes, times, the bottleneck, assumptions, and the verdict on buffers; names of its data once shipped
stay. A storm has the links that stop or slow down and when, and the number of hosts that stall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import PfcLoad
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_capacity, format_rate, listed
from lossless.output.report.columns import PLAIN, TextStyle, facts, table, wrapped
from lossless.output.report.plain import plain
from lossless.output.report.quantities import LABELS, headed
from lossless.output.report.simulation.data import load_data, run_data
from lossless.output.report.simulation.verdict_text import measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import NotRequired, TypedDict

    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.analysis.simulation.study.measure import PortFanIn
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.analysis.storm.blast_radius import BlastRadius, PropagationStage
    from lossless.analysis.topology.summary import Picture
    from lossless.analysis.workloads.placement import Estimate, EstimatePart
    from lossless.analysis.workloads.verdict import WorkloadVerdict
    from lossless.ground.basics.findings import MissingInput
    from lossless.output.report.simulation.data import PfcLoadData, ReasonData, RunData

    class DemandData(TypedDict):
        """The mean bytes that a GPU sends; ``busiest_bytes``: the most sent or received over the fabric by one GPU."""

        inside_bytes: int
        fabric_bytes: int
        busiest_bytes: int

    class ClosedData(TypedDict):
        """The verdict of the closed forms."""

        overall: BufferVerdict
        reasons: tuple[str, ...]

    class BufferData(TypedDict):
        """The verdict on the buffers under a collective."""

        overall: BufferVerdict
        closed_forms: ClosedData | None
        runs: list[RunData]
        not_run: tuple[str, ...]
        run_part: float
        pfc_load: list[PfcLoadData | ReasonData]

    class EstimateData(TypedDict):
        """The estimated traffic and time of a collective, with the verdict on buffers if it was asked for."""

        collective: str
        algorithm: str
        size_bytes: int
        gpus: int
        gpus_per_host: int
        domain_gpus: int
        per_gpu: DemandData
        steps: int
        parts: tuple[EstimatePart, ...]
        limit: str
        time_ns: int
        apart_ns: int
        step_time_ns: int | None
        algbw_bps: int | None
        busbw_bps: int | None
        fan_in: int
        message_bytes: int
        incast: str | None
        assumed: tuple[str, ...]
        buffers: NotRequired[BufferData]


_NAMES = {
    "domain": "links inside a domain",
    "host links": "host links of a GPU",
    "leaf": "uplinks of a leaf",
    "pod": "uplinks of a pod",
    "half": "links to the other half",
}
_SIZES = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0}
_TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_PORTS = ("ports", "how many", "fed by ports", headed("peak_queue_depth_bytes", "B"), "paused")
_SHOWN = tuple(
    LABELS[name]
    for name in (
        "loss",
        "slowdown",
        "drops",
        "pfc",
        "marks",
        "headroom_bytes",
        "longest_pause_us",
        "watchdog",
    )
)
"""The labels of the measures of a run that are shown, a part of those in ``lossless simulate``."""


def workload_text(
    estimate: Estimate, checked: WorkloadVerdict | None = None, style: TextStyle = PLAIN
) -> str:
    """Return the estimate of a collective as text, with the verdict on buffers if ``checked``."""
    if checked is not None:
        runs, not_run, loads = spelled_out((checked.runs, checked.not_run, checked.pfc_loads))
        checked = checked._replace(runs=runs, not_run=not_run, pfc_loads=loads)
    return "\n\n".join(_workload_blocks(estimate, checked, style))


def _workload_blocks(estimate: Estimate, checked: WorkloadVerdict | None, style: TextStyle) -> Iterator[str]:
    yield "\n".join(wrapped(line, style) for line in _head(estimate))
    yield "\n".join(_times(estimate))
    yield _fan_in(estimate)
    if checked is not None:
        yield "\n".join(_checked(checked, style))
    if estimate.parts:
        yield _parts(estimate.parts, style)
    assumed = (*spelled_out(estimate.assumed), *_assumed_of(checked))
    yield "\n".join(["assumed:", *(wrapped(text, style, "  ") for text in assumed)])


def _head(estimate: Estimate) -> Iterator[str]:
    """Yield the collective, and the bytes that each GPU sends."""
    asked, where, moved = estimate.workload, estimate.placement, estimate.demand
    algorithm = "" if estimate.algorithm == "direct" else f" ({estimate.algorithm})"
    domain = f", in domains of {where.domain}" if where.domain > 1 else ""
    whole = f"{asked.collective}{algorithm} of {format_size(asked.size_bytes)}"
    yield f"{whole} on {where.gpus:,} GPUs, {where.per_host} a host{domain}"
    inside_bytes = round(moved.inside_bytes)
    inside = f" and {format_size(inside_bytes)} inside its domain" if inside_bytes else ""
    steps = f"{moved.steps:,} {'step' if moved.steps == 1 else 'steps'}"
    yield f"each GPU sends {format_size(round(moved.fabric_bytes))} over the fabric{inside}, in {steps}"


def _parts(parts: Sequence[EstimatePart], style: TextStyle) -> str:
    """Return a table of the busiest links of each kind, such as uplinks: bytes in one unit, times in one."""
    sizes = _figures([part.size_bytes for part in parts], _SIZES)
    times = _figures([part.time_ns for part in parts], _TIMES)
    names = (f"{_NAMES[part.name]}, {format_capacity(round(part.rate_bps))}" for part in parts)
    heads = ("the busiest of", f"on the wire ({sizes[0]})", f"time alone ({times[0]})")
    return table([heads, *zip(names, sizes[1:], times[1:], strict=True)], style)


def _figures(values: Sequence[float], units: Mapping[str, float]) -> list[str]:
    """Return the largest unit in which the least finite value above 0 is 0.1 or more, then all values in it as text."""
    finite = [value for value in values if value not in (0, float("inf"))]
    unit = next((unit for unit, scale in units.items() if finite and min(finite) >= scale / 10), [*units][-1])
    scaled = [value / units[unit] for value in values]
    most = max((value for value in scaled if value != float("inf")), default=0)
    return [unit, *("never" if value == float("inf") else _digits(value, most) for value in scaled)]


def _digits(value: float, most: float) -> str:
    return f"{value:,.3f}" if most < 100 else f"{value:,.1f}"


def _times(estimate: Estimate) -> Iterator[str]:
    time_ns, apart_ns = round(estimate.time_ns), round(estimate.apart_ns)
    limit = f", by the {_NAMES[estimate.limit]}" if estimate.limit in _NAMES else ""
    yield f"time: {format_time(time_ns)} at best{limit}"
    if apart_ns > time_ns:
        yield f"  {format_time(apart_ns)} where domains and fabric alternate"
    if estimate.algorithm_bps is not None and estimate.bus_bps is not None:
        alg, bus = (f"{round(bps) / 8e9:,.4g} GB/s" for bps in (estimate.algorithm_bps, estimate.bus_bps))
        yield f"  as nccl-tests counts: algbw {alg}, busbw {bus}"
    if estimate.step_time_ns is not None:
        yield f"step: {format_time(round(estimate.step_time_ns))} with the computation"


def _fan_in(estimate: Estimate) -> str:
    senders = estimate.demand.fan_in
    if not senders:
        return "fan-in: none"
    each = format_size(round(estimate.demand.message_bytes))
    whom = "server" if estimate.workload.collective == "storage-write" else "GPU"
    many = "1 sender sends" if senders == 1 else f"up to {senders:,} senders send"
    return f"fan-in: {many} {each} to one {whom} at once"


def _checked(checked: WorkloadVerdict, style: TextStyle) -> Iterator[str]:
    yield f"buffers: {checked.overall}"
    if checked.closed is not None:
        yield f"  closed forms, for any traffic: {checked.closed.overall}"
        reasons = spelled_out(checked.closed.reasons)
        yield from (wrapped(f"why: {reason}", style, "    ") for reason in reasons)
    for run in checked.runs:
        yield from _run(run, style)
    yield from (wrapped(f"{LABELS['pfc_load']}: {_load(load)}", style, "  ") for load in checked.pfc_loads)
    if not style.verbose and any(run.ports for run in checked.runs):
        yield f"  -v shows the {LABELS['peak_queue_depth_bytes']} and pauses of every kind of port"
    yield from (wrapped(f"not run: {reason}", style, "  ") for reason in checked.not_run)


def _run(run: RunVerdict, style: TextStyle) -> Iterator[str]:
    yield wrapped(f"{run.scenario}: {run.verdict}", style, "  ")
    yield from (wrapped(f"why: {reason}", style, "    ") for reason in run.reasons)
    yield from (wrapped(f"change: {change}", style, "    ") for change in run.changes)
    if run.ports and style.verbose:
        yield table([_PORTS, *map(_port_row, run.ports)], style, "    ")
    yield facts([pair for pair in measured(run) if pair[0] in _SHOWN], style, "    ")


def _load(load: PfcLoad | MissingInput) -> str:
    """Return the verdict on the PFC load, and its measures above a limit, or the reason why it is not evaluated."""
    why = ", ".join(load.above) if isinstance(load, PfcLoad) else load.reason
    verdict = str(load_data(load)["verdict"])
    return f"{verdict}: {why}" if why else verdict


def _port_row(ports: PortFanIn) -> tuple[str, ...]:
    fed, peak = "-", "-"
    if ports.sender != "host":
        fed = str(ports.fan_in)
        peak = f"{ports.peak_queue_depth_bytes:,}"
    many = f"{ports.paused} of {ports.ports}" if ports.paused else "none"
    return f"{ports.sender} to {ports.receiver}", str(ports.ports), fed, peak, many


def _assumed_of(checked: WorkloadVerdict | None) -> Iterator[str]:
    """Yield the assumptions of the simulations of a workload; none without simulations."""
    if checked is None:
        return
    if checked.runs and checked.run_part < 1:
        yield f"buffers: {checked.run_part:.2%} of the bytes are run, all flows at once; the rest repeats it"
    yield from dict.fromkeys(f"buffers: {text}" for run in checked.runs for text in run.assumed)


def format_size(size_bytes: int) -> str:
    """Return bytes in decimal units, as for rates: ``279.7 GB``."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:,.4g} {unit}"
    return f"{size_bytes} B"


def format_time(time_ns: float) -> str:
    """Return a time in ns as text, in the largest unit that gives 1 or more, else in ns; ``never`` for infinity."""
    if time_ns == float("inf"):
        return "never"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if time_ns >= scale:
            return (
                f"{time_ns / scale:,.3g} {unit}"
                if time_ns < 1000 * scale
                else f"{time_ns / scale:,.0f} {unit}"
            )
    return f"{time_ns:.3g} ns"


def workload_data(estimate: Estimate, checked: WorkloadVerdict | None = None) -> EstimateData:
    """Return the estimate of a collective as plain data, with the verdict on buffers if ``checked``."""
    data = _estimate_data(estimate)
    return data if checked is None else {**data, "buffers": _verdict_data(checked)}


def _estimate_data(estimate: Estimate) -> EstimateData:
    asked, where, moved = estimate.workload, estimate.placement, estimate.demand
    return {
        "collective": asked.collective,
        "algorithm": estimate.algorithm,
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
        "parts": plain(estimate.parts),
        "limit": estimate.limit,
        "time_ns": round(estimate.time_ns),
        "apart_ns": round(estimate.apart_ns),
        "step_time_ns": _rounded(estimate.step_time_ns),
        "algbw_bps": _rounded(estimate.algorithm_bps),
        "busbw_bps": _rounded(estimate.bus_bps),
        "fan_in": moved.fan_in,
        "message_bytes": round(moved.message_bytes),
        "incast": str(estimate.incast) if estimate.incast else None,
        "assumed": plain(estimate.assumed),
    }


def _rounded(figure: float | None) -> int | None:
    return None if figure is None else round(figure)


def _verdict_data(checked: WorkloadVerdict) -> BufferData:
    closed = checked.closed
    return {
        "overall": checked.overall,
        "closed_forms": None
        if closed is None
        else {"overall": closed.overall, "reasons": plain(closed.reasons)},
        "runs": [run_data(run) for run in checked.runs],
        "not_run": plain(checked.not_run),
        "run_part": checked.run_part,
        "pfc_load": [load_data(load) for load in checked.pfc_loads],
    }


_FEW = 5
_NAMED = ("source", "class_name", "ended_at", "stages", "loses", "assumed", "cycle")
"""The fields of a blast radius with names in the text. Hosts are only counted: a large fabric has too many."""


def storm_text(radius: BlastRadius, style: TextStyle = PLAIN) -> str:
    """Return the blast radius of a PFC storm from one host as text."""
    shown = radius._replace(**{name: spelled_out(getattr(radius, name)) for name in _NAMED})
    return "\n\n".join(_storm_blocks(shown, style))


def storm_picture(radius: BlastRadius) -> Picture:
    """Return the picture of a blast radius; sentences of the text report precede its legend."""
    picture = radius.picture()
    said = (("", line) for line in (*_who(radius), *_end(radius)))
    return picture._replace(legend=(*said, *picture.legend))


def _storm_blocks(radius: BlastRadius, style: TextStyle) -> Iterator[str]:
    slow = radius.source.drains_bps
    what = f"takes in no more than {format_rate(slow)} a port" if slow else "pauses permanently"
    head = f"{radius.source.end} {what}: class {radius.class_name}, priority {radius.priority}"
    yield "\n".join(wrapped(line, style) for line in (head, *_who(radius), *_end(radius)))
    if radius.cycle:
        yield _cycle(radius, style)
    if radius.loses:
        losing = listed(radius.loses, _FEW)
        yield wrapped(f"no PFC there, so packets are dropped: {losing}", style)
    reached = [stage for stage in radius.stages if stage.stopped]
    verb = "slowed" if slow else "stopped"
    if reached:
        yield table(
            [("links", verb, "of", "first after (us)", "last after (us)"), *map(_stage, reached)], style
        )
    yield "\n".join(["assumed:", *(wrapped(text, style, "  ") for text in radius.assumed)])


def _stage(stage: PropagationStage) -> tuple[str, ...]:
    first, last = (_after(at_ns) for at_ns in (stage.first_ns, stage.last_ns))
    return stage.name, f"{stage.stopped:,}", f"{stage.channels:,}", first, last


def _after(at_ns: float | None) -> str:
    return "at once" if not at_ns else f"{at_ns / 1000:,.1f}"


def _who(radius: BlastRadius) -> Iterator[str]:
    hosts, every = len(radius.hosts), radius.all_hosts - 1
    verb = "are held back" if radius.source.drains_bps else "stall"
    if not hosts:
        yield f"no other of {every:,} hosts is paused"
        return
    last = max(round(at_ns) for _, at_ns in radius.hosts)
    each, gpus_text = radius.gpus_per_host, ""
    if each is not None:
        gpus_text = f", {(hosts + 1) * each:,} of {radius.all_hosts * each:,} GPUs with its own"
    yield f"{hosts:,} of {every:,} other hosts {verb}{gpus_text}; the last after {format_time(last)}"


def _cycle(radius: BlastRadius, style: TextStyle) -> str:
    ports = radius.cycle
    cycle = wrapped(
        f"PFC deadlock possible, cyclic buffer dependency: {' -> '.join([*ports, ports[0]])}", style
    )
    lasts = "once traffic fills every buffer of the cycle, these ports stay paused permanently"
    return "\n".join([cycle, wrapped(f"{lasts}, even if {radius.source.end} recovers", style)])


def _end(radius: BlastRadius) -> Iterator[str]:
    if radius.ends_ns is not None:
        yield f"the watchdog of {radius.ended_at} triggers after {format_time(radius.ends_ns)}"
    elif radius.source.drains_bps:
        yield "no watchdog ends this: packets still move"
    else:
        yield "no watchdog ends this"
