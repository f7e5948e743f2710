"""The tree of files below an output folder: its differences from the plan, and its change, all or nothing.

Nothing is read or written through a link below the folder. :mod:`lossless.output.render.change` and docs/adr/0024
describe how a change stays whole when it is interrupted.
"""

from __future__ import annotations

import hashlib
import stat
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.ground.documents.folder import Folder
from lossless.output.render.change import TreeChange, interrupted, require_inside
from lossless.output.render.manifest import NAME, ManifestEntry, listed_paths, manifest_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from lossless.formats.device_files.deployment import PlannedFile, UpdatePlan

MANIFEST = NAME


class Tree:
    """The files below an output folder, compared with the planned ones; nothing is written."""

    def __init__(self, path: str) -> None:
        """Open the folder, if there is one.

        Raises:
            RenderError: it cannot be opened.
        """
        self._path = path
        try:
            self._folder: Folder | None = Folder(path)
        except FileNotFoundError:
            self._folder = None
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> Self:
        """Return the tree itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folder."""
        if self._folder is not None:
            self._folder.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on an earlier, interrupted change of the tree."""
        if self._folder is None or not interrupted(self._folder):
            return ()
        return (
            f"{self._path}: a render was interrupted while it changed these files; the next one finishes it",
        )

    def entry(self, file: PlannedFile) -> ManifestEntry:
        """Return the manifest entry of a file, with whether it differs from the present one.

        Raises:
            RenderError: a path that leaves the folder, or something that is no file is in the way.
        """
        require_inside(file.path)
        content = file.text.encode()
        checksum = None if file.secret else hashlib.sha256(content).hexdigest()
        differs = self._differs(file, content)
        return ManifestEntry(file.path, checksum, file.executable, file.deployment, differs, file.secret)

    def _differs(self, file: PlannedFile, content: bytes) -> bool:
        if self._read(file.path, len(content)) != content:
            return True
        mode = self._mode(file.path)
        return (file.executable and not mode & 0o111) or (file.secret and not is_closed(mode))

    def finish(self, entries: Sequence[ManifestEntry], plans: Sequence[UpdatePlan] = ()) -> None:
        """Do nothing: this tree is read-only."""

    def changed(self, entries: Sequence[ManifestEntry]) -> tuple[str, ...]:
        """Return the paths that differ from the present tree, including files that would be removed."""
        differing = (entry.path for entry in entries if entry.changed)
        return tuple(sorted({*differing, *self.stale(entries)}))

    def stale(self, entries: Sequence[ManifestEntry]) -> list[str]:
        """Return the files that an earlier render wrote here and this one does not.

        Raises:
            RenderError: the folder holds a manifest that is not ours, or one that points outside.
        """
        text = self.text(MANIFEST)
        if text is None:
            return []
        paths = listed_paths(f"{self._path}/{MANIFEST}", text)
        for path in paths:
            require_inside(path)
        planned = {entry.path for entry in entries}
        return [path for path in paths if path not in planned]

    def text(self, path: str) -> str | None:
        """Return the text of a file of the present tree, None where there is none."""
        content = self._read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def is_secret(self, path: str) -> bool:
        """Return whether only its owner may read a file of the present tree."""
        return self._folder is not None and is_closed(self._mode(path))

    def _mode(self, path: str) -> int:
        status = self._folder.status(path) if self._folder is not None else None
        return stat.S_IMODE(status.st_mode) if status is not None else 0o777

    def _read(self, path: str, size: int | None = None) -> bytes | None:
        try:
            return None if self._folder is None else self._folder.read(path, size)
        except OSError as error:
            raise RenderError(
                f"{self._path}/{path}: in the way of what is to be written: {error.strerror}"
            ) from error

    def _refused(self, error: OSError) -> RenderError:
        return RenderError(f"{self._path}: cannot be written: {error.strerror}")


class ChangingTree(Tree):
    """A tree that is changed: its files are staged beside it as they come, and moved into their places at the end."""

    def __init__(self, path: str) -> None:
        """Begin the change; an earlier, interrupted one is finished first, or its staged files are removed.

        Raises:
            RenderError: the file system refuses, another process changes the tree, or the folder holds a manifest
                that is not ours.
        """
        try:
            self._change = TreeChange(path)
        except OSError as error:
            raise RenderError(f"{path}: cannot be written: {error.strerror}") from error
        self._path, self._folder = path, self._change.tree
        try:
            self.stale(())
        except RenderError:
            self._change.close()
            raise

    def __exit__(self, *_: object) -> None:
        """Remove files that are still staged; after :meth:`finish` there are none."""
        self._change.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on an earlier change of the tree that was interrupted and is finished now."""
        if not self._change.finished:
            return ()
        return (
            f"{self._path}: an earlier render was interrupted while it changed these files; it is finished now",
        )

    def entry(self, file: PlannedFile) -> ManifestEntry:
        """Stage a file, and return whether it differs from the present one. Any process may.

        Raises:
            RenderError: a path that leaves the folder, or a file system that refuses.
        """
        entry = super().entry(file)
        try:
            mode = entry.mode if file.secret or file.executable else None
            self._change.stage(file.path, file.text.encode(), mode)
        except OSError as error:
            raise RenderError(f"{self._path}/{file.path}: cannot be written: {error.strerror}") from error
        return entry

    def finish(self, entries: Sequence[ManifestEntry], plans: Sequence[UpdatePlan] = ()) -> None:
        """Move all staged files into place, and remove files of an earlier render that this one does not contain.

        Raises:
            RenderError: the file system refuses.
        """
        stale = self.stale(entries)
        try:
            self._change.stage(MANIFEST, manifest_text(entries, plans).encode())
            self._change.commit([entry.path for entry in entries], stale)
        except OSError as error:
            raise self._refused(error) from error


def is_closed(mode: int) -> bool:
    """Return whether a mode lets the owner alone read a file."""
    return mode & 0o077 == 0
