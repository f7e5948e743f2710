"""A sweep as text for people, and as CSV for programs: the best settings first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes
from lossless.output.report.columns import PLAIN, ROWS, TextStyle, facts, more_rows, table, wrapped
from lossless.output.report.quantities import LABELS, headed
from lossless.output.report.simulation.data import row_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.sweep import Sweep, SweepRow
    from lossless.analysis.simulation.study.verdict import LossVerdict

_THRESHOLDS: dict[str, tuple[str, Callable[[int], str]]] = {
    name: (LABELS[name], write)
    for name, write in (
        ("dynamic_th", str),
        ("kmin_bytes", format_bytes),
        ("kmax_bytes", format_bytes),
        ("pmax_percent", "{}%".format),
        ("headroom_bytes", format_bytes),
        ("queue_dynamic_th", str),
        ("trimming", lambda value: "on" if value else "off"),
    )
}
"""The label of a threshold, and the function that writes its values, by its field of a setting."""
_NOW = "now"
_PLAIN = ("dynamic_th", "queue_dynamic_th", "trimming")
"""Thresholds whose values have no unit."""


def sweep_text(
    sweep: Sweep, line: str | None = None, limit: int | None = None, style: TextStyle = PLAIN
) -> str:
    """Return a sweep as text: the numbers of safe and silent settings, and the best ones beside the configured one.

    Of a lossy class it has how many settings lose nothing. Without a limit ROWS settings are shown, all with a verbose
    style, which also shows goodput and queues. ``line`` is the line of an intent that declares the best setting, None
    without one.
    """
    texts = {name: spelled_out(getattr(sweep, name)) for name in ("scenario", "names", "assumed", "order")}
    return "\n\n".join(_blocks(sweep._replace(**texts), spelled_out(line), limit, style))


def sweep_csv(sweeps: Sequence[Sweep]) -> str:
    """Return all settings of all sweeps as comma-separated values below a line of names; a missing value is empty."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*row_data(sweeps[0].rows[0], sweeps[0].names), "scenario"])
    for sweep in sweeps:
        writer.writerows([*row_data(row, sweep.names).values(), sweep.scenario] for row in sweep.rows)
    return text.getvalue().removesuffix("\n")


def _blocks(sweep: Sweep, line: str | None, limit: int | None, style: TextStyle) -> Iterator[str]:
    yield "\n".join(_head(sweep, style))
    if line:
        yield f"in the intent, place 1 (--write puts it there):\n{wrapped(line, style, '  ')}"
    shown = limit or (len(sweep.rows) if style.verbose else ROWS)
    yield "\n".join(_table(sweep, shown, style))
    if style.verbose:
        yield table([_RATES, *(_rates(place, row) for place, row in _ranked(sweep, shown))], style)
        yield "\n".join(["assumed:", *(wrapped(entry, style, "  ") for entry in sweep.assumed)])
    else:
        yield "-v shows all settings, their goodput and peak queue depth, and what is assumed"


def _head(sweep: Sweep, style: TextStyle) -> Iterator[str]:
    names = ", ".join(_THRESHOLDS[name][0] for name in sweep.names)
    seeds = f", {sweep.seeds} seeds each" if sweep.seeds > 1 else ""
    how_long = "until transfers end" if sweep.is_lossy else f"{sweep.horizon_us / 1000:,g} ms"
    yield wrapped(f"sweep: {_many(len(sweep.rows))} of {names}, {how_long}{seeds}", style)
    yield wrapped(sweep.scenario, style, "  ")
    yield facts([*_shares(sweep), *_less(sweep)], style, "  ")


def _many(settings: int) -> str:
    return f"{settings:,} setting{'s' if settings != 1 else ''}"


def _shares(sweep: Sweep) -> Iterator[tuple[str, str]]:
    yield "safe", _share(sweep, lambda row: bool(row.verdict == "safe"))
    if sweep.is_lossy:
        yield "nothing lost", _share(sweep, lambda row: not sum(_lost(row)))
    else:
        yield "PFC silent", _share(sweep, lambda row: not row.pauses)


