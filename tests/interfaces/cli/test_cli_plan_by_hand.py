"""``lossless plan`` where people replace a switch or give it another release: what it says, and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless.api import render
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
LATER = (
    (EXAMPLE / "fabric.yaml")
    .read_text(encoding="utf-8")
    .replace("transport: rocev2\n", 'transport: rocev2\nsonic: {release: "202411"}\n')
    .replace("max: 3200 KiB", "max: 3000 KiB")
)
EARLIER = LATER.replace("202411", "202311").replace("max: 3000 KiB", "max: 3200 KiB")
LISTED = (
    LATER[: LATER.index("hardware:")]
    + """\
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  oversubscription: 4
  devices:
    leaf1:  {role: leaf}
    leaf2:  {role: leaf}
    spine1: {role: spine}
    host1:  {role: host}
    host2:  {role: host}
  links:
    - {a: leaf1, b: host1, links: 1 x 400G, cable: 3m}
    - {a: leaf1, b: spine1, links: 2 x 400G, cable: 30m}
    - {a: leaf2, b: host2, links: 1 x 400G, cable: 3m}
    - {a: leaf2, b: spine1, links: 2 x 400G, cable: 30m}
"""
)
SWAPPED = LISTED.replace("leaf2:  {role: leaf}", "leaf2:  {role: leaf, hardware: nvidia-sn4700}")


@pytest.fixture(autouse=True)
def _intents(cli: Cli) -> None:  # noqa: ARG001
    """Put the intents into the folder that ``cli`` runs in."""
    for name, text in (
        ("earlier", EARLIER),
        ("later", LATER),
        ("listed", LISTED),
        ("swapped", SWAPPED),
    ):
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")


def upgraded(device: str, release: str) -> None:
    """Give a switch of the fabric another release: its rows stay."""
    file = Path("running", device, "config_db.json")
    data = json.loads(file.read_text(encoding="utf-8"))
    data["VERSIONS"]["DATABASE"]["VERSION"] = f"version_{release}_02"
    file.write_text(json.dumps(data), encoding="utf-8")


@pytest.fixture
def running(_intents: None) -> Path:
    """Return a folder of what the switches of the earlier intent run."""
    base = Path("base")
    for folder in (EXAMPLE / "base").iterdir():
        file = base / folder.name / "config_db.json"
        file.parent.mkdir(parents=True)
        text = (folder / "config_db.json").read_text(encoding="utf-8")
        file.write_text(text.replace("version_202411_01", "version_202311_01"), encoding="utf-8")
    render("earlier.yaml", "running", base_dir=base)
    return Path("running")


def test_an_upgrade_comes_before_the_rows_and_is_left_to_people(cli: Cli) -> None:
    data = json.loads(cli("plan", "earlier.yaml", "later.yaml", "--format", "json").out)
    batches = [[batch for group in step["switches"] for batch in group["batches"]] for step in data["steps"]]
    assert [{batch["how"] for batch in step} for step in batches] == [{"by hand"}, {"write"}]
    assert {title for batch in batches[0] for title in batch["titles"]} == {"SONiC 202311 becomes 202411"}
    assert all(not batch["operations"] and batch["ports_down"] for batch in batches[0])
    assert [group["at_once"] for group in data["steps"][0]["switches"]] == [1, 1]
    assert any("left to you" in note for note in data["notes"])


def test_a_switch_that_is_older_than_the_target_is_upgraded(cli: Cli, running: Path) -> None:
    data = json.loads(cli("plan", str(running), "later.yaml", "--format", "json").out)
    assert [
        [[batch["how"] for batch in group["batches"]] for group in step["switches"]] for step in data["steps"]
    ] == [[["by hand"], ["by hand"]], [["write"], ["write"]]]


def test_nothing_is_written_that_would_upgrade_a_switch_and_the_playbook_asks_for_it(cli: Cli) -> None:
    assert cli("plan", "earlier.yaml", "later.yaml", "-o", "out").code == 0
    assert sorted(path.name for path in Path("out/step-01").iterdir()) == ["manifest.json", "playbook.yml"]
    playbook = Path("out/step-01/playbook.yml").read_text(encoding="utf-8")
    assert "that: by_hand_done | default(ansible_check_mode) | bool" in playbook
    assert "hosts: localhost" in playbook
    assert "SONiC 202311 becomes 202411; install it" in playbook
    assert Path("out/step-02/leaf/01-write.sh").exists()
    assert ">drain, upgrade or replace<" in Path("out/plan.svg").read_text(encoding="utf-8")


def test_the_release_that_a_switch_runs_says_whether_it_is_upgraded(cli: Cli, running: Path) -> None:
    cli("plan", str(running), "later.yaml", "-o", "out")
    upgraded("leaf1", "202411")
    outcome = cli("lint", "--plan", "out", str(running))
    assert outcome.code == 1
    assert outcome.out.splitlines()[:2] == [
        "leaf2, spine1, spine2: not begun, 0 of 2 batches done",
        "leaf1: step 1 of 2, 1 of 2 batches done",
    ]


def test_a_release_of_neither_side_is_neither_old_nor_new(cli: Cli, running: Path) -> None:
    cli("plan", str(running), "later.yaml", "-o", "out")
    upgraded("leaf1", "202405")
    outcome = cli("lint", "--plan", "out", str(running))
    assert "neither old nor new: VERSIONS|DATABASE" in outcome.out


def test_one_leaf_is_replaced_and_the_others_are_not_touched(cli: Cli) -> None:
    data = json.loads(cli("plan", "listed.yaml", "swapped.yaml", "--format", "json").out)
    (step,) = data["steps"]
    (group,) = step["switches"]
    (batch,) = group["batches"]
    assert data["groups"][group["group"]] == ["leaf2"]
    assert (batch["how"], batch["titles"]) == ("by hand", ["HWSKU ACS-SN5600 becomes ACS-MSN4700"])
    assert batch["before"] == {"DEVICE_METADATA": {"localhost": {"hwsku": "ACS-SN5600"}}}
    assert batch["after"] == {"DEVICE_METADATA": {"localhost": {"hwsku": "ACS-MSN4700"}}}
    assert [len(back) for back in data["rollback"]] == [1]


def test_a_new_switch_that_pauses_another_priority_than_its_spine_is_no_mixed_state(cli: Cli) -> None:
    other = SWAPPED.replace("dscp: 26", "dscp: 24")
    Path("other.yaml").write_text(other, encoding="utf-8")
    data = json.loads(cli("plan", "listed.yaml", "other.yaml", "--format", "json").out)
    assert [step["kind"] for step in data["steps"]] == ["stop", "change", "change", "start"]
    assert any("two plans may do without" in note for note in data["notes"])


def test_the_ports_of_the_old_switch_are_looked_at_by_their_own_names(cli: Cli) -> None:
    """A spine must not change its priority while the old leaf, whose uplinks are called otherwise, has the old one."""
    lone = "\n".join(line for line in LISTED.splitlines() if "leaf2" not in line and "host2" not in line)
    lone = lone.replace("links: 2 x 400G", "links: 1 x 400G")
    named = lone.replace("{a: leaf1, b: spine1", '{a: "leaf1:Ethernet128", b: spine1')
    Path("lone.yaml").write_text(named, encoding="utf-8")
    other = lone.replace("{role: leaf}", "{role: leaf, hardware: nvidia-sn4700}")
    Path("other.yaml").write_text(other.replace("priority: 3", "priority: 4"), encoding="utf-8")
    data = json.loads(cli("plan", "lone.yaml", "other.yaml", "--format", "json").out)
    assert [step["kind"] for step in data["steps"]] == ["stop", "change", "change", "start"]


def test_a_replacement_is_planned_from_an_intent_and_not_from_files(cli: Cli, running: Path) -> None:
    file = running / "leaf2" / "config_db.json"
    file.write_text(file.read_text(encoding="utf-8").replace("ACS-SN5600", "ACS-MSN4700"), encoding="utf-8")
    outcome = cli("plan", str(running), "later.yaml", "-o", "out")
    assert outcome.code == 2
    assert "leaf2 is a ACS-MSN4700, and ACS-SN5600 in the target" in outcome.err
    assert "name the intent in service" in outcome.err.replace("\n  ", " ")
    assert not Path("out").exists()
