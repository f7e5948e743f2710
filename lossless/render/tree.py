"""Writing a tree of files: all or nothing to see, and never outside its folder.

Everything is staged beside its target first and renamed into place; a tree that cannot be staged whole leaves
the old one as it was. Files of an earlier render that are no longer part of the tree are removed, by its manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lossless.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.render.plan import PlannedFile

MANIFEST = "manifest.json"
_STAGING = ".lossless-staging"


def write_tree(folder: Path, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Write the files of a tree and its manifest; return what was written, the manifest last.

    Raises:
        RenderError: a path that leaves the folder, or a file system that refuses; the old tree is then intact.
    """
    for file in files:
        _require_inside(file.path)
    stale = _stale(folder, {file.path for file in files})
    staging = folder / _STAGING
    try:
        _stage(staging, files)
        for file in files:
            _move(staging / file.path, folder / file.path)
        _move(staging / MANIFEST, folder / MANIFEST)
        _remove(folder, stale)
    except OSError as error:
        raise RenderError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return (*(file.path for file in files), MANIFEST)


def changes(folder: Path, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Return the paths whose content or mode on disk differs from the plan, missing and stale ones included."""
    differing = [file.path for file in files if _differs(folder / file.path, file)]
    return tuple(sorted({*differing, *_stale(folder, {file.path for file in files})}))


def _differs(path: Path, file: PlannedFile) -> bool:
    return _read(path) != file.text or (file.executable and not os.access(path, os.X_OK))


def _require_inside(path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/") or parts[0] in (_STAGING, MANIFEST):
        raise RenderError(f"{path!r} is not a path below the output folder")


def _stage(staging: Path, files: Sequence[PlannedFile]) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    made: set[str] = set()
    for file in files:
        target = os.path.join(staging, file.path)  # noqa: PTH118 -- 65,536 Paths cost seconds
        parent = os.path.dirname(target)  # noqa: PTH120
        if parent not in made:
            os.makedirs(parent)  # noqa: PTH103
            made.add(parent)
        with open(target, "w", encoding="utf-8", newline="\n") as handle:  # noqa: PTH123
            handle.write(file.text)
        if file.executable:
            os.chmod(target, 0o755)  # noqa: PTH101
    staging.mkdir(parents=True, exist_ok=True)
    (staging / MANIFEST).write_text(_manifest(files), encoding="utf-8")


def _manifest(files: Iterable[PlannedFile]) -> str:
    entries = [
        {
            "path": file.path,
            "sha256": hashlib.sha256(file.text.encode()).hexdigest(),
            "mode": "0755" if file.executable else "0644",
        }
        for file in sorted(files)
    ]
    return json.dumps({"version": 1, "files": entries}, indent=2) + "\n"


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)


def _stale(folder: Path, planned: set[str]) -> list[str]:
    """Return the files that an earlier render wrote here and this one does not."""
    text = _read(folder / MANIFEST)
    if text is None:
        return []
    try:
        listed: list[object] = [entry["path"] for entry in json.loads(text)["files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        listed = [None]
    paths = [path for path in listed if isinstance(path, str)]
    if len(paths) < len(listed):
        raise RenderError(f"{folder / MANIFEST}: not a manifest of ours; name another folder")
    for path in paths:
        _require_inside(path)
    return [path for path in paths if path not in planned]


def _remove(folder: Path, stale: Iterable[str]) -> None:
    for path in stale:
        (folder / path).unlink(missing_ok=True)
        for parent in PurePosixPath(path).parents:
            try:
                (folder / parent).rmdir()
            except OSError:
                break


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RenderError(f"{path}: in the way of what is to be written: {error}") from error
