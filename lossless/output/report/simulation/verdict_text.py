"""Verdicts as text: by closed forms, from runs of the packet-level model, and measured watermarks beside both.

A buffer verdict has its reasons and recommended changes; then runs, ports, pools and margins. A run has the verdict,
the measures and the assumptions. Watermarks are tables: one for each kind of port, a row for each peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import (
    MOST_NICS_PAUSED,
    MOST_TIME_IN_PAUSE,
    NOT_COMPUTED,
    NOT_EVALUATED,
)
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import PLAIN, TextStyle, cut, facts, table, wrapped
from lossless.output.report.quantities import LABELS, headed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.buffers.verdict import (
        FabricVerdict,
        FanIn,
        FanOut,
        PfcLoad,
        PoolVerdict,
        PortVerdict,
    )
    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.analysis.simulation.study.calculated_load import CalculatedLoad as Calculated
    from lossless.analysis.simulation.study.load import Load
    from lossless.analysis.simulation.study.measure import PeakComparison
    from lossless.analysis.simulation.study.study import BesideVerdict
    from lossless.analysis.simulation.study.verdict import LossVerdict, Occurrence, Range, RunVerdict


PEAK_HEADS = ("measured (B)", "simulated (B)", "closed form (B)", "at", "since")
_PEAKS = {"shared_bytes": "PG, shared", "headroom_bytes": "PG, headroom", "queue_bytes": "queue"}
_NONE = "-"
PEAKS_REMARK = (
    "simulated: the most of all seeds, in the traffic that was run; what was measured may come of other traffic. "
    "lossless verify checks headroom against what is needed"
)


def peaks_text(peaks: Sequence[PeakComparison], style: TextStyle) -> str:
    """Return measured peaks beside simulated and closed-form ones, one table for each kind of port."""
    tables = [
        table([(kind, *PEAK_HEADS), *map(peak_row, same)], style, "  ")
        for kind, same in grouped((kind_of_peak(peak), peak) for peak in peaks).items()
    ]
    return "\n".join(["measured peaks", *tables, wrapped(PEAKS_REMARK, style, "  ", "")])


def kind_of_peak(peak: PeakComparison) -> str:
    speed = "" if peak.speed_bps is None else f", {format_rate(peak.speed_bps)}"
    return f"{peak.switch} to {peak.peer}{speed}"


def peak_row(peak: PeakComparison) -> tuple[str, ...]:
    form = f"{peak.closed_form} {peak.closed_form_bytes:,}" if peak.closed_form else _NONE
    return (
        _PEAKS[peak.peak],
        _peak(peak.measured_bytes, "not captured"),
        _peak(peak.simulated_bytes, _NONE),
        form,
        peak.at or _NONE,
        peak.since or _NONE,
    )


def _peak(size_bytes: int | None, without: str) -> str:
    return without if size_bytes is None else f"{size_bytes:,}"


def run_text(run: RunVerdict, style: TextStyle = PLAIN) -> str:
    """Return the verdict and measures of one scenario as text; reasons and changes are in :func:`verdict_text`."""
    return "\n".join(_lines(spelled_out(run), style))


def _lines(run: RunVerdict, style: TextStyle) -> Iterator[str]:
    yield f"packet-level model: {run.verdict}"
    yield wrapped(run.scenario, style, "  ")
    yield facts([*measured(run)], style, "  ")
    if run.assumed and style.verbose:
        yield "\n".join(["  assumed:", *(wrapped(entry, style, "    ") for entry in run.assumed)])


_RUNS = ("traffic", "mean flow rate", "slowest tenth", "last flow", "worst NIC in pause")


def carried_text(load: Load | Calculated | MissingInput, style: TextStyle = PLAIN) -> str:
    """Return the verdict on a permutation as text: the runs, or assumptions of a calculation, and costs of causes."""
    load = spelled_out(load)
    if isinstance(load, MissingInput):
        return wrapped(f"{LABELS['load']}: {NOT_COMPUTED}: {load.reason}", style)
    from lossless.analysis.simulation.study.calculated_load import CalculatedLoad  # with NumPy, as loads have

    if isinstance(load, CalculatedLoad):
        return _calculated_text(load, style)
    seeds = f"{load.seeds} seed{'s' if load.seeds > 1 else ''}"
    line_rate = f"{load.of_line_rate:.0%}"
    part = "" if line_rate == "100%" else f", {line_rate} of the NICs' line rate"
    where = f"{load.scenario}, {seeds}; shares of what the topology carries under ideal spreading{part}"
    begin_us, end_us = load.window_us
    rows = [
        (
            run.name,
            f"{run.mean:.0%}",
            f"{run.slowest_tenth:.0%}",
            _spread(run.last_flow),
            f"{run.time_in_pause:.0%}",
        )
        for run in load.runs
    ]
    lines = [
        f"{LABELS['load']}: {load.verdict}",
        wrapped(where, style, "  "),
        table([_RUNS, *rows], style, "  "),
    ]
    lines += [wrapped(f"cost of {cause}", style, "  ") for cause in load.causes]
    if load.expected is not None:
        seen = load.expected
        expected = (
            f"{'spreading over' if seen.divides else 'hashing onto'} {seen.choices} links is expected to give "
            f"{_spread(seen.mean)} on average, and {_spread(seen.slowest_tenth)} to the slowest tenth"
        )
        lines.append(wrapped(expected, style, "  "))
    lines += [
        wrapped(f"{name}: the last two rows show a range, no bounds", style, "  ") for name in load.stand_ins
    ]
    lines += [wrapped(load.reduced, style, "  ")] if load.reduced else []
    if style.verbose:
        lines.append(
            wrapped(
                f"flow rates of the first seed while all flows send; last row: {_us(begin_us)} to {_us(end_us)}",
                style,
                "  ",
            )
        )
    return "\n".join(lines)


def _calculated_text(load: Calculated, style: TextStyle) -> str:
    """Return a load by calculation: its conditions, what each costs, and what is not in it."""
    line_rate = f"{load.of_line_rate:.0%}"
    part = "" if line_rate == "100%" else f", {line_rate} of the NICs' line rate"
    where = f"{load.scenario}; max-min fair shares of what the topology carries under ideal spreading{part}"
    rows = [(run.name, _spread(run.mean), _spread(run.slowest_tenth)) for run in load.runs]
    lines = [
        f"{LABELS['load']}: {load.verdict}",
        wrapped(where, style, "  "),
        table([_RUNS[:3], *rows], style, "  "),
    ]
    notes = (*(f"cost of {cause}" for cause in load.causes), *load.assumed, f"of paths alone: {load.reason}")
    return "\n".join([*lines, *(wrapped(note, style, "  ") for note in notes)])


def _spread(share: Range) -> str:
    least, most = f"{share.least:.0%}", f"{share.most:.0%}"
    return f"{share.median:.0%}" if least == most else f"{share.median:.0%} ({least} to {most})"


def load_text(load: PfcLoad | MissingInput, style: TextStyle = PLAIN) -> str:
    """Return the PFC load as text, each measure with its limit, or the reason why it is not evaluated."""
    load = spelled_out(load)
    if isinstance(load, MissingInput):
        return f"{LABELS['pfc_load']}: {NOT_EVALUATED}\n{wrapped(load.reason, style, '  ')}"
    many = load.seeds
    rows = [
        (LABELS["nics_paused"], _share(load.nics_paused, MOST_NICS_PAUSED)),
        (LABELS["longest_pause_us"], _limited(load.longest_pause_us, load.longest_pause_limit_us, _us, _us)),
        (LABELS["time_in_pause"], f"{_share(load.time_in_pause, MOST_TIME_IN_PAUSE)}, of the worst NIC"),
    ]
    where = wrapped(f"{load.scenario}, {many} seed{'s' if many > 1 else ''}", style, "  ")
    return "\n".join([f"{LABELS['pfc_load']}: {load.verdict}", where, facts(rows, style, "  ")])


def _share(value: float, limit: float) -> str:
    return _limited(value, limit, "{:.1%}".format, "{:.0%}".format)


def _limited(
    value: float, limit: float, text: Callable[[float], str], limit_text: Callable[[float], str]
) -> str:
    place = "above the limit of" if value > limit else "limit"
    return f"{text(value)} ({place} {limit_text(limit)})"


def measured(run: RunVerdict) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each measure of a run."""
    if run.loss is not None:
        yield from _loss(run.loss)
    else:
        yield LABELS["drops"], _drops(run)
        yield LABELS["pfc"], _happens(run.pfc, "fires")
    yield LABELS["marks"], _marks(run)
    yield (
        LABELS["egress_bytes"],
        f"{_range(run, 'egress_bytes')}{_at(run.egress_at)}, {_most(run)}{_us(run.drain_us)} to drain",
    )
    yield LABELS["group_bytes"], _range(run, "group_bytes")
    if run.loss is None:
        yield from _headroom(run)
    yield from _pauses(run)
    if run.watchdog.seeds:
        yield LABELS["watchdog"], _watchdog(run)
    if run.beside is not None:
        yield f"class {run.beside.name}", _beside(run.beside, run.seeds)
    yield (
        LABELS["goodput_bps"],
        f"{_rate(run.goodput_bps)} of payload, {run.of_line_rate:.0%} of what the topology carries",
    )
    many = run.seeds
    seeds = f"{many} seed{'s' if many > 1 else ''}"
    if run.left_out:
        wanted = many + run.left_out
        seeds = f"{many} of {wanted} seeds, to keep to the events of a report (--seeds {wanted} runs all)"
    yield "ran", f"{seeds}, {_us(run.ran_us)}, {run.events:,} events{_cut(run)}"


