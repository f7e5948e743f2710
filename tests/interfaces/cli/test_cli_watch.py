"""``lossless lint --watch`` on a terminal, as a person has it beside an editor."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lossless.api import Options, Watch, lint
from lossless.checks.lint.workers import DeviceFile, check_file
from lossless.formats.inputs.collect import Candidate, Inputs
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with
from tests.interfaces.cli.repositories import write
from tests.paths import ROOT

THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
DEAF = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')
CLEAR = "\x1b[2J"
LONGEST_S = 600.0


class Terminal:
    """A run on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._screen, inside = pty.openpty()
        code = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "lint", *arguments],
            cwd=folder,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=os.environ | {"TERM": "xterm", "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        os.close(inside)

    def shows(self, end: str = "Ctrl-C ends") -> str:
        """Return what is written until ``end``, without colours."""
        written = ""
        until = time.monotonic() + LONGEST_S
        while end not in written:
            ready, _, _ = select.select([self._screen], [], [], until - time.monotonic())
            assert ready, f"not there in time: {end!r}; so far {written!r}"
            written += os.read(self._screen, 65536).decode()
        return re.sub(r"\x1b\[[0-9;]*m", "", written)

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LONGEST_S)

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._screen)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Terminal]:
    """A watched folder with a sound intent."""
    write(tmp_path, {"fabric.yaml": INTENT})
    terminal = Terminal(tmp_path, "--watch")
    yield terminal
    terminal.close()


def test_every_change_is_checked_on_a_clean_screen_until_ctrl_c(watched: Terminal, tmp_path: Path) -> None:
    first = watched.shows()
    assert first.startswith(CLEAR)
    assert "0 errors" in first
    assert "watching 1 file; " in first
    write(tmp_path, {"fabric.yaml": THIN})
    second = watched.shows()
    assert second.lstrip().startswith(CLEAR)
    assert "TOP001 oversubscription-undeclared" in second
    write(tmp_path, {"leaf1.json": DEAF})
    third = watched.shows()
    assert "WD002" in third
    assert "watching 2 files; " in third
    assert watched.interrupt() == 1


def test_the_exit_code_is_that_of_the_last_time(watched: Terminal, tmp_path: Path) -> None:
    watched.shows()
    write(tmp_path, {"fabric.yaml": "lossless: v1\na: *x\n"})
    assert "no anchor &x" in watched.shows()
    write(tmp_path, {"fabric.yaml": INTENT})
    assert "0 errors" in watched.shows()
    assert watched.interrupt() == 0
    assert "Traceback" not in watched.shows("\n")


def test_without_a_terminal_nothing_is_cleared(tmp_path: Path) -> None:
    write(tmp_path, {"fabric.yaml": THIN})
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from lossless.interfaces.cli import main; sys.exit(main())",
            "lint",
            "--watch",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stderr is not None
    while "Ctrl-C ends" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 1
    assert out.startswith("fabric.yaml:19:5: TOP001")


def findings(watch: Watch, options: Options) -> tuple[list[str], list[str]]:
    """Return what a watch and a run from nothing say of the current folder."""
    return tuple(  # type: ignore[return-value]
        [*map(repr, report.findings), *map(repr, report.errors), *map(repr, report.not_checked)]
        for report in (watch.lint(), lint(["."], options))
    )


LEAF2 = LEAF.replace('"hostname": "leaf1"', '"hostname": "leaf2"')
STEPS: list[dict[str, str | None]] = [
    {"a/leaf1.json": DEAF},
    {"a/leaf2.json": LEAF2},
    {"a/leaf2.json": LEAF2.replace('"9100"', '"1500"')},
    {"fabric.yaml": THIN},
    {"lossless.toml": 'ignore = ["WD002"]\n'},
    {"a/leaf1.json": LEAF},
    {"a/leaf1.json": None},
    {"lossless.toml": 'baseline = "known.json"\n'},
    {"a/leaf2.json": "{"},
    {"fabric.yaml": None},
    {"a/leaf2.json": DEAF},
]


def test_after_every_change_a_watch_says_what_a_run_from_nothing_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"fabric.yaml": INTENT})
    options = Options(configured=True)
    watch = Watch(["."], options)
    seen = []
    for step in STEPS:
        for name, text in step.items():
            if text is None:
                (tmp_path / name).unlink()
            else:
                write(tmp_path, {name: text})
        assert watch.changed()
        again, fresh = findings(watch, options)
        assert again == fresh, step
        assert not watch.changed()
        seen.append(len(again))
    assert len(set(seen)) > 3


def test_what_did_not_change_is_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path, {"leaf1.json": LEAF, "leaf2.json": LEAF2, "leaf3.json": LEAF.replace('"leaf1"', '"leaf3"')}
    )
    checked: list[str] = []

    def counting(inputs: Inputs, candidate: Candidate, *rest: Any) -> DeviceFile:
        checked.append(candidate.file)
        return check_file(inputs, candidate, *rest)

    monkeypatch.setattr("lossless.checks.lint.cache.check_file", counting)
    watch = Watch(["."])
    watch.lint()
    assert len(checked) == 3
    checked.clear()
    write(tmp_path, {"leaf2.json": DEAF.replace('"hostname": "leaf1"', '"hostname": "leaf2"')})
    assert watch.lint().findings
    assert checked == ["./leaf2.json"]
