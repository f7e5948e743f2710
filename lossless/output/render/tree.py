"""The tree of files below an output folder: compared with the planned files, and changed as a whole or not at all.

Nothing is read or written through a link below the folder. docs/adr/0024 describes how a change stays whole when it
is interrupted: it is staged beside the tree, decided by one rename, then moved into place.

``.lossless-staging`` in the folder holds ``new/`` with the new files and, once all of them are there, a journal of
files to move and to remove. From that rename on the change counts: if a process ends before all moves are done, the
next process that changes the tree completes them first. Before the rename, staged files are discarded. The manifest
moves last: a tree whose files do not match its manifest is under change (docs/adr/0024).

The manifest has every file, with its checksum unless it is secret, and for a file of a device its target, the way to
apply it, and the effect on traffic. It lies beside the folders of the devices. It holds no time and no machine's name:
the same tree, made from the same bases, has the same manifest.

The lock lets one process at a time change the tree, and ends with its owner. It is a record lock on a file in the
staging folder: child processes do not inherit it, and network file systems support it. Within one process such a lock
excludes no thread, so the trees in use are recorded beside it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple, Record
from lossless.ground.documents.folder import Folder, written_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from lossless.formats.device_files.base_merge import Deployment, PlannedFile, UpdatePlan


_R = TypeVar("_R", bound=Record)
_NEW = "new"
_JOURNAL = "journal.json"
_DRAFT = "journal.part"


class TreeChange:
    """A change of the tree below a folder, which is created if missing; a lock excludes other changes meanwhile.

    ``finished`` reports whether an earlier, interrupted change was finished first.
    """

    def __init__(self, path: str) -> None:
        """Create the folder if missing, take the lock, and finish an interrupted change or remove its staged files.

        Raises:
            RenderError: another process changes the tree, a link is in the way, or its journal is not one of this
                program.
            OSError: the file system refuses.
        """
        place = written_place(path)
        self._made = _make_folders(Path(place))
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
        """Write a file into the staging folder, also in a child process; without a mode it gets that of any new file.

        Raises:
            RenderError: a link or a file is in the way of a folder.
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
        """End: discard staged files without a journal; a change with a journal is finished by the next process."""
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
    """Return whether a tree has a journal: a change of it was decided, and is not finished."""
    return tree.status(f"{STAGING}/{_JOURNAL}") is not None


def require_inside(path: str) -> None:
    """Refuse a path outside of the output folder, the manifest's, or one with a part that begins with a dot.

    Raises:
        RenderError: it is one of these.
    """
    parts = path.split("/")
    if path == NAME or any(part == "" or part.startswith(".") for part in parts):
        raise RenderError(f"{path!r} is not a path below the output folder")


class _Journal(Record):
    files: list[str]
    stale: list[str]


def _journal(file: str, text: bytes) -> tuple[list[str], list[str]]:
    """Return the paths that a journal lists to move and to remove.

    Raises:
        RenderError: it is no journal of this program, or names a path outside of the folder.
    """
    journal = _own_record(file, text, _Journal, "not a journal of ours; remove its folder")
    for path in (*journal.files, *journal.stale):
        require_inside(path)
    return journal.files, journal.stale


def _own_record(file: str, text: bytes, shape: type[_R], says: str) -> _R:
    """Return the record in a file that this program wrote.

    Raises:
        RenderError: it is another or a damaged file; the message has the location and ``says``.
    """
    from lossless.ground.documents import load_bytes
    from lossless.ground.documents.json.own_records import own_record

    try:
        return own_record(load_bytes(text, file), shape)
    except InputError as error:
        raise RenderError(*(f"{problem}: {says}" for problem in error.problems)) from error


