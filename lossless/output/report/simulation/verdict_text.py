"""A buffer verdict as people read it: the worst first, a line a kind of port, then why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import columns
from lossless.output.report.simulation.run_text import load_text, run_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Data = Mapping[str, Any]
    """A verdict as plain data, by the names of :mod:`lossless.analysis.buffers.verdict`."""

_PORTS = ("verdict", "switch", "ports", "priority", "link", "headroom", "needed", "watchdog")
_TRAFFIC = ("XOFF against ECN", "link", "traffic", "XOFF comes at", "marking starts", "all is marked")
_POOLS = ("verdict", "switch", "pool", "headroom of all groups", "shared headroom", "ratio")
_UNKNOWN = "unknown"
_NO_VERDICT = "(marking first does not keep PFC from firing: these margins are no part of the verdict)"


def verdict_text(verdict: Data) -> str:
    """Return the whole verdict of one fabric: ports, pools, where XOFF sits against marking, and why."""
    return "\n\n".join(_blocks(spelled_out(verdict)))


def _blocks(verdict: Data) -> Iterator[str]:
    packet_level = verdict.get("packet_level") or {"runs": [], "not_run": None, "pfc_load": []}
    loads = packet_level["pfc_load"]
    yield "\n".join(
        [f"verdict: {verdict['overall']}", *(f"PFC load: {load['verdict']}" for load in loads[:1])]
    )
    if verdict["lines"]:
        yield columns([_PORTS, *map(_port_row, verdict["lines"])])
    if verdict["pools"]:
        yield columns([_POOLS, *map(_pool_row, verdict["pools"])])
    traffic = [row for line in verdict["lines"] for row in _traffic_rows(line)]
    if traffic:
        yield columns([_TRAFFIC, *traffic]) + "\n" + _NO_VERDICT
    yield from map(run_text, packet_level["runs"])
    yield from map(load_text, loads)
    if packet_level["not_run"]:
        yield f"packet-level model: not run\n  {packet_level['not_run']}"
    unknown = [reason for reason in verdict["not_judged"] if reason != packet_level["not_run"]]
    for title, reasons in (("why", verdict["reasons"]), ("not judged", unknown)):
        if reasons:
            yield "\n".join([f"{title}:", *(f"  {reason}" for reason in reasons)])


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


def _traffic_rows(line: Data) -> Iterator[tuple[str, ...]]:
    """Yield a row per pattern: N ports into one egress queue, and one port into N congested ones."""
    where = (f"{_switches(line)}, priority {line['priority']}", _link(line["speed_bps"], line["cable_m"]))
    for fan_in in line["fan_in"]:
        holds = f"{format_bytes(fan_in['egress_bytes'])} in the egress queue"
        yield (*where, f"{fan_in['senders']} into 1", holds, *_margins(fan_in))
    for fan_out in line["fan_out"]:
        if fan_out["egresses"] > 1:
            holds = f"{format_bytes(fan_out['group_bytes'])} in one ingress group"
            yield (*where, f"1 into {fan_out['egresses']}", holds, *_margins(fan_out))


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
    alike = line["switches"] - 1
    return str(line["switch"]) + (f" and {alike} alike" if alike else "")


def _link(speed_bps: int | None, cable_m: int | None) -> str:
    speed = _UNKNOWN if speed_bps is None else format_rate(speed_bps)
    return f"{speed} over {_UNKNOWN if cable_m is None else f'{cable_m} m'}"


def _bytes(size_bytes: int | None) -> str:
    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _before(margin_bytes: int) -> str:
    return f"{format_bytes(abs(margin_bytes))} {'after' if margin_bytes < 0 else 'before'} XOFF"
