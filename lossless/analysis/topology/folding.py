"""A fabric folded to what fits a picture: a few devices of each kind one by one, all others as one shape that says how
many they are. Every link ends at the shape its device is in, so that none is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.topology.shapes import PlanNode, WiringPlan
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.tier import LinkTier, Role

_ROWS: tuple[tuple[Role, ...], ...] = (("super-spine",), ("spine",), ("leaf", "switch"))
"""From top to bottom; hosts are below."""
_GROUPS, _DEVICES, _SIDE = 4, 5, 5
"""Most groups, most devices of one role in a group, and longest side of a grid that are drawn in full."""


class PictureItem(NamedTuple):
    """A device, or several that are drawn as one. ``place`` is its row and column in a grid, and the layer."""

    key: str
    names: tuple[str, str]
    devices: int
    role: str
    group: int
    place: tuple[int, ...] = ()


class PictureGroup(NamedTuple):
    """A pod, unit or group, or several that are drawn as one; ``first`` counts from 1."""

    first: int
    groups: int


class PictureEdge(NamedTuple):
    """All links between two items of one tier, speed and length. ``around``: they close a ring."""

    a: str
    b: str
    tier: LinkTier
    links: int
    speed_bps: int
    cable_m: int
    around: bool = False


class Picture(NamedTuple):
    """What is drawn. ``sides`` are those of the grid that switches stand in, empty where they stand in rows."""

    fabric: str
    grouped: str
    groups: tuple[PictureGroup, ...]
    items: tuple[PictureItem, ...]
    edges: tuple[PictureEdge, ...]
    sides: tuple[int, ...] = ()

    def to_data(self) -> dict[str, Json]:
        """Return it as plain data."""
        return {
            "fabric": self.fabric,
            "grouped": self.grouped,
            "groups": [dict(group._asdict()) for group in self.groups],
            "items": [_item_data(item) for item in self.items],
            "edges": [dict(edge._asdict()) for edge in self.edges],
            "sides": list(self.sides),
        }


def _item_data(item: PictureItem) -> dict[str, Json]:
    return {**item._asdict(), "names": list(item.names), "place": list(item.place)}


def folded(plan: WiringPlan, name: str, shape: str | None) -> Picture:
    """Return what is drawn of a fabric; ``shape`` is the key of its shape, None where devices are listed."""
    folding = _Folding(plan, shape)
    groups = tuple(folding.groups())
    items = tuple(folding.items())
    return Picture(name, folding.grouped, groups, items, tuple(folding.edges()), folding.sides)


_GROUPED = {"three_tier": "pod", "rail_optimised": "unit", "dragonfly": "group", "dragonfly_plus": "group"}
_IN_GROUPS: dict[str, tuple[Role, ...]] = {
    "three_tier": ("leaf", "spine"),
    "rail_optimised": ("leaf",),
    "dragonfly": ("switch",),
    "dragonfly_plus": ("leaf", "spine"),
}


def groups_of(plan: WiringPlan, shape: str | None) -> tuple[str, dict[str, int]]:
    """Return what the groups of a shape are called, and the one that each switch is in that is in one."""
    roles = _IN_GROUPS.get(shape or "", ())
    return _GROUPED.get(shape or "", ""), {
        node.name: node.place[0] for node in plan.nodes if node.role in roles
    }


class _Folding:
    """Gives every device the item it is drawn as."""

    def __init__(self, plan: WiringPlan, shape: str | None) -> None:
        self._plan = plan
        self.grouped = _GROUPED.get(shape or "", "")
        self._roles_in_groups = _IN_GROUPS.get(shape or "", ())
        self._switches = [node for node in plan.nodes if node.role != "host"]
        self.sides = _sides(self._switches) if shape == "torus" else ()
        in_groups = {node.place[0] for node in self._switches if node.role in self._roles_in_groups}
        self._number_of_groups = len(in_groups)
        self._item_of: dict[str, str] = {}
        self._places: dict[str, tuple[int, ...]] = {}

    def groups(self) -> Iterator[PictureGroup]:
        """Yield the groups as they are drawn; one for all where there are none."""
        for first, number in _runs(self._number_of_groups, _GROUPS):
            yield PictureGroup(first + 1, number)

    def items(self) -> Iterator[PictureItem]:
        """Yield all items: switches by row and group, then the hosts of each."""
        yield from self._grid() if self.sides else self._rows()
        yield from self._hosts()

    def _rows(self) -> Iterator[PictureItem]:
        runs = list(_runs(self._number_of_groups, _GROUPS))
        for roles in _ROWS:
            grouped: dict[int, list[PlanNode]] = {}
            for node in self._switches:
                if node.role in roles:
                    own = node.role in self._roles_in_groups
                    grouped.setdefault(_run_of(node.place[0], runs) if own else -1, []).append(node)
            for group, nodes in sorted(grouped.items()):
                whole = group >= 0 and runs[group][1] > 1
                yield from self._folded(nodes, group, 0 if whole else _DEVICES)

    def _folded(self, nodes: Sequence[PlanNode], group: int, most: int) -> Iterator[PictureItem]:
        for first, number in _runs(len(nodes), most):
            yield self._item(nodes[first : first + number], group)

    def _item(self, nodes: Sequence[PlanNode], group: int, place: tuple[int, ...] = ()) -> PictureItem:
        key = nodes[0].name
        for node in nodes:
            self._item_of[node.name] = key
        return PictureItem(key, (nodes[0].name, nodes[-1].name), len(nodes), nodes[0].role, group, place)

    def _grid(self) -> Iterator[PictureItem]:
        """Yield the switches of a torus; along a long side those in the middle are one."""
        axes = [list(_runs(side, _SIDE)) for side in self.sides]
        grouped: dict[tuple[int, ...], list[PlanNode]] = {}
        for node in self._switches:
            place = tuple(_run_of(at, runs) for at, runs in zip(node.place, axes, strict=True))
            self._places[node.name] = node.place
            grouped.setdefault(place, []).append(node)
        for place, nodes in sorted(grouped.items()):
            yield self._item(nodes, -1, place)

    def _hosts(self) -> Iterator[PictureItem]:
        """Yield the hosts of each item as one; those of several items, as in rails, with the first of them."""
        switches_of: dict[str, dict[str, None]] = {}
        for bundle in self._plan.bundles:
            if bundle.to_host:
                switches_of.setdefault(bundle.b, {})[self._item_of[bundle.a]] = None
        together: dict[tuple[str, ...], list[PlanNode]] = {}
        for node in self._plan.nodes:
            if node.role == "host":
                together.setdefault(tuple(switches_of.get(node.name, ())), []).append(node)
        yield from (self._item(nodes, -1) for nodes in together.values())

    def edges(self) -> Iterator[PictureEdge]:
        """Yield the links between items, those of one tier, speed and length together."""
        links_of: dict[tuple[str, str, LinkTier, int, int, bool], int] = {}
        for bundle in self._plan.bundles:
            ends = self._item_of[bundle.a], self._item_of[bundle.b]
            key = (*ends, bundle.tier, bundle.speed_bps, bundle.cable_m, self._around(bundle.a, bundle.b))
            links_of[key] = links_of.get(key, 0) + bundle.links
        for (a, b, tier, speed_bps, cable_m, around), links in links_of.items():
            yield PictureEdge(a, b, tier, links, speed_bps, cable_m, around)

    def _around(self, a: str, b: str) -> bool:
        """Return whether a link leads from the last switch of a row to the first."""
        if a not in self._places or b not in self._places:
            return False
        return any(first - second > 1 for first, second in zip(self._places[a], self._places[b], strict=True))


def _sides(switches: Iterable[PlanNode]) -> tuple[int, ...]:
    return tuple(max(at) + 1 for at in zip(*(node.place for node in switches), strict=True))


def _runs(number: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield first and length of what is drawn of a row: each by itself, or the first few, the rest, and the last."""
    if number <= most:
        yield from ((at, 1) for at in range(number))
    elif most < 3:
        yield 0, number
    else:
        yield from ((at, 1) for at in range(most - 2))
        yield most - 2, number - most + 1
        yield number - 1, 1


def _run_of(at: int, runs: Sequence[tuple[int, int]]) -> int:
    return next(i for i, (first, number) in enumerate(runs) if first <= at < first + number)
