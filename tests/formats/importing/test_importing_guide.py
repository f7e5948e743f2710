"""The guide shows what import prints."""

from __future__ import annotations

import re
from pathlib import Path

from tests.interfaces.cli.conftest import Cli, cli
from tests.interfaces.cli.inputs import leaf_with
from tests.paths import ROOT

__all__ = ["cli"]
EXAMPLE = ROOT / "examples" / "roce-256"


def test_the_guide_shows_what_import_prints(cli: Cli) -> None:
    guide = (ROOT / "docs" / "guides" / "import.md").read_text()
    blocks = re.findall(r"^```\n\$ lossless (.*?)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert cli("render", str(EXAMPLE), "-o", "deployed", "--base", str(EXAMPLE / "base")).code == 0
    Path("leaf1.json").write_text(leaf_with("PFC_WD", "Ethernet0", detection_time="600"))
    assert len(blocks) == 2
    for command, shown in blocks:
        outcome = cli(*command.split())
        assert (outcome.code, outcome.out, outcome.err) == (0, "", shown)
