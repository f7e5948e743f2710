"""What lay in files at a revision of git: read out of the repository, the working tree is not touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import fits, git
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FROM_FORK = "..."
"""Behind a revision: where the work since has forked off from it, as in ``git diff main...``."""

_FILES = ("100644", "100755")


class Revision(NamedTuple):
    """A commit and the repository it is in; ``shown`` is what it was called."""

    root: str
    commit: str
    shown: str


class _CommitFile(NamedTuple):
    """A file of a commit, by the name it has now."""

    name: str
    blob: str


def revision_of(called: str, paths: Sequence[str]) -> Revision:
    """Return the revision that is called so in the repository that all paths lie in.

    Raises:
        LosslessError: there is no repository, no such revision, or a path lies elsewhere.
    """
    root = _root(paths[0])
    for path in paths:
        if os.path.commonpath([root, os.path.realpath(path)]) != root:
            raise LosslessError(f"--since {called}: {path} lies outside of the repository {root}")
    name = called.removesuffix(_FROM_FORK)
    commit = _asked(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit:
        raise LosslessError(f"--since {called}: no revision {name!r} in {root}{_hint(root)}")
    if name == called:
        return Revision(root, commit, called)
    fork = _asked(root, "merge-base", commit, "HEAD")
    if not fork:
        raise LosslessError(f"--since {called}: {name} and HEAD have no common ancestor{_hint(root)}")
    return Revision(root, fork, name)


def texts_at(revision: Revision, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the bytes of every file at some paths that can be ours, by the name it has in a run over them today."""
    named: dict[str, str] = {}
    for entry in _entries(revision):
        for path in paths:
            shown = _shown(revision.root, entry.name, path)
            if shown is not None:
                named.setdefault(shown, entry.blob)
                break
    return dict(zip(named, _blobs(revision.root, list(named.values())), strict=True))


def _root(path: str) -> str:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    try:
        done = git(folder, "rev-parse", "--show-toplevel")
    except OSError as error:
        raise LosslessError("--since asks git, which is not installed here") from error
    if done.returncode:
        raise LosslessError(f"--since compares with a revision of git: {_said(done.stderr)}")
    return os.path.realpath(os.fsdecode(done.stdout).removesuffix("\n"))


def _said(stderr: bytes) -> str:
    """Return what git says, without its prefix."""
    lines = os.fsdecode(stderr).splitlines()
    return lines[0].removeprefix("fatal: ") if lines else "git gives no reason"


def _asked(root: str, *arguments: str) -> str:
    """Return the line that git answers with, empty where it has no answer."""
    done = git(root, *arguments)
    return "" if done.returncode else os.fsdecode(done.stdout).strip()


def _hint(root: str) -> str:
    if _asked(root, "rev-parse", "--is-shallow-repository") != "true":
        return ""
    return "; this clone is shallow: fetch more of its history first"


def _entries(revision: Revision) -> Iterator[_CommitFile]:
    """Yield the files of a commit whose suffix fits; those that were renamed since by their new names."""
    renamed = _renamed(revision)
    listed = _output(revision.root, "ls-tree", "-r", "-z", "--full-tree", revision.commit)
    for line in filter(None, listed.split(b"\0")):
        head, _, raw = line.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        name = os.fsdecode(raw)
        if mode in _FILES and fits(name):
            yield _CommitFile(renamed.get(name, name), blob)


def _renamed(revision: Revision) -> Mapping[str, str]:
    """Return the new names of files, by the old ones."""
    arguments = ("diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", "--no-ext-diff")
    words = map(os.fsdecode, _output(revision.root, *arguments, revision.commit).split(b"\0"))
    return {old: new for status, old, new in zip(words, words, words, strict=False) if status}


def _shown(root: str, name: str, path: str) -> str | None:
    """Return how a run over a path calls a file, None where it does not lie there."""
    file, start = os.path.join(root, name), os.path.realpath(path)
    if file == start:
        return path
    below = os.path.join(start, "")
    return os.path.join(path, file.removeprefix(below)) if file.startswith(below) else None


def _blobs(root: str, blobs: Sequence[str]) -> Iterator[bytes]:
    """Yield the bytes of blobs, all asked for at once."""
    answer = _output(root, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode())
    at = 0
    for _ in blobs:
        head_end = answer.index(b"\n", at)
        start = head_end + 1
        end = start + int(answer[at:head_end].split(b" ")[2])
        yield answer[start:end]
        at = end + 1


def _output(root: str, *arguments: str, given: bytes = b"") -> bytes:
    done = git(root, *arguments, given=given)
    if done.returncode:
        raise LosslessError(f"git {arguments[0]}: {_said(done.stderr)}")
    return done.stdout
