"""The lock on a tree of files: one process at a time changes it, and a lock ends with its owner.

It is a record lock on a file in the staging folder: child processes do not inherit it, and network file
systems support it. Within one process such a lock excludes no thread, so the trees in use are recorded beside it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from contextlib import suppress

from lossless.ground.basics.errors import RenderError
from lossless.ground.documents.folder import Folder

STAGING = ".lossless-staging"
LOCK = "lock"
_ATTEMPTS = 100
"""How often a lock is tried for that its holder, at its end, removes with the folder."""
_HELD = (errno.EACCES, errno.EAGAIN)

_own: set[tuple[int, int]] = set()
"""Trees that this process changes, by device and inode."""
_guard = threading.Lock()


class TreeLock:
    """The lock on a tree; ``staging`` is the folder that it lies in."""

    def __init__(self, tree: Folder) -> None:
        """Take the lock, and create its folder if missing.

        Raises:
            RenderError: another process has it, or a link is in the way.
            OSError: the file system refuses, or has no locks.
        """
        self._tree = tree
        self._identity = tree.identity()
        with _guard:
            if self._identity in _own:
                raise _taken(tree)
            _own.add(self._identity)
        try:
            self.staging, self._file = _locked(tree)
        except (RenderError, OSError):
            _own.discard(self._identity)
            raise

    def release(self, *, remove: bool) -> None:
        """Give the lock back; ``remove`` its folder, which is empty but for it, too.

        Raises:
            OSError: the file system refuses.
        """
        try:
            if remove:
                # While it is locked: whoever waits for this file finds that it is none of the folder's any more.
                self.staging.remove(LOCK)
                with suppress(OSError):
                    self._tree.remove_folder(STAGING)
        finally:
            self.staging.close()
            os.close(self._file)
            _own.discard(self._identity)


def _locked(tree: Folder) -> tuple[Folder, int]:
    """Return the staging folder and the lock in it, which is ours."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):
            tree.make(STAGING, 0o700)
        with suppress(FileNotFoundError):
            staging = Folder(STAGING, within=tree)
            try:
                return staging, _lock(tree, staging)
            except (RenderError, OSError):
                staging.close()
                with suppress(OSError):
                    # Where it is empty nobody else is at work.
                    tree.remove_folder(STAGING)
                raise
    raise _taken(tree)


def _lock(tree: Folder, staging: Folder) -> int:
    """Return the locked file.

    Raises:
        FileNotFoundError: whoever had the lock has removed it, and its folder.
    """
    file = staging.open(LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = staging.status(LOCK)
        if status is None or not os.path.samestat(status, os.fstat(file)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), LOCK)
    except OSError as error:
        os.close(file)
        raise (_taken(tree) if error.errno in _HELD else error) from error
    return file


def _taken(tree: Folder) -> RenderError:
    return RenderError(f"{tree.path}: another render is writing there; nothing was written")
