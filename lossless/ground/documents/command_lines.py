"""Parses configurations in the form of network operating systems: a command a line, its modes by indentation.

A command belongs to the mode that the nearest line above with less indentation opens. Published texts are often flat:
there a command that opens a mode is followed by commands of that mode with the same indentation, and
the dialect defines which commands may follow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.documents.document import Document
from lossless.ground.documents.line_places import LineLocator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.ground.basics.findings import Path

    Enters = Callable[[str, str], bool]
    """A function that returns whether a command opens a mode that another, equally indented command belongs to."""


PROMPT = re.compile(r"[\w.-]+(?:\(([\w.-]+)\))?#\s*")
"""The prompt of a switch before a command, with the mode: ``leaf1(config-if)#``."""
_REMARK = re.compile(r"(?<=\S)\s+!\s.*")
_FREE_TEXT = ("description ", "banner ", "remark ", "snmp-server ", "!!")
_LEAVING = frozenset({"exit", "end"})
_DEEPEST = 8
"""The most nested modes; a line that is indented further belongs to the innermost of these."""


class Command:
    """One command: its text with single blanks, the commands of its mode, and its place.

    ``path`` are the texts of the commands whose modes it is in, then its own. ``line`` counts from 1.
    """

    __slots__ = ("below", "line", "path", "text")

    def __init__(self, text: str, path: Path, line: int) -> None:
        self.text = text
        self.path = path
        self.line = line
        self.below: list[Command] = []

    def all(self) -> Iterator[Command]:
        """Yield the commands of its mode, each followed by those of the mode that it opens."""
        for command in self.below:
            yield command
            yield from command.all()  # _DEEPEST levels at most


class CommandDocument(Document):
    """The document of a configuration: ``top`` are the commands in no mode, ``comments`` its comments."""

    __slots__ = ("comments", "top")

    top: tuple[Command, ...]
    comments: tuple[str, ...]


def read_commands(
    text: str, file: str, enters: Enters, *, comments_leave: bool = True, comment: tuple[str, ...] = ("!",)
) -> CommandDocument:
    """Return the document of a configuration; its paths are those of :attr:`Command.path`.

    ``comments_leave``: a comment ends the modes of commands with the same indentation. ``comment`` are the signs that
    begin one.
    """
    reader = _CommandTree(enters)
    comments = []
    for number, written in enumerate(text.split("\n"), 1):
        line = without_prompt(written.strip())
        indent = len(written) - len(written.lstrip())
        if line.startswith(comment):
            comments.append(line)
            if comments_leave:
                reader.leave(indent)
        elif line:
            reader.add(indent, " ".join(without_remark(line).split()), number)
    data: dict[str | int, Any] = {}
    lines: dict[Path, int] = {}
    for command in reader.root.all():
        lines.setdefault(command.path, command.line)
        place = data
        for key in command.path:
            place = place.setdefault(key, {})
    document = CommandDocument(file, text, data, LineLocator(text, lines))
    document.top, document.comments = tuple(reader.root.below), tuple(comments)
    return document


def without_prompt(line: str) -> str:
    """Return a line without the prompt before its command."""
    prompt = PROMPT.match(line)
    return line[prompt.end() :] if prompt is not None else line


def without_remark(line: str) -> str:
    """Return a command without a trailing remark: ``qos trust dscp  ! hosts mark``."""
    return line if " !" not in line or line.startswith(_FREE_TEXT) else _REMARK.sub("", line)


class _Mode:
    """A command whose mode following lines may belong to; ``indented``: they have more indentation than it."""

    __slots__ = ("command", "indent", "indented")

    def __init__(self, indent: int, command: Command) -> None:
        self.indent = indent
        self.command = command
        self.indented = False


class _CommandTree:
    """Assigns each command to its mode."""

    def __init__(self, enters: Enters) -> None:
        self._enters = enters
        self.root = Command("", (), 0)
        self._open = [_Mode(-1, self.root)]

    def add(self, indent: int, text: str, line: int) -> None:
        """Add the next command."""
        if text in _LEAVING:
            self._exit(text)
            return
        while self._open[-1].indent > indent or (self._open[-1].indent == indent and not self._flat(text)):
            self._open.pop()
        del self._open[_DEEPEST:]
        mode = self._open[-1]
        mode.indented = mode.indented or indent > mode.indent
        command = Command(text, (*mode.command.path, text), line)
        mode.command.below.append(command)
        self._open.append(_Mode(indent, command))

    def leave(self, indent: int) -> None:
        """Leave the modes of commands with the same or more indentation."""
        while self._open[-1].indent >= indent:
            self._open.pop()

    def _flat(self, text: str) -> bool:
        """Return whether a command belongs to the mode of the last one, which has the same indentation."""
        mode = self._open[-1]
        return not mode.indented and self._enters(mode.command.text, text)

    def _exit(self, text: str) -> None:
        """Leave the innermost mode that has commands, or all."""
        while len(self._open) > 1:
            mode = self._open.pop()
            if text == "exit" and mode.command.below:
                return
