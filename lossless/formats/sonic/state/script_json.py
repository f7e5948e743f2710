"""The JSON that SONiC's scripts print with ``-j``, and hashes of redis databases in transcripts.

The JSON has the same values as the tables of these scripts, without the titles. Hashes are the output of ``redis-cli``
and ``sonic-db-cli`` for one at a time. ``redis-cli`` numbers the lines of an answer on a terminal and does not in a
pipe; ``sonic-db-cli`` prints a hash as Python does (sonic-swss-common sonic-db-cli/sonic-db-cli.cpp @02d61fb,
RedisReply::to_string).
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import NUMBERS, Dump, RowPlace, command_of, read_dump
from lossless.formats.sonic.state.rows import BY_HEADING, BY_KEY, CounterName
from lossless.formats.sonic.state.show_tables import (
    TRIMMING_ROW,
    element_of,
    printed_quantity,
    since_printed,
    value_column,
)
from lossless.ground.documents.printed_lines import printed_value
from lossless.model.fabric.state import StateCapture, StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.sonic.state.databases import SwitchCommand
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state import CountedSince, Identity


_HGETALL = re.compile(
    r"""(?>redis-cli\b.*?\s-n\s*+(?P<number>[0-9]++)(?=\s)"""
    r"""|sonic-db-cli\s++(?:-n\s++(?P<namespace>\w++)\s++)?(?P<name>\w++(?<=\w_DB)))"""
    r"""\s.*?hgetall\s++(?P<key>"[^"]+"|'[^']+'|\S+)""",
    re.IGNORECASE,
)
_LONGEST = 500
"""The most characters of a command that are searched for a database and a key."""
_HASHES = re.compile(r"hgetall", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*[0-9]+\) \"(.*)\"")
_ESCAPED = re.compile(r"\\([\\\"nrtab]|x[0-9a-f]{2})")
_LETTERS = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
"""Escapes of redis-cli for characters that would end a line or a word (redis src/sds.c, sdscatrepr)."""


def read_rows(text: str, file: str) -> Iterator[StateCapture]:
    """Yield a capture of the database rows in a transcript, for each database and namespace."""
    yield from (read_dump(dump, file) for dump in dumps_in_transcript(text) if _HASHES.search(text))


def dumps_in_transcript(text: str) -> tuple[Dump, ...]:
    """Return the databases whose rows a transcript shows; empty if it shows none."""
    rows: dict[tuple[str, str | None], list[RowPlace]] = {}
    for line, command, answer in _answers(text.splitlines()):
        match = _HGETALL.search(command[:_LONGEST])
        database = match and (match["name"] or NUMBERS.get(match["number"] or ""))
        if match is None or not database:
            continue
        key = match["key"].strip("\"'")
        path: Path = (key, line)
        row = RowPlace(key, fields_of(answer), path)
        rows.setdefault((database, match["namespace"]), []).append(row)
    return tuple(Dump(database, namespace, tuple(group)) for (database, namespace), group in rows.items())


