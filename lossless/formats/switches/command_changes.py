"""Commands of a configuration that another one lacks, mode by mode: the input of a configuration session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents.command_lines import CommandDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.documents.command_lines import Command
    from lossless.ground.documents.document import Document


def as_text(document: Document) -> CommandDocument:
    """Return a configuration that is text.

    Raises:
        InputError: it is structured, and does not say which lines the switch has.
    """
    if not isinstance(document, CommandDocument):
        says = "structured; a session is made for the text that the switch prints: name its running configuration"
        raise InputError([Problem(document.file, None, None, says)])
    return document


def new_commands(running: CommandDocument, wanted: CommandDocument, indent: str) -> Iterator[str]:
    """Yield the commands of ``wanted`` that ``running`` does not have, each below the commands that open its mode.

    A text as a switch prints it has each setting once, so a command that both have is not new.
    """
    known = {command.path for top in running.top for command in (top, *top.all())}
    for command in wanted.top:
        yield from _new(command, known, indent, 0)


def _new(command: Command, known: set[tuple[str | int, ...]], indent: str, depth: int) -> Iterator[str]:
    below = [line for each in command.below for line in _new(each, known, indent, depth + 1)]
    if below or command.path not in known:
        yield f"{indent * depth}{command.text}"
        yield from below


def block(opening: Sequence[str], commands: Sequence[str], indent: str) -> Iterator[str]:
    """Yield commands below those that open their mode; none if there are no commands."""
    if commands:
        yield from (f"{indent * depth}{line}" for depth, line in enumerate(opening))
        yield from (f"{indent * len(opening)}{line}" for line in commands)
