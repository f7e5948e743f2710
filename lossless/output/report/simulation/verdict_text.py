"""A buffer verdict as text: the verdict, its reasons and recommended changes; then runs, ports, pools and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import NOT_EVALUATED
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import cut, table, wrapped
from lossless.output.report.quantities import LABELS, headed
from lossless.output.report.simulation.peaks_text import peaks_text
from lossless.output.report.simulation.run_text import load_text, run_text
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.buffers.verdict import FabricVerdict, FanIn, FanOut, PoolVerdict, PortVerdict
    from lossless.analysis.simulation.study.result import SimulationResult
    from lossless.analysis.simulation.study.verdict import RunVerdict

_PORTS = (
    LABELS["verdict"],
    "kind of port",
    "ports",
    headed("headroom_bytes", "B"),
    headed("need_bytes", "B"),
    "method",
    LABELS["watchdog"],
)
_TRAFFIC = (
    "XOFF against ECN",
    "pattern",
    "XOFF at (B)",
    headed("kmin_margin_bytes", "B"),
    headed("kmax_margin_bytes", "B"),
)
_POOLS = (
    LABELS["verdict"],
    "switch",
    "pool",
    "groups",
    "headroom of all groups (B)",
    headed("shared_headroom_bytes", "B"),
    "ratio",
)
_UNKNOWN = "unknown"
_NO_VERDICT = (
    "(N into 1 fills an egress queue, 1 into N an ingress PG; below zero: reached after XOFF. Marking before XOFF "
    "does not prevent PFC: these margins do not change the verdict)"
)


def verdict_text(result: SimulationResult, style: TextStyle = PLAIN) -> str:
    """Return the verdict on one fabric: reasons, changes and simulation results; a verbose style adds every port."""
    # Recordings are drawn, not printed, and long.
    return "\n\n".join(_blocks(spelled_out(result._replace(recordings=())), style))


def _blocks(result: SimulationResult, style: TextStyle) -> Iterator[str]:
    closed, runs = result.closed, result.runs
    yield "\n".join(_head(result, style))
    yield from _listed("why", [*closed.reasons, *(reason for run in runs for reason in run.reasons)], style)
    yield from _listed("change", [change for run in runs for change in run.changes], style)
    yield from (run_text(run, style) for run in runs)
    yield from (load_text(load, style) for load in result.pfc_loads)
    if result.peaks:
        yield peaks_text(result.peaks, style)
    if result.not_run:
        yield f"packet-level model: not run\n{wrapped(result.not_run, style, '  ')}"
    yield from _evidence(closed, style) if style.verbose else _in_numbers(closed, runs, style)
    unknown = [reason for reason in result.not_checked if reason != result.not_run]
    yield from _listed("not checked", unknown, style)


def _head(result: SimulationResult, style: TextStyle) -> Iterator[str]:
    """Yield the verdict, in one line why a fabric is safe, the port with the least headroom left, and the PFC load."""
    lines, runs = result.closed.lines, result.runs
    yield f"{LABELS['verdict']}: {result.overall}"
    if result.overall == "safe":
        seeds = sum(run.seeds for run in runs)
        model = f"the packet-level model in {seeds} seed{'s' if seeds > 1 else ''}" if runs else ""
        if lines or not runs:
            yield f"  closed forms find nothing unsafe{f', nor does {model}' if runs else ''}"
        else:
            yield f"  {model} finds nothing unsafe"
    limiting = _limiting_run(runs) or _limiting_kind(lines)
    if limiting:
        yield wrapped(f"limiting port: {limiting}", style)
    for load in result.pfc_loads[:1]:
        verdict = NOT_EVALUATED if isinstance(load, MissingInput) else load.verdict
        yield f"{LABELS['pfc_load']}: {verdict}"


def _limiting_run(runs: Sequence[RunVerdict]) -> str | None:
    """Return the port of all runs that has the least headroom left, None where none was used."""
    used = [
        (run.headroom_ran_out, run.headroom_margin_bytes or 0, run.headroom_at)
        for run in runs
        if run.headroom_at
    ]
    if not used:
        return None
    ran_out, margin_bytes, place = min(used, key=lambda port: (not port[0], port[1]))
    left = "headroom ran out" if ran_out else f"{format_bytes(margin_bytes)} of headroom left"
    return f"{place}, {left}"


def _limiting_kind(lines: Sequence[PortVerdict]) -> str | None:
    """Return the kind of port without headroom, else the one with the least margin over its required headroom.

    None if no headroom is known.
    """
    without = next((line for line in lines if line.verdict == "unsafe" and not line.headroom), None)
    if without is not None:
        return f"{_port_kind(without)}: see why"
    known = [(line, line.headroom) for line in lines if line.headroom]
    if not known:
        return None
    line, headroom = min(known, key=lambda port: port[1].given_bytes - port[1].need_bytes)
    return (
        f"{_port_kind(line)}: headroom {format_bytes(headroom.given_bytes)}, "
        f"needed {format_bytes(headroom.need_bytes)} ({headroom.method})"
    )


def _in_numbers(verdict: FabricVerdict, runs: Sequence[RunVerdict], style: TextStyle) -> Iterator[str]:
    """Yield the number of lossless groups and pools by verdict, and the parts that -v adds."""
    # A line is of one kind of port and one priority.
    groups = _counted((line.verdict, line.ports) for line in verdict.lines)
    pools = _counted((pool.verdict, pool.switches) for pool in verdict.pools)
    counts = [
        f"{what}: {count}" for what, count in (("lossless groups", groups), ("buffer pools", pools)) if count
    ]
    assumed = any(run.assumed for run in runs)
    more = ["every kind of port"] * bool(groups) + ["every pool"] * bool(pools)
    more += ["XOFF against ECN"] * bool(groups) + ["what is assumed"] * assumed
    if more:
        yield "\n".join(
            wrapped(text, style) for text in filter(None, ["; ".join(counts), f"-v shows {', '.join(more)}"])
        )


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    """Return how many have which verdict: ``64 unsafe, 32 safe``."""
    return ", ".join(f"{sum(numbers):,} {verdict}" for verdict, numbers in grouped(counts).items())


def _evidence(verdict: FabricVerdict, style: TextStyle) -> Iterator[str]:
    """Yield every kind of port, every pool, and where XOFF sits against marking."""
    if verdict.lines:
        yield table([_PORTS, *map(_port_row, verdict.lines)], style)
    if verdict.pools:
        yield table([_POOLS, *map(_pool_row, verdict.pools)], style)
    traffic = [row for line in verdict.lines for row in _traffic_rows(line)]
    if traffic:
        yield "\n".join([table([_TRAFFIC, *traffic], style), wrapped(_NO_VERDICT, style, hanging="")])


def _listed(title: str, entries: Iterable[str], style: TextStyle) -> Iterator[str]:
    """Yield a block of entries, each once; none where there are none."""
    once = [*dict.fromkeys(entries)]
    if once:
        yield "\n".join([f"{title}:", *cut([wrapped(entry, style, "  ") for entry in once], style, "  ")])


def _port_row(line: PortVerdict) -> tuple[str, ...]:
    headroom = line.headroom
    return (
        line.verdict,
        _port_kind(line),
        f"{line.ports:,}",
        _number(headroom.given_bytes if headroom else None),
        _number(headroom.need_bytes if headroom else None),
        headroom.method if headroom else "-",
        line.watchdog,
    )


def _port_kind(line: PortVerdict) -> str:
    return f"{_switches(line)}, priority {line.priority}, {_link(line.speed_bps, line.cable_m)}"


def _traffic_rows(line: PortVerdict) -> Iterator[tuple[str, ...]]:
    """Yield a row per pattern, the first with the kind of port: N ports into one egress queue, one port into N."""
    rows: list[tuple[str, int, FanIn | FanOut]] = [
        (f"{one.senders} into 1", one.egress_bytes, one) for one in line.fan_in
    ]
    rows += [(f"1 into {one.egresses}", one.group_bytes, one) for one in line.fan_out if one.egresses > 1]
    for place, (pattern, held_bytes, margins) in enumerate(rows):
        kind = "" if place else _port_kind(line)
        before = (margins.kmin_margin_bytes, margins.kmax_margin_bytes)
        yield kind, pattern, *map(_number, (held_bytes, *before))


def _pool_row(pool: PoolVerdict) -> tuple[str, ...]:
    ratio, accepted = pool.ratio, pool.accepted_ratio
    stated = f" ({accepted:g} accepted)" if accepted is not None else ""
    shared = pool.shared_headroom_bytes
    return (
        pool.verdict,
        _switches(pool),
        pool.pool,
        f"{pool.groups:,}",
        _number(pool.headroom_bytes),
        "none" if shared is None else _number(shared),
        "-" if ratio is None else f"{ratio:g}{stated}",
    )


def _switches(line: PortVerdict | PoolVerdict) -> str:
    identical = line.switches - 1
    return str(line.switch) + (f" (+{identical} identical)" if identical else "")


def _link(speed_bps: int | None, cable_m: int | None) -> str:
    speed = _UNKNOWN if speed_bps is None else format_rate(speed_bps)
    return f"{speed}, {'cable unknown' if cable_m is None else f'{cable_m} m'}"


def _number(size_bytes: int | None) -> str:
    return _UNKNOWN if size_bytes is None else f"{size_bytes:,}"
