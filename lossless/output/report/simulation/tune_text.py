"""The result of tuning as text, as ``report.md``, as CSV of all settings, and as plain data for JSON.

``report.md`` has the chosen setting and the reasons, for the ticket of the change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.study.grid import LOSSY_ALONE
from lossless.analysis.simulation.tune.kpis import ORDER
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import PLAIN, ROWS, TextStyle, facts, more_rows, table, wrapped
from lossless.output.report.quantities import LABELS, headed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Annotated, TypedDict

    from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
    from lossless.analysis.simulation.tune.choose import Choice, Reason
    from lossless.analysis.simulation.tune.kpis import Effect, Kpis, WorkloadKpis
    from lossless.analysis.simulation.tune.space import OutOfRange, TriedSetting
    from lossless.analysis.simulation.tune.tune import PortMargin, Standing, Tuned
    from lossless.checks.thresholds.tuned_intent import TuneResult
    from lossless.output.report.simulation.data import ClassData


if TYPE_CHECKING:
    Data = dict[str, Any]

    class PlaceData(TypedDict):
        """A kind of port: the role of its switch, and its speed."""

        role: str
        rate_bps: int

    class HeadroomData(PlaceData):
        """The headroom that was raised before the search."""

        headroom_bytes: int

    PortData = Annotated[Data, PlaceData, ThresholdSetting, LOSSY_ALONE]

    class SettingData(TypedDict):
        """A setting: thresholds of each kind of port, and parameters of senders."""

        ports: list[PortData]
        dcqcn: dict[str, int]

    class SpreadData(TypedDict):
        """Figures over seeds: least, mean and most."""

        pause_us: list[float]
        pause_count: list[float]
        marking_ratio: list[float]
        jct_ratio: list[float]
        queue_us: list[float]

    class ByWorkloadData(TypedDict):
        """The figures of each workload."""

        workloads: list[Annotated[Data, WorkloadKpis, SpreadData]]

    KpiData = Annotated[Data, Kpis, ByWorkloadData]

    class StepData(TypedDict):
        """The step of the search that tried a setting."""

        step: str

    RowData = Annotated[Data, StepData, SettingData, KpiData]

    class ChangeData(TypedDict):
        """A small change of a setting."""

        change: str

    class ObjectionData(TypedDict):
        """The reason why a setting was not chosen."""

        reason: str

    class MarginData(PlaceData):
        """The Xoff and the margin of Kmax at a kind of port."""

        xoff_bytes: int | None
        kmax_margin_bytes: int | None

    class ChosenData(TypedDict):
        """The chosen setting: the reasons, and the effects of small changes."""

        place: int | None
        near: list[Annotated[Data, ChangeData, KpiData]]
        worst_change: str
        rejected: list[Annotated[Data, SettingData, ObjectionData]]
        gain: Effect | None
        reasons: list[Annotated[Data, PlaceData, Reason, ("kind",)]]
        outside_published: list[Annotated[Data, PlaceData, OutOfRange, ("kind",)]]
        outside_gain: Effect | None
        margins: list[MarginData]

    class FrontPlaceData(TypedDict):
        """The place of a setting in the front."""

        place: int | None

    class StandingData(TypedDict):
        """A preset, or the configured setting, compared with the chosen one."""

        name: str
        fresh: KpiData
        searched: KpiData
        dominated: bool
        beaten: int
        beaten_by: Annotated[Data, FrontPlaceData, RowData] | None

    class DiffersData(TypedDict):
        """The thresholds that differ between ports of a kind."""

        differs: list[str]

    class TunedData(TypedDict):
        """The result of tuning a class."""

        workloads: dict[str, str]
        not_run: list[str]
        raised_headroom: list[HeadroomData]
        intent: str | None
        tried: int
        steps: dict[str, int]
        seeds: int
        events: int
        order: str
        axes: dict[str, list[int]]
        now: list[Annotated[Data, PortData, DiffersData]]
        chosen: Annotated[Data, RowData, ChosenData] | None
        standings: list[StandingData]
        front: list[RowData]
        settings: list[RowData]
        assumed: list[str]
        fresh: KpiData | None
        bound_us: float | None
        declined: str | None

    TuneData = Annotated[Data, ClassData, TunedData]


def tune_data(result: TuneResult) -> TuneData:
    """Return the result of tuning as plain data with stable keys; ``settings`` has every setting as tried.

    ``intent`` is the line that declares the chosen setting, None if that is no improvement.
    """
    tuned = result.tuned
    return {
        "workloads": dict(result.workloads),
        "not_run": list(result.not_run),
        "raised_headroom": [
            {"role": role, "rate_bps": rate_bps, "headroom_bytes": size}
            for (role, rate_bps), size in result.headroom_bytes.items()
        ],
        "intent": result.stated().line if result.improves else None,
        "class": tuned.class_name,
        "tried": len(tuned.rows),
        "steps": dict(tuned.steps),
        "seeds": tuned.seeds,
        "events": tuned.events,
        "order": ORDER,
        "axes": {axis.name: list(axis.values) for axis in tuned.axes},
        "now": [
            {**port_data(kind, each.thresholds), "differs": list(each.differs)}
            for kind, each in tuned.now.items()
        ],
        "chosen": None if tuned.chosen is None else _choice(tuned.chosen, tuned.margins),
        "standings": [_standing(each, tuned) for each in tuned.standings],
        "front": [_row(row) for row in tuned.front],
        "settings": [_row(row) for row in tuned.rows],
        "assumed": list(tuned.assumed),
        "fresh": None if tuned.fresh is None else _kpis(tuned.fresh),
        "bound_us": tuned.bound_us,
        "declined": tuned.declined or None,
    }


def port_data(kind: PortKind, thresholds: ThresholdSetting) -> PortData:
    """Return a kind of port and the thresholds of a lossless class on it as plain data."""
    own = {name: value for name, value in thresholds._asdict().items() if name not in LOSSY_ALONE}
    return {"role": kind.role, "rate_bps": round(kind.rate_bps), **own}


def _row(row: TriedSetting) -> RowData:
    return {"step": row.step, **_setting(row.setting), **_kpis(row.kpis)}


def _setting(setting: TrialSetting) -> Data:
    return {"ports": [port_data(*port) for port in setting.by_kind], "dcqcn": dict(setting.dcqcn)}


def _choice(choice: Choice, margins: tuple[PortMargin, ...]) -> Data:
    return {
        "place": choice.place,
        **_row(choice.row),
        "near": [{"change": each.change, **_kpis(each.kpis)} for each in choice.near],
        "worst_change": choice.worst.change,
        "rejected": [{**_setting(each.setting), "reason": each.reason} for each in choice.rejected],
        "gain": None if choice.gain is None else choice.gain._asdict(),
        "reasons": [_of_kind(each) for each in choice.reasons],
        "outside_published": [_of_kind(each) for each in choice.outside],
        "outside_gain": None if choice.outside_gain is None else choice.outside_gain._asdict(),
        "margins": [
            {
                "role": margin.kind.role,
                "rate_bps": round(margin.kind.rate_bps),
                "xoff_bytes": margin.xoff_bytes,
                "kmax_margin_bytes": margin.kmax_margin_bytes,
            }
            for margin in margins
        ],
    }


def _of_kind(each: Reason | OutOfRange) -> Data:
    role, rate_bps = each.kind
    values = {name: value for name, value in each._asdict().items() if name != "kind"}
    return {"role": role, "rate_bps": round(rate_bps), **values}


def _standing(standing: Standing, tuned: Tuned) -> Data:
    by = standing.beaten_by
    return {
        "name": standing.name,
        "fresh": _kpis(standing.fresh),
        "searched": _kpis(standing.searched),
        "dominated": standing.dominated,
        "beaten": standing.beaten,
        "beaten_by": None if by is None else {"place": tuned.place_of(by.setting), **_row(by)},
    }


def _kpis(kpis: Kpis) -> KpiData:
    """Return the measures of a setting as plain data, over all workloads and for each."""
    return {**kpis._asdict(), "workloads": [_workload(each) for each in kpis.workloads]}


def _workload(kpis: WorkloadKpis) -> Data:
    """Return the measures of one workload as plain data; a spread over seeds is a list of least, mean and most."""
    values = kpis._asdict()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


_WORDS = """\
PFC Pause Duration, PFC Pause Count, ECN Marking Ratio and JCT Ratio are those of
`draft-calabria-bmwg-ai-fabric-training-bench` (`fcalabri/bmwg-ai-fabric-training-bench` @e19e018): time in pause,
summed over all ports, pauses asked for, share of frames that were marked, and time to completion over the time at line
rate. The p99 queueing delay is the time within which 99 % of all frames leave the queue of a switch port again.
"""
_STYLE = TextStyle(columns=120, verbose=True)


def tune_markdown(result: TuneResult) -> str:
    """Return the result of tuning as Markdown, the text of report.md."""
    lines = [
        f"# Thresholds of class {result.tuned.class_name}",
        "",
        _WORDS,
        "```",
        tune_text(result, style=_STYLE),
        "```",
        "",
    ]
    return "\n".join(lines)


_AXES = {"dynamic_th": "dynamic_th", "kmin": "Kmin", "kmax": "Kmax", "pmax": "Pmax"}
_STEPS = {
    "now": "as configured",
    "grid": "on the grid",
    "refined": "on finer grids around the best",
    "alpha": "with another alpha",
    "by kind": "at one kind of port after another",
    "optuna": "with DCQCN parameters, by optuna",
}
_KPIS = (
    LABELS["verdict"],
    LABELS["pfc_before_ecn"],
    headed("pause_us", "us"),
    LABELS["pause_count"],
    headed("marking_ratio", "%"),
    LABELS["jct_ratio"],
    headed("queue_us", "us"),
    headed("headroom_left_bytes", "B"),
)
_OVERALL = (
    "all workloads",
    LABELS["verdict"],
    LABELS["pfc_before_ecn"],
    LABELS["pause_share"],
    LABELS["jct_ratio"],
    headed("queue_us", "us"),
)


def tune_text(result: TuneResult, limit: int | None = None, style: TextStyle = PLAIN) -> str:
    """Return the result of tuning as text: searched and chosen settings, comparison with presets, Pareto front.

    Without ``limit`` the front has at most ROWS settings, or all with a verbose style.
    """
    line = result.stated().line if result.improves else None
    return "\n\n".join(_blocks(spelled_out(result), spelled_out(line), limit, style))


def tune_csv(tuned: Tuned) -> str:
    """Return all tried settings as comma-separated values: a line for each kind of port of a setting."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = ("verdict", "pfc_before_ecn", "pause_share", "jct_ratio", "queue_us")
    kind, now = next(iter(tuned.now.items()))
    writer.writerow(["setting", "step", *port_data(kind, now.thresholds), "dcqcn", *figures])
    for number, row in enumerate(tuned.rows, 1):
        dcqcn = " ".join(f"{name}={value}" for name, value in row.setting.dcqcn)
        for port in row.setting.by_kind:
            shown = (getattr(row.kpis, name) for name in figures)
            writer.writerow([number, row.step, *port_data(*port).values(), dcqcn, *shown])
    return text.getvalue().removesuffix("\n")