def _loss(loss: LossVerdict) -> Iterator[tuple[str, str]]:
    """Yield the loss of a lossy class, each measure in its worst seed."""
    shares = [f"{getattr(loss, f'{what}_share'):.2%} {what}" for what in ("dropped", "trimmed", "resent")]
    timers = f", {loss.timeouts:,} timers ran out" if loss.timeouts else ""
    yield LABELS["loss"], f"{', '.join(shares)}{timers}"
    more, open_ = (
        (">= ", f"; transfers that had not ended: {loss.unfinished}") if loss.unfinished else ("", "")
    )
    beside = f", {more}{loss.cost:.2f} x what it takes without loss" if 1 < loss.cost < loss.slowdown else ""
    yield LABELS["slowdown"], f"{more}{loss.slowdown:.2f} x what the slowest link allows{beside}{open_}"


def _beside(seen: BesideVerdict, seeds: int) -> str:
    """Return the drops and pauses of the class of storage traffic beside the simulated class."""
    lost = f"frames dropped in {seen.dropping_seeds} of {seeds} seeds" if seen.dropping_seeds else "no drops"
    if not seen.lossless:
        return f"lossy, {lost}"
    if not seen.pfc_seeds:
        return f"lossless, {lost}, PFC silent"
    longest = f"{LABELS['longest_pause_us']} {_us(seen.longest_pause_us)}"
    return f"lossless, {lost}, PFC fires in {seen.pfc_seeds} of {seeds} seeds, {longest}"


