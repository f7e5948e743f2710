"""Finds the folders of templates, profiles and examples, and opens the files of users.

Templates, profiles and examples lie in the wheel, or beside the package in a checkout. One accessor for both, because
``importlib.resources`` does not find these files in an editable install.

Input files that a user, a checkout or another file names are opened by :func:`beginning`, pipes that the command line
names by :func:`hold_pipe`.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.limits import FILE_BYTES

if TYPE_CHECKING:
    from typing import BinaryIO

# Plain strings: pathlib costs a linter's start a third of an interpreter's.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def data_dir(kind: Literal["templates", "profiles", "examples"]) -> str:
    """Return the folder of one kind of data.

    Raises:
        LosslessError: the installation is damaged.
    """
    for root in (os.path.join(_PACKAGE, "_data"), os.path.dirname(_PACKAGE)):
        folder = os.path.join(root, kind)
        if os.path.isdir(folder):
            return folder
    raise LosslessError(f"the installation is damaged: no folder {kind!r} beside the package or in it")


def build_version() -> str:
    """Return the version with the commit of this package as local part: ``0.1.0+g1f1ab4577e31``.

    It ends with ``.dirty`` if the package was built from changed files, and with ``.checkout`` in a checkout, whose
    files may differ from the commit. A package that was built without git has the version alone.
    """
    from lossless import __version__

    try:
        with open(os.path.join(_PACKAGE, "_data", "COMMIT"), encoding="ascii") as file:
            return f"{__version__}+g{file.read().strip()}"
    except OSError:
        commit = _checked_out(os.path.join(os.path.dirname(_PACKAGE), ".git"))
        return f"{__version__}+g{commit[:12]}.checkout" if commit else __version__


def _checked_out(folder: str) -> str:
    """Return the commit that a ``.git`` folder has checked out, read without git; empty if it cannot be read.

    Source: git's documentation, ``gitrepository-layout``: HEAD, refs and packed-refs.
    """
    try:
        with open(os.path.join(folder, "HEAD"), encoding="ascii") as file:
            kind, _, ref = file.read().strip().rpartition(" ")
        if not kind:
            return ref
        loose = os.path.join(folder, *ref.split("/"))
        if os.path.isfile(loose):
            with open(loose, encoding="ascii") as file:
                return file.read().strip()
        with open(os.path.join(folder, "packed-refs"), encoding="utf-8") as file:
            rows = (line.split() for line in file)
            return next((row[0] for row in rows if row[1:] == [ref]), "")
    except (OSError, ValueError):
        return ""


def beginning(file: str, most_bytes: int, *, folder: int | None = None) -> bytes:
    """Return the first ``most_bytes`` bytes of a regular file or of a pipe read by :func:`hold_pipe`, or all if fewer.

    ``folder`` is the descriptor of the folder of the file; a link by that name in it is not followed.

    Raises:
        OSError: it is missing, not a regular file, not permitted, or cannot be read.
    """
    # pathlib is slow to import, and a file that is read needs none of it.
    from io import BufferedReader, FileIO

    if folder is None and file in _HELD:
        return _HELD[file][:most_bytes]
    # Before it is opened: to open a device may be enough to make it act.
    _require_regular(os.stat(file, dir_fd=folder, follow_symlinks=folder is None).st_mode)
    # Another file may have taken its place: opening that waits for nothing either.
    flags = _READ if folder is None else _READ | os.O_NOFOLLOW
    with BufferedReader(FileIO(os.open(file, flags, dir_fd=folder))) as stream:
        status = os.fstat(stream.fileno())
        _require_regular(status.st_mode)
        # Memory for the largest file that is read costs more to come by than most files to read.
        size = min(status.st_size, most_bytes - 1)
        # None: a file of the kernel's that has nothing to say now (/proc/kmsg).
        raw = stream.read(size + 1) or b""
        return raw if len(raw) <= size else raw + (stream.read(most_bytes - len(raw)) or b"")


_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_HELD: dict[str, bytes] = {}
"""By name, the contents of the pipes that the command line names: each can be read once, and is needed again."""


def _require_regular(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    kind = next((kind for is_of, kind in _KINDS if is_of(mode)), "of an unknown kind")
    raise OSError(errno.EINVAL, f"it is {kind}, not a regular file")


def is_device(stream: BinaryIO) -> bool:
    """Return whether an open stream is that of a character or block device; one in memory is not."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def hold_pipe(file: str) -> str | None:
    """Read a pipe to its end, and return the name by which its content is read later; None if no pipe can be read.

    A name without a suffix, such as the one a shell gives to ``<(...)``, gets ``.json`` where the content looks like
    JSON, and ``.yaml`` where it is an intent, unless a file has that name. Of an endless pipe only so much is read that
    it is refused as too large.
    """
    try:
        if not stat.S_ISFIFO(os.stat(file).st_mode):
            return None
        with open(file, "rb") as stream:
            raw = stream.read(FILE_BYTES + 1)
    except (OSError, ValueError):
        # Its reader says why.
        return None
    name = file
    if "." not in os.path.basename(file):
        name += _suffix(raw.removeprefix(b"\xef\xbb\xbf").lstrip())
        name = file if os.path.exists(name) else name
    _HELD[name] = raw
    return name


def _suffix(text: bytes) -> str:
    if text.startswith((b"{", b"[")):
        return ".json"
    return ".yaml" if text.startswith(b"lossless:") or b"\nlossless:" in text else ""


def is_held(name: str) -> bool:
    """Return whether a name stands for a pipe that was read, and cannot be written back."""
    return name in _HELD


def release_pipe(name: str) -> None:
    """Forget the content of a pipe."""
    _HELD.pop(name, None)
