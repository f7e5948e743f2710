"""The files of a check: the texts of the editor, and the files on disk in the same workspace folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.api import Report, lint_documents
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.profiles import (
    Candidate,
    Inputs,
    candidates_below,
    is_excluded,
    is_ours,
    read,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lossless.api import Options
    from lossless.ground.documents.text import Document

MOST_TOGETHER = 100
"""Most files of a folder that are checked with the open texts, about a second's work; else only the open ones are."""
_Signature = tuple[int, int, int]


class LintGroup(NamedTuple):
    """The files of one folder that were checked together, with their report; ``left_out`` were too many."""

    documents: tuple[Document, ...]
    report: Report
    left_out: int = 0


class WorkspaceFiles:
    """The files of the workspace folders, each read again only when it has changed."""

    def __init__(self, options: Callable[[], Options]) -> None:
        self.options = options
        self._roots: tuple[str, ...] = ()
        self._candidates: dict[str, dict[str, Candidate]] = {}
        self._reads: dict[str, tuple[_Signature, Inputs]] = {}
        self._ours: set[str] = set()

    def search(self, roots: Sequence[str]) -> None:
        """Look for files in the folders of a workspace."""
        self._roots = tuple(roots)
        options = self.options()
        self._candidates = {
            root: {os.path.realpath(each.file): each for each in candidates_below([root], options)}
            for root in self._roots
        }

    def lint(self, texts: Mapping[str, str]) -> dict[str, LintGroup]:
        """Return, for each open file, the group of files checked with it; ``texts`` are those of the editor."""
        by_root: dict[str | None, list[str]] = {}
        for file in texts:
            by_root.setdefault(self._root(file), []).append(file)
        groups: dict[str, LintGroup] = {}
        for root, files in by_root.items():
            for together in [[file] for file in files] if root is None else [files]:
                group = self._group(root, {file: texts[file] for file in together})
                groups |= dict.fromkeys(together, group)
        return groups

    def is_ours(self, file: str, text: str) -> bool:
        """Return whether a text is meant to be an intent or a configuration, be it readable or not."""
        return file in self._ours or is_ours(file, text)

    def _group(self, root: str | None, texts: Mapping[str, str]) -> LintGroup:
        edited = [self._edited(file, text) for file, text in texts.items()]
        others = self._on_disk(root, {os.path.realpath(file) for file in texts})
        left_out = len(others) if len(others) > MOST_TOGETHER else 0
        documents = [document for inputs in edited for document in inputs.documents]
        if not left_out:
            documents += others
        problems = [problem for inputs in edited for problem in inputs.problems]
        return LintGroup(tuple(documents), lint_documents(documents, self.options(), problems), left_out)

    def _edited(self, file: str, text: str) -> Inputs:
        root = self._root(file)
        if root is not None and is_excluded(file, root, self.options()):
            return Inputs()
        inputs = read_text(file, text)
        if inputs.documents:
            self._ours.add(file)
        return inputs if inputs.documents or self._expected(file, text) else Inputs()

    def _expected(self, file: str, text: str) -> bool:
        known = self._candidates.get(self._root(file) or "", {}).get(os.path.realpath(file))
        return self.is_ours(file, text) or (known is not None and known.expected)

    def _root(self, file: str) -> str | None:
        """Return the innermost folder of the workspace that holds a file, None if none does."""
        holding = [root for root in self._roots if file.startswith(root.rstrip(os.sep) + os.sep)]
        return max(holding, key=len, default=None)

    def _on_disk(self, root: str | None, opened: set[str]) -> list[Document]:
        candidates = self._candidates.get(root or "", {})
        unopened = [candidate for name, candidate in candidates.items() if name not in opened]
        return [document for candidate in unopened for document in self._read(candidate).documents]

    def _read(self, candidate: Candidate) -> Inputs:
        try:
            status = Path(candidate.file).stat()
        except OSError:
            return Inputs()
        signature = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._reads.get(candidate.file)
        if known is None or known[0] != signature:
            known = self._reads[candidate.file] = (signature, read(candidate))
        return known[1]
