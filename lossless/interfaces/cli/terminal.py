"""Writes to stdout and stderr, as no other module does, and reports failures of these streams.

Text goes through :func:`lossless.ground.basics.foreign_text.gated`, also the output of libraries; progress bars, the
clearing of the screen and the messages of the language server do not.

Where ``--format`` asks for a form that programs read, stdout has one document or nothing: all other output of a command
or a library goes to stderr (:func:`expect_document`).
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.foreign_text import gated, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.foreign_text import Form
    from lossless.output.report.columns import TextStyle

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


class ClosedPipeError(Exception):
    """The reader of our output has closed the pipe, as in ``lossless lint | head``: that is no mistake."""


class UnwritableError(Exception):
    """A standard stream that is closed, or whose device is full; the message names the stream and the reason."""


class ExpectedDocument:
    """The document that ``--format`` asks for: its form, whether it is a report of findings, and its text once given.

    JSON is ``held`` until the run ends, as errors that come later belong into it.
    """

    __slots__ = ("form", "held", "is_given", "is_report")

    def __init__(self, form: str, *, is_report: bool) -> None:
        self.form = form
        self.is_report = is_report
        self.is_given = False
        self.held: str | None = None


class GatedStream:
    """A standard output stream whose text passes :func:`gated`; ``raw`` is None if the stream is closed.

    After a failure every write fails without being tried: a library may have caught the first failure.
    With a ``document`` all other text goes to standard error.
    """

    def __init__(self, raw: TextIO | None, name: str) -> None:
        self._raw = raw
        self._name = name
        self.document: ExpectedDocument | None = None
        self._failure: ClosedPipeError | UnwritableError | None = None
        if raw is None:
            self._failure = UnwritableError(f"cannot write to {name}: it is closed")

    def write(self, text: str) -> int:
        """Write text of libraries through the gate.

        Raises:
            ClosedPipeError: the reader has closed the pipe.
            UnwritableError: the stream is closed or full.
        """
        self.put(gated(text))
        return len(text)

    def put(self, text: str) -> None:
        """Write text that has passed the gate; raises as :meth:`write`."""
        if self.document is None:
            self.put_through(text)
        else:
            _put_raw(sys.stderr, text)

    def put_through(self, text: str) -> None:
        """Write text that has passed the gate to this stream, even beside a document; raises as :meth:`write`."""
        if not text:
            return
        try:
            self._sound().write(text)
        except OSError as error:
            self._abandon(error)

    def display(self) -> _Display:
        """Return the same stream for text of a progress bar, whose control characters pass."""
        return _Display(self)

    def flush(self) -> None:
        """Write buffered text, none if the stream was closed from the start; raises as :meth:`write`."""
        if self._raw is None:
            return
        try:
            self._sound().flush()
        except OSError as error:
            self._abandon(error)

    @property
    def buffer(self) -> _Bytes:
        """The same stream for bytes, to which click writes completions."""
        return _Bytes(self)

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._raw is not None and self._raw.isatty()

    def fileno(self) -> int:
        """Return the file descriptor.

        Raises:
            ClosedPipeError: the reader has closed the pipe.
            UnwritableError: it is closed or full.
            OSError: it has none.
        """
        return self._sound().fileno()

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return "utf-8" if self._raw is None else self._raw.encoding

    @property
    def errors(self) -> str | None:
        """The name of the stream's handling of characters that its encoding lacks."""
        return "backslashreplace" if self._raw is None else self._raw.errors

    def _sound(self) -> TextIO:
        """Return the stream; raise its first failure again."""
        if self._failure is not None:
            raise self._failure
        assert self._raw is not None
        return self._raw

    def _abandon(self, error: OSError) -> None:
        _drop(self._raw)
        self._failure = unwritable(error, self._name)
        raise self._failure from None


class _Bytes:
    """The ``buffer`` of a gated stream: takes bytes, which are text in UTF-8."""

    def __init__(self, stream: GatedStream) -> None:
        self._stream = stream
        self.flush = stream.flush

    def write(self, data: bytes) -> int:
        """Write text through the gate."""
        self._stream.write(data.decode("utf-8", "replace"))
        return len(data)


