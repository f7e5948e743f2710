"""Runs other programs: git, opensm and its tools. No other module starts a program; a test ensures that.

A program gets no shell, no terminal, and only the environment that it needs. It is ended in time, with the processes
of its group, and its output is bounded. One that is ``contained`` is also ended with processes that have left its
group, as a daemon does, where the system lists them in /proc.

Messages have the command that installs an extra from here: this project is on no package index.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, cast

from lossless.ground.basics.errors import ProgramError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from selectors import SelectorKey
    from subprocess import Popen


LONGEST_S = 120.0
"""Default timeout of an answer, in seconds. A choice: lists of a million files take seconds."""
MOST_BYTES = 256 * 1024 * 1024
"""Default limit of a program's output: names of a million files are less than half of it."""
KEPT = ("HOME", "TMPDIR")
"""Variables of the user that every program gets: for the folders of settings and of temporary files."""
FOLDERS = ("PATH", "LD_LIBRARY_PATH")
"""Lists of folders, of programs and of libraries, which module systems and conda need for a program to start at all."""

_CHUNK = 1 << 16
_POLL_S = 0.05
"""Polling interval of a program without output."""
_TICK_S = 0.002
_GRACE_S = 2.0
"""How long a program may take to end after a request, before it is killed."""
_MARK = "LOSSLESS_PROGRAM"
"""The variable by which a contained program is known, and all that it started: a session can be left, and the
environment that a process was started with cannot be changed (proc_pid_environ(5))."""
_PROCESSES = "/proc"
_ROUNDS = 100
"""The most rounds in which processes of a contained program are searched and killed: each may find new ones."""
_EMPTY_ROUNDS = 3
"""How many rounds in a row must find none. One proves nothing: a process that has started another and ended between the
listing of /proc and the reading of its environment is in neither, nor is what it started. A daemon forks twice."""


class Done(NamedTuple):
    """The exit code, standard output and standard error of a program that has ended."""

    code: int
    out: bytes
    err: bytes


def find_program(name: str, also: Sequence[str] = ()) -> str | None:
    """Return the path of a program on PATH or in folders ``also``; None where it is not installed.

    A folder of PATH relative to the working directory, as ``.`` or an empty one, is skipped: its content may be
    untrusted.
    """
    for folder in (*_absolute("PATH"), *also):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def environment(passed: Sequence[str] = (), **own: str) -> dict[str, str]:
    """Return the environment of a program: :data:`KEPT`, :data:`FOLDERS`, variables named by ``passed``, and ``own``.

    The locale is C, so that its output is English and can be parsed. Relative folders are left out.
    """
    kept = {name: os.environ[name] for name in (*KEPT, *passed) if name in os.environ}
    folders = {name: os.pathsep.join(_absolute(name)) for name in FOLDERS if name in os.environ}
    return {**kept, **folders, "LC_ALL": "C", **own}


def run(
    command: Sequence[str],
    given_environment: Mapping[str, str],
    *,
    folder: str | None = None,
    given: bytes = b"",
    longest_s: float = LONGEST_S,
    most_bytes: int = MOST_BYTES,
    contained: bool = False,
) -> Done:
    """Run a program to its end. Its exit code is for the caller to check.

    Raises:
        ProgramError: it is not installed or does not start, takes too long, or prints too much.
    """
    from subprocess import DEVNULL, PIPE

    marked = _marked(given_environment, contained)
    process = _start(command, marked, folder, stdin=PIPE if given else DEVNULL)
    try:
        out, err = _answer(process, given, time.monotonic() + longest_s, most_bytes)
    except _TooLateError:
        raise ProgramError(f"{_called(command)} gave no answer in {longest_s:g} s, and was ended") from None
    except _TooMuchError:
        raise ProgramError(f"{_called(command)} said more than {most_bytes:,} bytes, and was ended") from None
    finally:
        _kill(process, marked.get(_MARK))
    return Done(process.returncode, out, err)


