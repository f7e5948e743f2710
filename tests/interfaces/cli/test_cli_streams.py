"""Standard streams that are closed, full, or read by nobody: no traceback, and never a clean exit code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pytest

from lossless.interfaces.cli.app import COMMANDS
from tests.interfaces.cli.forked import Forks, forks
from tests.interfaces.cli.inputs import BASES, INTENT, LEAF, intent_with

PROGRAM = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
FAILED, PIPE_CLOSED = 2, 141
ARGUMENTS: Mapping[str, Sequence[str]] = {
    "lint": ["bad.yaml"],
    "render": ["fabric.yaml", "-o", "out"],
    "diff": ["leaf.json", "fabric.yaml"],
    "import": ["leaf.json"],
    "headroom": ["fabric.yaml"],
    "plan": ["fabric.yaml", "nowhere.yaml"],
    "acceptance": ["fabric.yaml"],
    "verify": ["nowhere"],
    "simulate": ["fabric.yaml", "--closed-form"],
    "sweep": ["fabric.yaml", "--vary", "nonsense"],
    "tune": ["nowhere.yaml"],
    "workload": ["fabric.yaml"],
    "storm": ["fabric.yaml", "--from", "host1"],
    "topology": ["fabric.yaml"],
    "trace": ["fabric.yaml", "--from", "host1", "--to", "host2", "--dscp", "26"],
    "opensm": ["nowhere.yaml"],
    "rule": ["PFC001"],
    "rules": [],
    "formats": [],
    "profiles": [],
    "baseline": ["bad.yaml"],
    "collector": [],
    "exporter": ["--once", "--redis", "nowhere/redis.sock"],
    "completion": ["bash"],
    "schema": [],
    "lsp": [],
}
"""Something that each command has to say."""
CALLS = [
    *([name, *ARGUMENTS.get(name, ("?",))] for name in COMMANDS),
    ["--help"],
    ["--version"],
    ["lint", "--help"],
]
pytestmark = pytest.mark.xdist_group("streams")
STARTED = (["lint", *ARGUMENTS["lint"]], ["--version"])
"""Calls for which the interpreter is started each time; of the others, runs are forked."""


class Ended(NamedTuple):
    """How a run ended, and what it said where it could."""

    code: int
    out: str
    err: str


End = Callable[..., Ended]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a folder with an intent, one with an error in it, and a switch."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "fabric.yaml").write_text(INTENT)
    (folder / "bad.yaml").write_text(intent_with("detection: 1200ms", "detection: 50ms"))
    (folder / "leaf.json").write_text(LEAF)
    return folder


def run(folder: Path, *arguments: str, redirected: str = "") -> Ended:
    """Run the program as a shell does, with a redirection."""
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    return ended(done.returncode, done.stdout, done.stderr)


def ended(code: int, out: str, err: str) -> Ended:
    """Return how a run ended, always without what Python says of itself."""
    assert "Traceback" not in out + err
    assert "Exception ignored" not in out + err
    return Ended(code, out, err)


@pytest.fixture(scope="module")
def forking(folder: Path) -> Iterator[Forks]:
    """Start what runs are forked from."""
    with forks(folder, [call for call in CALLS if call != ["lsp"]]) as started:
        yield started


@pytest.fixture(scope="module")
def end(folder: Path, forking: Forks) -> End:
    """Return what runs a call with a redirection; with a start of the interpreter where it is one of some."""

    def end(*call: str, redirected: str = "") -> Ended:
        if list(call) in STARTED:
            return run(folder, *call, redirected=redirected)
        with ExitStack() as opened:
            streams: dict[int, int | None] = {}
            for number, to in re.findall(r"(\d?)>(\S+)", redirected):
                closed = to == "&-"
                streams[int(number or 1)] = (
                    None if closed else opened.enter_context(Path(to).open("wb")).fileno()
                )
            return ended(*forking.run(folder, call, streams))

    return end


@pytest.fixture(scope="module")
def usual(end: End) -> End:
    """Return how a call ends where both streams take all."""
    return cache(end)


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize(
    ("redirected", "why"),
    [(">/dev/full", "No space left on device"), (">&-", "it is closed")],
    ids=["full", "closed"],
)
def test_a_result_that_cannot_be_written_fails_and_says_so_in_one_line(
    call: Sequence[str], redirected: str, why: str, end: End, usual: End
) -> None:
    said, done = usual(*call), end(*call, redirected=redirected)
    if said.out:
        assert done.code == FAILED
        assert done.err.splitlines()[-1] == f"lossless: cannot write to standard output: {why}"
        assert done.err.count("cannot write") == 1
    elif call != ["lsp"]:
        assert done.code == said.code


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize("redirected", ["2>/dev/full", ">&- 2>&-"])
def test_problems_that_cannot_be_told_fail_too(
    call: Sequence[str], redirected: str, end: End, usual: End
) -> None:
    said, done = usual(*call), end(*call, redirected=redirected)
    told = said.err or (said.out if redirected.startswith(">") else "")
    if call != ["lsp"]:
        assert done.code == (FAILED if told else said.code)


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_reader_that_has_gone_ends_it_as_a_signal_would(
    call: Sequence[str], folder: Path, forking: Forks, usual: End
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code, _, said = forking.run(folder, call, {1: writing})
    finally:
        os.close(writing)
    assert "Traceback" not in said
    expected = usual(*call)
    assert code == (PIPE_CLOSED if expected.out else expected.code)


def test_a_reader_that_leaves_half_way_through_a_large_result_ends_it(tmp_path: Path) -> None:
    text = (BASES / "wired-leaf.json").read_text()
    for number in range(40):
        (tmp_path / f"leaf{number}.json").write_text(text.replace("leaf1", f"l{number}"))
    command = [sys.executable, "-c", PROGRAM, "lint", ".", "--quiet", "--select", "ALL"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pipe:
        assert pipe.stdout is not None
        assert pipe.stderr is not None
        pipe.stdout.readline()
        pipe.stdout.close()
        said = pipe.stderr.read()
    assert pipe.returncode in (PIPE_CLOSED, FAILED, 0, 1)
    assert b"Traceback" not in said


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_a_report_on_a_full_device_fails_and_says_which(form: str, end: End) -> None:
    done = end("lint", "fabric.yaml", "--output", f"{form}=/dev/full")
    assert done.code == FAILED
    assert "lossless: /dev/full: cannot be written: No space left on device" in done.err.splitlines()


def test_a_file_that_is_opened_never_takes_the_place_of_a_closed_stream(
    folder: Path, end: End, tmp_path: Path
) -> None:
    tree = tmp_path / "out"
    started = partial(run, folder)
    for redirected, ending in ((">&-", end), ("2>&-", end), (">&- 2>&- <&-", started)):
        ending("render", "fabric.yaml", "-o", str(tree), redirected=redirected)
        written = "".join(path.read_text() for path in tree.rglob("*.json"))
        assert written
        assert "lossless:" not in written


def test_standard_input_that_is_closed_is_a_problem_of_the_input(folder: Path) -> None:
    done = run(folder, "lint", "-", "--stdin-filename", "fabric.yaml", redirected="<&-")
    assert done.code == FAILED
    assert done.err
