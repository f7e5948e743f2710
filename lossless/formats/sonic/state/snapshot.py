"""Snapshots of a switch: the output of ``lossless collector --switch``, several databases and namespaces in one file.

A snapshot begins with ``# lossless switch state 1``, the switch and the time. Each of its sections begins with the
command whose answer follows, ``==> sonic-db-cli -n asic0 COUNTERS_DB HGETALL 'COUNTERS:oid:0x1'``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import Dump, RowPlace, read_dump, table_and_key
from lossless.formats.sonic.state.script_json import fields_of, unescaped
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.command_lines import LineLocator
from lossless.ground.documents.text import Document
from lossless.model.fabric.state import StateCapture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.model.fabric.state import StateReading

FIRST_LINE = "# lossless switch state"
VERSION = "1"
END = "==> end"
_NOT_READ = "==> not read"
_HEADER = re.compile(r"# (switch|taken) (\S+)")
_TITLE = re.compile(
    r"==> sonic-db-cli (?:-n (?P<namespace>\w+) )?(?P<database>[A-Z]+_DB) "
    r"(?:HGETALL '(?P<row>[^']+)'|HGET '(?P<key>[^']+)' (?P<field>\S+))"
)
_REFUSED = re.compile(r"\(error\) (.+)")
_QUOTED = re.compile(r"\"(.*)\"")


class SnapshotRow(NamedTuple):
    """A database row in a snapshot, or one field of it: the fields, and the line of each."""

    namespace: str | None
    database: str
    key: str
    line: int
    fields: dict[str, Any]
    lines: dict[str, int]


class SwitchSnapshot(NamedTuple):
    """A parsed snapshot: its rows, its header, the commands that the collector could not run, and problems."""

    rows: tuple[SnapshotRow, ...]
    switch: str | None
    taken_at: int | None
    left_out: tuple[str, ...]
    problems: tuple[Problem, ...]


def is_snapshot(text: str) -> bool:
    """Return whether a text is a snapshot of a switch."""
    return text.startswith(FIRST_LINE)


def read_snapshot(text: str, file: str) -> tuple[StateCapture, ...]:
    """Return a capture for the snapshot itself, and one for each database and namespace in it."""
    snapshot = snapshot_of(text, file)
    databases = tuple(_databases(snapshot, file))
    device = next((capture.device for capture in databases if capture.device), snapshot.switch)
    notes = tuple(f"not read: {line}" for line in snapshot.left_out)
    itself = StateCapture(file, "switch state", (), device, snapshot.problems, notes, snapshot.taken_at)
    return (itself, *(capture._replace(device=device, taken_at=snapshot.taken_at) for capture in databases))


def snapshot_of(text: str, file: str) -> SwitchSnapshot:
    """Return the parsed snapshot; of one that is cut short all is read but a last line without a line break."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    problems = list(_version(lines, file))
    if cut := tuple(_cut(lines, file)):
        problems += cut
        # What has no line break may go on.
        lines = lines[:-1]
    header = {match[1]: match[2] for line in lines[:8] if (match := _HEADER.match(line))}
    rows: list[SnapshotRow] = []
    left_out: list[str] = []
    for line, title, answer in _sections(lines):
        if title == _NOT_READ:
            left_out += answer
        elif match := _TITLE.fullmatch(title):
            rows += _row(match, line, answer)
            problems += _refused(match, line, answer, file)
    taken = header.get("taken", "")
    seconds = int(taken) if re.fullmatch(r"[0-9]{1,12}", taken) else None
    once = {problem.message: problem for problem in reversed(problems)}
    return SwitchSnapshot(
        tuple(rows), header.get("switch"), seconds, tuple(left_out), tuple(reversed(once.values()))
    )


def configurations_in(text: str, file: str) -> dict[str | None, Document]:
    """Return the CONFIG_DB of each namespace in a snapshot of a switch, under None if it names no namespace."""
    rows = [row for row in snapshot_of(text, file).rows if row.database == "CONFIG_DB"]
    by_namespace = grouped((row.namespace, row) for row in rows)
    return {namespace: _configuration(own, text, file) for namespace, own in by_namespace.items()}


