"""Writing a tree: all or nothing to see, the same bytes twice, never outside its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lossless.formats.device_files.base_merge import PlannedFile
from lossless.ground.basics.errors import RenderError
from lossless.output.render.fabric import render_files
from lossless.output.render.tree import MANIFEST

ONE = (PlannedFile("leaf1/qos.json", "{}\n"), PlannedFile("host1/set.sh", "#!/bin/sh\n", executable=True))


def write_tree(folder: Path, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Write the files of a tree and its manifest; return the paths of the files."""
    outcome = render_files(files, folder, write=True)
    return tuple(entry.path for entry in outcome.entries)


def changes(folder: Path, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Return the paths that a write would change, missing and stale ones included."""
    return render_files(files, folder, write=False).changed


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode & 0o777)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_tree_holds_its_files_their_modes_and_a_manifest(tmp_path: Path) -> None:
    written = write_tree(tmp_path / "out", ONE)
    assert written == ("leaf1/qos.json", "host1/set.sh")
    found = snapshot(tmp_path / "out")
    assert found["host1/set.sh"] == ("#!/bin/sh\n", 0o755)
    assert found["leaf1/qos.json"][1] & 0o111 == 0
    listed = {entry["path"]: entry for entry in json.loads(found[MANIFEST][0])["files"]}
    assert listed["host1/set.sh"]["mode"] == "0755"
    assert set(listed) == {"leaf1/qos.json", "host1/set.sh"}


def test_the_same_plan_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    first = snapshot(tmp_path)
    assert changes(tmp_path, ONE) == ()
    write_tree(tmp_path, ONE)
    assert snapshot(tmp_path) == first


def test_a_script_that_cannot_be_run_any_more_differs(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    (tmp_path / "host1/set.sh").chmod(0o644)
    assert changes(tmp_path, ONE) == ("host1/set.sh",)


def test_files_of_an_earlier_render_go_and_foreign_files_stay(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    (tmp_path / "notes.txt").write_text("mine")
    assert changes(tmp_path, ONE[:1]) == ("host1/set.sh",)
    write_tree(tmp_path, ONE[:1])
    assert set(snapshot(tmp_path)) == {"leaf1/qos.json", MANIFEST, "notes.txt"}
    assert not (tmp_path / "host1").exists()


@pytest.mark.parametrize("path", ["../escape", "/etc/passwd", "a/../../b", "", MANIFEST])
def test_no_path_leaves_the_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(RenderError, match="not a path below the output folder"):
        write_tree(tmp_path / "out", (PlannedFile(path, "x"),))
    assert not (tmp_path / "out").exists()


def test_a_write_that_fails_leaves_the_old_tree_untouched(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    before = snapshot(tmp_path)
    # A folder name of 300 characters: every file system refuses it, after the first file was staged.
    with pytest.raises(RenderError, match="cannot be written"):
        write_tree(tmp_path, (PlannedFile("leaf1/qos.json", "changed"), PlannedFile("x" * 300 + "/a", "")))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "text", ['{"name": "web app"}', '{"files": [{"path": 5}]}', '{"files": [5]}', "[]", "not JSON"]
)
def test_a_manifest_of_somebody_else_is_not_obeyed(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(RenderError, match="not a manifest of ours"):
        write_tree(tmp_path, ONE)
    assert set(snapshot(tmp_path)) == {MANIFEST}


def test_a_manifest_that_points_outside_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    out = tmp_path / "out"
    out.mkdir()
    (out / MANIFEST).write_text('{"files": [{"path": "../precious"}]}')
    with pytest.raises(RenderError, match="not a path below the output folder"):
        write_tree(out, ONE)
    assert (tmp_path / "precious").exists()


def test_a_foreign_file_in_the_folder_of_a_device_stays(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "notes.txt").write_text("mine")
    write_tree(tmp_path, ONE)
    assert set(snapshot(tmp_path)) == {"leaf1/qos.json", "leaf1/notes.txt", "host1/set.sh", MANIFEST}


def test_a_folder_where_a_file_should_be_is_refused_before_anything_is_moved(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    before = snapshot(tmp_path)
    (tmp_path / "leaf2" / "qos.json").mkdir(parents=True)
    with pytest.raises(RenderError, match="in the way"):
        write_tree(tmp_path, (PlannedFile("leaf1/qos.json", "changed"), PlannedFile("leaf2/qos.json", "{}")))
    assert snapshot(tmp_path) == before


def test_the_manifest_of_an_older_release_still_says_what_is_stale(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    old = {"version": 1, "files": [{"path": "host1/set.sh", "sha256": "0", "mode": "0755"}]}
    (tmp_path / MANIFEST).write_text(json.dumps(old))
    write_tree(tmp_path, ONE[:1])
    assert set(snapshot(tmp_path)) == {"leaf1/qos.json", MANIFEST}


def test_what_a_run_that_was_cut_off_left_behind_goes(tmp_path: Path) -> None:
    (tmp_path / ".lossless-staging" / "leaf9").mkdir(parents=True)
    (tmp_path / ".lossless-staging" / "leaf9" / "qos.json").write_text("half")
    write_tree(tmp_path, ONE)
    assert not (tmp_path / "leaf9").exists()
    assert not (tmp_path / ".lossless-staging").exists()
