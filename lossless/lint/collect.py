"""Paths to documents: files as named, directories searched for intents and config_db.json files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.errors import InputError, Problem
from lossless.sonic.tables import READ_TABLES
from lossless.source import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.source.document import Document

_SUFFIXES = (".json", ".yaml", ".yml")
_SKIPPED = frozenset({"node_modules", "__pycache__"})


def collect(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Document], list[Problem]]:
    """Return the documents to judge, each file once, and what could not be read.

    A file that is named must be an intent or a configuration; in a directory, other files are passed over.
    """
    search = _Search()
    for path in (os.fspath(path) for path in paths):
        if os.path.isdir(path):
            for file in search.files_below(path):
                search.read(file, named=False)
        else:
            search.read(path, named=True)
    return search.documents, search.problems


class _Search:
    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.problems: list[Problem] = []
        self._settled: dict[str, bool] = {}

    def files_below(self, folder: str) -> Iterator[str]:
        """Yield files whose names fit. Folders that are links are not entered: none leads in circles."""
        for root, folders, files in os.walk(folder, onerror=self._unreadable):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
            for name in sorted(files):
                file = os.path.join(root, name)
                if name.lower().endswith(_SUFFIXES) and not _is_special(file):
                    yield file

    def read(self, file: str, *, named: bool) -> None:
        """Read a file once, by whatever name it is met; one that was passed over can still be named."""
        identity = os.path.realpath(file)
        if identity not in self._settled or (named and not self._settled[identity]):
            self._settled[identity] = self._read(file, named or _looks_like_ours(file))

    def _read(self, file: str, expected: bool) -> bool:
        """Return whether the file is read or reported; only one that is expected to be ours is reported."""
        try:
            document = load(file)
        except InputError as error:
            self.problems.extend(error.problems if expected else ())
            return expected
        reason = _foreign(document) if expected or _holds_rows(document) else ""
        if reason is None:
            self.documents.append(document)
        elif expected:
            self.problems.append(Problem(file, 1, 1, reason))
        return expected or reason is None

    def _unreadable(self, error: OSError) -> None:
        why = "no permission to read this folder" if isinstance(error, PermissionError) else error.strerror
        self.problems.append(Problem(os.fspath(error.filename), None, None, f"{why}"))


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


def _foreign(document: Document) -> str | None:
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
