"""One text of a switch that does not run SONiC, as a capture: recognized by what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.eos_json import read_eos
from lossless.formats.switches.nxos_tables import read_nxos
from lossless.ground.basics.errors import Problem
from lossless.ground.documents.concatenated_json import printed_json
from lossless.model.fabric.state.readings import StateCapture

if TYPE_CHECKING:
    from collections.abc import Iterator

_EARLY = "this JSON ends early or is damaged; it is read up to there"


def read_capture(text: str, file: str) -> tuple[StateCapture, ...] | None:
    """Return what a text says of a switch; None where it is no output of one that is read here."""
    captures = tuple(_documents(text, file)) if "{" in text else ()
    if captures:
        return captures
    said = read_nxos(text)
    return (StateCapture(file, f"NX-OS {said[0]}", said[1]),) if said else None


def _documents(text: str, file: str) -> Iterator[StateCapture]:
    for printed in printed_json(text):
        if said := read_eos(printed.value):
            problems = () if printed.whole else (Problem(file, printed.line, None, _EARLY),)
            yield StateCapture(file, f"EOS {said[0]}", said[1], problems=problems)
