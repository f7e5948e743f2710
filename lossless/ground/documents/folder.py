"""A folder that is read and written without following links, so that no path below it leaves it.

A foreign repository may contain links to anywhere. The folder itself may be a link: the user named it.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError

if TYPE_CHECKING:
    from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CLOSED = (errno.ENOTDIR, errno.ELOOP)
"""Errors of opening a link as a folder: Linux returns the first, other systems the second."""
_NOTHING_THERE = (errno.ENOENT, errno.ENAMETOOLONG)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that create a new file, and fail for an existing one of any owner."""


class Folder:
    """An open folder; paths below it are relative, with ``/``.

    A link within a path is refused; at its end the link itself is meant, not its target.

    Raises:
        OSError: there is no folder of this path.
    """

    def __init__(self, path: str, *, within: Folder | None = None) -> None:
        if within is None:
            self.path, self._fd = path, os.open(path, _FOLDER)
        else:
            self.path = os.path.join(within.path, path)
            self._fd = within._enter(within._fd, path, self.path)
        self._last = ("", self._fd)

    def __enter__(self) -> Self:
        """Return the folder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder."""
        self.close()

    def close(self) -> None:
        """Close the folder; it cannot be used after."""
        self._leave_last()
        os.close(self._fd)

    def identity(self) -> tuple[int, int]:
        """Return device and inode, which no two folders share."""
        status = os.fstat(self._fd)
        return status.st_dev, status.st_ino

    def names(self) -> set[str]:
        """Return the names of the entries of the folder."""
        return set(os.listdir(self._fd))

    def make(self, path: str, mode: int = 0o777) -> None:
        """Make a folder, and those above it.

        Raises:
            RenderError: a link or a file is in the way.
            OSError: the file system refuses.
        """
        folder, name = self._parent(path, make=True)
        os.mkdir(name, mode, dir_fd=folder)

    def create(
        self, path: str, content: bytes, mode: int | None = None, *, like: os.stat_result | None = None
    ) -> None:
        """Write a new file, and make the folders that it needs; a file that cannot be written completely is removed.

        Without a ``mode`` it has that of any new file. ``like``: mode and owner of another file are kept.

        Raises:
            RenderError: a link or a file is in the way of a folder.
            OSError: the file system refuses, or there is already an entry of that name.
        """
        folder, name = self._parent(path, make=True)
        wanted = mode if like is None else stat.S_IMODE(like.st_mode)
        file = os.open(name, _NEW, 0o666 if wanted is None else wanted & 0o700, dir_fd=folder)
        try:
            if like is not None and os.geteuid() == 0:
                # Only root gives files to others.
                os.fchown(file, like.st_uid, like.st_gid)
            if wanted is not None:
                os.fchmod(file, wanted)
            write_whole(file, content)
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise
        finally:
            os.close(file)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file directly in the folder.

        Raises:
            OSError: the file system refuses, or it is a link.
        """
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self._fd)

    def read(self, path: str, size: int | None = None) -> bytes | None:
        """Return the content of a file, None without one, for a link, or where its size alone differs from ``size``.

        Raises:
            RenderError: a link is within the path.
            OSError: it cannot be read.
        """
        status = self.status(path)
        if status is None or stat.S_ISLNK(status.st_mode):
            return None
        if size is not None and status.st_size != size and stat.S_ISREG(status.st_mode):
            return None
        folder, name = self._parent(path)
        with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
            return file.read()

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of a path, for a link that of the link itself; None where it does not exist.

        Raises:
            RenderError: a link is within the path.
        """
        try:
            folder, name = self._parent(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                return None
            raise

    def take(self, path: str, source: Folder, source_path: str) -> None:
        """Move a file or a folder of another folder here, replacing an existing file or link.

        Raises:
            RenderError: a link is within the path.
            OSError: the file system refuses.
        """
        source_folder, source_name = source._parent(source_path)
        folder, name = self._parent(path, make=True)
        os.rename(source_name, name, src_dir_fd=source_folder, dst_dir_fd=folder)

    def remove(self, path: str) -> None:
        """Remove a file or link, if it exists, and the folders above it that become empty.

        Raises:
            RenderError: a link is within the path.
            OSError: the file system refuses.
        """
        try:
            folder, name = self._parent(path)
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        self._remove_empty(os.path.dirname(path))

    def remove_tree(self, path: str) -> None:
        """Remove an entry of this folder, if it exists: a file, a link, or a folder with all below it.

        Raises:
            OSError: the file system refuses.
        """
        import shutil

        self._leave_last()
        try:
            os.unlink(path, dir_fd=self._fd)
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            # Linux says the one of a folder, other systems the other.
            shutil.rmtree(path, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this one.

        Raises:
            OSError: it is not empty, or the file system refuses.
        """
        self._leave_last()
        os.rmdir(name, dir_fd=self._fd)

    def _remove_empty(self, path: str) -> None:
        self._leave_last()
        while path:
            try:
                folder, name = self._parent(path)
                os.rmdir(name, dir_fd=folder)
            except OSError:
                return
            path = os.path.dirname(path)

    def _parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """Return the open folder of a path, with the path's last part. The last folder stays open."""
        above, _, name = path.rpartition("/")
        if self._last[0] != above:
            self._leave_last()
            self._last = (above, self._open(above, make=make))
        return self._last[1], name

    def _open(self, path: str, *, make: bool) -> int:
        current = self._fd
        shown = self.path
        for part in filter(None, path.split("/")):
            shown = os.path.join(shown, part)
            try:
                below = self._enter(current, part, shown, make=make)
            finally:
                if current != self._fd:
                    os.close(current)
            current = below
        return current

    def _enter(self, folder: int, name: str, shown: str, *, make: bool = False) -> int:
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
            _make_folder(folder, name)
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            if error.errno not in _CLOSED:
                raise
            raise RenderError(f"{shown}: {_why_closed(folder, name)}") from error

    def _leave_last(self) -> None:
        if self._last[1] != self._fd:
            os.close(self._last[1])
        self._last = ("", self._fd)


def write_whole(file: int, content: bytes) -> None:
    """Write all bytes to an open file: one call may write only a part.

    Raises:
        OSError: the file system refuses.
    """
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def passing_name() -> str:
    """Return an unpredictable name for a file that exists until it is moved into its place."""
    return f".lossless-{os.urandom(8).hex()}"


def _make_folder(folder: int, name: str) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        # Another process that writes to the same tree has made it.
        return


def _why_closed(folder: int, name: str) -> str:
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return "is a link; below a folder that is written no link is followed"
    return "is a file, in the way of a folder of this name"
