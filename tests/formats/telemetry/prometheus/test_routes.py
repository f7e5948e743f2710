"""Routes of Alertmanager: amtool takes them, severities find their receivers, and explanations name real alerts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.formats.telemetry.prometheus.rendered import read, rules, run, written
from tests.formats.telemetry.subjects import example, subnet

if TYPE_CHECKING:
    from pathlib import Path

FILE = "../alertmanager/alertmanager.yml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path, example("roce-256"))


@pytest.mark.tools("prometheus")
def test_amtool_takes_the_configuration(folder: Path) -> None:
    assert run(folder, "amtool", "check-config", FILE)[0] == 0


@pytest.mark.tools("prometheus")
def test_amtool_takes_that_of_a_subnet(tmp_path: Path) -> None:
    assert run(written(tmp_path, subnet()), "amtool", "check-config", FILE)[0] == 0


@pytest.mark.tools("prometheus")
@pytest.mark.parametrize("severity", ["critical", "warning", "info"])
def test_a_severity_goes_to_its_receiver(folder: Path, severity: str) -> None:
    code, said = run(
        folder, "amtool", "config", "routes", "test", f"--config.file={FILE}", f"severity={severity}"
    )
    assert (code, said.splitlines()[0]) == (0, f"lossless-{severity}")


def test_what_explains_and_what_is_explained_are_alerts(folder: Path) -> None:
    names = {rule["alert"] for rule in rules(folder)}
    config = read((folder / FILE).read_text(encoding="utf-8"))
    for rule in config["inhibit_rules"]:
        matchers = (*rule["source_matchers"], *rule["target_matchers"])
        named = {name for text in matchers for name in re.findall(r"Lossless\w+", text)}
        assert named <= names


def test_nothing_explains_itself_and_no_two_explain_each_other(folder: Path) -> None:
    config = read((folder / FILE).read_text(encoding="utf-8"))
    pairs = {
        (source, target)
        for rule in config["inhibit_rules"]
        for source in re.findall(r"Lossless\w+", rule["source_matchers"][0])
        for target in re.findall(r"Lossless\w+", rule["target_matchers"][0])
    }
    # A storm at a host explains storms between switches, which other labels tell apart.
    pairs.remove(("LosslessPauseStorm", "LosslessPauseStorm"))
    assert not {(target, source) for source, target in pairs} & pairs
    assert not {pair for pair in pairs if pair[0] == pair[1]}


def test_a_switch_that_is_down_is_told_once_and_what_follows_from_it_is_not(folder: Path) -> None:
    config = read((folder / FILE).read_text(encoding="utf-8"))
    (same, anywhere) = (
        rule
        for rule in config["inhibit_rules"]
        if rule["source_matchers"] == ['alertname="LosslessSwitchDown"']
    )
    assert (same["equal"], same["target_matchers"]) == (
        ["fabric", "switch"],
        ['alertname=~"LosslessSwitchScrapeFailed"'],
    )
    assert anywhere["equal"] == ["fabric"]
    assert set(re.findall(r"Lossless\w+", anywhere["target_matchers"][0])) >= {
        "LosslessHostAckTimeouts",
        "LosslessHostRetransmits",
    }
    severities = {rule["alert"]: rule["labels"]["severity"] for rule in rules(folder)}
    assert severities["LosslessSwitchDown"] == "critical"


def test_receivers_hold_nothing(folder: Path) -> None:
    config = read((folder / FILE).read_text(encoding="utf-8"))
    assert [set(receiver) for receiver in config["receivers"]] == [{"name"}] * 3
