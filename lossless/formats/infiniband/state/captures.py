"""A text that tools of InfiniBand printed to captures of state; each form is told by what is in it.

A terminal's transcript has a section for each command; every other text is one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.ground.documents.printed_lines import LOOKED_INTO, printed_sections
from lossless.model.fabric.state.collected import captured

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state.readings import StateCapture

COMMANDS = frozenset(
    {
        "perfquery",
        "ibqueryerrors",
        "iblinkinfo",
        "ibnetdiscover",
        "ibswinfo",
        "ibstat",
        "ibhosts",
        "ibswitches",
        "ibdiagnet",
    }
)
"""Commands that begin a section; what is not read here ends the section before it."""
_MODULES = (
    "opensm_log",
    "ibqueryerrors",
    "perfquery",
    "ibnetdiscover",
    "iblinkinfo",
    "ibswinfo",
    "ufm",
    "ibdiagnet_database",
    "ibdiagnet_counters",
    "ibdiagnet_links",
    "ibdiagnet_log",
    "sharp_nodes",
    "partitions",
)
"""Modules of this room, each with ``is_form``, ``read`` and the form's name."""

_SEARCHED = 4 * LOOKED_INTO
"""Letters of a text in which a section of a known form begins, if it has one."""


def read_capture(text: str, file: str) -> tuple[StateCapture, ...] | None:
    """Return what tools printed, a capture for each section of a known form; None where there is none."""
    if not any(map(_reader, printed_sections(text[:_SEARCHED], file, COMMANDS))):
        return None
    captures = tuple(
        captured(file, reader.FORM, reader.read(section), section.host)
        for section in printed_sections(text, file, COMMANDS)
        if section.lines and (reader := _reader(section)) is not None
    )
    return captures or None


def _reader(section: PrintedSection) -> Any:
    modules = (import_module(f"lossless.formats.infiniband.state.{name}") for name in _MODULES)
    return next((module for module in modules if module.is_form(section)), None)
