"""Calls of git on a checkout that may be hostile: no program named there runs, and nothing is written or fetched.

A checkout has a configuration of its own in ``.git``, attributes, hooks and other repositories within it, and each can
name programs. Three measures prevent that they run:

* The commands are those that read the index and the objects alone. None compares with the working tree, which would
  call filters (``filter.*.clean``, ``filter.*.process``), and none shows content as people read it, which would call
  ``diff.*.textconv``. Names of drivers are free, so no override could reach all of them.
* Other settings of the configuration are overridden on the command line, which comes last.
* No protocol is allowed, so that a partial clone fetches nothing.

No path is an argument of a command, but for the folder in which it runs: names are read, and separated by zero bytes.

The user's and the system's configuration count as always, ``safe.directory`` in particular.

The files of a folder are those that git tracks or would add: ignored files are left out. Git is used if the folder is
in one of its repositories. It is never required: without git, or if it refuses, folders are searched.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import is_skipped
from lossless.ground.basics.programs import LONGEST_S, MOST_BYTES, Done, environment, find_program, run
from lossless.ground.documents.folder import is_top, top_of

if TYPE_CHECKING:
    from collections.abc import Iterator


GIT = "git"

OVERRIDES = (
    # Asked for every list of files which of them have changed. Nothing: off, as "false" was a program before 2.36.
    "core.fsmonitor=",
    # Run when an index is written or a reference moves; nothing here does either.
    "core.hooksPath=/dev/null",
    # A repository may lie among the tracked files of another, and is then as foreign as they are.
    "safe.bareRepository=explicit",
    # Run by what fetches. Nothing fetches, by GIT_ALLOW_PROTOCOL too: they are for the day that this fails.
    "protocol.allow=never",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "maintenance.auto=false",
    # Run by commands that show, ask or sign, none of which is used.
    "core.pager=cat",
    "core.editor=false",
    "sequence.editor=false",
    "diff.external=",
    "interactive.diffFilter=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
)
"""Settings that the configuration of a checkout must not change, as key and value."""

PASSED = (
    # Where the user's and the system's configuration lie; safe.directory counts in these alone.
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    # Configuration of this one call, as CI systems give safe.directory and as git gives its own -c to hooks.
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    # How far up a repository is searched.
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
"""Variables of the user's environment that git gets. Not GIT_DIR, GIT_INDEX_FILE and GIT_WORK_TREE: in a hook these
name the repository that runs it, which need not be the one of a folder; and no GIT_* that names a program."""

_NUMBERED = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_OWN = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # Since git 2.45; an empty list of protocols does the same for older ones.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}


def is_installed() -> bool:
    """Return whether the program git is installed."""
    return find_program(GIT) is not None


def git(
    folder: str, *arguments: str, given: bytes = b"", top: str | None = None, most_bytes: int = MOST_BYTES
) -> Done:
    """Run git in a folder, for the repository that the folder is in, in English.

    ``top`` is the folder of the repository: its files are those, regardless of ``core.worktree``.

    Raises:
        ProgramError: git is not installed, does not answer in time, or prints too much.
    """
    overrides = [word for setting in OVERRIDES for word in ("-c", setting)]
    command = [GIT, "--no-pager", *overrides, "-C", folder or os.curdir, *arguments]
    numbered = [name for name in os.environ if name.startswith(_NUMBERED)]
    own = _OWN if top is None else _OWN | {"GIT_WORK_TREE": top}
    return run(
        command,
        environment((*PASSED, *numbered), **own),
        given=given,
        longest_s=LONGEST_S,
        most_bytes=most_bytes,
    )


def said(stderr: bytes) -> str:
    """Return the first line of git's error output without its prefix, or a text for an empty output."""
    lines = os.fsdecode(stderr).splitlines()
    return lines[0].removeprefix("fatal: ") if lines else "git gives no reason"


_SUBMODULE = "160000"
_SHUT = b"could not open directory"


def known_to_git(folder: str) -> list[str] | None:
    """Return the files below a folder that git tracks, or would add outside of folders of other tools, in order.

    Returns None if git cannot list them: no repository, no git, a folder that it ignores as a whole, or one that may
    not be read.

    Raises:
        ProgramError: git gives no answer in time, or prints too much.
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
    """Yield the names of tracked files that are on disk, and of files that git knows in submodules."""
    for entry in filter(None, listed.split(b"\0")):
        head, _, raw = entry.partition(b"\t")
        name = os.fsdecode(raw)
        if head.startswith(_SUBMODULE.encode()):
            yield from _within(folder, name)
        elif _is_there(os.path.join(folder, name)):
            yield name


def _added(folder: str, listed: bytes) -> Iterator[str]:
    """Yield the names of files that git would add, also in nested repositories, but not in folders of other tools."""
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        *folders, last = name.split("/")
        if any(map(is_skipped, folders)):
            continue
        if not last:
            yield from _within(folder, name.rstrip("/"))
        else:
            yield name


def _within(folder: str, name: str) -> Iterator[str]:
    """Yield the files of a submodule or nested repository that git tracks or would add, by path from ``folder``."""
    inner = os.path.join(folder, name)
    if is_top(inner):
        yield from (os.path.join(name, os.path.relpath(file, inner)) for file in known_to_git(inner) or ())


def _is_there(file: str) -> bool:
    """Return whether a file is on disk; True where its folder may not be read, so that this is reported."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True
