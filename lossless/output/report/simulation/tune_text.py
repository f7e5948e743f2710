"""What tuning found as people read it, and as a table of all settings for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import ROWS, facts, more_rows, table, wrapped
from lossless.output.report.quantities import LABELS, headed
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """What tuning found as plain data, by the names of :mod:`lossless.analysis.simulation.tune.tuned_data`."""

_AXES = {"dynamic_th": "dynamic_th", "kmin": "Kmin", "kmax": "Kmax", "pmax": "Pmax"}
_STEPS = {
    "now": "as configured",
    "grid": "on the grid",
    "refined": "on finer grids around the best",
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


def tune_text(data: Data, limit: int | None = None, style: TextStyle = PLAIN) -> str:
    """Return what was searched and chosen, how that compares with presets, and the first settings of the front."""
    return "\n\n".join(_blocks(spelled_out(data), limit, style))


def tune_csv(data: Data) -> str:
    """Return everything that was tried as comma-separated values: a line for each kind of port of a setting."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = ("verdict", "pfc_before_ecn", "pause_share", "jct_ratio", "queue_us")
    writer.writerow(["setting", "step", *data["now"][0], "dcqcn", *figures])
    for number, row in enumerate(data["settings"], 1):
        dcqcn = " ".join(f"{name}={value}" for name, value in row["dcqcn"].items())
        for port in row["ports"]:
            shown = (row[name] for name in figures)
            writer.writerow([number, row["step"], *port.values(), dcqcn, *shown])
    return text.getvalue().removesuffix("\n")


def _blocks(data: Data, limit: int | None, style: TextStyle) -> Iterator[str]:
    yield "\n".join(_head(data, style))
    chosen = data["chosen"]
    if chosen is None:
        yield wrapped(
            "nothing is chosen: no setting that was tried is safe for all workloads and lints clean", style
        )
    else:
        yield "\n".join(_chosen(data, chosen, style))
    yield "\n".join(_standings(data, style))
    if chosen is not None:
        yield "\n".join(_flatness(chosen, style))
    yield "\n".join(_front(data, limit, style))
    if style.verbose:
        yield "\n".join(["assumed:", *(wrapped(entry, style, "  ") for entry in data["assumed"])])
    else:
        yield "-v shows each workload, the whole front, and what is assumed"


def _head(data: Data, style: TextStyle) -> Iterator[str]:
    seeds = f", {data['seeds']} seeds each" if data["seeds"] > 1 else ""
    yield wrapped(f"tune: {data['tried']:,} settings tried for class {data['class']}{seeds}", style)
    rows = [(name, what) for name, what in data["workloads"].items()]
    rows += [("not run", reason) for reason in data["not_run"]]
    rows += [("headroom", _raised(port)) for port in data["raised_headroom"]]
    rows += [(_AXES.get(name, name), _values(name, values)) for name, values in data["axes"].items()]
    rows += [("tried", ", ".join(f"{many:,} {_STEPS[step]}" for step, many in data["steps"].items()))]
    yield facts(rows, style, "  ")


def _raised(port: Data) -> str:
    where = f"{port['role']} {format_rate(port['rate_bps'])} ports"
    return (
        f"raised to {format_bytes(port['headroom_bytes'])} at {where} first: they had less"
        " than they need where peers take as long to obey PFC as IEEE 802.3 allows"
    )


def _values(name: str, values: Sequence[int]) -> str:
    """Return the values of the first grid; ECN thresholds are those of the slowest ports."""
    return ", ".join(_value(name, value) for value in values)


def _value(name: str, value: int) -> str:
    if name in ("kmin", "kmax"):
        return f"{value / 1024:,.0f} KiB"
    return f"{value}%" if name == "pmax" else str(value)


def _chosen(data: Data, chosen: Data, style: TextStyle) -> Iterator[str]:
    if data["intent"] is None:
        yield wrapped("nothing to write: what is configured is the best of all that was tried", style)
    else:
        yield "in the intent (--write puts it there):"
        yield wrapped(data["intent"], style, "  ")
    yield ""
    heads = ("ports", "dynamic_th", "Kmin (B)", "Kmax (B)", "Pmax", LABELS["kmax_margin_bytes"] + " (B)")
    rows = [_port_row("now", port, None) for port in data["now"]]
    margins = [margin["kmax_margin_bytes"] for margin in chosen["margins"]]
    rows += [_port_row("chosen", port, margin) for port, margin in zip(chosen["ports"], margins, strict=True)]
    yield table([("", *heads), *rows], style, whole=True)
    if chosen["dcqcn"]:
        yield wrapped("DCQCN: " + ", ".join(f"{k} {v}" for k, v in chosen["dcqcn"].items()), style)


