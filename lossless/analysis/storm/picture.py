"""Pause propagation as a picture: nodes with one name relative to the storm source are one box.

Boxes have the state ``source``, ``stalled`` (all of their nodes) or none, links ``stalled`` (any of them) or ``free``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.folding import rail_label
from lossless.analysis.topology.summary import Picture, PictureEdge, PictureItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.storm.paths import RelativeNames
    from lossless.analysis.storm.tiers import ChannelGraph
    from lossless.model.fabric.model import LinkTier

_ROLES = ("host", "leaf", "spine", "super-spine")
_MANY = ("hosts", "leaves", "spines", "super-spines")
_LINKS: tuple[LinkTier, ...] = ("hosts", "uplinks", "spine_uplinks")


def picture(
    name: str, net: ChannelGraph, near: RelativeNames, stopped: Mapping[int, float], *, slow: bool
) -> Picture:
    """Return the picture of a blast radius in the fabric ``name``; stalled hosts and its end are in the report.

    ``stopped`` are the channels that are stopped, or slowed by a ``slow`` host, and since when, in nanoseconds.
    """
    boxes = _boxes(net, near)
    verb = "slowed" if slow else "stopped"
    box_of = {node: key for key, nodes in boxes.items() for node in nodes}
    still = {net.channels[at].source for at in stopped}
    return Picture(
        fabric=f"{name}: pause propagation from {near.host}",
        frames=(),
        items=tuple(_item(key, nodes, net, near, still) for key, nodes in boxes.items()),
        edges=tuple(_edges(net, list(boxes), box_of, stopped)),
        legend=(
            ("stalled", f"thick: at least one of these links is {verb}; the time is when the first was"),
            ("free", f"thin and dashed: links that are not {verb}"),
            ("", "paused: devices with a port that may not send; orange boxes: all of them"),
        ),
    )


def _boxes(net: ChannelGraph, near: RelativeNames) -> dict[str, list[str]]:
    far = near.links_away
    boxes: dict[str, list[str]] = {}
    for node in sorted(net.rank, key=lambda node: (-net.rank[node], node != near.host, far.get(node, 0))):
        who = near.who(node)
        if who == "hosts" and net.out_of[node]:
            who = f"hosts at {near.where(node)}"
        boxes.setdefault(who, []).append(node)
    return boxes


def _item(
    key: str, nodes: Sequence[str], net: ChannelGraph, near: RelativeNames, still: set[str]
) -> PictureItem:
    rank, paused = net.rank[nodes[0]], sum(node in still for node in nodes)
    state = "stalled" if paused == len(nodes) else ""
    many = _MANY[rank] if net.tiered or not rank else "switches"
    words = [nodes[0] if len(nodes) == 1 else f"{len(nodes):,} {many}"]
    words.append("" if key in (nodes[0], many) else key if len(nodes) == 1 else key.removeprefix(f"{many} "))
    rails = [near.rail_of[node] for node in nodes if node in near.rail_of]
    words.append(rail_label(rails) if rails else "")
    words.append("storm source" if key == near.host else f"{paused:,} of {len(nodes):,} paused")
    return PictureItem(
        key=key,
        names=(nodes[0], nodes[-1]),
        devices=len(nodes),
        role=_ROLES[rank],
        state="source" if key == near.host else state,
        words=tuple(words),
    )


def _edges(
    net: ChannelGraph, order: Sequence[str], box_of: Mapping[str, str], stopped: Mapping[int, float]
) -> Iterator[PictureEdge]:
    """Yield the links of one speed between two boxes as one edge, its upper or, in one tier, nearer end first."""
    together: dict[tuple[str, str, int], list[int]] = {}
    for at in range(0, len(net.channels), 2):
        # The two directions of a link are channels beside each other.
        channel = net.channels[at]
        ends = sorted((box_of[channel.source], box_of[channel.target]), key=order.index)
        together.setdefault((ends[0], ends[1], channel.speed_bps), []).append(at)
    for (upper, lower, speed_bps), links in together.items():
        times = [stopped[direction] for at in links for direction in (at, at + 1) if direction in stopped]
        channel = net.channels[links[0]]
        many = f"{len(links):,} {'link' if len(links) == 1 else 'links'}"
        yield PictureEdge(
            a=upper,
            b=lower,
            tier=_LINKS[min(net.rank[channel.source], net.rank[channel.target])],
            links=len(links),
            speed_bps=speed_bps,
            cable_m=0,
            state="stalled" if times else "free",
            label=f"{many}, {_since(min(times))}" if times else many,
        )


def _since(at_ns: float) -> str:
    if not at_ns:
        return "at once"
    if at_ns < 1e6:
        return f"{at_ns / 1e3:,.0f} us"
    return f"{at_ns / 1e6:,.3g} ms" if at_ns < 1e9 else f"{at_ns / 1e9:,.3g} s"
