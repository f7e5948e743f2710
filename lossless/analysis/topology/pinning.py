"""Names and ports to pin, so that a new declaration of a fabric keeps every device and cable in place."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.topology.recabling import DeclaredCable, DeclaredCabling, RecablingPlan
    from lossless.ground.basics.findings import Json

    _Ends = tuple[str, str | None, str, str | None]

ANY = "any"
"""The port of a link that may have any: the next free one."""


class Pins(NamedTuple):
    """Names by derived name, and ports by ``DEVICE:NEIGHBOR``, in the form of an intent."""

    names: Mapping[str, str]
    ports: Mapping[str, tuple[str, ...]]

    def to_data(self) -> dict[str, Json]:
        """Return the pins as plain data."""
        return {"names": dict(self.names), "ports": {ends: list(ports) for ends, ports in self.ports.items()}}


def pins_for(after: DeclaredCabling, recabling: RecablingPlan, stated: Pins) -> Pins:
    """Return the pins that replace the ``stated`` ones; ``recabling`` is the result with these.

    At a device with any changed port all current cables are pinned: the port of an unpinned one could be reassigned.
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
    """Generates free names: those of a kind are counted on after the highest number in use."""

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
    """Return a name without the number at its end, and the number."""
    match = re.search(r"\d{1,9}$", name)
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
    """Return the current port of the near end of a cable."""
    there = stood.get((wire.a, wire.a_port, wire.b, wire.b_port))
    if there is not None:
        return there.a_port
    there = stood.get((wire.b, wire.b_port, wire.a, wire.a_port))
    return there.b_port if there is not None else None
