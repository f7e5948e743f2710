"""Files as they were at a revision of git, read from the repository; the working tree stays untouched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import read
from lossless.formats.inputs.discover import fits
from lossless.formats.inputs.git import git, is_installed, said
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.folder import top_of
from lossless.ground.documents.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.inputs.collect import Candidate, Inputs
    from lossless.ground.documents.text import Document


_FROM_FORK = "..."
"""The suffix of a revision, as in ``git diff main...``, by which its merge base with HEAD is meant."""

_PROMISOR = b"promisor remote"
"""A part of git's message about an object that a partial clone lacks, up to 2.44; later versions list it as missing."""

_MOST_BYTES = 1 << 32
"""Most bytes of all files of a revision together, 4 GiB: they are held in memory at once."""

_RENAMES = (
    "--name-status",
    "-z",
    "--diff-filter=R",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
)

_FILES = ("100644", "100755")
_SHA1_DIGITS = 40


class Revision(NamedTuple):
    """A commit and its repository; ``shown`` is the name that the user gave, without ``...``."""

    root: str
    commit: str
    shown: str


class _CommitFile(NamedTuple):
    """A file of a commit: its name in the index now, and its blob in the commit."""

    name: str
    blob: str


def revision_of(called: str, paths: Sequence[str]) -> Revision:
    """Return the revision of a name in the repository that contains all paths.

    Raises:
        LosslessError: git, the repository or the revision is missing, a path is outside of the repository, or the
            revision and HEAD have no common ancestor.
    """
    root = _root(paths[0])
    for path in paths:
        if os.path.commonpath([root, os.path.realpath(path)]) != root:
            raise LosslessError(f"--since {called}: {path} lies outside of the repository {root}")
    name = called.removesuffix(_FROM_FORK)
    commit = _commit(root, name)
    if not commit:
        raise LosslessError(f"--since {called}: no revision {name!r} in {root}{_hint(root)}")
    if name == called:
        return Revision(root, commit, called)
    fork = _asked(root, "merge-base", commit, "HEAD")
    if not fork:
        raise LosslessError(f"--since {called}: {name} and HEAD have no common ancestor{_hint(root)}")
    return Revision(root, fork, name)


def blobs_at(revision: Revision, paths: Sequence[str]) -> dict[str, str]:
    """Return the blobs of a revision's files that may be inputs, by their names in a run over ``paths`` today.

    Raises:
        LosslessError: git fails.
    """
    named: dict[str, str] = {}
    for entry in _entries(revision):
        for path in paths:
            shown = _shown(revision.root, entry.name, path)
            if shown is not None:
                named.setdefault(shown, entry.blob)
                break
    return named


def texts_of(revision: Revision, blobs: Mapping[str, str]) -> dict[str, bytes]:
    """Return the bytes of blobs of a revision by the names of their files; ``blobs`` maps these names to blobs.

    Raises:
        LosslessError: git fails, or a partial clone lacks a blob.
    """
    return dict(zip(blobs, _blobs(revision, list(blobs.values())), strict=True)) if blobs else {}


