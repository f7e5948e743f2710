"""What docs/guides/editors.md shows is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lossless.interfaces.lsp.server import FIX_ALL
from lossless.interfaces.lsp.workspace import MOST_TOGETHER
from tests.conftest import ROOT
from tests.interfaces.cli.conftest import Cli, cli as cli

GUIDE = (ROOT / "docs" / "guides" / "editors.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_settings_of_the_guide_can_be_read() -> None:
    settings = [json.loads(text) for text in blocks("json")]
    assert settings[0]["glspc.serverCommandArguments"] == ["lsp"]
    assert settings[1]["yaml.schemas"] == {"./intent.schema.json": ["fabric.yaml"]}


def test_options_and_limits_of_the_guide_are_those_of_the_server(cli: Cli) -> None:
    said = cli("lsp", "--help").out
    for option in re.findall(r"`(--[a-z-]+)`", GUIDE):
        assert f"{option} " in said
    assert f"Up to {MOST_TOGETHER} files" in GUIDE
    assert f"`{FIX_ALL}`" in GUIDE


def test_the_first_line_that_names_a_schema_leaves_an_intent_as_it_was(cli: Cli) -> None:
    example = (ROOT / "examples" / "roce-256" / "fabric.yaml").read_text()
    Path("fabric.yaml").write_text(blocks("yaml")[0] + example)
    assert cli("lint", "fabric.yaml").code == 0