def _blocks(result: TuneResult, line: str | None, limit: int | None, style: TextStyle) -> Iterator[str]:
    yield "\n".join(_head(result, style))
    tuned = result.tuned
    chosen = tuned.chosen
    if chosen is None:
        yield wrapped(
            "nothing is chosen: no setting that was tried is safe for all workloads and lints clean", style
        )
    else:
        yield "\n".join(_chosen(tuned, chosen, line, style))
    yield "\n".join(_standings(result, style))
    if chosen is not None:
        yield "\n".join(_flatness(chosen, style))
    yield "\n".join(_front(tuned, limit, style))
    if style.verbose:
        yield "\n".join(["assumed:", *(wrapped(entry, style, "  ") for entry in tuned.assumed)])
    else:
        yield "-v shows each workload, the whole front, and what is assumed"


def _head(result: TuneResult, style: TextStyle) -> Iterator[str]:
    tuned = result.tuned
    seeds = f", {tuned.seeds} seeds each" if tuned.seeds > 1 else ""
    yield wrapped(f"tune: {len(tuned.rows):,} settings tried for class {tuned.class_name}{seeds}", style)
    rows = [(name, what) for name, what in result.workloads.items()]
    rows += [("not run", reason) for reason in result.not_run]
    rows += [("headroom", _raised(*port, size)) for port, size in result.headroom_bytes.items()]
    rows += [(_AXES.get(axis.name, axis.name), _values(axis.name, axis.values)) for axis in tuned.axes]
    rows += [("tried", ", ".join(f"{many:,} {_STEPS[step]}" for step, many in tuned.steps.items()))]
    yield facts(rows, style, "  ")


