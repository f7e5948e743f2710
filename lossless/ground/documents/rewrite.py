"""Writes a text back into its file, completely or not at all, and only if the file is unchanged."""

from __future__ import annotations

from lossless.ground.basics.errors import LosslessError
from lossless.ground.documents.atomic import write_all
from lossless.ground.documents.text import UTF8_MARK, decode

_MARK = UTF8_MARK.decode()


class ChangedMeanwhileError(LosslessError):
    """A file that changed since it was read."""


def rewrite(file: str, before: str, after: str) -> None:
    """Replace the text of a file; its byte-order mark, mode, owner and links stay.

    Raises:
        ChangedMeanwhileError: it no longer contains ``before``.
        LosslessError: it cannot be read or written; it is then unchanged.
    """
    try:
        with open(file, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        raise LosslessError(f"{file}: cannot be read: {error.strerror}") from error
    if decode(raw, file) != before.removeprefix(_MARK):
        raise ChangedMeanwhileError(f"{file} has changed since it was read; nothing was written")
    mark = UTF8_MARK if raw.startswith(UTF8_MARK) else b""
    write_all({file: mark + after.removeprefix(_MARK).encode()})
