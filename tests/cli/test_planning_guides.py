"""The guides show what workload and spread print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lossless.cli import main

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("guide", "examples"), [("workload", 3), ("spread", 1)])
def test_the_guide_shows_what_is_printed(
    guide: str, examples: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "guides" / f"{guide}.md").read_text()
    blocks = re.findall(r"^```\n\$ lossless (.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == examples
    for command, shown in blocks:
        assert main(command.split()) == 0
        assert capsys.readouterr().out == shown
