"""How far a long run is: on a terminal, after a second, and gone before anything is printed."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic

import pytest

from lossless.api import Options, lint
from lossless.interfaces.cli.progress import LongRun
from tests.interfaces.cli.conftest import Screen
from tests.interfaces.cli.inputs import INTENT, LEAF
from tests.interfaces.cli.repositories import write


def shown_on(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Return the screen that takes the place of standard error, which pytest exchanges after fixtures."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    return screen


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = shown_on(monkeypatch)
    bar = LongRun()
    for done in range(100):
        bar(done, 100)
    bar.stop()
    assert screen.getvalue() == ""


def test_a_long_run_shows_how_far_it_is_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = shown_on(monkeypatch)
    bar = LongRun(monotonic() - 2)
    bar(30, 1000)
    assert "30/1000" in screen.getvalue()
    bar.stop()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")


@pytest.mark.parametrize("many", [3, 40])
def test_a_run_tells_how_many_files_are_done(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {f"leaf{n}.json": LEAF.replace('"leaf1"', f'"leaf{n}"') for n in range(many)})
    write(tmp_path, {"fabric.yaml": INTENT})
    told: list[tuple[int, int]] = []
    report = lint(["."], Options(tell=lambda done, of: told.append((done, of))))
    assert report == lint(["."])._replace(documents=report.documents)
    devices = [done for done, of in told if of == many]
    assert len(devices) == many
    assert devices == sorted(devices)
    assert (0, 1) in told
