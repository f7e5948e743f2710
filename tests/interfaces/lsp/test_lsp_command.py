"""``lossless lsp`` where it cannot run."""

from __future__ import annotations

import sys

import pytest

from lossless.ground.basics.programs import install_command
from tests.interfaces.cli.conftest import Cli, cli as cli


def test_without_pygls_it_says_how_to_get_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    outcome = cli("lsp")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"lossless: the language server needs pygls: {install_command('lsp')}\n"


def test_an_unknown_option_starts_no_server(cli: Cli) -> None:
    outcome = cli("lsp", "--tcp")
    assert outcome.code == 2
    assert "No such option" in outcome.err
