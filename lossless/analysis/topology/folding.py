"""Folded pictures of fabrics: a few devices of each kind as single boxes, the others in boxes with a count.

Every link ends at the box of its device, so that none is lost.

Devices are folded only with those that are the same in the symmetry of the fabric: no box has switches of two planes
or of two pods that are drawn separately.

The position of a switch is its plane, and its pod, unit or group. A shape declares them. Where devices are listed,
planes are derived from the links: connected components that only hosts join. Leaves are labeled by their rails.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.analysis.topology.summary import Picture, PictureEdge, PictureFrame, PictureItem
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.topology.shapes import PlanNode, WiringPlan
    from lossless.model.fabric.model import LinkTier, Role


_ROWS: tuple[tuple[Role, ...], ...] = (("super-spine",), ("spine",), ("leaf", "switch"))
"""Roles from top to bottom; hosts are below."""
MOST_COLUMNS = 10
"""Most boxes side by side: with more, no label is legible where a page is as wide as the picture."""
_PLANES, _SIDES = 4, ((5, 5), (3, 4), (3, 3))
"""The most planes that are drawn; the most layers of a grid and its longest side, in the order of the trials."""
_FOLDED, _SPINES = 4, 4
"""Boxes of a folded row, and the most single spines: more crossing lines are no longer distinguishable."""
_STEPS = tuple((devices, groups) for devices in (8, 5, 4, 3, 2, 1) for groups in (4, 3, 2))
"""The most devices of a row in a group, and the most groups, in the order in which they are tried."""


MARKS = (
    "culprit",
    "seen here",
    "error",
    "unsafe",
    "failed",
    "changes",
    "disturbed",
    "warning",
    "on the edge",
    "limiting port",
)
"""The marks that a device may have in a picture, the one that matters most first."""


def folded(
    plan: WiringPlan,
    name: str,
    shape: str | None,
    rail_of: Mapping[str, int] | None = None,
    marks: Mapping[str, str] | None = None,
) -> Picture:
    """Return the picture of a fabric; ``shape`` is the key of its shape, None where devices are listed.

    ``rail_of`` are the rails of leaves, if the fabric has any. ``marks`` has the mark of devices, one of :data:`MARKS`:
    a box of several devices has the first mark of any of them, and says how many have it.
    """
    folding = _Folding(plan, shape, rail_of or {}, marks or {})
    items = tuple(folding.items())
    return Picture(name, tuple(folding.frames(items)), items, tuple(folding.edges()), folding.sides)


Runs = tuple[tuple[int, int], ...]
"""First number and length of the runs of a row that are drawn together."""


class _Folding:
    """The items (boxes), frames and edges of a picture; every device is in one item."""

    def __init__(
        self, plan: WiringPlan, shape: str | None, rail_of: Mapping[str, int], marks: Mapping[str, str]
    ) -> None:
        self._plan = plan
        self._rail_of = rail_of
        self._marks = marks
        self._word = groups_of(plan, shape)[0]
        self._switches = [node for node in plan.nodes if node.role != "host"]
        self.sides = (
            tuple(max(at) + 1 for at in zip(*(node.place for node in self._switches), strict=True))
            if shape == "torus"
            else ()
        )
        self._at = {} if self.sides else positions(plan, shape)
        self._planes = _counted(at.plane for at in self._at.values())
        self._groups = _counted(at.group for at in self._at.values())
        self._plane_runs = tuple(_runs(self._planes, _PLANES))
        self._number = {node.name: number for number, node in enumerate(plan.nodes)}
        self._item_of: dict[str, str] = {}
        self._places: dict[str, tuple[int, ...]] = {}
        self._cells: dict[str, tuple[int, int]] = {}
        """The run of planes and the run of groups of each item, by key; -1 for all."""

    # --- items ---

    def items(self) -> Iterator[PictureItem]:
        """Yield all items: switches by row, plane and group (in a torus by place), then hosts by their switches."""
        switches = tuple(self._grid() if self.sides else self._rows())
        yield from switches
        yield from self._hosts({item.key: item for item in switches})

    def _rows(self) -> Iterator[PictureItem]:
        """Yield the items of switches in rows, with the most detail that fits ``MOST_COLUMNS``, else the least."""
        clusters = list(self._clusters_of_rows())
        for devices, groups in _STEPS:
            self._group_runs = tuple(_runs(self._groups, groups))
            pieces = [piece for row in clusters for piece in self._pieces(row, devices)]
            columns = _columns(pieces)
            if _width(pieces, columns) <= MOST_COLUMNS:
                break
        for nodes, cell in pieces:
            yield self._item(nodes, cell, _span(cell, columns))

    def _clusters_of_rows(self) -> Iterator[dict[tuple[int, int], list[PlanNode]]]:
        """Yield for each row its switches by plane and group; -1 for a switch that has none or belongs to all."""
        for roles in _ROWS:
            row: dict[tuple[int, int], list[PlanNode]] = {}
            for node in self._switches:
                if node.role in roles:
                    at = self._at[node.name]
                    row.setdefault((_or_all(at.plane), _or_all(at.group)), []).append(node)
            yield dict(sorted(row.items()))

    def _pieces(self, row: Mapping[tuple[int, int], list[PlanNode]], most: int) -> Iterator[_Piece]:
        """Yield the boxes of a row, each with its run of planes and of groups."""
        merged: dict[tuple[int, int], list[PlanNode]] = {}
        for (plane, group), nodes in row.items():
            merged.setdefault(
                (_run_of(plane, self._plane_runs), _run_of(group, self._group_runs)), []
            ).extend(nodes)
        inside = max(1, most // max(1, len({plane for plane, _ in merged})))
        if any(nodes[0].role.endswith("spine") for nodes in merged.values()):
            inside = min(inside, _SPINES)
        for (plane, group), nodes in sorted(merged.items()):
            alone = _single(plane, self._plane_runs) and _single(group, self._group_runs)
            for first, number in _runs(len(nodes), inside if alone else 1):
                yield _Piece(nodes[first : first + number], (plane, group))

    def _item(
        self, nodes: Sequence[PlanNode], cell: tuple[int, int], columns: tuple[int, int] | None,
        place: tuple[int, ...] = (),
    ) -> PictureItem:  # fmt: skip
        key = nodes[0].name
        self._cells[key] = cell
        for node in nodes:
            self._item_of[node.name] = key
        labels = tuple(self._labels(nodes, cell))
        names = (key, nodes[-1].name)
        apart = self._number[names[1]] - self._number[key] >= len(nodes)
        item = PictureItem(key, names, len(nodes), nodes[0].role, columns, place, labels, apart)
        return self._marked(item, nodes) if self._marks else item

    def _marked(self, item: PictureItem, nodes: Sequence[PlanNode]) -> PictureItem:
        """Return an item with the first mark of its devices, and the label that says which or how many have it."""
        mark = min(
            (self._marks[node.name] for node in nodes if node.name in self._marks),
            key=MARKS.index,
            default="",
        )
        if not mark:
            return item
        named = [node.name for node in nodes if self._marks.get(node.name) == mark]
        which = "" if len(nodes) == 1 else f"{named[0]}: " if len(named) == 1 else f"{len(named)} of them: "
        return item._replace(state=mark, labels=(*item.labels, f"{which}{mark}"))

    def _labels(self, nodes: Sequence[PlanNode], cell: tuple[int, int]) -> Iterator[str]:
        """Yield the labels of an item that are in no frame around it."""
        plane, group = cell
        if self._planes and plane >= 0 and group >= 0:
            framed = self._is_framed_by_plane(nodes[0].role)
            word, run = (
                (self._word, self._group_runs[group]) if framed else ("plane", self._plane_runs[plane])
            )
            yield _numbered(word, *run)
        rails = [self._rail_of[node.name] for node in nodes if node.name in self._rail_of]
        if rails:
            yield rail_label(rails)

    # --- grids ---

    def _grid(self) -> Iterator[PictureItem]:
        """Yield the items of the switches of a torus; along a long side those in the middle are one item."""
        axes = _axes(self.sides)
        cells: dict[tuple[int, ...], list[PlanNode]] = {}
        for node in self._switches:
            self._places[node.name] = node.place
            place = tuple(_run_of(at, runs) for at, runs in zip(node.place, axes, strict=True))
            cells.setdefault(place, []).append(node)
        for place, nodes in sorted(cells.items()):
            yield self._item(nodes, (-1, -1), None, place)

    # --- hosts ---

    def _hosts(self, switches: Mapping[str, PictureItem]) -> Iterator[PictureItem]:
        """Yield the items of hosts: one for all hosts with links to the same items of switches, in the same order."""
        switches_of: dict[str, dict[str, None]] = {}
        for bundle in self._plan.bundles:
            if bundle.to_host:
                switches_of.setdefault(bundle.b, {})[self._item_of[bundle.a]] = None
        hosts = (node for node in self._plan.nodes if node.role == "host")
        for above, nodes in grouped((tuple(switches_of.get(host.name, ())), host) for host in hosts).items():
            spans = [span for key in above if (span := switches[key].columns) is not None]
            columns = (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None
            yield self._item(nodes, self._cell_of_hosts(above), columns)

    def _cell_of_hosts(self, above: Iterable[str]) -> tuple[int, int]:
        """Return the planes and the group of hosts: those of their switches where all are the same."""
        cells = [self._cells[key] for key in above]
        planes, groups = {plane for plane, _ in cells}, {group for _, group in cells}
        return (planes.pop() if len(planes) == 1 else -1, groups.pop() if len(groups) == 1 else -1)

    # --- frames ---

    def frames(self, items: Iterable[PictureItem]) -> Iterator[PictureFrame]:
        """Yield frames around related items: groups with their hosts, and planes."""
        by_title: dict[str, list[str]] = {}
        for item in items:
            title = self._frame_title(item)
            if title:
                by_title.setdefault(title, []).append(item.key)
        yield from (PictureFrame(title, tuple(keys)) for title, keys in by_title.items())

    def _frame_title(self, item: PictureItem) -> str:
        plane, group = self._cells[item.key]
        if plane >= 0 and self._is_framed_by_plane(item.role):
            return _frame("plane", *self._plane_runs[plane])
        if group >= 0 and not (self._planes and self._is_framed_by_plane("leaf")):
            return _frame(self._word, *self._group_runs[group])
        return ""

    def _is_framed_by_plane(self, role: str) -> bool:
        """Return whether switches of a role are in a frame of their plane: all, or in pods the super-spines alone."""
        return role != "host" and (role == "super-spine" or self._word != "pod")

    # --- edges ---

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
        """Return whether a link closes a ring of a torus, from the last coordinate to the first."""
        if a not in self._places or b not in self._places:
            return False
        return any(first - second > 1 for first, second in zip(self._places[a], self._places[b], strict=True))


# --- columns ---


class _Piece(NamedTuple):
    """Devices that are drawn as one box, and its cell: the run of planes and the run of groups."""

    nodes: Sequence[PlanNode]
    cell: tuple[int, int]


def _columns(pieces: Sequence[_Piece]) -> list[tuple[int, int]]:
    """Return the cells side by side, from left to right: those of the lowest row, else all."""
    lowest = [piece.cell for piece in pieces if piece.nodes[0].role in _ROWS[-1]]
    return sorted(set(lowest) or {piece.cell for piece in pieces})


def _span(cell: tuple[int, int], columns: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the first and last column that belong to a cell; None where it is centered over all columns."""
    plane, group = cell
    within = [
        number
        for number, (of_plane, of_group) in enumerate(columns)
        if of_plane in (plane, -1) and (of_group == group or group == -1)
    ]
    free = not within or (plane >= 0 and group == -1 and columns[within[0]][0] == -1)
    return None if free else (within[0], within[-1])


