"""What a command leaves where it is killed at one of its writing system calls, and what its next start makes of that.

    python -P tests/interfaces/cli/killed.py FOLDER ONE_OF ARGUMENTS...

prints as JSON how many calls there are, and what of the folder was not whole after a kill or after the next start. The
command runs once: a copy of the folder as it is before a call, or in the middle of a write, is what a kill there would
leave. Copies that are equal are tried once, and of those one of ONE_OF. Runs are forks, as each would otherwise start
an interpreter.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
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


class Watch:
    """Counts writing calls, and says of each that it is about to be made, or half made."""

    def __init__(self, about: Callable[[], object]) -> None:
        self._said = about
        self._saying = False
        self._opened: set[int] = set()

    def arm(self) -> None:
        """Take the place of every call that writes to a file system; standard streams are none."""
        for module, names in ((os, _CALLS), (fcntl, _LOCKS)):
            for name in names:
                setattr(module, name, self._counted(getattr(module, name)))
        opened, written = os.open, os.write

        def open_(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & _WRITING:
                self._about()
            file = opened(path, flags, *rest, **more)
            if flags & _WRITING:
                self._opened.add(file)
            return file

        def write(file: int, data: Any) -> int:
            if file not in self._opened:
                return written(file, data)
            self._about()
            half = written(file, bytes(data)[: len(data) // 2])
            self._about()
            return half + written(file, bytes(data)[half:])

        os.open, os.write = open_, write
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse files that are opened past the calls that are counted: a kill there would not be tried."""
        if (
            not self._saying
            and event == "open"
            and isinstance(arguments[1], str)
            and set(arguments[1]) & set("wax+")
        ):
            os._exit(_UNCOUNTED)

    def _about(self) -> None:
        """Say that a call is about to be made, unless it is one of those to whom this is said."""
        if not self._saying:
            self._saying = True
            self._said()
            self._saying = False

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            self._about()
            return call(*arguments, **more)

        return counted


_UNCOUNTED = 99


def run(folder: Path, arguments: list[str], about: Callable[[], object] = lambda: None) -> int:
    """Run a command in a folder and a process of its own; return how it ended."""
    process = os.fork()
    if not process:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.chdir(folder)
        Watch(about).arm()
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


class Copies:
    """Copies of a folder as it is before each call; those that equal the one before are counted alone."""

    def __init__(self, folder: Path, copies: Path) -> None:
        self._folder = folder
        self._copies = copies
        self._last: Tree | None = None
        self._calls = 0
        copies.mkdir()

    def take(self) -> None:
        """Count a call, and copy the folder."""
        self._calls += 1
        now = tree(self._folder)
        if now != self._last:
            shutil.copytree(self._folder, self._copies / f"{self._calls:05}", symlinks=True)
        (self._copies / "calls").write_text(str(self._calls))
        self._last = now


def problems(folder: Path, one_of: int, arguments: list[str]) -> tuple[int, list[str]]:
    """Return the number of calls that a command may be killed at, and what was found of those that are tried."""
    work, copies = folder.with_name("work"), folder.with_name("copies")

    def fresh() -> Path:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(folder, work, symlinks=True)
        return work

    # What the command imports is imported once, before the forks.
    run_here(fresh(), arguments)
    before = tree(fresh())
    code = run(work, arguments, Copies(work, copies).take)
    after = tree(work)
    found: list[str] = []
    for copy in sorted(copies.glob("[0-9]*"))[::one_of]:
        shutil.rmtree(work)
        copy.rename(work)
        found += (f"call {copy.name}: {path} is torn" for path in torn(tree(work), before, after))
        again = run(work, arguments)
        left = tree(work)
        if again == _UNCOUNTED or left != after:
            differing = sorted(
                path for path in left.keys() | after.keys() if left.get(path) != after.get(path)
            )
            found.append(f"call {copy.name}: the next start ended with {again} and left {differing}")
    if code == _UNCOUNTED or before == after:
        found.append(f"nothing was written, or past the calls that are counted: {code}")
    return int((copies / "calls").read_text()), found


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    print(json.dumps(problems(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])))
