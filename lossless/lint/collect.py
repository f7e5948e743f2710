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
    documents: dict[str, Document] = {}
    problems: list[Problem] = []
    for path in (os.fspath(path) for path in paths):
        found = _files_below(path) if os.path.isdir(path) else [path]  # noqa: PTH112 -- Path is not free
        for file in found:
            if file not in documents:
                _read(file, file == path, documents, problems)
    return list(documents.values()), problems


def _files_below(folder: str) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
        yield from (os.path.join(root, name) for name in sorted(files) if name.endswith(_SUFFIXES))  # noqa: PTH118


def _read(file: str, named: bool, documents: dict[str, Document], problems: list[Problem]) -> None:
    try:
        document = load(file)
    except InputError as error:
        # In a directory a broken file of ours must not hide, but a foreign one is nobody's business here.
        if named or _looks_like_ours(file):
            problems.extend(error.problems)
        return
    reason = _foreign(document)
    if reason is None:
        documents[file] = document
    elif named:
        problems.append(Problem(file, 1, 1, reason))


def _looks_like_ours(file: str) -> bool:
    name = os.path.basename(file)  # noqa: PTH119
    return name.startswith(("fabric.", "config_db"))


def _foreign(document: Document) -> str | None:
    """Return why a document is none of ours, None where it is."""
    if not document.file.endswith(".json"):
        return None if "lossless" in document.data else "not an intent: it does not begin with lossless: v1"
    if READ_TABLES & document.data.keys() or not document.data:
        return None
    return "not a CONFIG_DB: it has none of the tables that this tool reads"
