"""What is checked together with a text that is open."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lossless.api import Options
from lossless.interfaces.lsp import workspace as module
from lossless.interfaces.lsp.workspace import LintGroup, WorkspaceFiles
from tests.interfaces.cli.inputs import INTENT, LEAF


def files(*roots: Path) -> WorkspaceFiles:
    workspace = WorkspaceFiles(Options)
    workspace.search([str(root) for root in roots])
    return workspace


def leaf(folder: Path, name: str, text: str = LEAF) -> Path:
    """Write the configuration of a leaf, under a name of its own."""
    data = json.loads(text)
    data["DEVICE_METADATA"]["localhost"]["hostname"] = name
    path = folder / name / "config_db.json"
    path.parent.mkdir()
    path.write_text(json.dumps(data, indent=2))
    return path


def linted(files: WorkspaceFiles, path: Path, text: str) -> LintGroup:
    return files.lint({str(path): text})[str(path)]


def names(group: LintGroup) -> Sequence[str]:
    return sorted(document.file for document in group.documents)


def test_the_folder_is_checked_with_the_text_and_not_with_its_own_file(tmp_path: Path) -> None:
    first, second = leaf(tmp_path, "leaf1"), leaf(tmp_path, "leaf2")
    group = linted(files(tmp_path), first, LEAF)
    assert names(group) == [str(first), str(second)]
    assert next(d.text for d in group.documents if d.file == str(first)) == LEAF


def test_a_file_by_another_name_is_the_same_file(tmp_path: Path) -> None:
    first = leaf(tmp_path, "leaf1")
    link = tmp_path / "link.json"
    link.symlink_to(first)
    assert names(linted(files(tmp_path), link, LEAF)) == [str(link)]


def test_a_file_outside_of_every_folder_is_checked_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    leaf(tmp_path / "a", "leaf1")
    outside = leaf(tmp_path / "ab", "leaf2")
    assert names(linted(files(tmp_path / "a"), outside, LEAF)) == [str(outside)]
    assert names(linted(files(), outside, LEAF)) == [str(outside)]


def test_of_nested_folders_the_innermost_counts(tmp_path: Path) -> None:
    leaf(tmp_path, "leaf1")
    (tmp_path / "inner").mkdir()
    inside = leaf(tmp_path / "inner", "leaf2")
    assert names(linted(files(tmp_path, tmp_path / "inner"), inside, LEAF)) == [str(inside)]


def test_what_changes_on_disk_is_read_again(tmp_path: Path) -> None:
    opened, other = leaf(tmp_path, "leaf1"), leaf(tmp_path, "leaf2")
    workspace = files(tmp_path)
    before = linted(workspace, opened, LEAF)
    assert linted(workspace, opened, LEAF).documents[1] is before.documents[1]
    other.write_text(LEAF.replace("9100", "1500"))
    os.utime(other, ns=(1, 1))
    assert "1500" in linted(workspace, opened, LEAF).documents[1].text
    other.unlink()
    assert names(linted(workspace, opened, LEAF)) == [str(opened)]


def test_of_a_large_folder_only_what_is_open_is_linted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TOGETHER", 2)
    opened = leaf(tmp_path, "leaf1")
    for number in range(2, 5):
        leaf(tmp_path, f"leaf{number}")
    group = linted(files(tmp_path), opened, LEAF)
    assert (names(group), group.left_out) == ([str(opened)], 3)


@pytest.mark.parametrize(
    ("name", "text", "is_expected"),
    [
        ("x.yaml", "lossless: v1\n: {", True),
        ("x.yaml", "a: [", False),
        ("x.yaml", "# lossless: v1\na: [", False),
        ("x.json", '{"PORT": {', True),
        ("x.json", '{"port": {', False),
        ("x.json", "", False),
    ],
)
def test_a_text_that_cannot_be_read_is_ours_where_it_looks_so(
    tmp_path: Path, name: str, text: str, is_expected: bool
) -> None:
    errors = linted(files(tmp_path), tmp_path / name, text).report.errors
    assert bool(errors) is is_expected


def test_a_text_that_once_was_ours_stays_so(tmp_path: Path) -> None:
    workspace, path = files(tmp_path), tmp_path / "x.yaml"
    assert linted(workspace, path, "{").report.errors == ()
    assert linted(workspace, path, INTENT).report.errors == ()
    assert linted(workspace, path, "{").report.errors != ()


def test_a_file_named_as_ours_is_expected_to_be(tmp_path: Path) -> None:
    path = tmp_path / "config_db.json"
    path.write_text(LEAF)
    assert linted(files(tmp_path), path, "{}}").report.errors != ()