def _configuration(rows: Sequence[SnapshotRow], text: str, file: str) -> Document:
    data: dict[str, dict[str, dict[str, Any]]] = {}
    lines: dict[Path, int] = {}
    for row in rows:
        table, key = table_and_key(row.key)
        data.setdefault(table, {}).setdefault(key, {}).update(row.fields)
        lines.setdefault((table,), row.line)
        lines.setdefault((table, key), row.line)
        lines.update({(table, key, field): line for field, line in row.lines.items()})
    return Document(file, text, data, LineLocator(text, lines))


def _version(lines: Sequence[str], file: str) -> Iterator[Problem]:
    version = lines[0].removeprefix(FIRST_LINE).strip()
    if version != VERSION:
        message = f"a snapshot of version {version or 'none'}; this program reads {VERSION}"
        yield Problem(file, 1, 1, message)


def _cut(lines: Sequence[str], file: str) -> Iterator[Problem]:
    """Yield a problem if the last line of a snapshot is not its end."""
    last = max((at for at, line in enumerate(lines) if line.strip()), default=0)
    if lines[last] != END:
        message = f"the snapshot ends before its last line, {END!r}: it was cut short; all before it is read"
        yield Problem(file, last + 1, 1, message)


def _sections(lines: Sequence[str]) -> Iterator[tuple[int, str, Sequence[str]]]:
    """Yield the title of each section with its line, and the lines after it."""
    starts = [at for at, line in enumerate(lines) if line.startswith("==> ")]
    for at, end in pairwise([*starts, len(lines)]):
        yield at + 1, lines[at], [line for line in lines[at + 1 : end] if line]


def _row(title: re.Match[str], line: int, answer: Sequence[str]) -> Iterator[SnapshotRow]:
    """Yield the database row in an answer to HGETALL or HGET; none if it did not exist, or redis printed an error."""
    fields = fields_of(answer)
    if title["field"]:
        value = _value(answer[0]) if answer else None
        fields = {} if value is None else {title["field"]: value}
    # An answer of redis-cli has a line for a field and one for its value, one of sonic-db-cli is one line.
    step = 2 if len(answer) > 1 else 0
    lines = {name: line + 1 + step // 2 + step * at for at, name in enumerate(fields)}
    if fields:
        key = title["row"] or title["key"]
        yield SnapshotRow(title["namespace"], title["database"], key, line, fields, lines)


def _value(line: str) -> str | None:
    """Return the answer to HGET, None where there is no such field, or redis printed an error."""
    match = _QUOTED.fullmatch(line)
    if match:
        return unescaped(match[1])
    return None if line == "(nil)" or _REFUSED.fullmatch(line) else line


def _refused(title: re.Match[str], line: int, answer: Sequence[str], file: str) -> Iterator[Problem]:
    match = _REFUSED.fullmatch(answer[0]) if answer else None
    if match:
        server = " ".join(filter(None, (title["namespace"], title["database"])))
        yield Problem(file, line + 1, 1, f"{server} answers with an error: {match[1]}")


def _databases(snapshot: SwitchSnapshot, file: str) -> Iterator[StateCapture]:
    for (database, namespace), rows in grouped(
        ((row.database, row.namespace), row) for row in snapshot.rows
    ).items():
        merged: dict[str, RowPlace] = {}
        lines: dict[str, dict[str, int]] = {}
        for row in rows:
            place = merged.setdefault(row.key, RowPlace(row.key, {}, (row.key, row.line)))
            place.fields.update(row.fields)
            lines.setdefault(row.key, {}).update(row.lines)
        capture = read_dump(Dump(database, namespace, tuple(merged.values())), file)
        yield capture._replace(readings=tuple(_at_its_line(reading, lines) for reading in capture.readings))


def _at_its_line(reading: StateReading, lines: dict[str, dict[str, int]]) -> StateReading:
    """Return a reading whose path has the line of its value in the snapshot, in place of that of its row."""
    key, line, *rest = reading.path
    at = lines[str(key)].get(str(rest[-1]) if rest else "", line)
    return reading._replace(path=(key, at, *rest))
