"""The change of a tree of files as a whole: staged beside it, decided by one rename, then moved into place.

``.lossless-staging`` in the folder holds ``new/`` with the new files and, once all of them are there, a journal of
files to move and to remove. From that rename on the change counts: if a process ends before all moves are done, the
next process that changes the tree completes them first. Before the rename, staged files are discarded. The manifest
moves last: a tree whose files do not match its manifest is under change (docs/adr/0024).
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.grouping import grouped
from lossless.ground.documents.folder import Folder
from lossless.output.render.manifest import NAME
from lossless.output.render.tree_lock import LOCK, STAGING, TreeLock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NEW = "new"
_JOURNAL = "journal.json"
_DRAFT = "journal.part"


class TreeChange:
    """A change of the tree below a folder, which is created if missing; a lock excludes other changes meanwhile.

    ``finished`` reports whether an earlier, interrupted change was finished first.
    """

    def __init__(self, path: str) -> None:
        """Begin.

        Raises:
            RenderError: another process changes the tree, or a link is in the way.
            OSError: the file system refuses.
        """
        self._made = _make_folders(Path(path))
        self.tree = Folder(path)
        try:
            self._lock = TreeLock(self.tree)
        except (RenderError, OSError):
            self.tree.close()
            raise
        try:
            self.finished = self._recovered()
            self._lock.staging.make(_NEW)
            self._new = Folder(_NEW, within=self._lock.staging)
        except (RenderError, OSError):
            self._leave(remove=not interrupted(self.tree))
            raise

    def stage(self, path: str, content: bytes, mode: int | None = None) -> None:
        """Write a file that is to come; without a mode it gets that of any new file. Any process may.

        Raises:
            OSError: the file system refuses.
        """
        self._new.create(path, content, mode)

    def commit(self, paths: Sequence[str], stale: Sequence[str]) -> None:
        """Move staged files into place, the manifest last, and remove stale ones.

        Raises:
            RenderError: a link is in the way; nothing has changed.
            OSError: the file system refuses; the next change of the tree finishes moves that have begun.
        """
        for path in stale:
            # Here a link on the way can still be refused.
            self.tree.status(path)
        staging = self._lock.staging
        staging.create(_DRAFT, json.dumps({"files": list(paths), "stale": list(stale)}).encode())
        staging.take(_JOURNAL, staging, _DRAFT)
        self._apply(paths, stale)

    def close(self) -> None:
        """End: discard staged files of an undecided change; a decided one that is unfinished waits for the next."""
        self._new.close()
        self._leave(remove=not interrupted(self.tree))

    def _recovered(self) -> bool:
        """Finish an interrupted change, and remove other staging files; return whether there was one to finish."""
        text = self._lock.staging.read(_JOURNAL)
        if text is None:
            self._clear()
            return False
        paths, stale = _journal(f"{self.tree.path}/{STAGING}/{_JOURNAL}", text)
        with suppress(FileNotFoundError), Folder(_NEW, within=self._lock.staging) as self._new:
            self._apply(paths, stale)
        self._clear()
        return True

    def _apply(self, paths: Iterable[str], stale: Iterable[str]) -> None:
        """Do the remaining moves and removals of a change; each can be repeated without harm."""
        if self._new.status(NAME) is None:
            # The manifest moves last: all is in place.
            return
        for device, below in grouped((path.partition("/")[0], path) for path in paths).items():
            self._move(device, below)
        for path in stale:
            self.tree.remove(path)
        self.tree.take(NAME, self._new, NAME)
        self._lock.staging.remove(_JOURNAL)

    def _move(self, device: str, paths: Iterable[str]) -> None:
        """Move the files of a device: its folder as a whole where there is none yet."""
        if self._new.status(device) is None:
            return
        if self.tree.status(device) is None:
            self.tree.take(device, self._new, device)
            return
        for path in paths:
            if self._new.status(path) is not None:
                self.tree.take(path, self._new, path)

    def _leave(self, *, remove: bool) -> None:
        try:
            if remove:
                self._clear()
            self._lock.release(remove=remove)
        finally:
            self.tree.close()
            with suppress(OSError):
                for folder in self._made:
                    folder.rmdir()

    def _clear(self) -> None:
        # The journal goes first: what is left without one does not count.
        staging = self._lock.staging
        for name in sorted(staging.names() - {LOCK}, key=lambda name: name != _JOURNAL):
            staging.remove_tree(name)


def interrupted(tree: Folder) -> bool:
    """Return whether a change of a tree has been decided, and is not finished."""
    return tree.status(f"{STAGING}/{_JOURNAL}") is not None


def require_inside(path: str) -> None:
    """Refuse a path outside of the output folder, or one that is reserved: the manifest's, or ``.git``.

    Raises:
        RenderError: it is one.
    """
    parts = path.split("/")
    if path == NAME or any(part == "" or part.startswith(".") for part in parts):
        raise RenderError(f"{path!r} is not a path below the output folder")


def _journal(file: str, text: bytes) -> tuple[list[str], list[str]]:
    """Return the paths that a journal lists to move and to remove."""
    try:
        data = json.loads(text)
        paths, stale = list(data["files"]), list(data["stale"])
    except (ValueError, KeyError, TypeError, RecursionError):
        paths, stale = [None], []
    if not all(isinstance(path, str) for path in (*paths, *stale)):
        raise RenderError(f"{file}: not a journal of ours; remove its folder")
    for path in (*paths, *stale):
        require_inside(path)
    return paths, stale


def _make_folders(path: Path) -> list[Path]:
    """Make a folder and those above it; return which were made, the innermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    return missing
