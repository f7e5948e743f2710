"""The hooks of .pre-commit-hooks.yaml under the real pre-commit, in repositories that install this checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lossless.api import render
from tests.integrations.conftest import ROOT
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with
from tests.interfaces.cli.repositories import git, repository, write
from tests.packaging.test_locks import HOOKS, bare

# One installation serves all of them: with xdist they run in one process.
pytestmark = [pytest.mark.xdist_group("pre-commit"), pytest.mark.tools("installing")]

THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
DEAF = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')
FINDING = "fabric.yaml:19:5: TOP001 oversubscription-undeclared: leaf uplinks carry 1.6 Tb/s"
"""What both linting hooks say of `THIN`."""
CONFIG = """\
repos:
- repo: {checkout}
  rev: {revision}
  hooks:
  - id: lossless-lint{kind}
  - id: lossless-lint-fabric{kind}
  - id: lossless-render-check{kind}
    args: [fabric.yaml, -o, rendered]
"""
OFFLINE = ("unshare", "--map-root-user", "--net")
"""Runs a command without any network: its only interface is a loopback that is down."""

Commit = Callable[..., subprocess.CompletedProcess[str]]


def config(checkout: Path, kind: str = "") -> dict[str, str]:
    """Return the file that names the hooks of a checkout, those of a kind by the end of their names."""
    revision = git(checkout, "rev-parse", "HEAD")
    return {".pre-commit-config.yaml": CONFIG.format(checkout=checkout, revision=revision, kind=kind)}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def committing(tmp_path: Path, checkout: Path, installing: Mapping[str, str], home: Path) -> Commit:
    """A repository in which ``git commit`` runs the hooks; returns what that says.

    They are those that install at their first run, which ``installing`` does without an index; all others run the same.
    """
    repository(tmp_path, config(checkout, "-locked"))
    given = {**installing, "PRE_COMMIT_HOME": str(home)}
    commands = [sys.executable, "-m", "pre_commit", "install"]
    # pre-commit itself needs no path: it runs where it is installed.
    own = {name: value for name, value in given.items() if name != "PYTHONPATH"}
    subprocess.run(commands, cwd=tmp_path, env=own, check=True, capture_output=True)

    def run(*skipped: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "commit", "--message=x"],
            cwd=tmp_path,
            env=given | {"SKIP": ",".join(f"{name}-locked" for name in skipped)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def passed(said: str) -> list[str]:
    """Return the hooks that passed, by their names."""
    return [line.partition("..")[0] for line in said.splitlines() if line.endswith("Passed")]


def test_a_clean_repository_is_committed(committing: Commit, tmp_path: Path, home: Path) -> None:
    write(tmp_path, {"fabric.yaml": INTENT, "mkdocs.yaml": "site: x\n", "package.json": "{}\n"})
    render(tmp_path / "fabric.yaml", tmp_path / "rendered")
    git(tmp_path, "add", "--all")
    done = committing()
    assert done.returncode == 0, done.stderr
    assert len(passed(done.stderr)) == 3
    # It is the installed package that said so.
    assert len([*home.glob("repo*/.installed/bin/lossless")]) == 1
    assert len([*home.glob("repo*/.installed-*")]) == 1


def test_a_bad_one_is_refused_with_the_finding(committing: Commit, tmp_path: Path) -> None:
    write(tmp_path, {"fabric.yaml": THIN})
    git(tmp_path, "add", "fabric.yaml")
    done = committing("lossless-render-check")
    assert done.returncode == 1
    assert done.stderr.count(FINDING) == 2


def test_installed_hooks_have_exact_versions_and_find_something_without_a_network(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, checkout: Path, installing: Mapping[str, str]
) -> None:
    """pip asks the index that it has for the packages, as for the lowest versions (tests/packaging)."""
    home = tmp_path_factory.mktemp("installed")
    without_index = (
        "PYTHONPATH",
        "PIP_NO_DEPS",
        "PIP_NO_INDEX",
        "PIP_NO_BUILD_ISOLATION",
        "PIP_NO_CACHE_DIR",
    )
    given = {name: value for name, value in installing.items() if name not in without_index}
    given |= {"PRE_COMMIT_HOME": str(home), "SKIP": "lossless-render-check"}
    repository(tmp_path, config(checkout) | {"fabric.yaml": THIN})

    def pre_commit(*words: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        command = [*before, sys.executable, "-m", "pre_commit", *words]
        return subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False)

    done = pre_commit("install-hooks")
    assert done.returncode == 0, done.stdout + done.stderr
    (packages,) = home.glob("repo*/py_env-*/lib/python*/site-packages")
    found = {bare(each.name): each.version for each in distributions(path=[str(packages)])}
    stated = [Requirement(text) for text in HOOKS[0]["additional_dependencies"]]
    pinned = {each.name: each.specifier for each in stated if each.marker is None or each.marker.evaluate()}
    assert found.keys() - {"pip", "setuptools", "wheel"} == pinned.keys() | {"lossless"}
    assert all(pinned[name].contains(found[name]) for name in pinned)

    done = pre_commit("run", "--all-files", before=OFFLINE)
    assert (done.returncode, done.stdout.count(FINDING)) == (1, 2), done.stdout + done.stderr


def test_files_are_checked_by_themselves_and_the_fabric_as_a_whole(
    committing: Commit, tmp_path: Path
) -> None:
    write(tmp_path, {"fabric.yaml": INTENT})
    write(tmp_path, {"leaf1.json": LEAF.replace('"admin_status": "up"', '"admin_status": "down"', 1)})
    write(tmp_path, {"lossless.toml": 'fail-on = "info"\n'})
    git(tmp_path, "add", "--all")
    done = committing("lossless-render-check")
    assert passed(done.stderr) == ["lossless lint, file by file"]
    assert "CFG004 drift-from-intent" in done.stderr


def test_a_partial_commit_is_checked_as_it_would_be_committed(committing: Commit, tmp_path: Path) -> None:
    write(tmp_path, {"leaf1.json": DEAF})
    git(tmp_path, "add", "leaf1.json")
    write(tmp_path, {"leaf1.json": LEAF})
    done = committing("lossless-render-check")
    assert done.returncode == 1
    assert done.stderr.count("WD002 watchdog-mask-empty") == 2
    assert (tmp_path / "leaf1.json").read_text() == LEAF

    git(tmp_path, "add", "leaf1.json")
    write(tmp_path, {"leaf1.json": DEAF})
    done = committing("lossless-render-check")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "leaf1.json").read_text() == DEAF


def test_a_rendered_file_that_is_deleted_is_noticed(committing: Commit, tmp_path: Path) -> None:
    write(tmp_path, {"fabric.yaml": INTENT})
    render(tmp_path / "fabric.yaml", tmp_path / "rendered")
    git(tmp_path, "add", "--all")
    assert committing().returncode == 0
    git(tmp_path, "rm", "--quiet", "rendered/leaf1/qos.json")
    done = committing()
    assert done.returncode == 1
    assert "\nleaf1/qos.json: missing\n" in done.stderr


def test_a_rendered_file_that_was_edited_is_named(committing: Commit, tmp_path: Path) -> None:
    write(tmp_path, {"fabric.yaml": INTENT})
    render(tmp_path / "fabric.yaml", tmp_path / "rendered")
    script = next((tmp_path / "rendered").glob("*/*.sh"))
    script.write_text(script.read_text() + "# by hand\n")
    git(tmp_path, "add", "--all")
    done = committing()
    assert done.returncode == 1
    assert f"\n{script.relative_to(tmp_path / 'rendered')}: differs\n" in done.stderr
    assert passed(done.stderr) == ["lossless lint, file by file", "lossless lint, the whole fabric"]


def test_hooks_that_are_first_at_once_share_one_installation(
    checkout: Path, installing: Mapping[str, str], tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", str(checkout), "clone with blanks")
    script = tmp_path / "clone with blanks" / "integrations" / "pre-commit" / "lossless"
    command = [str(script), "rule", "PFC001"]
    several = [
        subprocess.Popen(
            command, env=dict(installing), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = {process.communicate() for process in several}
    assert [process.returncode for process in several] == [0, 0], said
    assert len(said) == 1
    assert len([*(tmp_path / "clone with blanks").glob(".installed-*")]) == 1


def test_an_old_python_is_refused_in_words(
    checkout: Path, installing: Mapping[str, str], tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", str(checkout), "clone")
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    script = tmp_path / "clone" / "integrations" / "pre-commit" / "lossless"
    done = subprocess.run(
        [str(script), "lint"],
        env={**installing, "LOSSLESS_PYTHON": str(old)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "lossless needs Python 3.11 or newer; LOSSLESS_PYTHON can name one\n",
    )


def test_the_script_is_sound_shell() -> None:
    script = ROOT / "integrations" / "pre-commit" / "lossless"
    done = subprocess.run(
        [Path(sys.prefix, "bin", "shellcheck"), script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
