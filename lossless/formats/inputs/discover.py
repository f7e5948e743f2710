"""Which files of a folder may be ours: those that git knows there, and what a broken file looks like.

Git is asked where the folder lies in a repository of its; what it ignores is left out then. It is never a
condition: without git, or where it refuses, folders are searched.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from lossless.formats.inputs.subnet_manager import SUFFIXES as MANAGERS_SUFFIXES
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.documents.text import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern
    from subprocess import CompletedProcess

FACTS_SUFFIXES = (".facts", ".txt", ".conf", ".env")
"""What files of facts that hosts say of themselves are called, where they are neither JSON nor YAML."""
SUFFIXES = (".json", ".yaml", ".yml", *dict.fromkeys((*MANAGERS_SUFFIXES, *FACTS_SUFFIXES)))
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders of other tools; those whose name begins with a dot are skipped too."""

_PLACES_OF_GIT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
"""What a hook is told of the repository that runs it, which need not be the one a folder lies in."""

_SUBMODULE = "160000"
_SHUT = b"could not open directory"


def git(folder: str, *arguments: str, given: bytes = b"") -> CompletedProcess[bytes]:
    """Run git in a folder, for the repository that the folder lies in, in English.

    Raises:
        OSError: there is no git here.
    """
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _PLACES_OF_GIT}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-C", folder or os.curdir, *arguments]
    return subprocess.run(command, input=given, capture_output=True, env=environment, check=False)


def known_to_git(folder: str) -> list[str] | None:
    """Return the files below a folder that git knows or would add and whose suffix fits, in order.

    Returns None where git has nothing to say: no repository, no git, a folder that it ignores as a whole, or one
    that may not be read.
    """
    if not in_repository(folder):
        return None
    try:
        tracked = git(folder, "ls-files", "-z", "--cached", "--stage")
        added = git(folder, "ls-files", "-z", "--others", "--exclude-standard")
        if tracked.returncode or added.returncode or _SHUT in added.stderr:
            return None
        names = {*_tracked(folder, tracked.stdout), *_added(folder, added.stdout)}
        if not names and not git(folder, "check-ignore", "-q", os.curdir).returncode:
            return None
    except OSError:
        return None
    return sorted(os.path.join(folder, name) for name in names)


def in_repository(folder: str) -> bool:
    """Return whether a folder lies in a repository, without asking git."""
    path = os.path.realpath(folder)
    while not os.path.exists(os.path.join(path, ".git")):
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


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
            raw = stream.read(MAX_BYTES)
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
    if os.path.exists(os.path.join(inner, ".git")):
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