def _width(pieces: Sequence[_Piece], columns: Sequence[tuple[int, int]]) -> int:
    """Return the number of boxes side by side where each column is as wide as its widest row."""
    counts: dict[tuple[int, int], dict[str, int]] = {}
    free: dict[str, int] = {}
    for piece in pieces:
        role, span = piece.nodes[0].role, _span(piece.cell, columns)
        row = counts.setdefault(span, {}) if span is not None and span[0] == span[1] else free
        row[role] = row.get(role, 0) + 1
    return max(sum(max(row.values()) for row in counts.values()), max(free.values(), default=0))


# --- runs and numbers ---


def _axes(sides: Sequence[int]) -> list[Runs]:
    """Return the runs along each side of a grid, with the most detail that is not too wide, the least if all are."""
    for layers, most in _SIDES:
        limits = [layers if axis < len(sides) - 2 else most for axis in range(len(sides))]
        axes = [tuple(_runs(side, limit)) for side, limit in zip(sides, limits, strict=True)]
        if len(axes[-1]) * (len(axes[0]) if len(sides) > 2 else 1) <= MOST_COLUMNS:
            break
    return axes


def _counted(numbers: Iterable[int | None]) -> int:
    """Return one more than the largest number; 0 without any."""
    return max((number + 1 for number in numbers if number is not None), default=0)