def _port_row(what: str, port: Data, margin: int | None) -> tuple[str, ...]:
    thresholds = ("dynamic_th", "kmin_bytes", "kmax_bytes", "pmax_percent")
    exponent, low, high, percent = (port[name] for name in thresholds)
    return (
        what,
        f"{port['role']} {format_rate(port['rate_bps'])}",
        _or_dash(exponent, "{}"),
        _or_dash(low, "{:,}"),
        _or_dash(high, "{:,}"),
        _or_dash(percent, "{}%"),
        _or_dash(margin, "{:,}"),
    )


def _or_dash(value: int | None, written: str) -> str:
    return "-" if value is None else written.format(value)


def _standings(data: Data, style: TextStyle) -> Iterator[str]:
    chosen = data["chosen"]
    sides = [] if chosen is None else [("chosen", data["fresh"])]
    sides += [(each["name"], each["fresh"]) for each in data["standings"]]
    yield f"with {data['seeds']} seeds that the search has not seen:"
    if len(data["workloads"]) > 1:
        yield table([_OVERALL, *((side, *_overall(kpis)) for side, kpis in sides)], style, "  ", whole=True)
    if len(data["workloads"]) == 1 or style.verbose:
        for name in data["workloads"]:
            seen = [
                (side, each) for side, kpis in sides for each in kpis["workloads"] if each["name"] == name
            ]
            yield table(
                [(name, *_KPIS), *((side, *_figures(each)) for side, each in seen)], style, "  ", whole=True
            )
    for each in data["standings"]:
        yield wrapped(_stands(each, data), style)


def _overall(kpis: Data) -> tuple[str, ...]:
    verdict, *figures = _brief(kpis)
    return verdict, str(kpis["pfc_before_ecn"]), *figures


def _stands(standing: Data, data: Data) -> str:
    """Say which setting is no worse than a preset in anything and better in something, or that none is."""
    name = standing["name"]
    if standing["dominated"]:
        return f"{name}: the chosen setting is no worse in anything, and better in something"
    by = standing["beaten_by"]
    if by is not None:
        where = f"place {by['place']} of the front" if by["place"] else "a setting that was tried"
        return f"{name}: {where} is no worse in anything, and better in something ({_summary(by)})"
    return f"{name}: none of the {data['tried']:,} settings tried is no worse in everything and better in something"


def _summary(row: Data) -> str:
    return (
        f"{LABELS['pause_share']} {row['pause_share']:.3f}, {LABELS['jct_ratio']} {row['jct_ratio']:.3f},"
        f" {LABELS['queue_us']} {row['queue_us']:,.0f} us"
    )


def _figures(seen: Data) -> tuple[str, ...]:
    left = seen["headroom_left_bytes"]
    if seen["dead_nic"]:
        stopped = seen["stopped_queues"]
        ended = f"{stopped} queue{'s' if stopped != 1 else ''} stopped"
        return seen["verdict"], ended, *["-"] * (len(_KPIS) - 2)
    return (
        seen["verdict"],
        f"{seen['pfc_before_ecn']} of {seen['seeds']}",
        _range(seen["pause_us"], "{:,.0f}"),
        _range(seen["pause_count"], "{:,.0f}"),
        _range([100 * value for value in seen["marking_ratio"]], "{:.1f}"),
        _range(seen["jct_ratio"], "{:.3f}"),
        f"{seen['queue_us']:,.0f}",
        "not used" if left is None else "ran out" if seen["drops"] else f"{left:,}",
    )


def _range(spread: Sequence[float], written: str) -> str:
    """Return the mean over the seeds, and the least and the most where they differ."""
    least, mean, most = (written.format(value) for value in spread)
    return mean if least == most else f"{mean} ({least}-{most})"


def _flatness(chosen: Data, style: TextStyle) -> Iterator[str]:
    yield "the chosen setting after a small change:"
    heads = (
        "",
        LABELS["verdict"],
        LABELS["pause_share"],
        LABELS["jct_ratio"],
        headed("queue_us", "us"),
    )
    rows = [("none", *_brief(chosen)), *((near["change"], *_brief(near)) for near in chosen["near"])]
    yield table([heads, *rows], style, "  ", whole=True)
    if chosen["place"] > 1:
        yield wrapped(
            f"it has place {chosen['place']} of the front: those before it lose more by some small change",
            style,
        )
    for each in chosen["rejected"]:
        yield wrapped(f"not taken: {each['reason']}", style)


def _brief(kpis: Data) -> tuple[str, ...]:
    return (
        kpis["verdict"],
        f"{kpis['pause_share']:,.3f}",
        f"{kpis['jct_ratio']:.3f}",
        f"{kpis['queue_us']:,.0f}",
    )


def _front(data: Data, limit: int | None, style: TextStyle) -> Iterator[str]:
    rows = data["front"]
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
        (str(place), *_port_row("", row["ports"][0], None)[2:6], str(row["pfc_before_ecn"]), *_brief(row)[1:])
        for place, row in enumerate(rows[:shown], 1)
    ]
    yield table([(*heads, *figures), *cells], style, whole=True)
    yield from more_rows(len(rows) - shown)
    yield wrapped(f"best first: {data['order']}", style)
