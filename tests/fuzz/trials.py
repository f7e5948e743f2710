"""What is run on changed files: commands in a folder of their own, which may refuse them, but not break or hang."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from lossless.interfaces.cli import main
from tests.fuzz.editor import conversation, mistakes
from tests.paths import RULE_BASES

EDITOR = ("lsp", "FILE")
"""A client of the language server that opens the file; of a list of messages, one that says these."""
SINCE = ("lint", "--since", "HEAD", ".")
"""In a repository whose only commit has what lies beside the file."""
INTENT_COMMANDS = (
    EDITOR,
    SINCE,
    ("lint", "FILE"),
    ("lint", "FILE", "--format", "sarif"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("render", "FILE", "-o", "out"),
    ("topology", "FILE"),
    ("trace", "FILE", "--from", "host1", "--to", "host2", "--dscp", "26"),
    ("diff", "leaf.json", "FILE", "--device", "leaf1"),
)
SWITCH_COMMANDS = (
    EDITOR,
    SINCE,
    ("lint", "FILE"),
    ("lint", "FILE", "--format", "markdown"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("lint", "."),
    ("import", "FILE", "-o", "imported.yaml", "--base", "base"),
    ("diff", "FILE", "leaf-spine.yaml", "--device", "leaf1"),
    ("render", "leaf-spine.yaml", "-o", "out", "--base", "bases"),
    ("baseline", "FILE", "-o", "baseline.json"),
)
OTHER_COMMANDS = (("lint", "FILE"), ("lint", "."), EDITOR)


FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")
FAILED = 2
LONGEST_S = 20.0
"""Processor time after which a command hangs: the slowest of sound inputs take a tenth of it."""
MESSAGES = "messages.json"
_OTHER = re.compile(r"[^a-zA-Z :,]+")
"""Names and numbers of a reason, which differ between files that break the same law in the same way."""
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


@cache
def beside() -> dict[str, str]:
    """Return sound files that every command finds in its folder."""
    return {name: (RULE_BASES / name).read_text() for name in ("leaf-spine.yaml", "leaf.json")}


class Seed(NamedTuple):
    """Sound files and the commands that read them: ``name`` is changed, or one of ``others`` beside it.

    Without ``beside`` there are the files that every command finds. ``words`` are those of commands that stand for
    names in the files; ``laws`` hold for the files (``laws.LAWS``).
    """

    name: str
    text: str
    commands: Sequence[tuple[str, ...]]
    beside: Mapping[str, str] | None = None
    others: Sequence[str] = ()
    words: Mapping[str, str] = {}
    laws: Sequence[str] = ()

    @property
    def files(self) -> dict[str, str]:
        """All files."""
        return {**(beside() if self.beside is None else self.beside), self.name: self.text}


class Trial(NamedTuple):
    """Commands in a folder of files, one after the other with ``&&`` between them, and a law about it."""

    command: tuple[str, ...]
    files: Mapping[str, str]
    law: str = ""


class Breakage(NamedTuple):
    """An exception that nobody expected, or a law that is broken: what and where, with its traceback or the reason."""

    kind: str
    place: str
    text: str

    @property
    def cause(self) -> tuple[str, str]:
        """What is the same for two files that break the same code."""
        return self.kind, self.place


class HangError(BaseException):
    """A command takes more processor time than any should; no handler of errors takes it for one of its own."""


class Outcome(NamedTuple):
    """How commands ended: the last exit code, what was printed, the files that are there then, and what broke."""

    code: int
    out: str
    err: str
    files: Mapping[str, bytes]
    broke: Breakage | None = None


def breakage(trial: Trial) -> Breakage | None:
    """Run a trial; return what broke, None where it ended with an exit code of ours and its law holds."""
    return checked(trial, outcome_of(trial))


def checked(trial: Trial, outcome: Outcome) -> Breakage | None:
    """Return what broke in a trial, or how it breaks its law."""
    from tests.fuzz.laws import LAWS, form_of

    if outcome.broke is not None:
        return outcome.broke
    if trial.command[0] == "lsp":
        return None
    if reason := form_of(trial.command, outcome):
        return Breakage("form", trial.command[0], reason)
    broken = _law(LAWS[trial.law], trial, outcome) if trial.law else None
    if isinstance(broken, str):
        return Breakage("law", f"{trial.law}: {_OTHER.sub('', broken)[:40].strip()}", broken)
    return broken


def _law(
    law: Callable[[Trial, Outcome], str | None], trial: Trial, outcome: Outcome
) -> str | Breakage | None:
    try:
        with limited():
            return law(trial, outcome)
    except (Exception, HangError) as error:  # noqa: BLE001 whatever is raised is what is looked for
        return _broken(error)


def outcome_of(trial: Trial) -> Outcome:
    """Run the commands of a trial in a folder of its own, the same path for each."""
    with folder_of(trial.files, committed=beside() if "--since" in trial.command else {}) as folder:
        outcome = _in_editor(trial) if trial.command[0] == "lsp" else _run_each(trial.command)
        return outcome._replace(files=files_in(folder))


@contextmanager
def folder_of(files: Mapping[str, str], committed: Mapping[str, str] = {}) -> Iterator[Path]:
    """Write files to a folder and work there; after it, the folder is gone.

    All have the same path, as messages name it; those of processes that run at the same time differ.
    """
    folder = Path(tempfile.gettempdir(), f"fuzz-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if committed:
        _commit(str(folder), committed)
    _write(str(folder), files)
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, those of git left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


@contextmanager
def limited() -> Iterator[None]:
    """End what takes longer than ``LONGEST_S`` of processor time with :class:`HangError`."""

    def over(_number: int, _frame: Any) -> None:
        raise HangError(f"more than {LONGEST_S:g} s of processor time")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _write(folder: str, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogatepass"))


def _commit(folder: str, files: Mapping[str, str]) -> None:
    _write(folder, files)
    for arguments in (("init", "-q"), ("add", "."), (*AUTHOR, "commit", "-qm", "sound")):
        subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


def _in_editor(trial: Trial) -> Outcome:
    file = trial.command[1]
    messages = _messages(trial.files[file]) if file == MESSAGES else None
    try:
        found = mistakes(
            conversation(Path(file).resolve(), trial.files[file]) if messages is None else messages
        )
    except Exception as error:  # noqa: BLE001 whatever is raised is what is looked for
        return Outcome(0, "", "", {}, _broken(error))
    return Outcome(0, "", "", {}, None if found is None else Breakage("mistake", found[:200], found))


def _messages(text: str) -> list[Any]:
    """Return a list of messages; what is none is one."""
    try:
        data = json.loads(text)
    except ValueError:
        return [text]
    return data if isinstance(data, list) else [data]


def _broken(error: BaseException) -> Breakage:
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}:{last.name}"
    return Breakage(type(error).__name__, place, traceback.format_exc())


def _run_each(words: Sequence[str]) -> Outcome:
    """Run commands until one cannot do its work."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            commands.append([])
        else:
            commands[-1].append(word)
    outcome = Outcome(0, "", "", {})
    for command in commands:
        outcome = run(command)
        if outcome.broke is not None or outcome.code == FAILED:
            break
    return outcome


