"""Machine code is kept where nobody else can put some: what lies there is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lossless.analysis.simulation.engine import compiled
from lossless.analysis.simulation.engine.compiled import (
    MachineCode,
    cache_folder,
    entry,
    folder_to_prepare,
    unused_folders,
)


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


@pytest.fixture
def beside(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with machine code of ``increased`` beside it, while the user's folder has none."""
    monkeypatch.setattr(compiled, "_BESIDE", tmp_path / "package" / "__pycache__")
    (tmp_path / "package").mkdir()
    usual = os.umask(0o002)
    try:
        prepared = folder_to_prepare()
        assert prepared == tmp_path / "package" / "__pycache__" / folder.name
        ahead: Any = entry(increased)
        ahead._cache = MachineCode(increased, (prepared,), prepared)
        assert ahead(1) == 2
    finally:
        os.umask(usual)
    assert not list(folder.iterdir())
    return prepared


def is_loaded() -> bool:
    again: Any = entry(increased)
    assert again(1) == 2
    return bool(again.stats.cache_hits)


def places(beside: Path) -> tuple[Path, Path]:
    (file,) = beside.iterdir()
    return beside, file


OF_PACKAGE = pytest.mark.parametrize("part", [0, 1], ids=["folder", "file"])


@pytest.mark.usefixtures("beside")
def test_machine_code_beside_the_package_is_loaded_where_the_user_has_none() -> None:
    """With a umask that lets the group write, too."""
    assert is_loaded()
    assert unused_folders() == ()


@pytest.mark.usefixtures("beside")
def test_machine_code_of_the_owner_of_the_package_is_loaded_by_its_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in an image that root made, and somebody else runs."""
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache_folder() is None
    assert is_loaded()


@OF_PACKAGE
@pytest.mark.parametrize("mode", [0o775, 0o757], ids=oct)
def test_machine_code_that_its_group_or_others_may_write_is_not_loaded(
    beside: Path, part: int, mode: int
) -> None:
    place = places(beside)[part]
    place.chmod(mode)
    assert unused_folders() == (f"{place}: its group or others may write to it",)
    assert not is_loaded()


@OF_PACKAGE
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_machine_code_of_somebody_else_is_not_loaded(beside: Path, part: int) -> None:
    place = places(beside)[part]
    os.chown(place, 12345, 12345)
    assert unused_folders() == (f"{place}: it belongs to another user",)
    assert not is_loaded()


@OF_PACKAGE
def test_a_link_to_machine_code_is_not_loaded(beside: Path, part: int) -> None:
    place = places(beside)[part]
    elsewhere = beside.parent / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    assert f"{place}: it is a link" in unused_folders()
    assert not is_loaded()


def test_machine_code_under_the_name_of_another_is_not_loaded(beside: Path) -> None:
    """As that of another processor, Python or function would be."""
    _, file = places(beside)
    *stem, _, _ = file.name.split(".")
    file.rename(beside / ".".join((*stem, "generic", "code")))
    assert not is_loaded()


def test_where_the_environment_names_a_folder_that_of_the_package_is_not_used(
    beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    assert folder_to_prepare() == tmp_path / "named" / "lossless" / beside.name
    assert not is_loaded()
    beside.chmod(0o777)
    assert unused_folders() == ()


def test_where_the_package_cannot_be_written_the_model_is_prepared_for_the_user(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiled, "_BESIDE", tmp_path / "file")
    assert folder_to_prepare() == folder
