"""The program as a process, without the start of the interpreter and its imports, which cost more than most commands.

Each run is a fork of a process that has called every command before. Its own are its arguments, its folder and its
standard streams, which are opened as the interpreter opens them, and flushed at its end.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from lossless.interfaces.cli import main

_LONGEST_REQUEST = 65_536


class Forks:
    """What starts the runs, one after the other."""

    def __init__(self, ours: socket.socket) -> None:
        self._ours = ours

    def start(self, folder: Path, arguments: Sequence[str], streams: Mapping[int, int]) -> None:
        """Start a run with some descriptors as its standard streams, by their number."""
        request = json.dumps([str(folder), arguments, list(streams)]).encode()
        socket.send_fds(self._ours, [request], list(streams.values()))

    def ended(self) -> int:
        """Wait for the end of the run, and return its exit code."""
        return int(self._ours.recv(_LONGEST_REQUEST))

    def run(
        self, folder: Path, arguments: Sequence[str], streams: Mapping[int, int | None]
    ) -> tuple[int, str, str]:
        """Return the exit code of a run and what it has written to standard output and error.

        Without a descriptor (None: closed) for a stream, there is nothing to read, and all that is written is kept.
        """
        with ExitStack() as opened:
            out, err = (opened.enter_context(TemporaryFile()) for _ in range(2))
            nothing = opened.enter_context(Path(os.devnull).open("rb"))
            usual = {0: nothing.fileno(), 1: out.fileno(), 2: err.fileno()}
            given = {number: to for number, to in {**usual, **streams}.items() if to is not None}
            self.start(folder, arguments, given)
            code = self.ended()
            # The run has moved the position that it shares with us.
            out.seek(0)
            err.seek(0)
            return code, out.read().decode(), err.read().decode()


@contextmanager
def forks(folder: Path, calls: Sequence[Sequence[str]]) -> Iterator[Forks]:
    """Start what forks runs, which calls the program first with some arguments in a folder."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-P", __file__, str(theirs.fileno()), json.dumps(calls)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, pass_fds=[theirs.fileno()], stdin=nowhere, stdout=nowhere, stderr=nowhere
    ):
        theirs.close()
        with ours:
            yield Forks(ours)


def _serve(theirs: socket.socket, calls: Sequence[Sequence[str]]) -> bool:
    """Fork a run for each request; return whether this is a run, and not the process that starts them."""
    import lossless.interfaces.lsp.server  # noqa: F401

    for call in calls:
        main(call)
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(theirs, _LONGEST_REQUEST, 3)
        if not request:
            return False
        folder, arguments, numbers = json.loads(request)
        if not (process := os.fork()):
            theirs.close()
            os.chdir(folder)
            sys.argv[1:] = arguments
            _take(dict(zip(numbers, descriptors, strict=True)))
            return True
        for descriptor in descriptors:
            os.close(descriptor)
        theirs.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())


def _take(streams: Mapping[int, int]) -> None:
    """Make some descriptors the standard streams by their number, and close the others."""
    for number in range(3):
        if number in streams:
            os.dup2(streams[number], number)
        else:
            os.close(number)
    for descriptor in streams.values():
        os.close(descriptor)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = _stream(number, mode) if number in streams else None
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(number, mode, closefd=False)
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, "utf-8", line_buffering=number == 2)


if __name__ == "__main__" and _serve(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])):
    code = main()
    # What the interpreter does at its end that anybody sees; taking all objects apart would copy their memory.
    atexit._run_exitfuncs()
    for output in (sys.stdout, sys.stderr):
        if output is not None:
            output.flush()
    os._exit(code)
