"""``lossless verify``: what a person sees of running devices, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli

STORM = {"Ethernet96:3": {"PFC_WD_STATUS": "stormed"}}
QUIET = {"Ethernet96:3": {"PFC_WD_STATUS": "operational"}}


@pytest.fixture
def leaf(cli: Cli) -> Path:  # noqa: ARG001
    """Return a capture in the folder of a switch, where ``cli`` runs."""
    file = Path("captures/leaf1/queues.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(STORM, indent=1), encoding="utf-8")
    return file


def test_a_finding_points_into_the_capture_and_names_the_device(cli: Cli, leaf: Path) -> None:
    outcome = cli("verify", "captures")
    assert outcome.code == 1
    assert outcome.out.startswith(f"{leaf}:3:")
    assert "leaf1:Ethernet96:3" in outcome.out


def test_a_healthy_capture_is_silent(cli: Cli, leaf: Path) -> None:
    leaf.write_text(json.dumps(QUIET), encoding="utf-8")
    outcome = cli("verify", "captures")
    assert (outcome.code, outcome.out) == (0, "")


def test_findings_are_data_too(cli: Cli, leaf: Path) -> None:  # noqa: ARG001
    data = json.loads(cli("verify", "captures", "--format", "json").out)
    assert [finding["code"] for finding in data["findings"]] == ["STM001"]
    sarif = json.loads(cli("verify", "captures", "--format", "sarif").out)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "STM001"


@pytest.mark.parametrize(("options", "code"), [(("--ignore", "STM"), 0), (("--fail-on", "never"), 0)])
def test_rules_and_the_exit_code_can_be_chosen(
    options: tuple[str, ...],
    code: int,
    cli: Cli,
    leaf: Path,  # noqa: ARG001
) -> None:
    assert cli("verify", "captures", *options).code == code


def test_a_file_that_is_named_and_not_read_is_said_and_the_rest_is_checked(cli: Cli, leaf: Path) -> None:
    Path("letter.txt").write_text("Dear Bob\n", encoding="utf-8")
    outcome = cli("verify", str(leaf), "letter.txt")
    assert outcome.code == 2
    assert "letter.txt: no capture that is read here" in outcome.err
    assert "STM001" in outcome.out


def test_lint_does_not_run_rules_about_running_state(cli: Cli) -> None:
    Path("queues.json").write_text(json.dumps(STORM), encoding="utf-8")
    assert "STM001" not in cli("lint", ".").out


@pytest.mark.parametrize("paths", [("empty",), ("fabric.yaml",), ("captures", "--since", "empty")])
def test_where_nothing_was_captured_that_is_said(paths: tuple[str, ...], cli: Cli, leaf: Path) -> None:
    leaf.write_text(json.dumps(QUIET), encoding="utf-8")
    Path("empty").mkdir()
    Path("fabric.yaml").write_text("lossless: v1\n", encoding="utf-8")
    outcome = cli("verify", *paths)
    assert outcome.code == 2
    assert "no capture of running state here, and so nothing to verify" in outcome.err


@pytest.mark.parametrize(
    ("earlier", "said"),
    [("captures", ", as is 1 more: nothing"), ("captures/leaf1/queues.json", "later one: nothing")],
)
def test_a_capture_is_not_compared_with_itself(earlier: str, said: str, cli: Cli, leaf: Path) -> None:
    leaf.with_name("more.json").write_text(json.dumps(QUIET), encoding="utf-8")
    outcome = cli("verify", "captures", "--since", earlier)
    assert outcome.code == 2
    assert " ".join(outcome.err.split()).count(said) == 1
