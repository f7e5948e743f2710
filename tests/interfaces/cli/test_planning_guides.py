"""Each part of an intent in the guides to topology and workload is one."""

from __future__ import annotations

import json
import re

import pytest

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.paths import ROOT

GUIDES = ROOT / "docs" / "guides"


def intents(guide: str = "topology.md") -> list[str]:
    return re.findall(r"^```yaml.*?\n(.*?)^```$", (GUIDES / guide).read_text(), re.MULTILINE | re.DOTALL)


def test_the_fabric_of_the_guide_is_clean() -> None:
    report = lint_documents([load_text(intents()[0], "fabric.yaml")])
    assert (report.findings, report.errors) == ((), ())


@pytest.mark.parametrize("number", range(1, 10))
def test_every_shape_of_the_guide_is_sound_on_top_of_the_first(number: int) -> None:
    first, part = (load_text(text, "fabric.yaml").data for text in (intents()[0], intents()[number]))
    first.pop("pfc")
    report = lint_documents([load_text(json.dumps({**first, **part}), "fabric.yaml")])
    assert report.errors == ()
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []


def test_one_switch_less_that_bounces_closes_no_cycle() -> None:
    two = intents()[10]
    one = two.replace("[leaf1, leaf3]", "[leaf1]")
    assert [[f.code for f in lint_documents([load_text(t, "f.yaml")]).findings] for t in (two, one)] == [
        ["TOP005"],
        ["TOP006"],
    ]


def test_the_cluster_of_the_guide_to_workloads_is_one_of_an_intent() -> None:
    whole = {
        **load_text(intents()[0], "fabric.yaml").data,
        **load_text(intents("workload.md")[0], "c.yaml").data,
    }
    report = lint_documents([load_text(json.dumps(whole), "fabric.yaml")])
    assert (report.findings, report.errors) == ((), ())


def test_all_parts_were_tried() -> None:
    assert [len(intents(guide)) for guide in ("topology.md", "workload.md")] == [11, 1]
