"""Files that are excluded: by a configuration and on the command line, with the meaning that ruff gives the words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF

BROKEN = '{"PORT": {"Ethernet0": {'


@pytest.fixture
def site(wide: Cli) -> Cli:
    """A repository with a sound intent and switch, and broken files in two folders."""
    Path(".git").mkdir()
    Path("fabric.yaml").write_text(INTENT)
    for name, text in {
        "configs/leaf1.json": LEAF,
        "fixtures/config_db.json": BROKEN,
        "configs/fixtures/deep/config_db.json": BROKEN,
        "old/config_db.json": BROKEN,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    return wide


def unread(cli: Cli, *arguments: str) -> list[str]:
    """Return the broken files that a run reads."""
    report = json.loads(cli("lint", "--format", "json", *arguments).out)
    return [error["file"] for error in report["errors"]]


DEEP, FIXTURE, OLD = "configs/fixtures/deep/config_db.json", "fixtures/config_db.json", "old/config_db.json"


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], [DEEP, FIXTURE, OLD]),
        (["fixtures"], [OLD]),
        (["fixtures/"], [OLD]),
        (["./fixtures/*.json"], [DEEP, OLD]),
        (["fixtures/*", "old/*.json"], [DEEP]),
        (["configs/*/deep"], [FIXTURE, OLD]),
        (["**/config_db.json"], []),
        (["config_db*"], []),
        (["config_db"], [DEEP, FIXTURE, OLD]),
        (["configs/*.json"], [DEEP, FIXTURE, OLD]),
        (["fixture"], [DEEP, FIXTURE, OLD]),
    ],
)
def test_a_pattern_stands_for_a_file_or_a_folder_with_all_below_it(
    patterns: list[str], left: list[str], site: Cli
) -> None:
    if patterns:
        Path("lossless.toml").write_text(f"exclude = {json.dumps(patterns)}\n")
        assert unread(site, "--no-config") == [DEEP, FIXTURE, OLD]
    assert unread(site) == left
    assert unread(site, "--exclude", ",".join(patterns or ["nothing"])) == left


def test_excluded_files_are_counted_and_no_longer_fail_the_run(site: Cli) -> None:
    assert site("lint").code == 2
    ran = site("lint", "--exclude", "fixtures", "--exclude", "old")
    assert ran.code == 0
    assert "in 2 files (" in ran.err
    assert "; 3 files excluded)" in ran.err
    report = json.loads(site("lint", "--exclude", "fixtures,old", "--format", "json").out)
    assert report["summary"]["excluded"] == 3


def test_what_is_named_is_checked_unless_exclusion_is_forced(site: Cli) -> None:
    Path("lossless.toml").write_text('exclude = ["fixtures", "old"]\n')
    assert unread(site, FIXTURE) == [FIXTURE]
    assert unread(site, "fixtures") == [FIXTURE]
    # Below a folder that is named, patterns hold.
    assert unread(site, "configs") == []
    assert unread(site, "configs/fixtures") == [DEEP]
    assert unread(site, FIXTURE, "--force-exclude") == []
    assert unread(site, "fixtures", "configs/fixtures/deep", "--force-exclude") == []
    assert site("lint", FIXTURE, "--force-exclude").code == 0
    Path("lossless.toml").write_text('exclude = ["fixtures"]\nforce-exclude = true\n')
    assert unread(site, FIXTURE, OLD) == [OLD]
    assert unread(site, FIXTURE, "--no-force-exclude") == [FIXTURE]


def test_the_command_line_replaces_what_is_configured_or_adds_to_it(site: Cli) -> None:
    Path("lossless.toml").write_text('exclude = "fixtures"\n')
    assert unread(site, "--exclude", "old") == [DEEP, FIXTURE]
    assert unread(site, "--extend-exclude", "old") == []


def test_a_folder_is_excluded_by_the_configuration_above_it_whatever_its_own_says(site: Cli) -> None:
    Path("lossless.toml").write_text('exclude = ["fixtures"]\n')
    Path("fixtures/lossless.toml").write_text("exclude = []\n")
    Path("configs/lossless.toml").write_text('ignore = ["WD"]\n')
    assert unread(site) == [DEEP, OLD]


def test_patterns_of_the_command_line_begin_in_the_current_folder(
    site: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("lossless.toml").write_text('exclude = ["old/*.json"]\n')
    monkeypatch.chdir("configs")
    assert unread(site, "..", "--extend-exclude", "fixtures/deep") == ["../fixtures/config_db.json"]
    assert unread(site, "..", "--extend-exclude", "../fixtures") == [
        "../configs/fixtures/deep/config_db.json"
    ]
    absolute = str(tmp_path / "fixtures")
    assert unread(site, "..", "--extend-exclude", absolute) == ["../configs/fixtures/deep/config_db.json"]


def test_fixes_and_baselines_leave_out_the_same_files(site: Cli) -> None:
    Path("lossless.toml").write_text('exclude = ["fixtures", "old"]\n')
    assert site("lint", "--diff").code == 0
    assert "3 files excluded" in site("lint", "--fix").err
    assert site("baseline").code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exclude = 3\n", "exclude: 3 is no text"),
        ("exclude = [3]\n", "exclude: 3 is no text"),
        ("[[fabric]]\npaths = 3\n", "paths: 3 is no text"),
        ("[[fabric]]\n", "paths is missing"),
        ("[fabric]\npaths = 'a'\n", "expected tables, each under [[fabric]]"),
        ('force-exclude = "yes"\n', "force-exclude: 'yes' is neither true nor false"),
    ],
)
def test_what_has_no_meaning_is_refused_at_its_place(text: str, message: str, site: Cli) -> None:
    Path("lossless.toml").write_text(text)
    ran = site("lint")
    assert ran.code == 2
    assert any(line.startswith("lossless.toml:") and message in line for line in ran.err.splitlines())
