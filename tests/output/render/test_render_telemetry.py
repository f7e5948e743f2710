"""What a fabric is watched with, in the rendered tree: whole, listed, compared, and no business of the linter's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless.api import lint, render
from lossless.formats.device_files.hosts import NO_RECEIVERS
from lossless.ground.basics.errors import RenderError
from tests.paths import EXAMPLES

ROCE, INFINIBAND, CLOUD = (EXAMPLES / name for name in ("roce-256", "infiniband-256-ndr", "efa-train"))


def telemetry_in(paths: tuple[str, ...]) -> set[str]:
    return {path.removeprefix("telemetry/") for path in paths if path.startswith("telemetry/")}


def test_telemetry_needs_no_base_and_is_one_folder_of_the_tree(tmp_path: Path) -> None:
    made = render(ROCE, tmp_path, extras=["telemetry"])
    files = telemetry_in(made.files)
    assert {
        "prometheus/prometheus.yml",
        "prometheus/alerts.rules",
        "prometheus/alerts.tests.yml",
        "prometheus/intent.rules",
        "prometheus/recording.rules",
        "prometheus/targets/switches.json",
        "alertmanager/alertmanager.yml",
    } <= files
    assert {path.partition("/")[0] for path in files} == {
        "prometheus",
        "alertmanager",
        "grafana",
        "collection",
    }
    assert NO_RECEIVERS in made.notes
    switches = json.loads((tmp_path / "telemetry/prometheus/targets/switches.json").read_text())
    assert [row["labels"]["switch"] for row in switches] == ["leaf1", "leaf2", "spine1", "spine2"]


def test_a_second_render_changes_nothing_and_one_without_telemetry_takes_it_away(tmp_path: Path) -> None:
    render(ROCE, tmp_path, extras=["telemetry"])
    assert render(ROCE, tmp_path, extras=["telemetry"], check=True).changed == ()
    assert telemetry_in(render(ROCE, tmp_path, check=True).changed)
    render(ROCE, tmp_path)
    assert not list(tmp_path.glob("telemetry/prometheus/*.rules"))


def test_a_difference_shows_which_threshold_moves(tmp_path: Path) -> None:
    intent = tmp_path / "fabric.yaml"
    text = (ROCE / "fabric.yaml").read_text()
    intent.write_text(text)
    render(intent, tmp_path / "out", extras=["telemetry"])
    intent.write_text(text.replace("max: 3200 KiB", "max: 1600 KiB"))
    differences = "\n".join(render(intent, tmp_path / "out", extras=["telemetry"], diff=True).differences)
    assert '-        expr: "vector(3276800)"\n+        expr: "vector(1638400)"' in differences


def test_the_manifest_says_that_no_device_is_touched(tmp_path: Path) -> None:
    render(ROCE, tmp_path, extras=["telemetry"])
    rows = {row["path"]: row for row in json.loads((tmp_path / "manifest.json").read_text())["files"]}
    rules = rows["telemetry/prometheus/alerts.rules"]
    assert (rules["target"], rules["hitless"]) == ("/etc/prometheus/alerts.rules", True)
    assert rules["apply"][0] == "promtool check config /etc/prometheus/prometheus.yml"
    targets = rows["telemetry/prometheus/targets/hosts.json"]["target"]
    assert targets == "/etc/prometheus/targets/hosts.json"


@pytest.mark.parametrize("intent", [ROCE, INFINIBAND])
def test_the_linter_says_of_a_tree_what_it_says_without_telemetry(intent: Path, tmp_path: Path) -> None:
    render(intent, tmp_path / "with", extras=["telemetry"])
    render(intent, tmp_path / "without")
    codes = [[finding.code for finding in lint([tmp_path / name]).findings] for name in ("with", "without")]
    assert codes[0] == codes[1]


def test_a_subnet_gets_rules_and_jobs_of_its_own(tmp_path: Path) -> None:
    made = render(INFINIBAND, tmp_path, extras=["telemetry"])
    assert {"prometheus/alerts.rules", "alertmanager/alertmanager.yml"} <= telemetry_in(made.files)
    assert "LosslessIbLinkFlaps" in (tmp_path / "telemetry/prometheus/alerts.rules").read_text()


def test_a_fabric_that_a_cloud_runs_has_nothing_to_watch_and_that_is_said(tmp_path: Path) -> None:
    made = render(CLOUD, tmp_path, extras=["telemetry"])
    assert telemetry_in(made.files) == set()
    assert any("no telemetry" in note for note in made.notes)


def test_what_is_made_of_a_base_still_needs_one_beside_telemetry(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="patch: made from the file that a switch runs"):
        render(ROCE, tmp_path, extras=["telemetry", "patch"])