@contextmanager
def running(
    command: Sequence[str],
    given_environment: Mapping[str, str],
    *,
    folder: str,
    output: str,
    logs: Sequence[str] = (),
    longest_s: float = LONGEST_S,
    most_bytes: int = MOST_BYTES,
) -> Iterator[Running]:
    """Run a contained program while the block runs, with its output in a file; then end it and what it started.

    ``logs`` are files of its own that are bounded too. :meth:`Running.ended` kills it after ``longest_s``.

    Raises:
        ProgramError: it is not installed or does not start.
        OSError: the file for its output cannot be written.
    """
    marked = _marked(given_environment, contained=True)
    with open(output, "wb") as file:
        process = _start(command, marked, folder, output=file)
    try:
        yield Running(process, (output, *logs), time.monotonic() + longest_s, most_bytes)
    finally:
        _end(process, marked[_MARK])


class Running:
    """A running program, with its time limit and the files whose total size is bounded."""

    def __init__(self, process: Popen[bytes], files: Sequence[str], until: float, most_bytes: int) -> None:
        self._process, self._files, self._until, self._most_bytes = process, files, until, most_bytes

    def ended(self) -> bool:
        """Return whether the program has ended; it is killed if it has printed too much, or its time is over.

        Raises:
            ProgramError: it printed too much.
        """
        if _has_ended(self._process):
            return True
        if time.monotonic() > self._until:
            _kill(self._process)
            return True
        if sum(map(_size, self._files)) > self._most_bytes:
            _kill(self._process)
            name = os.path.basename(self._files[-1])
            raise ProgramError(
                f"more than {self._most_bytes:,} bytes went into {name}; the program was ended"
            )
        return False

    def wait(self) -> int:
        """Wait for the program to end, kill it when its time is over, and return its exit code.

        Raises:
            ProgramError: it printed too much.
        """
        while not self.ended():
            time.sleep(_TICK_S)
        return self._process.wait()


class _TooLateError(Exception):
    pass


class _TooMuchError(Exception):
    pass


def _absolute(variable: str) -> list[str]:
    """Return the absolute folders that an environment variable lists, such as PATH; none where it is not set."""
    return [folder for folder in os.environ.get(variable, "").split(os.pathsep) if os.path.isabs(folder)]


