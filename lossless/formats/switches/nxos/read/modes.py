"""Texts of NX-OS to commands, each in its mode.

Most published texts are no ``show running-config`` output: prompts precede commands, modes are left by ``exit`` or not
at all, and some lines are indented. So the mode of a command is found by the grammar of commands, and by indentation if
several modes take it. A line of ``!`` leaves no mode, and ``#`` begins a comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nxos.read.grammar import (
    CLASS_MAP,
    CLASSES,
    PORT,
    SWITCH,
    SYSTEM,
    Patterns,
    accepts,
)
from lossless.formats.switches.nxos.read.rows import QOS, TYPES
from lossless.ground.documents.command_lines import PROMPT, Command, CommandDocument, without_remark
from lossless.ground.documents.line_places import LineLocator

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path

_TYPE = rf"(?:type ({'|'.join(TYPES)}) )?"
CLASS_MAP_LINE = re.compile(rf"class-map {_TYPE}(?:match-(any|all|first) )?(\S+)")
POLICY_MAP_LINE = re.compile(rf"policy-map {_TYPE}(?:match-(?:any|all|first) )?(\S+)")
CLASS_LINE = re.compile(rf"class {_TYPE}(\S+)(?: insert-before \S+)?")
PORT_LINE = re.compile(r"int(?:erface)? ((?!breakout)\S.*)")
PROFILE_LINE = re.compile(r"port-profile (?:type \S+ )?(\S+)")
_BY_ITSELF = re.compile(
    r"(?:no |default )?(?:feature|hostname|switchname|version|vlan|vrf context|router|ip route|ip access-list|line"
    r"|vpc domain|interface breakout|interface \S+\d|(?:class|policy)-map|control-plane"
    r"|hardware|boot|copp|snmp-server|username|ntp|logging server|system(?! qos)|lldp|fabric)\b"
)
"""Commands of the switch that no mode here takes, so that one of them ends a mode that is written flat."""
_STARTING = re.compile(r"(?:conf(?:igure)?(?: t(?:erminal)?)?|sh(?:ow)? run.*)")
_LONGEST = 500
"""No command is longer; of a line that is, the rest is no part of one."""


class _OpenMode:
    """A command with an open mode; ``takes`` is None for a mode that is not read, ``indented`` if its lines are."""

    __slots__ = ("command", "indent", "indented", "kind", "takes")

    def __init__(self, command: Command, indent: int, kind: str, takes: Patterns | None) -> None:
        self.command = command
        self.indent = indent
        self.kind = kind
        self.takes = takes
        self.indented = False

    def has(self, text: str) -> bool:
        """Return whether a command belongs to this mode, by its grammar."""
        if self.kind == "policy-map":
            known = ("description ", "no description", "no class ")
            return CLASS_LINE.fullmatch(text) is not None or text.startswith(known)
        return self.takes is not None and accepts(self.takes, text)


def read_modes(text: str, file: str) -> CommandDocument:
    """Return the document of a text; its paths are those of :attr:`Command.path`."""
    reader = _ModeStack()
    comments = []
    for number, written in enumerate(text.split("\n"), 1):
        line = written.strip()[:_LONGEST]
        prompt = PROMPT.match(line)
        # In ``config`` and without a mode it is the switch's.
        reader.at_top = prompt is not None and prompt[1] in (None, "config")
        if prompt is not None:
            line = line[prompt.end() :]
        if line[:1] in ("!", "#"):
            comments.append(line)
        elif line and not _STARTING.fullmatch(line):
            # People begin lines with a capital; what follows may be a name.
            first, _, rest = " ".join(without_remark(line).split()).partition(" ")
            reader.add(len(written) - len(written.lstrip()), f"{first.lower()} {rest}".rstrip(), number)
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


class _ModeStack:
    """The modes that are open, the innermost last; the first is that of the switch.

    ``at_top``: the prompt is that of no mode. People copy one prompt to all lines, so it decides between modes alone.
    """

    def __init__(self) -> None:
        self.root = Command("", (), 0)
        self._open = [_OpenMode(self.root, -1, "switch", SWITCH)]
        self.at_top = False

    def add(self, indent: int, text: str, line: int) -> None:
        """Take the next command."""
        if text in ("exit", "end"):
            del self._open[1 if text == "end" else max(1, len(self._open) - 1) :]
            return
        opened = _opened(text)
        depth = 0 if opened is not None else self._depth(indent, text)
        aside = opened is None and depth == 0 and self._is_of_switch(text)
        if not aside:
            del self._open[depth + 1 :]
        mode = self._open[depth]
        mode.indented = mode.indented or (depth > 0 and indent > mode.indent)
        command = Command(text, (*mode.command.path, text), line)
        mode.command.below.append(command)
        if opened is None and mode.kind == "policy-map" and CLASS_LINE.fullmatch(text) is not None:
            opened = "class", CLASSES[type_of(POLICY_MAP_LINE, mode.command.text)]
        if opened is None and depth == 0 and not accepts(SWITCH, text):
            opened = "other", None
        if opened is not None:
            self._open.append(_OpenMode(command, indent, *opened))

    def _depth(self, indent: int, text: str) -> int:
        """Return the index of the open mode that a command belongs to."""
        if self._is_of_switch(text):
            return 0
        inside = [depth for depth in range(len(self._open)) if not self._left(depth, indent)]
        taking = [depth for depth in inside if self._open[depth].has(text)]
        taking = taking or [depth for depth in range(len(self._open)) if self._open[depth].has(text)]
        if taking:
            return taking[-1]
        deepest = inside[-1]
        flat = self._open[deepest].indent >= indent
        return 0 if flat and (self._open[deepest].kind == "other" or _BY_ITSELF.match(text)) else deepest

    def _is_of_switch(self, text: str) -> bool:
        """Return whether the prompt shows that a command is the switch's; modes stay open, as prompts are copied."""
        return self.at_top and accepts(SWITCH, text)

    def _left(self, depth: int, indent: int) -> bool:
        """Return whether a line is indented too little for a mode whose other commands are indented."""
        return any(mode.indented and indent <= mode.indent for mode in self._open[1 : depth + 1])


def type_of(line: re.Pattern[str], text: str) -> str:
    """Return the type that the line of a class map, a policy map or a class names."""
    match = line.fullmatch(text)
    return (match[1] if match else None) or QOS


def _opened(text: str) -> tuple[str, Patterns | None] | None:
    """Return the kind of mode of the switch that a command opens, and its grammar; None where it opens none."""
    if POLICY_MAP_LINE.fullmatch(text) is not None:
        return "policy-map", None
    if CLASS_MAP_LINE.fullmatch(text) is not None:
        return "class-map", CLASS_MAP
    if text == "system qos":
        return "system qos", SYSTEM
    if PORT_LINE.fullmatch(text) is not None or PROFILE_LINE.fullmatch(text) is not None:
        return "interface", PORT
    return None
