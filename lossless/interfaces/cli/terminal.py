"""Writing to stdout and stderr: colours where a person reads, quiet where nobody does any more."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from lossless.output.report.text_style import TextStyle

_COLUMNS_WITHOUT_TERMINAL = 120


class ClosedPipeError(Exception):
    """Whoever read our output has stopped: ``lossless lint | head`` is no mistake."""


def prepare() -> None:
    """Make both streams take any character, escaped where their encoding has none for it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def out(text: str) -> None:
    """Write a result, with a line break.

    Raises:
        ClosedPipeError: nobody reads it.
    """
    _write(sys.stdout, text)


def out_json(data: object) -> None:
    """Write plain data as JSON, indented.

    Raises:
        ClosedPipeError: nobody reads it.
    """
    import json

    out(json.dumps(data, indent=2))


def problem(text: str) -> None:
    """Write anything that is no result, with a line break.

    Raises:
        ClosedPipeError: nobody reads it.
    """
    # Results that were printed first must also be read first.
    _flush(sys.stdout)
    _write(sys.stderr, text)


def finish() -> None:
    """Flush, while a closed pipe can still be told from a mistake.

    Raises:
        ClosedPipeError: nobody reads the last of it.
    """
    _flush(sys.stdout)
    _flush(sys.stderr)


def style_for(stream: TextIO) -> TextStyle:
    """Return colours and width for a stream: NO_COLOR and FORCE_COLOR are obeyed, in this order."""
    from lossless.output.report.text_style import TextStyle

    is_terminal = stream.isatty()
    columns = _columns(stream) if is_terminal else _COLUMNS_WITHOUT_TERMINAL
    if os.environ.get("NO_COLOR"):
        return TextStyle(columns=columns)
    wanted = bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
    return TextStyle(colour=wanted, columns=columns)


def _columns(stream: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS_WITHOUT_TERMINAL
    except OSError:
        return _COLUMNS_WITHOUT_TERMINAL


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text + "\n")
    except BrokenPipeError:
        _abandon(stream)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)


def _abandon(stream: TextIO) -> None:
    # The interpreter flushes once more when it ends, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    raise ClosedPipeError from None
