"""Items that a reader yields for a capture: readings, problems and notes in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lossless.ground.basics.errors import Problem
from lossless.model.fabric.state.readings import StateCapture, StateReading

StateItem = StateReading | Problem | str
"""A reading, a part that could not be read, or a note."""
StateItems = Iterator[StateItem]


def captured(file: str, form: str, items: Iterable[StateItem], device: str | None = None) -> StateCapture:
    """Return the capture of some items; of equal notes one is kept."""
    readings: list[StateReading] = []
    problems: list[Problem] = []
    notes: dict[str, None] = {}
    for item in items:
        if isinstance(item, StateReading):
            readings.append(item)
        elif isinstance(item, Problem):
            problems.append(item)
        else:
            notes[item] = None
    return StateCapture(file, form, tuple(readings), device, tuple(problems), tuple(notes))
