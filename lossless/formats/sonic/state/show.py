"""Outputs of ``show`` and its scripts, alone or in a transcript of several, as readings.

Outputs without a table are lists of names and values, and sentences.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.databases import NO_COMMAND, SwitchCommand, command_of
from lossless.formats.sonic.state.rows import BY_HEADING, CounterName, profile_unit, row_field
from lossless.formats.sonic.state.show_tables import TableContext, read_table, since_printed, table_form
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import printed_value
from lossless.ground.documents.printed_tables import PrintedPairs, PrintedTable, TextLine, printed_blocks
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.printed_tables import PrintedBlock
    from lossless.model.fabric.state import CountedSince, Identity


_NAMESPACE = re.compile(r"For namespace (\S*?):|.*\(Namespace (\S+)\)")
_CACHED = re.compile(r"(?:(\S+) )?Last cached time(?: for (\S+))? was (.+)")


class ShownPart(NamedTuple):
    """One block of an output of ``show``: the command that prints it, readings, a note, a problem and its line."""

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
"""The first heading of a host's table, as that of ``show_gids``."""


class _Reader:
    """Reads the blocks of ``show`` outputs; keeps command, namespace, title and last clear for later tables."""

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


if TYPE_CHECKING:
    Said = tuple[str, tuple[StateReading, ...], str]
    """The command that prints an output, the readings, and a note."""

_TITLE = re.compile(r"(Pool|Profile): \**([^*\s]+)\**")
_PATTERN = "Lossless traffic pattern:"
_REFERENCE = re.compile(r"\[\w+[|:](.+)\]")
_SINCE_CLEAR = "Time Since Counters Last Cleared"
_DETAILED = re.compile(r"Packets (?:Received|Transmitted) .*Octets|.*(?:Packets|Received|Transmitted)")
_POLL = re.compile(r"Changed polling interval to ([0-9]+)ms(?: on (\S+))?")
_SWITCH = re.compile(r"BIG_RED_SWITCH status is (\w+)(?: on (\S+))?")
_DROPS = re.compile(r".*Persistent packet drops detected on (\S+)")
_NOTES = (
    (re.compile(r"No configuration is present in CONFIG DB").fullmatch, "show switch-trimming global"),
    (re.compile(r"Object map from the COUNTERS_DB is empty because .*").fullmatch, "show queue watermark"),
    (re.compile(r"Message published to WATERMARK_CLEAR_REQUEST:.*").fullmatch, "watermarkstat -c"),
    (re.compile(r"COUNTERS_\w+_MAP is empty.*").fullmatch, "show"),
    (re.compile(r"Clear(?:ed)? .*counters").match, "clear"),
)


def read_pairs(pairs: PrintedPairs, context: TableContext) -> Said | None:
    """Return command, readings and note of a list of names and values; None if no command of SONiC prints it."""
    named = _TITLE.fullmatch(context.title)
    if named:
        return _profile(pairs, named[1].lower(), named[2], context)
    if context.title == _PATTERN:
        identity = (*context.prefix, ("table", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
        return "show buffer configuration", tuple(_settings(pairs, identity, "", context)), ""
    names = {row.cells[0] for row in pairs.rows}
    if not names & (BY_HEADING.keys() | {_SINCE_CLEAR}):
        return None
    return _counters(pairs, context)


def _profile(pairs: PrintedPairs, kind: str, name: str, context: TableContext) -> Said:
    fields = {row.cells[0] for row in pairs.rows}
    is_wred = any(field.endswith("_threshold") for field in fields)
    table = "WRED_PROFILE" if is_wred else f"BUFFER_{kind.upper()}"
    identity = (*context.prefix, (kind, name))
    return (
        "show ecn" if is_wred else "show buffer configuration",
        tuple(_settings(pairs, identity, table, context)),
        "",
    )


def _settings(
    pairs: PrintedPairs, identity: Identity, table: str, context: TableContext
) -> Iterator[StateReading]:
    for row in pairs.rows:
        field, text = row.cells[0], row.cells[1]
        unit = profile_unit(field) if table == "WRED_PROFILE" else row_field(table, field).unit
        reference = _REFERENCE.fullmatch(text)
        value = reference[1] if reference else printed_value(text)
        path = (context.command.form, row.line, field)
        yield StateReading(identity, field, value, unit, "now", path, field)


def _counters(pairs: PrintedPairs, context: TableContext) -> Said:
    """Return the readings of a dotted list, of a port or of the switch, and the age of its counters if it says so."""
    since: CountedSince = context.cleared
    note = ""
    for row in pairs.rows:
        if row.cells[0] == _SINCE_CLEAR:
            cleared = printed_value(row.cells[1])
            since = "boot" if cleared is UNKNOWN else "clear"
            note = "" if cleared is UNKNOWN else f"counters were cleared {row.cells[1]} ago"
    is_port = any(_DETAILED.fullmatch(row.cells[0]) and "Trimmed" not in row.cells[0] for row in pairs.rows)
    identity = _port(context) if is_port else (*context.prefix, ("object", "switch"))
    readings = tuple(
        _counter(row.cells[0], row.cells[1], since, identity, (context.command.form, row.line, row.cells[0]))
        for row in pairs.rows
        if row.cells[0] != _SINCE_CLEAR
    )
    return (
        ("show interfaces counters detailed" if is_port else "show switch counters detailed"),
        readings,
        note,
    )


def _port(context: TableContext) -> Identity:
    """Return namespace and port of ``show interfaces counters detailed``; only the command names the port, if any."""
    words = [
        word for word in context.command.text.split() if re.fullmatch(r"[A-Z](?=[\w/-]*?[0-9])[\w/-]++", word)
    ]
    return (*context.prefix, ("port", words[-1])) if words else context.prefix


def _counter(
    name: str, cell: str, since: CountedSince, identity: Identity, path: tuple[str | int, ...]
) -> StateReading:
    counter = BY_HEADING.get(name) or CounterName(name, "packets")
    return StateReading(
        identity,
        counter.name,
        printed_value(cell),
        counter.unit,
        since_printed(counter, since, since),
        path,
        name,
    )


def read_sentence(block: TextLine, context: TableContext) -> Said | None:
    """Return command, readings and note of a sentence in an output of ``show``; None for a line without a meaning."""
    path = (context.command.form, block.line)
    if match := _POLL.fullmatch(block.text):
        identity = _namespaced(match[2], context)
        value = printed_value(match[1])
        return (
            "show pfcwd config",
            (StateReading(identity, "pfcwd_poll_interval", value, "ms", "now", path, "polling interval"),),
            "",
        )
    if match := _SWITCH.fullmatch(block.text):
        reading = StateReading(
            _namespaced(match[2], context), "BIG_RED_SWITCH", match[1], "", "now", path, "BIG_RED_SWITCH"
        )
        return "show pfcwd config", (reading,), ""
    if match := _DROPS.fullmatch(block.text):
        reading = StateReading((("port", match[1]),), "persistent_drops", block.text, "", "boot", path, "")
        return "show dropcounters persistent-drops", (reading,), ""
    return next(((form, (), block.text) for known, form in _NOTES if known(block.text)), None)


def _namespaced(name: str | None, context: TableContext) -> Identity:
    return (("namespace", name),) if name else context.prefix
