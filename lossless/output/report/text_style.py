"""Colors and width of a text report."""

from __future__ import annotations

from lossless.ground.basics.foreign_text import coloured

_CODES = {
    "plain": "",
    "place": "1",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "gutter": "34",
    "label": "1",
}
NARROWEST = 40
"""Columns that an excerpt needs to be of use."""


class TextStyle:
    """How text is shown: with color or without, how many columns a line may have, and how much of it.

    ``source`` shows the line that is meant; ``brief`` leaves one line of every finding.
    """

    __slots__ = ("_colour", "brief", "columns", "source")

    def __init__(
        self, *, colour: bool = False, columns: int = 120, source: bool = True, brief: bool = False
    ) -> None:
        self._colour = colour
        self.columns = max(columns, NARROWEST)
        self.source = source and not brief
        self.brief = brief

    def showing(self, *, source: bool, brief: bool) -> TextStyle:
        """Return the same colors and width, with more or less to see."""
        return TextStyle(colour=self._colour, columns=self.columns, source=source, brief=brief)

    def paint(self, text: str, role: str) -> str:
        """Return text in the color of its role; as it is where there are no colors."""
        code = _CODES[role] if self._colour else ""
        return coloured(text, code) if code and text else text


PLAIN = TextStyle()
