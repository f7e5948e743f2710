"""Files are there whole or not at all."""

from __future__ import annotations

import os
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
    def full(_source: str, target: str) -> None:
        raise OSError(28, "No space left on device", target)

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "replace", full)
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
