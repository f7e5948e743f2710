"""A buffer verdict as people read it: the worst first, a line a kind of port, then why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.report.columns import columns
from lossless.report.style import visible
from lossless.units import format_bytes, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A verdict as plain data, by the names of :mod:`lossless.buffers.verdict`."""

_PORTS = ("verdict", "switch", "ports", "priority", "link", "headroom", "needed", "watchdog", "ECN marks")
_POOLS = ("verdict", "switch", "pool", "headroom of all groups", "shared headroom", "ratio")
_UNKNOWN = "unknown"


def verdict_text(verdict: Data) -> str:
    """Return the whole verdict of one fabric.

    The last column of a port says how many bytes before XOFF marking starts, in the tightest incast that was
    looked at; it is no part of the verdict.
    """
    return "\n\n".join(_blocks(verdict))


def _blocks(verdict: Data) -> Iterator[str]:
    yield f"verdict: {verdict['overall']}"
    if verdict["lines"]:
        yield columns([_PORTS, *map(_port_row, verdict["lines"])])
    if verdict["pools"]:
        yield columns([_POOLS, *map(_pool_row, verdict["pools"])])
    for title, reasons in (("why", verdict["reasons"]), ("not judged", verdict["not_judged"])):
        if reasons:
            yield "\n".join([f"{title}:", *(f"  {visible(reason)}" for reason in reasons)])


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
        _marks([*line["fan_in"], *line["fan_out"]]),
    )


def _pool_row(pool: Data) -> tuple[str, ...]:
    ratio, accepted = pool["ratio"], pool["accepted_ratio"]
    stated = f" ({accepted:g} accepted)" if accepted is not None else ""
    shared = pool["shared_headroom_bytes"]
    return (
        pool["verdict"],
        _switches(pool),
        visible(pool["pool"]),
        f"{format_bytes(pool['headroom_bytes'])} in {pool['groups']} groups",
        "none" if shared is None else format_bytes(shared),
        "-" if ratio is None else f"{ratio:g}{stated}",
    )


def _switches(one: Data) -> str:
    alike = one["switches"] - 1
    return visible(one["switch"]) + (f" and {alike} alike" if alike else "")


def _link(speed_bps: int | None, cable_m: int | None) -> str:
    speed = _UNKNOWN if speed_bps is None else format_rate(speed_bps)
    return f"{speed} over {_UNKNOWN if cable_m is None else f'{cable_m} m'}"


def _bytes(size_bytes: int | None) -> str:
    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _marks(patterns: Sequence[Data]) -> str:
    if not patterns:
        return _UNKNOWN
    margin_bytes = min(pattern["kmin_margin_bytes"] for pattern in patterns)
    if margin_bytes < 0:
        return f"{format_bytes(-margin_bytes)} after XOFF"
    return f"{format_bytes(margin_bytes)} before XOFF"
