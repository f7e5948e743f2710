"""Forms of captures: outputs of devices about their state, with the functions that recognize and read each.

Each package declares the forms that it reads as rows of this type; ``formats/inputs/capture_forms.py`` tries all of
them on a text.
"""

from __future__ import annotations

from importlib import import_module
from re import Pattern
from typing import Any, Literal

from lossless.ground.basics.records import NamedTuple

Unit = Literal["snapshot", "json", "rows", "table", "text", "section", "facts"]
"""The part of a text that has a form.

All of it (``snapshot`` where no other form is tried, ``text`` where it has no JSON of a known form, ``rows`` beside
that), each JSON document, each table, each section of a command with state of a host or subnet, or with settings of a
host (``facts``, which lint reads).
"""


class CaptureForm(NamedTuple):
    """One form: the kind of device, its name in reports, its title in documentation, and the module that reads it.

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
        """Return the result of reading a part of a text."""
        return self._function(self.reads)(*part)

    def _function(self, name: str) -> Any:
        return getattr(import_module(f"lossless.formats.{self.module}"), name)