def _less(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Yield the settings that were not run, or not to their end."""
    if sweep.cut and not sweep.is_lossy:
        more = "pauses and maxima may still come, and a longer --horizon shows them"
        yield "under way", f"{sweep.cut:,} of {len(sweep.rows):,} at the end: {more}"
    if sweep.skipped:
        yield "not run", f"{_many(sweep.skipped)}: Kmin would be above Kmax"


def _share(sweep: Sweep, good: Callable[[SweepRow], bool]) -> str:
    """Return how many settings satisfy ``good``, and the threshold values with which all or none do."""
    rows = sweep.rows
    count = sum(map(good, rows))
    text = f"{count:,} of {len(rows):,}"
    if not 0 < count < len(rows):
        return text
    seen = {name: _outcomes(rows, name, good) for name in sweep.names}
    always = _values(seen, {True})
    never = _values(seen, {False})
    return "".join([text, f"; always with {always}" * bool(always), f"; never with {never}" * bool(never)])


def _outcomes(rows: Sequence[SweepRow], name: str, good: Callable[[SweepRow], bool]) -> dict[int, set[bool]]:
    """Return, for each value of a threshold in order, the results of ``good`` for the settings with that value."""
    outcomes: dict[int, set[bool]] = {}
    for row in rows:
        outcomes.setdefault(getattr(row.setting, name), set()).add(good(row))
    return dict(sorted(outcomes.items()))


def _values(seen: Mapping[str, Mapping[int, set[bool]]], wanted: set[bool]) -> str:
    parts = []
    for name, outcomes in seen.items():
        title, write = _THRESHOLDS[name]
        runs = ", ".join(
            _runs([(value, seen_with == wanted) for value, seen_with in outcomes.items()], write)
        )
        if runs:
            parts.append(f"{title} {runs}")
    return " or ".join(parts)


def _runs(values: Sequence[tuple[int, bool]], write: Callable[[int], str]) -> Iterator[str]:
    """Yield the values with a true flag as text, consecutive ones as a range."""
    run: list[int] = []
    for value, holds in (*values, (0, False)):
        if holds:
            run.append(value)
        elif run:
            yield write(run[0]) if len(run) == 1 else f"{write(run[0])} to {write(run[-1])}"
            run = []


_RATES = ("", headed("goodput_bps", "Gb/s"), headed("egress_bytes", "B"))


def _ranked(sweep: Sweep, shown: int) -> Iterator[tuple[str, SweepRow]]:
    """Yield the configured setting as ``now``, then the first ``shown`` settings, each with its rank."""
    yield _NOW, sweep.configured
    yield from ((str(place), row) for place, row in enumerate(sweep.rows[:shown], 1))


def _rates(place: str, row: SweepRow) -> tuple[str, ...]:
    return place, f"{row.goodput_bps / 1e9:,.1f}", f"{row.egress_bytes:,}"


def _table(sweep: Sweep, shown: int, style: TextStyle) -> Iterator[str]:
    names, rows, seeds = sweep.names, sweep.rows, sweep.seeds
    heads = ("", *map(_column, names), LABELS["verdict"], *(_LOSS if sweep.is_lossy else _heads(seeds)))
    cells = [
        (place, *_given(row, names), row.verdict, *_figures(row, seeds))
        for place, row in _ranked(sweep, shown)
    ]
    yield table([heads, *cells], style, whole=True)
    yield from more_rows(len(rows) - shown)
    yield wrapped(f"best first: {sweep.order}", style)
    yield from _fastest(rows, names, style)


def _column(name: str) -> str:
    return LABELS[name] if name in _PLAIN else headed(name, "%" if name == "pmax_percent" else "B")


_SHARES = ("dropped_share", "trimmed_share", "resent_share")
_LOSS = (
    *(headed(name, "%") for name in _SHARES),
    *(LABELS[name] for name in ("timeouts", "slowdown", "cost")),
)


def _given(row: SweepRow, names: Sequence[str]) -> Iterator[str]:
    """Yield the thresholds of a row, a dash for a configured value."""
    for name in names:
        value = getattr(row.setting, name)
        yield "-" if value is None else _THRESHOLDS[name][1](value) if name in _PLAIN else f"{value:,}"


def _figures(row: SweepRow, seeds: int) -> tuple[str, ...]:
    return _loss(row.loss) if row.loss is not None else _pauses(row, seeds)


def _lost(row: SweepRow) -> tuple[float, float]:
    """Return the shares of packets of a lossy class that were dropped and trimmed."""
    return (row.loss.dropped_share, row.loss.trimmed_share) if row.loss is not None else (0.0, 0.0)


def _loss(loss: LossVerdict) -> tuple[str, ...]:
    """Return the cells for the loss of a lossy class; unfinished transfers make slowdown and cost lower bounds."""
    more = ">= " if loss.unfinished else ""
    shares = (f"{100 * getattr(loss, name):.2f}" for name in _SHARES)
    return (*shares, f"{loss.timeouts:,}", f"{more}{loss.slowdown:.2f} x", f"{more}{loss.cost:.2f} x")


def _heads(seeds: int) -> tuple[str, ...]:
    pfc = (LABELS["pfc_seeds"],) if seeds > 1 else ()
    figures = (headed("longest_pause_us", "us"), headed("headroom_left_bytes", "B"))
    return (LABELS["drops"], LABELS["pauses"], *pfc, *figures)


def _pauses(row: SweepRow, seeds: int) -> tuple[str, ...]:
    pfc = (f"{row.pfc_seeds} of {seeds}",) if seeds > 1 else ()
    left = row.headroom_left_bytes
    return (
        f"{row.drops:,}",
        f"{row.pauses:,}",
        *pfc,
        f"{row.longest_pause_us:,.2f}" if row.pauses else "-",
        "not used" if left is None else "ran out" if row.drops else f"{left:,}",
    )


def _fastest(rows: Sequence[SweepRow], names: Sequence[str], style: TextStyle) -> Iterator[str]:
    """Yield the safe setting with the most goodput, if it is not the best one."""
    safe = [(place, row) for place, row in enumerate(rows, 1) if row.verdict == "safe"]
    place, row = max(safe, key=lambda ranked: (ranked[1].goodput_bps, -ranked[0]), default=(1, rows[0]))
    if place > 1:
        given = ", ".join(
            f"{_THRESHOLDS[name][0]} {_THRESHOLDS[name][1](getattr(row.setting, name))}" for name in names
        )
        price = f" with {row.pauses:,} pauses" if row.loss is None else ""
        yield wrapped(
            f"most goodput of all safe settings: place {place:,}, {given}: {row.goodput_bps / 1e9:,.1f} Gb/s{price}",
            style,
        )
