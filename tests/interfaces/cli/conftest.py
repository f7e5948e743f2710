"""Running the command line inside the test, as a person would from a folder."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from lossless.interfaces.cli import main
from lossless.interfaces.cli.app import Commands
from tests.refused import check_document, refused_as_json


class Streams(NamedTuple):
    """The exit code, and both streams without the last line that says what to run next."""

    code: int
    out: str
    err: str


class Outcome(Streams):
    """What a command left behind; compared without ``hint``, the last line, which has tests of its own."""

    hint: str = ""


Cli = Callable[..., Outcome]


class Screen(io.StringIO):
    """A standard stream of a person at a terminal."""

    def isatty(self) -> bool:
        """Return that it is a terminal."""
        return True


@pytest.fixture
def wide(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run ``lossless`` where every line has room: for tests of words, not of their layout."""
    monkeypatch.setenv("COLUMNS", "1000")
    return cli


_FAILED = 2


@cache
def takes_json(command: str) -> bool:
    """Return whether a command has ``--format json``."""
    found = Commands().get_command(click.Context(Commands()), command)
    options = found.params if found is not None else ()
    return any(
        "json" in getattr(option.type, "choices", ()) for option in options if "--format" in option.opts
    )


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run ``lossless`` in an empty folder, both streams ``on_terminal`` or not; ``stdin`` is standard input.

    JSON on stdout is one document of the command's schema; what is refused is asked for again as JSON.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str, stdin: bytes = b"", on_terminal: bool = False) -> Outcome:
        out, err = (Screen(), Screen()) if on_terminal else (io.StringIO(), io.StringIO())
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            code = main(args)
        check_document(args, out.getvalue())
        told, next_line, hint = err.getvalue().rpartition("next: ")
        is_last = next_line and told[-1:] in ("", "\n") and hint.count("\n") == 1
        outcome = Outcome(code, out.getvalue(), told if is_last else err.getvalue())
        outcome.hint = hint.strip() if is_last else ""
        # What a call writes would be read when it is made again.
        writes = any(word.startswith(("--format", "--fix", "--output")) for word in args)
        if code == _FAILED and args and takes_json(args[0]) and not writes:
            refused_as_json(*args, stdin=stdin)
        return outcome

    return run
