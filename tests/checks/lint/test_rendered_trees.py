"""A tree that was rendered: its devices have their names, and what its intent accepts is accepted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import lint, render
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

EXAMPLE = ROOT / "examples" / "roce-256" / "fabric.yaml"
STATED = "probability: 20%}}"
ACCEPTED = "probability: 0%}}   # lossless: ignore[ECN003] -- a trial"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an intent that accepts a finding, and what is rendered of it."""
    folder = tmp_path_factory.mktemp("tree")
    text = EXAMPLE.read_text()
    assert STATED in text
    (folder / "fabric.yaml").write_text(text.replace(STATED, ACCEPTED, 1))
    render(folder / "fabric.yaml", folder / "out")
    return folder


def grave(report: Report) -> list[tuple[str, str]]:
    """Return findings that are more than information, each with the switch that it is about."""
    return [
        (finding.code, finding.elements[0].partition(":")[0])
        for finding in report.findings
        if finding.severity != "info"
    ]


def test_what_the_intent_accepts_is_accepted_in_what_is_rendered_of_it(tree: Path) -> None:
    report = lint([tree / "fabric.yaml", tree / "out"])
    assert (grave(report), report.suppressed) == ([], 5)


def test_a_switch_that_drifts_from_it_is_not_what_was_accepted(tree: Path) -> None:
    file = tree / "out" / "leaf2" / "qos.json"
    rendered = file.read_text()
    file.write_text(rendered.replace('"green_min_threshold": "819200"', '"green_min_threshold": "900000"'))
    try:
        assert ("ECN003", "leaf2") in grave(lint([tree / "fabric.yaml", tree / "out"]))
    finally:
        file.write_text(rendered)


def test_without_the_intent_nothing_is_accepted_and_switches_have_the_names_of_their_folders(
    tree: Path,
) -> None:
    switches = ["leaf1", "leaf2", "spine1", "spine2"]
    assert sorted(grave(lint([tree / "out"]))) == [("ECN003", switch) for switch in switches]


def test_a_partial_file_elsewhere_has_the_name_of_its_file(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "qos.json").write_text((tree / "out" / "leaf1" / "qos.json").read_text())
    ((_, name),) = grave(lint([folder]))
    assert name.endswith("qos.json")
