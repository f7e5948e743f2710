"""Configurations as network operating systems print them: a command a line, its modes by indentation.

A command stands in the mode that the nearest line above with less indentation opens. Published texts are often flat:
there a command that opens a mode is followed by commands of that mode with no more indentation than its own, and
what may follow is for the dialect to say.
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
    """Whether a command opens a mode that another command, written with the same indentation, belongs to."""


PROMPT = re.compile(r"[\w.-]+(?:(?: (?=\(config))?\(([\w.-]+)\) ?)?#\s*")
"""What a switch prints before a command, with the mode: ``leaf1(config-if)#``; guides put blanks around the mode."""
_REMARK = re.compile(r"(?<=\S)\s+!\s.*")
_FREE_TEXT = ("description ", "banner ", "remark ", "snmp-server ", "!!")
_LEAVING = frozenset({"exit", "end"})
_DEEPEST = 8
"""Modes within modes; what is indented further stands in the innermost of these."""


class Command:
    """One command: its text with single blanks, the commands of its mode, and where it stands.

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
    """Return the document of a configuration; a path of it is what :attr:`Command.path` is.

    ``comments_leave``: a comment ends the modes of commands that are indented as much. ``comment`` are the signs that
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
    """Return a command without a remark behind it, as people write it: ``qos trust dscp  ! hosts mark``."""
    return line if " !" not in line or line.startswith(_FREE_TEXT) else _REMARK.sub("", line)


class _Mode:
    """A command that following lines may belong to; ``indented``: those that do are indented more than itself."""

    __slots__ = ("command", "indent", "indented")

    def __init__(self, indent: int, command: Command) -> None:
        self.indent = indent
        self.command = command
        self.indented = False


class _CommandTree:
    """Puts each command into its mode."""

    def __init__(self, enters: Enters) -> None:
        self._enters = enters
        self.root = Command("", (), 0)
        self._open = [_Mode(-1, self.root)]

    def add(self, indent: int, text: str, line: int) -> None:
        """Take the next command."""
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
        """Leave the modes of commands that are indented as much, or more."""
        while self._open[-1].indent >= indent:
            self._open.pop()

    def _flat(self, text: str) -> bool:
        """Return whether a command belongs to the mode of the last one, which is indented as much."""
        mode = self._open[-1]
        return not mode.indented and self._enters(mode.command.text, text)

    def _exit(self, text: str) -> None:
        """Leave the innermost mode that has commands, or all."""
        while len(self._open) > 1:
            mode = self._open.pop()
            if text == "exit" and mode.command.below:
                return
