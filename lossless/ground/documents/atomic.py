"""Writes files so that no reader sees a partial one: they are staged under other names, then moved.

Pipes and devices are written to directly.

A text is written back into its file completely or not at all, and only if the file is unchanged.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError, RenderError
from lossless.ground.basics.files import beginning, is_held
from lossless.ground.basics.limits import FILE_BYTES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.ground.documents.folder import Folder, passing_name, write_whole, written_place
from lossless.ground.documents.text import UTF8_MARK, decode

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Staged(NamedTuple):
    """A staged file: its folder, its temporary name there, its path below it, and the status of a file it replaces."""

    path: str
    folder: Folder
    waiting: str
    place: str
    replaced: os.stat_result | None


class _Move(NamedTuple):
    """A staged file that is moved into its place, and the replaced content: None if there is none or it is not kept."""

    file: _Staged
    before: bytes | None


def require_writable(path: str) -> None:
    """Check that a file can be written, before long work is done for it; nothing is written.

    Raises:
        RenderError: no such folder, a folder by that name, no permission, or a link on the way that leads elsewhere.
    """
    folder = os.path.dirname(written_place(path))
    if not os.path.isdir(folder):
        raise RenderError(f"{path}: cannot be written: there is no folder {os.path.dirname(path) or '.'}")
    if os.path.isdir(path):
        raise RenderError(f"{path}: cannot be written: it is a folder")
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise RenderError(f"{path}: cannot be written: no permission")


def write_all(
    contents: Mapping[str, str | bytes], *, make_folders: bool = False, within: str | None = None
) -> None:
    """Write several files, each whole, in their order: all of them, or none.

    If one cannot be moved into its place, those before it are put back as they were; text in a pipe stays there.
    A link is followed where it leads to a place of its repository or folder
    (:func:`~lossless.ground.documents.folder.written_place`), the mode is kept, for root the owner too, and a pipe or a
    device is written to directly; but below the folder ``within`` no link is followed. Where the process is killed,
    each file is as it was or as it is to be, and a later process that locks that folder removes the staged files.

    Raises:
        RenderError: the file system refuses, a link leads elsewhere, or there is one below ``within``. It names the
            files that could not be put back either.
    """
    folders: dict[str, Folder] = {}
    staged: dict[str, _Staged] = {}
    moves: list[_Move] = []
    path = ""
    try:
        places = {path: _place(path, within) for path in contents}
        for path, content in contents.items():
            if not _is_special(path):
                root, place = places[path]
                if root not in folders:
                    folders[root] = _folder(root, make=make_folders)
                staged[path] = _stage(path, _raw(content), folders[root], place)
        for path, content in contents.items():
            if path in staged:
                file = staged[path]
                moves.append(_Move(file, _content(file) if len(contents) > 1 else None))
                file.folder.take(file.place, file.folder, file.waiting)
                del staged[path]
            else:
                _pour(path, _raw(content))
        moves.clear()
    except OSError as error:
        lost = _put_back(moves)
        also = f"; {listed(lost)} cannot be put back, and has its new content" if lost else ""
        raise RenderError(f"{path}: cannot be written: {error.strerror}{also}") from error
    finally:
        # What else ends it may come right behind a move.
        _put_back(moves)
        for each in staged.values():
            each.folder.remove(each.waiting)
        for folder in folders.values():
            folder.close()


def _place(path: str, within: str | None) -> tuple[str, str]:
    """Return the folder below which no link is followed, and the path below it."""
    if within is not None:
        below = os.path.relpath(os.path.abspath(path), os.path.abspath(within))
        if not below.startswith(os.pardir):
            written_place(within)
            return within, below
    return os.path.split(written_place(path))


def _folder(root: str, *, make: bool) -> Folder:
    """Open a folder in which files are staged, and remove files that ended processes staged there."""
    if make:
        os.makedirs(root, exist_ok=True)
    folder = Folder(root or os.curdir)
    folder.claim()
    return folder


def _stage(path: str, content: bytes, folder: Folder, place: str) -> _Staged:
    """Write a file under a temporary name in ``folder``, with the mode of the file that it will replace.

    Raises:
        RenderError: a link is at that place.
    """
    old = folder.status(place)
    if old is not None and stat.S_ISLNK(old.st_mode):
        raise RenderError(f"{path}: cannot be written: it is a link")
    waiting = passing_name()
    folder.create(waiting, content, like=old)
    return _Staged(path, folder, waiting, place, old)


def _content(file: _Staged) -> bytes | None:
    """Return the content that a staged file will replace; None without any, if it is too large or cannot be read.

    The content is kept in memory: a second name for the file would be left behind if the process is killed.
    """
    if file.replaced is None or file.replaced.st_size > FILE_BYTES:
        return None
    with suppress(OSError):
        return file.folder.read(file.place)
    return None


def _put_back(moves: list[_Move]) -> list[str]:
    """Undo moves, the last one first; return the paths of files that cannot be put back."""
    lost = []
    while moves:
        file, before = moves.pop()
        try:
            if file.folder.status(file.waiting) is not None:
                continue  # it was not moved
            if file.replaced is None:
                file.folder.remove(file.place)
            elif before is None:
                lost.append(file.path)
            else:
                file.folder.create(file.waiting, before, like=file.replaced)
                file.folder.take(file.place, file.folder, file.waiting)
        except OSError:
            with suppress(OSError):
                file.folder.remove(file.waiting)
            lost.append(file.path)
    return lost


def _raw(content: str | bytes) -> bytes:
    return content.encode(errors="backslashreplace") if isinstance(content, str) else content


def _pour(path: str, content: bytes) -> None:
    """Write to a pipe or a device."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        write_whole(file, content)
    finally:
        os.close(file)


def _is_special(path: str) -> bool:
    """Return whether a path is a pipe, a socket or a device, which no file may replace."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


_MARK = UTF8_MARK.decode()


class ChangedMeanwhileError(LosslessError):
    """A file that is not rewritten because it changed since it was read."""


def rewrite(file: str, before: str, after: str) -> None:
    """Replace the text of a file; its byte-order mark, its mode and symbolic links to it stay.

    Raises:
        ChangedMeanwhileError: it no longer contains ``before``.
        LosslessError: it cannot be read or written; it is then unchanged.
    """
    rewrite_all({file: (before, after)})


def rewrite_all(texts: Mapping[str, tuple[str, str]]) -> None:
    """Replace the texts of several files, as :func:`rewrite` does, all or none; ``texts`` has each before and after.

    Raises:
        ChangedMeanwhileError: one no longer contains the text before.
        LosslessError: one cannot be read or written; the message names files that could not be put back.
    """
    write_all(
        {
            file: _unchanged_mark(file, before) + after.removeprefix(_MARK).encode()
            for file, (before, after) in texts.items()
        }
    )


def _unchanged_mark(file: str, before: str) -> bytes:
    """Return the byte-order mark of a file that contains a text, empty if it has none.

    Raises:
        ChangedMeanwhileError: it contains another text.
        LosslessError: it cannot be read, or is a pipe.
    """
    if is_held(file):
        raise LosslessError(f"{file}: is a pipe, which cannot be changed; name a file")
    try:
        raw = beginning(file, FILE_BYTES + 1)
    except OSError as error:
        raise LosslessError(f"{file}: cannot be read: {error.strerror}") from error
    if decode(raw, file) != before.removeprefix(_MARK):
        raise ChangedMeanwhileError(f"{file} has changed since it was read; nothing was written")
    return UTF8_MARK if raw.startswith(UTF8_MARK) else b""
