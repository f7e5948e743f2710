"""Files of others are opened in one place, which opens regular files, and pipes that the command line names."""

from __future__ import annotations

import ast
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lossless.ground.basics.errors import LosslessError, UnreadableError
from lossless.ground.basics.files import beginning, hold_pipe, is_held, release_pipe
from lossless.ground.basics.limits import FILE_BYTES
from lossless.ground.documents.atomic import rewrite
from lossless.ground.documents.folder import Folder
from lossless.ground.documents.text import read_bytes
from tests.paths import ROOT
from tests.special_files import KINDS, in_time, made
from tools.architecture import modules

OPENING = {
    "ground/basics/files.py": "the one place",
    "ground/basics/programs.py": "what a program prints, into a file of ours",
    "ground/documents/atomic.py": "pipes and devices that are written to",
    "ground/documents/folder.py": "folders, locks, and new files",
    "checks/rules/documentation.py": "our own sources",
    "interfaces/api/exporter.py": "our own scripts",
    "formats/telemetry/collection.py": "our own script",
    "output/render/plan/acceptance.py": "our own scripts",
    "formats/sonic/capabilities/updater_sorting.py": "our own table",
    "formats/sonic/capabilities/releases.py": "our own table",
    "formats/sonic/validate/schema.py": "our own schema",
    "formats/intent/load.py": "our own presets",
    "analysis/opensm/run.py": "what opensm writes in a folder of ours",
    "analysis/simulation/engine/compiled.py": "our own sources",
    "interfaces/cli/terminal.py": "/dev/null in place of a stream that is closed",
    "interfaces/cli/lsp.py": "standard output",
    "output/render/tree.py": "the lock of a tree, through Folder",
}
"""The modules that open something themselves, and what that is: never what an input or the command line names."""
_READERS = frozenset({"read_text", "read_bytes", "fdopen", "FileIO", "open_code"})


def opens(code: ast.AST) -> Iterator[int]:
    """Yield the lines of some code that open a file: by name, by descriptor, or as a method of a path."""
    for node in ast.walk(code):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in ("open", "FileIO"):
            yield node.lineno
        if isinstance(called, ast.Attribute):
            of_os = isinstance(called.value, ast.Name) and called.value.id in ("os", "io")
            mode = node.args[0] if node.args else None
            by_mode = isinstance(mode, ast.Constant) and str(mode.value).strip("rbtwax+") == ""
            flags = len(node.args) > 1 and "O_" in ast.unparse(node.args[1])
            if called.attr in _READERS or (called.attr == "open" and (of_os or by_mode or flags)):
                yield node.lineno


@pytest.mark.parametrize(
    "code",
    [
        "open(f)",
        "os.open(f, 0)",
        "p.open('rb')",
        "p.read_text()",
        "p.read_bytes()",
        "FileIO(f)",
        "io.open(f)",
    ],
)
def test_each_way_of_opening_is_seen(code: str) -> None:
    assert list(opens(ast.parse(code))) == [1]


def test_no_other_module_opens_files() -> None:
    found = {
        str(path.relative_to(ROOT / "lossless"))
        for path in modules().values()
        if any(opens(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == OPENING.keys()


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    with in_time():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    with made(kind, tmp_path / "x") as file:
        noun = "socket" if kind == "socket" else "pipe" if kind in ("fifo", "open pipe") else "device"
        with pytest.raises(UnreadableError, match=f"cannot be read: it is a {noun}, not a regular file"):
            read_bytes(file)
        with pytest.raises(OSError, match="not a regular file"):
            beginning(file, 10)
        with pytest.raises(LosslessError, match="not a regular file"):
            rewrite(file, "", "x")


def test_a_pipe_in_a_folder_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with Folder(str(tmp_path)) as folder, pytest.raises(OSError, match="it is a pipe"):
        folder.read("manifest.json")


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "x")
    (tmp_path / "before").write_text("1")
    before = (tmp_path / "before").stat()
    monkeypatch.setattr(os, "stat", lambda *_, **__: before)
    with pytest.raises(OSError, match="it is a pipe"):
        beginning(str(tmp_path / "x"), 10)


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        ('{"PORT": {}}', ".json"),
        ("\n [1]", ".json"),
        ("lossless: v1\n", ".yaml"),
        ("# ours\nlossless: v1\n", ".yaml"),
        ("hostname leaf1\n", ""),
        ("", ""),
    ],
)
def test_a_held_pipe_is_read_like_a_file_of_its_content(content: str, suffix: str) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, content.encode())
    os.close(theirs)
    name = hold_pipe(f"/dev/fd/{ours}")
    os.close(ours)
    assert name == f"/dev/fd/{ours}{suffix}"
    assert read_bytes(name) == read_bytes(name) == content.encode()
    assert is_held(name)
    with pytest.raises(LosslessError, match="is a pipe, which cannot be changed"):
        rewrite(name, content, "x")
    release_pipe(name)
    with pytest.raises(UnreadableError):
        read_bytes(name)


def test_an_endless_pipe_is_read_up_to_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "x.json"
    os.mkfifo(pipe)
    written = []

    def pour() -> None:
        try:
            with pipe.open("wb", buffering=0) as stream:
                while True:
                    written.append(stream.write(b" " * (1 << 20)))
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=pour)
    writer.start()
    assert hold_pipe(str(pipe)) == str(pipe)
    writer.join()
    assert sum(written) < FILE_BYTES + (4 << 20)
    assert len(read_bytes(pipe)) == FILE_BYTES + 1
    release_pipe(str(pipe))


def test_what_is_no_pipe_is_not_held(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    for name in ("a.json", ".", "none"):
        assert hold_pipe(str(tmp_path / name)) is None
    assert hold_pipe("/dev/null") is None
    assert hold_pipe("a\0b") is None


def test_a_file_of_the_kernel_is_read_although_it_has_no_size() -> None:
    file = Path("/proc/self/status")
    if not file.exists():
        pytest.skip("no /proc here")
    assert stat.S_ISREG(file.stat().st_mode)
    assert file.stat().st_size == 0
    assert read_bytes(file).startswith(b"Name:")
