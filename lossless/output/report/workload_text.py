"""What a collective puts on a fabric, as text: bytes, times, what limits it, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.ground.basics.units import format_bytes, format_capacity
from lossless.output.report.columns import fitted_columns, wrapped
from lossless.output.report.simulation.run_text import measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """An estimate as plain data, by the names of :mod:`lossless.analysis.workloads.estimate`."""

_NAMES = {
    "domain": "links inside a domain",
    "host links": "host links of a GPU",
    "leaf": "uplinks of a leaf",
    "pod": "uplinks of a pod",
    "half": "links to the other half",
}
_SHOWN = ("drops", "PFC", "ECN", "headroom", "longest pause", "watchdog")
"""The measures of a run that are shown, of those that ``lossless simulate`` shows."""


def workload_text(data: Data, path: str) -> str:
    """Return the estimate; ``path`` is the intent that the command line named."""
    return "\n\n".join(_blocks(spelled_out(data), visible(path)))


def _blocks(data: Data, path: str) -> Iterator[str]:
    per_gpu = data["per_gpu"]
    algorithm = "" if data["algorithm"] == "direct" else f" ({data['algorithm']})"
    domain = f", in domains of {data['domain_gpus']}" if data["domain_gpus"] > 1 else ""
    yield (
        f"{data['collective']}{algorithm} of {format_size(data['size_bytes'])} "
        f"on {data['gpus']:,} GPUs, {data['gpus_per_host']} a host{domain}\n"
        f"each GPU sends {format_size(per_gpu['fabric_bytes'])} over the fabric"
        + (
            f" and {format_size(per_gpu['inside_bytes'])} inside its domain"
            if per_gpu["inside_bytes"]
            else ""
        )
        + f", in {data['steps']:,} {'step' if data['steps'] == 1 else 'steps'}"
    )
    yield "\n".join(_times(data))
    yield "\n".join(_fan_in(data, path))
    checked = data.get("buffers")
    if checked is not None:
        yield "\n".join(_checked(checked))
    if data["parts"]:
        yield fitted_columns([("the busiest of", "bytes", "rate", "time alone"), *map(_part, data["parts"])])
    yield "\n".join(["assumed:", *(wrapped(text, "  ") for text in _assumed(data["assumed"], checked))])


def _part(part: Data) -> tuple[str, ...]:
    rate = format_capacity(round(part["rate_bps"]))
    return _NAMES[part["name"]], format_size(part["size_bytes"]), rate, format_time(part["time_ns"])


def _times(data: Data) -> Iterator[str]:
    limit = f", by the {_NAMES[data['limit']]}" if data["limit"] in _NAMES else ""
    yield f"time: {format_time(data['time_ns'])} at best{limit}"
    if data["apart_ns"] > data["time_ns"]:
        yield f"  {format_time(data['apart_ns'])} where domains and fabric alternate"
    if data["algbw_bps"] is not None:
        alg, bus = (f"{data[name] / 8e9:,.4g} GB/s" for name in ("algbw_bps", "busbw_bps"))
        yield f"  as nccl-tests counts: algbw {alg}, busbw {bus}"
    if data["step_time_ns"] is not None:
        yield f"step: {format_time(data['step_time_ns'])} with the computation"


def _fan_in(data: Data, path: str) -> Iterator[str]:
    senders = data["fan_in"]
    if not senders:
        yield "fan-in: none"
        return
    each = format_size(data["message_bytes"])
    whom = "server" if data["collective"] == "storage-write" else "GPU"
    many = "1 sender sends" if senders == 1 else f"up to {senders:,} senders send"
    yield f"fan-in: {many} {each} to one {whom} at once"
    if data["incast"] and "buffers" not in data:
        yield f"  check buffers with: lossless simulate {path} {data['incast']}"


def _checked(checked: Data) -> Iterator[str]:
    yield f"buffers: {checked['overall']}"
    closed = checked["closed_forms"]
    if closed is not None:
        yield f"  closed forms, for any traffic: {closed['overall']}"
        yield from (wrapped(f"why: {reason}", "    ") for reason in closed["reasons"])
    for run in checked["runs"]:
        yield wrapped(f"{run['scenario']}: {run['verdict']}", "  ")
        yield from (wrapped(f"why: {reason}", "    ") for reason in run["reasons"])
        yield from (wrapped(f"change: {change}", "    ") for change in run["changes"])
        if run["ports"]:
            heads = ("ports", "how many", "fed by", "peak queue depth", "paused")
            yield fitted_columns([heads, *map(_port_row, run["ports"])], indent="    ")
        yield from (wrapped(f"{name}: {text}", "    ") for name, text in measured(run) if name in _SHOWN)
    for load in checked["pfc_load"]:
        above = load.get("above") or [load.get("reason", "")]
        yield wrapped(f"PFC load: {': '.join(filter(None, [load['verdict'], ', '.join(above)]))}", "  ")
    yield from (wrapped(f"not run: {reason}", "  ") for reason in checked["not_run"])


def _port_row(ports: Data) -> tuple[str, ...]:
    fed, peak = "-", "-"
    if ports["sender"] != "host":
        fed = f"{ports['fan_in']} {'port' if ports['fan_in'] == 1 else 'ports'}"
        peak = format_bytes(ports["peak_queue_depth_bytes"])
    many = f"{ports['paused']} of {ports['ports']}" if ports["paused"] else "none"
    kind = f"{ports['sender']} to {ports['receiver']}"
    return kind, str(ports["ports"]), fed, peak, many


def _assumed(of_estimate: Sequence[str], checked: Data | None) -> Iterator[str]:
    yield from of_estimate
    if checked is None:
        return
    if checked["runs"] and checked["run_part"] < 1:
        yield f"buffers: {checked['run_part']:.2%} of the bytes are run, all flows at once; the rest repeats it"
    yield from dict.fromkeys(f"buffers: {text}" for run in checked["runs"] for text in run["assumed"])


def format_size(size_bytes: int) -> str:
    """Return bytes as people say them, decimal as rates are: ``279.7 GB``."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:,.4g} {unit}"
    return f"{size_bytes} B"


def format_time(time_ns: float) -> str:
    """Return a time in the unit that suits it: ``22.4 s``."""
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
