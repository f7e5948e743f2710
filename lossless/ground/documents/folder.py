"""A folder that is read and written without following links, so that no path below it leaves it.

A foreign repository may contain links to anywhere. The folder itself may be a link: the user named it.

Which files input may name: a path that a file states, and a link or a name that is met in a folder, lead to files of
the same repository, or of the folder outside of one, or to paths that the user named. Links, ``..`` and absolute paths
are resolved before that is decided, and ``.git`` is no place for input: it holds the credentials of a checkout.

Which files are written: those that the user named, where no link on the way to them leads elsewhere.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, OutsideError, Problem, RenderError
from lossless.ground.basics.files import beginning
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
        RenderError: it is below the folder ``within``, and a link or a file.
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

    def claim(self) -> None:
        """Lock the folder for staged files until it is closed, and remove files that ended processes have staged.

        Any number of processes share the lock; files are removed only while no other process has it. Where the file
        system has no locks, nothing is removed.
        """
        import fcntl

        with suppress(OSError):
            # Alone here: no other process that could have staged a file is at work.
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in self.names():
                owner = _PASSING.fullmatch(name)
                if owner is not None and _has_ended(int(owner[1])):
                    with suppress(OSError):
                        os.unlink(name, dir_fd=self._fd)
        with suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)

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
            OSError: the file system refuses, or there is already an entry of that name.
        """
        folder, name = self._parent(path, make=True)
        os.mkdir(name, mode, dir_fd=folder)

    def create(
        self, path: str, content: bytes, mode: int | None = None, *, like: os.stat_result | None = None
    ) -> None:
        """Write a new file, and make the folders that it needs; a file that cannot be written completely is removed.

        Without a ``mode`` it has that of any new file. ``like``: it has the mode of another file, for root its owner
        too.

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
        """Return the content of a file; None if it is missing, a link, or a regular file of another size than ``size``.

        Raises:
            RenderError: a link or a file is in the way of a folder.
            OSError: it cannot be read.
        """
        status = self.status(path)
        if status is None or stat.S_ISLNK(status.st_mode):
            return None
        if size is not None and status.st_size != size and stat.S_ISREG(status.st_mode):
            return None
        folder, name = self._parent(path)
        return beginning(name, status.st_size + 1, folder=folder)

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of a path, for a link that of the link itself; None where it does not exist.

        Raises:
            RenderError: a link or a file is in the way of a folder.
            OSError: the file system refuses.
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
            RenderError: a link or a file is in the way of a folder.
            OSError: the file system refuses.
        """
        source_folder, source_name = source._parent(source_path)
        folder, name = self._parent(path, make=True)
        os.rename(source_name, name, src_dir_fd=source_folder, dst_dir_fd=folder)

    def remove(self, path: str) -> None:
        """Remove a file or link, if it exists, and the folders above it that are then empty.

        Raises:
            RenderError: a link or a file is in the way of a folder.
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


_PASSING = re.compile(r"\.lossless-([0-9]{1,10})-[0-9a-f]{16}")


def passing_name() -> str:
    """Return an unpredictable name for a file that this process stages before it is moved into its place."""
    return f".lossless-{os.getpid()}-{os.urandom(8).hex()}"


def _has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


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


_GIT = ".git"
_STREAMS = ("/dev/", "/proc/")
"""Folders of the system whose links are its own: ``/dev/stdout``, ``/proc/self/fd/1``."""


class _Widening(NamedTuple):
    """Paths that input may name beside those of its repository: ``roots`` to read and write, ``named`` to read only."""

    roots: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


_NOTHING_MORE = _Widening()
_widening: ContextVar[_Widening] = ContextVar("widening", default=_NOTHING_MORE)


@contextmanager
def reaching(roots: Iterable[str], named: Iterable[str] = ()) -> Iterator[None]:
    """Let input name further files and folders within a block, as :func:`widen` does without a block."""
    before = _widening.get()
    widen(roots, named)
    try:
        yield
    finally:
        _widening.set(before)


def widen(roots: Iterable[str], named: Iterable[str] = ()) -> None:
    """Let input name further files and folders, which the user gave, for the rest of this context.

    Files may be written to ``roots`` through links. Paths in ``named`` are only read, where they really lie: a link
    that the user names widens nothing, as a stranger may have made it.
    """
    before = _widening.get()
    _widening.set(
        _Widening((*before.roots, *map(os.path.realpath, roots)), (*before.named, *map(_named_place, named)))
    )


def _named_place(path: str) -> str:
    """Return a path that the user gave with the links of its folders resolved; a link at its end is not followed."""
    above, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(above), name)


class Reach:
    """The files that input in some folders may name: those of their repositories, or of a folder outside of one.

    ``named`` are further paths of the user, like those of :func:`widen`.
    """

    __slots__ = ("_named", "_roots")

    def __init__(self, folders: Iterable[str], named: Iterable[str] = ()) -> None:
        real = [os.path.realpath(folder or os.curdir) for folder in folders]
        self._roots = tuple(dict.fromkeys(top_of(folder) or folder for folder in real))
        self._named = named

    def refusal(self, path: str, real: str | None = None) -> str:
        """Return the reason why input may not name a path, empty where it may; ``real`` is the path without links.

        Whether the file exists is not looked at: a refusal reveals nothing of files outside.
        """
        real = os.path.realpath(path) if real is None else real
        for root in self._roots:
            if _is_own(real, root):
                return ""
        allowed = _widening.get()
        named = (*allowed.named, *map(_named_place, self._named))
        if any(_is_own(real, root) for root in allowed.roots) or any(
            _is_within(real, name) for name in named
        ):
            return ""
        stated = os.path.abspath(path)
        is_direct = stated == real or not any(_is_within(stated, root) for root in self._roots)
        leads, place = ("lies", stated) if is_direct else (f"leads to {real},", real)
        where = (
            f"in {_GIT}"
            if any(_is_within(real, root) for root in self._roots)
            else f"outside of {_shown(self._roots[0])}"
        )
        return f"{leads} {where}; if that is meant, add --root {_from_here(os.path.dirname(place))}"


def _from_here(path: str) -> str:
    """Return a path as one types it: from the current folder where it lies in or below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _shown(folder: str) -> str:
    shown = _from_here(folder)
    return "the current folder" if shown == os.curdir else shown


