"""Readings of one text, looked up by what they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.capture_forms import read_capture

if TYPE_CHECKING:
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.state import StateCapture, StateReading


def host_captures(text: str, file: str = "capture") -> tuple[StateCapture, ...]:
    """Return the captures of a text that a host printed."""
    captures = read_capture(text, file, ["hosts"])
    assert captures is not None
    return captures


def subnet_captures(text: str, file: str = "capture") -> tuple[StateCapture, ...]:
    """Return the captures of a text that a tool of InfiniBand printed."""
    captures = read_capture(text, file, ["InfiniBand"])
    assert captures is not None
    return captures


def of(captures: tuple[StateCapture, ...], name: str, **identity: object) -> list[StateReading]:
    """Return the readings of a name that are of all that is named."""
    wanted = {(kind, str(part)) for kind, part in identity.items()}
    readings = [reading for capture in captures for reading in capture.readings]
    return [
        reading
        for reading in readings
        if name in (reading.name, reading.heading) and wanted <= set(reading.identity)
    ]


def value(captures: tuple[StateCapture, ...], name: str, **identity: object) -> Maybe[int | float | str]:
    """Return the only value of a name."""
    readings = of(captures, name, **identity)
    assert len(readings) == 1, readings
    return readings[0].value


def problems(captures: tuple[StateCapture, ...]) -> list[str]:
    """Return what could not be read, without the file's name."""
    return [
        f"{problem.line}:{problem.column}: {problem.message}"
        for capture in captures
        for problem in capture.problems
    ]
