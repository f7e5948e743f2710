"""No command runs what a checkout names, whatever git could be made to run by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.hostile_checkouts import PLANTS, Site, run_naively, site

pytestmark = pytest.mark.tools("hostile")

COMMANDS = {
    "lint": ("lint", "."),
    "lint a folder": ("lint", "inner", "bare", "."),
    "lint --per-file": ("lint", "--per-file", "leaf1.json"),
    "lint --since": ("lint", "--since", "HEAD~1", "."),
    "lint --since a fork": ("lint", "--since", "HEAD~1...", "."),
    "lint --since long ago": ("lint", "--since", "HEAD~3", "."),
    "lint --fix": ("lint", "--fix", "--diff", "."),
    "baseline": ("baseline", "."),
    "diff": ("diff", "leaf1.json", "fabric.yaml"),
    "import": ("import", "."),
    "render --check": ("render", "--check", "fabric.yaml", "-o", "."),
}


@pytest.fixture(params=PLANTS)
def planted(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    cli: Cli,  # noqa: ARG001 it begins in a folder of its own, and this is the one that counts
    monkeypatch: pytest.MonkeyPatch,
) -> Site:
    given = site(tmp_path)
    PLANTS[request.param].plant(given)
    given.mark.unlink(missing_ok=True)
    monkeypatch.chdir(given.folder)
    return given


@pytest.mark.parametrize("name", PLANTS)
def test_a_tool_that_trusts_the_checkout_runs_what_is_planted(name: str, tmp_path: Path) -> None:
    given = site(tmp_path)
    PLANTS[name].plant(given)
    given.mark.unlink(missing_ok=True)
    run_naively(given, PLANTS[name].naive)
    assert given.has_run()


def test_no_command_runs_what_is_planted(planted: Site, cli: Cli) -> None:
    for name, words in COMMANDS.items():
        assert cli(*words).code in (0, 1, 2)
        assert not planted.has_run(), name


def test_no_hook_runs_what_is_planted(planted: Site, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(planted.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(planted.folder / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(planted.folder))
    for words in (("lint",), ("lint", "--per-file", "leaf1.json"), ("lint", "--since", "HEAD~1")):
        assert cli(*words).code in (0, 1, 2)
    assert not planted.has_run()
