"""Outputs of ``show`` and its scripts, alone or in a transcript of several, as readings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.commands import NO_COMMAND, SwitchCommand, command_of
from lossless.formats.sonic.state.show_lists import read_pairs, read_sentence
from lossless.formats.sonic.state.show_tables import TableContext, read_table, table_form
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_tables import PrintedPairs, PrintedTable, TextLine, printed_blocks
from lossless.model.fabric.state.readings import StateCapture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.printed_tables import PrintedBlock
    from lossless.model.fabric.state.readings import CountedSince, StateReading

_NAMESPACE = re.compile(r"For namespace (\S*?):|.*\(Namespace (\S+)\)")
_CACHED = re.compile(r"(?:(\S+) )?Last cached time(?: for (\S+))? was (.+)")


class ShownPart(NamedTuple):
    """The contents of one block: the form that prints it, its values, notes and problems."""

    form: str
    readings: tuple[StateReading, ...] = ()
    note: str = ""
    problem: str = ""
    line: int = 0


def read_show(text: str, file: str, command: SwitchCommand = NO_COMMAND) -> tuple[StateCapture, ...]:
    """Return the readings of the outputs in a text, one capture for each command and form; empty if it has none."""
    parts = tuple(_Reader(command).parts(printed_blocks(text)))
    return tuple(_captures(parts, file))


def _captures(parts: tuple[tuple[SwitchCommand, ShownPart], ...], file: str) -> Iterator[StateCapture]:
    groups: dict[tuple[SwitchCommand, str], list[ShownPart]] = {}
    for command, part in parts:
        groups.setdefault((command, command.form or part.form), []).append(part)
    for (command, form), group in groups.items():
        yield StateCapture(
            file,
            form,
            tuple(reading for part in group for reading in part.readings),
            command.device,
            tuple(Problem(file, part.line, None, part.problem) for part in group if part.problem),
            tuple(dict.fromkeys(part.note for part in group if part.note)),
        )


_OF_A_HOST = "DEV"
"""The first cell of the rows of a host's table, as those of ``show_gids``."""


class _Reader:
    """Reads the blocks of a text, and keeps the facts of a line that apply to later tables."""

    def __init__(self, command: SwitchCommand) -> None:
        self._start(command)

    def _start(self, command: SwitchCommand) -> None:
        self._command = command
        self._namespace = command.namespace
        self._title = ""
        self._cleared: CountedSince = "unknown"
        self._cleared_next = False

    def parts(self, blocks: tuple[PrintedBlock, ...]) -> Iterator[tuple[SwitchCommand, ShownPart]]:
        for block in blocks:
            if isinstance(block, TextLine):
                yield from self._line(block)
                continue
            context = self._context()
            if isinstance(block, PrintedTable):
                if block.headings[0] != _OF_A_HOST:
                    yield self._command, _table_part(block, context)
            elif part := _pairs_part(block, context):
                yield self._command, part
            self._title = ""
            self._cleared_next = False

    def _context(self) -> TableContext:
        cleared: CountedSince = "clear" if self._cleared_next else self._cleared
        return TableContext(self._command, self._namespace, self._title, cleared)

    def _line(self, block: TextLine) -> Iterator[tuple[SwitchCommand, ShownPart]]:
        if command := command_of(block.text):
            self._start(command)
        elif match := _CACHED.fullmatch(block.text):
            if match[1]:
                self._cleared_next = True
            else:
                self._cleared = "clear"
            note = f"{f'{match[1]}: ' if match[1] else ''}counted since the clear at {match[3]}"
            yield self._command, ShownPart("clear", note=note)
        else:
            yield from self._sentence(block)

    def _sentence(self, block: TextLine) -> Iterator[tuple[SwitchCommand, ShownPart]]:
        if match := _NAMESPACE.match(block.text):
            self._namespace = match[1] or match[2] or self._command.namespace
        said = read_sentence(block, self._context())
        if said is not None:
            form, readings, note = said
            yield self._command, ShownPart(form, readings, note)
        else:
            self._title = block.text


def _table_part(table: PrintedTable, context: TableContext) -> ShownPart:
    problem = (
        "a row is cut off or has other cells than the headings; it is not read" if table.unread_line else ""
    )
    form = table_form(table, context)
    return ShownPart(form, read_table(table, context), problem=problem, line=table.unread_line)


def _pairs_part(pairs: PrintedPairs, context: TableContext) -> ShownPart | None:
    said = read_pairs(pairs, context)
    return ShownPart(*said) if said else None
