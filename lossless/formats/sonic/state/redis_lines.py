"""Rows of databases in transcripts: what ``redis-cli`` and ``sonic-db-cli`` print of one hash at a time.

``redis-cli`` numbers the lines of an answer on a terminal and does not in a pipe; ``sonic-db-cli`` prints a hash as
Python does (sonic-swss-common sonic-db-cli/sonic-db-cli.cpp @02d61fb, RedisReply::to_string).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.commands import command_of
from lossless.formats.sonic.state.dumps import NUMBERS, Dump, RowPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Path

_HGETALL = re.compile(
    r"""(?:redis-cli\b.*?\s-n\s*(?P<number>[0-9]+)|sonic-db-cli\s+(?:-n\s+(?P<namespace>\w+)\s+)?(?P<name>\w+_DB))"""
    r"""\s.*?hgetall\s+(?P<key>"[^"]+"|'[^']+'|\S+)""",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\s*[0-9]+\) \"(.*)\"")


def dumps_in_transcript(text: str) -> tuple[Dump, ...]:
    """Return the databases of which a transcript shows rows; none where it shows none."""
    rows: dict[tuple[str, str | None], list[RowPlace]] = {}
    for line, command, answer in _answers(text.splitlines()):
        match = _HGETALL.search(command)
        database = match and (match["name"] or NUMBERS.get(match["number"] or ""))
        if match is None or not database:
            continue
        key = match["key"].strip("\"'")
        path: Path = (key, line)
        row = RowPlace(key, _fields(answer), path)
        rows.setdefault((database, match["namespace"]), []).append(row)
    return tuple(Dump(database, namespace, tuple(group)) for (database, namespace), group in rows.items())


def _answers(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each command of a transcript with its line and the lines of its answer."""
    starts = [at for at, line in enumerate(lines) if command_of(line)]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        command = command_of(lines[at])
        if command is not None:
            yield at + 1, command.text, [line for line in lines[at + 1 : end] if line.strip()]


def _fields(answer: list[str]) -> dict[str, Any]:
    """Return the fields of a hash; a last line without its value is left out."""
    if answer and answer[0].lstrip().startswith("{"):
        return _literal("".join(answer))
    numbered = [match[1] for line in answer if (match := _NUMBERED.fullmatch(line))]
    words = numbered or [line.strip() for line in answer]
    return dict(zip(words[::2], words[1::2], strict=False)) if len(words) > 1 else {}


def _literal(text: str) -> dict[str, Any]:
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return value if isinstance(value, dict) else {}
