"""Machine code is kept where nobody else can put some: what lies there is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lossless.analysis.simulation.engine.compiled import cache_folder, entry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    made = cache_folder()
    assert made is not None
    assert made.stat().st_mode & 0o777 == 0o700
    assert cache_folder() == made
    return made


PARTS = pytest.mark.parametrize("part", [0, 1], ids=["itself", "above"])


@PARTS
@pytest.mark.parametrize("mode", [0o720, 0o770, 0o702, 0o777], ids=oct)
def test_a_folder_that_its_group_or_others_may_write_to_is_not_used(
    folder: Path, part: int, mode: int
) -> None:
    (folder, folder.parent)[part].chmod(mode)
    assert cache_folder() is None


@PARTS
def test_a_folder_that_others_may_read_is_used(folder: Path, part: int) -> None:
    (folder, folder.parent)[part].chmod(0o755)
    assert cache_folder() == folder


@PARTS
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_folder_of_somebody_else_is_not_used(folder: Path, part: int) -> None:
    os.chown((folder, folder.parent)[part], 12345, 12345)
    assert cache_folder() is None


def test_no_umask_makes_a_folder_that_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each user has a group of its own, new folders are writable to that group."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    usual = os.umask(0o002)
    try:
        assert cache_folder() is not None
    finally:
        os.umask(usual)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_folder_for_temporary_files_that_somebody_else_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner could exchange what is below it, whoever that belongs to."""
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = cache_folder()
    assert made is not None
    assert made.parent.parent == tmp_path
    os.chown(made.parent, 12345, 12345)
    assert cache_folder() is None


def test_a_link_to_a_folder_is_not_used(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    assert cache_folder() is None


def increased(number: int) -> int:
    return number + 1


DAMAGES = {
    "cut off": lambda raw: raw[: len(raw) // 2],
    "empty": lambda _: b"",
    "another byte": lambda raw: (
        raw[: len(raw) // 2] + bytes([raw[len(raw) // 2] ^ 1]) + raw[len(raw) // 2 + 1 :]
    ),
    "text": lambda _: b"no machine code",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_machine_code_is_compiled_again(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    assert entry(increased)(1) == 2
    for kept in [path for path in folder.rglob("*") if path.is_file()]:
        kept.write_bytes(damage(kept.read_bytes()))
        again: Any = entry(increased)
        assert again(1) == 2
        assert not again.stats.cache_hits
        sound: Any = entry(increased)
        assert sound(1) == 2
        assert sound.stats.cache_hits
