"""A buffer verdict as text: the verdict, why, what to change; then runs, ports, pools and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import columns, fitted_columns, wrapped
from lossless.output.report.simulation.run_text import load_text, run_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A verdict as plain data, by the names of :mod:`lossless.analysis.buffers.verdict`."""

_PORTS = ("verdict", "switch", "ports", "prio", "link", "headroom", "needed", "watchdog")
_TRAFFIC = ("XOFF against ECN", "XOFF at", "Kmin reached", "Kmax reached")
_POOLS = ("verdict", "switch", "pool", "headroom of all groups", "shared headroom", "ratio")
_UNKNOWN = "unknown"
_NO_VERDICT = "(marking before XOFF does not prevent PFC: these margins do not change the verdict)"


def verdict_text(verdict: Data) -> str:
    """Return the whole verdict of one fabric: ports, pools, where XOFF sits against marking, and why."""
    return "\n\n".join(_blocks(spelled_out(verdict)))


def _blocks(verdict: Data) -> Iterator[str]:
    packet_level = verdict.get("packet_level") or {"runs": [], "not_run": None, "pfc_load": []}
    loads, runs = packet_level["pfc_load"], packet_level["runs"]
    head = [f"verdict: {verdict['overall']}", *_in_short(verdict, runs)]
    yield "\n".join([*head, *(f"PFC load: {load['verdict']}" for load in loads[:1])])
    yield from _listed("why", [*verdict["reasons"], *(reason for run in runs for reason in run["reasons"])])
    yield from _listed("change", [change for run in runs for change in run["changes"]])
    yield from map(run_text, runs)
    yield from map(load_text, loads)
    if packet_level["not_run"]:
        yield f"packet-level model: not run\n{wrapped(packet_level['not_run'], '  ')}"
    if verdict["lines"]:
        yield fitted_columns([_PORTS, *map(_port_row, verdict["lines"])])
    if verdict["pools"]:
        yield fitted_columns([_POOLS, *map(_pool_row, verdict["pools"])])
    traffic = [(_port_kind(line), row) for line in verdict["lines"] for row in _traffic_rows(line)]
    if traffic:
        yield _traffic_table(traffic)
    unknown = [reason for reason in verdict["not_checked"] if reason != packet_level["not_run"]]
    yield from _listed("not checked", unknown)


def _in_short(verdict: Data, runs: Sequence[Data]) -> Iterator[str]:
    """Yield why a fabric is safe, in one line; anything else has reasons of its own."""
    if verdict["overall"] == "safe":
        seeds = sum(run["seeds"] for run in runs)
        model = f", nor does the packet-level model in {seeds} seed{'s' if seeds > 1 else ''}" if runs else ""
        yield f"  closed forms find nothing unsafe{model}"


def _listed(title: str, entries: Iterable[str]) -> Iterator[str]:
    """Yield a block of entries, each once; none where there are none."""
    once = dict.fromkeys(entries)
    if once:
        yield "\n".join([f"{title}:", *(wrapped(entry, "  ") for entry in once)])


def _port_row(line: Data) -> tuple[str, ...]:
    headroom = line["headroom"]
    return (
        line["verdict"],
        _switches(line),
        str(line["ports"]),
        str(line["priority"]),
        _link(line["speed_bps"], line["cable_m"]),
        _bytes(headroom["given_bytes"] if headroom else None),
        f"{format_bytes(headroom['need_bytes'])} ({headroom['method']})" if headroom else _UNKNOWN,
        line["watchdog"],
    )


def _port_kind(line: Data) -> str:
    return f"{_switches(line)}, priority {line['priority']}, {_link(line['speed_bps'], line['cable_m'])}"


def _traffic_table(traffic: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return the rows of all kinds of port in one table, the kind of port above its rows."""
    head, *lines = columns([_TRAFFIC, *(row for _, row in traffic)]).split("\n")
    shown = [head]
    for number, ((kind, _), line) in enumerate(zip(traffic, lines, strict=True)):
        if number == 0 or kind != traffic[number - 1][0]:
            shown.append(wrapped(kind))
        shown.append(line)
    return "\n".join([*shown, _NO_VERDICT])


def _traffic_rows(line: Data) -> Iterator[tuple[str, ...]]:
    """Yield a row per pattern: N ports into one egress queue, and one port into N congested ones."""
    rows = [(f"{one['senders']} into 1", "egress queue", one["egress_bytes"], one) for one in line["fan_in"]]
    rows += [
        (f"1 into {one['egresses']}", "ingress PG", one["group_bytes"], one)
        for one in line["fan_out"]
        if one["egresses"] > 1
    ]
    for pattern, where, held_bytes, margins in rows:
        yield f"  {pattern:<11}{where}", format_bytes(held_bytes), *_margins(margins)


def _margins(pattern: Data) -> tuple[str, str]:
    return _before(pattern["kmin_margin_bytes"]), _before(pattern["kmax_margin_bytes"])


def _pool_row(pool: Data) -> tuple[str, ...]:
    ratio, accepted = pool["ratio"], pool["accepted_ratio"]
    stated = f" ({accepted:g} accepted)" if accepted is not None else ""
    shared = pool["shared_headroom_bytes"]
    return (
        pool["verdict"],
        _switches(pool),
        pool["pool"],
        f"{format_bytes(pool['headroom_bytes'])} in {pool['groups']} groups",
        "none" if shared is None else format_bytes(shared),
        "-" if ratio is None else f"{ratio:g}{stated}",
    )


def _switches(line: Data) -> str:
    identical = line["switches"] - 1
    return str(line["switch"]) + (f" (+{identical} identical)" if identical else "")


def _link(speed_bps: int | None, cable_m: int | None) -> str:
    speed = _UNKNOWN if speed_bps is None else format_rate(speed_bps)
    return f"{speed}, {'cable unknown' if cable_m is None else f'{cable_m} m'}"


def _bytes(size_bytes: int | None) -> str:
    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _before(margin_bytes: int) -> str:
    return f"{format_bytes(abs(margin_bytes))} {'after' if margin_bytes < 0 else 'before'} XOFF"
