"""Results of the packet-level model as text: the verdict, the measures and the assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.verdict import MOST_NICS_PAUSED, MOST_TIME_IN_PAUSE, NOT_EVALUATED
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes
from lossless.output.report.columns import facts, wrapped
from lossless.output.report.quantities import LABELS
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.analysis.buffers.verdict import PfcLoad
    from lossless.analysis.simulation.study.study import BesideVerdict
    from lossless.analysis.simulation.study.verdict import LossVerdict, Occurrence, Range, RunVerdict


def run_text(run: RunVerdict, style: TextStyle = PLAIN) -> str:
    """Return the results of one scenario; :mod:`verdict_text` puts its reasons and changes first."""
    return "\n".join(_lines(spelled_out(run), style))


def _lines(run: RunVerdict, style: TextStyle) -> Iterator[str]:
    yield f"packet-level model: {run.verdict}"
    yield wrapped(run.scenario, style, "  ")
    yield facts([*measured(run)], style, "  ")
    if run.assumed and style.verbose:
        yield "\n".join(["  assumed:", *(wrapped(entry, style, "    ") for entry in run.assumed)])


def load_text(load: PfcLoad | MissingInput, style: TextStyle = PLAIN) -> str:
    """Return the PFC load, each measure with its limit."""
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


def measured(run: RunVerdict | Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each measure of a run."""
    if isinstance(run, Mapping):
        run = _verdict_of(run)
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
    yield LABELS["goodput_bps"], _goodput(run)
    many = run.seeds
    yield (
        "ran",
        f"{many} seed{'s' if many > 1 else ''}, {_us(run.ran_us)}, {run.events:,} events{_cut(run)}",
    )


def _loss(loss: LossVerdict) -> Iterator[tuple[str, str]]:
    """Yield the loss of a lossy class in the worst seed."""
    shares = [f"{getattr(loss, f'{what}_share'):.2%} {what}" for what in ("dropped", "trimmed", "resent")]
    timers = f", {loss.timeouts:,} timers ran out" if loss.timeouts else ""
    yield LABELS["loss"], f"{', '.join(shares)}{timers}"
    more, open_ = (
        (">= ", f"; transfers that had not ended: {loss.unfinished}") if loss.unfinished else ("", "")
    )
    beside = f", {more}{loss.cost:.2f} x what it takes without loss" if 1 < loss.cost < loss.slowdown else ""
    yield LABELS["slowdown"], f"{more}{loss.slowdown:.2f} x what the slowest link allows{beside}{open_}"


def _beside(seen: BesideVerdict, seeds: int) -> str:
    """Return the drops and pauses of the storage class."""
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


def _goodput(run: RunVerdict) -> str:
    return f"{_rate(run.goodput_bps)} of payload, {run.of_line_rate:.0%} of line rate less headers"


def _rate(rate_bps: float) -> str:
    return f"{rate_bps / 1e9:,.1f} Gb/s"


def _verdict_of(run: Mapping[str, Any]) -> RunVerdict:
    """Return the verdict that plain data is made of; the text of a workload still has no other."""
    from lossless.analysis.simulation.study.study import BesideVerdict
    from lossless.analysis.simulation.study.verdict import LossVerdict, Occurrence, Range, RunVerdict

    events = {name: Occurrence(**run[name]) for name in ("drops", "pfc", "marks", "watchdog")}
    figures = ("egress_bytes", "group_bytes", "headroom_bytes")
    ranges = {name: run[name] and Range(**run[name]) for name in figures}
    beside, loss = run.get("beside"), run.get("loss")
    others = {"beside": beside and BesideVerdict(**beside), "loss": loss and LossVerdict(**loss)}
    return RunVerdict(**{**run, **events, **ranges, **others})
