"""Writing files so that nobody ever reads half of one: beside their place first, all of them, then into it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PART = ".lossless-part"


def require_writable(path: str) -> None:
    """Refuse a file that cannot be written, before long work is done for it; nothing is written.

    Raises:
        RenderError: no such folder, a folder by that name, no permission.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise RenderError(f"{path}: cannot be written: there is no folder {os.path.dirname(path) or '.'}")
    if os.path.isdir(path):
        raise RenderError(f"{path}: cannot be written: it is a folder")
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise RenderError(f"{path}: cannot be written: no permission")


def write_all(contents: Mapping[str, str | bytes], *, make_folders: bool = False) -> None:
    """Write several files, each whole; where one cannot be staged, all stay as they were.

    A link is followed, a mode is kept, and a pipe or a device is written to as it is.

    Raises:
        RenderError: the file system refuses.
    """
    staged: dict[str, str] = {}
    path = ""
    try:
        for path, content in contents.items():
            target = os.path.realpath(path)
            if make_folders:
                os.makedirs(os.path.dirname(target), exist_ok=True)
            if not _is_special(target):
                staged[path] = _stage(target, content)
        for path, part in staged.items():
            os.replace(part, os.path.realpath(path))
        for path in contents.keys() - staged.keys():
            _write(path, contents[path])
    except OSError as error:
        raise RenderError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        for part in staged.values():
            if os.path.lexists(part):
                os.unlink(part)


def _stage(target: str, content: str | bytes) -> str:
    """Write a file beside its place, with the mode of what it will take the place of; return where."""
    part = target + _PART
    if os.path.lexists(part):
        os.unlink(part)
    try:
        _write(part, content)
        if os.path.exists(target):
            os.chmod(part, stat.S_IMODE(os.stat(target).st_mode))
    except OSError:
        if os.path.lexists(part):
            os.unlink(part)
        raise
    return part


def _write(path: str, content: str | bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def _is_special(path: str) -> bool:
    """Return whether a path is a pipe or a device, in whose place no file may be put."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
