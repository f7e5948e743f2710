"""Files are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from lossless.ground.basics.errors import RenderError
from lossless.ground.documents.atomic import require_writable, write_all


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_file_holds_its_text_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old and longer")
    write_all({str(tmp_path / "a"): "A\n", str(tmp_path / "b"): "\u00e9\n"})
    assert (tmp_path / "a").read_bytes() == b"A\n"
    assert (tmp_path / "b").read_bytes() == b"\xc3\xa9\n"
    assert names(tmp_path) == ["a", "b"]


def test_where_one_cannot_be_written_all_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    gone = tmp_path / "gone" / "b"
    with pytest.raises(RenderError) as caught:
        write_all({str(tmp_path / "a"): "new", str(gone): "new"})
    assert str(caught.value) == f"{gone}: cannot be written: No such file or directory"
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_text_that_breaks_off_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_source: str, target: str, **_folders: int) -> None:
        raise OSError(28, "No space left on device", target)

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(RenderError, match="a: cannot be written: No space left on device"):
        write_all({str(tmp_path / "a"): "new"})
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_link_is_followed_and_a_mode_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_all({str(tmp_path / "link"): "new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_a_planted_name_is_not_written_to(tmp_path: Path) -> None:
    """Whatever names a checkout holds, one that passes is none of them: nobody can foresee it."""
    (tmp_path / "victim").write_text("precious")
    for planted in ("a.lossless-part", ".a.lossless-new", ".lossless-0"):
        (tmp_path / planted).symlink_to("victim")
    (tmp_path / "a").write_text("old")
    write_all({str(tmp_path / "a"): "new"})
    assert (tmp_path / "victim").read_text() == "precious"
    assert len(names(tmp_path)) == 5


def test_a_file_that_others_may_not_read_is_never_open_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    modes: list[int] = []
    real = os.write

    def write(file: int, data: bytes) -> int:
        modes.append(stat.S_IMODE(os.fstat(file).st_mode))
        return real(file, data)

    monkeypatch.setattr(os, "write", write)
    write_all({str(tmp_path / "a"): "new"})
    assert modes == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    os.chown(tmp_path / "a", 12345, 23456)
    write_all({str(tmp_path / "a"): "new"})
    status = (tmp_path / "a").stat()
    assert (status.st_uid, status.st_gid) == (12345, 23456)


def test_below_a_folder_no_link_is_followed(tmp_path: Path) -> None:
    elsewhere, tree = tmp_path / "elsewhere", tmp_path / "tree"
    elsewhere.mkdir()
    tree.mkdir()
    (tree / "leaf1").symlink_to(elsewhere)
    (tree / "leaf2").symlink_to(elsewhere / "new")
    for path, why in (("leaf1/a", r"leaf1: is a link"), ("leaf2", r"leaf2: cannot be written: it is a link")):
        with pytest.raises(RenderError, match=why):
            write_all({str(tree / "b"): "new", str(tree / path): "new"}, make_folders=True, within=str(tree))
    assert names(elsewhere) == []
    assert names(tree) == ["leaf1", "leaf2"]


def test_where_one_cannot_be_put_into_its_place_those_before_it_are_put_back(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    (tmp_path / "folder").mkdir()
    paths = ("new", "kept", "folder")
    with pytest.raises(RenderError, match="folder: cannot be written: Is a directory"):
        write_all({str(tmp_path / name): "new" for name in paths})
    assert names(tmp_path) == ["folder", "kept"]
    assert (tmp_path / "kept").read_text() == "old"


def test_a_new_file_can_be_read_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_all({str(tmp_path / "a"): ""})
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_no_file_takes_the_place_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_all({str(pipe): "through\n"})
    reader.join(10)
    assert read == ["through\n"]
    assert pipe.is_fifo()


def test_what_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    require_writable(str(tmp_path / "new"))
    with pytest.raises(RenderError, match="cannot be written: it is a folder"):
        require_writable(str(tmp_path))
    with pytest.raises(RenderError, match=r"cannot be written: there is no folder .*/gone"):
        require_writable(str(tmp_path / "gone" / "a"))
    assert names(tmp_path) == []


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and mode of each file below a folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def several(tmp_path: Path) -> dict[str, str]:
    """Return new contents of five files in three folders, of which three replace others."""
    for name in ("a", "below/b", "other/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"old {name}")
        (tmp_path / name).chmod(0o640)
    return {str(tmp_path / name): f"new {name}" for name in ("a", "new1", "below/b", "below/new2", "other/c")}


@pytest.mark.parametrize("failing", range(1, 6))
def test_whichever_move_fails_every_file_is_as_before(
    several: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    moves, real = 0, os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        nonlocal moves
        moves += 1
        if moves == failing:
            raise OSError(28, "No space left on device", target)
        real(source, target, **folders)

    before = contents(tmp_path)
    monkeypatch.setattr(os, "rename", rename)
    path = [*several][failing - 1]
    with pytest.raises(RenderError, match=rf"^{path}: cannot be written: No space left on device$"):
        write_all(several)
    assert moves >= failing
    assert contents(tmp_path) == before
    monkeypatch.undo()
    write_all(several)
    assert {str(tmp_path / name): file[0].decode() for name, file in contents(tmp_path).items()} == several


def test_files_that_cannot_be_put_back_are_named(
    several: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, real = 0, os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        nonlocal moves
        moves += 1
        if moves > 2:
            raise OSError(30, "Read-only file system", target)
        real(source, target, **folders)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(
        RenderError, match=rf"below/b: cannot be written: .*; {tmp_path}/a cannot be put back"
    ):
        write_all(several)
    assert (tmp_path / "a").read_text() == "new a"
    assert names(tmp_path) == ["a", "below", "other"]


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize("stopping", range(1, 6))
def test_an_interrupt_at_a_move_leaves_every_file_as_before(
    several: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopping: int, behind: bool
) -> None:
    moves, real = 0, os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        nonlocal moves
        moves += 1
        if moves != stopping or behind:
            real(source, target, **folders)
        if moves == stopping:
            raise KeyboardInterrupt

    before = contents(tmp_path)
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        write_all(several)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("part", [0, 1])
def test_a_folder_that_goes_meanwhile_leaves_the_files_of_others_as_before(
    several: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Its own files are gone with it, and those of the others stay."""
    gone, moves, real = ("below", "other")[part], 0, os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        nonlocal moves
        moves += 1
        if moves == 2:
            shutil.rmtree(tmp_path / gone)
        real(source, target, **folders)

    before = {name: file for name, file in contents(tmp_path).items() if not name.startswith(gone)}
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(RenderError, match=f"{gone}/.*: cannot be written: No such file or directory"):
        write_all(several)
    assert contents(tmp_path) == before
