"""Writing a tree of files: all or nothing to see, and never outside its folder.

Everything is staged beside its target first, as it comes, and renamed into place at the end; a tree that cannot be
staged whole leaves the old one as it was. Files of an earlier render that are no longer part of the tree are
removed, by its manifest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.output.render.manifest import NAME, ManifestEntry, listed_paths, manifest_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.output.render.planned_files import PlannedFile, UpdatePlan

MANIFEST = NAME
_STAGING = ".lossless-staging"


def changed_paths(folder: Path, entries: Sequence[ManifestEntry]) -> tuple[str, ...]:
    """Return what differs from the present tree, files that would be removed included."""
    differing = (entry.path for entry in entries if entry.changed)
    return tuple(sorted({*differing, *stale_paths(folder, entries)}))


def begin(folder: Path) -> None:
    """Make room to stage files in; what a run that was cut off has left there goes.

    Raises:
        RenderError: the file system refuses, or the folder holds a manifest that is not ours.
    """
    stale_paths(folder, ())
    shutil.rmtree(folder / _STAGING, ignore_errors=True)


def stage(folder: Path, file: PlannedFile) -> ManifestEntry:
    """Write one file beside the tree, and return whether it differs from the present one. Any process may.

    Raises:
        RenderError: a path that leaves the folder, or a file system that refuses.
    """
    _require_inside(file.path)
    content = file.text.encode()
    # Plain strings: 65,536 Paths cost seconds.
    target = os.path.join(folder, _STAGING, file.path)  # noqa: PTH118
    try:
        _write(target, content, secret=file.secret)
        if file.executable:
            os.chmod(target, 0o755)  # noqa: PTH101
    except OSError as error:
        raise _refused(folder, error) from error
    return _entry(folder, file, content)


def look(folder: Path, file: PlannedFile) -> ManifestEntry:
    """Return the manifest entry of a file, with whether it differs from the present one.

    Raises:
        RenderError: a path that leaves the folder, or something that is no file is in the way.
    """
    _require_inside(file.path)
    return _entry(folder, file, file.text.encode())


def finish(folder: Path, entries: Sequence[ManifestEntry], plans: Sequence[UpdatePlan] = ()) -> None:
    """Move everything that was staged into place, and remove what an earlier render wrote and this one did not.

    Raises:
        RenderError: the file system refuses.
    """
    stale = stale_paths(folder, entries)
    staging = folder / _STAGING
    try:
        staging.mkdir(parents=True, exist_ok=True)
        (staging / MANIFEST).write_text(manifest_text(entries, plans), encoding="utf-8")
        _move(staging, folder, (entry.path for entry in entries))
        (staging / MANIFEST).replace(folder / MANIFEST)
        _remove(folder, stale)
    except OSError as error:
        raise _refused(folder, error) from error


def abandon(folder: Path) -> None:
    """Remove what is still staged; after :func:`finish` there is nothing."""
    shutil.rmtree(folder / _STAGING, ignore_errors=True)


def old_text(folder: Path, path: str) -> str | None:
    """Return the text of a file of the present tree, None where there is none."""
    content = _read(os.path.join(folder, path))  # noqa: PTH118
    return None if content is None else content.decode("utf-8", "replace")


def stale_paths(folder: Path, entries: Sequence[ManifestEntry]) -> list[str]:
    """Return the files that an earlier render wrote here and this one does not.

    Raises:
        RenderError: the folder holds a manifest that is not ours, or one that points outside.
    """
    text = old_text(folder, MANIFEST)
    if text is None:
        return []
    paths = listed_paths(folder / MANIFEST, text)
    for path in paths:
        _require_inside(path)
    planned = {entry.path for entry in entries}
    return [path for path in paths if path not in planned]


def _refused(folder: Path, error: OSError) -> RenderError:
    return RenderError(f"{error.filename or folder}: cannot be written: {error.strerror}")


def _require_inside(path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/") or parts[0] in (_STAGING, MANIFEST):
        raise RenderError(f"{path!r} is not a path below the output folder")


def _entry(folder: Path, file: PlannedFile, content: bytes) -> ManifestEntry:
    path = os.path.join(folder, file.path)  # noqa: PTH118
    differs = _read(path, len(content)) != content or (file.executable and not os.access(path, os.X_OK))
    differs = differs or (file.secret and not is_secret(folder, file.path))
    checksum = None if file.secret else hashlib.sha256(content).hexdigest()
    return ManifestEntry(file.path, checksum, file.executable, file.deployment, differs, file.secret)


def is_secret(folder: Path, path: str) -> bool:
    """Return whether only its owner may read a file of the present tree."""
    try:
        return os.stat(os.path.join(folder, path)).st_mode & 0o077 == 0  # noqa: PTH116, PTH118
    except FileNotFoundError:
        return False


def _owners_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _write(path: str, content: bytes, *, secret: bool) -> None:
    # From its first moment nobody else may read a secret file.
    opener = _owners_alone if secret else None
    try:
        file = open(path, "wb", opener=opener)  # noqa: SIM115
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        file = open(path, "wb", opener=opener)  # noqa: SIM115
    with file:
        file.write(content)


def _move(staging: Path, folder: Path, paths: Iterable[str]) -> None:
    """Rename what was staged into place: the folder of a device that is new whole, all else file by file."""
    moved: set[str] = set()
    for path in paths:
        device = path.partition("/")[0]
        if device in moved:
            continue
        target = os.path.join(folder, path)  # noqa: PTH118
        if not os.path.lexists(os.path.join(folder, device)):  # noqa: PTH118
            os.rename(os.path.join(staging, device), os.path.join(folder, device))  # noqa: PTH104, PTH118
            moved.add(device)
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        os.replace(os.path.join(staging, path), target)  # noqa: PTH105, PTH118


def _remove(folder: Path, stale: Iterable[str]) -> None:
    for path in stale:
        (folder / path).unlink(missing_ok=True)
        for parent in PurePosixPath(path).parents:
            try:
                (folder / parent).rmdir()
            except OSError:
                break


def _read(path: str, size: int | None = None) -> bytes | None:
    """Return what a file holds, None where there is none, or where its size alone differs."""
    try:
        if size is not None and os.path.getsize(path) != size and not os.path.isdir(path):  # noqa: PTH112, PTH202
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RenderError(f"{path}: in the way of what is to be written: {error}") from error
