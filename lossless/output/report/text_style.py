"""Colours and width of a text report, and text that cannot harm a terminal."""

from __future__ import annotations

_RESET = "\x1b[0m"
_CODES = {
    "plain": "",
    "place": "\x1b[1m",
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
    "gutter": "\x1b[34m",
    "label": "\x1b[1m",
}
NARROWEST = 40
"""Columns that an excerpt needs to be of use."""


class TextStyle:
    """How text is shown: with colour or without, how many columns a line may have, and how much of it.

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
        """Return the same colours and width, with more or less to see."""
        return TextStyle(colour=self._colour, columns=self.columns, source=source, brief=brief)

    def paint(self, text: str, role: str) -> str:
        """Return text in the colour of its role; as it is where there are no colours."""
        code = _CODES[role] if self._colour else ""
        return f"{code}{text}{_RESET}" if code and text else text


def visible(text: str) -> str:
    """Return text with every character that could move a cursor or hide another spelled out."""
    return text if text.isprintable() else "".join(map(visible_char, text))


def visible_char(char: str) -> str:
    """Return a character as it is, or its escape (``\\x1b``, ``\\u202e``) where it cannot be printed."""
    if char.isprintable():
        return char
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


PLAIN = TextStyle()
