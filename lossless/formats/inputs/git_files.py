"""Files of a folder that git tracks or would add: ignored files are left out.

Git is used if the folder is in one of its repositories. It is never required: without git, or if it refuses, folders
are searched.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import is_skipped
from lossless.formats.inputs.git import git, is_installed, is_top, top_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUBMODULE = "160000"
_SHUT = b"could not open directory"


def known_to_git(folder: str) -> list[str] | None:
    """Return the files below a folder that git tracks or would add, in order.

    Returns None if git cannot list them: no repository, no git, a folder that it ignores as a whole, or one that may
    not be read.

    Raises:
        ProgramError: git gives no answer in time.
    """
    top = top_of(folder)
    if top is None or not is_installed():
        return None
    tracked = git(folder, "ls-files", "-z", "--cached", "--stage", top=top)
    added = git(folder, "ls-files", "-z", "--others", "--exclude-standard", top=top)
    if tracked.code or added.code or _SHUT in added.err:
        return None
    names = {*_tracked(folder, tracked.out), *_added(folder, added.out)}
    if not names and not git(folder, "check-ignore", "-q", "--", os.curdir, top=top).code:
        return None
    return sorted(os.path.join(folder, name) for name in names)


def _tracked(folder: str, listed: bytes) -> Iterator[str]:
    """Yield the names of an index that are on disk; those of repositories within it too."""
    for entry in filter(None, listed.split(b"\0")):
        head, _, raw = entry.partition(b"\t")
        name = os.fsdecode(raw)
        if head.startswith(_SUBMODULE.encode()):
            yield from _within(folder, name)
        elif _is_there(os.path.join(folder, name)):
            yield name


def _added(folder: str, listed: bytes) -> Iterator[str]:
    """Yield names that git would add, but for those in folders of other tools."""
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        *folders, last = name.split("/")
        if any(map(is_skipped, folders)):
            continue
        if not last:
            yield from _within(folder, name.rstrip("/"))
        else:
            yield name


def _within(folder: str, name: str) -> Iterator[str]:
    """Yield the files that git tracks in a repository within a repository."""
    inner = os.path.join(folder, name)
    if is_top(inner):
        yield from (os.path.join(name, os.path.relpath(file, inner)) for file in known_to_git(inner) or ())


def _is_there(file: str) -> bool:
    """Return whether a file is on disk; one in a folder that may not be read is, and will be reported."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True
