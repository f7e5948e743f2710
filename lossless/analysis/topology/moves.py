"""What becomes of a fabric that stands when it is declared anew: what is called otherwise, and which cables move.

A device of a shape is the one at the same place of it, whatever its name; where places cannot be compared it is the one
of the same name. Of the cables between the same two devices those at the same two ports stay, then each is the one that
shares an end, then they are the same in their order: so as few move as can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.analysis.topology.shapes import LinkTier, Node
    from lossless.ground.basics.findings import Json

    Ends = tuple[str, str]
    """Two devices by their names, in the order of these."""


class Wire(NamedTuple):
    """One cable between two devices; a port is None where it is that of a device which is configured elsewhere."""

    a: str
    a_port: str | None
    b: str
    b_port: str | None
    speed_bps: int
    cable_m: int
    tier: LinkTier

    @property
    def ports(self) -> tuple[str | None, str | None]:
        """The ports of both ends."""
        return self.a_port, self.b_port

    def turned(self) -> Wire:
        """Return it with its ends changed round."""
        return self._replace(a=self.b, a_port=self.b_port, b=self.a, b_port=self.a_port)


class Cabling(NamedTuple):
    """Devices and cables of a fabric; ``frame`` is what their places mean, None where they are listed and have none.

    Two shapes of one kind whose switches are parted alike have one frame: the same place is the same device.
    """

    frame: tuple[str | int, ...] | None
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]


class Moves(NamedTuple):
    """What a fabric is to be, against what stands.

    ``same`` are the devices that stand, by what they are to be called; ``pairs`` the cables that stand, each as it
    stands and as it is to be, under the names that stand. What is added goes by the names to be.
    """

    same: dict[str, Node]
    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    pairs: tuple[tuple[Wire, Wire], ...]
    added_wires: tuple[Wire, ...]
    removed_wires: tuple[Wire, ...]

    @property
    def moved(self) -> tuple[tuple[Wire, Wire], ...]:
        """Cables that stand and get another port."""
        return tuple(pair for pair in self.pairs if pair[0].ports != pair[1].ports)

    @property
    def changed(self) -> tuple[tuple[Wire, Wire], ...]:
        """Cables that stay at their ports and get another speed or length."""
        return tuple(pair for pair in self.pairs if pair[0].ports == pair[1].ports and pair[0] != pair[1])

    @property
    def kept(self) -> int:
        """How many cables stay as they are."""
        return sum(old == new for old, new in self.pairs)

    @property
    def renamed(self) -> Iterator[tuple[Node, str]]:
        """Devices that stand, and what they are to be called instead."""
        return ((node, name) for name, node in self.same.items() if node.name != name)

    @property
    def stays(self) -> bool:
        """Whether all that stands stays as it is; what is added is no matter."""
        gone = self.removed or self.moved or self.changed or self.removed_wires
        return not gone and next(self.renamed, None) is None

    def to_data(self) -> dict[str, Json]:
        """Return it as plain data."""
        return {
            "stays": self.stays,
            "devices": {
                "kept": sum(node.name == name for name, node in self.same.items()),
                "renamed": [
                    {"was": node.name, "name": name, "role": node.role} for node, name in self.renamed
                ],
                "added": [_node_data(node) for node in self.added],
                "removed": [_node_data(node) for node in self.removed],
            },
            "links": {
                "kept": self.kept,
                "moved": [_pair_data(*pair) for pair in self.moved],
                "changed": [_pair_data(*pair) for pair in self.changed],
                "added": [_wire_data(wire) for wire in self.added_wires],
                "removed": [_wire_data(wire) for wire in self.removed_wires],
            },
        }


def moves(before: Cabling, after: Cabling) -> Moves:
    """Return what becomes of a fabric that stands."""
    same = _same_devices(before, after)
    facing: dict[Ends, str] = {}
    standing = _by_ends(before.wires, str, facing)
    # A device that is added may be called as one that stands was.
    to_be = _by_ends(after.wires, lambda name: same[name].name if name in same else f"+{name}", facing)
    pairs: list[tuple[Wire, Wire]] = []
    gone: list[Wire] = []
    more: list[Wire] = []
    for ends in {**standing, **to_be}:
        found, left, new = _paired(standing.get(ends, []), to_be.get(ends, []))
        pairs += ((old, _under(old, wire)) for old, wire in found)
        gone += left
        more += new
    stood = {node.name for node in same.values()}
    return Moves(
        same,
        tuple(node for node in after.nodes if node.name not in same),
        tuple(node for node in before.nodes if node.name not in stood),
        tuple(pairs),
        tuple(more),
        tuple(gone),
    )


def _same_devices(before: Cabling, after: Cabling) -> dict[str, Node]:
    """Return the devices that stand, by what they are to be called."""
    by_place = before.frame is not None and before.frame == after.frame
    stand = {(node.role, node.place if by_place else node.name): node for node in before.nodes}
    to_be = {(node.role, node.place if by_place else node.name): node for node in after.nodes}
    return {node.name: stand[known_by] for known_by, node in to_be.items() if known_by in stand}


def _by_ends(
    wires: Iterable[Wire], called: Callable[[str], str], facing: dict[Ends, str]
) -> dict[Ends, list[Wire]]:
    """Return wires by the two devices; all of two devices face as the first one that is seen of them."""
    found: dict[Ends, list[Wire]] = {}
    for wire in wires:
        a, b = called(wire.a), called(wire.b)
        ends = (a, b) if a < b else (b, a)
        found.setdefault(ends, []).append(wire if facing.setdefault(ends, a) == a else wire.turned())
    return found


def _paired(old: list[Wire], new: list[Wire]) -> tuple[list[tuple[Wire, Wire]], list[Wire], list[Wire]]:
    """Return which wire becomes which, and those of both sides that are left over."""
    pairs: list[tuple[Wire, Wire]] = []
    one_end: list[Callable[[Wire], object]] = [lambda wire: wire.a_port, lambda wire: wire.b_port]
    # The end that more of them share first: where all have moved at one side, the other tells which is which.
    one_end.sort(key=lambda port: -len(set(map(port, old)) & set(map(port, new))))
    in_turn: list[Callable[[Wire], object]] = [lambda wire: wire.ports, *one_end, lambda _: None]
    for alike in in_turn:
        waiting: dict[object, list[Wire]] = {}
        for wire in new:
            waiting.setdefault(alike(wire), []).append(wire)
        left = []
        for wire in old:
            if found := waiting.get(alike(wire)):
                pairs.append((wire, found.pop(0)))
            else:
                left.append(wire)
        old, new = left, [wire for wires in waiting.values() for wire in wires]
    return pairs, old, new


def _under(old: Wire, new: Wire) -> Wire:
    """Return a wire under the names that stand."""
    return new._replace(a=old.a, b=old.b, tier=old.tier)


def _node_data(node: Node) -> dict[str, Json]:
    return {"name": node.name, "role": node.role}


def _wire_data(wire: Wire) -> dict[str, Json]:
    return wire._asdict()


def _pair_data(old: Wire, new: Wire) -> dict[str, Json]:
    return {"was": _wire_data(old), "is": _wire_data(new)}
