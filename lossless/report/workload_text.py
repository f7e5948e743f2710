"""What a collective puts on a fabric, as people read it: bytes, times, what limits it, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.report.columns import columns
from lossless.units import format_capacity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Data = Mapping[str, Any]
    """An estimate as plain data, by the names of :mod:`lossless.workloads.estimate`."""

_NAMES = {
    "domain": "links inside a domain",
    "host links": "host links of a GPU",
    "leaf": "uplinks of a leaf",
    "pod": "uplinks of a pod",
    "half": "links to the other half",
}


def workload_text(data: Data, path: str) -> str:
    """Return the estimate; ``path`` is the intent that the command line named."""
    return "\n\n".join(_blocks(data, path))


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
    if data["parts"]:
        yield columns([("the busiest of", "bytes", "rate", "time alone"), *map(_part, data["parts"])])
    yield "\n".join(_times(data))
    yield "\n".join(_meeting(data, path))
    yield "\n".join(["assumed:", *(f"  {text}" for text in data["assumed"])])


def _part(part: Data) -> tuple[str, ...]:
    rate = format_capacity(round(part["rate_bps"]))
    return _NAMES[part["name"]], format_size(part["size_bytes"]), rate, format_time(part["time_ns"])


def _times(data: Data) -> Iterator[str]:
    limit = f", by the {_NAMES[data['limit']]}" if data["limit"] in _NAMES else ""
    yield f"time: {format_time(data['time_ns'])} at best{limit}"
    if data["apart_ns"] > data["time_ns"]:
        yield f"  {format_time(data['apart_ns'])} where domains and fabric take turns"
    if data["step_time_ns"] is not None:
        yield f"step: {format_time(data['step_time_ns'])} with the computation"


def _meeting(data: Data, path: str) -> Iterator[str]:
    senders = data["fan_in"]
    if not senders:
        yield "fan-in: none"
        return
    each = format_size(data["message_bytes"])
    yield f"fan-in: {'1 sender sends' if senders == 1 else f'up to {senders:,} senders send'} {each} to one GPU at once"
    if data["incast"]:
        yield f"  what buffers make of it: lossless simulate {path} {data['incast']}"


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