def _size(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0


def _called(command: Sequence[str]) -> str:
    return os.path.basename(command[0])


def _start(
    command: Sequence[str],
    given_environment: Mapping[str, str],
    folder: str | None,
    *,
    stdin: int | None = None,
    output: IO[bytes] | None = None,
) -> Popen[bytes]:
    """Start a program in a session of its own, so that its children can be killed with it.

    Raises:
        ProgramError: it is not installed or does not start.
    """
    from subprocess import DEVNULL, PIPE, STDOUT, Popen

    path = command[0] if os.path.isabs(command[0]) else find_program(command[0])
    if path is None:
        raise ProgramError(f"{command[0]} is not installed here, or not on PATH")
    try:
        return Popen(
            (path, *command[1:]),
            cwd=folder,
            env=dict(given_environment),
            stdin=DEVNULL if stdin is None else stdin,
            stdout=PIPE if output is None else output,
            stderr=PIPE if output is None else STDOUT,
            start_new_session=True,
        )
    # ValueError: an argument with a zero byte in it, which no program can be given.
    except (OSError, ValueError) as error:
        raise ProgramError(f"{_called(command)} does not start: {error}") from error


def _answer(process: Popen[bytes], given: bytes, until: float, most_bytes: int) -> tuple[bytes, bytes]:
    """Send a program its input and return its output and its errors."""
    from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

    out, err, left = bytearray(), bytearray(), memoryview(given)
    with DefaultSelector() as selector:
        for stream, said in ((process.stdout, out), (process.stderr, err)):
            selector.register(_open(stream), EVENT_READ, said)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(_POLL_S)
            for key, _ in ready:
                left, is_over = _moved(key, left)
                if is_over:
                    selector.unregister(key.fileobj)
                    cast("IO[bytes]", key.fileobj).close()
            _require_bounds(len(out) + len(err), most_bytes, until)
            # What it left running behind it may hold its output open, and is not waited for.
            if not ready and _has_ended(process):
                break
    _wait(process, until)
    return bytes(out), bytes(err)


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _moved(key: SelectorKey, left: memoryview) -> tuple[memoryview, bool]:
    """Read output of a program, or send it input; return the remaining input, and whether this end is done."""
    if key.data is None:
        left = _written(key.fd, left)
        return left, not left
    chunk = os.read(key.fd, _CHUNK)
    key.data.extend(chunk)
    return left, not chunk


def _written(end: int, left: memoryview) -> memoryview:
    """Send a program some of its input and return the rest; empty if the program reads no more."""
    try:
        return left[os.write(end, left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return left[:0]


def _require_bounds(said_bytes: int, most_bytes: int, until: float) -> None:
    if said_bytes > most_bytes:
        raise _TooMuchError
    if time.monotonic() > until:
        raise _TooLateError


def _wait(process: Popen[bytes], until: float) -> None:
    while not _has_ended(process):
        if time.monotonic() > until:
            raise _TooLateError
        time.sleep(_TICK_S)


def _has_ended(process: Popen[bytes]) -> bool:
    """Return whether a program has ended.

    Where the system has ``waitid`` it stays in the process table, so that its group keeps its number.
    """
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: Popen[bytes], mark: str) -> None:
    """End a contained program: first by SIGTERM, so that ``timeout`` ends its child, then by force."""
    if not _has_ended(process):
        process.terminate()
        with suppress(_TooLateError):
            _wait(process, time.monotonic() + _GRACE_S)
    _kill(process, mark)


def _kill(process: Popen[bytes], mark: str | None = None) -> None:
    """Kill a program with the processes of its group and those found to have its ``mark``; close its streams."""
    import signal

    if process.returncode is None:
        # macOS says EPERM of a group whose programs have all ended and were not yet waited for.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if mark is not None:
        _kill_marked(f"{_MARK}={mark}".encode())
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _marked(given_environment: Mapping[str, str], contained: bool) -> dict[str, str]:
    """Return an environment, for a contained program with a mark of its own."""
    return {**given_environment, **({_MARK: os.urandom(16).hex()} if contained else {})}


def _kill_marked(mark: bytes) -> None:
    """Kill the processes that a contained program has left behind.

    It ends after ``_EMPTY_ROUNDS`` rounds in a row that find none, or after ``_ROUNDS``.
    """
    import signal

    empty = 0
    for _ in range(_ROUNDS):
        left = [pid for pid in _processes() if mark in _environment_of(pid)]
        empty = 0 if left else empty + 1
        if empty == _EMPTY_ROUNDS:
            return
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_TICK_S)


def _processes() -> list[int]:
    """Return the numbers of all processes; none where the system does not list them as Linux does."""
    try:
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit()]
    except FileNotFoundError:
        return []


def _environment_of(pid: int) -> list[bytes]:
    """Return the environment that a process was started with, as ``NAME=value``; none where it cannot be read."""
    try:
        with open(f"{_PROCESSES}/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra, with the versions that this installation declares.

    Without an installation, code runs from a checkout, and the command installs that with the extra.
    """
    # About 30 ms, and only ever for a message.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        stated = requires("lossless") or ()
    except PackageNotFoundError:
        return f"pip install '.[{extra}]' in the checkout of lossless"
    marker = f'extra == "{extra}"'
    packages = [text.partition(";")[0].strip() for text in stated if text.replace("'", '"').endswith(marker)]
    return " ".join(["pip install", *(f"'{package}'" for package in packages)])
