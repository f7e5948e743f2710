"""Reads files of GUIDs: one a line, decimal or with 0x, optionally followed by a name, ``#`` before a comment.

For a single line that is not a GUID opensm discards the file and the routing engine: parse_node_map of its complib.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.documents.marked_document import Marks, lines_of
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

_LINE = re.compile(r"\s*([^\s#]+)")
_WORD = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)")


def read_guids(text: str, file: str) -> tuple[Document, tuple[int, ...]]:
    """Return the GUIDs of a file, and its document; GUID number n has the path (n,)."""
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
