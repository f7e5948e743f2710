"""A fabric in numbers, as lines of text: switches and hosts by product, ports used and free, links by tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_rate
from lossless.output.report.columns import PLAIN, TextStyle, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.topology.summary import FabricSummary, LinkGroup, PortCount, SwitchGroup

_PLURALS = {"leaf": "leaves", "switch": "switches"}


def topology_text(summary: FabricSummary, style: TextStyle = PLAIN) -> str:
    """Return a fabric in numbers; its capacity is a separate text."""
    return "\n\n".join(_blocks(spelled_out(summary), style))


def _blocks(summary: FabricSummary, style: TextStyle) -> Iterator[str]:
    hosts = (f"{many(group.hosts, 'host')} with {group.nic}" for group in summary.hosts)
    head = (f"fabric {summary.fabric}", *hosts, *_outside(summary.outside))
    yield "\n".join(wrapped(line, style) for line in head)
    heads = (
        "switches",
        "product",
        "ports used by each",
        "free",
        *(("missing",) if any(group.ports.missing for group in summary.switches) else ()),
    )
    rows = [_switches(group, len(heads)) for group in summary.switches]
    if rows:
        yield table([heads, *rows], style)
    links = [_links(group) for group in summary.links]
    yield (
        table([("links", "between", "how many", "rate", "cable (m)"), *links], style) if links else "no links"
    )
    if summary.accepted_oversubscription is not None:
        yield wrapped(
            f"oversubscription accepted by the intent: {_accepted(summary.accepted_by_tier)}", style
        )


def _accepted(ratios: Mapping[str, float]) -> str:
    if len({*ratios.values()}) == 1:
        return f"{next(iter(ratios.values())):.4g}:1"
    return ", ".join(f"{tier} {ratio:.4g}:1" for tier, ratio in ratios.items())


def _outside(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{many(len(names), 'device')} outside: {first_to_last(names[0], names[-1])}"


def _switches(group: SwitchGroup, wanted: int) -> tuple[str, ...]:
    what = f"{many(group.switches, group.role)} ({first_to_last(group.first, group.last)})"
    product = f"{group.product} {group.hwsku}".rstrip()
    return (what, product, *map(_ports, group.ports))[:wanted]


def _ports(counts: Sequence[PortCount]) -> str:
    return " + ".join(f"{count.ports} x {format_rate(count.speed_bps)}" for count in counts) or "none"


def _links(group: LinkGroup) -> tuple[str, ...]:
    cable = "not stated" if group.cable_m is None else f"{group.cable_m:,}"
    between = " - ".join(group.between)
    return (group.tier, between, f"{group.links:,}", format_rate(group.speed_bps), cable)


def many(number: int, what: str) -> str:
    """Return a number with its noun: ``1 leaf``, ``1,024 leaves``."""
    return f"{number:,} {what if number == 1 else _PLURALS.get(what, f'{what}s')}"


def first_to_last(first: str, last: str) -> str:
    """Return a range of names, or the one that there is."""
    return first if first == last else f"{first} .. {last}"