def _make_folders(path: Path) -> list[Path]:
    """Make a folder and those above it; return which were made, the innermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    return missing


NAME = "manifest.json"
VERSION = 2
"""The version of the manifest: 2 has how files are applied on their devices, 1 did not."""


class ManifestEntry(NamedTuple):
    """The entry of one file in the manifest; ``changed`` is whether it differs from the present file.

    ``sha256`` is None for a ``secret`` file: it would let others try keys until one fits.
    """

    path: str
    sha256: str | None
    executable: bool
    deployment: Deployment | None
    changed: bool
    secret: bool = False

    @property
    def mode(self) -> int:
        """The permissions of the file."""
        return 0o600 if self.secret else 0o755 if self.executable else 0o644


def manifest_text(entries: Iterable[ManifestEntry], changes: Iterable[UpdatePlan] = ()) -> str:
    """Return the text of the manifest: a line for each file, by path, and for each update plan, in their order."""
    files = [_entry(entry) for entry in sorted(entries, key=lambda entry: entry.path)]
    return (
        f'{{\n  "version": {VERSION},\n  "files": {_lines(files)},\n'
        f'  "changes": {_lines(list(map(_change, changes)))}\n}}\n'
    )


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = ",\n".join("    " + encode(row) for row in rows)
    return f"[\n{lines}\n  ]" if lines else "[]"


def _entry(entry: ManifestEntry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": entry.path,
        "device": entry.path.partition("/")[0],
        "sha256": entry.sha256,
        "mode": f"{entry.mode:04o}",
    }
    if entry.deployment is not None:
        target, apply, hitless, why, ports_stay_up = entry.deployment
        # What hits nothing takes no port down.
        stay_up = ports_stay_up if ports_stay_up is not None else hitless or None
        data |= {"target": target, "apply": apply, "hitless": hitless, "ports_stay_up": stay_up, "why": why}
    return data


def _change(change: UpdatePlan) -> dict[str, Any]:
    return {
        "device": change.device,
        "how": change.how,
        "ports_down": change.ports_down,
        "why": change.why,
        "harms": change.harms,
    }


class _ListedFile(Record):
    path: str


class _Manifest(Record):
    files: list[_ListedFile]


def listed_paths(path: str, text: bytes) -> list[str]:
    """Return the paths that a manifest lists.

    Raises:
        RenderError: it is no manifest of this program.
    """
    manifest = _own_record(path, text, _Manifest, "not a manifest of ours; name another folder")
    return [file.path for file in manifest.files]


MANIFEST = NAME


class Tree:
    """The files below an output folder, compared with the planned ones; nothing is written."""

    def __init__(self, path: str) -> None:
        """Open the folder, if there is one.

        Raises:
            RenderError: it cannot be opened, or is a link that leads elsewhere.
        """
        self._path = path
        written_place(path)
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
        """The note on an earlier, interrupted change of the tree; empty without one."""
        if self._folder is None or not interrupted(self._folder):
            return ()
        return (
            f"{self._path}: a render was interrupted while it changed these files; the next one finishes it",
        )

    def entry(self, file: PlannedFile) -> ManifestEntry:
        """Return the manifest entry of a planned file, with whether it differs from the present one.

        Raises:
            RenderError: the path is not one below the folder, or a folder or link is in the way.
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

    def is_missing(self, path: str) -> bool:
        """Return whether the present tree has no file of this path."""
        return self._folder is None or self._folder.status(path) is None

    def stale(self, entries: Sequence[ManifestEntry]) -> list[str]:
        """Return the files that an earlier render wrote here and this one does not.

        Raises:
            RenderError: the folder holds a manifest of another program, or one with a path outside of it.
        """
        content = self._read(MANIFEST)
        if content is None:
            return []
        paths = listed_paths(f"{self._path}/{MANIFEST}", content)
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
            RenderError: the file system refuses, a link is in the way, another process changes the tree, or the folder
                holds a manifest or journal of another program.
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
        """Remove files that are still staged, except those of a decided change; after :meth:`finish` there are none."""
        self._change.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """The note on an earlier change of the tree that was interrupted and is finished now; empty without one."""
        if not self._change.finished:
            return ()
        return (
            f"{self._path}: an earlier render was interrupted while it changed these files; it is finished now",
        )

    def entry(self, file: PlannedFile) -> ManifestEntry:
        """Stage a planned file, and return its manifest entry, also in a child process.

        Raises:
            RenderError: the path is not one below the folder, or the file system refuses.
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


STAGING = ".lossless-staging"
LOCK = "lock"
_ATTEMPTS = 100
"""How often a lock is tried: its holder removes it with the staging folder when it ends."""
_HELD = (errno.EACCES, errno.EAGAIN)

_own: set[tuple[int, int]] = set()
"""Trees that this process changes, by device and inode."""
_guard = threading.Lock()


class TreeLock:
    """The lock on a tree; ``staging`` is the folder of the lock file."""

    def __init__(self, tree: Folder) -> None:
        """Take the lock, and create its folder if missing.

        Raises:
            RenderError: another process or thread has it, or a link is in the way.
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
        """Release the lock; with ``remove`` also delete the lock file, and the staging folder if it is then empty.

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
    """Take the lock; return the staging folder and the descriptor of the lock file.

    Raises:
        RenderError: another process has it, or a link is in the way.
        OSError: the file system refuses, or has no locks.
    """
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
    """Return the descriptor of the locked file.

    Raises:
        FileNotFoundError: the process that had the lock has removed the file.
        RenderError: another process has the lock, or a link is in the way.
        OSError: the file system refuses, or has no locks.
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
