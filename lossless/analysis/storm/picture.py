"""The propagation as a picture: nodes at one distance from the storm source as one box, stalled and free links apart.

As plain data, with the names of ``topology.folding`` and its own states and words: the state ``source`` or
``stalled`` of a box, ``stalled`` or ``free`` of links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.storm.channels import ChannelGraph
    from lossless.analysis.storm.distance import RelativeNames
    from lossless.ground.basics.findings import Json

_ROLES = ("host", "leaf", "spine", "super-spine")
_MANY = ("hosts", "leaves", "spines", "super-spines")
_LINKS = ("hosts", "uplinks", "spine_uplinks")


def picture(
    name: str, net: ChannelGraph, near: RelativeNames, stopped: Mapping[int, float], *, slow: bool
) -> dict[str, Json]:
    """Return the data of a picture of a fabric; the report adds the stalled hosts and the end of the storm.

    ``stopped`` are the channels that are stopped, or slowed by a ``slow`` host, and since when, in nanoseconds.
    """
    boxes = _boxes(net, near)
    verb = "slowed" if slow else "stopped"
    box_of = {node: key for key, nodes in boxes.items() for node in nodes}
    still = {net.channels[at].source for at in stopped}
    items: list[Json] = [_item(key, nodes, net, near, still) for key, nodes in boxes.items()]
    legend: list[Json] = [
        ["stalled", f"thick: at least one of these links is {verb}; the time is when the first was"],
        ["free", f"thin and dashed: links that are not {verb}"],
        ["", "paused: devices with a port that may not send; orange boxes: all of them"],
    ]
    return {
        "fabric": f"{name}: pause propagation from {near.host}",
        "frames": [],
        "items": items,
        "edges": list(_edges(net, list(boxes), box_of, stopped)),
        "sides": [],
        "legend": legend,
    }


def _boxes(net: ChannelGraph, near: RelativeNames) -> dict[str, list[str]]:
    far = near.links_away
    boxes: dict[str, list[str]] = {}
    for node in sorted(net.rank, key=lambda node: (-net.rank[node], node != near.host, far.get(node, 0))):
        who = near.who(node)
        if who == "hosts" and net.out_of[node]:
            who = f"hosts at {near.who(net.channels[net.out_of[node][0]].target)}"
        boxes.setdefault(who, []).append(node)
    return boxes


def _item(
    key: str, nodes: Sequence[str], net: ChannelGraph, near: RelativeNames, still: set[str]
) -> dict[str, Json]:
    rank, paused = net.rank[nodes[0]], sum(node in still for node in nodes)
    state = "stalled" if paused == len(nodes) else ""
    many = _MANY[rank] if net.tiered or not rank else "switches"
    words = [nodes[0] if len(nodes) == 1 else f"{len(nodes):,} {many}"]
    words.append("" if key in (nodes[0], many) else key if len(nodes) == 1 else key.removeprefix(f"{many} "))
    words.append("storm source" if key == near.host else f"{paused:,} of {len(nodes):,} paused")
    return {
        "key": key,
        "names": [nodes[0], nodes[-1]],
        "devices": len(nodes),
        "role": _ROLES[rank],
        "columns": None,
        "place": [],
        "labels": [],
        "apart": False,
        "state": "source" if key == near.host else state,
        "words": list(words),
    }


def _edges(
    net: ChannelGraph, order: Sequence[str], box_of: Mapping[str, str], stopped: Mapping[int, float]
) -> Iterator[Json]:
    """Yield the links between two boxes as one, its upper end first, the nearer one where both are of one tier."""
    together: dict[tuple[str, str, int], list[int]] = {}
    for at in range(0, len(net.channels), 2):
        # The two directions of a link are channels beside each other.
        channel = net.channels[at]
        ends = sorted((box_of[channel.source], box_of[channel.target]), key=order.index)
        together.setdefault((ends[0], ends[1], channel.speed_bps), []).append(at)
    for (upper, lower, speed_bps), links in together.items():
        times = [stopped[direction] for at in links for direction in (at, at + 1) if direction in stopped]
        channel = net.channels[links[0]]
        yield {
            "a": upper,
            "b": lower,
            "tier": _LINKS[min(net.rank[channel.source], net.rank[channel.target])],
            "links": len(links),
            "speed_bps": speed_bps,
            "cable_m": 0,
            "around": False,
            "state": "stalled" if times else "free",
            "label": f"{len(links):,} {'link' if len(links) == 1 else 'links'}"
            + (f", {_since(min(times))}" if times else ""),
        }


def _since(at_ns: float) -> str:
    if not at_ns:
        return "at once"
    if at_ns < 1e6:
        return f"{at_ns / 1e3:,.0f} us"
    return f"{at_ns / 1e6:,.3g} ms" if at_ns < 1e9 else f"{at_ns / 1e9:,.3g} s"
