"""What docs/guides/jobs.md shows is what is printed and written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lossless.api import render
from lossless.interfaces.cli import main
from lossless.model.hardware.clouds import TRANSPORTS, machines_of
from tests.conftest import ROOT

GUIDE = (ROOT / "docs" / "guides" / "jobs.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind == language]


def test_the_guide_shows_what_is_written(tmp_path: Path) -> None:
    render(ROOT / "examples" / "roce-256-kubernetes", tmp_path)
    assert blocks("")[0] == (tmp_path / "host1" / "jobs.env").read_text()
    resource = (tmp_path / "kubernetes" / "nic-configuration-connectx-7.yaml").read_text()
    assert resource.startswith(blocks("yaml")[1])


def test_the_guide_shows_what_lint_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    command, _, shown = blocks("")[1].partition("\n")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out == shown


def test_the_guide_names_every_machine_that_is_known() -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[2])}
    assert named == {machine for transport in TRANSPORTS for machine in machines_of(transport)}
