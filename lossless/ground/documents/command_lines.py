"""Line-based files: parses configurations of commands into modes, and edits and locates single values.

A configuration has the form of network operating systems: a command a line, its modes by indentation. A command
belongs to the mode that the nearest line above with less indentation opens. Published texts are often flat: there a
command that opens a mode is followed by commands of that mode with the same indentation, and the dialect defines
which commands may follow.

Changes of single values in JSON, in YAML and in files with a key and its value a line become edits of the text. JSON
and YAML are then parsed again and must equal the requested data; where they do not (an alias that others share, a
merge key), nothing is changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError
from lossless.ground.documents.changes import Replacement, changed, spliced
from lossless.ground.documents.text import Document, ValuePlace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.changes import ValueChange


if TYPE_CHECKING:
    Enters = Callable[[str, str], bool]
    """A function that returns whether a command opens a mode that another, equally indented command belongs to."""


PROMPT = re.compile(r"[\w.-]+(?:(?: (?=\(config))?\(([\w.-]+)\) ?)?#\s*")
"""The prompt of a switch before a command, with the mode: ``leaf1(config-if)#``; guides put blanks around the mode."""
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
        """Yield the commands of the mode that this command opens, each followed by those of its own mode."""
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
    """Return the document of a configuration with a command a line; its paths are those of :class:`Command`.

    ``comments_leave``: a comment ends the modes of commands with the same or more indentation. ``comment`` are the
    signs that begin one.
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
    """Return a command without a trailing remark (``qos trust dscp  ! hosts mark``), unless it has free text."""
    return line if " !" not in line or line.startswith(_FREE_TEXT) else _REMARK.sub("", line)


class _Mode:
    """A command whose mode following lines may belong to; ``indented``: they have more indentation than it."""

    __slots__ = ("command", "indent", "indented")

    def __init__(self, indent: int, command: Command) -> None:
        self.indent = indent
        self.command = command
        self.indented = False


class _CommandTree:
    """Builds the tree of commands: assigns each command to the mode that it belongs to."""

    def __init__(self, enters: Enters) -> None:
        self._enters = enters
        self.root = Command("", (), 0)
        self._open = [_Mode(-1, self.root)]

    def add(self, indent: int, text: str, line: int) -> None:
        """Add the next command to its mode; ``exit`` and ``end`` leave modes instead."""
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
        """Leave the innermost mode that has commands for ``exit``, all modes for ``end``."""
        while len(self._open) > 1:
            mode = self._open.pop()
            if text == "exit" and mode.command.below:
                return


def edited(document: Document, changes: Sequence[ValueChange]) -> str | None:
    """Return the text of a JSON or YAML document with changes made; None where no edit makes exactly these changes."""
    wanted = list({(change.path, change.action, repr(change.value)): change for change in changes}.values())
    expected = changed(document.data, wanted)
    if expected is None:
        return None
    text = spliced(document.text, _replacements(document, wanted))
    return text if text is not None and _reads(text, document.file) == expected else None


def _replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    if document.file.lower().endswith(".json"):
        from lossless.ground.documents.json.edits import replacements as of_json

        return of_json(document, changes)
    from lossless.ground.documents.yaml.edits import replacements as of_yaml

    return of_yaml(document, changes)


def _reads(text: str, file: str) -> dict[Any, Any] | None:
    from lossless.ground.documents import load_text

    try:
        document = load_text(text, file)
    except InputError:
        return None
    return None if document.problems else document.data


def replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    """Return the replacements that make changes in a text of a key and value a line; new keys are added at the end."""
    return [_replacement(document, change) for change in changes]


def _replacement(document: Document, change: ValueChange) -> Replacement:
    text = document.text
    if not document.exists(change.path):
        feed = "" if text.endswith("\n") else "\n"
        return Replacement(len(text), len(text), f"{feed}{change.path[0]} {change.value}\n")
    place = document.places([change.path])[change.path]
    if change.action == "remove":
        end = text.find("\n", place.end)
        return Replacement(text.rfind("\n", 0, place.key_start) + 1, len(text) if end < 0 else end + 1, "")
    if change.action == "rename":
        return Replacement(place.key_start, place.key_end, str(change.value))
    # A key without a value has its place right behind it.
    blank = "" if place.start > place.key_end else " "
    return Replacement(place.start, place.end, f"{blank}{change.value}")


class LineLocator:
    """Finds the line of a path in a table of line numbers, from 1; a place is the line without its indentation."""

    __slots__ = ("_lines", "_spans")

    def __init__(self, text: str, lines: Mapping[Path, int]) -> None:
        self._lines = lines
        self._spans: list[ValuePlace] = []
        start = 0
        for line in text.split("\n"):
            end = start + len(line.rstrip("\r"))
            first = end - len(line.rstrip("\r").lstrip())
            self._spans.append(ValuePlace(first, end, first, end))
            start += len(line) + 1

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the line of its deepest prefix in the table, and line 1 without one."""
        return {path: self._spans[self._line(path) - 1] for path in paths}

    def _line(self, path: Path) -> int:
        prefixes = (path[:length] for length in range(len(path), 0, -1))
        return next((self._lines[prefix] for prefix in prefixes if prefix in self._lines), 1)