def blob_of(raw: bytes, like: str) -> str:
    """Return git's name of a file with these bytes, in the hash function of ``like``, another blob.

    A file that git would change on its way in (``core.autocrlf``, filters) has another name than its blob. Source: git
    Documentation/gitformat-objects, and Documentation/technical/hash-function-transition for SHA-256.
    """
    from hashlib import new

    name = "sha1" if len(like) == _SHA1_DIGITS else "sha256"
    return new(name, b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


def _root(path: str) -> str:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    if not is_installed():
        raise LosslessError("--since asks git, which is not installed here")
    top = top_of(folder)
    done = git(folder, "rev-parse", "--show-toplevel", top=top)
    if done.code or top is None:
        raise LosslessError(f"--since compares with a revision of git: {said(done.err)}")
    return top


def _asked(root: str, *arguments: str) -> str:
    """Return the line that git prints, empty if it prints none or fails."""
    done = git(root, *arguments, top=root)
    return "" if done.code else os.fsdecode(done.out).strip()


def _commit(root: str, name: str) -> str:
    """Return the commit of a name, empty if there is none; a name that looks like an option is invalid."""
    if name.startswith("-"):
        return ""
    return _asked(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _hint(root: str) -> str:
    if _asked(root, "rev-parse", "--is-shallow-repository") != "true":
        return ""
    return "; this clone is shallow: fetch more of its history first"


def _entries(revision: Revision) -> Iterator[_CommitFile]:
    """Yield the files of a commit whose suffix fits; those that were renamed since by their new names."""
    renamed = _renamed(revision)
    listed = _output(revision, "ls-tree", "-r", "-z", "--full-tree", revision.commit)
    for line in filter(None, listed.split(b"\0")):
        head, _, raw = line.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        name = os.fsdecode(raw)
        if mode in _FILES and fits(name):
            yield _CommitFile(renamed.get(name, name), blob)


def _renamed(revision: Revision) -> Mapping[str, str]:
    """Return the new names of files, by the old ones: as the index has them.

    Files in the working tree are not compared, since filters would be run on them. A partial clone may lack the
    contents that show whether two files are similar; then only files of equal content count as renamed.
    """
    arguments = ("diff-index", "--cached", *_RENAMES, revision.commit, "--")
    done = git(revision.root, arguments[0], "--find-renames", *arguments[1:], top=revision.root)
    out = _output(revision, arguments[0], "--find-renames=100%", *arguments[1:]) if done.code else done.out
    words = map(os.fsdecode, out.split(b"\0"))
    return {old: new for status, old, new in zip(words, words, words, strict=False) if status}


def _shown(root: str, name: str, path: str) -> str | None:
    """Return the name of a repository's file in a run over a path, None if the path does not contain it."""
    file, start = os.path.join(root, name), os.path.realpath(path)
    if file == start:
        return path
    below = os.path.join(start, "")
    return os.path.join(path, file.removeprefix(below)) if file.startswith(below) else None


def _blobs(revision: Revision, blobs: Sequence[str]) -> Iterator[bytes]:
    """Yield the bytes of blobs, all requested at once."""
    answer = _output(revision, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode())
    at = 0
    for _ in blobs:
        head_end = answer.index(b"\n", at)
        start = head_end + 1
        head = answer[at:head_end].split(b" ")
        if len(head) != 3:
            raise _lacking(revision)
        end = start + int(head[2])
        yield answer[start:end]
        at = end + 1


def _output(revision: Revision, *arguments: str, given: bytes = b"") -> bytes:
    done = git(revision.root, *arguments, given=given, top=revision.root, most_bytes=_MOST_BYTES)
    if _PROMISOR in done.err:
        raise _lacking(revision)
    if done.code:
        raise LosslessError(f"git {arguments[0]}: {said(done.err)}")
    return done.out


def _lacking(revision: Revision) -> LosslessError:
    """Return the error for objects of a revision that a partial clone lacks."""
    return LosslessError(
        f"--since {revision.shown}: this clone is partial and lacks files of that revision, and nothing is fetched"
        f" for it; git archive {revision.commit[:12]} > /dev/null brings them"
    )


class EarlierFiles:
    """Reads files as they were at a revision, by the names that they have today."""

    def __init__(self, revision: Revision, blobs: Mapping[str, str], needed: Iterable[str]) -> None:
        self._revision, self._blobs = revision, blobs
        self._texts = texts_of(revision, {file: blobs[file] for file in needed})

    def read(self, candidate: Candidate) -> Inputs:
        """Return the inputs in a file as it was, without its problems, which are no errors of the current files."""
        return read(candidate, self.load, self._text)._replace(problems=())

    def load(self, file: str) -> Document:
        """Return the document of a JSON or YAML file as it was; raises InputError."""
        return load_text(self._text(file), file, lists=True)

    def _text(self, file: str) -> str:
        if file not in self._texts:
            # What devices are compared with is another, as there is one more of them: all are checked again.
            left = {name: blob for name, blob in self._blobs.items() if name not in self._texts}
            self._texts |= texts_of(self._revision, left)
        return decode(self._texts[file], file)