def _drops(run: RunVerdict) -> str:
    drops = run.drops
    if not drops.seeds and run.stopped_frames:
        return "none but what the watchdog dropped"
    return _happens(drops, "happen") if drops.seeds else "none"


def _happens(events: Occurrence, verb: str) -> str:
    if events.first_us is None:
        return "never" if verb == "fires" else "none"
    depends = "; depends on the seed" if events.seeds < events.of else ""
    return f"{verb} in {events.seeds} of {events.of} seeds, first after {_us(events.first_us)}{depends}"


def _marks(run: RunVerdict) -> str:
    marks, pfc = run.marks, run.pfc
    if not marks.seeds:
        return "marks nothing"
    order = f", before PFC in {run.marks_before_pfc}" if pfc.seeds else ""
    return f"{_happens(marks, 'marks')}{order}"


def _headroom(run: RunVerdict) -> Iterator[tuple[str, str]]:
    if run.headroom_bytes is None:
        yield LABELS["headroom_bytes"], "not used"
        return
    rest = "ran out" if run.headroom_ran_out else f"{format_bytes(run.headroom_margin_bytes or 0)} left"
    yield LABELS["headroom_bytes"], f"{_range(run, 'headroom_bytes')} used, {rest}{_at(run.headroom_at)}"


def _pauses(run: RunVerdict) -> Iterator[tuple[str, str]]:
    if not run.longest_pause_us:
        return
    more = ">= " if run.pause_goes_on else ""
    yield LABELS["longest_pause_us"], f"{more}{_us(run.longest_pause_us)}{_at(run.longest_pause_at)}"
    links = run.spread_links
    hops = f"{links} hop{'s' if links > 1 else ''}"
    yield "pause propagation", f"{hops}, {run.spread_ports} switch ports and {run.spread_nics} NICs"