def _raised(role: str, rate_bps: int, size_bytes: int) -> str:
    where = f"{role} {format_rate(rate_bps)} ports"
    return (
        f"raised to {format_bytes(size_bytes)} at {where} first: they had less"
        " than they need where peers take as long to obey PFC as IEEE 802.3 allows"
    )


def _values(name: str, values: Sequence[int]) -> str:
    """Return the values of one axis of the first grid as text; ECN thresholds are those of the slowest ports."""
    return ", ".join(_value(name, value) for value in values)


def _value(name: str, value: int) -> str:
    if name in ("kmin", "kmax"):
        return f"{value / 1024:,.0f} KiB"
    return f"{value}%" if name == "pmax" else str(value)


def _chosen(tuned: Tuned, chosen: Choice, line: str | None, style: TextStyle) -> Iterator[str]:
    if tuned.declined:
        what = "nothing" if line is None else "nothing but the headroom"
        yield wrapped(f"{what} is proposed: {tuned.declined}", style)
        yield wrapped("--write PLACE takes a setting of the front", style)
    else:
        gain = "the only one that is safe" if chosen.gain is None else f"{chosen.gain}"
        yield wrapped(f"proposed, against what is configured: {gain}", style)
    yield wrapped(_delay(tuned), style)
    if line is not None:
        yield "in the intent (--write puts it there):"
        yield wrapped(line, style, "  ")
    yield ""
    heads = ("ports", "dynamic_th", "Kmin (B)", "Kmax (B)", "Pmax", LABELS["kmax_margin_bytes"] + " (B)")
    rows = [_port_row("now", kind, port.thresholds, port.differs) for kind, port in tuned.now.items()]
    rows += [
        _port_row("chosen", kind, own, tuned.now[kind].differs, margin.kmax_margin_bytes)
        for (kind, own), margin in zip(chosen.row.setting.by_kind, tuned.margins, strict=True)
    ]
    yield table([("", *heads), *rows], style, whole=True)
    if any(port.differs for port in tuned.now.values()):
        yield wrapped("differs: ports of that kind have several values, and each port keeps its own", style)
    dcqcn = chosen.row.setting.dcqcn
    if dcqcn:
        yield wrapped("DCQCN: " + ", ".join(f"{name} {value}" for name, value in dcqcn), style)
    if not tuned.declined:
        yield from _reasons(chosen, style)


