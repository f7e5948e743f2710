"""A fabric in numbers, as lines of text: switches and hosts by product, ports used and free, links by tier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_rate
from lossless.output.report.columns import table, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A summary as plain data, by the names of :mod:`lossless.analysis.topology.summary`."""

_PLURALS = {"leaf": "leaves", "switch": "switches"}


def topology_text(data: Data, style: TextStyle = PLAIN) -> str:
    """Return a fabric in numbers."""
    return "\n\n".join(_blocks(spelled_out(data), style))


def _blocks(data: Data, style: TextStyle) -> Iterator[str]:
    head = (f"fabric {data['fabric']}", *_hosts(data), *_outside(data["outside"]))
    yield "\n".join(wrapped(line, style) for line in head)
    heads = ("switches", "product", "ports used by each", "free", *_missing_head(data))
    rows = [_switches(group, len(heads)) for group in data["switches"]]
    if rows:
        yield table([heads, *rows], style)
    links = [_links(group) for group in data["links"]]
    yield (
        table([("links", "between", "how many", "rate", "cable (m)"), *links], style) if links else "no links"
    )
    accepted = data["accepted_oversubscription"]
    if accepted is not None:
        yield wrapped(
            f"oversubscription accepted by the intent: {_accepted(data['accepted_by_tier'])}", style
        )


def _accepted(ratios: Mapping[str, float]) -> str:
    if len({*ratios.values()}) == 1:
        return f"{next(iter(ratios.values())):.4g}:1"
    return ", ".join(f"{tier} {ratio:.4g}:1" for tier, ratio in ratios.items())


def _hosts(data: Data) -> Iterator[str]:
    for group in data["hosts"]:
        yield f"{many(group['hosts'], 'host')} with {group['nic']}"


def _outside(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{many(len(names), 'device')} outside: {first_to_last(names[0], names[-1])}"


def _missing_head(data: Data) -> tuple[str, ...]:
    return ("missing",) if any(group["ports"]["missing"] for group in data["switches"]) else ()


def _switches(group: Data, wanted: int) -> tuple[str, ...]:
    ports = group["ports"]
    count = group["switches"]
    what = f"{many(count, group['role'])} ({first_to_last(group['first'], group['last'])})"
    product = f"{group['product']} {group['hwsku']}".rstrip()
    return (what, product, *(_ports(ports[key]) for key in ("used", "free", "missing")))[:wanted]


def _ports(counts: Sequence[Data]) -> str:
    return " + ".join(f"{count['ports']} x {format_rate(count['speed_bps'])}" for count in counts) or "none"


def _links(group: Data) -> tuple[str, ...]:
    rate = format_rate(group["speed_bps"])
    cable = "not stated" if group["cable_m"] is None else f"{group['cable_m']:,}"
    return (group["tier"], " - ".join(group["between"]), f"{group['links']:,}", rate, cable)


def many(number: int, what: str) -> str:
    """Return how many of what: ``1 leaf``, ``1,024 leaves``."""
    return f"{number:,} {what if number == 1 else _PLURALS.get(what, f'{what}s')}"


def first_to_last(first: str, last: str) -> str:
    """Return a range of names, or the one that there is."""
    return first if first == last else f"{first} .. {last}"
