"""What is in the wheel: the files of the checkout that belong to the program, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import pytest

from lossless import __version__
from lossless.ground.basics import files
from tests.interfaces.cli.repositories import git
from tools.wheel_contents import contents

ROOT = Path(__file__).parent.parent.parent
DATA = {f"lossless/_data/{name}/": f"{name}/" for name in ("templates", "profiles", "examples")}
COMMIT = "lossless/_data/COMMIT"
MADE = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built by the locked backend without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), str(ROOT)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def in_checkout(name: str) -> str:
    """Return the name that a file of the wheel has in the checkout."""
    for installed, ours in DATA.items():
        if name.startswith(installed):
            return ours + name.removeprefix(installed)
    return name


def test_it_holds_the_kinds_of_files_that_are_listed(wheel: Path) -> None:
    listed = (ROOT / "tests" / "packaging" / "wheel.txt").read_text(encoding="utf-8")
    assert contents(wheel) == listed, "python tools/wheel_contents.py WHEEL -o tests/packaging/wheel.txt"


def test_each_file_is_that_of_the_checkout_and_none_is_missing(wheel: Path) -> None:
    tracked = set(git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines())
    with ZipFile(wheel) as held:
        made = {name.partition(".dist-info/")[2] for name in held.namelist() if ".dist-info/" in name}
        names = {in_checkout(name): name for name in held.namelist() if ".dist-info/" not in name}
        assert made == MADE
        assert names.pop(COMMIT) == COMMIT
        assert names.keys() - tracked == set()
        assert [name for name in names if (ROOT / name).read_bytes() != held.read(names[name])] == []
    wanted = {
        name for name in tracked if name.startswith(("lossless/", *DATA.values())) and (ROOT / name).exists()
    }
    assert wanted - names.keys() == set()


def test_it_has_the_commit_that_it_was_built_from(wheel: Path) -> None:
    with ZipFile(wheel) as held:
        commit = held.read(COMMIT).decode().strip()
    changed = git(ROOT, "status", "--porcelain", "--untracked-files=no")
    assert commit == git(ROOT, "rev-parse", "HEAD")[:12] + (".dirty" if changed else "")


def test_a_source_tree_without_git_has_the_commit_of_its_archive(tmp_path: Path) -> None:
    hook = run_path(str(ROOT / "hatch_build.py"))
    commit_of, full = hook["commit_of"], "1f1ab457" * 5
    assert commit_of(tmp_path) == ""
    assert commit_of(tmp_path, archived=full) == full[:12]
    (tmp_path / "COMMIT").write_text("0123456789ab.dirty\n")
    assert commit_of(tmp_path, archived=full) == "0123456789ab.dirty"


@pytest.mark.parametrize("packed", [False, True])
def test_the_version_of_a_checkout_has_its_commit(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PACKAGE", str(tmp_path / "lossless"))
    assert files.build_version() == __version__
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    if packed:
        git(tmp_path, "pack-refs", "--all")
    commit = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert files.build_version() == f"{__version__}+g{commit}.checkout"
    git(tmp_path, "checkout", "-q", "--detach")
    assert files.build_version() == f"{__version__}+g{commit}.checkout"
    (tmp_path / "lossless" / "_data").mkdir(parents=True)
    (tmp_path / "lossless" / "_data" / "COMMIT").write_text("0123456789ab\n")
    assert files.build_version() == f"{__version__}+g0123456789ab"


def test_nothing_in_it_runs_on_installation(wheel: Path) -> None:
    with ZipFile(wheel) as held:
        names = held.namelist()
    assert [
        name for name in names if name.endswith((".pth", ".so", ".pyc", ".dll")) or ".data/" in name
    ] == []