def _delay(tuned: Tuned) -> str:
    """Return the p99 queueing delay of the worst workload, with fresh seeds, and the bound of the intent."""
    reached = [] if tuned.fresh is None or tuned.declined else [f"{tuned.fresh.queue_us:,.0f} us"]
    reached += [f"now {each.fresh.queue_us:,.0f} us" for each in tuned.standings if each.name == "now"]
    bound = (
        "no bound is declared" if tuned.bound_us is None else f"at most {tuned.bound_us:,g} us is declared"
    )
    return (
        f"p99 queueing delay of the worst workload: {', '.join(reached)}; {bound} (queueing_delay of class"
        f" {tuned.class_name})"
    )


def _reasons(chosen: Choice, style: TextStyle) -> Iterator[str]:
    """Yield why each parameter has its value, once for all ports of one reason; then values out of published ranges."""
    ports: dict[tuple[str, str], list[str]] = {}
    for each in chosen.reasons:
        where = f"{each.kind.role} {format_rate(round(each.kind.rate_bps))}"
        ports.setdefault((LABELS[each.parameter], each.why), []).append(where)
    for (name, why), places in ports.items():
        yield wrapped(f"{name} ({', '.join(places)}): {why}", style)
    for value in chosen.outside:
        yield wrapped(
            f"outside the published range: {LABELS[value.parameter]} {_amount(value.parameter, value.value)} at"
            f" {value.kind.role} {format_rate(round(value.kind.rate_bps))} ports; published are"
            f" {_amount(value.parameter, value.least)} to {_amount(value.parameter, value.most)}",
            style,
        )
    if chosen.outside:
        gain = chosen.outside_gain or "no setting within it that was tried is worth a change"
        yield wrapped(f"against the best setting within the published range: {gain}", style)


def _amount(parameter: str, value: int) -> str:
    return f"{value} %" if parameter == "pmax_percent" else format_bytes(value)


def _port_row(
    what: str,
    kind: PortKind,
    own: ThresholdSetting,
    differs: Collection[str] = (),
    margin_bytes: int | None = None,
) -> tuple[str, ...]:
    written = {"dynamic_th": "{}", "kmin_bytes": "{:,}", "kmax_bytes": "{:,}", "pmax_percent": "{}%"}
    values = {name: _or_dash(getattr(own, name), text) for name, text in written.items()}
    return (
        what,
        f"{kind.role} {format_rate(round(kind.rate_bps))}",
        *("differs" if value == "-" and name in differs else value for name, value in values.items()),
        _or_dash(margin_bytes, "{:,}"),
    )


def _or_dash(value: int | None, written: str) -> str:
    return "-" if value is None else written.format(value)


