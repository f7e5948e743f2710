"""Writing a text back into the file it was read from: whole or not at all, and only where the file is as it was."""

from __future__ import annotations

import os

from lossless.ground.basics.errors import LosslessError
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
    target = os.path.realpath(file)
    part = f"{target}.lossless-part"
    try:
        with open(target, "rb") as stream:
            raw = stream.read()
        if decode(raw, file) != before.removeprefix(_MARK):
            raise ChangedMeanwhileError(f"{file} has changed since it was read; nothing was written")
        mark = UTF8_MARK if raw.startswith(UTF8_MARK) else b""
        with open(part, "wb") as stream:
            stream.write(mark + after.removeprefix(_MARK).encode())
        os.chmod(part, os.stat(target).st_mode & 0o7777)
        os.replace(part, target)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise LosslessError(f"{file} cannot be written: {error.strerror}") from error
