"""The guide to topologies shows what its commands print and draw, and each part of it is an intent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lossless.api import lint_documents
from lossless.source import load_text
from tools import topology_guide

ROOT = Path(__file__).parent.parent.parent
GUIDE = ROOT / "docs" / "guides" / "topology.md"


def intents() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_guide_and_its_pictures_are_what_the_program_says() -> None:
    assert {path: path.read_text() for path in topology_guide.fresh()} == topology_guide.fresh()


def test_the_fabric_of_the_guide_is_clean() -> None:
    report = lint_documents([load_text(intents()[0], "fabric.yaml")])
    assert (report.findings, report.errors) == ((), ())


@pytest.mark.parametrize("number", range(1, 8))
def test_every_shape_of_the_guide_is_sound_on_top_of_the_first(number: int) -> None:
    first, part = (load_text(text, "fabric.yaml").data for text in (intents()[0], intents()[number]))
    first.pop("pfc")
    report = lint_documents([load_text(json.dumps({**first, **part}), "fabric.yaml")])
    assert report.errors == ()
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []


def test_all_parts_were_tried() -> None:
    assert len(intents()) == 8