def run(command: Sequence[str]) -> Outcome:
    """Run a command in the current folder."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err), limited():
            code = main(list(command))
    except (Exception, HangError) as error:  # noqa: BLE001 whatever is raised is what is looked for
        return Outcome(0, out.getvalue(), err.getvalue(), {}, _broken(error))
    outcome = Outcome(code, out.getvalue(), err.getvalue(), {})
    if code not in (0, 1, FAILED):
        return outcome._replace(broke=Breakage(f"exit code {code}", " ".join(command), outcome.err))
    return outcome


def minimised(trial: Trial, cause: tuple[str, str], seconds: float = float("inf")) -> Trial:
    """Return a trial with as few lines, and then characters, as break the same code, as far as time allows."""
    end = time.monotonic() + seconds
    for name in sorted(trial.files):
        for unit in ("\n", ""):
            trial = _with_fewest(trial, name, unit, cause, end)
    return trial


def _with_fewest(trial: Trial, name: str, unit: str, cause: tuple[str, str], end: float) -> Trial:
    def having(parts: list[str]) -> Trial:
        return trial._replace(files={**trial.files, name: unit.join(parts)})

    def breaks(parts: list[str]) -> bool:
        found = breakage(having(parts)) if time.monotonic() < end else None
        return found is not None and found.cause == cause

    return having(_fewest(trial.files[name].split(unit) if unit else list(trial.files[name]), breaks))


def _fewest(parts: list[str], breaks: Callable[[list[str]], bool]) -> list[str]:
    """Return few of the parts that still break: pieces go as long as any can, of half the size each time."""
    size = len(parts) // 2
    while size:
        at = 0
        while at < len(parts):
            left = parts[:at] + parts[at + size :]
            if breaks(left):
                parts = left
            else:
                at += size
        size //= 2
    return parts