def _watchdog(run: RunVerdict) -> str:
    queues, frames = run.stopped_queues, run.stopped_frames
    stopped = f"{queues:,} queue{'s' if queues > 1 else ''} and dropped {frames:,} frame{'' if frames == 1 else 's'}"
    return f"{_happens(run.watchdog, 'triggers')}; it stopped {stopped}"


def _range(run: RunVerdict, name: str) -> str:
    figures: Range = getattr(run, name)
    more = ">= " if run.cut else ""
    middle = format_bytes(round(figures.median))
    if figures.least == figures.most:
        return f"{more}{middle}"
    return f"{more}{middle} ({format_bytes(round(figures.least))} to {format_bytes(round(figures.most))})"


def _most(run: RunVerdict) -> str:
    """Return the words before the highest peak: "at most " if seeds differ, else empty."""
    figures = run.egress_bytes
    return "" if figures.least == figures.most else "at most "


def _cut(run: RunVerdict) -> str:
    return "; stopped with traffic under way, so >= where maxima may still grow" if run.cut else ""


def _at(place: str | None) -> str:
    return f" at {place}" if place else ""


def _us(time_us: float) -> str:
    if time_us >= 1e6:
        return f"{time_us / 1e6:,.2f} s"
    return f"{time_us / 1e3:,.2f} ms" if time_us >= 1e3 else f"{time_us:,.2f} us"


def _rate(rate_bps: float) -> str:
    return f"{rate_bps / 1e9:,.1f} Gb/s"


PORT_HEADS = (
    LABELS["verdict"],
    "kind of port",
    "ports",
    headed("headroom_bytes", "B"),
    headed("need_bytes", "B"),
    "method",
    LABELS["watchdog"],
)
MARGIN_HEADS = (
    "XOFF against ECN",
    "pattern",
    "XOFF at (B)",
    headed("kmin_margin_bytes", "B"),
    headed("kmax_margin_bytes", "B"),
)
POOL_HEADS = (
    LABELS["verdict"],
    "switch",
    "pool",
    "groups",
    "headroom of all groups (B)",
    headed("shared_headroom_bytes", "B"),
    "ratio",
)
_UNKNOWN = "unknown"
MARGINS_REMARK = (
    "(N into 1 fills an egress queue, 1 into N an ingress PG; below zero: reached after XOFF. Marking before XOFF "
    "does not prevent PFC: these margins do not change the verdict)"
)


def verdict_text(result: SimulationResult, style: TextStyle = PLAIN) -> str:
    """Return the verdict on one fabric as text: reasons, changes, runs; if verbose, every kind of port."""
    # Recordings are drawn, not printed, and long.
    return "\n\n".join(_blocks(spelled_out(result._replace(recordings=())), style))


