"""The messages on a stream: lines of a header, then so many bytes (Language Server Protocol 3.17, Base Protocol).

Every message is read to its end in bounded memory, so that the next message is found.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from lossless.ground.basics.limits import EDITOR_HEADER_BYTES, EDITOR_MESSAGE_BYTES
from lossless.ground.basics.records import NamedTuple

_LENGTH = re.compile(rb"content-length:[ \t]*([^\r\n]*?)[ \t]*\r?\n\Z", re.IGNORECASE)
"""Also behind bytes that belong to no message: after a wrong length the next header is found again."""
_DIGITS = re.compile(rb"[0-9]{1,15}")
_CHUNK = 64 * 1024
_KEPT = 4 * 1024
"""Bytes kept of each end of a message that is too large: enough to identify it."""


class Malformed(NamedTuple):
    """Bytes that are no message, and why."""

    why: str


class Oversized(NamedTuple):
    """A message that was not kept: its length, its first bytes and its last bytes."""

    length: int
    head: bytes
    tail: bytes


def read_message(stream: BinaryIO) -> bytes | Malformed | Oversized | None:
    """Return the body of the next message, a description of its fault, or None at the end of the stream."""
    length = _read_header(stream)
    if not isinstance(length, int):
        return length
    if length > EDITOR_MESSAGE_BYTES:
        return _skip(stream, length)
    body = stream.read(length)
    return body if len(body) == length else None


def _read_header(stream: BinaryIO) -> int | Malformed | None:
    """Return the length that a header states; it ends at an empty line."""
    stated: bytes | None = None
    taken = 0
    while line := stream.readline(EDITOR_HEADER_BYTES):
        if not line.strip():
            if taken:
                break
            continue
        taken += len(line)
        match = _LENGTH.search(line)
        stated = match[1] if match else stated
    else:
        return None
    if taken > EDITOR_HEADER_BYTES:
        return Malformed(f"a header of more than {EDITOR_HEADER_BYTES} bytes")
    if stated is None:
        return Malformed("a header without Content-Length")
    if _DIGITS.fullmatch(stated) is None:
        return Malformed("Content-Length is no number of bytes")
    return int(stated)


def _skip(stream: BinaryIO, length: int) -> Oversized | None:
    head = tail = b""
    left = length
    while left:
        chunk = stream.read(min(_CHUNK, left))
        if not chunk:
            return None
        left -= len(chunk)
        head += chunk[: _KEPT - len(head)]
        tail = (tail + chunk)[-_KEPT:]
    return Oversized(length, head, tail)
