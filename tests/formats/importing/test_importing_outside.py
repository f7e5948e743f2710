"""Far ends for which no file was given: switches are outside, hosts are hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.api import import_configs, lint, render
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deployed")
    render(EXAMPLE, folder, base_dir=EXAMPLE / "base")
    return folder


@pytest.mark.parametrize("names", [("leaf1", "leaf2"), ("leaf1",), ("spine1", "spine2")])
def test_some_switches_of_a_fabric_are_an_intent_without_errors_that_loses_nothing(
    deployed: Path, tmp_path: Path, names: tuple[str, ...]
) -> None:
    found = import_configs([deployed / name / "config_db.json" for name in names])
    (tmp_path / "fabric.yaml").write_text(found.text)
    assert [f.message for f in lint([tmp_path / "fabric.yaml"]).findings if f.severity == "error"] == []
    render(tmp_path / "fabric.yaml", tmp_path / "again", base_dir=deployed)
    for name in names:
        again = (tmp_path / "again" / name / "config_db.json").read_text()
        assert again == (deployed / name / "config_db.json").read_text()


def test_a_switch_is_told_from_a_host_by_the_name_of_its_port(deployed: Path) -> None:
    text = import_configs([deployed / "leaf1" / "config_db.json"]).text
    assert "    spine1: {role: spine, outside: true}\n" in text
    assert "    host1: {role: host}\n" in text
