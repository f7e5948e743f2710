"""``lossless lint --fix`` and ``--diff``, as a person calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF

PCP = f"{INTENT}hosts: {{trust: pcp}}  # as the old fabric had it\n"
BLIND = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')


def test_a_diff_shows_what_would_change_and_writes_nothing(cli: Cli) -> None:
    Path("fabric.yaml").write_text(PCP)
    outcome = cli("lint", "--diff", "--unsafe-fixes", "fabric.yaml")
    assert outcome.code == 1
    assert [line for line in outcome.out.splitlines() if line[:1] in "-+"] == snapshot(
        [
            "--- fabric.yaml",
            "+++ fabric.yaml (fixed)",
            "-hosts: {trust: pcp}  # as the old fabric had it",
            "+hosts: {}  # as the old fabric had it",
        ]
    )
    assert outcome.err == "would fix 1 finding in 1 file\n"
    assert Path("fabric.yaml").read_text() == PCP


def test_a_fix_writes_and_says_what_is_left(cli: Cli) -> None:
    Path("fabric.yaml").write_text(PCP)
    outcome = cli("lint", "--fix", "--unsafe-fixes", "fabric.yaml")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.splitlines()[:2] == ["wrote fabric.yaml", "fixed 1 finding in 1 file"]
    assert Path("fabric.yaml").read_text() == PCP.replace("{trust: pcp}", "{}")


def test_what_changes_a_device_waits_for_unsafe_fixes(cli: Cli) -> None:
    Path("fabric.yaml").write_text(PCP)
    outcome = cli("lint", "--fix", "fabric.yaml")
    assert outcome.code == 1
    assert "NIC009" in outcome.out
    assert outcome.err.startswith("fixed 0 findings in 0 files\n")
    assert Path("fabric.yaml").read_text() == PCP


def test_every_row_is_fixed_and_the_rest_stays(cli: Cli) -> None:
    assert BLIND != LEAF
    Path("config_db.json").write_text(BLIND)
    assert cli("lint", "--fix", "--unsafe-fixes", "config_db.json").code == 0
    assert Path("config_db.json").read_text() == LEAF


def test_nothing_to_fix_is_a_clean_diff(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("lint", "--diff", "fabric.yaml")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "would fix 0 findings in 0 files\n")


def test_what_would_draw_another_finding_is_named(cli: Cli) -> None:
    alerting = INTENT.replace("action: drop", "action: alert") + "hosts: {job_timeout: 1s}\n"
    Path("fabric.yaml").write_text(alerting)
    outcome = cli("lint", "--fix", "--unsafe-fixes", "fabric.yaml")
    assert "not fixed: WD011 at pfc.watchdog.action of fabric.yaml: that would cause WD009\n" in outcome.err
    assert Path("fabric.yaml").read_text() == alerting


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_fixed(cli: Cli) -> None:
    Path("fabric.yaml").write_text(PCP)
    Path("config_db.json").write_text("{")
    outcome = cli("lint", "--fix", "--unsafe-fixes", ".")
    assert outcome.code == 2
    assert "config_db.json" in outcome.err
    assert Path("fabric.yaml").read_text() != PCP


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--unsafe-fixes",), "--unsafe-fixes goes with --fix or --diff"),
        (("--fix", "--diff"), "--diff shows what --fix would change; give one of them"),
        (("--diff", "--format", "json"), "--diff prints a change and reports no findings"),
        (("--diff", "--statistics"), "--diff prints a change and reports no findings"),
        (("--diff", "--output", "sarif=lint.sarif"), "--diff prints a change and reports no findings"),
        (("--fix", "-", "--stdin-filename", "x.yaml"), "standard input is no file to fix"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(cli: Cli, options: tuple[str, ...], said: str) -> None:
    outcome = cli("lint", *options)
    assert outcome.code == 2
    assert said in outcome.err
