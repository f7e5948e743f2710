"""What is run on mutated files: commands in an empty folder, which may refuse them but not break."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from lossless.interfaces.cli import main
from tests.fuzz.editor import conversation, mistakes
from tests.fuzz.mutations import mutated
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


MESSAGES = "messages.json"
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


def beside() -> dict[str, str]:
    """Return sound files that every command finds in its folder."""
    return {name: (RULE_BASES / name).read_text() for name in ("leaf-spine.yaml", "leaf.json")}


class Seed(NamedTuple):
    """A sound file, and the commands that read it."""

    name: str
    text: str
    commands: Sequence[tuple[str, ...]]


class Trial(NamedTuple):
    """A command in a folder of files."""

    command: tuple[str, ...]
    files: Mapping[str, str]


class Breakage(NamedTuple):
    """An exception that nobody expected: its type and where it was raised, with its traceback."""

    kind: str
    place: str
    text: str

    @property
    def cause(self) -> tuple[str, str]:
        """What is the same for two files that break the same code."""
        return self.kind, self.place


def drawn(seeds: Sequence[Seed], beside: Mapping[str, str], chance: random.Random) -> Trial:
    """Return a trial of one mutated seed, with sound files beside it."""
    seed = chance.choice(seeds)
    command = tuple(seed.name if word == "FILE" else word for word in chance.choice(seed.commands))
    files = {**beside, seed.name: mutated(seed.text, seed.name, chance)}
    if "bases" in command:
        files["bases/leaf1/config_db.json"] = files[seed.name]
    return Trial(command, files)


def breakage(trial: Trial) -> Breakage | None:
    """Run a trial; return what broke, None where it ended with an exit code of ours."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        if "--since" in trial.command:
            _commit(folder, beside())
        _write(folder, trial.files)
        before = Path.cwd()
        os.chdir(folder)
        try:
            return _in_editor(trial) if trial.command[0] == "lsp" else _run(trial.command)
        finally:
            os.chdir(before)


def _write(folder: str, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogatepass"))


def _commit(folder: str, files: Mapping[str, str]) -> None:
    _write(folder, files)
    for arguments in (("init", "-q"), ("add", "."), (*AUTHOR, "commit", "-qm", "sound")):
        subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


def _in_editor(trial: Trial) -> Breakage | None:
    file = trial.command[1]
    messages = _messages(trial.files[file]) if file == MESSAGES else None
    try:
        found = mistakes(
            conversation(Path(file).resolve(), trial.files[file]) if messages is None else messages
        )
    except Exception as error:  # noqa: BLE001 whatever is raised is what is looked for
        return _broken(error)
    return None if found is None else Breakage("mistake", found[:200], found)


def _messages(text: str) -> list[Any]:
    """Return a list of messages; what is none is one."""
    try:
        data = json.loads(text)
    except ValueError:
        return [text]
    return data if isinstance(data, list) else [data]


def _broken(error: Exception) -> Breakage:
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}:{last.name}"
    return Breakage(type(error).__name__, place, traceback.format_exc())


def _run(command: Sequence[str]) -> Breakage | None:
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        try:
            code = main(list(command))
        except Exception as error:  # noqa: BLE001 whatever is raised is what is looked for
            return _broken(error)
    if code not in (0, 1, 2):
        return Breakage(f"exit code {code}", " ".join(command), err.getvalue())
    return None


def minimised(trial: Trial, cause: tuple[str, str]) -> Trial:
    """Return a trial with as few lines, and then characters, as break the same code."""
    for name in sorted(trial.files):
        for unit in ("\n", ""):
            trial = _with_fewest(trial, name, unit, cause)
    return trial


def _with_fewest(trial: Trial, name: str, unit: str, cause: tuple[str, str]) -> Trial:
    def having(parts: list[str]) -> Trial:
        return trial._replace(files={**trial.files, name: unit.join(parts)})

    def breaks(parts: list[str]) -> bool:
        found = breakage(having(parts))
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