def _answers(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each command of a transcript with its line and the lines of its answer."""
    starts = [at for at, line in enumerate(lines) if command_of(line)]
    for at, end in pairwise([*starts, len(lines)]):
        command = command_of(lines[at])
        if command is not None:
            yield at + 1, command.text, [line for line in lines[at + 1 : end] if line.strip()]


def fields_of(answer: Sequence[str]) -> dict[str, Any]:
    """Return the fields in an answer to ``hgetall``; a last line without its value is left out."""
    if answer and answer[0].lstrip().startswith("{"):
        return _literal("".join(answer))
    numbered = [unescaped(match[1]) for line in answer if (match := _NUMBERED.fullmatch(line))]
    words = numbered or [line.strip() for line in answer]
    return dict(zip(words[::2], words[1::2], strict=False)) if len(words) > 1 else {}


def unescaped(text: str) -> str:
    """Return a text in quotes of redis-cli as redis stores it: bytes that are no letters are printed by numbers."""
    if "\\" not in text:
        return text
    stored = _ESCAPED.sub(lambda match: _LETTERS.get(match[1]) or chr(int(match[1][1:], 16)), text)
    return stored.encode("latin-1", errors="replace").decode(errors="replace")


def _literal(text: str) -> dict[str, Any]:
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return value if isinstance(value, dict) else {}


if TYPE_CHECKING:
    Said = tuple[str, tuple[StateReading, ...]]

_NAMESPACE = re.compile(r"For namespace (\S+?):|.*\(Namespace (\S+)\)")
_TIMES = frozenset({"time", "cached_time"})
_TRIMMING = frozenset({"size", "dscp_value", "tc_value", "queue_index"})
_POOL = re.compile(r"(?=\w+?_pool)\w++")


def read_scripts(printed: PrintedJson, command: SwitchCommand, file: str) -> Iterator[StateCapture]:
    """Yield the capture of a script's JSON, in the namespace of the lines before it, else of the command.

    There is none for other JSON.
    """
    matches = [match for line in printed.before if (match := _NAMESPACE.match(line))]
    namespace = (matches[-1][1] or matches[-1][2]) if matches else command.namespace
    cleared: CountedSince = (
        "clear" if any("Last cached time" in line for line in printed.before) else "unknown"
    )
    prefix = (("namespace", namespace),) if namespace else ()
    if said := _said(printed.value, command, prefix, cleared):
        yield StateCapture(file, command.form or said[0], said[1], command.device)


def _said(data: object, command: SwitchCommand, prefix: Identity, cleared: CountedSince) -> Said | None:
    """Return the command that prints a JSON document, and its readings; None if no script of SONiC prints it."""
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        return _watermarks(data, command, prefix)
    if not isinstance(data, dict) or not data:
        return None
    if data.keys() <= _TRIMMING:
        return "show switch-trimming global", tuple(_trimming(data, prefix))
    if _is_queues(data):
        readings = tuple(_queues(data, prefix, cleared))
        wred = any(reading.name.startswith(("wred_", "ecn_")) for reading in readings)
        return ("show queue wredcounters" if wred else "show queue counters"), readings
    if all(isinstance(row, dict) and row.keys() & BY_HEADING.keys() for row in data.values()):
        return "show interfaces counters", tuple(_ports(data, prefix, cleared))
    return None


def _is_queues(data: dict[str, Any]) -> bool:
    """Return whether a document has ports alone, and queues below at least one of them."""
    rows = [row for row in data.values() if isinstance(row, dict)]
    return len(rows) == len(data) and any(
        element_of(str(key)) and isinstance(value, dict) for row in rows for key, value in row.items()
    )


def _trimming(data: dict[str, Any], prefix: Identity) -> Iterator[StateReading]:
    for field, value in data.items():
        unit = "bytes" if field == "size" else ""
        yield StateReading(
            (*prefix, *TRIMMING_ROW), field, printed_value(str(value)), unit, "now", (field,), field
        )


def _queues(data: dict[str, Any], prefix: Identity, cleared: CountedSince) -> Iterator[StateReading]:
    for port, row in data.items():
        since: CountedSince = "clear" if "cached_time" in row else cleared
        for queue, fields in row.items():
            if queue in _TIMES or not isinstance(fields, dict):
                continue
            identity = (*prefix, ("port", port), *(element_of(queue) or (("object", queue),)))
            for key, value in fields.items():
                counter = BY_KEY.get(key) or CounterName(key, "")
                yield _reading(counter, value, identity, since, (port, queue, key))


def _ports(data: dict[str, Any], prefix: Identity, cleared: CountedSince) -> Iterator[StateReading]:
    for port, row in data.items():
        for heading, value in row.items():
            counter = BY_HEADING.get(heading) or CounterName(heading, "")
            yield _reading(counter, value, (*prefix, ("port", port)), cleared, (port, heading))


def _reading(
    counter: CounterName, value: object, identity: Identity, since: CountedSince, path: Path
) -> StateReading:
    quantity = printed_quantity(str(value))
    read, unit = quantity or (printed_value(str(value)), counter.unit)
    return StateReading(
        identity, counter.name, read, unit, since_printed(counter, since, "unknown"), path, str(path[-1])
    )


def _watermarks(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Said | None:
    """Return the readings of a list of ports or pools, which does not name its watermark; None for another list."""
    if all("Port" in row and any(element_of(str(key)) for key in row) for row in data):
        return "watermarkstat -j", tuple(_elements(data, command, prefix))
    if all(row and all(_POOL.fullmatch(str(key)) for key in row) for row in data):
        return "watermarkstat -j", tuple(_pools(data, command, prefix))
    return None


def _elements(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Iterator[StateReading]:
    for index, row in enumerate(data):
        for key, value in row.items():
            if key == "Port":
                continue
            element, (counter, *_) = value_column(str(key), "Port", None, command)
            identity = (*prefix, ("port", str(row["Port"])), *element)
            yield StateReading(
                identity,
                counter.name,
                printed_value(str(value)),
                counter.unit,
                since_printed(counter, "unknown", command.window),
                (index, str(key)),
                str(key),
            )


def _pools(data: list[dict[str, Any]], command: SwitchCommand, prefix: Identity) -> Iterator[StateReading]:
    name = command.watermark or "pool_watermark_bytes"
    for index, row in enumerate(data):
        for pool, value in row.items():
            identity = (*prefix, ("pool", str(pool)))
            yield StateReading(
                identity,
                name,
                printed_value(str(value)),
                "bytes",
                command.window,
                (index, str(pool)),
                "Bytes",
            )
