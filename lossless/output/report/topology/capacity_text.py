"""The capacity of a fabric, as lines of text: by tier, across its bisection, and for each GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_capacity
from lossless.output.report.columns import PLAIN, TextStyle, facts, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.topology.bisection import (
        FabricCapacity,
        GpuBandwidth,
        HalvesCapacity,
        TierCapacity,
        ToleratedFailures,
    )


def capacity_text(capacity: FabricCapacity, style: TextStyle = PLAIN) -> str:
    """Return the capacity of a fabric; every figure is for one direction."""
    return "\n\n".join(_blocks(spelled_out(capacity), style))


def _blocks(capacity: FabricCapacity, style: TextStyle) -> Iterator[str]:
    if capacity.tiers:
        yield _tiers(capacity.tiers, capacity.failed, style)
    lines = [*_across(capacity.bisection, style), *_per_gpu(capacity.per_gpu, style)]
    if lines:
        yield "\n".join(lines)
    if capacity.tiers:
        yield "every figure is for one direction; failures are the worst case of that many"
    elif lines:
        yield "every figure is for one direction"
    if gone := capacity.failed.out_of_service:
        yield wrapped(f"failures come on top of what is out of service: {', '.join(gone)}", style)


def _tiers(tiers: Sequence[TierCapacity], failed: ToleratedFailures, style: TextStyle) -> str:
    """Return the rates below and above each tier in one unit, and the rate above that remains after failures."""
    unit, scale = ("Tb/s", 1e12) if max(tier.down_bps for tier in tiers) >= 1e12 else ("Gb/s", 1e9)
    links, switches = failed.links, failed.switches
    heads = (
        "tier",
        f"below ({unit})",
        f"above ({unit})",
        "ratio",
        f"without {links} {'link' if links == 1 else 'links'} ({unit})",
        "ratio",
        f"without {switches} {'switch' if switches == 1 else 'switches'} above ({unit})",
        "ratio",
    )
    return table([heads, *(_tier(tier, scale) for tier in tiers)], style)


def _tier(tier: TierCapacity, scale: float) -> tuple[str, ...]:
    left = ((f"{after.up_bps / scale:,g}", _ratio(after.ratio)) for after in tier.after)
    below, above = (f"{bps / scale:,g}" for bps in (tier.down_bps, tier.up_bps))
    figures = (below, above, _ratio(tier.ratio), *(cell for pair in left for cell in pair))
    return (_switches(tier.role, tier.switches), *figures)


def _switches(role: str, names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    many = "leaves" if role == "leaf" else f"{role}s"
    return f"{len(names):,} {many} ({names[0]} to {names[-1]})"


def _ratio(ratio: float | None) -> str:
    return "nothing left" if ratio is None else f"{ratio:.4g}:1"


def _across(across: HalvesCapacity | None, style: TextStyle) -> Iterator[str]:
    if across is None:
        return
    bps, hosts = across.one_way_bps, across.host_bps
    part = f"{100 * bps / hosts:.3g} % of what the hosts of one half send" if hosts else "no host sends"
    yield wrapped(f"bisection: {format_capacity(bps)} in one direction, {part}", style)
    least = "no other bisection has less" if across.least else "other bisections were not tried"
    yield wrapped(f"from {_some(across.a)} to {_some(across.b)}; {least}", style, "  ")


def _some(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names):,})"


def _per_gpu(gpu_share: GpuBandwidth | None, style: TextStyle) -> Iterator[str]:
    if gpu_share is None:
        return
    yield f"each of {gpu_share.gpus:,} GPUs, all at once:"
    rows = (
        (f"inside its domain of {gpu_share.domain_gpus}", gpu_share.inside_bps),
        ("onto the fabric", gpu_share.host_bps),
        ("beyond its leaf", gpu_share.leaf_bps),
        ("to the other half", gpu_share.half_bps),
    )
    yield facts([(what, format_capacity(bps)) for what, bps in rows if bps is not None], style, "  ")
