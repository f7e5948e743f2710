"""The text in boxes and on lines of a picture of a fabric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lossless.analysis.topology.summary import Picture, PictureEdge, PictureItem

TIERS = {
    "hosts": ("links to hosts", "link"),
    "uplinks": ("uplinks of leaves", "uplink"),
    "spine_uplinks": ("uplinks of spines", "uplink"),
    "links": ("links between switches", "link"),
    "local_links": ("links within groups", "local link"),
    "global_links": ("links between groups", "global link"),
}
"""By tier: what the legend calls its links, and what a box calls one of them."""
_BETWEEN_PEERS = ("links", "local_links", "global_links")
_MANY = {"leaf": "leaves", "switch": "switches"}
_NAMES = re.compile(r"(\D+)(.*)")


def box_lines(picture: Picture, item: PictureItem, counted: Collection[str]) -> list[str]:
    """Return the lines in the box of an item, the first of them its title; ``counted`` are tiers with their number."""
    if item.words:
        return [line for line in item.words if line]
    lines = [_title(item), *item.labels, *_counts(picture, item.key, counted)]
    if item.devices > 1:
        lines.insert(1, ("of " if item.apart else "") + from_to(*item.names))
    if picture.sides:
        lines.append(_hosts_at(picture, item.key))
    return [line for line in lines if line]


def _title(item: PictureItem) -> str:
    """Return the name of a device, or how many devices there are."""
    return item.names[0] if item.devices == 1 else many(item.devices, item.role)


def many(number: int, role: str) -> str:
    """Return a number of devices of a role: ``1 leaf``, ``60 leaves``."""
    return f"{number:,} {role if number == 1 else _MANY.get(role, f'{role}s')}"


def _counts(picture: Picture, key: str, counted: Collection[str]) -> Iterator[str]:
    """Yield the number of links of an item in tiers whose lines have no numbers, for the box at the lower end."""
    for tier in TIERS:
        ends = [edge for edge in picture.edges if edge.tier == tier and key in _counted_ends(edge)]
        links = sum(edge.links for edge in ends)
        if tier in counted and links:
            yield f"{links:,} {TIERS[tier][1]}{'' if links == 1 else 's'}"


def _counted_ends(edge: PictureEdge) -> tuple[str, ...]:
    """Return the ends whose boxes give the number of links: the lower one, or both of peers."""
    if edge.tier in _BETWEEN_PEERS:
        return edge.a, edge.b
    return (edge.b,) if edge.tier == "hosts" else (edge.a,)


def _hosts_at(picture: Picture, key: str) -> str:
    """Return how many hosts are attached to an item of a grid, where hosts have no boxes."""
    items = {item.key: item for item in picture.items}
    ends = (edge.b for edge in picture.edges if edge.a == key and edge.tier == "hosts")
    hosts = sum(items[end].devices for end in ends)
    return many(hosts, "host") if hosts else ""


def totals(picture: Picture) -> str:
    """Return how many devices of each role there are."""
    numbers: dict[str, int] = {}
    for item in picture.items:
        numbers[item.role] = numbers.get(item.role, 0) + item.devices
    return ", ".join(many(number, role) for role, number in numbers.items())


def legend(picture: Picture, counted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the looks of lines and their meaning, with the number of links; an empty look is a remark.

    ``counted`` are tiers whose lines have no numbers.
    """
    if picture.legend:
        yield from picture.legend
        return
    links_by_kind: dict[tuple[str, int, int], int] = {}
    for edge in picture.edges:
        kind = (edge.tier, edge.speed_bps, edge.cable_m)
        links_by_kind[kind] = links_by_kind.get(kind, 0) + edge.links
    for (tier, speed_bps, cable_m), links in sorted(
        links_by_kind.items(), key=lambda kind: _order(kind[0][0])
    ):
        length = f", {cable_m:,} m" if cable_m else ""
        look = "" if picture.sides and tier == "hosts" else tier
        yield look, f"{TIERS[tier][0]}: {links:,} x {format_rate(speed_bps)}{length}"
    yield from (("", remark) for remark in _remarks(picture, counted))


def _order(tier: str) -> int:
    return [*TIERS].index(tier)


def _remarks(picture: Picture, counted: Collection[str]) -> Iterator[str]:
    drawn = (edge for edge in picture.edges if edge.a != edge.b and not edge.around)
    if any(edge.links == 1 and edge.tier not in counted for edge in drawn):
        yield "a line without a number is one link"
    if any(edge.around for edge in picture.edges):
        yield "short dashed ends: links that close a ring, leaving at one side and entering at the other"
    if len(picture.sides) > 2:
        yield "layers are side by side; each switch links to the same position in the next layer, drawn once"
    shown = [item for item in picture.items if item.role != "host" or not picture.sides]
    if any(item.devices > 1 for item in shown):
        yield "a stacked box is several devices; a line to it is all of their links"


def from_to(first: str, last: str) -> str:
    """Return the first and last of several names, with their common beginning once: ``host105 .. 112``."""
    first_parts, last_parts = _NAMES.fullmatch(first), _NAMES.fullmatch(last)
    if first_parts is None or last_parts is None or first_parts[1] != last_parts[1]:
        return f"{first} .. {last}"
    return f"{first} .. {last_parts[2] or last}"


def name_range(item: PictureItem) -> str:
    """Return the name of an item, or the first and last name, in full."""
    first, last = item.names
    return str(first) if first == last else f"{first} .. {last}"


def links_of(edge: PictureEdge) -> str:
    """Return how many links there are, how fast and how long."""
    links = f"{edge.links:,} x {format_rate(edge.speed_bps)}"
    return f"{links}, {edge.cable_m:,} m" if edge.cable_m else links