class BytesWriter:
    """Writes bytes for a program such as an editor; after a failure output is dropped, and the failure is kept."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, data: bytes) -> None:
        """Write bytes and flush; keep a failure instead of raising it."""
        if self.failure is None:
            try:
                self._stream.write(data)
                self._stream.flush()
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _fail(self, error: OSError) -> None:
        self.failure = error
        # What is held back would be written once more when it is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class _Display:
    """A stream for a progress bar: its text is not gated, so that control characters pass."""

    def __init__(self, stream: GatedStream) -> None:
        self._stream = stream
        self.write = stream.put
        self.flush = stream.flush
        self.isatty = stream.isatty
        self.fileno = stream.fileno
        self.encoding = stream.encoding


def unwritable(error: OSError, name: str) -> ClosedPipeError | UnwritableError:
    """Return the exception for a failure to write to a stream."""
    if isinstance(error, BrokenPipeError):
        return ClosedPipeError()
    return UnwritableError(f"cannot write to {name}: {error.strerror}")


def standard_input() -> BinaryIO:
    """Return standard input as a stream of bytes.

    Raises:
        LosslessError: it is closed.
    """
    stream = cast("TextIO | None", sys.stdin)
    if stream is None:
        raise LosslessError("cannot read standard input: it is closed")
    return stream.buffer


@contextmanager
def gated_streams() -> Iterator[None]:
    """Replace sys.stdout and sys.stderr by gated streams in a block; they escape characters that the encoding lacks."""
    _open_standard_files()
    before = sys.stdout, sys.stderr
    for stream in before:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    stdout, stderr = GatedStream(before[0], "standard output"), GatedStream(before[1], "standard error")
    sys.stdout, sys.stderr = cast("TextIO", stdout), cast("TextIO", stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def out(text: str, form: Form = "text") -> None:
    """Write a result of one line or more, with a line break.

    Raises:
        ClosedPipeError: the reader has closed the pipe.
        UnwritableError: the stream is closed or full.
    """
    _put(sys.stdout, gated(text, form))


def expect_document(form: str, *, is_report: bool) -> None:
    """Restrict stdout to one document of a form, such as JSON, from here on; other text goes to stderr."""
    if isinstance(sys.stdout, GatedStream):
        sys.stdout.document = ExpectedDocument(form, is_report=is_report)


def expected_document() -> ExpectedDocument | None:
    """Return the document that ``--format`` asks for, None for a text report."""
    return sys.stdout.document if isinstance(sys.stdout, GatedStream) else None


def out_document(text: str, form: Form) -> None:
    """Write the document that ``--format`` asks for, JSON at the end of the run. Raises as :func:`out`."""
    document = expected_document()
    shown = gated(text, form) + "\n"
    if document is None:
        _put_raw(sys.stdout, shown)
        return
    assert not document.is_given, "one document, or nothing"
    document.is_given = True
    if document.form == "json":
        document.held = shown
    elif isinstance(sys.stdout, GatedStream):
        sys.stdout.put_through(shown)


def out_json(data: object) -> None:
    """Write plain data as JSON, indented; raises as :func:`out`."""
    import json

    out_document(json.dumps(data, indent=2), "json")


def problem(text: str) -> None:
    """Write one message to standard error; a line break in a name is spelled out. Raises as :func:`out`.

    A terminal shows it in as many lines as it needs. Elsewhere it is one line, which programs look for.
    """
    text, style = visible(text), style_for(sys.stderr)
    if not style.whole_heads and len(text) > style.columns:
        from lossless.output.report.columns import wrapped_message

        text = wrapped_message(text, style)
    problem_lines(text)


def problem_lines(text: str) -> None:
    """Write lines to standard error whose names were made visible; raises as :func:`out`."""
    # Results that were printed first must also be read first.
    sys.stdout.flush()
    _put(sys.stderr, gated(text))


def notice(text: str) -> None:
    """Write a note beside a report to standard error, wrapped to its columns. Raises as :func:`out`."""
    from lossless.output.report.columns import wrapped

    problem_lines(wrapped(visible(text), style_for(sys.stderr)))


def next_step(text: str, *, quiet: bool = False) -> None:
    """Write the next command as the last line on standard error; nothing with ``quiet``. Raises as :func:`out`."""
    if not quiet:
        # Never wrapped: it is there to be copied.
        problem_lines(f"next: {visible(text)}")


def last_words(text: str) -> None:
    """Write one line to standard error after any failure, if the stream takes it."""
    try:
        _put(sys.stderr, gated(visible(text)))
        sys.stderr.flush()
    except (ClosedPipeError, UnwritableError):
        return


def clear() -> None:
    """Clear the screen of a terminal, unless TERM is ``dumb``; nothing is done elsewhere. Raises as :func:`out`."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and isinstance(sys.stdout, GatedStream):
        sys.stdout.put(_CLEAR)


def display() -> TextIO:
    """Return standard error for a progress bar: the one thing on it that may move the cursor."""
    return cast("TextIO", sys.stderr.display()) if isinstance(sys.stderr, GatedStream) else sys.stderr


def finish() -> None:
    """Write the document that was held and flush, while a failure can still be reported; raises as :func:`out`."""
    document = expected_document()
    if document is not None and document.held is not None and isinstance(sys.stdout, GatedStream):
        sys.stdout.put_through(document.held)
        document.held = None
    sys.stdout.flush()
    sys.stderr.flush()


def style_for(stream: TextIO, *, verbose: bool = False) -> TextStyle:
    """Return the style for a stream: NO_COLOR, FORCE_COLOR and COLUMNS are obeyed, the first before the second.

    The width is 100 columns if it is unknown.
    """
    from lossless.output.report.columns import TextStyle

    is_terminal = stream.isatty()
    wanted = bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
    return TextStyle(
        colour=wanted and not os.environ.get("NO_COLOR"),
        columns=_columns(stream),
        verbose=verbose,
        whole_heads=not is_terminal,
    )


def _columns(stream: TextIO) -> int:
    from lossless.output.report.columns import COLUMNS

    if stated := os.environ.get("COLUMNS"):
        from lossless.ground.basics.units import unsigned_number

        if columns := unsigned_number(stated):
            return columns
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS if stream.isatty() else COLUMNS
    except OSError:
        return COLUMNS


def _put(stream: GatedStream | TextIO, text: str) -> None:
    _put_raw(stream, text + "\n")


def _put_raw(stream: GatedStream | TextIO, text: str) -> None:
    put = stream.put if isinstance(stream, GatedStream) else stream.write
    put(text)


def _drop(stream: TextIO | None) -> None:
    """Redirect the rest of a stream to the null device: the interpreter would complain when it ends."""
    try:
        number = stream.fileno() if stream is not None else -1
    except OSError:
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _open_standard_files() -> None:
    """Open closed standard streams on the null device: else the next file would take their number.

    Output of a child process or a library to standard output would end in that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
