"""``lossless simulate``: the verdict, and exit codes that scripts can trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless.cli.simulate import exit_code
from tests.cli.conftest import Cli
from tests.cli.inputs import INTENT, LEAF, leaf_with


def test_a_sound_switch_is_safe(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    outcome = cli("simulate", "config_db.json")
    assert outcome.out.startswith("verdict: safe\n\nverdict  switch  ports  priority  link")
    assert (outcome.code, outcome.err) == (0, "")


def test_a_port_without_watchdog_is_unsafe(cli: Cli) -> None:
    Path("config_db.json").write_text(leaf_with("PFC_WD", "Ethernet8", action=None))
    outcome = cli("simulate", "config_db.json")
    assert outcome.out.startswith("verdict: unsafe\n")
    assert "\nwhy:\n  nothing ends a pause storm: watchdog missing" in outcome.out
    assert outcome.code == 1


def test_json_is_the_verdict_as_plain_data(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("simulate", ".", "--format", "json")
    report = json.loads(outcome.out)
    assert report["version"] == 1
    assert [verdict["overall"] for verdict in report["verdicts"]] == ["safe"]
    assert {"headroom", "watchdog", "reasons"} <= report["verdicts"][0]["lines"][0].keys()


def test_what_cannot_be_read_has_no_verdict(cli: Cli) -> None:
    Path("empty").mkdir()
    assert cli("simulate", "gone.json") == (2, "", "gone.json: no such file\n")
    assert cli("simulate", "empty") == (2, "", "empty: nothing here to simulate\n")


@pytest.mark.parametrize(
    ("overall", "code"),
    [
        (["safe"], 0),
        (["on the edge", "safe"], 0),
        (["safe", "unsafe"], 1),
        (["not judged", "unsafe"], 1),
        (["safe", "not judged"], 2),
    ],
)
def test_exit_codes(overall: list[str], code: int) -> None:
    assert exit_code(overall) == code
