"""Files as they were at a revision of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import read
from lossless.formats.inputs.revision import texts_of
from lossless.ground.documents import load_text
from lossless.ground.documents.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.formats.inputs.collect import Candidate, Inputs
    from lossless.formats.inputs.revision import Revision
    from lossless.ground.documents.document import Document


class EarlierFiles:
    """Files as they were, by the names that they have today."""

    def __init__(self, revision: Revision, blobs: Mapping[str, str], needed: Iterable[str]) -> None:
        self._revision, self._blobs = revision, blobs
        self._texts = texts_of(revision, {file: blobs[file] for file in needed})

    def read(self, candidate: Candidate) -> Inputs:
        """Read a file; one that could not be read then is no error of today's."""
        return read(candidate, self.load, self._text)._replace(problems=())

    def load(self, file: str) -> Document:
        """Read a file that may hold a configuration; raises InputError."""
        return load_text(self._text(file), file, lists=True)

    def _text(self, file: str) -> str:
        if file not in self._texts:
            # What devices are compared with is another, as there is one more of them: all are checked again.
            left = {name: blob for name, blob in self._blobs.items() if name not in self._texts}
            self._texts |= texts_of(self._revision, left)
        return decode(self._texts[file], file)
