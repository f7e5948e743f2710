"""Reads opensm.conf as opensm does: a key a line, text after a ``#`` cut off, long lines in pieces; and files of GUIDs.

Values are not interpreted here: a line is wrong only where opensm reads a text that differs from the written one.
Keys that protect the subnet are masked in the settings, and in lines that are shown.

A file of GUIDs has one a line, decimal or with 0x, optionally followed by a name, ``#`` before a comment. For a
single line that is not a GUID opensm discards the file and the routing engine: parse_node_map of its complib.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.marked_document import Marks, lines_of, trimmed
from lossless.model.fabric.infiniband.subnet import LINE_BYTES, ManagerSetting, Secret, c_number, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


_LINE = re.compile(r"\s*([^\s#]+)")
_WORD = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)")


def read_guids(text: str, file: str) -> tuple[Document, tuple[int, ...]]:
    """Return the document of a file of GUIDs, and the GUIDs; GUID number n has the path (n,)."""
    marks = Marks(file, text)
    guids: list[int] = []
    for start, line in lines_of(marks.text):
        match = _LINE.match(line)
        if match is None:
            continue
        guid = _guid(match[1])
        if guid is None:
            marks.wrong(start + match.start(1), _no_guid(match[1]))
            continue
        marks.mark((len(guids),), start + match.start(1), start + match.end(1))
        guids.append(guid)
    return marks.document(dict(enumerate(guids))), tuple(guids)


def _guid(word: str) -> int | None:
    number = c_number(word) if _WORD.fullmatch(word) else None
    return number if number is not None and 0 < number < 2**64 else None


def _no_guid(word: str) -> str:
    return f"{word!r} is no GUID; expected one a line, as 0x506b4b0300abcdef: opensm gives up the whole file"


_BLANKS = " \t"
_PUBLIC = frozenset({0, 1})
"""The values that protect nothing: 0, and 1, the default of sm_key and sa_key in opensm."""

_TOO_LONG = (
    f"opensm takes {LINE_BYTES} bytes of a line together at most: it reads what follows here as a new line"
)


class OpensmConf(NamedTuple):
    """The settings of an opensm.conf in order; ``secrets`` are the keys that protect the subnet, without values."""

    document: Document
    settings: tuple[ManagerSetting, ...]
    secrets: tuple[Secret, ...]


class _Statement(NamedTuple):
    """A key of opensm.conf and its value, by their offsets in the text."""

    key: tuple[int, int]
    value: tuple[int, int]


def read_options(text: str, file: str) -> OpensmConf:
    """Return the settings of an opensm.conf; its document has the problems."""
    marks = Marks(file, text)
    text = marks.text
    statements = [
        statement for piece in _pieces(marks) if (statement := _statement(text, *piece)) is not None
    ]
    for statement in statements:
        _cut(marks, statement)
    hidden = [statement for statement in statements if _is_secret(text, statement)]
    for statement in hidden:
        marks.hide(*statement.value)
    settings = _settings(marks, statements)
    document = marks.document(_data(settings))
    secret = {statement.key[0] for statement in hidden}
    kept = (s for s, statement in zip(settings, statements, strict=True) if statement.key[0] not in secret)
    kept_back = (s for s, statement in zip(settings, statements, strict=True) if statement.key[0] in secret)
    return OpensmConf(document, tuple(kept), tuple(Secret(s.key, "", s.origin) for s in kept_back))


def looks_like_options(text: str) -> bool:
    """Return whether a text is an opensm.conf: more than half of its lines with content begin with a key."""
    words = [match[1] for match in re.finditer(r"^[ \t]*([^#\s]\S*)", text, re.MULTILINE)]
    known = sum(option(word) is not None for word in words)
    return known > 0 and 2 * known > len(words)


def _pieces(marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield the pieces that opensm reads as lines, without text after a ``#``; a too long value is one piece."""
    for start, line in lines_of(marks.text):
        at = start
        for piece in _split(line):
            cut = piece.find("#")
            if at == start and cut < 0:
                yield start, start + len(line.partition("#")[0])
                break
            yield at, at + (len(piece) if cut < 0 else cut)
            at += len(piece)
            if at < start + len(line):
                marks.wrong(at, _TOO_LONG)


def _split(line: str) -> Iterator[str]:
    while len(line) > LINE_BYTES // 4 and len(raw := line.encode()) > LINE_BYTES:
        piece = raw[:LINE_BYTES].decode("utf-8", "ignore")
        yield piece
        line = line[len(piece) :]
    yield line


def _statement(text: str, start: int, end: int) -> _Statement | None:
    start, end = trimmed(text, start, end)
    if start == end:
        return None
    stop = start
    while stop < end and text[stop] not in _BLANKS:
        stop += 1
    return _Statement((start, stop), _unquoted(text, *trimmed(text, stop, end)))


def _unquoted(text: str, start: int, end: int) -> tuple[int, int]:
    if end - start > 1 and text[start] in "\"'" and text[start] == text[end - 1]:
        return start + 1, end - 1
    return start, end


def _cut(marks: Marks, statement: _Statement) -> None:
    """Report a ``#`` within a path, at which opensm ends the value."""
    start, end = statement.value
    known = option(marks.text[slice(*statement.key)])
    if start < end and marks.text[end : end + 1] == "#" and known is not None and known.kind == "file":
        says = f"a # ends a line anywhere: opensm reads {marks.text[start:end]!r} as {known.key}"
        marks.wrong(end, says)


def _is_secret(text: str, statement: _Statement) -> bool:
    definition = option(text[slice(*statement.key)])
    return (
        definition is not None
        and definition.secret
        and c_number(text[slice(*statement.value)]) not in _PUBLIC
    )


def _settings(marks: Marks, statements: Sequence[_Statement]) -> list[ManagerSetting]:
    keys = [marks.text[slice(*statement.key)] for statement in statements]
    shown = marks.seen(0, len(marks.text))
    stated, times = Counter(keys), Counter[str]()
    settings = []
    for key, (at, (start, end)) in zip(keys, statements, strict=True):
        path: Path = (key,) if stated[key] == 1 else (key, times[key])
        times[key] += 1
        marks.mark(path, start, end, at)
        marks.mark((key,), start, end, at)
        settings.append(ManagerSetting(key, shown[start:end], Origin(marks.file, path)))
    return settings


def _data(settings: Sequence[ManagerSetting]) -> dict[str, str | list[str]]:
    """Return the values of settings by key; a repeated key has a list of values."""
    data: dict[str, str | list[str]] = {}
    for setting in settings:
        if len(setting.origin.path) == 1:
            data[setting.key] = setting.text
        else:
            data.setdefault(setting.key, [])
            texts = data[setting.key]
            assert isinstance(texts, list)
            texts.append(setting.text)
    return data
