"""Paths to documents: files as named, directories searched for intents and config_db.json files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.errors import InputError, Problem
from lossless.lint.discover import fits, is_skipped, known_to_git, seems_ours
from lossless.records import NamedTuple
from lossless.sonic.tables import READ_TABLES
from lossless.source import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.source.document import Document


class Candidate(NamedTuple):
    """A file that may be ours; one that is named, or looks like ours, is reported where it is not."""

    file: str
    expected: bool


class Read(NamedTuple):
    """What came of reading a candidate; neither, where a file met in a folder is none of ours."""

    document: Document | None = None
    problems: tuple[Problem, ...] = ()


def collect(
    paths: Sequence[str | os.PathLike[str]], *, lenient: bool = False
) -> tuple[list[Document], list[Problem]]:
    """Return the documents to judge, each file once, and what could not be read.

    A file that is named must be an intent or a configuration; in a directory, and everywhere where it is ``lenient``,
    other files are passed over.
    """
    candidates, problems = search(paths, lenient=lenient)
    found = [read(candidate) for candidate in candidates]
    problems += [problem for one in found for problem in one.problems]
    return [one.document for one in found if one.document is not None], problems


def search(
    paths: Sequence[str | os.PathLike[str]], *, lenient: bool = False
) -> tuple[list[Candidate], list[Problem]]:
    """Return the files to read, each once by whatever name it is met, and folders that cannot be read.

    Where it is ``lenient``, files that are named need be ours no more than those met in a folder.
    """
    problems: list[Problem] = []
    found: dict[str, Candidate] = {}
    for path in (os.fspath(path) for path in paths):
        named = not os.path.isdir(path)
        for file in [path] if named else _files_below(path, problems):
            identity = os.path.realpath(file)
            expected = (named and not lenient) or _looks_like_ours(file)
            # One that was met in a folder can still be named.
            if identity not in found or (expected and not found[identity].expected):
                found[identity] = Candidate(file, expected)
    return list(found.values()), problems


def read(candidate: Candidate, load: Callable[[str], Document] = load) -> Read:
    """Read one file; one that is none of ours is reported where it was expected to be, a broken one of ours always."""
    file, expected = candidate
    try:
        document = load(file)
    except InputError as error:
        return Read(problems=tuple(error.problems) if expected or seems_ours(file) else ())
    reason = foreign(document) if expected or _holds_rows(document) else ""
    if reason is None:
        return Read(document)
    return Read(problems=(Problem(file, 1, 1, reason),) if expected else ())


def _files_below(folder: str, problems: list[Problem]) -> Iterator[str]:
    """Yield files whose names fit. Folders that are links are not entered: none leads in circles."""
    known = known_to_git(folder)
    if known is not None:
        yield from (file for file in known if not _is_special(file))
        return

    def unreadable(error: OSError) -> None:
        why = "no permission to read this folder" if isinstance(error, PermissionError) else error.strerror
        problems.append(Problem(os.fspath(error.filename), None, None, f"{why}"))

    for root, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not is_skipped(f))
        for name in sorted(files):
            file = os.path.join(root, name)
            if fits(name) and not _is_special(file):
                yield file


def _is_special(file: str) -> bool:
    """Return whether reading may wait for ever: a pipe, a device. A dangling link is reported when read."""
    return os.path.exists(file) and not os.path.isfile(file)


def _looks_like_ours(file: str) -> bool:
    name = os.path.basename(file)
    return name.startswith(("fabric.", "config_db"))


def _holds_rows(document: Document) -> bool:
    """Return whether a file met in a directory can be ours: many a JSON file has a key PORT or VERSIONS."""
    if not document.file.lower().endswith(".json"):
        return True
    return any(isinstance(document.data[name], dict) for name in READ_TABLES & document.data.keys())


def foreign(document: Document) -> str | None:
    """Return why a document is none of ours, None where it is."""
    data = document.data
    if not document.file.lower().endswith(".json"):
        return None if "lossless" in data else "not an intent: it does not begin with lossless: v1"
    if READ_TABLES & data.keys() or not data:
        return None
    flat = next((key for key in data if key.partition("|")[0] in READ_TABLES), None)
    if flat is not None:
        return (
            f"a dump of redis, with keys like {flat!r}; give it in the form of config_db.json, table by table"
        )
    if any(isinstance(part, dict) and READ_TABLES & part.keys() for part in data.values()):
        sections = ", ".join(list(data)[:3])
        return f"one file for several ASICs ({sections}); give each as a config_db.json of its own"
    return "not a CONFIG_DB: it has none of the tables that this tool reads"
