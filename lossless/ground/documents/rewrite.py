"""Writing a text back into the file it was read from: whole or not at all, and only where the file is as it was."""

from __future__ import annotations

from lossless.ground.basics.errors import LosslessError
from lossless.ground.documents.atomic import write_all
from lossless.ground.documents.text import UTF8_MARK, decode

_MARK = UTF8_MARK.decode()


class ChangedMeanwhileError(LosslessError):
    """A file that is no longer what was read."""


def rewrite(file: str, before: str, after: str) -> None:
    """Give a file another text; its byte-order mark, mode and owner's links stay.

    Raises:
        ChangedMeanwhileError: it does not hold ``before`` any more.
        LosslessError: it cannot be read or written; it is then as it was.
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
