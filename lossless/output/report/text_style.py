"""Colors and width of a text report, and how much of it is shown."""

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
COLUMNS = 100
"""Columns of a report where the terminal's are unknown."""
NARROWEST = 40
"""Columns that an excerpt needs to be of use."""


class TextStyle:
    """The style of text: color, the number of columns of a line, and the level of detail.

    ``source`` shows the source line of a finding; ``brief`` shows one line of every finding; ``verbose`` shows the
    parts that a report leaves out by default. ``whole_heads`` keeps the first line of a finding on one line, for
    programs that look for it.
    """

    __slots__ = ("_colour", "brief", "columns", "source", "verbose", "whole_heads")

    def __init__(
        self,
        *,
        colour: bool = False,
        columns: int = COLUMNS,
        source: bool = True,
        brief: bool = False,
        verbose: bool = False,
        whole_heads: bool = True,
    ) -> None:
        self._colour = colour
        self.columns = max(columns, NARROWEST)
        self.source = source and not brief
        self.brief = brief
        self.verbose = verbose
        self.whole_heads = whole_heads or brief

    def showing(self, *, source: bool = True, brief: bool = False, verbose: bool = False) -> TextStyle:
        """Return the same colors and width, with more or less to see."""
        return TextStyle(
            colour=self._colour,
            columns=self.columns,
            source=source,
            brief=brief,
            verbose=verbose,
            whole_heads=self.whole_heads,
        )

    def paint(self, text: str, role: str) -> str:
        """Return text in the color of its role; as it is where there are no colors."""
        code = _CODES[role] if self._colour else ""
        return coloured(text, code) if code and text else text


PLAIN = TextStyle()
