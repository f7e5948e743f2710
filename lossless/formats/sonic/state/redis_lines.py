"""Rows of databases in transcripts: the output of ``redis-cli`` and ``sonic-db-cli`` for one hash at a time.

``redis-cli`` numbers the lines of an answer on a terminal and does not in a pipe; ``sonic-db-cli`` prints a hash as
Python does (sonic-swss-common sonic-db-cli/sonic-db-cli.cpp @02d61fb, RedisReply::to_string).
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import NUMBERS, Dump, RowPlace, command_of, read_dump

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.model.fabric.state import StateCapture

_HGETALL = re.compile(
    r"""(?:redis-cli\b.*?\s-n\s*(?P<number>[0-9]+)|sonic-db-cli\s+(?:-n\s+(?P<namespace>\w+)\s+)?(?P<name>\w+_DB))"""
    r"""\s.*?hgetall\s+(?P<key>"[^"]+"|'[^']+'|\S+)""",
    re.IGNORECASE,
)
_HASHES = re.compile(r"hgetall", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*[0-9]+\) \"(.*)\"")
_ESCAPED = re.compile(r"\\([\\\"nrtab]|x[0-9a-f]{2})")
_LETTERS = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
"""Escapes of redis-cli for characters that would end a line or a word (redis src/sds.c, sdscatrepr)."""


def read_rows(text: str, file: str) -> Iterator[StateCapture]:
    """Yield the readings of the rows in a transcript, a capture for each database and namespace."""
    yield from (read_dump(dump, file) for dump in dumps_in_transcript(text) if _HASHES.search(text))


def dumps_in_transcript(text: str) -> tuple[Dump, ...]:
    """Return the databases whose rows a transcript shows; empty if it shows none."""
    rows: dict[tuple[str, str | None], list[RowPlace]] = {}
    for line, command, answer in _answers(text.splitlines()):
        match = _HGETALL.search(command)
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
    """Return the fields of a hash; a last line without its value is left out."""
    if answer and answer[0].lstrip().startswith("{"):
        return _literal("".join(answer))
    numbered = [unescaped(match[1]) for line in answer if (match := _NUMBERED.fullmatch(line))]
    words = numbered or [line.strip() for line in answer]
    return dict(zip(words[::2], words[1::2], strict=False)) if len(words) > 1 else {}


def unescaped(text: str) -> str:
    """Return the text between quotes as it is stored: redis-cli prints bytes that are no letters by their numbers."""
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
