"""Changes of the current fabric under a new declaration: renamed devices and moved cables, and pins that prevent these.

Devices of two shapes are the same in the same role and place, even with another name; where places are not comparable,
devices of the same role and name are the same. Of the cables between the same two devices those at the same two ports
stay, then each is matched with one that shares an end, then the rest in their order.

Pins are names and ports that keep every device and cable in place under a new declaration of a fabric.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.topology.shapes import PlanNode
    from lossless.model.fabric.model import LinkTier

    _Ends = tuple[str, str | None, str, str | None]

ANY = "any"
"""In pins, the port of a link that may have any port: it gets the next free one."""


class Pins(NamedTuple):
    """Device names by derived name, and ports of parallel links by ``DEVICE:NEIGHBOR``, in the form of an intent."""

    names: Mapping[str, str]
    ports: Mapping[str, tuple[str, ...]]


def pins_for(after: DeclaredCabling, recabling: RecablingPlan, stated: Pins) -> Pins:
    """Return the pins that replace the ``stated`` ones; ``recabling`` is the plan that results with the stated ones.

    At a device with a changed or pinned port all current cables are pinned: the port of any other could be reassigned.
    """
    called = _called(after, recabling)
    derived = {new: old for old, new in stated.names.items()}
    names = {derived.get(name, name): called[name] for name in called}
    ports = _ports(after, recabling, called, stated.ports)
    return Pins({old: new for old, new in names.items() if old != new}, ports)


def _called(after: DeclaredCabling, recabling: RecablingPlan) -> dict[str, str]:
    """Return the name of each device: its current name; for an added one its derived name, or the next free one."""
    stood = {node.name for node in recabling.same.values()}
    fresh = _Fresh(stood, {node.name for node in recabling.added} - stood)
    names: dict[str, str] = {}
    for node in after.nodes:
        old = recabling.same.get(node.name)
        names[node.name] = old.name if old else fresh(node.name) if node.name in stood else node.name
    return names


class _Fresh:
    """A source of free device names: each stem is counted on after the highest number in use."""

    def __init__(self, stood: set[str], besides: set[str]) -> None:
        self._highest: dict[str, int] = {}
        self._besides = besides
        for stem, number in map(_split, stood):
            self._highest[stem] = max(self._highest.get(stem, 0), number)

    def __call__(self, name: str) -> str:
        stem, _ = _split(name)
        numbers = count(self._highest[stem] + 1)
        self._highest[stem] = next(n for n in numbers if f"{stem}{n}" not in self._besides)
        return f"{stem}{self._highest[stem]}"


def _split(name: str) -> tuple[str, int]:
    """Return a name without the number at its end, and the number; ``NAME-`` and 1 if it has none."""
    match = re.search(r"[0-9]{1,9}$", name)
    return (name[: match.start()], int(match[0])) if match else (f"{name}-", 1)


def _ports(
    after: DeclaredCabling,
    recabling: RecablingPlan,
    called: Mapping[str, str],
    stated: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    touched = {*_ends_that_move(recabling), *(called[ends.partition(":")[0]] for ends in stated)}
    stood = {(new.a, new.a_port, new.b, new.b_port): old for old, new in recabling.pairs}
    ports: dict[str, list[str]] = {}
    for wire in after.wires:
        for end in (wire, wire.turned()):
            near = end._replace(a=called[end.a], b=called[end.b])
            if near.a in touched:
                own = end.a_port if f"{end.a}:{end.b}" in stated else None
                ports.setdefault(f"{near.a}:{near.b}", []).append(_stood(stood, near) or own or ANY)
    return {ends: tuple(given) for ends, given in ports.items() if set(given) != {ANY}}


def _ends_that_move(recabling: RecablingPlan) -> Iterator[str]:
    for old, new in recabling.moved:
        if old.a_port != new.a_port:
            yield old.a
        if old.b_port != new.b_port:
            yield old.b


def _stood(stood: Mapping[_Ends, DeclaredCable], wire: DeclaredCable) -> str | None:
    """Return the current port of the near end of a cable, None for an added cable."""
    there = stood.get((wire.a, wire.a_port, wire.b, wire.b_port))
    if there is not None:
        return there.a_port
    there = stood.get((wire.b, wire.b_port, wire.a, wire.a_port))
    return there.b_port if there is not None else None


if TYPE_CHECKING:
    Ends = tuple[str, str]
    """Two devices by their names, in alphabetical order."""


class DeclaredCable(NamedTuple):
    """One cable between two devices; a port is None at a device that is configured elsewhere."""

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

    def turned(self) -> DeclaredCable:
        """Return the cable with its ends exchanged."""
        return self._replace(a=self.b, a_port=self.b_port, b=self.a, b_port=self.a_port)


class DeclaredCabling(NamedTuple):
    """The devices and cables of a declared fabric. ``frame`` is the shape's kind and grouping, None for listed devices.

    In two declarations with the same frame, a device of the same role and place is the same device.
    """

    frame: tuple[str | int, ...] | None
    nodes: tuple[PlanNode, ...]
    wires: tuple[DeclaredCable, ...]


class RecablingPlan(NamedTuple):
    """The new declaration of a fabric compared with the current one.

    ``same`` are the current devices that stay, by their new names; ``pairs`` the current cables that stay, each in its
    old and new form, under the current names. Added elements have the new names.
    """

    same: dict[str, PlanNode]
    added: tuple[PlanNode, ...]
    removed: tuple[PlanNode, ...]
    pairs: tuple[tuple[DeclaredCable, DeclaredCable], ...]
    added_wires: tuple[DeclaredCable, ...]
    removed_wires: tuple[DeclaredCable, ...]

    @property
    def moved(self) -> tuple[tuple[DeclaredCable, DeclaredCable], ...]:
        """The cables that stay and get another port, each in its old and new form."""
        return tuple(pair for pair in self.pairs if pair[0].ports != pair[1].ports)

    @property
    def changed(self) -> tuple[tuple[DeclaredCable, DeclaredCable], ...]:
        """The cables that stay at their ports and get another speed or length, each in its old and new form."""
        return tuple(pair for pair in self.pairs if pair[0].ports == pair[1].ports and pair[0] != pair[1])

    @property
    def kept(self) -> int:
        """The number of unchanged cables."""
        return sum(old == new for old, new in self.pairs)

    @property
    def renamed(self) -> Iterator[tuple[PlanNode, str]]:
        """The devices that stay and get another name, each with its new name."""
        return ((node, name) for name, node in self.same.items() if node.name != name)

    @property
    def stays(self) -> bool:
        """Whether all current elements stay unchanged; additions do not count."""
        gone = self.removed or self.moved or self.changed or self.removed_wires
        return not gone and next(self.renamed, None) is None


def recabling_plan(before: DeclaredCabling, after: DeclaredCabling) -> RecablingPlan:
    """Return the changes of the current fabric under a new declaration."""
    same = _same_devices(before, after)
    facing: dict[Ends, str] = {}
    standing = _by_ends(before.wires, str, facing)
    # An added device may have the name of a current one.
    to_be = _by_ends(after.wires, lambda name: same[name].name if name in same else f"+{name}", facing)
    pairs: list[tuple[DeclaredCable, DeclaredCable]] = []
    gone: list[DeclaredCable] = []
    more: list[DeclaredCable] = []
    for ends in {**standing, **to_be}:
        same_ends, left, new = _paired(standing.get(ends, []), to_be.get(ends, []))
        pairs += ((old, _under(old, wire)) for old, wire in same_ends)
        gone += left
        more += new
    stood = {node.name for node in same.values()}
    return RecablingPlan(
        same,
        tuple(node for node in after.nodes if node.name not in same),
        tuple(node for node in before.nodes if node.name not in stood),
        tuple(pairs),
        tuple(more),
        tuple(gone),
    )


def _same_devices(before: DeclaredCabling, after: DeclaredCabling) -> dict[str, PlanNode]:
    """Return the current devices that stay, by their new names."""
    by_place = before.frame is not None and before.frame == after.frame
    stand = {(node.role, node.place if by_place else node.name): node for node in before.nodes}
    to_be = {(node.role, node.place if by_place else node.name): node for node in after.nodes}
    return {node.name: stand[known_by] for known_by, node in to_be.items() if known_by in stand}


def _by_ends(
    wires: Iterable[DeclaredCable], called: Callable[[str], str], facing: dict[Ends, str]
) -> dict[Ends, list[DeclaredCable]]:
    """Return cables by their two devices, all of a pair with the same device as end ``a``."""
    by_ends: dict[Ends, list[DeclaredCable]] = {}
    for wire in wires:
        a, b = called(wire.a), called(wire.b)
        ends = (a, b) if a < b else (b, a)
        by_ends.setdefault(ends, []).append(wire if facing.setdefault(ends, a) == a else wire.turned())
    return by_ends


def _paired(
    old: list[DeclaredCable], new: list[DeclaredCable]
) -> tuple[list[tuple[DeclaredCable, DeclaredCable]], list[DeclaredCable], list[DeclaredCable]]:
    """Return the pairs of old and new cables between two devices, the other old cables, and the other new ones."""
    pairs: list[tuple[DeclaredCable, DeclaredCable]] = []
    one_end: list[Callable[[DeclaredCable], object]] = [lambda wire: wire.a_port, lambda wire: wire.b_port]
    # The end that more of them share first: where all have moved at one side, the other tells which is which.
    one_end.sort(key=lambda port: -len(set(map(port, old)) & set(map(port, new))))
    in_turn: list[Callable[[DeclaredCable], object]] = [lambda wire: wire.ports, *one_end, lambda _: None]
    for key_of in in_turn:
        waiting: dict[object, list[DeclaredCable]] = {}
        for wire in new:
            waiting.setdefault(key_of(wire), []).append(wire)
        left = []
        for wire in old:
            if candidates := waiting.get(key_of(wire)):
                pairs.append((wire, candidates.pop(0)))
            else:
                left.append(wire)
        old, new = left, [wire for wires in waiting.values() for wire in wires]
    return pairs, old, new


def _under(old: DeclaredCable, new: DeclaredCable) -> DeclaredCable:
    """Return a new cable with the device names and the tier of the old one."""
    return new._replace(a=old.a, b=old.b, tier=old.tier)
