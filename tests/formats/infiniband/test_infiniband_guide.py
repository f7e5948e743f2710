"""The guide to InfiniBand shows what is printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.interfaces.cli.conftest import Cli, cli
from tests.paths import ROOT

__all__ = ["cli"]
CODES = {"lint infiniband-256-ndr": 0, "render infiniband-256-ndr -o out": 0, "lint out/sm1": 0}


def test_the_guide_shows_what_is_printed_from_an_intent_to_what_is_deployed(cli: Cli) -> None:
    guide = (ROOT / "docs" / "guides" / "infiniband.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n\$ lossless (.*?)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    shutil.copytree(ROOT / "examples" / "infiniband-256-ndr", "infiniband-256-ndr")
    for command, shown in blocks:
        if "edited" in command:
            edit()
        outcome = cli(*command.split())
        assert outcome.code == CODES.get(command, 2)
        findings, _, summary = outcome.err.rpartition("\n\n")
        printed = outcome.out + (f"{findings}\n\n{summary}" if findings else summary)
        assert printed == shown


def edit() -> None:
    """Edit two files as the guide says that somebody did."""
    shutil.copytree("out", "edited")
    for name, old, new in (
        ("opensm.conf", "\nqos TRUE\n", "\nqos true\n"),
        ("partitions.conf", "compute=0x0001, sl=0 :", "compute=0x0001, sl=0, fast :"),
    ):
        file = Path("edited/sm1") / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
