"""The spread as a picture: nodes that are as near to the host as one box each, links by whether they stand still.

As plain data, by the names of :mod:`lossless.topology.folding`, with colours and words of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.fabric.model import Fabric
    from lossless.findings import Json
    from lossless.spread.channels import Tiers
    from lossless.spread.near import Near

_STILL, _STILL_FILL, _FROM_FILL, _FREE = "#c0392b", "#f6d5d0", "#e79a8f", "#8a949e"
_ROLES = ("host", "leaf", "spine", "super-spine")
_LINKS = ("hosts", "uplinks", "spine_uplinks")


def picture(fabric: Fabric, found: Tiers, near: Near, stopped: Mapping[int, float]) -> dict[str, Json]:
    """Return what is drawn; ``stopped`` are the channels that stand still, and since when, in nanoseconds."""
    boxes = _boxes(found, near)
    box_of = {node: key for key, nodes in boxes.items() for node in nodes}
    still = {found.channels[at].source for at in stopped}
    fills = {key: _STILL_FILL for key, nodes in boxes.items() if still.issuperset(nodes)} | {
        near.host: _FROM_FILL
    }
    items: list[Json] = [_item(key, nodes, found, fills.get(key, "")) for key, nodes in boxes.items()]
    legend: list[Json] = [
        [_STILL, "links that stand still in one direction, and since when the first does"],
        [_FREE, "links that nothing stops"],
        ["", "red boxes: each of them has a port that may not send"],
    ]
    return {
        "fabric": f"{fabric.name}: pauses from {near.host}",
        "grouped": "",
        "groups": [],
        "items": items,
        "edges": list(_edges(found, box_of, stopped)),
        "sides": [],
        "legend": legend,
    }


def _boxes(found: Tiers, near: Near) -> dict[str, list[str]]:
    boxes: dict[str, list[str]] = {}
    for node in sorted(found.rank, key=lambda node: (-found.rank[node], node != near.host)):
        who = near.who(node)
        if who == "hosts" and found.out_of[node]:
            who = f"hosts at {near.who(found.channels[found.out_of[node][0]].target)}"
        boxes.setdefault(who, []).append(node)
    return boxes


def _item(key: str, nodes: Sequence[str], found: Tiers, fill: str) -> dict[str, Json]:
    return {
        "key": key,
        "names": [nodes[0], nodes[-1]],
        "devices": len(nodes),
        "role": _ROLES[found.rank[nodes[0]]],
        "group": -1,
        "place": [],
        "fill": fill,
    }


def _edges(found: Tiers, box_of: Mapping[str, str], stopped: Mapping[int, float]) -> Iterator[Json]:
    """Yield the links between two boxes as one, its upper end first."""
    together: dict[tuple[str, str, int], list[int]] = {}
    for at, one in enumerate(found.channels):
        if found.is_down(at):
            key = (box_of[one.source], box_of[one.target], one.speed_bps)
            together.setdefault(key, []).append(at)
    for (upper, lower, speed_bps), down in together.items():
        # The two directions of a link are channels beside each other.
        times = [stopped[way] for at in down for way in (at, at ^ 1) if way in stopped]
        yield {
            "a": upper,
            "b": lower,
            "tier": _LINKS[found.rank[found.channels[down[0]].target]],
            "links": len(down),
            "speed_bps": speed_bps,
            "cable_m": 0,
            "around": False,
            "stroke": _STILL if times else _FREE,
            "label": f"{len(down):,}" + (f", {_since(min(times))}" if times else ""),
        }


def _since(at_ns: float) -> str:
    return "at once" if not at_ns else f"{at_ns / 1e3:,.0f} us" if at_ns < 1e6 else f"{at_ns / 1e6:,.3g} ms"