def _or_all(number: int | None) -> int:
    return -1 if number is None else number


def _runs(number: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield first number and length of the runs of a row: all single, or the first few, the rest, and the last.

    With fewer than three runs the rest includes the last.
    """
    if number <= most:
        yield from ((at, 1) for at in range(number))
        return
    most = min(most, _FOLDED)
    if most < 3:
        yield from ((at, 1) for at in range(most - 1))
        yield most - 1, number - most + 1
    else:
        yield from ((at, 1) for at in range(most - 2))
        yield most - 2, number - most + 1
        yield number - 1, 1


def _run_of(at: int, runs: Sequence[tuple[int, int]]) -> int:
    """Return the index of the run that has a number; -1 where none has it, as for -1 (all)."""
    return next((i for i, (first, number) in enumerate(runs) if first <= at < first + number), -1)


def _single(run: int, runs: Sequence[tuple[int, int]]) -> bool:
    return run < 0 or runs[run][1] == 1


def _numbered(word: str, first: int, number: int) -> str:
    """Return the name of a run: ``pod 1``, ``planes 3 to 7``."""
    return f"{word} {first + 1}" if number == 1 else f"{word}s {first + 1} to {first + number}"


def _frame(word: str, first: int, number: int) -> str:
    """Return the title of a frame: ``pod 1``, ``pods 2 to 32 (31 pods)``."""
    title = _numbered(word, first, number)
    return title if number == 1 else f"{title} ({number:,} {word}s)"


def rail_label(rails: Sequence[int]) -> str:
    """Return the label of the rails of leaves: from the first to the last of consecutive ones, else their number."""
    first, *others = distinct = sorted({*rails})
    if not others:
        return f"rail {first + 1}"
    consecutive = distinct == [*range(first, others[-1] + 1)]
    return f"rails {first + 1} to {others[-1] + 1}" if consecutive else f"{len(distinct)} rails"


_GROUPED = {"three_tier": "pod", "rail_optimised": "unit", "dragonfly": "group", "dragonfly_plus": "group"}
_IN_GROUPS: dict[str, tuple[Role, ...]] = {
    "three_tier": ("leaf", "spine"),
    "rail_optimised": ("leaf",),
    "dragonfly": ("switch",),
    "dragonfly_plus": ("leaf", "spine"),
}


class SwitchPosition(NamedTuple):
    """The plane and group of a switch, from 0; None where the fabric has none, or the switch belongs to all."""

    plane: int | None = None
    group: int | None = None


def groups_of(plan: WiringPlan, shape: str | None) -> tuple[str, dict[str, int]]:
    """Return the word for a shape's groups (``pod``; empty without any), and the group of each switch in one."""
    roles = _IN_GROUPS.get(shape or "", ())
    return _GROUPED.get(shape or "", ""), {
        node.name: node.place[0] for node in plan.nodes if node.role in roles
    }


def positions(plan: WiringPlan, shape: str | None) -> dict[str, SwitchPosition]:
    """Return the position of every switch by its name; ``shape`` is None where devices are listed."""
    switches = [node for node in plan.nodes if node.role != "host"]
    _, group_of = groups_of(plan, shape)
    plane_of = _planes(plan, switches, shape)
    return {node.name: SwitchPosition(plane_of.get(node.name), group_of.get(node.name)) for node in switches}


def _planes(plan: WiringPlan, switches: Sequence[PlanNode], shape: str | None) -> dict[str, int]:
    """Return the plane of each switch that is in one; empty where all switches are in the same."""
    if shape == "rail_optimised":
        at = {"leaf": 2, "spine": 0}
        numbered = {node.name: node.place[at[node.role]] for node in switches}
    elif shape == "three_tier":
        numbered = _planes_of_spines(switches)
    else:
        numbered = {} if shape else _unconnected(plan, switches)
    return numbered if len(set(numbered.values())) > 1 else {}


def _planes_of_spines(switches: Iterable[PlanNode]) -> dict[str, int]:
    """Return the plane of each spine and super-spine; empty where places of spines have no plane, as in a subnet."""
    spines = {node.name: node.place for node in switches if node.role == "spine"}
    if any(len(place) < 3 for place in spines.values()):
        return {}
    tops = {node.name: node.place[0] for node in switches if node.role == "super-spine"}
    return {name: place[1] for name, place in spines.items()} | tops


def _unconnected(plan: WiringPlan, switches: Sequence[PlanNode]) -> dict[str, int]:
    """Return the connected component of each switch, numbered, over the links between switches.

    Empty unless a host is attached to several components and every switch has a link to another switch.
    """
    near: dict[str, list[str]] = {node.name: [] for node in switches}
    for bundle in plan.bundles:
        if not bundle.to_host:
            near[bundle.a].append(bundle.b)
            near[bundle.b].append(bundle.a)
    part_of = _parts(near)
    parts_of_hosts: dict[str, set[int]] = {}
    for bundle in plan.bundles:
        if bundle.to_host:
            parts_of_hosts.setdefault(bundle.b, set()).add(part_of[bundle.a])
    several = any(len(parts) > 1 for parts in parts_of_hosts.values())
    return part_of if several and all(near.values()) else {}


def _parts(near: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return, by node, the number of its connected component, counted in the order of the nodes."""
    part_of: dict[str, int] = {}
    numbers = count()
    for first in near:
        if first in part_of:
            continue
        number = next(numbers)
        waiting = [first]
        while waiting:
            name = waiting.pop()
            if name not in part_of:
                part_of[name] = number
                waiting += near[name]
    return part_of
