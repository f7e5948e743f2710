"""How git is asked: few times, by the user's settings, about the checkout that a folder lies in and no other."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lossless.api import lint, lint_since
from lossless.formats.inputs.git import git as asked, known_to_git
from lossless.formats.inputs.revision import blobs_at, revision_of, texts_of
from lossless.ground.basics.errors import LosslessError
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with
from tests.interfaces.cli.repositories import commit, git, repository, write

THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
STRANGE = ["a\nb.json", "\x1b[31m.json", "-o.json", ":(glob)*.json", "\udcff.json", "a\tb.json", "*.json"]


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git that comes first on PATH, counts its calls in a file, and does what the real one does."""
    real, folder = shutil.which("git"), tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(
        f'#!/bin/sh\necho x >> {tmp_path}/calls\n. {tmp_path}/more\nexec {real} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    (tmp_path / "more").touch()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return tmp_path


def calls(shim: Path) -> int:
    count = len((shim / "calls").read_text().splitlines())
    (shim / "calls").write_text("")
    return count


def test_git_is_started_as_often_for_two_hundred_files_as_for_one(shim: Path) -> None:
    counted = []
    for number in (1, 200):
        folder = shim / str(number)
        repository(folder, {f"leaf{one}.json": LEAF for one in range(number)})
        write(folder, {"leaf0.json": LEAF + "\n"})
        calls(shim)
        lint_since("HEAD", [folder])
        counted.append(calls(shim))
        lint([folder])
        counted.append(calls(shim))
    assert counted == [7, 2, 7, 2]


def test_names_are_data(tmp_path: Path) -> None:
    repository(tmp_path, dict.fromkeys(STRANGE, LEAF))
    write(tmp_path, {f"new-{name}": LEAF for name in STRANGE})
    expected = sorted(f"{tmp_path}/{name}" for one in STRANGE for name in (one, f"new-{one}"))
    assert known_to_git(str(tmp_path)) == expected
    revision = revision_of("HEAD", [str(tmp_path)])
    texts = texts_of(revision, blobs_at(revision, [str(tmp_path)]))
    assert texts == {f"{tmp_path}/{name}": LEAF.encode() for name in STRANGE}


@pytest.mark.parametrize("name", ["--help", "-x", "--output=stolen", "HEAD\0", "HEAD:fabric.yaml", "", " "])
def test_what_is_no_revision_is_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LosslessError):
        lint_since(name, ["fabric.yaml"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "fabric.yaml"]


def test_a_checkout_of_somebody_else_is_searched_unless_the_user_calls_it_safe(
    shim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(
        shim / "checkout", {".gitignore": "out/\n", "fabric.yaml": INTENT, "out/x.json": LEAF}
    )
    # What git itself is tested by: every file belongs to somebody else.
    (shim / "more").write_text("GIT_TEST_ASSUME_DIFFERENT_OWNER=1\nexport GIT_TEST_ASSUME_DIFFERENT_OWNER\n")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(shim / "own"))
    (shim / "own").touch()
    assert known_to_git(str(folder)) is None
    with pytest.raises(
        LosslessError, match="--since compares with a revision of git: detected dubious ownership"
    ):
        lint_since("HEAD", [folder])

    (shim / "own").write_text(f"[safe]\n\tdirectory = {folder}\n")
    assert known_to_git(str(folder)) == [f"{folder}/{name}" for name in (".gitignore", "fabric.yaml")]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert known_to_git(str(folder)) is None
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    assert known_to_git(str(folder)) == [f"{folder}/{name}" for name in (".gitignore", "fabric.yaml")]


def test_what_the_user_ignores_everywhere_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "checkout", {"fabric.yaml": INTENT})
    write(folder, {"mine.yaml": INTENT})
    write(tmp_path, {"home/.config/git/ignore": "mine.yaml\n"})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    assert known_to_git(str(folder)) == [f"{folder}/fabric.yaml"]


def test_a_configured_work_tree_is_not_looked_at(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/stranger.json": LEAF})
    folder = repository(tmp_path / "checkout", {"fabric.yaml": INTENT})
    git(folder, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert known_to_git(str(folder)) == [f"{folder}/fabric.yaml"]
    assert revision_of("HEAD", [str(folder)]).root == str(folder.resolve())


def test_a_linked_work_tree_and_a_submodule_are_read_as_such(tmp_path: Path) -> None:
    main = repository(tmp_path / "main", {"fabric.yaml": INTENT})
    git(main, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"))
    commit(tmp_path / "linked", {"leaf1.json": LEAF})
    assert known_to_git(str(tmp_path / "linked")) == [
        f"{tmp_path}/linked/{n}" for n in ("fabric.yaml", "leaf1.json")
    ]
    assert len(blobs_at(revision_of("HEAD", [str(tmp_path / "linked")]), [str(tmp_path / "linked")])) == 2

    outer = repository(tmp_path / "outer", {"outer.yaml": INTENT})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "inner")
    names = (".gitmodules", "inner/fabric.yaml", "outer.yaml")
    assert known_to_git(str(outer)) == [f"{outer}/{name}" for name in names]
    assert known_to_git(str(outer / "inner")) == [f"{outer}/inner/fabric.yaml"]


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_was_renamed_in_the_index_is_the_same_file(tmp_path: Path, edited: bool) -> None:
    repository(tmp_path, {"old.yaml": THIN})
    git(tmp_path, "mv", "old.yaml", "new.yaml")
    if edited:
        write(tmp_path, {"new.yaml": THIN + "# one line more\n"})
        git(tmp_path, "add", "new.yaml")
    change = lint_since("HEAD", [tmp_path]).change
    assert change is not None
    assert [left.finding.code for left in change.left] == ["TOP001"]


def test_a_partial_clone_is_read_where_it_has_the_files_and_never_fetches(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", {"fabric.yaml": THIN, "picture": "x" * 10_000})
    git(origin, "config", "uploadpack.allowFilter", "true")
    commit(origin, {"fabric.yaml": INTENT})
    git(origin, "mv", "picture", "drawing")
    commit(origin, {"drawing": "x" * 10_001})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--no-local", "--filter=blob:none", origin.as_uri(), "clone")
    # Of pictures only the newest is here: which file was renamed cannot be told, and that is all.
    assert lint_since("HEAD~1", [clone]).findings == ()
    with pytest.raises(
        LosslessError, match="this clone is partial and lacks files of that revision"
    ) as error:
        lint_since("HEAD~2", [clone])
    said = str(error.value).rpartition("; ")[2]
    before = git(clone, "rev-parse", "HEAD~2")
    assert said == f"git archive {before[:12]} > /dev/null brings them"
    git(clone, "archive", before)
    assert lint_since("HEAD~2", [clone]).findings == ()


def test_a_git_that_gives_no_answer_is_said(
    tmp_path: Path, shim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "checkout", {"fabric.yaml": INTENT})
    (shim / "more").write_text("sleep 60\n")
    monkeypatch.setattr("lossless.formats.inputs.git.LONGEST_S", 0.2)
    with pytest.raises(LosslessError, match=r"git gave no answer in 0\.2 s, and was ended"):
        lint([folder])
    with pytest.raises(LosslessError, match=r"git gave no answer in 0\.2 s, and was ended"):
        asked(str(folder), "version")