def _blocks(result: SimulationResult, style: TextStyle) -> Iterator[str]:
    closed, runs = result.closed, result.runs
    yield "\n".join(head_lines(result, style))
    yield from _listed("why", [*closed.reasons, *(reason for run in runs for reason in run.reasons)], style)
    yield from _listed("change", [change for run in runs for change in run.changes], style)
    yield from (run_text(run, style) for run in runs)
    yield from (carried_text(load, style) for load in result.loads)
    yield from (load_text(load, style) for load in result.pfc_loads)
    if result.peaks:
        yield peaks_text(result.peaks, style)
    if result.not_run:
        yield f"packet-level model: not run\n{wrapped(result.not_run, style, '  ')}"
    yield from _evidence(closed, style) if style.verbose else _in_numbers(closed, runs, style)
    unknown = [reason for reason in result.not_checked if reason != result.not_run]
    yield from _listed("not checked", unknown, style)


def head_lines(result: SimulationResult, style: TextStyle) -> Iterator[str]:
    """Yield the verdict, for a safe fabric the reason, the limiting port if known, and whether load and PFC load pass.

    Of the loads of several parts it has the first.
    """
    lines, runs = result.closed.lines, result.runs
    yield f"{LABELS['verdict']}: {result.overall}"
    if result.overall == "safe":
        seeds = sum(run.seeds for run in runs)
        model = f"the packet-level model in {seeds} seed{'s' if seeds > 1 else ''}" if runs else ""
        if lines or not runs:
            yield f"  closed forms find nothing unsafe{f', nor does {model}' if runs else ''}"
        else:
            yield f"  {model} finds nothing unsafe"
    limiting = limiting_run(runs) or _limiting_kind(lines)
    if limiting:
        yield wrapped(f"limiting port: {limiting}", style)
    for name, loads in (("load", result.loads), ("pfc_load", result.pfc_loads)):
        missing = NOT_COMPUTED if name == "load" else NOT_EVALUATED
        for load in loads[:1]:
            yield f"{LABELS[name]}: {missing if isinstance(load, MissingInput) else load.verdict}"


def limiting_run(runs: Sequence[RunVerdict]) -> str | None:
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
    """Return an unsafe kind of port without headroom, else the one with the least margin over its required headroom.

    None if there is neither.
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
    """Return the sum of the numbers of each verdict: ``64 unsafe, 32 safe``."""
    return ", ".join(f"{sum(numbers):,} {verdict}" for verdict, numbers in grouped(counts).items())


def _evidence(verdict: FabricVerdict, style: TextStyle) -> Iterator[str]:
    """Yield tables of every kind of port, every pool, and the margins between ECN marking and XOFF."""
    if verdict.lines:
        yield table([PORT_HEADS, *map(port_row, verdict.lines)], style)
    if verdict.pools:
        yield table([POOL_HEADS, *map(pool_row, verdict.pools)], style)
    traffic = [row for line in verdict.lines for row in margin_rows(line)]
    if traffic:
        yield "\n".join([table([MARGIN_HEADS, *traffic], style), wrapped(MARGINS_REMARK, style, hanging="")])


def _listed(title: str, entries: Iterable[str], style: TextStyle) -> Iterator[str]:
    """Yield a titled block of entries, each once, without -v at most ROWS; no block without entries."""
    once = [*dict.fromkeys(entries)]
    if once:
        yield "\n".join([f"{title}:", *cut([wrapped(entry, style, "  ") for entry in once], style, "  ")])


def port_row(line: PortVerdict) -> tuple[str, ...]:
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


def margin_rows(line: PortVerdict) -> Iterator[tuple[str, ...]]:
    """Yield a row for each traffic pattern at a kind of port: N ports into one egress queue, one port into N."""
    rows: list[tuple[str, int, FanIn | FanOut]] = [
        (f"{one.senders} into 1", one.egress_bytes, one) for one in line.fan_in
    ]
    rows += [(f"1 into {one.egresses}", one.group_bytes, one) for one in line.fan_out if one.egresses > 1]
    for place, (pattern, held_bytes, margins) in enumerate(rows):
        kind = "" if place else _port_kind(line)
        before = (margins.kmin_margin_bytes, margins.kmax_margin_bytes)
        yield kind, pattern, *map(_number, (held_bytes, *before))


def pool_row(pool: PoolVerdict) -> tuple[str, ...]:
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
