"""What is run on mutated files: commands in an empty folder, which may refuse them but not break."""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from lossless.interfaces.cli import main
from tests.fuzz.mutations import mutated

INTENT_COMMANDS = (
    ("lint", "FILE"),
    ("lint", "FILE", "--format", "sarif"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("render", "FILE", "-o", "out"),
    ("topology", "FILE"),
    ("trace", "FILE", "--from", "host1", "--to", "host2"),
    ("diff", "leaf.json", "FILE", "--device", "leaf1"),
)
SWITCH_COMMANDS = (
    ("lint", "FILE"),
    ("lint", "FILE", "--format", "markdown"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("lint", "."),
    ("import", "FILE", "-o", "imported.yaml", "--base", "base"),
    ("diff", "FILE", "leaf-spine.yaml", "--device", "leaf1"),
    ("render", "leaf-spine.yaml", "-o", "out", "--base", "bases"),
    ("baseline", "FILE", "-o", "baseline.json"),
)
OTHER_COMMANDS = (("lint", "FILE"), ("lint", "."))


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
        for name, text in trial.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode(errors="surrogatepass"))
        before = Path.cwd()
        os.chdir(folder)
        try:
            return _run(trial.command)
        finally:
            os.chdir(before)


def _run(command: Sequence[str]) -> Breakage | None:
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        try:
            code = main(list(command))
        except Exception as error:  # noqa: BLE001 whatever is raised is what is looked for
            *_, last = traceback.extract_tb(error.__traceback__)
            place = f"{Path(last.filename).name}:{last.name}"
            return Breakage(type(error).__name__, place, traceback.format_exc())
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