def _is_own(real: str, root: str) -> bool:
    """Return whether a path lies in a repository or folder, and not in a ``.git`` below it."""
    return _is_within(real, root) and _GIT not in real[len(root) :].lower().split(os.sep)


def _is_within(real: str, root: str) -> bool:
    return real == root or real.startswith(os.path.join(root, ""))


def top_of(folder: str) -> str | None:
    """Return the top folder of the repository that contains a folder, with links resolved; None outside of one."""
    return next((path for path in _upward(os.path.realpath(folder)) if is_top(path)), None)


def is_top(folder: str) -> bool:
    """Return whether a repository begins at a folder."""
    return os.path.exists(os.path.join(folder, _GIT))


def _upward(path: str) -> Iterator[str]:
    yield path
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        yield path


def link_refusal(file: str, *named: str) -> str:
    """Return the reason why a file met in a folder may not be read, empty where it may; ``named`` is that folder."""
    return Reach([os.path.dirname(file)], named).refusal(file)


def file_in(folder: str | os.PathLike[str], name: str) -> str:
    """Return the path of a file in a folder that the user names.

    Raises:
        InputError: a link on its path leads to a place that input in the folder may not name (:class:`Reach`).
    """
    path = os.path.join(folder, name)
    if why := link_refusal(path, os.fspath(folder)):
        raise InputError([Problem(path, None, None, why)])
    return path


class StatedPath:
    """A path as an input states it. It is no text and cannot be opened: :meth:`beside` makes a path of it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return the text in quotes."""
        return repr(self._text)

    def __eq__(self, other: object) -> bool:
        """Return whether two inputs state the same text."""
        return isinstance(other, StatedPath) and other._text == self._text

    def __hash__(self) -> int:
        """Return a hash of the text."""
        return hash(self._text)

    def beside(self, file: str, above: str = "") -> str:
        """Return the stated path so that it can be opened: relative to the folder of the ``file`` that states it.

        Where that file is a link, files beside its target may be named too. ``above`` is the relative path to
        the folder whose files may be named, where a format has its files in folders beside each other.

        Raises:
            OutsideError: it leads to a file that input may not name, is no file name, or is a pipe, socket or device.
        """
        path = os.path.join(os.path.dirname(file), self._text)
        try:
            folders = (os.path.dirname(file), os.path.dirname(os.path.realpath(file)))
            why = Reach(os.path.join(folder, above) for folder in folders).refusal(path)
            is_special = not why and os.path.exists(path) and not os.path.isfile(path)
        except ValueError:
            # A zero byte, or half of a surrogate pair.
            raise OutsideError(f"{self._text!r} is no name that a file can have") from None
        if why:
            raise OutsideError(f"{self._text!r} {why}")
        if is_special and not os.path.isdir(path):
            raise OutsideError(f"{self._text!r} is a pipe, a socket or a device; expected a file")
        return path


def written_place(path: str) -> str:
    """Return where a path that the user names is written to, without links.

    A link on the way is followed if it leads to a place of the same repository (of its own folder outside of one) or of
    the roots of :func:`widen`; those of ``/dev`` and ``/proc`` are followed too. Links are examined below the current
    folder; outside of it below the repository, or else the folder of the file.

    Raises:
        RenderError: a link leads elsewhere or to nothing, or ``..`` follows a link.
    """
    whole = os.path.abspath(path)
    real = os.path.realpath(whole)
    if os.path.realpath(path) != real:
        raise RenderError(f"{path}: cannot be written: its .. follows a link; name the place itself")
    if whole == real or whole.startswith(_STREAMS):
        return real
    start = _start(whole)
    links = [
        place
        for place in _upward(whole)
        if place != start and _is_within(place, start) and os.path.islink(place)
    ]
    for place in reversed(links):
        target = os.path.realpath(place)
        if not os.path.exists(place):
            raise RenderError(
                f"{path}: cannot be written: {_named_link(place, whole)}leads to {target}, which is not there"
            )
        above = os.path.dirname(place)
        root = top_of(above) or os.path.realpath(above)
        if not _is_own(target, root) and not any(
            _is_within(target, other) for other in _widening.get().roots
        ):
            allow = f"name that place itself, or add --root {_from_here(os.path.dirname(target))}"
            why = f"leads to {target}, outside of {_shown(root)}; {allow}"
            raise RenderError(f"{path}: cannot be written: {_named_link(place, whole)}{why}")
    return real


def _named_link(place: str, whole: str) -> str:
    return "it is a link that " if place == whole else f"{os.path.relpath(place)} is a link that "


def _start(whole: str) -> str:
    """Return the folder below which the links of a path are examined: current folder, repository, or its own one."""
    here = os.getcwd()
    if _is_within(whole, here):
        return here
    above = os.path.dirname(whole)
    return next((folder for folder in _upward(above) if is_top(folder)), above)
