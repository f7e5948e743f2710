"""What a folder stands for: what git knows there, and broken files of ours that a search may not lose."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.inputs.collect import collect
from lossless.formats.inputs.git import known_to_git
from tests.interfaces.cli.repositories import git, repository, write

INTENT = "lossless: v1\n"
DEVICE = '{"PORT": {}}'


def checked(folder: Path, *paths: str) -> list[str]:
    """Return the files that are checked, by names below the folder."""
    documents, problems = collect([folder / path for path in paths] or [folder])
    assert problems == []
    return [document.file.removeprefix(f"{folder}{os.sep}") for document in documents]


def test_a_repository_is_what_git_knows_or_would_add(tmp_path: Path) -> None:
    repository(
        tmp_path, {"fabric.yaml": INTENT, "forced/x.json": DEVICE, ".lab/x.yaml": INTENT, "gone.json": DEVICE}
    )
    write(tmp_path, {".gitignore": "out/\nforced/\n", "new/leaf.json": DEVICE, "out/leaf.json": DEVICE})
    write(tmp_path, {".venv/x.json": DEVICE, "forced/y.json": DEVICE})
    (tmp_path / "gone.json").unlink()
    assert checked(tmp_path) == [".lab/x.yaml", "fabric.yaml", "forced/x.json", "new/leaf.json"]


def test_what_git_ignores_is_checked_where_it_is_named(tmp_path: Path) -> None:
    repository(tmp_path, {".gitignore": "out/\n", "fabric.yaml": INTENT})
    write(tmp_path, {"out/demo/leaf.json": DEVICE})
    assert checked(tmp_path, "out/demo") == ["out/demo/leaf.json"]
    assert checked(tmp_path, "out/demo/leaf.json") == ["out/demo/leaf.json"]


def test_a_folder_of_a_repository_is_that_folder_alone(tmp_path: Path) -> None:
    repository(tmp_path, {"a/x.json": DEVICE, "b/x.json": DEVICE})
    assert checked(tmp_path, "a") == ["a/x.json"]


def test_a_repository_within_a_repository_is_searched_as_one(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {"leaf.json": DEVICE})
    write(inner, {".gitignore": "skip.json", "skip.json": DEVICE})
    outer = repository(tmp_path / "outer", {"fabric.yaml": INTENT})
    inner.rename(outer / "inner")
    assert checked(outer) == ["fabric.yaml", "inner/leaf.json"]
    git(outer, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    assert checked(outer) == ["fabric.yaml", "inner/leaf.json"]


def test_the_repository_that_runs_a_hook_is_not_asked_about_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "a", {"x.json": DEVICE})
    repository(tmp_path / "b", {"y.json": DEVICE})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "a" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "a" / ".git" / "index"))
    assert checked(tmp_path / "b") == ["y.json"]


def test_without_git_a_repository_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, {".gitignore": "out/", "fabric.yaml": INTENT})
    write(tmp_path, {"out/leaf.json": DEVICE})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert known_to_git(str(tmp_path)) is None
    assert checked(tmp_path) == ["fabric.yaml", "out/leaf.json"]


def test_names_that_need_quoting_are_found(tmp_path: Path) -> None:
    repository(tmp_path, {'a "b"\t\né.json': DEVICE})
    assert checked(tmp_path) == ['a "b"\t\né.json']


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("leaf1.json", '{"PORT": {"Ethernet0": ', "leaf1.json:1:23: the file ends too early; is it cut off?"),
        ("lab.yaml", "lossless: v1\na: *x\n", "lab.yaml:2:4: no anchor &x before this alias"),
    ],
)
def test_a_broken_file_of_ours_is_named_whatever_it_is_called(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    write(
        tmp_path, {name: text, "broken.json": '{"a": ', "chart.yaml": "{{ lossless }}\n", "ok.json": DEVICE}
    )
    documents, problems = collect([tmp_path])
    assert [Path(document.file).name for document in documents] == ["ok.json"]
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in problems] == [said]


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"leaf1.json": DEVICE, "leaf2.json": DEVICE})
    shut = str(tmp_path / "leaf1.json")
    opened = os.open

    def guarded(file: Any, *rest: Any, **more: Any) -> int:
        if file == shut:
            raise PermissionError(13, "Permission denied", file)
        return opened(file, *rest, **more)

    monkeypatch.setattr(os, "open", guarded)
    documents, problems = collect([tmp_path])
    monkeypatch.undo()
    assert [Path(document.file).name for document in documents] == ["leaf2.json"]
    assert [str(problem) for problem in problems] == [f"{shut}: no permission to read this file"]