def _standings(result: TuneResult, style: TextStyle) -> Iterator[str]:
    tuned, workloads = result.tuned, result.workloads
    sides = [] if tuned.fresh is None else [("chosen", tuned.fresh)]
    sides += [(each.name, each.fresh) for each in tuned.standings]
    yield f"with {tuned.seeds} seeds that the search has not seen:"
    if len(workloads) > 1:
        yield table([_OVERALL, *((side, *_overall(kpis)) for side, kpis in sides)], style, "  ", whole=True)
    if len(workloads) == 1 or style.verbose:
        for name in workloads:
            seen = [(side, each) for side, kpis in sides for each in kpis.workloads if each.name == name]
            yield table(
                [(name, *_KPIS), *((side, *_figures(each)) for side, each in seen)], style, "  ", whole=True
            )
    for each in tuned.standings:
        yield wrapped(_stands(each, tuned), style)


def _overall(kpis: Kpis) -> tuple[str, ...]:
    verdict, *figures = _brief(kpis)
    return verdict, str(kpis.pfc_before_ecn), *figures


def _stands(standing: Standing, tuned: Tuned) -> str:
    """Return a sentence with the setting that is no worse than a preset in any measure and better in one, if any."""
    name = standing.name
    if standing.dominated:
        return f"{name}: the chosen setting is no worse in anything, and better in something"
    by = standing.beaten_by
    if by is not None:
        place = tuned.place_of(by.setting)
        where = f"place {place} of the front" if place else "a setting that was tried"
        return f"{name}: {where} is no worse in anything, and better in something ({_summary(by.kpis)})"
    many = f"{len(tuned.rows):,}"
    return f"{name}: none of the {many} settings tried is no worse in everything and better in something"


def _summary(kpis: Kpis) -> str:
    return (
        f"{LABELS['pause_share']} {kpis.pause_share:.3f}, {LABELS['jct_ratio']} {kpis.jct_ratio:.3f},"
        f" {LABELS['queue_us']} {kpis.queue_us:,.0f} us"
    )


def _figures(seen: WorkloadKpis) -> tuple[str, ...]:
    left = seen.headroom_left_bytes
    if seen.dead_nic:
        stopped = seen.stopped_queues
        ended = f"{stopped} queue{'s' if stopped != 1 else ''} stopped"
        return seen.verdict, ended, *["-"] * (len(_KPIS) - 2)
    return (
        seen.verdict,
        f"{seen.pfc_before_ecn} of {seen.seeds}",
        _range(seen.pause_us, "{:,.0f}"),
        _range(seen.pause_count, "{:,.0f}"),
        _range([100 * value for value in seen.marking_ratio], "{:.1f}"),
        _range(seen.jct_ratio, "{:.3f}"),
        _range(seen.queue_us, "{:,.0f}"),
        "not used" if left is None else "ran out" if seen.drops else f"{left:,}",
    )


def _range(spread: Sequence[float], written: str) -> str:
    """Return the mean over the seeds, and the least and the most where they differ."""
    least, mean, most = (written.format(value) for value in spread)
    return mean if least == most else f"{mean} ({least}-{most})"


def _flatness(chosen: Choice, style: TextStyle) -> Iterator[str]:
    yield "the chosen setting after a small change:"
    heads = (
        "",
        LABELS["verdict"],
        LABELS["pause_share"],
        LABELS["jct_ratio"],
        headed("queue_us", "us"),
    )
    near = ((each.change, *_brief(each.kpis)) for each in chosen.near)
    yield table([heads, ("none", *_brief(chosen.row.kpis)), *near], style, "  ", whole=True)
    if chosen.place is not None:
        yield wrapped(f"it has place {chosen.place} of the front", style)
    for each in chosen.rejected:
        yield wrapped(f"not taken: {each.reason}", style)


def _brief(kpis: Kpis) -> tuple[str, ...]:
    return (
        kpis.verdict,
        f"{kpis.pause_share:,.3f}",
        f"{kpis.jct_ratio:.3f}",
        f"{kpis.queue_us:,.0f}",
    )


def _front(tuned: Tuned, limit: int | None, style: TextStyle) -> Iterator[str]:
    rows = tuned.front
    shown = limit or (len(rows) if style.verbose else ROWS)
    yield "Pareto front: every other safe setting is worse in something than one of these, and better in nothing"
    heads = ("", "first ports: dynamic_th", "Kmin (B)", "Kmax (B)", "Pmax")
    figures = (
        "PFC before ECN",
        LABELS["pause_share"],
        LABELS["jct_ratio"],
        headed("queue_us", "us"),
    )
    cells = [
        (
            str(place),
            *_port_row("", *row.setting.by_kind[0])[2:6],
            str(row.kpis.pfc_before_ecn),
            *_brief(row.kpis)[1:],
        )
        for place, row in enumerate(rows[:shown], 1)
    ]
    yield table([(*heads, *figures), *cells], style, whole=True)
    yield from more_rows(len(rows) - shown)
    yield wrapped(f"best first: {ORDER}", style)
