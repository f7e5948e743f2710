"""Every command that a document shows is there, with the options that it is given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lossless.interfaces.cli.app import COMMANDS, group
from tests.paths import ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
CALL = re.compile(r"(?:^ {4,}|^\$ |`|\$\(|run: |(?<=.)[;&|] )lossless (?!is )([a-z][^`)\n]*)", re.MULTILINE)
ENDS = {"|", "||", "&&", ";", ">", ">>", "2>", "<"}


def called(path: Path) -> list[list[str]]:
    """Return the words of each call of ours in a document, up to where the shell has something else to do."""
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    return [words(call) for call in CALL.findall(text)]


def words(call: str) -> list[str]:
    found = shlex.split(call, comments=True)
    return found[: next((number for number, word in enumerate(found) if word in ENDS), len(found))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_documents_are_there_with_their_options(path: Path) -> None:
    for name, *arguments in called(path):
        command = group.get_command(click.Context(group), name)
        assert command is not None, name
        known = {
            spelling for option in command.get_params(click.Context(command)) for spelling in option.opts
        }
        assert {word.partition("=")[0] for word in arguments if word.startswith("-") and word != "-"} <= known


def test_every_command_is_shown_somewhere() -> None:
    assert {name for path in DOCUMENTS for name, *_ in called(path)} == set(COMMANDS)
