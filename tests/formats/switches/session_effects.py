"""What a session makes of a configuration, line by line: lines that come, and lines that a ``no`` takes away.

Lists of DSCPs are one line each, as a switch keeps them. NVUE's own reader knows ``nv unset``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.registry import dialect
from lossless.formats.switches.written_numbers import indexes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.documents.command_lines import Command, CommandDocument

    Line = tuple[str, ...]

_OPENING = re.compile(r"(?:interface|qos profile|uc-tx-queue|class-map|policy-map|class|system qos)\b")
_NEGATED = re.compile(r"(?:no|default) (.+)")
_STANDING = re.compile(r"no (?:priority|priority-flow-control pause watchdog|switchport)")
"""Negations that a switch prints: they say something."""
_MATCH = re.compile(r"((?:no )?match dscp) (.+)")


def after_session(name: str, running: str, commands: Sequence[str], file: str) -> str:
    """Return the text that a switch has after the commands of a session."""
    if not file.endswith(".cfg"):
        return "\n".join((running, *commands))
    lines = list(_lines(name, running))
    for line in _lines(name, "\n".join(commands)):
        lines = [*_without(lines, line), line] if _stays(line) else _without(lines, line)
    head = (line for line in running.splitlines() if line.startswith("!"))
    return "\n".join((*head, *_written(lines)))


def _lines(name: str, text: str) -> Iterator[Line]:
    document: CommandDocument = dialect(name).document(text, "running.cfg")  # type: ignore[assignment]
    for command in document.top:
        yield from _paths(command, ())


def _paths(command: Command, above: Line) -> Iterator[Line]:
    match = _MATCH.fullmatch(command.text)
    for dscp in (indexes(match[2], 63) or ()) if match is not None else ():
        yield (*above, f"{match[1]} {dscp}" if match is not None else "")
    if match is None:
        yield (*above, command.text)
    for below in command.below:
        yield from _paths(below, (*above, command.text))


def _stays(line: Line) -> bool:
    return _NEGATED.fullmatch(line[-1]) is None or _STANDING.fullmatch(line[-1]) is not None


def _without(lines: list[Line], line: Line) -> list[Line]:
    """Return lines without those that are said again, or that a negation takes away with all below them."""
    match = _NEGATED.fullmatch(line[-1])
    if match is None:
        return lines if _OPENING.match(line[-1]) else [each for each in lines if each != line]
    return [each for each in lines if not _begins(each, (*line[:-1], match[1]))]


def _begins(line: Line, gone: Line) -> bool:
    above = len(gone) - 1
    return (
        line[:above] == gone[:above] and len(line) > above and f"{line[above]} ".startswith(f"{gone[above]} ")
    )


def _written(lines: Sequence[Line]) -> Iterator[str]:
    """Yield lines, each below those that open its mode."""
    opened: Line = ()
    for line in lines:
        pairs = enumerate(zip(opened, line[:-1], strict=False))
        common = next((n for n, pair in pairs if pair[0] != pair[1]), min(len(opened), len(line) - 1))
        yield from (f"{'   ' * depth}{line[depth]}" for depth in range(common, len(line)))
        opened = line
