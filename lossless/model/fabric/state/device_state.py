"""All readings of one device, found by name and by their object."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.state.readings import StateCapture, StateReading


class PlacedReading(NamedTuple):
    """A reading, and its file."""

    file: str
    reading: StateReading

    @property
    def origin(self) -> Origin:
        """The place of the value."""
        return Origin(self.file, self.reading.path)

    def part(self, kind: str) -> str | None:
        """Return the name of an object of a kind in its identity: the name of its port, the number of its queue."""
        return next((name for own, name in self.reading.identity if own == kind), None)

    @property
    def number(self) -> int | None:
        """The value as a whole number, None where it is another value, unknown, or impossible for a counter."""
        value = self.reading.value
        return value if isinstance(value, int) and not self.reading.is_no_count else None


class DeviceState:
    """The captures of one device.

    Where several have the same value of the same object, the last one applies: files are read in the
    order of their names, and of one file the last section.
    """

    def __init__(self, name: str, captures: Sequence[StateCapture]) -> None:
        self.name = name
        self.captures = tuple(captures)
        self._objects: dict[tuple[str, tuple[str, ...]], dict[tuple[str | None, ...], PlacedReading]] = {}

    @cached_property
    def _by_name(self) -> dict[str, dict[tuple[tuple[str, str], ...], PlacedReading]]:
        index: dict[str, dict[tuple[tuple[str, str], ...], PlacedReading]] = {}
        for capture in self.captures:
            for reading in capture.readings:
                own = index.setdefault(reading.name, {})
                # What is not said does not take the place of what another capture says.
                if reading.identity not in own or not isinstance(reading.value, Unknown):
                    own[reading.identity] = PlacedReading(capture.file, reading)
        return index

    def every(self, *names: str) -> Iterator[PlacedReading]:
        """Yield all readings of some names in every capture, also those that later ones override.

        For peaks since different times, and for facts of one file alone: a log, or counters of an interface that
        it does not name.
        """
        for capture in self.captures:
            for reading in capture.readings:
                if reading.name in names:
                    yield PlacedReading(capture.file, reading)

    def named(self, name: str, *kinds: str) -> Iterator[PlacedReading]:
        """Yield the readings of a name whose identity has all given kinds: ``named("dropped_packets", "queue")``."""
        for placed in self._by_name.get(name, {}).values():
            if all(placed.part(kind) is not None for kind in kinds):
                yield placed

    def of(self, name: str, **parts: str) -> PlacedReading | None:
        """Return the reading of a name of an object, None where no capture has it: ``of("pfc_tx", port="Ethernet4")``.

        Where several objects match, it is that of the first.
        """
        kinds = tuple(sorted(parts))
        key = (name, kinds)
        if key not in self._objects:
            by_parts: dict[tuple[str | None, ...], PlacedReading] = {}
            for placed in self.named(name, *kinds):
                by_parts.setdefault(tuple(map(placed.part, kinds)), placed)
            self._objects[key] = by_parts
        return self._objects[key].get(tuple(parts[kind] for kind in kinds))

    def value(self, name: str, **parts: str) -> Maybe[int | float | str]:
        """Return a value of an object; UNKNOWN where no capture has it."""
        placed = self.of(name, **parts)
        return UNKNOWN if placed is None else placed.reading.value
