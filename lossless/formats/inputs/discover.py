"""Which files of a folder may be ours: those that git knows there, and what a broken file looks like.

Git is asked where the folder lies in a repository of its; what it ignores is left out then. It is never a
condition: without git, or where it refuses, folders are searched.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from lossless.formats.inputs.git import git, is_installed, is_top, top_of
from lossless.formats.inputs.subnet_manager import SUFFIXES as MANAGERS_SUFFIXES
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.limits import FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

FACTS_SUFFIXES = (".facts", ".txt", ".conf", ".env")
"""What files of facts that hosts say of themselves are called, where they are neither JSON nor YAML."""
SUFFIXES = (".json", ".yaml", ".yml", *dict.fromkeys((*MANAGERS_SUFFIXES, *FACTS_SUFFIXES)))
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders of other tools; those whose name begins with a dot are skipped too."""

_SUBMODULE = "160000"
_SHUT = b"could not open directory"


def known_to_git(folder: str) -> list[str] | None:
    """Return the files below a folder that git knows or would add and whose suffix fits, in order.

    Returns None where git has nothing to say: no repository, no git, a folder that it ignores as a whole, or one
    that may not be read.

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


def fits(name: str) -> bool:
    """Return whether a file can be read by its suffix."""
    return name.lower().endswith(SUFFIXES)


def is_skipped(folder: str) -> bool:
    """Return whether a folder of this name is another tool's."""
    return folder.startswith(".") or folder in SKIPPED


def seems_ours(file: str) -> bool:
    """Return whether a file that cannot be read as a document was meant to be an intent or a configuration.

    One that may not be opened could be anything; it is taken for ours, since nobody else would tell.
    """
    try:
        with open(file, "rb") as stream:
            raw = stream.read(FILE_BYTES)
    except PermissionError:
        return True
    except OSError:
        return False
    return bool(_telling(file.lower().endswith(".json")).search(raw))


@cache
def _telling(is_json: bool) -> Pattern[bytes]:
    """Return what the text of a configuration, or of an intent, has in it and that of other files has not."""
    import re

    if is_json:
        return re.compile(b'"(?:%s)"\\s*:\\s*\\{' % "|".join(sorted(READ_TABLES)).encode())
    return re.compile(b"^[\"']?lossless[\"']?[ \\t]*:[ \\t]*[\"']?v[0-9]", re.MULTILINE)


def _tracked(folder: str, listed: bytes) -> Iterator[str]:
    """Yield the names of an index that are on disk; those of repositories within it too."""
    for entry in filter(None, listed.split(b"\0")):
        head, _, raw = entry.partition(b"\t")
        name = os.fsdecode(raw)
        if head.startswith(_SUBMODULE.encode()):
            yield from _within(folder, name)
        elif fits(name) and _is_there(os.path.join(folder, name)):
            yield name


def _added(folder: str, listed: bytes) -> Iterator[str]:
    """Yield names that git would add, but for those in folders of other tools."""
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        *folders, last = name.split("/")
        if any(map(is_skipped, folders)):
            continue
        if not last:
            yield from _within(folder, name.rstrip("/"))
        elif fits(last):
            yield name


def _within(folder: str, name: str) -> Iterator[str]:
    """Yield what a repository within a repository knows."""
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
