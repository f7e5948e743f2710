"""A command that is killed at each of its writing system calls, each time in a copy of a folder.

    python -P tests/interfaces/cli/killed.py FOLDER ARGUMENTS...

prints as JSON how many calls there are, and what of the folder was not whole after a kill or after the next start. Runs
are forks, as each would otherwise start an interpreter. A call is cut off before it, and a write also in its middle.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from lossless.interfaces.cli import main

_CALLS = (
    *("rename", "replace", "link", "symlink", "mkdir", "unlink", "remove", "rmdir", "truncate", "ftruncate"),
    *("fchmod", "fchown", "chmod", "utime"),
)
_LOCKS = ("flock", "lockf")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
Tree = dict[str, bytes | None]


class Killer:
    """Counts writing calls, and ends the process at one of them; 0 ends none."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.calls = 0
        self._opened: set[int] = set()

    def arm(self) -> None:
        """Take the place of every call that writes to a file system; standard streams are none."""
        for module, names in ((os, _CALLS), (fcntl, _LOCKS)):
            for name in names:
                setattr(module, name, self._counted(getattr(module, name)))
        opened, written = os.open, os.write

        def open_(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & _WRITING:
                self._count()
            file = opened(path, flags, *rest, **more)
            if flags & _WRITING:
                self._opened.add(file)
            return file

        def write(file: int, data: Any) -> int:
            if file in self._opened:
                self._count()
                self._count(lambda: written(file, bytes(data)[: len(data) // 2]))
            return written(file, data)

        os.open, os.write = open_, write
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse files that are opened past the calls that are counted: a kill there would not be tried."""
        if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            os._exit(_UNCOUNTED)

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            self._count()
            return call(*arguments, **more)

        return counted

    def _count(self, first: Callable[[], object] = lambda: None) -> None:
        self.calls += 1
        if self.calls == self._at:
            first()
            os.kill(os.getpid(), signal.SIGKILL)


_UNCOUNTED = 99
_KILLED = -signal.SIGKILL


def run(folder: Path, arguments: list[str], at: int = 0) -> int:
    """Run a command in a folder and a process of its own, killed at one of its calls; return how it ended."""
    process = os.fork()
    if not process:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.chdir(folder)
        Killer(at).arm()
        os._exit(main(arguments))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run_here(folder: Path, arguments: list[str]) -> None:
    """Run a command in a folder and this process, without its output."""
    usual = Path.cwd()
    os.chdir(folder)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        main(arguments)
    os.chdir(usual)


def tree(folder: Path) -> Tree:
    """Return the content of each file below a folder, None for a folder."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in paths}


def torn(found: Tree, *whole: Tree) -> Iterator[str]:
    """Yield the files that are neither as before nor as after."""
    for path, content in found.items():
        is_ours = any(part.startswith(".lossless-") for part in Path(path).parts)
        if content is not None and not is_ours and all(each.get(path) != content for each in whole):
            yield path


def problems(folder: Path, arguments: list[str]) -> tuple[int, list[str]]:
    """Return the number of calls that a command was killed at, and what was then found."""
    work = folder.with_name("work")

    def fresh() -> Path:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(folder, work, symlinks=True)
        return work

    # What the command imports is imported once, before the forks.
    run_here(fresh(), arguments)
    before = tree(fresh())
    code = run(work, arguments)
    after = tree(work)
    found: list[str] = []
    at = 1
    while run(fresh(), arguments, at) == _KILLED:
        found += (f"call {at}: {path} is torn" for path in torn(tree(work), before, after))
        again = run(work, arguments)
        left = tree(work)
        if again == _UNCOUNTED or left != after:
            differing = sorted(
                path for path in left.keys() | after.keys() if left.get(path) != after.get(path)
            )
            found.append(f"call {at}: the next start ended with {again} and left {differing}")
        at += 1
    if code == _UNCOUNTED or before == after:
        found.append(f"nothing was written, or past the calls that are counted: {code}")
    return at - 1, found


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    print(json.dumps(problems(Path(sys.argv[1]), sys.argv[2:])))
