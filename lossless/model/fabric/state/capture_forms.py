"""Forms of captures: what devices print of their state, and where each of it is recognized and read.

Each package declares the forms that it reads as rows of this type; ``formats/inputs/capture_forms.py`` reads a text by
all of them.
"""

from __future__ import annotations

from importlib import import_module
from re import Pattern
from typing import Any, Literal

from lossless.ground.basics.records import NamedTuple

Unit = Literal["snapshot", "json", "rows", "table", "text", "section", "facts"]
"""The part of a text that has a form: all of it (``snapshot`` where nothing else is looked for, ``text`` where it holds
no JSON of a known form, ``rows`` beside that), each JSON document, each table, each section of a command with state of
a host or subnet, or with settings of a host (``facts``, which lint reads)."""


class CaptureForm(NamedTuple):
    """One form: the device it is of, its name in reports, what documentation calls it, and the module that reads it.

    The module is one below ``lossless.formats``, imported when it is needed. ``tells`` names its function that
    recognizes a section or a snapshot, or is the pattern or the headings by which the form is recognized; ``reads``
    names the function that reads it. A section is read to items of a capture; a JSON document, with the command before
    it, and a text to captures, none where it has another form.
    """

    of: Literal["host", "switch", "subnet"]
    name: str
    title: str
    module: str
    unit: Unit = "section"
    tells: str | tuple[str, ...] | Pattern[str] = "is_form"
    reads: str = "read"

    def is_of(self, part: Any) -> bool:
        """Return whether a section, a text, or the headings of a table (that of the row's name first) has this form."""
        if isinstance(self.tells, Pattern):
            return self.tells.search(part) is not None
        if isinstance(self.tells, tuple):
            return part[0] == self.tells[0] and set(self.tells[1:]) <= set(part)
        return bool(self._function(self.tells)(part))

    def read(self, *part: object) -> Any:
        """Return what is read of a part of a text."""
        return self._function(self.reads)(*part)

    def _function(self, name: str) -> Any:
        return getattr(import_module(f"lossless.formats.{self.module}"), name)
