"""What a fabric can carry, as lines of text: by tier, across its middle, and for each GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_capacity
from lossless.output.report.columns import fitted_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A capacity as plain data, by the names of :mod:`lossless.analysis.topology.capacity`."""


def capacity_text(data: Data) -> str:
    """Return what a fabric can carry; every figure is for one direction."""
    return "\n\n".join(_blocks(spelled_out(data)))


def _blocks(data: Data) -> Iterator[str]:
    if data["tiers"]:
        heads = ("tier", "below", "above", "ratio", *_heads(data["failed"]))
        yield fitted_columns([heads, *(_tier(tier) for tier in data["tiers"])])
    lines = [*_across(data["bisection"]), *_per_gpu(data["per_gpu"])]
    if lines:
        yield "\n".join(lines)
    if data["tiers"]:
        yield "every figure is for one direction; failures are the worst case of that many"
    elif lines:
        yield "every figure is for one direction"
    if gone := data["failed"]["out_of_service"]:
        yield f"failures come on top of what is out of service: {', '.join(gone)}"


def _heads(failed: Data) -> tuple[str, str]:
    links, switches = failed["links"], failed["switches"]
    return (
        f"without {links} {'link' if links == 1 else 'links'}",
        f"without {switches} {'switch' if switches == 1 else 'switches'} above",
    )


def _tier(tier: Data) -> tuple[str, ...]:
    left = (
        f"{format_capacity(failure['up_bps'])}, {_ratio(failure['ratio'])}"
        for failure in tier["after"].values()
    )
    below, above = (format_capacity(tier[key]) for key in ("down_bps", "up_bps"))
    return (_switches(tier["role"], tier["switches"]), below, above, _ratio(tier["ratio"]), *left)


def _switches(role: str, names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    many = "leaves" if role == "leaf" else f"{role}s"
    return f"{len(names):,} {many} ({names[0]} to {names[-1]})"


def _ratio(ratio: float | None) -> str:
    return "nothing left" if ratio is None else f"{ratio:.4g}:1"


def _across(across: Data | None) -> Iterator[str]:
    if across is None:
        return
    bps, hosts = across["one_way_bps"], across["host_bps"]
    part = f"{100 * bps / hosts:.3g} % of what the hosts of one half send" if hosts else "no host sends"
    yield f"bisection: {format_capacity(bps)} in one direction, {part}"
    least = "no other bisection has less" if across["least"] else "other bisections were not tried"
    yield f"  from {_some(across['a'])} to {_some(across['b'])}; {least}"


def _some(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names):,})"


def _per_gpu(gpu_share: Data | None) -> Iterator[str]:
    if gpu_share is None:
        return
    yield f"each of {gpu_share['gpus']:,} GPUs, all at once:"
    rows = (
        (f"  inside its domain of {gpu_share['domain_gpus']}", gpu_share["inside_bps"]),
        ("  onto the fabric", gpu_share["host_bps"]),
        ("  beyond its leaf", gpu_share["leaf_bps"]),
        ("  to the other half", gpu_share["half_bps"]),
    )
    yield fitted_columns([(what, format_capacity(bps)) for what, bps in rows if bps is not None])
