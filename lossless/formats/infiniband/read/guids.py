"""Reads files of GUIDs: one a line, decimal or with 0x, a name behind it if one likes, ``#`` before a comment.

One line that is no GUID makes opensm give the file up, and the routing engine with it: parse_node_map of its complib.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.documents.marked_document import Marks, lines_of
from lossless.model.fabric.infiniband.options import c_number

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document

_LINE = re.compile(r"\s*([^\s#]+)")
_WORD = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)")


def read_guids(text: str, file: str) -> tuple[Document, tuple[int, ...]]:
    """Return the GUIDs of a file, and its document; GUID number n stands at the path (n,)."""
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
