"""``lossless diff`` of a folder: every switch with its own drift, in total, and a patch for each that takes one."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from lossless.api import diff, diff_fabric, render
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
INTENT = str(EXAMPLE / "fabric.yaml")
Data = dict[str, Any]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Data]:
    folder = tmp_path_factory.mktemp("rendered")
    render(EXAMPLE, folder, base_dir=EXAMPLE / "base")
    return {
        file.parent.name: json.loads(file.read_text()) for file in sorted(folder.glob("*/config_db.json"))
    }


@pytest.fixture(autouse=True)
def _wide(wide: Cli) -> None:
    """Compare whole lines."""


@pytest.fixture
def fabric(rendered: dict[str, Data]) -> dict[str, Data]:
    return copy.deepcopy(rendered)


def write(fabric: dict[str, Data]) -> str:
    for device, data in fabric.items():
        Path("configs", device).mkdir(parents=True)
        Path("configs", device, "config_db.json").write_text(json.dumps(data, indent=4))
    return "configs"


def lossy(data: Data) -> None:
    data["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"


def test_a_fabric_that_runs_its_intent_has_no_drift(cli: Cli, fabric: dict[str, Data]) -> None:
    outcome = cli("diff", write(fabric), INTENT)
    assert outcome == (0, "", f"4 of 4 switches compared; 4 configured as {INTENT} declares\n")


def test_switches_with_the_same_drift_are_told_together(cli: Cli, fabric: dict[str, Data]) -> None:
    lossy(fabric["leaf2"])
    lossy(fabric["leaf1"])
    fabric["spine1"]["BUFFER_PROFILE"]["pg_lossless_800000_40m_profile"]["dynamic_th"] = "3"
    del fabric["spine2"]
    outcome = cli("diff", write(fabric), INTENT)
    assert outcome.out.splitlines() == [
        "leaf1, leaf2 (2 switches):",
        "  DSCP_TO_TC_MAP|AZURE: DSCP 26 goes to TC 0; the intent says TC 3",
        "spine1:",
        "  BUFFER_PROFILE|pg_lossless_800000_40m_profile: dynamic_th (exponent of alpha) is 3 (alpha 8); "
        "the intent says 0 (alpha 1)",
    ]
    assert outcome.err.splitlines() == [
        f"3 of 4 switches compared; 3 differ from {INTENT} in 3 rows",
        "no configuration here of spine2",
        "a patch brings 3 of 3 switches there; no port goes down",
    ]
    assert outcome.code == 1


def test_each_switch_differs_as_it_does_alone(
    fabric: dict[str, Data], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lossy(fabric["leaf1"])
    fabric["leaf2"]["QUEUE"]["Ethernet8|7"] = {"scheduler": "scheduler.cnp"}
    folder = write(fabric)
    together = {drift.device: drift for drift in diff_fabric([folder], INTENT).drifts}
    assert together.keys() == fabric.keys()
    for device, drift in together.items():
        alone = diff(f"configs/{device}/config_db.json", INTENT)
        assert drift._replace(report=alone.report) == alone


def test_each_patch_makes_its_switch_what_the_intent_declares(
    cli: Cli, rendered: dict[str, Data], fabric: dict[str, Data]
) -> None:
    lossy(fabric["leaf1"])
    fabric["spine2"]["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1048576"
    outcome = cli("diff", write(fabric), INTENT, "--patch", "patches")
    assert outcome.code == 1
    written = sorted(file.parent.name for file in Path("patches").glob("*/patch.json"))
    assert written == ["leaf1", "spine2"]
    for device in written:
        patch = json.loads(Path("patches", device, "patch.json").read_text())
        assert jsonpatch.apply_patch(fabric[device], patch) == rendered[device]


def test_a_switch_that_no_patch_brings_there_fails_where_patches_are_asked_for(
    cli: Cli, fabric: dict[str, Data]
) -> None:
    lossy(fabric["leaf1"])
    fabric["leaf2"]["WRED_PROFILE"]["AZURE_LOSSLESS"]["weight"] = "1"
    outcome = cli("diff", write(fabric), INTENT, "--patch", "patches")
    assert outcome.code == 2
    assert [file.parent.name for file in Path("patches").glob("*/patch.json")] == ["leaf1"]
    assert "leaf2: reload, not patch; " in outcome.err


def test_what_cannot_be_compared_leaves_the_others_compared(cli: Cli, fabric: dict[str, Data]) -> None:
    lossy(fabric["leaf1"])
    folder = write(fabric)
    Path("configs/config_db9.json").write_text('{"PORT":')
    Path("configs/other.json").write_text(
        '{"DEVICE_METADATA": {"localhost": {"hostname": "leaf9"}}, "PORT": {}}'
    )
    Path("configs/copy.json").write_text(json.dumps(fabric["leaf1"]))
    outcome = cli("diff", folder, INTENT)
    assert (outcome.code, outcome.out.splitlines()[0]) == (2, "leaf1:")
    assert outcome.err.splitlines()[-3:] == [
        "configs/config_db9.json:1:9: the file ends too early; is it cut off?",
        "configs/leaf1/config_db.json: is the file of 'leaf1', and so is configs/copy.json; keep the one that runs",
        "configs/other.json: is the file of 'leaf9', and the intent has no such switch; did you mean leaf2? "
        "(others: leaf1, spine1, spine2)",
    ]


def test_json_has_every_switch_and_the_total(cli: Cli, fabric: dict[str, Data]) -> None:
    lossy(fabric["leaf1"])
    fabric["leaf2"]["QUEUE"]["Ethernet8|7"] = {"scheduler": "scheduler.cnp"}
    del fabric["spine2"]
    data = json.loads(cli("diff", write(fabric), INTENT, "--format", "json").out)
    assert [(device["device"], len(device["drift"])) for device in data["devices"]] == [
        ("leaf1", 1),
        ("leaf2", 1),
        ("spine1", 0),
    ]
    assert (data["missing"], data["errors"]) == (["spine2"], [])
    total = {"compared": 3, "drifted": 2, "rows": 2, "patch": 2, "reload": 0, "refused": 0}
    assert data["total"] == total | {"ports_down": 1, "missing": 1, "errors": 0}


@pytest.mark.parametrize("words", [("--device", "leaf1"), ("--format", "patch")])
def test_what_is_for_one_switch_is_refused_for_several(
    cli: Cli, fabric: dict[str, Data], words: tuple[str, str]
) -> None:
    outcome = cli("diff", write(fabric), INTENT, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{' '.join(words[: 1 if words[0] == '--device' else 2])} " in outcome.err


def test_nothing_to_compare_is_not_a_fabric_without_drift(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("diff", str(tmp_path), INTENT)
    assert outcome.code == 2


def test_parts_of_configurations_are_found_by_their_folders(cli: Cli) -> None:
    render(EXAMPLE, "out")
    part = json.loads(Path("out/leaf1/qos.json").read_text())
    lossy(part)
    Path("out/leaf1/qos.json").write_text(json.dumps(part))
    outcome = cli("diff", "out", INTENT)
    assert outcome.out.splitlines() == [
        "leaf1:",
        "  DSCP_TO_TC_MAP|AZURE: DSCP 26 goes to TC 0; the intent says TC 3",
    ]
    assert "out/leaf1/qos.json: has no table PORT: it is part of a configuration" in outcome.err
    assert outcome.code == 2


@pytest.mark.parametrize("named", ["configs", "configs/leaf1/config_db.json"])
def test_what_needs_a_reload_is_rendered_onto_the_files_that_were_compared(
    cli: Cli, rendered: dict[str, Data], fabric: dict[str, Data], named: str
) -> None:
    fabric["leaf1"]["WRED_PROFILE"]["AZURE_LOSSLESS"]["weight"] = "1"
    write(fabric)
    hint = cli("diff", named, INTENT).hint
    assert hint == f"lossless render {INTENT} --base configs -o rendered  # writes what the intent declares"
    assert cli(*hint.partition("  #")[0].split()[1:]).code == 0
    assert json.loads(Path("rendered/leaf1/config_db.json").read_text()) == rendered["leaf1"]


def test_nothing_comes_next_where_nothing_was_compared(cli: Cli, tmp_path: Path) -> None:
    assert cli("diff", str(tmp_path), INTENT).hint == ""
